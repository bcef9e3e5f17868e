// What the extents of a file tell about its contents.
#ifndef WORKER_STORAGE_EXTENTS_H_
#define WORKER_STORAGE_EXTENTS_H_

#include <cstdint>

namespace iobench {

// Returns how many bytes of a range nobody has written: holes, and extents that are allocated but have no data, except
// where data wait in the page cache (lseek(2), SEEK_HOLE). File systems without holes report none. Of a file with very
// many holes, only the first part of the range is examined, and the rest is taken to be like it. REQUIRES: begin < end,
// and end is not beyond the end of the file. The position of the descriptor changes.
uint64_t HoleBytes(int fd, uint64_t begin, uint64_t end);

// The same for extents that the file system says to store compressed (FS_IOC_FIEMAP). 0 where extents cannot be asked
// for.
uint64_t CompressedBytes(int fd, uint64_t begin, uint64_t end);

}  // namespace iobench

#endif  // WORKER_STORAGE_EXTENTS_H_
