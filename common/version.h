// The program's version: workers and coordinator must agree on it.
#ifndef COMMON_VERSION_H_
#define COMMON_VERSION_H_

namespace iobench {

// "0.1.0+9f86d081884c": the release, and a fingerprint of the sources that say and measure something (proto, common,
// worker). Builds of the same sources have the same one, whoever made them and how; a patched program has another.
// Written by cmake/SourceFingerprint.cmake.
extern const char kProgramVersion[];

}  // namespace iobench

#endif  // COMMON_VERSION_H_
