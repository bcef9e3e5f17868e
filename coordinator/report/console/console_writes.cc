#include "coordinator/report/console/console_writes.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

// Share of the written bytes. If nearly all of them arrived, nothing is reported.
constexpr double kNotableShare = 0.99;

void PutReached(const v1::PhaseReport& phase, ConsolePage& page) {
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
  if (unknown > 0) {
    const std::string whose =
        unknown < phase.clients_size() ? absl::StrCat(" of ", Counted(unknown, "client")) : std::string();
    absl::StrAppend(&text, text.empty() ? "" : "; ", "not known", whose,
                    ": no counter shows how much of the written data reached the storage");
  }
  if (!text.empty()) page.Labelled("reached", text, tells ? Tone::kWarning : Tone::kQuiet);
}

}  // namespace

void PutWritten(const v1::PhaseReport& phase, ConsolePage& page) {
  for (const auto& step : phase.steps()) {
    const bool flushed = step.name() == kFlushPassesStep;
    if (!flushed && step.name() != kDropPassesStep) continue;
    page.Labelled("passes", absl::StrCat(flushed ? "flushed for " : "their pages dropped for ",
                                         FormatSeconds(step.seconds()), " in all on the slowest lane (",
                                         Printable(step.outcome()), ")"));
  }
  PutReached(phase, page);
}

}  // namespace iobench
