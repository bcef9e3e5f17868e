#include "common/text/file_kind.h"

#include <sys/stat.h>

namespace iobench {

std::string_view KindOfFile(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISBLK(mode)) return "a block device";
  if (S_ISCHR(mode)) return "a character device";
  return S_ISLNK(mode) ? "a symbolic link" : "a file";
}

}  // namespace iobench
