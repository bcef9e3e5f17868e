#include "coordinator/report/console/progress_line.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/text/display_text.h"
#include "common/text/units.h"

namespace iobench {
namespace {

constexpr size_t kUnknownWidthColumns = 100;
constexpr size_t kMaxPhaseColumns = 40;
constexpr std::string_view kEraseLine = "\r\033[K";

uint64_t TotalOf(const ProgressSample& sample) {
  return sample.metadata ? sample.total_ops : sample.total_bytes;
}

}  // namespace

double ShareDone(const ProgressSample& sample) {
  const uint64_t done = sample.metadata ? sample.ops : sample.bytes;
  double share = NAN;
  if (TotalOf(sample) > 0) share = static_cast<double>(done) / static_cast<double>(TotalOf(sample));
  if (TotalOf(sample) == 0 && sample.total_s > 0) share = sample.elapsed_s / sample.total_s;
  return std::isnan(share) ? share : std::clamp(share, 0.0, 1.0);
}

double SecondsLeft(const ProgressSample& sample) {
  if (TotalOf(sample) == 0 && sample.total_s > 0) return std::max(0.0, sample.total_s - sample.elapsed_s);
  const double share = ShareDone(sample);
  if (!(share > 0) || sample.elapsed_s <= 0) return NAN;
  return sample.elapsed_s * (1 - share) / share;
}

// Rounds to "3 s" instead of "3.21 s", because flickering digits are hard to read.
std::string LeftText(double seconds) {
  return absl::StrCat("left ",
                      seconds < 59.5 ? absl::StrCat(std::llround(seconds), " s") : FormatSeconds(seconds));
}

std::string FormatProgress(const ProgressSample& sample, size_t width_columns) {
  struct Part {
    std::string text;
    int importance;  // if space is short, parts with the lowest value are dropped first
  };
  const std::string phase = Shortened(Printable(sample.phase), kMaxPhaseColumns);
  const double share = ShareDone(sample);
  const double left_s = SecondsLeft(sample);
  std::vector<Part> parts = {{absl::StrCat(sample.index + 1, "/", sample.count, " ", phase), 4}};
  if (!std::isnan(share)) parts.push_back({absl::StrCat(std::floor(100 * share), " %"), 3});
  parts.push_back({sample.metadata ? absl::StrCat(FormatCount(sample.ops_per_s), " ops/s")
                                   : FormatBytesPerSecond(sample.bytes_per_s),
                   6});
  if (!std::isnan(left_s)) parts.push_back({LeftText(left_s), 2});
  parts.push_back(
      {absl::StrCat(sample.lanes_running, " of ", sample.lanes, sample.lanes == 1 ? " lane" : " lanes"), 1});
  if (sample.errors > 0)
    parts.push_back({absl::StrCat(sample.errors, sample.errors == 1 ? " error" : " errors"), 5});

  const auto join = [&parts] {
    std::string line;
    for (const Part& part : parts) absl::StrAppend(&line, line.empty() ? "" : "   ", part.text);
    return line;
  };
  std::string line = join();
  while (DisplayColumns(line) > width_columns && parts.size() > 1) {
    parts.erase(std::min_element(parts.begin(), parts.end(),
                                 [](const Part& a, const Part& b) { return a.importance < b.importance; }));
    line = join();
  }
  return Shortened(line, width_columns);
}

ProgressOptions ProgressOptionsFor(int fd, bool forced) {
  ProgressOptions options;
  const char* terminal = std::getenv("TERM");
  const bool can_rewrite = ::isatty(fd) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb";
  if (can_rewrite) {
    options.mode = ProgressOptions::Mode::kRewrite;
  } else if (forced) {
    options.mode = ProgressOptions::Mode::kLines;
  }
  return options;
}

void ProgressLine::Update(const ProgressSample& sample) {
  if (options_.mode == ProgressOptions::Mode::kSilent) return;
  size_t width = options_.width_columns;
  if (width == 0) {
    struct winsize size = {};
    const bool known = ::ioctl(fd_, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    width = known ? size.ws_col : kUnknownWidthColumns;
  }
  if (options_.mode == ProgressOptions::Mode::kRewrite) {
    // Leaves one column free, because a line that fills the last column makes some terminals wrap.
    shown_ = Write(absl::StrCat(std::string(kEraseLine), FormatProgress(sample, width - 1))) || shown_;
    return;
  }
  const bool due = !printed_ || sample.index != printed_index_ || sample.elapsed_s < printed_elapsed_s_ ||
                   sample.elapsed_s - printed_elapsed_s_ >= options_.line_interval_s;
  if (!due || !Write(absl::StrCat(FormatProgress(sample, width), "\n"))) return;
  printed_ = true;
  printed_index_ = sample.index;
  printed_elapsed_s_ = sample.elapsed_s;
}

void ProgressLine::Clear() {
  if (!shown_) return;
  Write(std::string(kEraseLine));
  shown_ = false;
}

bool ProgressLine::Write(const std::string& text) {
  struct pollfd ready = {fd_, POLLOUT, 0};
  if (::poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0) return false;
  return ::write(fd_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace iobench
