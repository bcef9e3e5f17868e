#include "coordinator/capacity/step_figures.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

namespace iobench {
namespace {

v1::PhaseReport PhaseOf(std::initializer_list<double> client_rates) {
  v1::PhaseReport phase;
  phase.mutable_headline()->set_ops_per_s(300);
  phase.mutable_headline()->set_bytes_per_s(1200);
  for (const double rate : client_rates) {
    v1::ClientPhaseReport& client = *phase.add_clients();
    client.set_host("c" + std::to_string(phase.clients_size()));
    client.set_ops_per_s(rate);
  }
  return phase;
}

void SetProcessors(v1::ClientPhaseReport& client, double percent, double own_percent) {
  client.set_cpu_percent(percent);
  client.set_own_cpu_percent(own_percent);
}

double ShareOf(const StepFigures& figures, const std::string& name) {
  const auto found = std::find_if(figures.uses.begin(), figures.uses.end(),
                                  [&](const ResourceUse& use) { return use.name == name; });
  return found == figures.uses.end() ? NAN : found->share;
}

}  // namespace

TEST_CASE("the run can grow into the idle time of a client's processors, not into what others use") {
  v1::PhaseReport phase = PhaseOf({100, 200, 300, 0});
  SetProcessors(*phase.mutable_clients(0), 40, 40);   // alone: 40 of 100
  SetProcessors(*phase.mutable_clients(1), 60, 40);   // others use 20: 40 of 80
  SetProcessors(*phase.mutable_clients(2), 101, 50);  // none is idle
  SetProcessors(*phase.mutable_clients(3), 70, 0);    // the run uses none of it
  const StepFigures figures = FiguresOf(phase, std::nullopt);
  CHECK(ShareOf(figures, "processors of c1") == Approx(0.4));
  CHECK(ShareOf(figures, "processors of c2") == Approx(0.5));
  CHECK(ShareOf(figures, "processors of c3") == Approx(1));
  CHECK(figures.uses.size() == 3);
  CHECK(figures.uses[0].name == "processors of c3");  // the busiest first
}

TEST_CASE("servers have processors, disks and links, each as a share of its capacity") {
  v1::PhaseReport phase = PhaseOf({100});
  v1::ServerReport& server = *phase.add_servers();
  server.set_host("filer");
  server.set_cpu_busy(0.25);
  v1::ServerDisk& disk = *server.add_disks();
  disk.set_name("sda");
  disk.set_busy(0.75);
  v1::ServerNic& nic = *server.add_nics();
  nic.set_name("eth0");
  nic.set_receive_bytes_per_s(25);
  nic.set_send_bytes_per_s(50);
  nic.set_link_bytes_per_s(100);
  server.add_nics()->set_name("eth1");  // its speed is unknown
  const StepFigures figures = FiguresOf(phase, std::nullopt);
  REQUIRE(figures.uses.size() == 3);
  CHECK(ShareOf(figures, "processors of filer") == Approx(0.25));
  CHECK(ShareOf(figures, "disk sda of filer") == Approx(0.75));
  CHECK(ShareOf(figures, "link eth0 of filer") == Approx(0.5));
  CHECK(figures.uses[1].link_bytes_per_s == 100);
  CHECK(figures.uses[1].server == "filer");
}

TEST_CASE("a step's figures are those of its phase") {
  v1::PhaseReport phase = PhaseOf({100, 300});
  phase.set_lanes_failed(2);
  phase.set_lane_count(6);
  phase.add_failed_ops()->set_count(5);
  phase.set_workers_lost(1);
  phase.set_not_whole("1 worker lost, 2 lanes failed");
  phase.add_marks()->set_code("late_start");
  phase.mutable_clients(1)->add_marks()->set_code("generator_bound");
  const StepFigures figures = FiguresOf(phase, std::nullopt);
  CHECK(figures.ops_per_s == 300);
  CHECK(figures.bytes_per_s == 1200);
  CHECK(figures.errors == 7);
  CHECK(figures.lane_count == 6);
  CHECK(figures.worker_lost);
  CHECK_FALSE(figures.whole);
  CHECK(figures.generator_bound);
  CHECK(figures.marks == std::vector<std::string>{"generator_bound", "late_start"});
  CHECK(figures.fairness == Approx(0.8));  // Jain: (100 + 300)² / (2 · (100² + 300²))
  CHECK(std::isnan(figures.slo_figure_us));
  phase.set_metadata(true);
  CHECK(FiguresOf(phase, std::nullopt).bytes_per_s == 0);
  phase.mutable_clients()->RemoveLast();
  CHECK(std::isnan(FiguresOf(phase, std::nullopt).fairness));
}

TEST_CASE("in an open loop, times are response times, and an SLO judges them") {
  v1::PhaseReport phase = PhaseOf({100});
  phase.mutable_latency_us()->set_p99(500);
  v1::OpenLoopReport& open = *phase.mutable_open_loop();
  open.set_done_percent(90);
  open.set_asked_ops_per_s(333);
  open.mutable_service_us()->set_p99(70);
  const absl::StatusOr<Slo> slo = ParseSlo("p99<1ms");
  REQUIRE(slo.ok());
  const StepFigures figures = FiguresOf(phase, *slo);
  CHECK(figures.p99_us == 500);
  CHECK(figures.slo_figure_us == 500);
  CHECK(figures.slo_service_figure_us == 70);
  CHECK(figures.done_share == Approx(0.9));
  CHECK(figures.due_per_s == 333);
}

}  // namespace iobench
