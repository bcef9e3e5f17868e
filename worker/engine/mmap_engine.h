// The mmap engine: files are mapped into memory, and an op copies its bytes with memcpy, so that every byte is touched.
#ifndef WORKER_ENGINE_MMAP_ENGINE_H_
#define WORKER_ENGINE_MMAP_ENGINE_H_

#include <memory>

#include "worker/engine/io_engine.h"

namespace iobench {

// Open creates a shared map of each file (or of the lane's extent). A file that will be written is first extended to
// its exact full size, and its blocks are allocated if the file system supports that, so that Open fails if the disk is
// full. Where blocks cannot be allocated (NFS before 4.2), the file stays sparse. Lanes that share a file never
// truncate each other's parts.
//
// Page faults count in the op that causes them. An op beyond the end of a file that is too short fails like a read. An
// op also fails if the file is truncated while mapped, the disk has no space for a hole, or a page cannot be read
// (worker/engine/bus_error.h); its errno is the one that a system call at the same place returns.
//
// Flush calls msync(MS_SYNC) for all maps, then fsync. Close unmaps and closes. Supported options: mmap, file_lock,
// record_locks, advice.
std::unique_ptr<IoEngine> MakeMmapEngine(const EngineOptions& options);

// The max size of a map, limited by the process's address space.
inline constexpr uint64_t kMaxMappedBytes = uint64_t{1} << 47;

}  // namespace iobench

#endif  // WORKER_ENGINE_MMAP_ENGINE_H_
