#include "coordinator/validate/performance/expectations.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/status_util.h"
#include "common/text/near_names.h"
#include "common/text/units.h"
#include "coordinator/files/files.h"
#include "coordinator/yaml/read_yaml.h"

namespace iobench {
namespace {

constexpr uint64_t kMaxExpectationBytes = 1 << 20;

constexpr ThresholdKey kThresholds[] = {
    {"client_write_min", Measured::kEachAlone, Quantity::kBytesPerSecond, true, "write"},
    {"client_read_min", Measured::kEachAlone, Quantity::kBytesPerSecond, true, "read"},
    {"client_create_min", Measured::kEachAlone, Quantity::kPerSecond, true, "create"},
    {"client_stat_min", Measured::kEachAlone, Quantity::kPerSecond, true, "stat"},
    {"client_unlink_min", Measured::kEachAlone, Quantity::kPerSecond, true, "unlink"},
    {"total_write_min", Measured::kAllTogether, Quantity::kBytesPerSecond, true, "write"},
    {"total_read_min", Measured::kAllTogether, Quantity::kBytesPerSecond, true, "read"},
    {"total_create_min", Measured::kAllTogether, Quantity::kPerSecond, true, "create"},
    {"total_stat_min", Measured::kAllTogether, Quantity::kPerSecond, true, "stat"},
    {"total_unlink_min", Measured::kAllTogether, Quantity::kPerSecond, true, "unlink"},
    {"write_p99_max", Measured::kP99, Quantity::kSeconds, false, "write"},
    {"read_p99_max", Measured::kP99, Quantity::kSeconds, false, "read"},
    {"create_p99_max", Measured::kP99, Quantity::kSeconds, false, "create"},
    {"stat_p99_max", Measured::kP99, Quantity::kSeconds, false, "stat"},
    {"unlink_p99_max", Measured::kP99, Quantity::kSeconds, false, "unlink"},
    {"write_longest_max", Measured::kLongest, Quantity::kSeconds, false, "write"},
    {"read_longest_max", Measured::kLongest, Quantity::kSeconds, false, "read"},
    {"create_longest_max", Measured::kLongest, Quantity::kSeconds, false, "create"},
    {"stat_longest_max", Measured::kLongest, Quantity::kSeconds, false, "stat"},
    {"unlink_longest_max", Measured::kLongest, Quantity::kSeconds, false, "unlink"},
    {"scaling_min", Measured::kScaling, Quantity::kShare},
    {"fairness_min", Measured::kFairness, Quantity::kShare},
    {"outlier_min", Measured::kOutlier, Quantity::kShare},
    {"network_min", Measured::kNetwork, Quantity::kShare},
};

// How the values of a fact are read and compared. Versions are compared part by part: "6.1" is also 6.1.0-13.
enum class FactKind { kText, kFlag, kNumber, kSize, kSpeed, kVersion };
struct FactKey {
  std::string_view name;
  FactKind kind;
};
constexpr FactKey kFacts[] = {
    // of the mount
    {"filesystem", FactKind::kText},
    {"source", FactKind::kText},
    {"vers", FactKind::kVersion},
    {"proto", FactKind::kText},
    {"nconnect", FactKind::kNumber},
    {"rsize", FactKind::kSize},
    {"wsize", FactKind::kSize},
    {"sec", FactKind::kText},
    {"local_lock", FactKind::kText},
    {"lookupcache", FactKind::kText},
    {"timeo", FactKind::kNumber},
    {"retrans", FactKind::kNumber},
    {"acregmin", FactKind::kNumber},
    {"acregmax", FactKind::kNumber},
    {"acdirmin", FactKind::kNumber},
    {"acdirmax", FactKind::kNumber},
    {"hard", FactKind::kFlag},
    {"soft", FactKind::kFlag},
    {"sync", FactKind::kFlag},
    {"noac", FactKind::kFlag},
    {"nocto", FactKind::kFlag},
    {"nolock", FactKind::kFlag},
    {"noatime", FactKind::kFlag},
    {"read_ahead", FactKind::kSize},
    {"pnfs", FactKind::kText},
    {"connections", FactKind::kNumber},
    {"lease_time", FactKind::kNumber},
    // of the client and its network
    {"nic", FactKind::kText},
    {"mtu", FactKind::kNumber},
    {"nic_speed", FactKind::kSpeed},
    {"kernel", FactKind::kVersion},
    {"processors", FactKind::kNumber},
    {"memory", FactKind::kSize},
    {"cpu_governor", FactKind::kText},
    {"sunrpc.tcp_slot_table_entries", FactKind::kNumber},
    {"sunrpc.tcp_max_slot_table_entries", FactKind::kNumber},
    {"nfs.max_session_slots", FactKind::kNumber},
    // of all
    {"clients", FactKind::kNumber},
};

template <typename Row>
const Row* RowNamed(std::span<const Row> rows, std::string_view name) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [name](const Row& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

// A part of `text`, which must outlive it.
std::string_view TrimmedWords(std::string_view text) {
  const absl::string_view trimmed = absl::StripAsciiWhitespace(absl::string_view(text.data(), text.size()));
  return {trimmed.data(), trimmed.size()};
}

using UnitSize = std::pair<std::string_view, double>;

// Returns a finite number of 0 or more with one of the units. nullopt: something else.
std::optional<double> NumberWithUnit(std::string_view text, std::span<const UnitSize> units) {
  const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  double number = 0;
  if (!absl::SimpleAtod(absl::string_view(text.data(), end), &number) || !std::isfinite(number))
    return std::nullopt;
  const std::string_view unit = TrimmedWords(text.substr(end)).empty()
                                    ? std::string_view()
                                    : text.substr(text.find_first_not_of(" \t", end));
  for (const auto& [name, size] : units) {
    if (unit == name) return number * size;
  }
  return std::nullopt;
}

constexpr UnitSize kRateUnits[] = {{"B/s", 1},          {"kB/s", 1e3},      {"MB/s", 1e6},
                                   {"GB/s", 1e9},       {"TB/s", 1e12},     {"KiB/s", 0x1p10},
                                   {"MiB/s", 0x1p20},   {"GiB/s", 0x1p30},  {"TiB/s", 0x1p40},
                                   {"Mbit/s", 1e6 / 8}, {"Gbit/s", 1e9 / 8}};
constexpr UnitSize kSpeedUnits[] = {{"Mbit/s", 1e6 / 8}, {"Gbit/s", 1e9 / 8}};
constexpr UnitSize kCountUnits[] = {{"/s", 1}, {"ops/s", 1}, {"k/s", 1e3}, {"kops/s", 1e3}};
constexpr UnitSize kTimeUnits[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
constexpr UnitSize kShareUnits[] = {{"%", 0.01}};
constexpr UnitSize kNoUnits[] = {{"", 1}};

struct QuantityWords {
  std::span<const UnitSize> units;
  const char* example;
};
QuantityWords WordsOf(Quantity quantity) {
  switch (quantity) {
    case Quantity::kBytesPerSecond:
      return {kRateUnits, "a rate such as 105 MB/s, 1.1 GB/s, 100 MiB/s or 8 Gbit/s"};
    case Quantity::kPerSecond:
      return {kCountUnits, "a number per second such as 500/s"};
    case Quantity::kSeconds:
      return {kTimeUnits, "a time such as 20 ms or 2 s"};
    case Quantity::kShare:
      break;
  }
  return {kShareUnits, "a percentage such as 80 %"};
}

const char* ExampleOf(FactKind kind) {
  switch (kind) {
    case FactKind::kFlag:
      return "yes or no";
    case FactKind::kNumber:
      return "a number, or a limit such as \">= 4\"";
    case FactKind::kSize:
      return "a size such as 1m or 64k, or a limit such as \">= 1m\"";
    case FactKind::kSpeed:
      return "a speed such as 10 Gbit/s, or a limit such as \">= 10 Gbit/s\"";
    case FactKind::kVersion:
      return "a version such as 4.2, or a limit such as \">= 5.15\"";
    case FactKind::kText:
      break;
  }
  return "a word, or a list of those that are right";
}

std::optional<bool> FlagOf(std::string_view text) {
  for (const std::string_view yes : {"yes", "true", "on"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"no", "false", "off", ""}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

// Sizes of facts are bytes, or in the units of the command line.
std::optional<double> SizeOf(std::string_view text) {
  const auto bytes = ParseBytes(text, 1);
  if (!bytes.ok()) return std::nullopt;
  return static_cast<double>(*bytes);
}

std::optional<std::vector<uint64_t>> VersionOf(std::string_view text) {
  std::vector<uint64_t> parts;
  const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  for (const absl::string_view part :
       absl::StrSplit(absl::string_view(text.data(), end), '.', absl::SkipEmpty())) {
    uint64_t number = 0;
    if (!absl::SimpleAtoi(part, &number)) return std::nullopt;
    parts.push_back(number);
  }
  if (parts.empty()) return std::nullopt;
  return parts;
}

// Returns the value of a numeric kind. nullopt: it is no such number.
std::optional<double> NumberOfKind(FactKind kind, std::string_view text) {
  switch (kind) {
    case FactKind::kNumber:
      return NumberWithUnit(text, kNoUnits);
    case FactKind::kSize:
      return SizeOf(text);
    case FactKind::kSpeed:
      return NumberWithUnit(text, kSpeedUnits);
    default:
      return std::nullopt;
  }
}

bool IsOfKind(FactKind kind, std::string_view text) {
  if (kind == FactKind::kText) return !text.empty();
  if (kind == FactKind::kFlag) return !text.empty() && FlagOf(text).has_value();
  if (kind == FactKind::kVersion) return VersionOf(text).has_value();
  return NumberOfKind(kind, text).has_value();
}

// -1, 0 or 1. Versions are compared to the length of `limit`.
int Compared(FactKind kind, std::string_view value, std::string_view limit) {
  if (kind != FactKind::kVersion) {
    const double have = NumberOfKind(kind, value).value_or(0), want = NumberOfKind(kind, limit).value_or(0);
    return have < want ? -1 : have > want ? 1 : 0;
  }
  std::vector<uint64_t> have = VersionOf(value).value_or(std::vector<uint64_t>());
  const std::vector<uint64_t> want = VersionOf(limit).value_or(std::vector<uint64_t>());
  have.resize(want.size());
  return have < want ? -1 : have > want ? 1 : 0;
}

class ExpectationReader {
 public:
  explicit ExpectationReader(const std::string& path) { read_.file = path; }

  absl::StatusOr<Expectations> Read(const YAML::Node& root) {
    if (!root.IsMap()) {
      return absl::InvalidArgumentError(
          absl::StrCat(read_.file, ": expectations are the maps `performance:` and `facts:`"));
    }
    std::set<std::string> seen;
    for (const auto& entry : root) {
      IOBENCH_ASSIGN_OR_RETURN(const std::string name, KeyOf(entry.first, seen));
      static constexpr std::string_view kMaps[] = {"performance", "facts"};
      if (name != kMaps[0] && name != kMaps[1]) return Unknown(entry.first, name, kMaps);
      if (!entry.second.IsMap()) {
        return At(entry.second.Mark(), absl::StrCat(name, ": write `KEY: VALUE` below it, a line each"));
      }
      std::set<std::string> keys;
      for (const auto& each : entry.second) {
        IOBENCH_ASSIGN_OR_RETURN(const std::string key, KeyOf(each.first, keys));
        IOBENCH_RETURN_IF_ERROR(name == kMaps[0] ? ReadThreshold(key, each.first, each.second)
                                                 : ReadFact(key, each.first, each.second));
      }
    }
    if (read_.thresholds.empty() && read_.facts.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          read_.file, ": it expects nothing: name what to expect in `performance:` or `facts:`"));
    }
    IOBENCH_RETURN_IF_ERROR(CheckShares());
    IOBENCH_RETURN_IF_ERROR(CheckLatencies());
    IOBENCH_RETURN_IF_ERROR(CheckNicCarriesRates());
    IOBENCH_RETURN_IF_ERROR(CheckHardOrSoft());
    return std::move(read_);
  }

  absl::Status At(const YAML::Mark& mark, const std::string& what) const {
    return AtLine(mark.line + 1, what);
  }

 private:
  absl::Status AtLine(int line, const std::string& what) const {
    return absl::InvalidArgumentError(absl::StrCat(read_.PlaceOf(line), ": ", what));
  }

  template <typename Names>
  absl::Status Unknown(const YAML::Node& node, const std::string& name, const Names& names) const {
    return At(node.Mark(), absl::StrCat("there is no expectation \"", name, "\"", DidYouMean(name, names),
                                        " (docs/validate.md lists them)"));
  }

  absl::StatusOr<std::string> KeyOf(const YAML::Node& node, std::set<std::string>& seen) const {
    if (!node.IsScalar()) return At(node.Mark(), "a key must be a word");
    if (!seen.insert(node.Scalar()).second)
      return At(node.Mark(), absl::StrCat(node.Scalar(), " is there twice"));
    return node.Scalar();
  }

  absl::Status ReadThreshold(const std::string& name, const YAML::Node& key, const YAML::Node& value) {
    const ThresholdKey* const row = RowNamed<ThresholdKey>(kThresholds, name);
    if (row == nullptr) {
      std::vector<std::string_view> names;
      for (const ThresholdKey& each : kThresholds) names.push_back(each.name);
      return Unknown(key, name, names);
    }
    const QuantityWords words = WordsOf(row->quantity);
    const std::string text = value.IsScalar() ? value.Scalar() : "";
    const std::optional<double> limit = NumberWithUnit(TrimmedWords(text), words.units);
    if (!limit.has_value() || *limit <= 0) {
      return At(value.Mark(), absl::StrCat(name, ": \"", text, "\" is not ", words.example));
    }
    read_.thresholds.push_back({.key = row, .limit = *limit, .text = text, .line = key.Mark().line + 1});
    return absl::OkStatus();
  }

  absl::Status ReadFact(const std::string& name, const YAML::Node& key, const YAML::Node& value) {
    const FactKey* const row = RowNamed<FactKey>(kFacts, name);
    if (row == nullptr) {
      std::vector<std::string_view> names;
      for (const FactKey& each : kFacts) names.push_back(each.name);
      return Unknown(key, name, names);
    }
    ExpectedFact fact{.name = name, .values = {}, .line = key.Mark().line + 1};
    if (value.IsSequence()) {
      for (const YAML::Node& each : value) fact.values.push_back(each.IsScalar() ? each.Scalar() : "");
    } else {
      const std::string written = value.IsScalar() ? value.Scalar() : "";
      std::string_view text = TrimmedWords(written);
      const bool at_least = text.starts_with(">="), at_most = text.starts_with("<=");
      if (at_least || at_most) {
        fact.relation = at_least ? ExpectedFact::Relation::kAtLeast : ExpectedFact::Relation::kAtMost;
        text.remove_prefix(2);
      }
      fact.values.emplace_back(TrimmedWords(text));
    }
    const bool has_order = row->kind != FactKind::kText && row->kind != FactKind::kFlag;
    const bool right = !fact.values.empty() &&
                       (has_order || fact.relation == ExpectedFact::Relation::kOneOf) &&
                       std::all_of(fact.values.begin(), fact.values.end(),
                                   [row](const std::string& each) { return IsOfKind(row->kind, each); });
    if (!right) {
      const std::string text = value.IsScalar() ? absl::StrCat("\"", value.Scalar(), "\"") : "its value";
      return At(value.Mark(), absl::StrCat(name, ": ", text, " is not ", ExampleOf(row->kind)));
    }
    read_.facts.push_back(std::move(fact));
    return absl::OkStatus();
  }

  const Threshold* Find(std::string_view name) const {
    for (const Threshold& each : read_.thresholds) {
      if (name == each.key->name) return &each;
    }
    return nullptr;
  }

  // The slowest client cannot be above the mean, nor can all be above their median.
  absl::Status CheckShares() const {
    for (const Threshold& each : read_.thresholds) {
      if (each.key->quantity != Quantity::kShare || each.limit <= 1) continue;
      if (each.key->measured == Measured::kScaling)
        continue;  // caches of many clients may be faster than that of one
      return AtLine(each.line,
                    absl::StrCat(each.key->name, ": ", each.text, " cannot be reached: give at most 100 %"));
    }
    return absl::OkStatus();
  }

  // 99 % of the ops cannot take longer than the longest.
  absl::Status CheckLatencies() const {
    for (const Threshold& each : read_.thresholds) {
      if (each.key->measured != Measured::kP99) continue;
      const Threshold* const longest = Find(absl::StrCat(each.key->phase, "_longest_max"));
      if (longest == nullptr || each.limit <= longest->limit) continue;
      return AtLine(each.line, absl::StrCat(each.key->name, " of ", each.text, " contradicts ",
                                            longest->key->name, " of ", longest->text, " in line ",
                                            longest->line, ": no p99 is above the longest op"));
    }
    return absl::OkStatus();
  }

  // No client is faster than the fastest interface that it may have.
  absl::Status CheckNicCarriesRates() const {
    for (const ExpectedFact& fact : read_.facts) {
      if (fact.name != "nic_speed" || fact.relation == ExpectedFact::Relation::kAtLeast) continue;
      double most = 0;
      for (const std::string& value : fact.values) most = std::max(most, *NumberWithUnit(value, kSpeedUnits));
      for (const char* const name : {"client_write_min", "client_read_min"}) {
        const Threshold* const rate = Find(name);
        if (rate == nullptr || rate->limit <= most) continue;
        return AtLine(rate->line,
                      absl::StrCat(name, " of ", rate->text, " contradicts ", fact.Text(), " in line ",
                                   fact.line, ", which carries ", FormatBytesPerSecond(most)));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckHardOrSoft() const {
    const ExpectedFact *hard = nullptr, *soft = nullptr;
    for (const ExpectedFact& fact : read_.facts) {
      if (fact.name == "hard") hard = &fact;
      if (fact.name == "soft") soft = &fact;
    }
    if (hard == nullptr || soft == nullptr || FlagOf(hard->values[0]) != FlagOf(soft->values[0]))
      return absl::OkStatus();
    return AtLine(soft->line, absl::StrCat("soft: ", soft->values[0], " contradicts hard: ", hard->values[0],
                                           " in line ", hard->line, ": a mount is one of the two"));
  }

  Expectations read_;
};

}  // namespace

std::string ExpectedFact::Text() const {
  const char* const sign = relation == Relation::kAtLeast  ? " >= "
                           : relation == Relation::kAtMost ? " <= "
                                                           : " = ";
  return absl::StrCat(name, sign, absl::StrJoin(values, " or "));
}

std::optional<double> Expectations::LimitOf(std::string_view key) const {
  for (const Threshold& each : thresholds) {
    if (each.key->name == key) return each.limit;
  }
  return std::nullopt;
}

std::string Expectations::PlaceOf(int line) const {
  return absl::StrCat(file, ":", line);
}

absl::StatusOr<Expectations> ParseExpectations(const std::string& path, const std::string& text) {
  Expectations expectations;
  IOBENCH_RETURN_IF_ERROR(ReadYaml(text, path, [&](const YAML::Node& root) -> absl::Status {
    IOBENCH_ASSIGN_OR_RETURN(expectations, ExpectationReader(path).Read(root));
    return absl::OkStatus();
  }));
  return expectations;
}

absl::StatusOr<Expectations> LoadExpectations(const std::string& path) {
  IOBENCH_ASSIGN_OR_RETURN(const std::string text, files::ReadWhole("expectations", path, kMaxExpectationBytes));
  return ParseExpectations(path, text);
}

bool IsAsExpected(const ExpectedFact& fact, const std::string& value) {
  const FactKey& key = *RowNamed<FactKey>(kFacts, fact.name);
  if (key.kind == FactKind::kFlag) {
    return std::any_of(fact.values.begin(), fact.values.end(),
                       [&value](const std::string& each) { return FlagOf(each) == FlagOf(value); });
  }
  if (!IsOfKind(key.kind, value)) return false;
  switch (fact.relation) {
    case ExpectedFact::Relation::kAtLeast:
      return Compared(key.kind, value, fact.values[0]) >= 0;
    case ExpectedFact::Relation::kAtMost:
      return Compared(key.kind, value, fact.values[0]) <= 0;
    case ExpectedFact::Relation::kOneOf:
      break;
  }
  return std::any_of(fact.values.begin(), fact.values.end(), [&](const std::string& each) {
    return key.kind == FactKind::kText ? each == value : Compared(key.kind, value, each) == 0;
  });
}

}  // namespace iobench
