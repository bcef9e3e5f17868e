// Figures on the console are rounded and aligned such that no reader takes them for a fault of the tool.
#include <cmath>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "common/text/units.h"
#include "coordinator/report/console/console_report.h"
#include "coordinator/report/text/column_unit.h"
#include "coordinator/report/text/console_words.h"
#include "tests/unit/console_text.h"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

std::string PhaseText(const v1::RunReport& report, int phase) {
  return ConsolePhase(report, report.phases(phase), ConsoleStyle{false, 200});
}

TEST_CASE("all figures of a column are in the unit in which the smallest still shows") {
  const double rates[] = {1.31 * 0x1p30, 6.5 * 0x1p30};
  const ColumnUnit gib = ColumnUnit::OfBytesPerSecond(rates);
  CHECK(gib.name() == "GiB/s");
  CHECK(gib.Text(rates[0]) == "1.31");
  CHECK(gib.Text(rates[1]) == "6.5");
  const double wide[] = {1.31 * 0x1p30, 676 * 0x1p20, 0};
  const ColumnUnit mib = ColumnUnit::OfBytesPerSecond(wide);
  CHECK(mib.name() == "MiB/s");
  CHECK(mib.Text(wide[0]) == "1,341");
  CHECK(mib.Text(0) == "0");
  CHECK(mib.Text(NAN) == "-");
  // 1 KiB/s beside 100 GiB/s: neither 104,857,600 KiB/s nor 102,400 MiB/s would be readable.
  const double extreme[] = {100 * 0x1p30, 0x1p10};
  const ColumnUnit readable = ColumnUnit::OfBytesPerSecond(extreme);
  CHECK(readable.name() == "GiB/s");
  CHECK(readable.Text(extreme[1]) == "0.00000095");
  const double seconds[] = {42e-6, 1.5e-3};
  CHECK(ColumnUnit::OfSeconds(seconds).name() == "us");
  CHECK(ColumnUnit::OfSeconds(seconds).Text(1.5e-3) == "1,500");
  CHECK(ColumnUnit::OfSeconds({}).Text(0) == "0");
}

TEST_CASE("tables have one unit a column, and name it in its title") {
  v1::RunReport report = GoldenReport();
  report.mutable_phases(0)->mutable_clients(0)->set_bytes_per_s(2 * 0x1p30);
  report.mutable_phases(0)->mutable_clients(1)->set_bytes_per_s(300 * 0x1p20);
  const std::string page = PhaseText(report, 0);
  CHECK(Contains(page, "workers  lanes  MiB/s  of mean"));
  CHECK(Contains(page, "1      2  2,048 "));
  CHECK(Contains(page, "2      2    300 "));
  const std::string footer = ConsoleFooter(report, ConsoleStyle{});
  CHECK(Contains(footer, "phase        MiB/s   ops/s  region      p50 us  p95 us  p99 us  marks\n"));
  CHECK(Contains(footer, "\n  read         1,100  17,600  ops+close"));
}

TEST_CASE("stragglers cost something or are not spoken of") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(1);
  for (const double cost : {-0.003, -1e-6, 0.0, 1e-6}) {
    phase.set_straggler_cost(cost);
    CHECK_FALSE(Contains(PhaseText(report, 1), "stragglers"));
  }
  phase.set_straggler_cost(0.25);
  CHECK(Contains(PhaseText(report, 1), "; stragglers cost 25 %\n"));
  while (phase.clients_size() > 1) phase.mutable_clients()->RemoveLast();
  while (phase.clients(0).workers(0).lanes_size() > 1) {
    phase.mutable_clients(0)->mutable_workers(0)->mutable_lanes()->RemoveLast();
  }
  CHECK_FALSE(Contains(PhaseText(report, 1), "stragglers"));  // one lane has none
}

TEST_CASE("no figure is a rate of nothing or a percentage below nothing") {
  CHECK(Percent(-1e-6) == "0 %");
  CHECK(OpsPerSecond(NAN) == "-");
  v1::RunReport report = GoldenReport();
  report.mutable_phases(0)->mutable_headline()->set_ops_per_s(NAN);
  const std::string text = PhaseText(report, 0);
  CHECK(Contains(text, "write         60 MiB/s   stonewalled (ops+fsync+close)\n"));
  CHECK_FALSE(Contains(text, "- ops/s"));
}

