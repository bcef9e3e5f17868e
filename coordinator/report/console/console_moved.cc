#include "coordinator/report/console/console_moved.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/model/operation.h"
#include "common/model/plan_traits.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/report/console/console_writes.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

double AsNumber(uint64_t value) {
  return static_cast<double>(value);
}

double Between(uint64_t more, uint64_t less) {
  return AsNumber(more - std::min(more, less));
}

// Returns when the uncounted bytes were moved, relative to the headline's time.
const char* WhenNotCounted(const v1::RunReport& report, const v1::PhaseReport& phase) {
  const v1::Phase* planned = PlannedPhase(report.run().plan(), phase);
  if (planned != nullptr && planned->stop().warmup_s() > 0)
    return "before (warm-up) or after it, not counted";
  const std::string& kind = phase.stonewall().kind();
  return kind == "flushed" || kind == "closed" ? "after it, untimed" : "after it, not counted";
}

// Returns `counted` with its time, and what of the rest was not counted.
std::string CountedText(const v1::RunReport& report, const v1::PhaseReport& phase, const std::string& counted,
                        const std::string& rest) {
  const bool has_counted = (phase.metadata() ? phase.measured_ops() : phase.measured_bytes()) > 0;
  const bool has_rest =
      phase.metadata() ? phase.ops() > phase.measured_ops() : phase.bytes() > phase.measured_bytes();
  std::string text = has_counted ? absl::StrCat(counted, " in ", FormatSeconds(phase.headline_s()))
                                 : std::string("nothing within the headline's time");
  if (has_rest) absl::StrAppend(&text, ", and ", rest, " ", WhenNotCounted(report, phase));
  return text;
}

// Returns "10,000 ops in 1.2 s, and 300 after it, untimed".
std::string CountedOps(const v1::RunReport& report, const v1::PhaseReport& phase) {
  return CountedText(report, phase, absl::StrCat(FormatCount(AsNumber(phase.measured_ops())), " ops"),
                     FormatCount(Between(phase.ops(), phase.measured_ops())));
}

// Returns "; 12 found, named x.01"; empty if nothing was looked for.
std::string FoundText(const v1::PhaseReport& phase) {
  if (!phase.has_found_items()) return {};
  std::string text = absl::StrCat("; ", FormatCount(AsNumber(phase.found_items())), " found");
  const v1::Find& wanted = phase.tree().find();
  if (!wanted.name().empty()) absl::StrAppend(&text, ", named ", Printable(wanted.name()));
  if (wanted.has_bytes()) absl::StrAppend(&text, ", of ", wanted.bytes(), " bytes");
  return text;
}

// Returns "15 MiB in 250 ms, and 1 MiB after it, untimed".
std::string CountedBytes(const v1::RunReport& report, const v1::PhaseReport& phase) {
  return CountedText(report, phase, FormatBytes(AsNumber(phase.measured_bytes())),
                     FormatBytes(Between(phase.bytes(), phase.measured_bytes())));
}

// Returns "10,000 ops in 1.2 s, and 300 after it, untimed; on 2,500 items per lane".
std::string CallsText(const v1::RunReport& report, const v1::PhaseReport& phase) {
  std::string text = CountedOps(report, phase);
  if (phase.has_tree()) {
    absl::StrAppend(&text, "; on ", ItemsText(phase.operation(), phase.tree()),
                    phase.tree().random_order() ? ", in random order" : "");
  }
  absl::StrAppend(&text, FoundText(phase));
  if (phase.bytes() > 0)
    absl::StrAppend(&text, "; ", FormatBytes(AsNumber(phase.bytes())), " of data in all");
  return text;
}

std::string RecordsText(const v1::RunReport& report, const v1::PhaseReport& phase) {
  const std::string record = RecordSizesText(report, phase);
  const auto spec = FindOperation(phase.operation());
  if (!spec.ok() || (*spec)->call != Call::kVector) return absl::StrCat("records of ", record);
  return absl::StrCat("up to ", kMaxRecordsPerVector, " records of ", record, " per op");
}

std::string BytesText(const v1::RunReport& report, const v1::PhaseReport& phase) {
  return absl::StrCat(CountedBytes(report, phase), "; ", RecordsText(report, phase));
}

}  // namespace

void PrintAmount(const v1::RunReport& report, const v1::PhaseReport& phase, ConsolePage& page) {
  page.Labelled(phase.metadata() ? "done" : "moved",
                phase.metadata() ? absl::StrCat(CountedOps(report, phase), FoundText(phase))
                                 : CountedBytes(report, phase),
                Tone::kQuiet);
}

void PrintMoved(const v1::RunReport& report, const v1::PhaseReport& phase, ConsolePage& page) {
  std::string text = phase.metadata() ? CallsText(report, phase) : BytesText(report, phase);
  if (phase.rotated()) {
    absl::StrAppend(
        &text, phase.metadata() ? "; items of the next client" : "; files of the next client",
        phase.lanes_on_own_client() == 0
            ? ""
            : absl::StrCat(" (", Counted(phase.lanes_on_own_client(), "lane"), " on its own client's)"));
  }
  page.Labelled(phase.metadata() ? "done" : "moved", text);
  std::string before;
  for (const auto& step : phase.steps()) {
    const std::string& name = step.name();
    if (name == "open" || name == kFlushPassesStep || name == kDropPassesStep)
      continue;  // these have their own lines
    absl::StrAppend(&before, before.empty() ? "" : "; ", Printable(step.name()), " ",
                    FormatSeconds(step.seconds()));
    if (step.bytes() > 0) absl::StrAppend(&before, ", ", FormatBytes(AsNumber(step.bytes())));
    if (!step.outcome().empty()) absl::StrAppend(&before, " (", Printable(step.outcome()), ")");
  }
  if (!before.empty()) page.Labelled("before", before, Tone::kQuiet);
}

}  // namespace iobench
