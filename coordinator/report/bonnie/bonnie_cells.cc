#include "coordinator/report/bonnie/bonnie_cells.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace iobench {
namespace {

using State = BonnieFigure::State;

bool IsOfData(BonnieTest test) {
  return test < BonnieTest::kSeeks;
}

// The tool that turns Bonnie++'s CSV into text has only these whole numbers, so the text is made from them too.
int64_t WholeKib(double bytes_per_s) {
  return std::llround(bytes_per_s / 1024);
}

std::string SeeksPerSecond(double rate) {
  return rate < 999.95 ? absl::StrFormat("%.1f", rate) : absl::StrCat(std::llround(rate));
}

std::string ShortKib(int64_t kib) {
  if (kib < 10000) return absl::StrCat(kib, "k");
  const double mib = static_cast<double>(kib) / 1024;
  if (mib < 99.95) return absl::StrFormat("%.1fm", mib);
  if (mib < 1000) return absl::StrCat(std::llround(mib), "m");
  const double gib = mib / 1024;
  return gib < 99.95 ? absl::StrFormat("%.1fg", gib) : absl::StrCat(std::llround(gib), "g");
}

// Six digits would move all columns after them.
std::string ShortCount(const std::string& text, double rate) {
  return rate < 99999.5 ? text : absl::StrCat(std::llround(rate / 1000), "k");
}

}  // namespace

std::string BonnieRate(const BonnieMachine& machine, BonnieTest test) {
  const BonnieFigure& figure = machine.Of(test);
  if (figure.state == State::kNotRun) return "";
  if (figure.state == State::kTooShort) return "+++++";
  if (IsOfData(test)) return absl::StrCat(WholeKib(figure.bytes_per_s));
  if (test == BonnieTest::kSeeks) return SeeksPerSecond(figure.ops_per_s);
  return absl::StrCat(std::llround(figure.ops_per_s));
}

std::string BonnieShortRate(const BonnieMachine& machine, BonnieTest test) {
  const BonnieFigure& figure = machine.Of(test);
  if (figure.state != State::kMeasured) return BonnieRate(machine, test);
  if (IsOfData(test)) return ShortKib(WholeKib(figure.bytes_per_s));
  return ShortCount(BonnieRate(machine, test), figure.ops_per_s);
}

std::string BonnieCpu(const BonnieFigure& figure) {
  if (figure.state == State::kNotRun) return "";
  if (figure.state == State::kTooShort) return "+++";
  return std::isfinite(figure.cpu_percent) ? absl::StrCat(std::llround(figure.cpu_percent)) : "";
}

std::string BonnieLatency(const BonnieFigure& figure) {
  if (figure.state == State::kNotRun || !std::isfinite(figure.max_latency_us)) return "";
  const int64_t us = std::llround(figure.max_latency_us);
  if (us > 99'999'999) return absl::StrCat(std::llround(figure.max_latency_us / 1e6), "s");
  if (us > 99'999) return absl::StrCat(std::llround(figure.max_latency_us / 1e3), "ms");
  return absl::StrCat(us, "us");
}

std::string BonnieSize(uint64_t bytes) {
  if (bytes == 0) return "";
  struct Unit {
    int shift;
    const char* name;
  };
  for (const Unit& unit : {Unit{30, "G"}, Unit{20, "M"}, Unit{10, "K"}}) {
    if (bytes % (uint64_t{1} << unit.shift) == 0) return absl::StrCat(bytes >> unit.shift, unit.name);
  }
  return absl::StrCat(bytes);
}

std::string BonnieItems(uint64_t count) {
  if (count == 0) return "";
  if (count % 1024 == 0) return absl::StrCat(count / 1024);
  const double units = static_cast<double>(count) / 1024;
  if (units >= 1000) return absl::StrFormat("%.0f", units);  // a reader may take no exponents
  return units < 1 ? absl::StrFormat("%.3g", units) : absl::StrFormat("%.6g", units);
}

}  // namespace iobench