TEST_CASE("the head counts the bytes of files once, where lanes share their worker's") {
  v1::RunReport report = GoldenReport();
  v1::Plan& plan = *report.mutable_run()->mutable_plan();
  plan.mutable_files()->set_bytes_per_lane(48_MiB);
  plan.set_lanes_per_worker(5);
  report.mutable_run()->set_worker_count(1);
  plan.clear_phases();
  for (const bool seeks : {false, true}) {
    v1::Phase& phase = *plan.add_phases();
    v1::Operation& operation = *phase.add_assignments()->mutable_operation();
    operation.set_name(seeks ? "seeks" : "write");
    operation.set_first_lane_files(seeks);
    if (!seeks) phase.set_lanes_per_worker(1);
  }
  CHECK(Contains(ConsoleHeader(report, ConsoleStyle{}), "files       48 MiB per lane, 48 MiB in all"));
  plan.mutable_phases(1)->mutable_assignments(0)->mutable_operation()->set_first_lane_files(false);
  CHECK(Contains(ConsoleHeader(report, ConsoleStyle{}), "48 MiB per lane, 240 MiB in all"));
  plan.mutable_phases(1)->mutable_assignments(0)->mutable_operation()->set_name("write");
  report.mutable_run()->set_worker_count(4);
  plan.mutable_phases(1)->mutable_assignments(0)->mutable_who()->add_workers(2);
  plan.mutable_phases(0)->mutable_assignments(0)->mutable_who()->add_workers(0);
  CHECK(Contains(ConsoleHeader(report, ConsoleStyle{}), "48 MiB per lane, 240 MiB in all"));
}

TEST_CASE("the head names the operations of a phase whose lanes share files if others of it do not") {
  v1::RunReport report = GoldenReport();
  v1::Plan& plan = *report.mutable_run()->mutable_plan();
  plan.clear_phases();
  v1::Phase& phase = *plan.add_phases();
  phase.set_name("night");
  for (const char* const name : {"write", "seeks"}) {
    v1::Assignment& part = *phase.add_assignments();
    part.mutable_operation()->set_name(name);
    part.mutable_operation()->set_first_lane_files(true);
    part.mutable_who()->add_workers(static_cast<uint32_t>(phase.assignments_size()) - 1);
  }
  CHECK(Contains(ConsoleHeader(report, ConsoleStyle{false, 200}), "; in night, all lanes of a worker"));
  phase.mutable_assignments(0)->mutable_operation()->set_first_lane_files(false);
  CHECK(Contains(ConsoleHeader(report, ConsoleStyle{false, 200}),
                 "; in night (only seeks), all lanes of a worker"));
}

TEST_CASE("writes of small files say that creating them was not timed, and what does time it") {
  v1::RunReport report = GoldenReport();
  v1::Plan& plan = *report.mutable_run()->mutable_plan();
  plan.mutable_files()->set_bytes_per_lane(64_KiB);
  plan.mutable_files()->set_files_per_lane(16);
  CHECK(Contains(PhaseText(report, 0), "`--op create --items 16 --file-bytes 4k`"));
  CHECK_FALSE(Contains(PhaseText(report, 1), "--op create"));  // reads
  plan.mutable_files()->set_bytes_per_lane(64_MiB);
  CHECK_FALSE(Contains(PhaseText(report, 0), "--op create"));  // 4 MiB each: the data take longer
  plan.mutable_files()->set_bytes_per_lane(64_KiB);
  plan.mutable_files()->set_files_per_lane(1);
  CHECK_FALSE(Contains(PhaseText(report, 0), "--op create"));
}

TEST_CASE("on NFS a line tells of the requests, of other file systems there is none") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(1);
  phase.clear_nfs_rpc();
  CHECK_FALSE(Contains(PhaseText(report, 1), "\n  nfs "));
  v1::NfsRpcReport& rpc = *phase.mutable_nfs_rpc();
  rpc.set_rpcs(12345);
  rpc.set_queue_ms(0.12);
  rpc.set_round_trip_ms(2.5);
  rpc.set_retransmissions(1);
  CHECK(Contains(PhaseText(report, 1),
                 "  nfs         12,345 RPCs (READ, WRITE, COMMIT)   queue 120 us   round trip 2.5 ms   "
                 "1 retransmission\n"));
  rpc.set_major_timeouts(2);
  CHECK(Contains(PhaseText(report, 1), "1 retransmission   2 major timeouts\n"));
  rpc.set_rpcs(0);
  CHECK(Contains(PhaseText(report, 1), "  nfs         no READ, WRITE or COMMIT was sent to a server\n"));
}

