#include "coordinator/commands/conductor_setup.h"

#include <unistd.h>

#include <random>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/digest/sha256.h"
#include "common/version.h"
#include "coordinator/options/iozone_output.h"
#include "coordinator/saved_run/run_names.h"

namespace iobench {
namespace {

// Returns "20261121T093012Z-4711": sorts by time, unique on this host.
std::string RunName() {
  std::string time = WallClockIso8601();
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  return absl::StrCat(time.substr(0, 15), "Z-", getpid());
}

}  // namespace

ConductorOptions OptionsFor(const Stage& stage, const JobOptions& line) {
  ConductorOptions options;
  options.run_name = RunName();
  std::random_device random;
  options.run_id = (uint64_t{random()} << 32 | random()) | 1;
  options.command = stage.command;
  options.version = kProgramVersion;
  options.worker_count = stage.worker_count;
  options.in_process = stage.transport.name() == "local";
  options.join_watch = stage.join_watch;
  options.join_deadline = JoinDeadline(options, line);
  const Patience patience = PatienceOf(line.cluster);
  options.patience = {.lost_after_ns = NanosFrom(patience.lost_after_s),
                      .lease_ns = NanosFrom(patience.lease_s),
                      .stall_after_ns = NanosFrom(line.cluster.stall_timeout_s),
                      .abort_on_lost = line.cluster.on_lost == "abort",
                      .heartbeat = Heartbeat::Start()};
  options.sample_interval_ns = NanosFrom(line.cluster.sample_interval_s);
  options.phase_timeout_ns = NanosFrom(line.cluster.phase_timeout_s);
  options.force = line.cluster.force;
  options.label = line.cluster.label;
  options.iozone = IozoneOutputOf(line.given);
  if (line.cluster.skip_bad) options.on_fault = OnFault::kLeaveOut;
  options.share_wait_ns = NanosFrom(line.cluster.share_wait_s);
  options.max_duration_s = line.cluster.max_duration_s;
  options.program_digest = Sha256OfProgram;
  options.results_lock = stage.results_lock;
  return options;
}

CoordTime JoinDeadline(const ConductorOptions& options, const JobOptions& line) {
  return options.clock() + NanosFrom(line.cluster.join_timeout_s);
}

std::string OutDirectory(const JobOptions& line, const std::string& run_name) {
  return line.cluster.out.empty() ? absl::StrCat(kResultsDirectory, "/", run_name) : line.cluster.out;
}

}  // namespace iobench
