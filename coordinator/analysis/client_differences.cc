#include "coordinator/analysis/client_differences.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/text/units.h"

namespace iobench {
namespace {

constexpr char kNotTold[] = "not available";

// In the order of the table.
enum class About { kMount, kSettings, kHost };
using Property = std::pair<About, std::string>;
using Properties = std::map<Property, std::string>;

bool IsOwnToEachClient(std::string_view option) {
  constexpr std::string_view kOwn[] = {"addr", "clientaddr", "mountaddr", "port", "mountport"};
  return std::find(std::begin(kOwn), std::end(kOwn), option) != std::end(kOwn);
}

void AddTarget(const v1::TargetReport& target, Properties& properties) {
  const auto add = [&](const std::string& name, const std::string& value) {
    properties[{About::kMount, absl::StrCat(target.path(), ": ", name)}] = value;
  };
  add("file system", target.filesystem());
  add("source", target.mount_source());
  for (const absl::string_view part : absl::StrSplit(target.mount_options(), ',', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> option = absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (IsOwnToEachClient(option.first)) continue;
    add(option.first, option.second.empty() ? "yes" : option.second);
  }
  for (const auto& [name, value] : target.settings()) {
    if (name != "nic") add(name, value);
  }
}

Properties PropertiesOf(const v1::ClientReport& client) {
  Properties properties;
  for (const v1::TargetReport& target : client.targets()) AddTarget(target, properties);
  for (const auto& [name, value] : client.settings()) properties[{About::kSettings, name}] = value;
  const auto add = [&](const char* name, const std::string& value) {
    properties[{About::kHost, name}] = value;
  };
  const auto add_bytes = [&](const char* name, uint64_t bytes) {
    if (bytes > 0) add(name, FormatBytes(static_cast<double>(bytes)));
  };
  add("kernel", client.kernel());
  add("processors", absl::StrCat(client.processors()));
  add("clock", client.clock());
  add("workers", absl::StrCat(client.worker_count()));
  add_bytes("memory", client.memory_bytes());
  add_bytes("L2 cache", client.l2_cache_bytes());
  add_bytes("L3 cache", client.l3_cache_bytes());
  return properties;
}

// The clients with one value of a property, by index.
struct ClientsWithValue {
  std::string value;
  std::vector<int> clients;
};

// The most frequent value first.
std::vector<ClientsWithValue> ValuesOf(const std::vector<Properties>& all, const Property& property) {
  std::vector<ClientsWithValue> values;
  for (size_t client = 0; client < all.size(); ++client) {
    const auto has = all[client].find(property);
    const std::string value = has == all[client].end() || has->second.empty() ? kNotTold : has->second;
    const auto same = std::find_if(values.begin(), values.end(),
                                   [&value](const ClientsWithValue& seen) { return seen.value == value; });
    ClientsWithValue& with = same != values.end() ? *same : values.emplace_back(ClientsWithValue{value, {}});
    with.clients.push_back(static_cast<int>(client));
  }
  std::stable_sort(values.begin(), values.end(), [](const ClientsWithValue& a, const ClientsWithValue& b) {
    return a.clients.size() > b.clients.size();
  });
  return values;
}

}  // namespace

void FillDifferences(v1::RunReport& report) {
  if (report.clients_size() < 2) return;
  std::vector<Properties> all;
  Properties named;
  for (const v1::ClientReport& client : report.clients()) {
    all.push_back(PropertiesOf(client));
    named.insert(all.back().begin(), all.back().end());
  }
  for (const auto& [property, ignored] : named) {
    const std::vector<ClientsWithValue> values = ValuesOf(all, property);
    for (size_t i = 1; i < values.size(); ++i) {
      v1::ClientDifference& difference = *report.add_differences();
      difference.set_what(property.second);
      difference.set_usual(values.front().value);
      difference.set_usual_clients(static_cast<uint32_t>(values.front().clients.size()));
      difference.set_value(values[i].value);
      for (const int client : values[i].clients) difference.add_clients(report.clients(client).host());
    }
  }
}

}  // namespace iobench
