// Checks that the clients of a run are alike: kernel, file system type, mount options.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/model/plan_targets.h"
#include "coordinator/analysis/marks/marks.h"

namespace iobench {
namespace {

// Options specific to a client, or the server's address as seen by this client: they differ on every properly
// configured cluster.
constexpr std::string_view kOwnOptions[] = {"addr", "clientaddr", "mountaddr", "port", "mountport"};

// "vers=4.2" is the option "vers" with its value, "hard" an option without a value.
using Options = std::map<std::string, std::string>;

Options OptionsOf(const v1::TargetFacts& target) {
  Options options;
  for (const absl::string_view part : absl::StrSplit(target.mount_options(), ',', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> option = absl::StrSplit(part, absl::MaxSplits('=', 1));
    const bool own =
        std::find(std::begin(kOwnOptions), std::end(kOwnOptions), option.first) != std::end(kOwnOptions);
    if (!own) options.insert(option);
  }
  return options;
}

// Returns the source of a target. Servers with different names that turned out to have the same file system get one
// name.
const std::string& SourceOf(const v1::RunRecord& run, uint32_t target_index, const v1::TargetFacts& target) {
  for (const v1::WorkerTargets& worker : run.targets()) {
    const v1::TargetFacts* const first = SeenOf(worker, target_index);
    if (first != nullptr && first->filesystem_id() == target.filesystem_id()) return first->mount_source();
  }
  return target.mount_source();
}

// Returns what should be equal at a target on all clients, each with a display name that begins with `prefix`. Nothing
// for local disks, which belong to one client.
Options FactsOf(const v1::RunRecord& run, uint32_t target_index, const v1::TargetFacts& target,
                const std::string& prefix) {
  Options facts;
  if (!target.network()) return facts;
  facts[prefix + "type"] = target.filesystem();
  facts[prefix + "source"] = SourceOf(run, target_index, target);
  for (const auto& [name, value] : OptionsOf(target)) facts[prefix + name] = value;
  return facts;
}

// Adds what each client sees of one target. A client whose workers do not use it is assumed to be like most of the
// others.
void AddTarget(const v1::RunRecord& run, const ClientRoster& roster, uint32_t target,
               std::vector<Options>& of_clients) {
  const v1::Plan& plan = run.plan();
  const std::string prefix =
      plan.targets_size() > 1 ? absl::StrCat(plan.targets(static_cast<int>(target)).path(), " ") : "";
  std::map<Options, size_t> counts;
  std::vector<size_t> without;
  for (size_t client = 0; client < roster.client_count(); ++client) {
    const v1::TargetFacts* const seen = SeenOf(run, roster.WorkersOf(client), target);
    if (seen == nullptr) {
      without.push_back(client);
      continue;
    }
    const Options facts = FactsOf(run, target, *seen, prefix);
    ++counts[facts];
    of_clients[client].insert(facts.begin(), facts.end());
  }
  if (counts.empty()) return;
  const auto usual = std::max_element(counts.begin(), counts.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
  for (const size_t client : without) {
    of_clients[client].insert(usual->first.begin(), usual->first.end());
  }
}

// Returns everything that should be equal on all clients, by client.
std::vector<Options> OptionsOfClients(const v1::RunRecord& run, const ClientRoster& roster) {
  std::vector<Options> of_clients(roster.client_count());
  for (size_t client = 0; client < roster.client_count(); ++client) {
    const uint32_t worker = roster.WorkersOf(client).front();
    of_clients[client]["kernel"] = run.workers(static_cast<int>(worker)).kernel();
  }
  const auto& targets = run.plan().targets();
  const bool own_targets =
      std::any_of(targets.begin(), targets.end(), [](const v1::Target& target) { return target.has_who(); });
  if (!own_targets) {
    for (int i = 0; i < targets.size(); ++i) AddTarget(run, roster, static_cast<uint32_t>(i), of_clients);
    return of_clients;
  }
  // Workers with their own targets are compared by these, whatever their paths.
  for (size_t client = 0; client < roster.client_count(); ++client) {
    const uint32_t target = TargetOfWorker(run.plan(), roster.WorkersOf(client).front());
    const v1::TargetFacts* const seen = SeenOf(run, roster.WorkersOf(client), target);
    if (seen == nullptr) continue;
    const Options facts = FactsOf(run, target, *seen, "");
    of_clients[client].insert(facts.begin(), facts.end());
  }
  return of_clients;
}

std::string Shown(const std::string& name, const Options& facts) {
  const auto found = facts.find(name);
  if (found == facts.end()) return absl::StrCat("no ", name);
  return found->second.empty() ? name : absl::StrCat(name, "=", found->second);
}

// Returns the differences, such as "rsize=262144 instead of rsize=1048576".
std::vector<std::string> Differences(const Options& mine, const Options& usual) {
  std::set<std::string> names;
  for (const auto& [name, value] : mine) names.insert(name);
  for (const auto& [name, value] : usual) names.insert(name);
  std::vector<std::string> differences;
  for (const std::string& name : names) {
    const std::string here = Shown(name, mine);
    const std::string there = Shown(name, usual);
    if (here != there) differences.push_back(absl::StrCat(here, " instead of ", there));
  }
  return differences;
}

}  // namespace

std::optional<v1::Mark> OptionsDiffer(const v1::RunRecord& run, const ClientRoster& roster) {
  const std::vector<Options> of_clients = OptionsOfClients(run, roster);
  std::map<Options, std::vector<size_t>> clients_with;
  for (size_t client = 0; client < of_clients.size(); ++client) {
    if (roster.IsServer(client)) continue;
    clients_with[of_clients[client]].push_back(client);
  }
  if (clients_with.size() < 2) return std::nullopt;
  // The reference is what most clients have, or, if several are equally frequent, what the first client has.
  const auto usual =
      std::max_element(clients_with.begin(), clients_with.end(), [](const auto& a, const auto& b) {
        return a.second.size() != b.second.size() ? a.second.size() < b.second.size()
                                                  : a.second.front() > b.second.front();
      });
  size_t unusual_count = 0;
  const std::pair<const Options, std::vector<size_t>>* first_unusual = nullptr;
  for (const auto& group : clients_with) {
    if (&group == &*usual) continue;
    unusual_count += group.second.size();
    if (first_unusual == nullptr || group.second.front() < first_unusual->second.front())
      first_unusual = &group;
  }
  std::vector<std::string> differences = Differences(first_unusual->first, usual->first);
  constexpr size_t kMaxShown = 4;
  if (differences.size() > kMaxShown) {
    const size_t more = differences.size() - kMaxShown;
    differences.resize(kMaxShown);
    differences.push_back(absl::StrCat(more, " more"));
  }
  return MakeMark(
      "options_differ", "phase", static_cast<double>(unusual_count), 0,
      absl::StrCat(roster.NameOf(first_unusual->second.front()),
                   unusual_count > 1 ? absl::StrCat(" and ", unusual_count - 1, " more clients differ")
                                     : std::string(" differs"),
                   ": ", absl::StrJoin(differences, ", "),
                   "; mount the same way on all clients, "
                   "or test each kind separately"));
}

}  // namespace iobench
