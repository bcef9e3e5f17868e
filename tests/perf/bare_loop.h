// What an engine's lane is compared with: the same calls through glibc on a constant buffer, and nothing else.
#ifndef TESTS_PERF_BARE_LOOP_H_
#define TESTS_PERF_BARE_LOOP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/operation.h"

namespace iobench {

struct BareShape {
  std::string engine;  // posix, stdio, mmap
  Call call = Call::kPositional;
  bool writes = false;
  uint32_t record_bytes = 0;
  uint32_t op_bytes = 0;
  uint64_t file_bytes = 0;
};

class BareLoop {
 public:
  virtual ~BareLoop() = default;
  virtual size_t op_count() const = 0;
  virtual void Prepare() {}                  // before each pass, not in its time
  virtual bool Pass(std::byte* buffer) = 0;  // of an op's bytes; false: it moved too little
};

// On an existing file, in the order of `offsets`. Ends the program where the file cannot be opened.
std::unique_ptr<BareLoop> MakeBareLoop(const BareShape& shape, const std::string& path,
                                       std::vector<uint64_t> offsets);

}  // namespace iobench

#endif  // TESTS_PERF_BARE_LOOP_H_
