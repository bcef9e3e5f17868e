// How many descriptors this process may have.
#ifndef COMMON_OPEN_FILE_LIMIT_H_
#define COMMON_OPEN_FILE_LIMIT_H_

namespace iobench {

// Up to the hard limit. The soft one is low by custom, for programs that use select; what the hard one allows is ours
// to take. Where it cannot be raised it stays. False: nothing was changed.
bool RaiseOpenFileLimit();

}  // namespace iobench

#endif  // COMMON_OPEN_FILE_LIMIT_H_
