// Checks that the clients of a run are alike: kernel, file system type, mount options.
#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/model/plan_targets.h"
#include "common/roster/filesystem.h"
#include "common/text/mark_codes.h"
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

// The sources that workers saw of each target. Servers with different names that turned out to have the same file system
// get one name: that which the first worker saw.
class Sources {
 public:
  // Borrows the run.
  explicit Sources(const v1::RunRecord& run) {
    for (const v1::WorkerTargets& worker : run.targets()) {
      for (int i = 0; i < worker.targets_size(); ++i) {
        const v1::TargetFacts& target = worker.targets(i);
        first_seen_.try_emplace({NumberOfSeen(worker, i), FilesystemOf(target)}, &target.mount_source());
      }
    }
  }
  const std::string& Of(uint32_t target_index, const v1::TargetFacts& target) const {
    return *first_seen_.at({target_index, FilesystemOf(target)});
  }

 private:
  std::map<std::pair<uint32_t, FilesystemId>, const std::string*> first_seen_;
};

// Returns what should be equal at a target on all clients, each with a display name that begins with `prefix`. Nothing
// for local disks, which belong to one client.
Options FactsOf(const v1::TargetFacts& target, const std::string& source, const std::string& prefix) {
  Options facts;
  if (!target.network()) return facts;
  facts[prefix + "type"] = target.filesystem();
  facts[prefix + "source"] = source;
  for (const auto& [name, value] : OptionsOf(target)) facts[prefix + name] = value;
  return facts;
}

// The clients by what they report of one thing: their kernel, or one target. Those that do not use a target are missing.
using ClientsWith = std::map<Options, std::vector<size_t>>;

ClientsWith ByKernel(const v1::RunRecord& run, const ClientRoster& roster, std::span<const size_t> clients) {
  ClientsWith found;
  for (const size_t client : clients) {
    const uint32_t worker = roster.WorkersOf(client).front();
    found[{{"kernel", run.workers(static_cast<int>(worker)).kernel()}}].push_back(client);
  }
  return found;
}

// Workers with targets of their own are compared by these, whatever their paths.
ClientsWith ByOwnTarget(const v1::RunRecord& run, const ClientRoster& roster,
                        std::span<const size_t> clients) {
  const Sources sources(run);
  ClientsWith found;
  for (const size_t client : clients) {
    const uint32_t target = roster.TargetOf(roster.WorkersOf(client).front());
    const v1::TargetFacts* const seen = SeenOf(run, roster.WorkersOf(client), target);
    if (seen != nullptr) found[FactsOf(*seen, sources.Of(target, *seen), "")].push_back(client);
  }
  return found;
}

// One entry for each target. Of several workers of a client, the first that sees the target counts.
std::vector<ClientsWith> ByEachTarget(const v1::RunRecord& run, const ClientRoster& roster,
                                      std::span<const size_t> clients) {
  const v1::Plan& plan = run.plan();
  const Sources sources(run);
  std::vector<ClientsWith> found(static_cast<size_t>(plan.targets_size()));
  for (const size_t client : clients) {
    std::set<uint32_t> compared;
    for (const uint32_t worker : roster.WorkersOf(client)) {
      if (worker >= static_cast<uint32_t>(run.targets_size())) continue;
      const v1::WorkerTargets& seen = run.targets(static_cast<int>(worker));
      for (int i = 0; i < seen.targets_size(); ++i) {
        const uint32_t target = NumberOfSeen(seen, i);
        if (target >= found.size() || !compared.insert(target).second) continue;
        const std::string prefix =
            found.size() > 1 ? absl::StrCat(plan.targets(static_cast<int>(target)).path(), " ") : "";
        found[target][FactsOf(seen.targets(i), sources.Of(target, seen.targets(i)), prefix)].push_back(
            client);
      }
    }
  }
  return found;
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
  std::vector<size_t> clients;
  for (size_t client = 0; client < roster.client_count(); ++client) {
    if (!roster.IsServer(client)) clients.push_back(client);
  }
  const auto& targets = run.plan().targets();
  const bool own_targets =
      std::any_of(targets.begin(), targets.end(), [](const v1::Target& target) { return target.has_who(); });
  std::vector<ClientsWith> compared = own_targets
                                          ? std::vector<ClientsWith>{ByOwnTarget(run, roster, clients)}
                                          : ByEachTarget(run, roster, clients);
  compared.push_back(ByKernel(run, roster, clients));

  // In each of these, the reference is what most clients have, or, if several are equally frequent, what the first
  // client has.
  std::map<size_t, std::vector<std::string>> differences_of;  // by client
  for (const ClientsWith& clients_with : compared) {
    if (clients_with.size() < 2) continue;
    const auto usual =
        std::max_element(clients_with.begin(), clients_with.end(), [](const auto& a, const auto& b) {
          return a.second.size() != b.second.size() ? a.second.size() < b.second.size()
                                                    : a.second.front() > b.second.front();
        });
    for (const auto& [facts, unusual] : clients_with) {
      if (&facts == &usual->first) continue;
      const std::vector<std::string> differences = Differences(facts, usual->first);
      for (const size_t client : unusual) {
        std::vector<std::string>& all = differences_of[client];
        all.insert(all.end(), differences.begin(), differences.end());
      }
    }
  }
  if (differences_of.empty()) return std::nullopt;
  const size_t first_unusual = differences_of.begin()->first;
  const size_t unusual_count = differences_of.size();
  std::vector<std::string>& differences = differences_of.begin()->second;
  constexpr size_t kMaxShown = 4;
  if (differences.size() > kMaxShown) {
    const size_t more = differences.size() - kMaxShown;
    differences.resize(kMaxShown);
    differences.push_back(absl::StrCat(more, " more"));
  }
  return MakeMark(
      mark_code::kOptionsDiffer, "phase", static_cast<double>(unusual_count), 0,
      absl::StrCat(roster.NameOf(first_unusual),
                   unusual_count > 1 ? absl::StrCat(" and ", unusual_count - 1, " more clients differ")
                                     : std::string(" differs"),
                   ": ", absl::StrJoin(differences, ", ")));
}

}  // namespace iobench
