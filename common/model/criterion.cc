#include "common/model/criterion.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"

namespace iobench {
namespace {

using Figure = Criterion::Figure;
using Bound = Criterion::Bound;

// Figures with a name of their own; without one, the value's unit tells which headline is meant.
constexpr std::pair<std::string_view, Figure> kFigures[] = {
    {"mean", Figure::kMean}, {"p50", Figure::kP50},     {"p90", Figure::kP90},       {"p95", Figure::kP95},
    {"p99", Figure::kP99},   {"p99.9", Figure::kP99_9}, {"p99.99", Figure::kP99_99}, {"max", Figure::kMax},
    {"jain", Figure::kJain}, {"cov", Figure::kCov},     {"marks", Figure::kMarks},
};

constexpr std::pair<std::string_view, double> kByteRates[] = {
    {"B/s", 1},    {"KiB/s", 0x1p10}, {"MiB/s", 0x1p20}, {"GiB/s", 0x1p30}, {"TiB/s", 0x1p40},
    {"kB/s", 1e3}, {"MB/s", 1e6},     {"GB/s", 1e9},     {"TB/s", 1e12},
};
// In us, so that "100us" equals a figure of 100 us exactly.
constexpr std::pair<std::string_view, double> kTimes[] = {{"us", 1}, {"ms", 1e3}, {"s", 1e6}};
constexpr std::pair<std::string_view, double> kOpRates[] = {{"ops/s", 1}, {"kops/s", 1e3}, {"Mops/s", 1e6}};

absl::Status BadCriterion(const std::string& text, const std::string& why) {
  std::vector<std::string> figures;
  for (const auto& [name, figure] : kFigures) figures.emplace_back(name);
  return absl::InvalidArgumentError(absl::StrCat(
      "criterion \"", text, "\": ", why,
      "; write PHASE[:FIGURE]>=VALUE or <=, such as write>=900MiB/s, create>=5000ops/s, random-read:p99<=10ms, "
      "read:jain>=0.9, append-log:fdatasync:p99<=10ms or *:marks=none; a figure alone, p99<=10ms, is one of all phases "
      "(figures: ",
      absl::StrJoin(figures, ", "), "; none: the headline)"));
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Returns the number at the start of `text`, and the unit that follows it. nullopt: no finite number of 0 or more.
std::optional<std::pair<double, std::string_view>> NumberAndUnit(std::string_view text) {
  const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  double number = 0;
  if (!absl::SimpleAtod(absl::string_view(text.data(), end), &number) || !std::isfinite(number))
    return std::nullopt;
  return std::pair{number, Trimmed(text.substr(end))};
}

// Reads the value of a headline; its unit tells which headline is meant.
absl::Status ReadRate(const std::string& text, std::string_view value, Criterion& criterion) {
  const auto parts = NumberAndUnit(value);
  if (!parts.has_value()) return BadCriterion(text, "its value is not a number of 0 or more with a unit");
  for (const auto& [unit, size] : kByteRates) {
    if (parts->second != unit) continue;
    criterion.figure = Figure::kBytesPerSecond;
    criterion.limit = parts->first * size;
    return absl::OkStatus();
  }
  for (const auto& [unit, size] : kOpRates) {
    if (parts->second != unit) continue;
    criterion.figure = Figure::kOpsPerSecond;
    criterion.limit = parts->first * size;
    return absl::OkStatus();
  }
  return BadCriterion(
      text, parts->second.empty()
                ? std::string("its value needs a unit: MiB/s, GiB/s, MB/s, GB/s … or ops/s")
                : absl::StrCat("\"", std::string(parts->second),
                               "\" is no unit of a headline: use MiB/s, GiB/s, MB/s, GB/s … or ops/s"));
}

absl::Status ReadValue(const std::string& text, std::string_view value, Criterion& criterion) {
  const auto parts = NumberAndUnit(value);
  if (!parts.has_value()) return BadCriterion(text, "its value is not a number of 0 or more");
  if (criterion.figure == Figure::kMarks) return BadCriterion(text, "marks can only be =none");
  if (criterion.figure == Figure::kJain || criterion.figure == Figure::kCov) {
    if (!parts->second.empty()) return BadCriterion(text, "jain and cov are plain numbers, without a unit");
    criterion.limit = parts->first;
    return absl::OkStatus();
  }
  if (parts->second.empty()) return BadCriterion(text, "a latency needs a unit: us, ms or s");
  for (const auto& [unit, us] : kTimes) {
    if (parts->second != unit) continue;
    criterion.limit = parts->first * us;
    return absl::OkStatus();
  }
  return BadCriterion(text, "its value is not a time in us, ms or s");
}

// Splits "read:p99" at its last colon if a figure follows; phase names may contain colons. A figure alone is one of all
// phases. Returns nullopt if there is none.
std::optional<Figure> ParseFigure(std::string_view& left) {
  const size_t colon = left.rfind(':');
  for (const auto& [name, figure] : kFigures) {
    if (Trimmed(left.substr(colon + 1)) != name) continue;  // npos + 1 is 0
    left = colon == std::string_view::npos ? "*" : Trimmed(left.substr(0, colon));
    return figure;
  }
  return std::nullopt;
}

bool IsLatency(Figure figure) { return UnitOf(figure) == std::string_view("us"); }

// Splits "append-log:fdatasync" at its last colon if the name of a flush call follows. A call alone is one of all
// phases.
std::optional<OpKind> ParseCall(std::string_view& left) {
  const size_t colon = left.rfind(':');
  for (int i = 0; i < kOpKindCount; ++i) {
    const auto call = static_cast<OpKind>(i);
    if (!kFlushCalls.Has(call) || Trimmed(left.substr(colon + 1)) != NameOf(call)) continue;  // npos + 1 is 0
    left = colon == std::string_view::npos ? "*" : Trimmed(left.substr(0, colon));
    return call;
  }
  return std::nullopt;
}

// In these phases, not all clients take part or not all do the same, so they match by no operation.
bool HasOnlyItsName(const v1::Phase& phase) {
  return phase.has_alone() || phase.has_on_servers() || !phase.interference().background().empty();
}

}  // namespace

absl::StatusOr<Criterion> ParseCriterion(const std::string& text) {
  constexpr std::string_view kNoMarks = "=none";
  const std::string_view whole = Trimmed(text);
  Criterion criterion;
  const size_t sign = std::max(whole.rfind(">=") + 1, whole.rfind("<=") + 1);  // npos + 1 is 0
  if (sign == 0 && !whole.ends_with(kNoMarks)) return BadCriterion(text, "it has neither >= nor <=");
  std::string_view left =
      Trimmed(sign == 0 ? whole.substr(0, whole.size() - kNoMarks.size()) : whole.substr(0, sign - 1));
  const std::optional<Figure> figure = ParseFigure(left);
  if (figure.has_value() && IsLatency(*figure)) criterion.call = ParseCall(left);
  if (left.empty()) return BadCriterion(text, "it names no phase (*: all)");
  criterion.phases = std::string(left);
  if (figure.has_value()) criterion.figure = *figure;
  if (sign == 0) {
    criterion.bound = Bound::kMax;
    if (figure != Figure::kMarks) return BadCriterion(text, "only marks can be =none");
    return criterion;
  }
  criterion.bound = whole[sign - 1] == '>' ? Bound::kMin : Bound::kMax;
  const std::string_view value = Trimmed(whole.substr(sign + 1));
  IOBENCH_RETURN_IF_ERROR(figure.has_value() ? ReadValue(text, value, criterion)
                                             : ReadRate(text, value, criterion));
  return criterion;
}

const char* UnitOf(Criterion::Figure figure) {
  switch (figure) {
    case Figure::kBytesPerSecond:
      return "B/s";
    case Figure::kOpsPerSecond:
      return "ops/s";
    case Figure::kMean:
    case Figure::kP50:
    case Figure::kP90:
    case Figure::kP95:
    case Figure::kP99:
    case Figure::kP99_9:
    case Figure::kP99_99:
    case Figure::kMax:
      return "us";
    case Figure::kMarks:
      return "marks";
    case Figure::kJain:
    case Figure::kCov:
      break;
  }
  return "";
}

bool AppliesTo(const Criterion& criterion, const v1::Phase& phase) {
  if (phase.assignments().empty()) return false;  // a damaged plan
  if (phase.background()) return false;
  if (HasOnlyItsName(phase)) return criterion.phases == phase.name();
  if (phase.has_interference() && criterion.phases == phase.interference().phase()) return true;
  if (criterion.phases == "*" && criterion.call.has_value()) return FlushCallsOf(phase).Has(*criterion.call);
  if (criterion.phases == "*") return criterion.figure != Figure::kBytesPerSecond || !IsMetadata(phase);
  return criterion.phases == phase.name() || criterion.phases == OperationNames(phase);
}

bool NamesPart(const Criterion& criterion, const v1::Phase& phase) {
  if (phase.background() || HasOnlyItsName(phase) || AppliesTo(criterion, phase)) return false;
  return std::any_of(phase.assignments().begin(), phase.assignments().end(),
                     [&criterion](const v1::Assignment& assignment) {
                       return assignment.operation().name() == criterion.phases;
                     });
}

}  // namespace iobench
