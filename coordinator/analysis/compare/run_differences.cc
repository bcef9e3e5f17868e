#include "coordinator/analysis/compare/run_differences.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/model/plan_traits.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"

namespace iobench {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr size_t kMaxNames = 5;
constexpr char kHosts[] = "hosts";
constexpr char kPhases[] = "phases";
constexpr char kMountOptions[] = "mount options of ";

// Specific to each client, so that they always differ (as in the mark options_differ).
constexpr std::string_view kOwnOptions[] = {"addr=", "clientaddr=", "mountaddr=", "port=", "mountport="};

std::string ScalarText(const Message& message, const FieldDescriptor& field, int index) {
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    const auto& get = *message.GetReflection();
    return index < 0 ? get.GetString(message, &field) : get.GetRepeatedString(message, &field, index);
  }
  std::string text;
  google::protobuf::TextFormat::PrintFieldValueToString(message, &field, index, &text);
  return text;
}

// Adds each scalar field that is written: "phases[0].stop.time_s".
void AddFields(const Message& message, const std::string& prefix, std::vector<RunFacts::Fact>& facts) {
  const auto& get = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  get.ListFields(message, &fields);
  for (const FieldDescriptor* const field : fields) {
    const std::string path = absl::StrCat(prefix, field->name());
    const bool nested = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (!field->is_repeated()) {
      if (nested) AddFields(get.GetMessage(message, field), absl::StrCat(path, "."), facts);
      if (nested) continue;
      facts.push_back({"plan", path, ScalarText(message, *field, -1)});
      continue;
    }
    for (int i = 0; i < get.FieldSize(message, field); ++i) {
      const std::string element = absl::StrCat(path, "[", i, "]");
      if (nested) {
        AddFields(get.GetRepeatedMessage(message, field, i), absl::StrCat(element, "."), facts);
      } else {
        facts.push_back({"plan", element, ScalarText(message, *field, i)});
      }
    }
  }
}

// The distinct values of a fact over the clients: "6.1.0", or "6.1.0 (30 clients), 6.5.0 (2 clients)".
std::string OverClients(const v1::RunReport& report,
                        const std::function<std::string(const v1::ClientReport&)>& value_of) {
  std::map<std::string, size_t> count_of;
  for (const v1::ClientReport& client : report.clients()) ++count_of[value_of(client)];
  if (count_of.size() == 1) return count_of.begin()->first;
  std::vector<std::string> texts;
  for (const auto& [value, count] : count_of) texts.push_back(absl::StrCat(value, " (", count, " clients)"));
  return absl::StrJoin(texts, ", ");
}

std::string TextIfKnown(uint64_t value) {
  return value == 0 ? "" : absl::StrCat(value);
}

void AddTargets(const v1::RunReport& report, std::vector<RunFacts::Fact>& facts) {
  // By number, because runs that compare two mounts have different paths.
  int most = 0;
  for (const v1::ClientReport& client : report.clients()) most = std::max(most, client.targets_size());
  for (int i = 0; i < most; ++i) {
    const auto fact = [&](const char* name, const std::string& (v1::TargetReport::*value)() const) {
      const auto of_client = [i, value](const v1::ClientReport& client) {
        return i < client.targets_size() ? (client.targets(i).*value)() : std::string();
      };
      facts.push_back({"clients", absl::StrCat(name, " of target ", i + 1), OverClients(report, of_client)});
    };
    fact("file system", &v1::TargetReport::filesystem);
    fact("mount source", &v1::TargetReport::mount_source);
    std::set<std::string> options;
    for (const v1::ClientReport& client : report.clients()) {
      if (i >= client.targets_size()) continue;
      for (const auto option : absl::StrSplit(client.targets(i).mount_options(), ',', absl::SkipEmpty())) {
        const std::string text(option);
        const bool own = std::any_of(std::begin(kOwnOptions), std::end(kOwnOptions),
                                     [&text](std::string_view start) { return text.starts_with(start); });
        if (!own) options.insert(text);
      }
    }
    facts.push_back({"clients", absl::StrCat(kMountOptions, "target ", i + 1), absl::StrJoin(options, "\n")});
  }
}

bool IsList(const std::string& field) {
  return field == kHosts || field.starts_with(kMountOptions);
}

// For values with one item per line: the items that not all of them have, a few at most.
std::vector<std::string> WithoutCommon(const std::vector<std::string>& values) {
  std::vector<std::set<std::string>> items;
  for (const std::string& value : values) {
    const std::vector<std::string> lines = absl::StrSplit(value, '\n', absl::SkipEmpty());
    items.emplace_back(lines.begin(), lines.end());
  }
  std::vector<std::string> left;
  for (const auto& own : items) {
    std::vector<std::string> texts;
    for (const std::string& item : own) {
      const bool common = std::all_of(items.begin(), items.end(),
                                      [&item](const auto& other) { return other.contains(item); });
      if (!common) texts.push_back(item);
    }
    const size_t more = texts.size() > kMaxNames ? texts.size() - kMaxNames : 0;
    texts.resize(texts.size() - more);
    left.push_back(absl::StrJoin(texts, ", "));
    if (more > 0) absl::StrAppend(&left.back(), " and ", more, " more");
  }
  return left;
}

