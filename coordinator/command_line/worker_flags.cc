#include "coordinator/command_line/worker_flags.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/command_line/cluster_flags.h"
#include "coordinator/command_line/option_adder.h"

namespace iobench {

CLI::App* AddWorkerCommand(CLI::App& app, CommandLine& line) {
  CLI::App* const worker = app.add_subcommand("worker", "join a run as a worker");
  worker->add_option("--join", line.join, "the coordinator's address: host:9400, unix:/path")
      ->required()
      ->type_name("ADDR");
  Adder ours(*worker, worker->get_option("--join")->get_group());
  ours.Seconds("--join-timeout", line.cluster.join_timeout_s, 0,
               "give up if the coordinator cannot be reached for S seconds (default 600)")
      ->each([&line](const std::string&) { line.cluster.join_timeout_given = true; });
  AddSecurityOptions(ours, line.cluster, "the coordinator's token file; -: read it from standard input");
  ours.Flag("--stay", line.stay, "after a run, wait for the next coordinator at ADDR, until SIGTERM");
  AddFlag(
      *worker, "--sampler", line.sampler,
      "for servers: run no lanes, but report the load of this host's processors, disks, network and NFS server "
      "during the run");
  worker
      ->add_option("--simulate", line.simulate,
                   "act as N simulated clients, each with its own connection, for selftest --simulate")
      ->type_name("N")
      ->transform(WholeInRange(1, 100000));
  worker
      ->add_option(
          "--path", line.worker_path,
          "where this worker tests, instead of the plan's --path: a directory, a file in it, or nfs://HOST/PATH")
      ->type_name("DIR");
  worker
      ->add_option(
          "--root", line.roots,
          "work only below DIR, a directory or nfs://HOST/PATH (repeatable); none: use no files; required to join "
          "over a network")
      ->type_name("DIR")
      ->allow_extra_args(false);
  worker
      ->add_option(
          "--allow", line.allow,
          "what else the coordinator may ask for, separated by commas: remount, log-files, drop-caches, stripe")
      ->type_name("WORDS");
  worker
      ->add_option("--max-lanes", line.max_lanes,
                   "refuse phases with more lanes on this worker (default 4096)")
      ->type_name("N")
      ->transform(WholeInRange(1, 1000000));
  worker
      ->add_option("--max-memory", line.max_memory,
                   "refuse phases that need more memory (default: the available memory)")
      ->type_name("SIZE");
  worker->add_option("--user", line.cluster.user, "become this user before anything is opened (needs root)")
      ->type_name("NAME");
  worker->add_option("--place", line.client_list_position, "its place in a client list, from 1")
      ->type_name("N")
      ->transform(WholeInRange(1, 1000000))
      ->group("");
  worker->add_option("--slots", line.slots, "start N worker processes on this host")
      ->type_name("N")
      ->transform(WholeInRange(1, 1024));
  worker
      ->add_option("--server-workers", line.server_workers,
                   "with --sampler and --root: also start N worker processes, for a run with --server-path")
      ->type_name("N")
      ->transform(WholeInRange(1, 100000));
  AddFlag(*worker, "--server", line.server, "")->group("");
  AddFlag(*worker, "--spawned", line.spawned, "")->group("");
  return worker;
}

absl::Status TakeWorker(CommandLine& line) {
  line.command = Command::kWorker;
  const bool has_lanes = line.server_workers > 0;
  if (has_lanes && !line.sampler) {
    return absl::InvalidArgumentError("--server-workers N stand beside a sampler: it needs --sampler");
  }
  if (has_lanes && line.roots.empty()) {
    return absl::InvalidArgumentError(
        "--server-workers N work only below directories that their own command line names: it needs --root DIR, with "
        "the directory of the coordinator's --server-path");
  }
  if (has_lanes && line.stay) {
    return absl::InvalidArgumentError(
        "--server-workers N are for one run: it cannot be combined with --stay");
  }
  for (const auto& [given, name] :
       {std::pair{!line.worker_path.empty(), "--path"}, std::pair{line.slots > 1, "--slots"},
        std::pair{line.simulate > 0, "--simulate"},
        std::pair{line.max_lanes > 0 && !has_lanes, "--max-lanes"}}) {
    if (!line.sampler || !given) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--sampler has no lanes and touches no files: it cannot be combined with ", name));
  }
  if (!line.stay || !line.cluster.join_timeout_given) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--stay waits for coordinators without an end: it cannot be combined with --join-timeout");
}

}  // namespace iobench
