// Checks of what the clients report about their mounts. They access nothing.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/validate/checks/checks.h"

namespace iobench {
namespace {

using Options = std::map<std::string, std::string>;

Options OptionsOf(const v1::TargetFacts& seen) {
  Options options;
  for (const absl::string_view option : absl::StrSplit(seen.mount_options(), ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> halves =
        absl::StrSplit(option, absl::MaxSplits('=', 1));
    options[std::string(halves.first)] = std::string(halves.second);
  }
  return options;
}

std::optional<double> NumberOf(const Options& options, const char* name) {
  const auto found = options.find(name);
  double number = 0;
  if (found == options.end() || !absl::SimpleAtod(found->second, &number)) return std::nullopt;
  return number;
}

// What is wrong with a mount for data that several clients share. nfs(5) describes the options.
struct MountFault {
  const char* verdict;  // "fail" | "warn"
  std::string problem, advice;
};

std::vector<MountFault> FaultsOfNfs(const Options& options) {
  std::vector<MountFault> faults;
  const auto add = [&faults](const char* verdict, std::string problem, std::string advice) {
    faults.push_back({verdict, std::move(problem), std::move(advice)});
  };
  for (const char* const name : {"soft", "softerr"}) {
    if (!options.contains(name)) continue;
    add("fail",
        absl::StrCat(name,
                     ": a server that is slow or restarts makes writes fail that no program expects to fail"),
        "mount with hard");
  }
  if (options.contains("nocto")) {
    add("fail", "nocto: a client that opens a file may read old contents", "mount without nocto");
  }
  if (options.contains("nolock")) {
    add("fail", "nolock: locks do not reach the server, so two clients can hold one lock",
        "mount without nolock, and let rpc.statd run");
  }
  if (const auto local = options.find("local_lock"); local != options.end() && local->second != "none") {
    add("fail", absl::StrCat("local_lock=", local->second, ": these locks do not reach the server"),
        "mount with local_lock=none");
  }
  if (const auto proto = options.find("proto"); proto != options.end() && proto->second.starts_with("udp")) {
    add("fail", "proto=udp: fragments that are mixed up can damage data without notice",
        "mount with proto=tcp");
  }
  constexpr double kAcdirmaxDefault = 60;
  for (const char* const name : {"acregmin", "acregmax", "acdirmin", "acdirmax"}) {
    const std::optional<double> seconds = NumberOf(options, name);
    if (!seconds || *seconds <= kAcdirmaxDefault) continue;
    add("warn", absl::StrCat(name, "=", *seconds, ": clients believe attributes for up to that many seconds"),
        "mount without actimeo, acregmax and acdirmax, or be sure that nobody needs to see changes");
    break;
  }
  if (options.contains("noac") || NumberOf(options, "acregmax").value_or(1) == 0) {
    add("warn", "noac or actimeo=0: every look at a file asks the server",
        "expect low rates of stat and open");
  }
  if (options.contains("sync")) {
    add("warn", "sync: every write waits for the server", "mount without sync, and let programs call fsync");
  }
  constexpr double kSmallTransfer = 65536;
  for (const char* const name : {"rsize", "wsize"}) {
    const std::optional<double> bytes = NumberOf(options, name);
    if (!bytes || *bytes >= kSmallTransfer) continue;
    add("warn", absl::StrCat(name, "=", *bytes, ": large transfers need many calls"),
        "mount without rsize and wsize, so that client and server agree on the largest");
  }
  return faults;
}

bool HasLocalLocks(const Options& options) {
  const auto local = options.find("local_lock");
  return options.contains("nolock") || (local != options.end() && local->second != "none");
}

// "c01, c02" of the clients that have it; "all 3 clients"
std::string Who(const CheckContext& context, const std::vector<uint32_t>& workers) {
  if (workers.size() == context.one_of_each.size() && workers.size() > 1) {
    return workers.size() == 2 ? "both clients" : absl::StrCat("all ", workers.size(), " clients");
  }
  std::vector<std::string> names;
  for (const uint32_t worker : workers) names.push_back(context.NameOf(worker));
  return absl::StrJoin(names, ", ");
}

std::string FromWhere(const v1::TargetFacts& seen) {
  const auto root = seen.settings().find("mount_root");
  return absl::StrCat(
      seen.filesystem().empty() ? "a file system" : seen.filesystem(),
      seen.mount_source().empty() ? "" : " from ", seen.mount_source(),
      root == seen.settings().end() ? "" : absl::StrCat(" (a bind mount of ", root->second, " there)"));
}

// "10.0.0.1" and "/export" of "10.0.0.1:/export"; an IPv6 address is in brackets.
std::pair<std::string, std::string> ServerAndPath(const std::string& source) {
  const size_t colon = source.find(":/");
  if (colon == std::string::npos) return {source, ""};
  return {source.substr(0, colon), source.substr(colon + 1)};
}

bool IsAbove(const std::string& directory, const std::string& path) {
  return directory == "/" || path.starts_with(directory + "/");
}

// How a mount is the usual one in another way, as far as its name tells. Preflight has compared what is stored there.
std::string HowOther(const v1::TargetFacts& here, const v1::TargetFacts& usual) {
  const auto [server, path] = ServerAndPath(here.mount_source());
  const auto [usual_server, usual_path] = ServerAndPath(usual.mount_source());
  const char* const address = server != usual_server ? "another address or name of the server" : "";
  const char* const above = path == usual_path          ? ""
                            : IsAbove(path, usual_path) ? "a directory above"
                            : IsAbove(usual_path, path) ? "a directory below"
                                                        : "another path";
  return absl::StrCat(address, *address != '\0' && *above != '\0' ? ", " : "", above);
}

// The clients by what they have mounted, the most common first; of equally common ones, that of the first client.
std::vector<std::pair<std::string, std::vector<uint32_t>>> ByMount(const CheckContext& context) {
  std::vector<std::pair<std::string, std::vector<uint32_t>>> mounts;
  for (const uint32_t worker : context.one_of_each) {
    const std::string what = FromWhere(context.SeenBy(worker));
    const auto known = std::find_if(mounts.begin(), mounts.end(),
                                    [&what](const auto& mount) { return mount.first == what; });
    if (known != mounts.end()) {
      known->second.push_back(worker);
    } else {
      mounts.push_back({what, {worker}});
    }
  }
  std::stable_sort(mounts.begin(), mounts.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  return mounts;
}

// Fails if no client has a network file system and they do not see each other's files. Returns what else there is to
// say of local ones; empty: nothing.
std::string CheckLocal(CheckContext& context, const std::string& what, Outcome& outcome) {
  if (!context.IsLocal()) return "";
  if (context.client_count == 1) return "; it is no network file system: only this client sees it";
  const bool differs = std::any_of(
      context.findings.begin(), context.findings.end(),
      [](const Finding& finding) { return finding.check == PreflightCheck::kStorage && !finding.of_users; });
  if (!differs) return "; it is no network file system, but what one client wrote was seen by the others";
  outcome.Fail(
      absl::StrCat(Printable(what),
                   " on all: no client has a network file system there, so each has storage of "
                   "its own"),
      "mount the shared file system at this path on all clients, or give --path where it is mounted");
  context.causes.insert("mounts");
  return "";
}

}  // namespace

absl::Status CheckMounts(CheckContext& context, Outcome& outcome) {
  std::map<std::pair<std::string, std::string>, std::vector<uint32_t>> faulty;  // verdict and problem
  std::map<std::string, std::string> advice_for;
  for (const uint32_t worker : context.one_of_each) {
    const v1::TargetFacts& seen = context.SeenBy(worker);
    const Options options = OptionsOf(seen);
    std::vector<MountFault> faults;
    if (seen.filesystem().starts_with("nfs")) faults = FaultsOfNfs(options);
    if (options.contains("ro")) faults.push_back({"fail", "mounted read-only", "mount it read-write"});
    if (HasLocalLocks(options)) context.causes.insert(kLocalLocks);
    for (const MountFault& fault : faults) {
      faulty[{fault.verdict, fault.problem}].push_back(worker);
      advice_for[fault.problem] = fault.advice;
    }
  }
  std::vector<std::string> advice;
  bool any_failure = false;
  for (const auto& [what, workers] : faulty) {
    outcome.Evidence(absl::StrCat(Who(context, workers), ": ", Printable(what.second)));
    any_failure |= what.first == "fail";
    const std::string& todo = advice_for[what.second];
    if (std::find(advice.begin(), advice.end(), todo) == advice.end()) advice.push_back(todo);
  }
  // Differences, and what makes a client unfit, were found by preflight.
  for (const Finding& finding : context.findings) {
    const bool of_mounts = finding.check == PreflightCheck::kMount ||
                           finding.check == PreflightCheck::kJoin || context.CheckOf(finding) == "mounts";
    if (!of_mounts) continue;
    outcome.Evidence(absl::StrCat(Printable(finding.client), ": ", Printable(finding.problem)));
    any_failure |= finding.severity == Severity::kFault;
    if (finding.error != 0) outcome.Cause(ErrnoName(finding.error));
    const bool is_new = std::find(advice.begin(), advice.end(), finding.advice) == advice.end();
    if (!finding.advice.empty() && is_new) advice.push_back(finding.advice);
  }
  const auto mounts = ByMount(context);
  const v1::TargetFacts& first = context.SeenBy(mounts.front().second.front());
  const std::string& what = mounts.front().first;
  const std::string local = CheckLocal(context, what, outcome);
  if (outcome.failed()) return absl::OkStatus();
  if (outcome.evidence_count() == 0) {
    const bool compared = context.client_count > 1;
    // Options given to a client in user space, such as timeouts, are not among those that the kernel lists.
    const bool in_user_space = first.filesystem().starts_with("fuse");
    const size_t others = mounts.size() - 1;
    outcome.Pass(absl::StrCat(
        Printable(what),
        others > 0 ? absl::StrCat(" on ", Who(context, mounts.front().second), ", and mounted in ", others,
                                  others == 1 ? " other way" : " other ways")
                   : "",
        !compared              ? ""
        : context.left_out > 0 ? ", on those that see it with equal options"
                               : absl::StrCat(others > 0 ? "" : " on all", ", with equal options"),
        compared && in_user_space ? " as far as the kernel knows them" : "", local));
    for (size_t i = 1; i < mounts.size(); ++i) {
      const v1::TargetFacts& seen = context.SeenBy(mounts[i].second.front());
      outcome.Evidence(absl::StrCat(Who(context, mounts[i].second), ": ", Printable(mounts[i].first), ": ",
                                    HowOther(seen, first)));
    }
    outcome.Evidence(absl::StrCat("options: ", Printable(first.mount_options())));
    return absl::OkStatus();
  }
  const std::string found = absl::StrCat(Printable(what), ": ", outcome.evidence_count(),
                                         outcome.evidence_count() == 1 ? " problem" : " problems");
  if (any_failure) {
    outcome.Fail(found, absl::StrJoin(advice, "; "));
  } else {
    outcome.Warn(found, absl::StrJoin(advice, "; "));
  }
  return absl::OkStatus();
}

absl::Status CheckStorage(CheckContext& context, Outcome& outcome) {
  size_t faults = 0;
  std::vector<std::string> advice;
  for (const Finding& finding : context.findings) {
    if (finding.check != PreflightCheck::kStorage) continue;
    outcome.Evidence(absl::StrCat(Printable(finding.client), ": ", Printable(finding.problem)));
    faults += finding.severity == Severity::kFault;
    const bool is_new = std::find(advice.begin(), advice.end(), finding.advice) == advice.end();
    if (!finding.advice.empty() && is_new) advice.push_back(finding.advice);
  }
  if (outcome.evidence_count() > 0) {
    const size_t count = outcome.evidence_count();
    std::string found = count == 1 ? "one client does not share the storage of the others"
                                   : absl::StrCat(count, " clients do not share the storage of the others");
    std::string todo =
        advice.empty() ? "mount the same file system there on all clients" : absl::StrJoin(advice, "; ");
    if (faults > 0) {
      outcome.Fail(std::move(found), std::move(todo));
    } else {
      outcome.Warn(std::move(found), std::move(todo));
    }
    if (context.causes.contains("mounts")) {
      outcome.Follow("mounts", "", "each client has storage of its own: see mounts");
    }
  } else if (context.client_count == 1) {
    outcome.Skip("needs 2 clients");
  } else if (context.peers.empty()) {
    outcome.Skip("needs clients that can write there");
  } else {
    outcome.Pass("what each client wrote was read by all others");
  }
  return absl::OkStatus();
}

}  // namespace iobench
