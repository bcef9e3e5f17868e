// Runs a command on each of many hosts, all at the same time, and returns what each printed.
#ifndef COORDINATOR_LAUNCH_HOST_JOBS_H_
#define COORDINATOR_LAUNCH_HOST_JOBS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace iobench {

struct HostJob {
  std::string host;     // for messages: "user@node7:2222"
  std::string command;  // what /bin/sh runs on this host (ShellCommand)
};

// How a job ended. Outcomes have the order of the jobs.
struct HostOutcome {
  bool ended = false;              // false: it was given up
  bool well = false;               // exit code 0
  int exit_code = -1;              // -1: a signal, or it was given up
  std::string ending;              // "exit code 2"
  std::vector<std::string> lines;  // of the first 64 KiB that it printed, without blank ones
};

struct HostJobOptions {
  double timeout_s = 0;  // jobs that have not ended by then are given up; 0: never
  // Checked often; true: give all up. Null: never.
  std::function<bool()> stop = nullptr;
  // Called now and then with the hosts that are still at work, and for how long. Null: not called.
  std::function<void(const std::vector<std::string>& waiting, double seconds)> on_waiting = nullptr;
};

// Blocks until all have ended or were given up. A job that is given up gets SIGTERM here, and so does one that asks for a
// password; what it has started on its host may go on. An error is about this host: no process, or no memory for output.
absl::StatusOr<std::vector<HostOutcome>> RunOnHosts(std::span<const HostJob> jobs,
                                                    const HostJobOptions& options);

}  // namespace iobench

#endif  // COORDINATOR_LAUNCH_HOST_JOBS_H_
