// Reads and writes of a file through a shared mapping.
#ifndef WORKER_CHECK_MAPPED_CONTENTS_H_
#define WORKER_CHECK_MAPPED_CONTENTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace iobench {

// Both return 0 or an errno, and block as long as the file system does. EFAULT: a page cannot be had, because the file
// has become shorter meanwhile, or there is no space. At most 64 KiB.
//
// `bytes`: gets what the file has from `offset` on, at most max_bytes.
int LoadMapped(int fd, uint64_t offset, size_t max_bytes, std::string& bytes);
// Makes the file long enough first, and synchronizes the mapping (msync).
int StoreMapped(int fd, uint64_t offset, std::string_view contents);

}  // namespace iobench

#endif  // WORKER_CHECK_MAPPED_CONTENTS_H_
