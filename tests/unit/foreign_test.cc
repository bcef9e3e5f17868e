#include <catch2/catch.hpp>
#include <cmath>

#include "coordinator/analysis/foreign/bonnie_figures.h"
#include "coordinator/analysis/foreign/iozone_cpu.h"

namespace iobench {
namespace {

v1::LanePhaseReport& AddLane(double begin_s, double end_s, double cpu_s, v1::PhaseReport& phase) {
  v1::ClientPhaseReport& client = phase.clients().empty() ? *phase.add_clients() : *phase.mutable_clients(0);
  v1::LanePhaseReport& lane = *client.add_workers()->add_lanes();
  lane.set_start_us(begin_s * 1e6);
  lane.set_end_s(end_s);
  lane.set_cpu_user_s(cpu_s / 4);
  lane.set_cpu_system_s(cpu_s - cpu_s / 4);
  return lane;
}

TEST_CASE("IOzone's utilization is the CPU time of all lanes over the longest time of one") {
  v1::PhaseReport phase;
  AddLane(0, 4, 2, phase).set_measured_bytes(10);
  AddLane(1, 4, 2, phase).set_measured_bytes(5);
  AddLane(0, 9, 9, phase).set_failed(true);
  const IozoneCpu cpu = IozoneCpuOf(phase);
  CHECK(cpu.wall_s == 4);
  CHECK(cpu.cpu_s == 4);
  CHECK(cpu.percent == 100);
  CHECK(LeastMovedBytes(phase) == 5);
  CHECK(LeastMovedOps(phase) == 0);
  CHECK(std::isnan(LeastMovedBytes(v1::PhaseReport())));
}

TEST_CASE("a lane's wall time is never less than its CPU time") {
  v1::PhaseReport phase;
  const IozoneCpu cpu = IozoneCpuOf(AddLane(0, 1, 2, phase));
  CHECK(cpu.wall_s == 2);
  CHECK(cpu.percent == 100);
  CHECK(IozoneCpuOf(v1::PhaseReport()).percent == 0);
}

TEST_CASE("Bonnie++ shows no figure of less than half a second, and the CPU time of the lanes' own time") {
  v1::PhaseReport phase;
  AddLane(0, 2, 1, phase);
  AddLane(0, 2, 0, phase);
  v1::ClientPhaseReport& client = *phase.mutable_clients(0);
  client.set_measured_ops(100);
  client.set_ops_per_s(50);
  BonnieFigure figure = BonnieFigureOf(client);
  CHECK(figure.state == BonnieFigure::State::kMeasured);
  CHECK(figure.cpu_percent == 25);  // 1 of 4 s
  CHECK(std::isnan(figure.max_latency_us));
  client.set_ops_per_s(201);
  CHECK(BonnieFigureOf(client).state == BonnieFigure::State::kTooShort);
  CHECK(BonnieFigureOf(v1::PhaseReport()).state == BonnieFigure::State::kNotRun);
}

}  // namespace
}  // namespace iobench
