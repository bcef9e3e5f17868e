#include <catch2/catch.hpp>
#include <string>

#include "coordinator/analysis/summarize.h"
#include "tests/support/phase_script.h"

namespace iobench {
namespace {

struct Faults {
  Faults() {
    for (const uint32_t n : {0u, 1u}) script.Lane(n).Moves(1000_MiB).EndsAt(10_s).InOps(1000);
    script.phase.set_index(3);
    record = script.Record();
    run = script.Run();
  }
  v1::PhaseReport Report() const { return SummarizePhase(run, record, Charts::kLeftOut); }
  // Returns the mark with this code; if there is none, its code is empty.
  v1::Mark Mark(const std::string& code) const {
    const v1::PhaseReport report = Report();
    for (const v1::Mark& mark : report.marks()) {
      if (mark.code() == code) return mark;
    }
    return {};
  }

  PhaseScript script{"read"};
  v1::PhaseRecord record;
  v1::RunRecord run;
};

TEST_CASE("resumed: only the first phase after a resumption, with what ended the run and what differs") {
  Faults faults;
  v1::Resumption& resumption = *faults.run.add_resumptions();
  resumption.set_resumed_at("2026-11-23T03:00:00Z");
  resumption.set_ended_by("it was interrupted");
  resumption.add_differences("node1: kernel 6.2, was 6.1");
  resumption.set_first_phase(2);
  CHECK(faults.Mark("resumed").code().empty());
  resumption.set_first_phase(3);
  const v1::Mark mark = faults.Mark("resumed");
  CHECK(mark.value() == 1);
  for (const char* text : {"2026-11-23T03:00:00Z", "it was interrupted", "kernel 6.2, was 6.1"}) {
    CHECK(mark.text().find(text) != std::string::npos);
  }
}

TEST_CASE("resumed: also a phase that was measured again because its raw file was damaged") {
  Faults faults;
  v1::Resumption& resumption = *faults.run.add_resumptions();
  resumption.set_first_phase(9);
  resumption.add_measured_again(3);
  CHECK(faults.Mark("resumed").text().find("missing, damaged or cut short, so it was measured again") !=
        std::string::npos);
}

TEST_CASE("reconnected: the sum over workers, and each worker's own number in its row") {
  Faults faults;
  CHECK(faults.Mark("reconnected").code().empty());
  faults.record.mutable_workers(0)->set_reconnects(2);
  faults.record.mutable_workers(1)->set_reconnects(1);
  const v1::Mark mark = faults.Mark("reconnected");
  CHECK(mark.value() == 3);
  CHECK(mark.text().find("and 1 more reconnected 3 times") != std::string::npos);
  uint32_t reconnects = 0;
  const v1::PhaseReport report = faults.Report();
  for (const v1::ClientPhaseReport& client : report.clients()) {
    for (const v1::WorkerPhaseReport& worker : client.workers()) reconnects += worker.reconnects();
  }
  CHECK(reconnects == 3);
}

TEST_CASE("coordinator_stopped: for how long, and whether its host was suspended") {
  Faults faults;
  CHECK(faults.Mark("coordinator_stopped").code().empty());
  faults.record.add_standstills()->set_seconds(3);
  faults.record.add_standstills()->set_seconds(5);
  CHECK(faults.Mark("coordinator_stopped").value() == 8);
  CHECK(faults.Mark("coordinator_stopped").text().find("the coordinator stood still for 8 s: ") == 0);
  faults.record.mutable_standstills(1)->set_suspended_s(5);
  CHECK(faults.Mark("coordinator_stopped").text().find("the coordinator was suspended for ") == 0);
}

TEST_CASE("stalled: what the coordinator saw counts where a lane has nothing to compare with, in any part of the phase") {
  Faults faults;
  CHECK(faults.Mark("stalled").code().empty());
  v1::StillWork& still = *faults.record.mutable_workers(1)->add_still_work();
  still.set_begin_coord_ns(kStartCoordNs);
  still.set_end_coord_ns(kStartCoordNs + 8 * kNanosPerSecond);
  still.set_what("lane 1 in its ops, pwrite64 of /mnt/a/f");
  const v1::Mark mark = faults.Mark("stalled");
  CHECK(mark.value() == 8);
  CHECK(mark.text().find("worker 1 made no progress for about 8 s while its lanes ran (lane 1 in its ops, pwrite64 of "
                         "/mnt/a/f): find out") == 0);
  still.set_preparing(true);
  CHECK(faults.Mark("stalled").text().find("worker 1 made no progress for about 8 s in its preparation (") == 0);
}

TEST_CASE("failed_ops: a mount that gives up is named, since its errors look like those of a disk") {
  Faults faults;
  v1::ErrorCount& failed = *faults.record.mutable_workers(0)->mutable_lanes(0)->add_errors();
  failed.set_kind(v1::OP_READ);
  failed.set_errno_value(5);
  failed.set_count(1);
  v1::TargetFacts& target = *faults.run.mutable_targets(0)->mutable_targets(0);
  target.set_filesystem("nfs4");
  target.set_mount_options("rw,vers=4.2,hard,proto=tcp,timeo=600,retrans=2");
  CHECK(faults.Mark("failed_ops").text().find("gives up") == std::string::npos);
  CHECK(faults.Mark("failed_ops").text().find("a mount with") == std::string::npos);
  target.set_mount_options("rw,vers=4.2,soft,proto=tcp,timeo=10,retrans=1");
  CHECK(faults.Mark("failed_ops").text().find("; a mount with soft,timeo=10,retrans=1 returns this when the server does "
                                              "not answer in time: mount it with hard") != std::string::npos);
  failed.set_errno_value(28);
  CHECK(faults.Mark("failed_ops").text().find("a mount with") == std::string::npos);
}

TEST_CASE("retried_ops: counted over lanes by kind and errno, apart from failed ops") {
  Faults faults;
  CHECK(faults.Mark("retried_ops").code().empty());
  for (const int worker : {0, 1}) {
    v1::ErrorCount& retried = *faults.record.mutable_workers(worker)->mutable_lanes(0)->add_retries();
    retried.set_kind(v1::OP_READ);
    retried.set_errno_value(11);
    retried.set_count(static_cast<uint64_t>(worker) + 4);
  }
  const v1::PhaseReport report = faults.Report();
  REQUIRE(report.retried_ops_size() == 1);
  CHECK(report.retried_ops(0).count() == 9);
  CHECK(report.retried_ops(0).lanes() == 2);
  CHECK(report.retried_ops(0).error() == "EAGAIN");
  CHECK(report.failed_ops().empty());
  CHECK(faults.Mark("retried_ops").value() == 9);
  CHECK(faults.Mark("retried_ops").text().find("9 read EAGAIN in 2 lanes") != std::string::npos);
}

}  // namespace
}  // namespace iobench
