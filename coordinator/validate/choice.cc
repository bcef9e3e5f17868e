#include "coordinator/validate/choice.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "common/status_util.h"
#include "common/text/near_names.h"
#include "common/text/units.h"
#include "coordinator/options/shipped_files.h"
#include "coordinator/validate/check.h"

namespace iobench {
namespace {

constexpr uint64_t kMinBytes = 1_MiB;  // less shows nothing
constexpr uint64_t kMaxBytes = 1_GiB << 16;

absl::Status ReadNames(const std::vector<std::string>& lists, const char* option,
                       std::set<std::string>& names) {
  for (const std::string& list : lists) {
    for (const absl::string_view word : absl::StrSplit(list, ',', absl::SkipWhitespace())) {
      const std::string name(absl::StripAsciiWhitespace(word));
      if (CheckNamed(name) == nullptr) {
        std::vector<std::string_view> known;
        for (const Check& check : Checks()) known.push_back(check.name);
        return absl::InvalidArgumentError(absl::StrCat(option, ": there is no check \"", name, "\"",
                                                       DidYouMean(name, known), " (validate --list)"));
      }
      names.insert(name);
    }
  }
  if (!lists.empty() && names.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(option, " needs the name of a check (validate --list)"));
  }
  return absl::OkStatus();
}

const char* NeedOf(const Check& check) {
  switch (check.needs) {
    case Check::Needs::kFaultHook:
      return " (needs --fault-hook)";
    case Check::Needs::kClientHook:
      return " (needs --client-hook)";
    case Check::Needs::kMeasurement:
      return " (needs --per-client, --whole or --expect)";
    case Check::Needs::kExpectations:
      return " (needs --expect)";
    case Check::Needs::kConsistency:
      return " (needs --consistency)";
    case Check::Needs::kNothing:
      break;
  }
  return "";
}

absl::Status ReadExpectations(const ValidateOptions& options, CheckChoice& choice) {
  if (options.expect.empty()) return absl::OkStatus();
  std::string file = options.expect;
  if (!IsYamlFile(file)) {
    IOBENCH_ASSIGN_OR_RETURN(file, ShippedFile(kExpectationFiles, options.expect));
  }
  IOBENCH_ASSIGN_OR_RETURN(choice.expected, LoadExpectations(file));
  if (choice.Has("expected")) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--expect is given, but --only and --skip leave out the check that uses it: expected");
}

// In the quick set, performance is measured only on request.
absl::Status DecideToMeasure(const ValidateOptions& options, CheckChoice& choice) {
  const bool expects_rates = choice.expected.has_value() && !choice.expected->thresholds.empty();
  bool any = false, named = false;
  for (const Check& check : Checks()) {
    if (check.needs != Check::Needs::kMeasurement || !choice.Has(check.name)) continue;
    any = true;
    named |= choice.only.contains(check.name);
  }
  choice.measures = expects_rates || (any && (named || options.per_client || options.whole));
  if (!options.size.empty()) {
    IOBENCH_ASSIGN_OR_RETURN(choice.amounts.bytes, ParseBytes(options.size, 1_KiB));
    if (choice.amounts.bytes < kMinBytes || choice.amounts.bytes > kMaxBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("--size ", options.size, " is not a size from 1m to 64t"));
    }
  }
  if (options.phase_s > 0) choice.amounts.seconds = options.phase_s;
  if (choice.measures) return absl::OkStatus();
  if (options.per_client) {
    return absl::InvalidArgumentError(
        "--per-client is given, but --only and --skip leave out all checks that use it");
  }
  for (const auto& [given, name] : {std::pair{!options.size.empty(), "--size"},
                                    {options.phase_s > 0, "--phase-time"},
                                    {options.outlier_percent > 0, "--outlier-below"}}) {
    if (!given) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        name,
        " is about performance, which is not measured: add --per-client, --whole, or rates in --expect FILE"));
  }
  return absl::OkStatus();
}

absl::Status ReadOverQuota(const ValidateOptions& options, CheckChoice& choice) {
  constexpr uint64_t kMinOverQuota = 1_MiB, kMaxOverQuota = uint64_t{1} << 40;
  if (options.over_quota.empty()) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(choice.over_quota_bytes, ParseBytes(options.over_quota, 1_KiB));
  if (choice.over_quota_bytes < kMinOverQuota || choice.over_quota_bytes > kMaxOverQuota) {
    return absl::InvalidArgumentError(
        absl::StrCat("--over-quota ", options.over_quota, " is not a size from 1m to 1t"));
  }
  if (choice.Has("quota")) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--over-quota is given, but --only and --skip leave out the check that uses it: quota");
}

absl::Status CheckHooks(const ValidateOptions& options, const CheckChoice& choice) {
  const auto is_used = [&choice](Check::Needs hook) {
    return std::any_of(Checks().begin(), Checks().end(), [&choice, hook](const Check& check) {
      return check.needs == hook && choice.Has(check.name);
    });
  };
  if (!options.fault_hook.empty() && !is_used(Check::Needs::kFaultHook)) {
    return absl::InvalidArgumentError(
        "--fault-hook is given, but --only and --skip leave out all checks that use it");
  }
  if (!options.client_hook.empty() && !is_used(Check::Needs::kClientHook)) {
    return absl::InvalidArgumentError(
        "--client-hook is given, but --only and --skip leave out the check that uses it: dead-client");
  }
  if (options.lock_free_within_s > 0 && options.client_hook.empty()) {
    return absl::InvalidArgumentError(
        "--lock-free-within is about a client that loses its power: add --client-hook CMD, which cuts it");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CheckChoice> ChoiceFrom(const ValidateOptions& options) {
  CheckChoice choice;
  IOBENCH_RETURN_IF_ERROR(ReadNames(options.only, "--only", choice.only));
  IOBENCH_RETURN_IF_ERROR(ReadNames(options.skip, "--skip", choice.skip));
  const bool any = std::any_of(Checks().begin(), Checks().end(),
                               [&choice](const Check& check) { return choice.Has(check.name); });
  if (!any) return absl::InvalidArgumentError("--only and --skip leave no check to run");
  IOBENCH_RETURN_IF_ERROR(CheckHooks(options, choice));
  IOBENCH_RETURN_IF_ERROR(ReadExpectations(options, choice));
  IOBENCH_RETURN_IF_ERROR(ReadOverQuota(options, choice));
  if (options.consistency_s > 0 && !choice.Has("consistency")) {
    return absl::InvalidArgumentError(
        "--consistency is given, but --only and --skip leave out the check that uses it: consistency");
  }
  IOBENCH_RETURN_IF_ERROR(DecideToMeasure(options, choice));
  if (!options.waive.empty()) {
    IOBENCH_ASSIGN_OR_RETURN(choice.waivers, LoadWaivers(options.waive));
  }
  for (const auto& [name, reason] : choice.waivers) {
    if (choice.Has(name)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(options.waive, ": ", name, " is waived, but --only and --skip leave it out"));
  }
  return choice;
}

std::string ListOfChecks() {
  std::string text;
  for (const Check& check : Checks()) {
    absl::StrAppendFormat(&text, "%-14s  %s%s\n", check.name, check.title, NeedOf(check));
  }
  return text;
}

}  // namespace iobench
