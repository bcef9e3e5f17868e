// What kind of thing a path names, in words for messages.
#ifndef COMMON_TEXT_FILE_KIND_H_
#define COMMON_TEXT_FILE_KIND_H_

#include <sys/types.h>

#include <string_view>

namespace iobench {

// Returns "a directory", "a file", "a FIFO", "a socket", "a block device", "a character device" or "a symbolic link".
std::string_view KindOfFile(mode_t mode);

}  // namespace iobench

#endif  // COMMON_TEXT_FILE_KIND_H_
