// Counts the mismatches that a checker finds and keeps the details of the first few.
#ifndef WORKER_DATA_MISMATCH_LOG_H_
#define WORKER_DATA_MISMATCH_LOG_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "iobench/v1/result.pb.h"
#include "worker/data/sector.h"

namespace iobench {

// A sector with unexpected contents, before it is described in words, for which there is time only after the phase.
struct FoundSector {
  v1::Mismatch::What what = v1::Mismatch::UNKNOWN;
  uint32_t file = 0;    // index among the lane's files
  uint64_t offset = 0;  // within the file or the lane's extent, in bytes
  // The header as it was read. In a corrupt sector it may be any 48 bytes; `has_header` tells whether they are a valid
  // header of this program.
  SectorHeader header = {};
  bool has_header = false;
  // Torn: the write that the rest of the sector is from. Generation 0: the rest is zeros.
  uint32_t other_generation = 0;
  uint32_t other_writer = 0;
};

// Each checker has one, used on the lane's thread. Allocates nothing after construction, because checks run between
// ops.
class MismatchLog {
 public:
  // How many mismatches are reported in detail. All are counted.
  static constexpr size_t kMaxKept = 10;

  // Count every checked sector once. CountUndetermined: nothing tells which of several generations, or which outcome of
  // a failed write, was expected.
  void CountSector() { ++sectors_; }
  void CountSectors(uint64_t sectors) { sectors_ += sectors; }
  void CountUndetermined() { ++undetermined_; }
  // Counts a mismatch, besides CountSector.
  void Note(const FoundSector& found) {
    ++counts_[found.what];
    if (mismatched_++ < kMaxKept) first_[mismatched_ - 1] = found;
  }

  // Returns the counts only. The checker adds `first`, because it knows what it expected.
  v1::VerifyResult Result() const;
  size_t kept() const { return mismatched_ < kMaxKept ? mismatched_ : kMaxKept; }
  const FoundSector& kept(size_t index) const { return first_[index]; }

 private:
  uint64_t sectors_ = 0;
  uint64_t mismatched_ = 0;
  uint64_t undetermined_ = 0;
  std::array<uint64_t, v1::Mismatch::What_ARRAYSIZE> counts_ = {};
  std::array<FoundSector, kMaxKept> first_ = {};
};

// For example "wrong-offset", the key in VerifyResult.counts.
const char* NameOf(v1::Mismatch::What what);

}  // namespace iobench

#endif  // WORKER_DATA_MISMATCH_LOG_H_
