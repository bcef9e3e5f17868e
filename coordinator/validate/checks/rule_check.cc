// Checks of rules of POSIX that one client can see.
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "coordinator/validate/checks/checks.h"

namespace iobench {
namespace {

// Trials (worker/check/trial/rule_trials.cc); docs/validate.md says which suites and sections they come from. Those of
// open files that are renamed belong to `renames`.
constexpr const char* kPosixRules[] = {"open-exclusive",
                                       "open-exclusive-link",
                                       "open-truncate",
                                       "open-append",
                                       "open-nofollow",
                                       "open-directory",
                                       "write-directory",
                                       "unlink-open",
                                       "write-beyond-end",
                                       "truncate-extends",
                                       "write-times",
                                       "truncate-times",
                                       "chmod-times",
                                       "link-times",
                                       "read-times",
                                       "set-times",
                                       "directory-times",
                                       "rename-over-file",
                                       "rename-over-own-link",
                                       "rename-over-empty",
                                       "rename-over-full",
                                       "rename-file-over-directory",
                                       "rename-directory-over-file",
                                       "rename-into-itself",
                                       "rename-missing",
                                       "link-count",
                                       "link-existing",
                                       "rmdir-full",
                                       "unlink-directory",
                                       "rmdir-file",
                                       "name-too-long",
                                       "link-loop",
                                       "through-file",
                                       "make-existing"};

constexpr uint32_t kFilesPerClient = 100;
static_assert(std::size(kPosixRules) <= kFilesPerClient);

}  // namespace

std::span<const char* const> PosixRules() {
  return kPosixRules;
}

// Each client tries all rules on names of its own, at the same time.
absl::Status CheckRules(CheckContext& context, Outcome& outcome) {
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(context.peers.front()));
  std::map<uint32_t, CallList> calls;
  for (const uint32_t worker : context.peers) {
    CallList list(directory);
    for (uint32_t rule = 0; rule < std::size(kPosixRules); ++rule) {
      list.InLane(rule);
      list.Add(v1::FileAction::TRY, worker * kFilesPerClient + rule).add_trials(kPosixRules[rule]);
    }
    calls.emplace(worker, std::move(list));
  }
  IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers tried, context.files.DoAll(calls));
  std::map<std::string, std::set<std::string>> broken;  // line -> clients
  std::set<std::string> broken_rules, not_offered;
  for (const auto& [worker, results] : tried) {
    for (size_t i = 0; i < results.size(); ++i) {
      const std::string rule = kPosixRules[i];
      const v1::FileActionResult& result = results[i];
      const bool ran = result.problem().code() == 0 && result.trials_size() == 1;
      const v1::Problem& problem = ran ? result.trials(0).problem() : result.problem();
      if (ran && problem.code() == 0 && result.trials(0).answer() == "yes") continue;
      if (IsNotOffered(problem.errno_value())) {  // then there is no rule to break
        not_offered.insert(rule);
        continue;
      }
      broken_rules.insert(rule);
      const std::string& detail = problem.code() != 0 ? problem.message() : result.trials(0).detail();
      broken[absl::StrCat(rule, ": ", Printable(detail))].insert(context.NameOf(worker));
    }
  }
  for (const auto& [line, clients] : broken) {
    const bool all = clients.size() == context.peers.size() && clients.size() > 1;
    outcome.Evidence(absl::StrCat(all ? "all clients" : absl::StrJoin(clients, ", "), ": ", line));
  }
  const size_t count = std::size(kPosixRules);
  outcome.Figure("rules", static_cast<double>(count));
  outcome.Figure("broken_rules", static_cast<double>(broken_rules.size()));
  const std::string without =
      not_offered.empty() ? "" : absl::StrCat("; not offered there: ", absl::StrJoin(not_offered, ", "));
  if (broken_rules.empty()) {
    outcome.Pass(absl::StrCat(count - not_offered.size(), " rules hold", without));
  } else {
    outcome.Fail(
        absl::StrCat(broken_rules.size(), " of ", count,
                     " rules do not hold: ", absl::StrJoin(broken_rules, ", "), without),
        "find out which programs rely on these rules (docs/validate.md), or use another file system");
  }
  return absl::OkStatus();
}

}  // namespace iobench
