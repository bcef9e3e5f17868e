// Reads files below /proc and /sys, which do not report their size.
#ifndef COMMON_PROC_FILE_H_
#define COMMON_PROC_FILE_H_

#include <optional>
#include <string>

namespace iobench {

// Returns the whole file, or nullopt if it cannot be read. There is no size limit; for files that users name, see
// small_file.h. Callable from any thread.
std::optional<std::string> ReadWholeFile(const std::string& path);

}  // namespace iobench

#endif  // COMMON_PROC_FILE_H_
