#include "coordinator/report/console/console_data.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/model/data_content.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

void PrintTimes(const char* name, const v1::Latency& times, ConsolePage& page) {
  page.Labelled(name, absl::StrCat("mean ", Microseconds(times.mean()), ", p50 ",
                                   PercentileText(times, "p50", times.p50()), ", p99 ",
                                   PercentileText(times, "p99", times.p99()), ", max ",
                                   Microseconds(times.max())));
}

std::string CompressText(const v1::DataContent& data) {
  return absl::StrCat(data.compress_percent(), " % of each 4 KiB compresses away");
}

}  // namespace

std::string DescribeData(const v1::Plan& plan) {
  const v1::DataContent& data = plan.data();
  if (data.kind() == v1::DataContent::ZERO) return "zeros";
  if (data.kind() == v1::DataContent::PATTERN) {
    return absl::StrCat("every byte ", data.pattern_byte(), data.verify() ? ", checked after each read" : "");
  }
  if (data.kind() == v1::DataContent::SAME) {
    const std::string zeros = data.compress_percent() == 0
                                  ? std::string()
                                  : absl::StrCat(", of which ", CompressText(data));
    return absl::StrCat("each lane writes one buffer again and again", zeros, " (seed ", plan.seed(), ")");
  }
  std::string text = data.compress_percent() == 0 ? std::string("incompressible") : CompressText(data);
  if (data.dedupe_percent() > 0) {
    absl::StrAppend(&text, ", ", data.dedupe_percent(), " % of the records dedupable");
    if (data.dedupe_within_percent() > 0) {
      absl::StrAppend(&text, " (of these ", data.dedupe_within_percent(), " % equal to each other");
      if (data.dedupe_interior_percent() > 0) {
        absl::StrAppend(&text, ", and of these ", data.dedupe_interior_percent(),
                        " % within their file only");
      }
      text += ')';
    }
    absl::StrAppend(&text, ", set ", data.dedupe_seed(), ", the others differ by lane, block and phase");
  } else {
    text += ", differs by lane, block and phase";
  }
  absl::StrAppend(&text, " (seed ", plan.seed(), ")");
  if (data.verify()) text += "; each sector names its writer and is checked after each read";
  return text;
}

void PrintVerified(const v1::PhaseReport& phase, ConsolePage& page) {
  if (!phase.has_verify()) return;
  const v1::VerifyResult& verify = phase.verify();
  const std::string sectors = Counted(static_cast<int64_t>(verify.sectors()), "sector");
  std::string text;
  if (verify.mismatched() == 0 && verify.missing_bytes() > 0) {
    text = absl::StrCat("FAILED: ", sectors, " as written");
  } else if (verify.mismatched() == 0) {
    text = absl::StrCat(sectors, ", all as written");
  } else {
    std::vector<std::string> kinds;
    for (const auto& [name, count] : std::map(verify.counts().begin(), verify.counts().end())) {
      kinds.push_back(absl::StrCat(FormatCount(static_cast<double>(count)), " ", name));
    }
    text = absl::StrCat("FAILED: ", FormatCount(static_cast<double>(verify.mismatched())), " of ", sectors,
                        " are wrong (", absl::StrJoin(kinds, ", "), ")");
  }
  if (verify.missing_bytes() > 0) {
    absl::StrAppend(&text, ", ", FormatBytes(static_cast<double>(verify.missing_bytes())),
                    " of files that earlier phases wrote are missing");
  }
  if (verify.undetermined() > 0) {
    absl::StrAppend(&text, "; for ", FormatCount(static_cast<double>(verify.undetermined())),
                    " it is unknown which of several writes came last");
  }
  page.Labelled("verified", text, FoundBadData(verify) ? Tone::kError : Tone::kPlain);
}

void PrintOpenLoop(const v1::PhaseReport& phase, ConsolePage& page) {
  if (!phase.has_open_loop()) return;
  const v1::OpenLoopReport& open_loop = phase.open_loop();
  const double end_per_s = open_loop.asked_end_ops_per_s();
  page.Labelled("open loop", absl::StrCat(OpsPerSecond(open_loop.asked_ops_per_s()),
                                          end_per_s > 0 ? absl::StrCat(" to ", OpsPerSecond(end_per_s)) : "",
                                          open_loop.even() ? " asked for, evenly spaced; "
                                                           : " asked for, as a Poisson process; ",
                                          Percent(open_loop.done_percent()), " of ",
                                          Counted(static_cast<int64_t>(open_loop.due_ops()), "op"), " done"));
  // The response times are the latencies of the headline; these are what they consist of.
  PrintTimes("response", open_loop.response_us(), page);
  PrintTimes("service", open_loop.service_us(), page);
  PrintTimes("lag", open_loop.lag_us(), page);
}

void PrintBetween(const v1::PhaseReport& phase, ConsolePage& page) {
  std::vector<std::string> parts;
  if (phase.asked_ops_per_s() > 0) {
    parts.push_back(absl::StrCat("pace per lane ", OpsPerSecond(phase.paced_ops_per_s()), ", target ",
                                 OpsPerSecond(phase.asked_ops_per_s())));
  }
  if (phase.pause_s() > 0) {
    parts.push_back(
        absl::StrCat("pauses ", FormatSeconds(phase.pause_s()), " per lane, excluded from children"));
  }
  if (phase.data_s() > 0) {
    parts.push_back(
        absl::StrCat("making and checking data ", FormatSeconds(phase.data_s()), " per lane, in no latency"));
  }
  if (parts.empty()) return;
  parts.push_back(absl::StrCat(FormatSeconds(phase.between_s()), " between ops in all"));
  page.Labelled("between", absl::StrJoin(parts, "; "), Tone::kQuiet);
}

}  // namespace iobench
