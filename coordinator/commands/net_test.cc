#include "coordinator/commands/net_test.h"

#include <algorithm>
#include <iostream>

#include "absl/status/status.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/commands/conductor_setup.h"
#include "coordinator/net_check/net_check.h"
#include "coordinator/process/failure.h"

namespace iobench {
namespace {

constexpr uint64_t kMaxNetTestRecordBytes = 64 << 20;  // for each client, all at the same time

}  // namespace

int NetTest(const Stage& stage, const RunCommand& line) {
  const ConductorOptions options = OptionsFor(stage, line);
  Cluster cluster(stage.transport, options.run_id, stage.interrupt, options.patience, options.clock);
  NetTestOptions test{.told_host = line.cluster.coordinator_host,
                      .record_bytes = kNetTestRecordBytes,
                      .seconds = line.given.Decimal("time")};
  if (line.given.Has("record")) {
    test.record_bytes = static_cast<uint32_t>(
        std::clamp<uint64_t>(line.given.Numbers("record").front(), 1, kMaxNetTestRecordBytes));
  }
  absl::Status status = cluster.Gather(
      options.worker_count, options.join_deadline, options.version, [](uint32_t) {}, options.join_watch);
  const bool all_joined = status.ok();
  if (all_joined) {
    const auto figures = TestNetwork(cluster, stage.coordinator.boot_id(), test);
    status = figures.status();
    if (figures.ok()) PrintNetFigures(*figures, std::cout);
  }
  cluster.Dismiss();
  if (status.ok()) return ExitOfPrinting(kExitOk, kExitIo);
  return Fail(status, absl::IsCancelled(status)                    ? kExitInterrupted
                      : !all_joined || absl::IsUnavailable(status) ? kExitPartial
                                                                   : kExitUsage);
}

}  // namespace iobench
