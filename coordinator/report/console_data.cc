#include "coordinator/report/console_data.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/units.h"
#include "coordinator/report/console_words.h"

namespace iobench {

void PutVerified(const v1::PhaseReport& phase, ConsolePage& page) {
  if (!phase.has_verify()) return;
  const v1::VerifyResult& verify = phase.verify();
  const std::string sectors = Counted(static_cast<int64_t>(verify.sectors()), "sector");
  std::string text;
  if (verify.mismatched() == 0) {
    text = absl::StrCat(sectors, ", all as written");
  } else {
    std::vector<std::string> kinds;
    for (const auto& [name, count] : std::map(verify.counts().begin(), verify.counts().end())) {
      kinds.push_back(absl::StrCat(FormatCount(static_cast<double>(count)), " ", name));
    }
    text = absl::StrCat("FAILED: ", verify.mismatched(), " of ", sectors, " are wrong (",
                        absl::StrJoin(kinds, ", "), ")");
  }
  if (verify.undetermined() > 0) {
    absl::StrAppend(&text, "; of ", verify.undetermined(),
                    " it cannot be known which of two or more writes is the last: they are one of these");
  }
  page.Labelled("verified", text, verify.mismatched() > 0 ? Tone::kError : Tone::kPlain);
}

void PutBetween(const v1::PhaseReport& phase, ConsolePage& page) {
  std::vector<std::string> parts;
  if (phase.asked_ops_per_s() > 0) {
    parts.push_back(absl::StrCat("pace of a lane ", OpsPerSecond(phase.paced_ops_per_s()), ", asked ",
                                 OpsPerSecond(phase.asked_ops_per_s())));
  }
  if (phase.pause_s() > 0) {
    parts.push_back(absl::StrCat("pauses ", FormatSeconds(phase.pause_s()), " a lane, left out of children"));
  }
  if (phase.data_s() > 0) {
    parts.push_back(
        absl::StrCat("making and checking data ", FormatSeconds(phase.data_s()), " a lane, in no latency"));
  }
  if (parts.empty()) return;
  parts.push_back(absl::StrCat(FormatSeconds(phase.between_s()), " between ops in all"));
  page.Labelled("between", absl::StrJoin(parts, "; "), Tone::kQuiet);
}

}  // namespace iobench