TEST_CASE("flush calls have lines of their own, on a brief page if there are many") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(1);
  v1::KindReport& call = (*phase.mutable_by_kind())["fdatasync"];
  call.set_ops(99);
  call.mutable_latency_us()->set_count(99);
  call.mutable_latency_us()->set_p50(1500);
  call.mutable_latency_us()->set_p99(9000);
  const std::string all = PhaseText(report, 1);
  CHECK(Contains(all, "\n  fdatasync   99 calls   p50 1.5 ms"));
  CHECK_FALSE(Contains(all, "\n  reads "));  // the only kind of op, whose figures are those of the phase
  CHECK_FALSE(Contains(ConsolePhase(report, phase, Brief()), "fdatasync"));
  call.set_ops(100);
  CHECK(Contains(ConsolePhase(report, phase, Brief()), "\n  fdatasync   100 calls   p50 1.5 ms"));
}

TEST_CASE("the kernel's COMMITs stand under the flush calls that waited for them, and only there") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(1);
  v1::NfsKindReport& commits = (*phase.mutable_nfs_rpc()->mutable_kinds())["COMMIT"];
  commits.set_rpcs(7);
  commits.set_execute_ms(2.5);
  commits.set_queue_ms(0.5);
  commits.set_round_trip_ms(1.75);
  const char* const line = "COMMIT by the kernel: 7 requests   mean 2.5 ms   of it queue 500 us   round trip 1.75 ms\n";
  CHECK_FALSE(Contains(PhaseText(report, 1), "COMMIT by the kernel"));
  v1::KindReport& call = (*phase.mutable_by_kind())["fsync"];
  call.set_ops(100);
  call.mutable_latency_us()->set_count(100);
  CHECK(Contains(PhaseText(report, 1), line));
  CHECK(Contains(ConsolePhase(report, phase, Brief()), "COMMIT by the kernel: 7 requests   mean 2.5 ms"));
  call.set_ops(99);
  CHECK_FALSE(Contains(ConsolePhase(report, phase, Brief()), "COMMIT by the kernel"));
  commits.set_rpcs(0);
  CHECK_FALSE(Contains(PhaseText(report, 1), "COMMIT by the kernel"));
}

TEST_CASE("with all details, each kind of request stands beside the ops that it serves") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(1);
  phase.clear_nfs_rpc();
  phase.clear_by_kind();
  v1::KindReport& reads = (*phase.mutable_by_kind())["read"];
  reads.mutable_latency_us()->set_count(1000);
  reads.mutable_latency_us()->set_mean(900);
  v1::NfsRpcReport& rpc = *phase.mutable_nfs_rpc();
  rpc.set_rpcs(2000);
  v1::NfsKindReport& read = (*rpc.mutable_kinds())["READ"];
  read.set_rpcs(2000);
  read.set_rpcs_per_op(2);
  read.set_queue_ms(0.1);
  read.set_round_trip_ms(0.5);
  read.set_execute_ms(0.7);
  read.set_errors(3);
  rpc.set_read_bytes_per_rpc(32768);
  rpc.set_rsize_bytes(1_MiB);
  rpc.set_write_bytes_per_rpc(std::nan(""));
  rpc.set_commits_per_write(std::nan(""));
  rpc.set_rpcs_per_op(2.5);
  rpc.set_connections(4);
  rpc.set_in_flight(3.5);
  rpc.set_backlog(0.25);
  rpc.set_max_slots(16);
  rpc.set_connection_cov(0.125);
  rpc.set_delays(2);
  const std::string text = PhaseText(report, 1);
  CHECK(Contains(
      text,
      "READ 2,000   2 per op   queue 100 us   round trip 500 us   execute 700 us   our read mean 900 us"));
  CHECK(Contains(text, "3 errors"));
  CHECK(Contains(text, "32 KiB per READ (rsize 1 MiB)   2.5 RPCs of all kinds per op\n"));
  CHECK(
      Contains(text, "4 connections   3.5 RPCs in flight   0.25 waiting for a slot   most slots in use 16"));
  CHECK(Contains(text, "sends vary by 12.5 % between connections"));
  CHECK(Contains(text, "2 delays"));
}

