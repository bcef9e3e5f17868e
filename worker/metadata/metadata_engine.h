// The metadata engine: each op is one call, or open, data transfer and close, on one item of the lane's tree.
#ifndef WORKER_METADATA_METADATA_ENGINE_H_
#define WORKER_METADATA_METADATA_ENGINE_H_

#include <memory>

#include "worker/engine/io_engine.h"
#include "worker/metadata/metadata_work.h"

namespace iobench {

// Runs the ops of MakeMetadataStream for the same work. Open takes a FileSet whose first name is the tree's root, makes
// this client revalidate what it has cached about the tree's directories, and uses the mode's `sync` and `dsync` when
// it opens new and appended files. Flush calls syncfs if the ops write data.
//
// REQUIRES: if work.writes_data(), the lane's payload has room for pieces of kLargestPieceBytes, or of the largest file
// if that is smaller.
std::unique_ptr<IoEngine> MakeMetadataEngine(const EngineOptions& options, const MetadataWork& work);

}  // namespace iobench

#endif  // WORKER_METADATA_METADATA_ENGINE_H_
