// The command `selftest`: what the tool itself costs on a cluster.
#include <algorithm>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/process/temporary_directory.h"
#include "common/status_util.h"
#include "common/version.h"
#include "coordinator/commands/conductor_setup.h"
#include "coordinator/commands/job_commands.h"
#include "coordinator/commands/on_workers.h"
#include "coordinator/conduct/conductor.h"
#include "coordinator/conduct/plan_phases.h"
#include "coordinator/files/files.h"
#include "coordinator/net_check/net_check.h"
#include "coordinator/plan/plan_builder.h"
#include "coordinator/process/failure.h"
#include "coordinator/selftest/selftest_report.h"

namespace iobench {
namespace {

// Shorter than the network test's own: it is repeated for each client.
constexpr double kMaxNetSeconds = 0.5, kMinNetSeconds = 0.1, kNetSecondsOfAll = 10;

// A private directory for the results of selftest, which are not kept.
class ScratchDirectory {
 public:
  static absl::StatusOr<ScratchDirectory> Make() {
    const TemporaryParent parent = TemporaryParentHere();
    IOBENCH_RETURN_IF_ERROR(files::MountAnswers("the directory", parent.path));
    IOBENCH_ASSIGN_OR_RETURN(std::string path, MakeTemporaryDirectory(parent, "cluster-iobench-selftest"));
    return ScratchDirectory(std::move(path));
  }
  ScratchDirectory(ScratchDirectory&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  ScratchDirectory& operator=(ScratchDirectory&&) = delete;
  ~ScratchDirectory() {
    if (!path_.empty()) files::RemoveAll(path_);
  }
  std::string Below(const char* name) const { return absl::StrCat(path_, "/", name); }

 private:
  explicit ScratchDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Measures the network to each client. With many of them it would take minutes, and is left out.
absl::Status MeasureNetwork(Cluster& cluster, const Stage& stage, const JobOptions& line,
                            std::vector<NetFigures>& figures) {
  const uint32_t clients = std::max(1u, cluster.client_count());
  if (clients > kMaxListedClients) return absl::OkStatus();
  const NetTestOptions test{
      .told_host = line.cluster.coordinator_host,
      .record_bytes = kNetTestRecordBytes,
      .seconds = std::clamp(kNetSecondsOfAll / clients, kMinNetSeconds, kMaxNetSeconds)};
  IOBENCH_ASSIGN_OR_RETURN(figures, TestNetwork(cluster, stage.coordinator.boot_id(), test));
  return absl::OkStatus();
}

// Measures the tool itself with empty phases, whose results are removed again: the fixed cost of a phase and its parts,
// the skew of the starts, the coordinator's processor time and memory, and for each client its clock, the cost of an op
// and the network between it and the coordinator.
int Selftest(const Stage& stage, const SelftestCommand& line) {
  RunObserver nobody;
  ConductorOptions options = OptionsFor(stage, line);
  const bool simulated = line.simulate > 0;
  auto scratch = ScratchDirectory::Make();
  if (!scratch.ok()) return Fail(scratch.status(), kExitUsage);
  options.out_directory = scratch->Below("results");  // saving is part of what a phase costs
  const bool in_process = options.in_process;
  const CoordTime begin = options.clock();
  const v1::Plan plan = EmptyPhases(line.phases, line.lanes);
  Conductor conductor(stage.transport, nobody, stage.interrupt, stage.coordinator, plan, options);
  std::vector<NetFigures> network;
  absl::Status ready = conductor.Assemble();
  if (ready.ok() && !in_process && !simulated) ready = MeasureNetwork(conductor.cluster(), stage, line, network);
  PlanPhases phases;
  const int exit_code = ready.ok() ? conductor.Conduct(phases) : conductor.Refuse(ready);
  if (!conductor.refusal().ok()) return Fail(conductor.refusal(), exit_code);
  PrintSelftest({.version = kProgramVersion,
                 .report = conductor.report(),
                 .costs = conductor.phase_costs(),
                 .join_s = conductor.assembly().join_s(),
                 .run_s = SecondsFrom(options.clock() - begin),
                 .peak_memory_bytes = PeakMemoryBytes(),
                 .silence_count = conductor.cluster().silence_count(),
                 .network = std::move(network),
                 .simulated = simulated,
                 .workers_in_process = in_process || stage.transport.name() == "mpi"},
                std::cout);
  return ExitOfPrinting(exit_code, kExitIo);
}

}  // namespace

int Execute(const SelftestCommand& selftest, const std::string& typed) {
  return OnWorkers({.options = selftest,
                    .has_plan = false,
                    .simulate = selftest.simulate,
                    .lanes_per_worker = selftest.lanes,
                    .carry_out = [&selftest](const Stage& stage,
                                             const v1::Plan&) { return Selftest(stage, selftest); }},
                   typed);
}

}  // namespace iobench
