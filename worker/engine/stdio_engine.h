// The stdio engine: fread(3)/fwrite(3) with a buffer of one record, or getc(3)/putc(3) with one record of characters
// per op.
#ifndef WORKER_ENGINE_STDIO_ENGINE_H_
#define WORKER_ENGINE_STDIO_ENGINE_H_

#include <memory>

#include "worker/engine/io_engine.h"

namespace iobench {

// Each file has its own stream with full buffering of options.record_bytes. The engine uses the unlocked calls, since
// only its lane uses the stream. Up to one record of written data may stay in the buffer after an op, so an op may
// report the error of the previous record. Flush calls fflush and fsync, Close calls fclose; both report errors that
// appear only then. The engine seeks only if the position is wrong. It uses fseeko to reach extents of a shared file;
// buffered reads may read beyond the extent's end.
//
// Supported options: file_lock, advice.
std::unique_ptr<IoEngine> MakeStdioEngine(const EngineOptions& options);

}  // namespace iobench

#endif  // WORKER_ENGINE_STDIO_ENGINE_H_
