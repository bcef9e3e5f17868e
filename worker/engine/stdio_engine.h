// stdio: fread(3)/fwrite(3) with a buffer of one record, or getc(3)/putc(3), a record of single characters an op.
#ifndef WORKER_ENGINE_STDIO_ENGINE_H_
#define WORKER_ENGINE_STDIO_ENGINE_H_

#include <memory>

#include "worker/engine/io_engine.h"

namespace iobench {

// Each file has a stream, full buffering of options.record_bytes, and the unlocked calls: its lane alone uses it. What
// an op has written may still lie in the buffer, a record at most: Flush is fflush and fsync, Close is fclose, and an
// error that shows only there is theirs. So an op may fail for the record before it. Seeks only where the position is
// not already right. Extents of a shared file are reached by fseeko; buffered reads may look past an extent's end.
//
// Options: file_lock, advice.
std::unique_ptr<IoEngine> MakeStdioEngine(const EngineOptions& options);

}  // namespace iobench

#endif  // WORKER_ENGINE_STDIO_ENGINE_H_