TEST_CASE(
    "where reads came from is said if some came from the clients' memory, and always with all details") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(1);
  v1::ReadSources& sources = *phase.mutable_read_sources();
  sources.set_asked_bytes(1000_MiB);
  sources.set_server_bytes(1000_MiB);
  sources.set_files_to_memory(0.5);
  const auto brief = [&] { return ConsolePhase(report, report.phases(1), {.detail = Detail::kBrief}); };
  CHECK(Contains(PhaseText(report, 1), "read from   server 1,000 MiB (100 %); the files are 50 %"));
  CHECK_FALSE(Contains(brief(), "read from"));
  sources.set_server_bytes(750_MiB);
  sources.set_cache_bytes(250_MiB);
  CHECK(Contains(brief(), "read from   server 750 MiB (75 %), client's memory 250 MiB (25 %)"));
  sources.set_cache_bytes(0);
  sources.set_hole_bytes(250_MiB);
  sources.set_server_disk_bytes(50_MiB);
  sources.set_server_memory_bytes(700_MiB);
  CHECK(Contains(brief(), "read from   server's memory 700 MiB (70 %), server's disk 50 MiB (5 %), holes 250 MiB"));
  sources.Clear();
  sources.set_asked_bytes(10_MiB);
  sources.set_unknown_bytes(10_MiB);
  CHECK_FALSE(Contains(brief(), "read from"));
  phase.add_marks()->set_code("maybe_cached");
  CHECK(Contains(brief(), "read from   not known 10 MiB (100 %)"));
}

TEST_CASE("--cold has a line with what is known of the clients and of the server") {
  v1::RunReport report = GoldenReport();
  v1::ColdReport& cold = *report.mutable_phases(1)->mutable_cold();
  cold.set_clients("not cold: at most 43.0 % of a client's reads came from its memory");
  cold.set_server("unknown: drop it");
  CHECK(Contains(PhaseText(report, 1), "cold        not cold: at most 43.0 %"));
  CHECK(Contains(PhaseText(report, 1), "server cache: unknown: drop it"));
}

TEST_CASE("the header has where clients differ, on a brief page only the first lines") {
  v1::RunReport report = GoldenReport();
  for (int i = 0; i < 6; ++i) {
    v1::ClientDifference& difference = *report.add_differences();
    difference.set_what("setting" + std::to_string(i));
    difference.set_usual("2");
    difference.set_usual_clients(7);
    difference.set_value("128");
    difference.add_clients("node01");
  }
  const std::string full = ConsoleHeader(report, {});
  CHECK(Contains(full, "  differ      setting0 is 128 on node01, 2 on 7 other clients\n"));
  CHECK(Contains(full, "setting5 is 128"));
  const std::string brief = ConsoleHeader(report, {.detail = Detail::kBrief});
  CHECK(Contains(brief, "setting3 is 128"));
  CHECK_FALSE(Contains(brief, "setting4"));
  CHECK(Contains(brief, "and 2 more in result.json"));
}

TEST_CASE("marks whose texts differ from lane to lane are not a page of their own") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(2);
  for (int i = 0; i < 1000; ++i) {
    v1::Mark& mark = *phase.add_marks();
    mark.set_code("stalled");
    mark.set_subject("node01 worker 0 lane " + std::to_string(i));
    mark.set_text("no op ended from " + std::to_string(i) + " s on");
  }
  const std::string text = PhaseText(report, 2);
  CHECK(Contains(text, "stalled on node01 worker 0 lane 2: no op ended from 2 s on"));
  CHECK_FALSE(Contains(text, "from 3 s on"));
  CHECK(Contains(text, "! mark      stalled on 997 more; all are in result.json\n"));
}

TEST_CASE("a phase has one name, that of its row in the CSV") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(0);
  phase.set_title("initial write");
  CHECK(PhaseTitle(report, phase) == "write");
  phase.set_name("write 64k/4k");
  CHECK(PhaseTitle(report, phase) == "write 64k/4k");
  phase.set_name("nightly");
  CHECK(PhaseTitle(report, phase) == "nightly (write)");
  CHECK(PhaseNameAlone(report, phase) == "nightly");
}

TEST_CASE("a phase that is missing has its name in the run, too") {
  v1::RunReport report;
  v1::MissingPhase missing;
  missing.set_index(3);
  missing.set_repetition(1);
  missing.set_name("read");
  missing.set_file("raw/phase-003.pb");
  missing.set_problem("missing");
  report.mutable_run()->mutable_plan()->set_repetitions(1);
  CHECK(MissingPhaseText(report, missing) == "phase 4, read: raw/phase-003.pb: missing");
  report.mutable_run()->mutable_plan()->set_repetitions(5);
  CHECK(MissingPhaseText(report, missing) == "phase 4, read, 2 of 5: raw/phase-003.pb: missing");
}

}  // namespace
}  // namespace iobench
