// Checks of what the clients report about their mounts. They access nothing.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
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

// "c01, c02" of the clients that have it; "all 3 clients"
std::string Who(const CheckContext& context, const std::vector<uint32_t>& workers) {
  if (workers.size() == context.one_of_each.size() && workers.size() > 1) {
    return workers.size() == 2 ? "both clients" : absl::StrCat("all ", workers.size(), " clients");
  }
  std::vector<std::string> names;
  for (const uint32_t worker : workers) names.push_back(context.NameOf(worker));
  return absl::StrJoin(names, ", ");
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
                           finding.check == PreflightCheck::kPath ||
                           finding.check == PreflightCheck::kWrite || finding.check == PreflightCheck::kJoin;
    if (!of_mounts) continue;
    outcome.Evidence(absl::StrCat(Printable(finding.client), ": ", Printable(finding.problem)));
    any_failure = true;
    const bool is_new = std::find(advice.begin(), advice.end(), finding.advice) == advice.end();
    if (!finding.advice.empty() && is_new) advice.push_back(finding.advice);
  }
  const v1::TargetFacts& first = context.SeenBy(context.one_of_each.front());
  const std::string what = absl::StrCat(first.filesystem().empty() ? "a file system" : first.filesystem(),
                                        first.mount_source().empty() ? "" : " from ", first.mount_source());
  if (outcome.evidence_count() == 0) {
    const bool compared = context.left_out > 0 || context.client_count > 1;
    // Options given to a client in user space, such as timeouts, are not among those that the kernel lists.
    const bool in_user_space = first.filesystem().starts_with("fuse");
    outcome.Pass(absl::StrCat(Printable(what),
                              context.left_out > 0 ? ", on those that see it with equal options"
                              : compared           ? " on all, with equal options"
                                                   : "",
                              compared && in_user_space ? " as far as the kernel knows them" : ""));
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
  for (const Finding& finding : context.findings) {
    if (finding.check != PreflightCheck::kStorage) continue;
    outcome.Evidence(absl::StrCat(Printable(finding.client), ": ", Printable(finding.problem)));
  }
  if (outcome.evidence_count() > 0) {
    outcome.Fail(outcome.evidence_count() == 1
                     ? "one client sees other storage"
                     : absl::StrCat(outcome.evidence_count(), " clients see other storage"),
                 "mount the same file system there on all clients");
  } else if (context.client_count == 1) {
    outcome.Skip("needs 2 clients");
  } else {
    outcome.Pass("what one client wrote was read by all others");
  }
  return absl::OkStatus();
}

}  // namespace iobench
