#include "coordinator/report/console/console_writes.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/model/plan_traits.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/analysis/marks/mark_table.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

// Share of the written bytes. If nearly all of them arrived, nothing is reported.
constexpr double kNotableShare = 0.99;
// Most file systems slow down from here on.
constexpr double kNearlyFullPercent = 90;

}  // namespace

void PrintReached(const v1::PhaseReport& phase, Detail detail, ConsolePage& page) {
  int unknown = 0;
  for (const auto& client : phase.clients()) {
    if (client.has_written_bytes() && !client.has_reached_bytes()) ++unknown;
  }
  const auto written = static_cast<double>(phase.written_bytes());
  const auto reached = static_cast<double>(phase.reached_bytes());
  const bool tells = phase.has_reached_bytes() && reached < kNotableShare * written;
  std::string text;
  if (tells) {
    text = absl::StrCat(FormatBytes(reached), " of the ", FormatBytes(written),
                        " written reached the server or device");
  }
  if (unknown > 0 && detail == Detail::kFull) {
    const std::string whose =
        unknown < phase.clients_size() ? absl::StrCat(" of ", Counted(unknown, "client")) : std::string();
    absl::StrAppend(&text, text.empty() ? "" : "; ", "not known", whose,
                    ": no counter shows how much of the written data reached the storage");
  }
  if (!text.empty()) page.Labelled("reached", text, tells ? Tone::kWarning : Tone::kQuiet);
}

void PrintReadSources(const v1::PhaseReport& phase, Detail detail, ConsolePage& page) {
  if (!phase.has_read_sources()) return;
  const v1::ReadSources& sources = phase.read_sources();
  const auto asked = static_cast<double>(sources.asked_bytes());
  const auto cache = static_cast<double>(sources.cache_bytes());
  const auto memory_or_nothing = static_cast<double>(sources.server_memory_bytes() + sources.hole_bytes());
  const bool tells = cache + memory_or_nothing > (1 - kNotableShare) * asked;
  const bool might = HasMarkOfMemory(phase, MemoryPart::kMaybeRead);
  if (!tells && !might && detail == Detail::kBrief) return;
  std::string text = ReadPartsText(sources);
  if (std::isfinite(sources.files_to_memory())) {
    absl::StrAppend(&text, "; the files are ", Percent(100 * sources.files_to_memory()),
                    phase.clients_size() > 1 ? " of a client's memory" : " of the client's memory");
  }
  page.Labelled("read from", text, tells || might ? Tone::kWarning : Tone::kQuiet);
}

void PrintFullness(const v1::RunReport& report, const v1::PhaseReport& phase, Detail detail,
                 ConsolePage& page) {
  const bool fills = FillPercent(report.run().plan()) > 0;
  for (const v1::FullnessReport& target : phase.fullness()) {
    if (detail == Detail::kBrief && !fills && target.percent() < kNearlyFullPercent) continue;
    std::string text =
        absl::StrCat(Percent(target.percent()), " of ",
                     FormatBytes(static_cast<double>(target.total_bytes())), " in use at the start");
    if (phase.fullness_size() > 1) text = absl::StrCat(Printable(target.path()), ": ", text);
    if (target.filesystem_count() > 1) {
      absl::StrAppend(&text, " on ", Printable(target.client()), ", the fullest of ",
                      target.filesystem_count(), " file systems; the emptiest has ",
                      Percent(target.least_percent()));
    }
    page.Labelled("space", text, Tone::kQuiet);
  }
}

void PrintCold(const v1::PhaseReport& phase, ConsolePage& page) {
  if (!phase.has_cold()) return;
  const v1::ColdReport& cold = phase.cold();
  std::string text = Printable(cold.clients());
  if (!cold.server().empty()) absl::StrAppend(&text, "; server cache: ", Printable(cold.server()));
  page.Labelled("cold", text, cold.verified() ? Tone::kPlain : Tone::kWarning);
}

void PrintFirstPass(const v1::PhaseReport& phase, ConsolePage& page) {
  if (!phase.has_first_pass()) return;
  const v1::FirstPassReport& pass = phase.first_pass();
  const std::string share = absl::StrCat(Percent(pass.overwritten_percent()), " of the headline overwrites");
  if (!std::isfinite(pass.bytes_per_s())) {
    page.Labelled("first pass", absl::StrCat("over new files: within the warm-up; ", share));
    return;
  }
  page.Labelled("first pass",
                absl::StrCat("over new files: ", FormatBytesPerSecond(pass.bytes_per_s()), " (",
                             FormatSeconds(pass.seconds()),
                             pass.kind() == "flushed" ? ", flushed); " : ", until the first lane was through); ", share));
}

void PrintPasses(const v1::PhaseReport& phase, ConsolePage& page) {
  for (const auto& step : phase.steps()) {
    const bool flushed = step.name() == kFlushPassesStep;
    if (!flushed && step.name() != kDropPassesStep) continue;
    if (step.seconds() == 0) continue;  // no pass has ended
    page.Labelled("passes", absl::StrCat(flushed ? "flushed for " : "their pages dropped for ",
                                         FormatSeconds(step.seconds()), " in all on the slowest lane (",
                                         Printable(step.outcome()), ")"));
  }
}

}  // namespace iobench
