// Tables of what took part: clients, mounts, files.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/text/units.h"
#include "coordinator/report/tables/fill_tables.h"

namespace iobench {
namespace {

using Unit = TableUnit;

constexpr int kMaxNamed = 12;

std::string ClockText(const v1::ClientReport& client) {
  if (client.same_clock()) return "the coordinator's own";
  if (!std::isfinite(client.clock_error_ns())) return "not measured";
  return absl::StrCat(FormatSeconds(client.clock_offset_ns() * 1e-9), " ± ",
                      FormatSeconds(client.clock_error_ns() * 1e-9));
}

std::string SettingsText(const google::protobuf::Map<std::string, std::string>& settings) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : std::map(settings.begin(), settings.end()))
    texts.push_back(absl::StrCat(name, " ", value));
  return absl::StrJoin(texts, ", ");
}

std::string TargetsText(const v1::ClientReport& client) {
  std::vector<std::string> texts;
  for (const v1::TargetReport& target : client.targets()) {
    const std::string settings = SettingsText(target.settings());
    texts.push_back(absl::StrCat(target.path(), " (", target.filesystem(), " from ", target.mount_source(), "; ",
                                 target.mount_options(), settings.empty() ? "" : "; ", settings, ")"));
  }
  return absl::StrJoin(texts, " | ");
}

// Without the option that names the client itself: all clients of a mount otherwise have the same ones.
std::string SharedOptions(const std::string& options) {
  std::vector<std::string> parts = absl::StrSplit(options, ',');
  std::erase_if(parts, [](const std::string& part) { return part.starts_with("clientaddr="); });
  return absl::StrJoin(parts, ",");
}

}  // namespace

Table ClientsTable(const v1::RunReport& report) {
  if (report.clients().empty()) return {};
  constexpr Readers kMore = Readers::kNotDocuments;
  Table table = {.columns = {{.id = "client", .title = "client", .left = true},
                             {.id = "workers", .title = "workers", .unit = Unit::kCount},
                             {.id = "processors", .title = "processors", .unit = Unit::kCount},
                             {.id = "memory_bytes", .title = "memory", .unit = Unit::kBytes},
                             {.id = "kernel", .title = "kernel", .left = true},
                             {.id = "clock", .title = "clock", .left = true},
                             {.id = "clock_text", .title = "offset from the coordinator", .readers = Readers::kPeople},
                             {.id = "clock_offset_ns", .title = "clock offset (ns)", .unit = Unit::kNumber, .readers = kMore},
                             {.id = "clock_error_ns", .title = "clock error (ns)", .unit = Unit::kNumber, .readers = kMore},
                             {.id = "l2_cache_bytes", .title = "L2 cache", .unit = Unit::kBytes, .readers = kMore},
                             {.id = "l3_cache_bytes", .title = "L3 cache", .unit = Unit::kBytes, .readers = kMore},
                             {.id = "targets", .title = "targets", .left = true, .readers = kMore},
                             {.id = "settings", .title = "settings", .left = true, .readers = kMore}},
                 .parts = {{}}};
  for (const v1::ClientReport& client : report.clients()) {
    table.parts[0].rows.push_back({client.host(), client.worker_count(), client.processors(), client.memory_bytes(),
                                   client.kernel(), client.clock(), ClockText(client), client.clock_offset_ns(),
                                   client.clock_error_ns(), CellIf(client.l2_cache_bytes() > 0, client.l2_cache_bytes()),
                                   CellIf(client.l3_cache_bytes() > 0, client.l3_cache_bytes()), TargetsText(client),
                                   SettingsText(client.settings())});
  }
  return table;
}

Table MountsTable(const v1::RunReport& report) {
  using Mount = std::tuple<std::string, std::string, std::string, std::string>;
  std::vector<std::pair<Mount, int>> mounts;
  std::map<Mount, size_t> rows;
  for (const v1::ClientReport& client : report.clients()) {
    for (const v1::TargetReport& target : client.targets()) {
      const Mount mount(target.path(), target.filesystem(), target.mount_source(),
                        SharedOptions(target.mount_options()));
      const auto [row, is_new] = rows.try_emplace(mount, mounts.size());
      if (is_new) mounts.emplace_back(mount, 0);
      ++mounts[row->second].second;
    }
  }
  if (mounts.empty()) return {};
  Table table = {.columns = {{.id = "path", .title = "path", .left = true},
                             {.id = "filesystem", .title = "file system", .left = true},
                             {.id = "source", .title = "mounted from", .left = true},
                             {.id = "options", .title = "mount options", .left = true},
                             {.id = "clients", .title = "clients", .unit = Unit::kCount}},
                 .parts = {{}}};
  for (const auto& [mount, client_count] : mounts) {
    const auto& [path, filesystem, source, options] = mount;
    table.parts[0].rows.push_back({path, filesystem, source, options, client_count});
  }
  return table;
}

Table DifferencesTable(const v1::RunReport& report) {
  if (report.differences().empty()) return {};
  Table table = {.columns = {{.id = "what", .title = "what", .left = true},
                             {.id = "most", .title = "most clients", .left = true, .readers = Readers::kPeople},
                             {.id = "usual", .title = "most clients", .readers = Readers::kMachines},
                             {.id = "usual_clients", .title = "how many", .unit = Unit::kCount, .readers = Readers::kMachines},
                             {.id = "value", .title = "these", .left = true},
                             {.id = "clients", .title = "clients", .left = true}},
                 .parts = {{}}};
  for (const v1::ClientDifference& each : report.differences()) {
    const auto begin = each.clients().begin();
    std::string names = absl::StrJoin(begin, begin + std::min(each.clients_size(), kMaxNamed), ", ");
    if (each.clients_size() > kMaxNamed) absl::StrAppend(&names, " and ", each.clients_size() - kMaxNamed, " more");
    table.parts[0].rows.push_back({each.what(),
                                   absl::StrCat(each.usual(), " (", Counted(each.usual_clients(), "client"), ")"),
                                   each.usual(), each.usual_clients(), each.value(), names});
  }
  return table;
}

Table FilesTable(const v1::RunReport& report) {
  Table table = {.columns = {{.id = "file", .title = "file", .left = true},
                             {.id = "bytes", .title = "bytes", .unit = Unit::kNumber},
                             {.id = "sha256", .title = "SHA-256", .left = true}},
                 .parts = {{}}};
  const v1::RunInfo& run = report.run();
  std::vector<TableRow>& rows = table.parts[0].rows;
  if (!run.program_sha256().empty())
    rows.push_back({absl::StrCat("the program, version ", run.program_version()), {}, run.program_sha256()});
  if (!run.plan_sha256().empty()) rows.push_back({"the plan, as saved in raw/run.pb", {}, run.plan_sha256()});
  for (const v1::FileDigest& file : report.files())
    rows.push_back({file.name(), std::to_string(file.bytes()), file.sha256()});
  return rows.empty() ? Table() : table;
}

}  // namespace iobench
