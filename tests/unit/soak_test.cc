// --soak: what a report says over all rounds.
#include "coordinator/analysis/soak.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "coordinator/analysis/report_builder.h"

namespace iobench {
namespace {

constexpr int64_t kBeginNs = 7'000'000'000'000;

// Two phases a round, one client.
v1::RunReport Begun() {
  v1::RunReport report;
  v1::Plan& plan = *report.mutable_run()->mutable_plan();
  plan.set_soak_s(3600);
  for (const char* name : {"write", "read"}) {
    v1::Phase& phase = *plan.add_phases();
    phase.set_name(name);
    phase.add_assignments()->mutable_operation()->set_name(name);
  }
  BeginSoak(report);
  return report;
}

v1::PhaseReport PhaseAt(uint32_t index, double at_s, double bytes_per_s) {
  v1::PhaseReport phase;
  phase.set_index(index);
  phase.set_repetition(index / 2);
  phase.set_name(index % 2 == 0 ? "write" : "read");
  phase.set_started_at("2026-11-25T10:00:00.000Z");
  phase.set_start_coord_ns(kBeginNs + static_cast<int64_t>(at_s * 1e9));
  phase.set_duration_s(10);
  phase.set_bytes(1000);
  (*phase.mutable_by_kind())[phase.name()].set_bytes(1000);
  phase.mutable_headline()->set_bytes_per_s(bytes_per_s);
  phase.add_clients()->set_host("c01");
  return phase;
}

void AddError(const std::string& operation, int errno_value, uint64_t count, v1::PhaseReport& phase) {
  for (auto* list : {phase.mutable_failed_ops(), phase.mutable_clients(0)->mutable_failed_ops()}) {
    v1::FailedOps& failed = *list->Add();
    failed.set_operation(operation);
    failed.set_errno_value(errno_value);
    failed.set_error(errno_value == 5 ? "EIO" : "short");
    failed.set_count(count);
    failed.set_lanes(1);
  }
}

TEST_CASE("a run without rounds has no soak") {
  v1::RunReport report;
  report.mutable_run()->mutable_plan()->add_phases();
  BeginSoak(report);
  UpdateSoak(PhaseAt(0, 0, 1), report);
  CHECK_FALSE(report.has_soak());
}

TEST_CASE("rounds are placed on the time axis of the run, and counted when they are complete") {
  v1::RunReport report = Begun();
  UpdateSoak(PhaseAt(0, 0, 100), report);
  CHECK(report.soak().complete_rounds() == 0);
  UpdateSoak(PhaseAt(1, 12, 200), report);
  UpdateSoak(PhaseAt(2, 25, 300), report);
  v1::PhaseReport cut = PhaseAt(3, 40, 5);
  cut.set_interrupted(true);
  cut.set_not_whole("interrupted");
  UpdateSoak(cut, report);
  const v1::SoakReport& soak = report.soak();
  CHECK(soak.complete_rounds() == 1);
  REQUIRE(soak.rounds_size() == 2);
  CHECK(soak.rounds(0).begin_s() == 0);
  CHECK(soak.rounds(0).end_s() == Approx(22));
  CHECK(soak.rounds(0).bytes() == 2000);
  CHECK(soak.rounds(1).round() == 2);
  CHECK(soak.rounds(1).begin_s() == Approx(25));
  CHECK(soak.rounds(1).interrupted());
  CHECK(soak.rounds(1).rates(0) == 300);
  CHECK(std::isnan(soak.rounds(1).rates(1)));  // it was cut short
  CHECK(soak.elapsed_s() == Approx(50));
  CHECK(soak.written_bytes() == 2000);
  CHECK(soak.read_bytes() == 2000);
}

TEST_CASE("bytes are read or written by the kind of op, and both only if a record is rewritten") {
  v1::RunReport report = Begun();
  v1::PhaseReport phase = PhaseAt(0, 0, 100);
  phase.clear_by_kind();
  uint64_t bytes = 1;
  for (const char* const kind : {"read", "open-close", "update", "write", "create", "append", "unlink"}) {
    (*phase.mutable_by_kind())[kind].set_bytes(bytes);
    bytes *= 10;
  }
  UpdateSoak(phase, report);
  CHECK(report.soak().read_bytes() == 111);
  CHECK(report.soak().written_bytes() == 111'100);
}

TEST_CASE("data loss is told by kind, and where the first was found") {
  v1::RunReport report = Begun();
  UpdateSoak(PhaseAt(0, 0, 100), report);
  v1::PhaseReport read = PhaseAt(1, 12, 100);
  v1::VerifyResult& verify = *read.mutable_verify();
  verify.set_sectors(1000);
  verify.set_mismatched(10);
  for (const auto& [kind, count] : {std::pair{"zeros", 1}, {"stale", 2}, {"torn", 3}, {"corrupt", 4}})
    (*verify.mutable_counts())[kind] = static_cast<uint64_t>(count);
  v1::Mismatch& first = *verify.add_first();
  first.set_file("/mnt/lane-000001.0");
  first.set_offset(512);
  v1::ErrorReport& error = *read.add_errors();
  error.set_file(first.file());
  error.set_offset(512);
  error.set_client("c01");
  read.mutable_clients(0)->set_wrong_sectors(10);
  AddError("read", 0, 6, read);
  AddError("write", 0, 7, read);  // a short write is a full file system, not a loss
  UpdateSoak(read, report);
  read.set_index(3);
  read.set_repetition(1);
  read.mutable_verify()->mutable_first(0)->set_offset(1024);
  UpdateSoak(read, report);
  const v1::SoakLoss& loss = report.soak().loss();
  CHECK(loss.verified_sectors() == 2000);
  CHECK(loss.lost() == 2);
  CHECK(loss.stale() == 4);
  CHECK(loss.torn() == 6);
  CHECK(loss.wrong() == 8);
  CHECK(loss.short_reads() == 12);
  CHECK(loss.first().offset() == 512);
  CHECK(loss.first_client() == "c01");
  CHECK(loss.first_phase() == "read");
  CHECK(loss.first_round() == 1);
  CHECK(report.soak().clients(0).wrong_sectors() == 20);
  CHECK(report.soak().rounds(0).wrong_sectors() == 10);
}

TEST_CASE("errors are summed by kind and errno, in all and for each client") {
  v1::RunReport report = Begun();
  for (uint32_t index = 0; index < 4; ++index) {
    v1::PhaseReport phase = PhaseAt(index, 12 * index, 100);
    AddError(phase.name(), 5, index + 1, phase);
    UpdateSoak(phase, report);
  }
  REQUIRE(report.soak().failed_ops_size() == 2);
  CHECK(report.soak().failed_ops(0).operation() == "write");
  CHECK(report.soak().failed_ops(0).count() == 4);  // 1 and 3
  CHECK(report.soak().failed_ops(1).count() == 6);
  CHECK(report.soak().clients(0).failed_ops(1).count() == 6);
  CHECK(report.soak().rounds(1).failed_ops() == 7);
}

TEST_CASE("the longest pause of a client is told with its time of day and its place in the run") {
  v1::RunReport report = Begun();
  for (const auto& [index, pause_s] : {std::pair{0u, 0.5}, {1u, 4.0}, {2u, 1.5}}) {
    v1::PhaseReport phase = PhaseAt(index, 12 * index, 100);
    v1::PauseReport& pauses = *phase.mutable_clients(0)->mutable_pauses();
    pauses.set_longest_s(pause_s);
    pauses.set_longest_begin_s(2.25);
    pauses.set_part("ops");
    pauses.set_stalls(pause_s >= 1 ? 1 : 0);
    pauses.set_stalled_s(pause_s >= 1 ? pause_s : 0);
    UpdateSoak(phase, report);
  }
  const v1::SoakClient& client = report.soak().clients(0);
  CHECK(client.stalls() == 2);
  CHECK(client.stalled_s() == Approx(5.5));
  CHECK(client.longest().seconds() == 4);
  CHECK(client.longest().at_s() == Approx(14.25));
  CHECK(client.longest().at() == "2026-11-25T10:00:02.250Z");
  CHECK(client.longest().round() == 1);
  CHECK(client.longest().phase() == "read");
  CHECK(report.soak().rounds(0).longest_pause_client() == "c01");
}

// A round of two minutes each; writes change by this much of their first rate in each.
v1::RunReport Rounds(uint32_t count, double change, double noise = 0) {
  v1::RunReport report = Begun();
  for (uint32_t round = 0; round < count; ++round) {
    const double rate = 1000 * (1 + change * round) + noise * (static_cast<int>(round * 7 % 10) - 4.5);
    UpdateSoak(PhaseAt(2 * round, 120 * round, rate), report);
    UpdateSoak(PhaseAt(2 * round + 1, 120 * round + 60, 500), report);
  }
  UpdateSoakTrends(report);
  return report;
}

TEST_CASE("the trend of a rate is relative to its median, over the time that was observed") {
  const v1::RunReport report = Rounds(21, -0.01);  // 1000 to 800, median 900; 200 in 40 minutes
  const v1::SoakTrend& write = report.soak().trends(0);
  CHECK(write.phase() == "write");
  CHECK(write.rounds() == 21);
  CHECK(write.median() == Approx(900));
  CHECK(write.observed_s() == Approx(2400));
  CHECK(write.percent() == Approx(-200.0 / 9));
  CHECK(write.low_percent() == Approx(-200.0 / 9));
  CHECK(write.high_percent() == Approx(-200.0 / 9));
  CHECK(write.verdict() == "falls");
  CHECK(write.first_quarter() == Approx(975));  // of 1000, 990 … 950
  CHECK(write.last_quarter() == Approx(825));
  CHECK(report.soak().trends(1).verdict() == "steady");
  CHECK(Rounds(21, 0.01).soak().trends(0).verdict() == "rises");
}

TEST_CASE("noise has no trend, and few rounds show none") {
  const v1::SoakTrend noisy = Rounds(20, 0.0001, 100).soak().trends(0);
  CHECK(noisy.low_percent() < 0);
  CHECK(noisy.high_percent() > 0);
  CHECK(noisy.verdict() == "not shown");
  const v1::SoakTrend few = Rounds(9, -0.01).soak().trends(0);
  CHECK(few.verdict() == "too few rounds");
  CHECK(std::isnan(few.percent()));
}

TEST_CASE(
    "clients and paths are the same ones in every phase, whichever of them a phase names and in which order") {
  v1::RunReport report = Begun();
  v1::PhaseReport first = PhaseAt(0, 0, 10), second = PhaseAt(1, 12, 10);
  first.add_clients()->set_host("c02");
  second.mutable_clients(0)->set_host("c03");
  second.add_clients()->set_host("c02");
  second.add_clients()->set_host("c01");
  for (v1::PhaseReport* phase : {&first, &second}) {
    for (v1::ClientPhaseReport& client : *phase->mutable_clients()) client.set_wrong_sectors(1);
  }
  for (const char* path : {"/a", "/b"}) first.add_fullness()->set_path(path);
  for (const char* path : {"/b", "/c"}) {
    v1::FullnessReport& seen = *second.add_fullness();
    seen.set_path(path);
    seen.set_percent(50);
  }
  UpdateSoak(first, report);
  UpdateSoak(second, report);
  const v1::SoakReport& soak = report.soak();
  REQUIRE(soak.clients_size() == 3);
  CHECK(soak.clients(0).host() == "c01");
  CHECK(soak.clients(0).wrong_sectors() == 2);
  CHECK(soak.clients(1).wrong_sectors() == 2);
  CHECK(soak.clients(2).host() == "c03");
  CHECK(soak.clients(2).wrong_sectors() == 1);
  REQUIRE(soak.fullness_size() == 3);
  CHECK(soak.fullness(1).path() == "/b");
  CHECK(soak.fullness(1).max_percent() == 50);
  CHECK(soak.fullness(0).max_percent() == 0);
}

TEST_CASE("a round in which a worker was lost or a lane failed has no rate") {
  v1::RunReport report = Begun();
  v1::PhaseReport lost = PhaseAt(0, 0, 10);
  lost.set_workers_lost(1);
  lost.set_not_whole("1 worker lost");
  UpdateSoak(lost, report);
  v1::PhaseReport failed = PhaseAt(1, 12, 10);
  failed.set_lanes_failed(1);
  failed.set_not_whole("1 lane failed");
  v1::WorkerPhaseReport& worker = *failed.mutable_clients(0)->add_workers();
  worker.add_lanes()->set_failed(true);
  worker.add_lanes()->set_failed(true);
  UpdateSoak(failed, report);
  CHECK(std::isnan(report.soak().rounds(0).rates(0)));
  CHECK(std::isnan(report.soak().rounds(0).rates(1)));
  CHECK(report.soak().rounds(0).workers_lost() == 1);
  CHECK(report.soak().clients(0).phases_failed() == 1);
}

TEST_CASE("thousands of rounds are joined for the trend, which stays the same") {
  const v1::SoakTrend trend = Rounds(2500, 0.0001).soak().trends(0);
  CHECK(trend.rounds() == 2500);
  CHECK(trend.verdict() == "rises");
  CHECK(trend.percent() == Approx(100 * 249.9 / 1124.95));
}

TEST_CASE("fullness is that of the first and of the last phase") {
  v1::RunReport report = Begun();
  for (const auto& [index, percent] : {std::pair{0u, 40.0}, {1u, 60.0}, {2u, 55.0}}) {
    v1::PhaseReport phase = PhaseAt(index, 12 * index, 100);
    v1::FullnessReport& seen = *phase.add_fullness();
    seen.set_path("/mnt");
    seen.set_percent(percent);
    UpdateSoak(phase, report);
  }
  REQUIRE(report.soak().fullness_size() == 1);
  CHECK(report.soak().fullness(0).first_percent() == 40);
  CHECK(report.soak().fullness(0).last_percent() == 55);
  CHECK(report.soak().fullness(0).max_percent() == 60);
}

}  // namespace
}  // namespace iobench
