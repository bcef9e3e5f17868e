// Files mapped into memory: an op is a memcpy of its bytes, so that every one of them is touched.
#ifndef WORKER_ENGINE_MMAP_ENGINE_H_
#define WORKER_ENGINE_MMAP_ENGINE_H_

#include <memory>

#include "worker/engine/io_engine.h"

namespace iobench {

// Open maps each file (or the lane's extent) shared. Where it will be written it is grown to its full size first, and
// its blocks are allocated where the file system can, so that a full disk is an error of Open. It gets its exact size,
// never more: the last page may be mapped beyond the file's end, and lanes of a shared file never cut each other's.
// Where blocks cannot be allocated (NFS before 4.2) the file stays sparse.
//
// Page faults fall into the op that meets them. A file that is shorter than its lane expects fails the op at its end
// like a read; one that is cut under the map, a disk without space behind a hole, or a page that cannot be read fails
// its op (worker/engine/bus_error.h); the errno is what the system call for the same place says.
//
// Flush is msync(MS_SYNC) of all that is mapped, and fsync; Close unmaps and closes. Options: mmap, file_lock,
// record_locks, advice.
std::unique_ptr<IoEngine> MakeMmapEngine(const EngineOptions& options);

// More than this cannot be mapped: the address space of a process.
inline constexpr uint64_t kMostMappedBytes = uint64_t{1} << 47;

}  // namespace iobench

#endif  // WORKER_ENGINE_MMAP_ENGINE_H_