// "phases[3].stop.time_s" begins with "phases[".
bool IsOfPhase(const std::string& field) {
  return field.starts_with("phases[");
}

// Older versions do not record processor caches; that one of two runs is older is no difference of the clients.
bool IsUnknownInSome(const std::string& field, const std::vector<std::string>& values) {
  return field.ends_with("_cache_bytes") &&
         std::any_of(values.begin(), values.end(), [](const auto& value) { return value.empty(); });
}

// Fields of the plan that do not change what is measured.
bool IsHarmless(const std::string& field) {
  const bool path = field.starts_with("targets[") && field.ends_with("].path");
  return path || field.starts_with("notes[") || field.starts_with("criteria[") || field == "repetitions" ||
         field == "keep_data";
}

}  // namespace

RunFacts FactsOf(const v1::RunReport& report) {
  RunFacts run;
  run.facts.push_back({"plan", kPhases, absl::StrCat(report.run().plan().phases_size())});
  // Earlier versions did not record whether a 0 had been written.
  v1::Plan plan = report.run().plan();
  ClearZeros(plan);
  AddFields(plan, "", run.facts);
  // Random orders and data derive from the seed, which is new for each run by default.
  std::erase_if(run.facts, [](const RunFacts::Fact& fact) { return fact.field == "seed"; });
  const auto client_fact = [&](const char* name, auto value_of) {
    run.facts.push_back({"clients", name, OverClients(report, value_of)});
  };
  run.facts.push_back({"clients", "clients", absl::StrCat(report.clients_size())});
  run.facts.push_back({"clients", "workers", absl::StrCat(report.run().worker_count())});
  std::vector<std::string> hosts;
  for (const v1::ClientReport& client : report.clients()) hosts.push_back(client.host());
  run.facts.push_back({"clients", kHosts, absl::StrJoin(hosts, "\n")});
  client_fact("kernel", [](const v1::ClientReport& client) { return client.kernel(); });
  client_fact("processors", [](const v1::ClientReport& client) { return absl::StrCat(client.processors()); });
  client_fact("memory_bytes",
              [](const v1::ClientReport& client) { return absl::StrCat(client.memory_bytes()); });
  client_fact("l2_cache_bytes",
              [](const v1::ClientReport& client) { return TextIfKnown(client.l2_cache_bytes()); });
  client_fact("l3_cache_bytes",
              [](const v1::ClientReport& client) { return TextIfKnown(client.l3_cache_bytes()); });
  AddTargets(report, run.facts);
  run.facts.push_back({"program", "version", report.run().program_version()});
  run.facts.push_back({"program", "transport", report.run().transport()});
  return run;
}

RunDifferences DifferencesOf(std::span<const RunFacts> runs) {
  // The values of each run, by kind and field: in the order of the first run, then the fields that only later runs
  // have.
  std::vector<std::pair<std::string, std::string>> order;
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> values_of;
  for (size_t i = 0; i < runs.size(); ++i) {
    for (const RunFacts::Fact& fact : runs[i].facts) {
      const auto [place, is_new] = values_of.try_emplace({fact.of, fact.field}, runs.size());
      if (is_new) order.push_back({fact.of, fact.field});
      place->second[i] = fact.value;
    }
  }
  const auto differ = [](const std::vector<std::string>& values) {
    return std::any_of(values.begin(), values.end(), [&](const auto& value) { return value != values[0]; });
  };
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    const auto rank = [](const std::string& of) { return of == "plan" ? 0 : (of == "clients" ? 1 : 2); };
    return rank(a.first) < rank(b.first);
  });
  const auto phases = values_of.find({"plan", kPhases});
  const bool other_phases = phases != values_of.end() && differ(phases->second);
  RunDifferences found;
  for (const auto& [of, field] : order) {
    const std::vector<std::string>& values = values_of[{of, field}];
    if (!differ(values) || (of == "clients" && IsUnknownInSome(field, values))) continue;
    // The fields of phases cannot be compared by number if one of them is new; the list of unmatched phases says which.
    if (of == "plan" && other_phases && IsOfPhase(field)) continue;
    const std::vector<std::string> shown = IsList(field) ? WithoutCommon(values) : values;
    if (!differ(shown)) continue;  // the same hosts in another order
    if (of == "plan" && !IsHarmless(field)) found.like_plans = false;
    v1::Difference& difference = found.differences.emplace_back();
    difference.set_of(of);
    difference.set_field(field);
    for (const std::string& value : shown) difference.add_values(value);
  }
  return found;
}

}  // namespace iobench
