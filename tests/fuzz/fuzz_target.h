// The functions of a fuzz target. It is called by libFuzzer (https://llvm.org/docs/LibFuzzer.html), or by replay.cc
// where that is not available.
#ifndef TESTS_FUZZ_FUZZ_TARGET_H_
#define TESTS_FUZZ_FUZZ_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

// Runs one input. Returns 0. Any fault (a crash, undefined behaviour, a leak, a broken promise, minutes of time) ends
// the process.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
// Optional: changes an input in place, at random; returns its new size.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed);
// Provided by the caller, for custom mutators: changes bytes without knowing what they mean.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace iobench {

inline std::string TextOf(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Ends the process if a promise of the code under test is broken.
inline void Require(bool holds, const std::string& promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise.c_str());
  std::abort();
}

}  // namespace iobench

#endif  // TESTS_FUZZ_FUZZ_TARGET_H_
