// Calls on names: each op is one call, or open, data and close, on one item of the lane's tree.
#ifndef WORKER_METADATA_METADATA_ENGINE_H_
#define WORKER_METADATA_METADATA_ENGINE_H_

#include <memory>

#include "worker/engine/io_engine.h"
#include "worker/metadata/metadata_work.h"

namespace iobench {

// Takes the ops of MakeMetadataStream for the same work. Open takes a FileSet whose first name is the tree's root, asks
// anew what this client remembers of the tree's directories, and minds `sync` and `dsync` of the mode, which new and
// appended files are opened with. Flush writes back what the files hold.
//
// REQUIRES for writes_data: a payload of the lane for pieces of kLargestPieceBytes, or of a file where that is less.
std::unique_ptr<IoEngine> MakeMetadataEngine(const EngineOptions& options, const MetadataWork& work);

}  // namespace iobench

#endif  // WORKER_METADATA_METADATA_ENGINE_H_
