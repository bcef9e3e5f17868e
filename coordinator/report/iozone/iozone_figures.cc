#include "coordinator/report/iozone/iozone_figures.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"

namespace iobench {
namespace {

constexpr double kBytesPerKilobyte = 1024;

// Calls `use` for every lane that counts in the figures of its phase.
template <typename Use>
void ForEachLane(const v1::PhaseReport& phase, Use use) {
  for (const v1::ClientPhaseReport& client : phase.clients()) {
    for (const v1::WorkerPhaseReport& worker : client.workers()) {
      for (const v1::LanePhaseReport& lane : worker.lanes()) {
        if (CountsForIozone(lane)) use(lane);
      }
    }
  }
}

IozoneChild ChildOf(const v1::LanePhaseReport& lane, IozoneUnit unit) {
  const bool ops = unit == IozoneUnit::kOps;
  IozoneChild child;
  child.lane = lane.lane();
  child.xfer = ops ? static_cast<double>(lane.measured_ops())
                   : static_cast<double>(lane.measured_bytes()) / kBytesPerKilobyte;
  child.rate = ops ? lane.ops_per_s() : lane.bytes_per_s() / kBytesPerKilobyte;
  child.cpu = IozoneCpuOf(lane);
  return child;
}

}  // namespace

bool HasTable(const v1::RunReport& report) {
  const auto& phases = report.run().plan().phases();
  return report.run().lane_count() == 1 &&
         std::none_of(phases.begin(), phases.end(), [](const v1::Phase& phase) { return phase.has_lanes_per_worker(); });
}

IozoneUnit UnitOf(const v1::IozoneOutput& output) {
  if (output.us_per_op()) return IozoneUnit::kMicroseconds;
  return output.ops_per_s() ? IozoneUnit::kOps : IozoneUnit::kKilobytes;
}

IozoneUnit UnitOf(const v1::IozoneOutput& output, const v1::PhaseReport& phase) {
  const IozoneUnit unit = UnitOf(output);
  return phase.headline_in_ops() && unit == IozoneUnit::kKilobytes ? IozoneUnit::kOps : unit;
}

std::string TableValue(const v1::IozoneOutput& output, const v1::PhaseReport& phase) {
  const IozoneUnit unit = UnitOf(output, phase);
  const double ops_per_s = phase.throughput_ops_per_s().children();
  const double value = unit == IozoneUnit::kKilobytes
                           ? phase.throughput_bytes_per_s().children() / kBytesPerKilobyte
                       : unit == IozoneUnit::kOps ? ops_per_s
                                                  : 1e6 / ops_per_s;
  if (!std::isfinite(value) || !phase.not_whole().empty()) return "";
  return absl::StrFormat("%.0f", std::floor(value));
}

ThroughputFigures ThroughputOf(const v1::PhaseReport& phase, IozoneUnit unit) {
  const bool ops = unit == IozoneUnit::kOps;
  const double per = ops ? 1 : kBytesPerKilobyte;
  const v1::Throughput& rates = ops ? phase.throughput_ops_per_s() : phase.throughput_bytes_per_s();
  const v1::Spread& lanes = ops ? phase.lanes_ops_per_s() : phase.lanes_bytes_per_s();
  ThroughputFigures figures;
  figures.children = rates.children() / per;
  figures.parent = rates.parent() / per;
  figures.min = lanes.min() / per;
  figures.max = lanes.max() / per;
  figures.avg = lanes.mean() / per;
  figures.min_xfer = (ops ? LeastMovedOps(phase) : LeastMovedBytes(phase)) / per;
  return figures;
}

const char* ChildWord(const v1::IozoneOutput& output, bool many) {
  if (output.threads()) return many ? "threads" : "thread";
  return many ? "processes" : "process";
}

std::vector<IozoneChild> ChildrenOf(const v1::PhaseReport& phase, IozoneUnit unit) {
  std::vector<IozoneChild> children;
  ForEachLane(phase, [&](const v1::LanePhaseReport& lane) { children.push_back(ChildOf(lane, unit)); });
  std::sort(children.begin(), children.end(),
            [](const IozoneChild& a, const IozoneChild& b) { return a.lane < b.lane; });
  return children;
}

std::string KilobytesText(uint64_t bytes) {
  if (bytes % 1024 == 0) return std::to_string(bytes / 1024);
  return absl::StrFormat("%.10g", static_cast<double>(bytes) / kBytesPerKilobyte);
}

std::string FigureText(double figure) {
  return std::isfinite(figure) ? absl::StrFormat("%10.2f", figure) : absl::StrFormat("%10s", "-");
}

}  // namespace iobench
