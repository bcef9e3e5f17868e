// Checks that every byte equals the pattern byte (-V).
#ifndef WORKER_DATA_PATTERN_CHECKER_H_
#define WORKER_DATA_PATTERN_CHECKER_H_

#include <cstdint>

#include "worker/data/data_checker.h"
#include "worker/data/mismatch_log.h"

namespace iobench {

// Counts in sectors of 512 bytes from the start of each op. A sector that differs counts as zeros or as corrupt,
// because a pattern does not tell where and when it was written. The offset in the details is that of the sector's
// first wrong byte.
class PatternChecker final : public DataChecker {
 public:
  explicit PatternChecker(unsigned char pattern) : pattern_(pattern) {}

  void Check(const Op& op, const std::byte* data) override;
  v1::VerifyResult Result() const override;

 private:
  const unsigned char pattern_;
  MismatchLog log_;
};

}  // namespace iobench

#endif  // WORKER_DATA_PATTERN_CHECKER_H_
