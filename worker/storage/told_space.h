// The space of a file system, from the numbers that it tells.
#ifndef WORKER_STORAGE_TOLD_SPACE_H_
#define WORKER_STORAGE_TOLD_SPACE_H_

#include <cstdint>

#include "iobench/v1/result.pb.h"

namespace iobench {

// As statvfs() and NFS's FSSTAT have them.
struct ToldSpace {
  uint64_t unit_bytes = 1;  // of the next three
  uint64_t total = 0, free = 0, available = 0;
  uint64_t total_items = 0, available_items = 0;  // inodes
};

// Leaves unknown what the file system does not tell: FUSE file systems in front of object stores tell 0 blocks, or as many
// as fit into a number, and so do EFS and file systems without a fixed number of inodes. Pure.
v1::Space SpaceOf(const ToldSpace& told);

}  // namespace iobench

#endif  // WORKER_STORAGE_TOLD_SPACE_H_
