// Counts what a checker finds, and keeps the first few for people.
#ifndef WORKER_DATA_MISMATCH_LOG_H_
#define WORKER_DATA_MISMATCH_LOG_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "iobench/v1/result.pb.h"
#include "worker/data/sector.h"

namespace iobench {

// A sector that is not what it should be, as it stands before anybody makes words of it.
struct FoundSector {
  v1::Mismatch::What what = v1::Mismatch::UNKNOWN;
  uint32_t file = 0;         // index among the lane's
  uint64_t offset = 0;       // within it, or the lane's extent
  SectorHeader header = {};  // corrupt: what it would be; its checksum is the first bytes
  bool has_header = false;   // the header is one that we wrote
  // Torn: what the rest is of; generation 0: zeros.
  uint32_t other_generation = 0;
  uint32_t other_writer = 0;
};

// Allocates nothing after its construction.
class MismatchLog {
 public:
  static constexpr size_t kMostKept = 10;

  void CountSector() { ++sectors_; }
  void CountSectors(uint64_t sectors) { sectors_ += sectors; }
  void CountUndetermined() { ++undetermined_; }
  void Note(const FoundSector& found) {
    ++counts_[found.what];
    if (mismatched_++ < kMostKept) first_[mismatched_ - 1] = found;
  }

  // Counts only; `first` is the checker's, who knows what it expected.
  v1::VerifyResult Result() const;
  size_t kept() const { return mismatched_ < kMostKept ? mismatched_ : kMostKept; }
  const FoundSector& kept(size_t index) const { return first_[index]; }

 private:
  uint64_t sectors_ = 0;
  uint64_t mismatched_ = 0;
  uint64_t undetermined_ = 0;
  std::array<uint64_t, v1::Mismatch::What_ARRAYSIZE> counts_ = {};
  std::array<FoundSector, kMostKept> first_ = {};
};

// "wrong-offset", as VerifyResult.counts has it.
const char* NameOf(v1::Mismatch::What what);

}  // namespace iobench

#endif  // WORKER_DATA_MISMATCH_LOG_H_
