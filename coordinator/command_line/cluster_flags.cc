#include "coordinator/command_line/cluster_flags.h"

#include <iterator>

#include "absl/strings/str_join.h"
#include "coordinator/option/format_names.h"
#include "coordinator/option/option.h"
#include "coordinator/option/transport_names.h"

namespace iobench {
namespace {

std::vector<std::string> TransportChoices() {
  std::vector<std::string> choices = {"auto"};
  choices.insert(choices.end(), std::begin(kTransportNames), std::end(kTransportNames));
  return choices;
}

}  // namespace

const std::string& WhereGroup() {
  static const std::string group(TitleOf(OptionGroup::kWhere));
  return group;
}

std::vector<std::string> FormatChoices() {
  return {std::begin(kFormatNames), std::end(kFormatNames)};
}

void AddSecurityOptions(Adder& adder, ClusterOptions& options, const char* token_file_help) {
  adder.Value("--token-file", options.token_file, token_file_help, "FILE");
  adder.Value("--tls-cert", options.tls_cert, "certificate of this process, in PEM", "FILE");
  adder.Value("--tls-key", options.tls_key, "private key of --tls-cert", "FILE");
  adder.Value("--tls-ca", options.tls_ca, "accept only certificates signed by the CAs in FILE", "FILE");
  adder.Flag("--insecure", options.insecure,
             "no TLS and no token on a network: anyone can join or listen in");
}

// Long, because it is a list: one statement for each option, in the order of --help.
void AddClusterOptions(CLI::App& app, ClusterOptions& options) {
  Adder where(app, WhereGroup());
  where
      .Value(
          "--transport", options.transport,
          "auto: mpi under mpirun, grpc with --hosts, --listen or --spawn, otherwise local (in this process)",
          absl::StrJoin(TransportChoices(), "|").c_str())
      ->check(CLI::IsMember(TransportChoices()).description(""));
  where.Value("--spawn", options.spawn, "start N worker processes on this host", "N")
      ->transform(WholeInRange(1, 1024));
  where.Value("--listen", options.listen, "wait for workers at this address: :9400, [::1]:9400, unix:/path",
              "ADDR");
  where.Value("--workers", options.workers, "number of workers to wait for (with --listen)", "N")
      ->transform(WholeInRange(1, 100000));
  where.Value("--hosts", options.hosts,
              "start workers on these hosts over ssh: c[01-32],user@node7:2222*4 (4 workers there), or @FILE",
              "LIST");
  where
      .Value(
          "--samplers", options.samplers,
          "with --listen: also wait for N samplers, `worker --sampler` on the servers, and report what they saw",
          "N")
      ->transform(WholeInRange(1, 1000));
  where.Value(
      "--sampler-hosts", options.sampler_hosts,
      "with --hosts: start a sampler on each of these servers, and report their CPU, disks, network and nfsd",
      "LIST");
  where
      .Seconds("--sample-interval", options.sample_interval_s, 0.01,
               "time between two readings of a server's counters (default 0.25)")
      ->each([&options](const std::string&) { options.sample_interval_given = true; });
  where.Value(
      "--launcher", options.launcher,
      "with --hosts or --client-list: remote shell with {host}, {user}, {port}, {command}; missing {host} and "
      "{command} are added (default: $RSH, or ssh)",
      "CMD");
  where.Flag("--copy-binary", options.copy_binary,
             "with --hosts: ship the program first, into ~/.cache/cluster-iobench on each host");
  where.Value(
      "--client-list", options.client_list,
      "start a worker for each line \"client directory program [path]\" of FILE (IOzone: -+m), using $RSH (default "
      "ssh); -t N: use the first N lines, one lane each",
      "FILE");
  where.Value(
      "--coordinator-host", options.coordinator_host,
      "with --hosts, --client-list or --net-test: address at which clients reach this host (IOzone: -+h)",
      "HOST");
  where.Flag(
      "--net-test", options.net_test,
      "test the network instead, without files or saved results: between each client and this host in both "
      "directions, then all at once (IOzone: -+t; -r: record size, --time: seconds per part)");
  where
      .Seconds("--join-timeout", options.join_timeout_s, 0,
               "give up if workers have not joined after S seconds (default 600; 60 with --hosts)")
      ->each([&options](const std::string&) { options.join_timeout_given = true; });
  where.Seconds("--lost-after", options.lost_after_s, 1,
                "warn about an unresponsive worker, and drop it as lost after S seconds (default 20)");
  where.Seconds(
      "--lease", options.lease_s, 1,
      "a worker that hears nothing from its coordinator for S seconds stops and leaves; until then, one whose "
      "connection broke may come back (default 10)");
  where.Seconds(
      "--stall-timeout", options.stall_timeout_s, 0,
      "drop a worker as lost if none of its lanes makes progress for S seconds; 0: never (default 300)");
  where.Seconds("--phase-timeout", options.phase_timeout_s, 0,
                "drop workers that have not finished their part of a phase after S seconds (default: never)");
  where
      .Value("--on-lost", options.on_lost,
             "when a worker is lost: continue without it (default), or end the run", "continue|abort")
      ->check(CLI::IsMember(std::vector<std::string>{"continue", "abort"}).description(""));
  AddSecurityOptions(
      where, options,
      "file with the token that workers need to join; created (mode 0600) if it does not exist");
  where.Value("--user", options.user, "become this user before anything is opened (needs root)", "NAME");
  where.Flag("--progress", options.progress, "show progress even when stderr is not a terminal");
}

void AddPreflightOptions(CLI::App& app, ClusterOptions& options) {
  Adder where(app, WhereGroup());
  where
      .Seconds("--share-wait", options.share_wait_s, 0,
               "wait up to S seconds until a file that one worker writes appears on the others (default 5)")
      ->each([&options](const std::string&) { options.share_wait_given = true; });
}

void AddResultOptions(CLI::App& app, ClusterOptions& options) {
  Adder where(app, WhereGroup());
  where.Flag("--skip-bad", options.skip_bad,
             "leave out clients with a fault (see `preflight`) instead of refusing the run");
  where.Seconds("--max-duration", options.max_duration_s, 0.1,
                "limit the run to S seconds: end the running phase and skip the rest (default: no limit)");
  where.Value("--out", options.out, "directory for the results (default: ./cluster-iobench.out/TIME)", "DIR");
  where.Value(
      "--resume", options.resume,
      "continue the saved run in DIR after its last finished phase, with its plan; repeat the options that start "
      "the workers",
      "DIR");
  where.Value("--label", options.label, "text that every report shows, such as what is tested and by whom",
              "TEXT");
  where
      .Value("--format", options.formats,
             "also save the report in this format; a text format is printed instead of the console's report",
             absl::StrJoin(FormatChoices(), "|").c_str())
      ->check(CLI::IsMember(FormatChoices()).description(""));
  where.Value("-b,--workbook", options.workbook,
              "also save the report as a workbook for spreadsheet programs (.xlsx)", "FILE");
  where.Flag("--verbose", options.verbose, "print the console's report in full detail");
  where.Value(
      "--before-phase", options.before_phase,
      "run COMMAND with /bin/sh on this host before each phase; IOBENCH_* variables describe the phase",
      "COMMAND");
  where.Value("--after-phase", options.after_phase,
              "like --before-phase, but after each phase; the variables include its status and rate",
              "COMMAND");
  where
      .Seconds("--hook-timeout", options.hook_timeout_s, 0.1,
               "kill a --before-phase or --after-phase command after S seconds and end the run (default 60)")
      ->each([&options](const std::string&) { options.hook_timeout_given = true; });
  where.Flag("--live", options.live, "full-screen view during the run: phases, rates, latencies, clients");
  where.Value("--live-csv", options.live_csv, "during the run, append a row per client to FILE every second",
              "FILE");
  where.Value("--live-metrics", options.live_metrics,
              "during the run, serve OpenMetrics at http://ADDR/metrics; :9464 means 127.0.0.1:9464", "ADDR");
  where.Flag(
      "--force", options.force,
      "continue even if space is short or clients see different file systems; replace existing results and "
      "data of a crashed run");
}

}  // namespace iobench
