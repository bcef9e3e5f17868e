#include "coordinator/live/display.h"

#include <unistd.h>

#include <cmath>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "common/model/plan_traits.h"
#include "common/text/display_text.h"
#include "common/text/terminal_width.h"
#include "common/text/units.h"
#include "coordinator/plan/check/metadata_plan.h"

namespace iobench {
namespace {

constexpr double kRateWindowSeconds = 3;

ProgressSample SampleFrom(const PhaseProgress& progress, double rate) {
  ProgressSample sample;
  sample.phase = progress.name;
  sample.index = progress.index;
  sample.count = progress.phase_count;
  sample.bytes = progress.bytes;
  sample.total_bytes = progress.total_bytes;
  sample.total_s = progress.time_limit_s;
  sample.metadata = HeadlineInOps(*progress.phase);
  sample.ops = progress.ops;
  sample.total_ops = progress.total_ops;
  (sample.metadata ? sample.ops_per_s : sample.bytes_per_s) = rate;
  sample.elapsed_s = progress.elapsed_s;
  sample.lanes_running = progress.lanes_running;
  sample.lanes = progress.lane_count;
  sample.errors = progress.workers_lost;
  return sample;
}

}  // namespace

ConsoleStyle StyleOf(Stdout out, bool verbose) {
  ConsoleStyle style;
  style.detail = verbose ? Detail::kFull : Detail::kBrief;
  style.width_columns = TextColumns(STDOUT_FILENO);
  const char* no_color = getenv("NO_COLOR");
  style.color = out == Stdout::kOurs && isatty(STDOUT_FILENO) && (no_color == nullptr || *no_color == '\0');
  return style;
}

void Display::WorkersJoin(uint32_t joined, uint32_t count) {
  const CoordTime now = clock_();
  if (!shown_.joining || (joined < count && now < next_join_line_)) return;
  next_join_line_ = now + kNanosPerSecond;  // a thousand workers must not print a thousand lines
  err_ << joined << " of " << count << " workers have joined" << std::endl;
}

void Display::RunStarts(const v1::RunReport& report) {
  pages_ = PagesFor(report.run().plan());
  out_ << ConsoleHeader(report, style_) << std::flush;
}

void Display::SpaceFills(uint32_t percent, uint64_t bytes) {
  progress_.Clear();
  err_ << "--fill writes " << FormatBytes(static_cast<double>(bytes)) << " so that " << percent
       << " % of the space is in use" << std::endl;
}

void Display::PhasePrepares(const PhaseProgress& progress) {
  recent_.clear();
  if (shown_.progress) progress_.Update(SampleFrom(progress, 0));
}

void Display::PhaseMoves(const PhaseProgress& progress) {
  progress_.Update(SampleFrom(progress, RateNow(progress)));
}

double Display::RateNow(const PhaseProgress& progress) {
  const uint64_t done = HeadlineInOps(*progress.phase) ? progress.ops : progress.bytes;
  recent_.emplace_back(progress.elapsed_s, done);
  while (recent_.size() > 2 && progress.elapsed_s - recent_.front().first > kRateWindowSeconds)
    recent_.pop_front();
  const double seconds = progress.elapsed_s - recent_.front().first;
  if (seconds <= 0 || done < recent_.front().second) return 0;
  return static_cast<double>(done - recent_.front().second) / seconds;
}

void Display::FilesAreFinished(const Unfinished& unfinished) {
  progress_.Clear();
  const auto bytes = static_cast<double>(unfinished.bytes);
  err_ << "finishing " << (bytes > 0 ? "files" : "trees") << " for " << Printable(unfinished.for_whom) << ": "
       << (bytes > 0 ? FormatBytes(bytes)
                     : absl::StrCat(FormatCount(static_cast<double>(unfinished.ops)), " names"))
       << " left";
  if (std::isfinite(unfinished.seconds)) err_ << ", about " << FormatSeconds(unfinished.seconds);
  err_ << std::endl;
}

void Display::PhaseEnds(const v1::RunReport& report, const v1::PhaseReport& phase) {
  progress_.Clear();
  out_ << ConsolePhase(report, phase, style_, pages_) << std::flush;
}

void Display::RunEnds(const v1::RunReport& report) {
  progress_.Clear();
  out_ << ConsoleFooter(report, style_) << std::flush;
}

}  // namespace iobench
