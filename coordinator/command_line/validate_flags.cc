#include "coordinator/command_line/validate_flags.h"

#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/net/nfs_url.h"
#include "common/status_util.h"
#include "coordinator/command_line/cluster_flags.h"
#include "coordinator/command_line/option_adder.h"
#include "coordinator/command_line/table_options.h"
#include "coordinator/command_line/typed_words.h"
#include "coordinator/option/format_names.h"

namespace iobench {
namespace {

void AddWhatIsChecked(CLI::App& app, ValidateOptions& options) {
  Adder what(app, "What is checked");
  what.Value("--path", options.path, "the shared directory, the same on all clients", "DIR");
  what.Flag("--whole", options.whole, "more rounds, samples and names; takes minutes instead of one or two");
  what.Flag("--list", options.list, "print the names of all checks, and stop");
  what.Value("--only", options.only, "run only these checks, separated by commas", "NAMES");
  what.Value("--skip", options.skip, "skip these checks", "NAMES");
  what.Value("--names", options.names, "number of names in the listings (default: 2000, with --whole 100000)",
             "N")
      ->transform(WholeInRange(1, 1'000'000));
  what.Value("--over-quota", options.over_quota,
             "write SIZE, more than the quota of the workers' user, and check that the error is reported",
             "SIZE");
  what.Flag("--per-client", options.per_client,
            "also measure performance: each client alone, then all; part of --whole");
  what.Value("--size", options.size, "data that each worker writes and reads per phase (default 256m)",
             "SIZE");
  what.Seconds("--phase-time", options.phase_s, 0.1, "duration of each phase (default 3)");
  what.Value(
      "--fault-hook", options.fault_hook,
      "command that restarts the server, cuts its power or moves its service while the clients write; it must return "
      "once the server has been started again",
      "CMD");
  what.Value(
      "--client-hook", options.client_hook,
      "command that cuts the power of the client in $IOBENCH_CLIENT, which holds a lock; validate finishes without that client",
      "CMD");
}

void AddLimits(CLI::App& app, ValidateOptions& options) {
  Adder limits(app, "Limits");
  limits.Seconds(
      "--visible-within", options.visible_within_s, 0.1,
      "fail if a client does not see a change within S seconds without opening anything (default 65)");
  limits.Seconds("--clock-difference", options.clock_difference_s, 0.001,
                 "fail if clocks of clients and file system differ by more than S seconds (default 1)");
  limits.Seconds(
      "--recall-within", options.recall_within_s, 0.1,
      "fail if a write to a file that another client has open takes longer than S seconds (default 10)");
  limits.Seconds("--stall-within", options.stall_within_s, 0.1,
                 "fail if a write takes longer than S seconds during the fault (default 90)");
  limits.Seconds(
      "--fault-timeout", options.fault_timeout_s, 1,
      "give up on a hook after S seconds, and on clients that still hang after another S seconds (default 300)");
  limits.Seconds(
      "--lock-free-within", options.lock_free_within_s, 0.1,
      "fail if the lock of a client without power is still held S seconds after the client hook (default: two "
      "leases of the server plus 30 s; no limit over NFSv3)");
  limits
      .Value(
          "--outlier-below", options.outlier_percent,
          "fail if a client alone reaches less than PCT % of the median of the others (default 50; below 70 is a "
          "warning)",
          "PCT")
      ->check(InRange(1.0, 100.0));
  limits.Value(
      "--expect", options.expect,
      "YAML file of rates that must be reached and facts that must hold on every client; examples are in "
      "share/cluster-iobench/expect",
      "FILE");
}

void AddReport(CLI::App& app, ValidateOptions& options) {
  Adder report(app, "Report");
  report.Value("--waive", options.waive,
               "YAML file of known failures: a line `NAME: \"reason\"` for each check", "FILE");
  const std::vector<std::string> formats(std::begin(kValidateFormatNames), std::end(kValidateFormatNames));
  report
      .Value("--format", options.format, "output format (default: text)", absl::StrJoin(formats, "|").c_str())
      ->check(CLI::IsMember(formats).description(""));
  report.Value("--output", options.output, "write the report to FILE, instead of standard output", "FILE");
  report.Flag("--force", options.replace, "replace FILE if it exists");
}

}  // namespace

CLI::App* AddValidateCommand(CLI::App& app, ValidateOptions& options, ClusterOptions& cluster,
                             std::vector<std::string>& words) {
  CLI::App* const validate = app.add_subcommand(
      "validate",
      "check that a deployment of a shared file system works correctly: consistency, locks, durability, mounts, performance");
  AddWhatIsChecked(*validate, options);
  AddLimits(*validate, options);
  AddReport(*validate, options);
  AddClusterOptions(*validate, cluster);
  for (const char* const of_phases :
       {"--net-test", "--phase-timeout", "--on-lost", "--samplers", "--sampler-hosts", "--sample-interval"}) {
    validate->remove_option(validate->get_option(of_phases));
  }
  AddPreflightOptions(*validate, cluster);
  validate->footer(
      "docs/validate.md says what each check does. validate removes everything that it creates in DIR. Exit codes: "
      "0 no new failure, 1 bad usage, 2 something could not be removed, 3 a worker was lost, 4 a check failed, "
      "130 interrupted.\n"
      "Example: cluster-iobench validate --hosts c[01-04] --path /mnt/nfs");
  validate->add_option("DIR", words, "the shared directory, same as --path")->type_name("");
  return validate;
}

absl::StatusOr<GivenOptions> WhereToValidate(const ValidateOptions& options,
                                             const std::vector<std::string>& words,
                                             const std::vector<std::string>& typed) {
  std::vector<std::string> paths = words;
  if (!options.path.empty()) paths.insert(paths.begin(), options.path);
  for (const std::string& word : words) {
    if (!NamesDirectory(word)) return RefusalOfWord(word, typed);
  }
  if (paths.size() != 1) {
    return absl::InvalidArgumentError(paths.empty() ? "validate needs the shared directory: --path DIR"
                                                    : "validate checks one directory: give only one --path");
  }
  if (IsNfsUrl(paths[0])) {
    return absl::InvalidArgumentError(absl::StrCat("validate needs a mounted file system: mount ", paths[0],
                                                   " on all clients and give its directory"));
  }
  GivenOptions given;
  for (const auto& [name, value] :
       {std::pair("path", paths[0].c_str()), std::pair("op", "write"), std::pair("size", "64k"),
        std::pair("record", "64k"), std::pair("lanes", "1")}) {
    IOBENCH_RETURN_IF_ERROR(given.Add(name, value));
  }
  return Complete(std::move(given));
}

}  // namespace iobench
