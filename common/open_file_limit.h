// The limit on open file descriptors of this process.
#ifndef COMMON_OPEN_FILE_LIMIT_H_
#define COMMON_OPEN_FILE_LIMIT_H_

#include <cstdint>

namespace iobench {

// Raises the soft limit to the hard limit. (The default soft limit is low only to protect programs that use select.)
// Returns false if nothing changed, because the limit is already there or cannot be raised.
bool RaiseOpenFileLimit();

// Returns how many descriptors this process may have open; UINT64_MAX: no limit.
uint64_t OpenFileLimit();

}  // namespace iobench

#endif  // COMMON_OPEN_FILE_LIMIT_H_
