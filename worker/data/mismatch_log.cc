#include "worker/data/mismatch_log.h"

namespace iobench {

const char* NameOf(v1::Mismatch::What what) {
  switch (what) {
    case v1::Mismatch::WRONG_OFFSET:
      return "wrong-offset";
    case v1::Mismatch::OTHER_FILE:
      return "other-file";
    case v1::Mismatch::OTHER_RUN:
      return "other-run";
    case v1::Mismatch::STALE:
      return "stale";
    case v1::Mismatch::TORN:
      return "torn";
    case v1::Mismatch::ZEROS:
      return "zeros";
    case v1::Mismatch::CORRUPT:
      return "corrupt";
    default:
      return "unknown";
  }
}

v1::VerifyResult MismatchLog::Result() const {
  v1::VerifyResult result;
  result.set_sectors(sectors_);
  result.set_mismatched(mismatched_);
  result.set_undetermined(undetermined_);
  for (size_t what = 0; what < counts_.size(); ++what) {
    if (counts_[what] > 0) {
      (*result.mutable_counts())[NameOf(static_cast<v1::Mismatch::What>(what))] = counts_[what];
    }
  }
  return result;
}

}  // namespace iobench
