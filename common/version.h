// The program's version: workers and coordinator must agree on it.
#ifndef COMMON_VERSION_H_
#define COMMON_VERSION_H_

namespace iobench {

inline constexpr char kProgramVersion[] = IOBENCH_VERSION;  // from CMake's project()

}  // namespace iobench

#endif  // COMMON_VERSION_H_
