// The baseline for an engine's lane: the same calls through glibc on a constant buffer, and nothing else.
#ifndef TESTS_PERF_BARE_LOOP_H_
#define TESTS_PERF_BARE_LOOP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/model/operation.h"

namespace iobench {

struct BareShape {
  std::string engine;  // posix, stdio, mmap
  Call call = Call::kPositional;
  bool writes = false;
  bool fresh_data = false;  // fill the buffer before each write, at the speed of memset; posix only
  uint32_t record_bytes = 0;
  uint32_t op_bytes = 0;
  uint64_t file_bytes = 0;
};

class BareLoop {
 public:
  virtual ~BareLoop() = default;
  virtual size_t op_count() const = 0;
  virtual void Prepare() {}                  // before each pass, untimed
  virtual bool Pass(std::byte* buffer) = 0;  // `buffer` has an op's bytes; false: a transfer was short
};

// Runs on an existing file, in the order of `offsets`. Exits the program if the file cannot be opened.
std::unique_ptr<BareLoop> MakeBareLoop(const BareShape& shape, const std::string& path,
                                       std::vector<uint64_t> offsets);

}  // namespace iobench

#endif  // TESTS_PERF_BARE_LOOP_H_
