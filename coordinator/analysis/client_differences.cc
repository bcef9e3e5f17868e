#include "coordinator/analysis/client_differences.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
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

// The clients with one value of a property, by index, ascending.
struct ClientsWithValue {
  std::string value;
  std::vector<int> clients;
};

// The values that one property has. Kept by value and not by client: thousands of clients mostly have the same one.
class ValuesOfProperty {
 public:
  // A client that names the property again replaces its value. REQUIRES: no later client was added.
  void Add(std::string_view value, int client) {
    if (latest_client_ == client) values_[latest_value_].clients.pop_back();
    const auto [known, is_new] = index_of_.try_emplace(std::string(value), values_.size());
    if (is_new) values_.push_back({std::string(value), {}});
    latest_client_ = client;
    latest_value_ = known->second;
    values_[latest_value_].clients.push_back(client);
  }

  // The most frequent value first; of equally frequent ones, that of the first client. `clients`: in ascending order;
  // those that have not named the property get the value kNotTold.
  std::vector<ClientsWithValue> Sorted(std::span<const int> clients) && {
    std::unordered_set<int> has;
    for (const ClientsWithValue& with : values_) has.insert(with.clients.begin(), with.clients.end());
    for (const int client : clients) {
      if (!has.contains(client)) Without().push_back(client);
    }
    std::erase_if(values_, [](const ClientsWithValue& with) { return with.clients.empty(); });
    std::sort(values_.begin(), values_.end(), [](const ClientsWithValue& a, const ClientsWithValue& b) {
      return a.clients.size() != b.clients.size() ? a.clients.size() > b.clients.size()
                                                  : a.clients.front() < b.clients.front();
    });
    return std::move(values_);
  }

 private:
  std::vector<int>& Without() {
    const auto [known, is_new] = index_of_.try_emplace(kNotTold, values_.size());
    if (is_new) values_.push_back({kNotTold, {}});
    return values_[known->second].clients;
  }

  std::vector<ClientsWithValue> values_;
  std::unordered_map<std::string, size_t> index_of_;
  int latest_client_ = -1;
  size_t latest_value_ = 0;
};
using Properties = std::map<Property, ValuesOfProperty>;
using ClientsOfPath = std::map<std::string, std::vector<int>>;

// The path of a property of a mount, "/mnt/nfs: source".
std::string PathOf(const Property& property) {
  return property.second.substr(0, property.second.rfind(": "));
}

bool IsOwnToEachClient(std::string_view option) {
  constexpr std::string_view kOwn[] = {"addr", "clientaddr", "mountaddr", "port", "mountport"};
  return std::find(std::begin(kOwn), std::end(kOwn), option) != std::end(kOwn);
}

// A client with an empty value counts as one that does not name the property.
void Add(About about, std::string name, std::string_view value, int client, Properties& properties) {
  ValuesOfProperty& values = properties[{about, std::move(name)}];
  if (!value.empty()) values.Add(value, client);
}

void AddTarget(const v1::TargetReport& target, int client, Properties& properties) {
  const auto add = [&](const std::string& name, std::string_view value) {
    Add(About::kMount, absl::StrCat(target.path(), ": ", name), value, client, properties);
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

void AddClient(const v1::ClientReport& report, int client, Properties& properties) {
  for (const v1::TargetReport& target : report.targets()) AddTarget(target, client, properties);
  for (const auto& [name, value] : report.settings()) {
    if (name == "nfs.nfs4_unique_id") continue;  // should differ
    Add(About::kSettings, name, value, client, properties);
  }
  const auto add = [&](const char* name, std::string_view value) {
    Add(About::kHost, name, value, client, properties);
  };
  const auto add_bytes = [&](const char* name, uint64_t bytes) {
    if (bytes > 0) add(name, FormatBytes(static_cast<double>(bytes)));
  };
  add("kernel", report.kernel());
  add("processors", absl::StrCat(report.processors()));
  add("clock", report.clock());
  add("workers", absl::StrCat(report.worker_count()));
  add_bytes("memory", report.memory_bytes());
  add_bytes("L2 cache", report.l2_cache_bytes());
  add_bytes("L3 cache", report.l3_cache_bytes());
}

}  // namespace

void FillDifferences(v1::RunReport& report) {
  if (report.clients_size() < 2) return;
  Properties properties;
  // A client whose workers do not use a path has no mount there that could differ.
  ClientsOfPath clients_of_path;
  std::vector<int> all_clients(static_cast<size_t>(report.clients_size()));
  std::iota(all_clients.begin(), all_clients.end(), 0);
  for (const int client : all_clients) {
    AddClient(report.clients(client), client, properties);
    for (const v1::TargetReport& target : report.clients(client).targets()) {
      clients_of_path[target.path()].push_back(client);
    }
  }
  for (auto& [property, with_values] : properties) {
    const std::vector<int>& clients =
        property.first == About::kMount ? clients_of_path[PathOf(property)] : all_clients;
    const std::vector<ClientsWithValue> values = std::move(with_values).Sorted(clients);
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
