#include "coordinator/analysis/foreign/bonnie_figures.h"

#include <cmath>

#include "common/not_a_number.h"

namespace iobench {
namespace {

constexpr double kMinSeconds = 0.5;  // MinTime in Bonnie++

// The part of a phase that both the whole phase and one client have.
struct Measured {
  uint64_t ops = 0;  // that the rates count
  double bytes_per_s = 0, ops_per_s = 0;
  double cpu_s = 0, lanes_s = 0;  // lanes_s 0: unknown
  double max_latency_us = kNaN;
};

BonnieFigure FigureOfMeasured(const Measured& measured) {
  BonnieFigure figure;
  if (measured.ops == 0 || !std::isfinite(measured.ops_per_s) || measured.ops_per_s <= 0) return figure;
  const double seconds = static_cast<double>(measured.ops) / measured.ops_per_s;
  figure.state = seconds < kMinSeconds ? BonnieFigure::State::kTooShort : BonnieFigure::State::kMeasured;
  figure.bytes_per_s = measured.bytes_per_s;
  figure.ops_per_s = measured.ops_per_s;
  figure.cpu_percent = measured.lanes_s > 0 ? 100 * measured.cpu_s / measured.lanes_s : kNaN;
  figure.max_latency_us = measured.max_latency_us;
  return figure;
}

double MaxLatencyOf(const v1::Latency& latency) {
  return latency.count() > 0 ? latency.max() : kNaN;
}

}  // namespace

BonnieFigure BonnieFigureOf(const v1::PhaseReport& phase) {
  return FigureOfMeasured({.ops = phase.measured_ops(),
                           .bytes_per_s = phase.headline().bytes_per_s(),
                           .ops_per_s = phase.headline().ops_per_s(),
                           .cpu_s = phase.lanes_cpu_user_s() + phase.lanes_cpu_system_s(),
                           .lanes_s = phase.lanes_wall_s(),
                           .max_latency_us = MaxLatencyOf(phase.latency_us())});
}

BonnieFigure BonnieFigureOf(const v1::ClientPhaseReport& client) {
  Measured measured{.ops = client.measured_ops(),
                    .bytes_per_s = client.bytes_per_s(),
                    .ops_per_s = client.ops_per_s(),
                    .max_latency_us = MaxLatencyOf(client.latency_us())};
  for (const v1::WorkerPhaseReport& worker : client.workers()) {
    for (const v1::LanePhaseReport& lane : worker.lanes()) {
      const double lane_s = lane.end_s() - lane.start_us() * 1e-6;
      if (lane.failed() || lane.sat_out() || !std::isfinite(lane_s)) continue;
      measured.cpu_s += lane.cpu_user_s() + lane.cpu_system_s();
      measured.lanes_s += lane_s;
    }
  }
  return FigureOfMeasured(measured);
}

}  // namespace iobench
