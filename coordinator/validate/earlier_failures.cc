#include "coordinator/validate/earlier_failures.h"

#include <algorithm>
#include <span>
#include <string>

#include "absl/strings/str_cat.h"

namespace iobench {
namespace {

bool Has(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string CauseNamed(const CheckContext& context, const char* cause) {
  return context.causes.contains(cause) ? cause : "";
}

// A server that takes one client for another drops at any time what clients have open or locked.
bool UsesOpenFiles(std::string_view check) {
  static constexpr std::string_view kNot[] = {"mounts",   "client-identity", "storage", "clocks",
                                              "identity", "groups",          "expected"};
  return !Has(kNot, check);
}
bool OnlyTriesLocks(std::string_view check) {
  static constexpr std::string_view kOnly[] = {"lock-reclaim", "dead-client"};
  return Has(kOnly, check);
}
bool TriesGroups(std::string_view check) {
  return check == "groups";
}

// A row: which failures are explained, by which check (empty: by none this time), and what is said then.
struct EarlierFailure {
  bool (*explains)(std::string_view check);
  std::string (*by)(const CheckContext& context);
  const char* found;
};
constexpr EarlierFailure kRows[] = {
    {UsesOpenFiles, [](const CheckContext& context) { return CauseNamed(context, "client-identity"); },
     "failed while the server takes one client for another: check again after mending that"},
    {OnlyTriesLocks, [](const CheckContext& context) { return context.CauseOfLocks(); },
     "failed, since locks do not work"},
    {TriesGroups, [](const CheckContext& context) { return CauseNamed(context, "identity"); },
     "supplementary groups do not count, as users do not"},
};

}  // namespace

bool FollowEarlier(const CheckContext& context, std::string_view check, Outcome& outcome) {
  if (!outcome.failed()) return false;
  for (const EarlierFailure& row : kRows) {
    const std::string by = row.explains(check) ? row.by(context) : "";
    if (by.empty()) continue;
    outcome.Follow(by, "", absl::StrCat(row.found, ": see ", by));
    return true;
  }
  return false;
}

// Clients whose users may not use each other's files see the same storage.
void FollowLater(const CheckContext& context, v1::ValidateReport& report) {
  const bool only_of_users = std::all_of(
      context.findings.begin(), context.findings.end(),
      [](const Finding& finding) { return finding.check != PreflightCheck::kStorage || finding.of_users; });
  if (!context.causes.contains("identity") || !only_of_users) return;
  for (v1::ValidateCheck& check : *report.mutable_checks()) {
    if (check.name() == "storage" && check.verdict() == "fail") {
      Outcome(check).Follow("identity", "", "users may not use the files of others: see identity");
    }
  }
}

}  // namespace iobench
