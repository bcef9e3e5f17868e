// The console report without --verbose.
#include <cmath>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "catch2/catch.hpp"
#include "coordinator/report/console/console_report.h"
#include "tests/unit/console_text.h"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

std::string ConsoleText(const v1::RunReport& report, const ConsoleStyle& style) {
  std::ostringstream out;
  REQUIRE(WriteConsole(report, style, out).ok());
  return out.str();
}

TEST_CASE("the brief console report of the fixed result is as it was looked at") {
  CheckGolden("console_brief.txt", ConsoleText(GoldenReport(), Brief()));
}

TEST_CASE("a brief page has the latencies beside the headline, and no figures that only explain it") {
  const v1::RunReport report = GoldenReport();
  const std::string text = ConsolePhase(report, report.phases(1), Brief());
  CHECK(LinesOf(text)[1] == "read          1.07 GiB/s   stonewalled (ops+close)   17,600 ops/s");
  CHECK(LinesOf(text)[2] == "              p50 50 us   p95 ~72 us   p99 ~90 us");
  CHECK(Contains(text, "\n  moved       11 MiB in 10 ms, and 1 MiB after it, not counted\n"));
  for (const char* label : {"windows", "regions", "tool", "lanes ", "latency", "before", "stonewall "}) {
    CHECK_FALSE(Contains(text, absl::StrCat("\n  ", label)));
  }
  CHECK_FALSE(Contains(text, "of mean  "));
}

TEST_CASE("a brief page keeps what makes the figure doubtful: errors, marks, stragglers, a skewed start") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(0);
  const std::string text = ConsolePhase(report, phase, Brief());
  CHECK(Contains(text, "\n  errors      "));
  CHECK(Contains(text, "\n  ! marks     partial; too_short; retransmits on n"));
  CHECK(Contains(text, "\n  slow lanes  "));
  CHECK_FALSE(Contains(text, "\n  stragglers  "));
  CHECK_FALSE(Contains(text, "\n  start "));
  phase.set_straggler_cost(0.2);
  phase.mutable_throughput_bytes_per_s()->set_full(48 << 20);
  phase.mutable_start()->set_skew_percent(1.5);
  const std::string doubtful = ConsolePhase(report, phase, Brief());
  CHECK(Contains(doubtful, "\n  stragglers  until the last lane ended: 48 MiB/s, 20 % less\n"));
  CHECK(Contains(doubtful, "\n  start       skew 85 us"));
  // The mark says it already.
  phase.add_marks()->set_code("skewed_start");
  CHECK_FALSE(Contains(ConsolePhase(report, phase, Brief()), "\n  start "));
}

TEST_CASE("a brief page names the slowest and the fastest client in place of the table") {
  const v1::RunReport report = GoldenReport();
  CHECK(
      Contains(ConsolePhase(report, report.phases(1), Brief()),
               "\n  clients     slowest n\303\266rd, \"zwei\"??[31m 350 MiB/s (64 % of mean)\n              "
               "fastest node01 750 MiB/s (136 % of mean)\n"));
  CHECK_FALSE(Contains(ConsolePhase(report, report.phases(2), Brief()), "\n  client"));
}

TEST_CASE("a client without a rate is neither the slowest nor the fastest") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(1);
  const v1::ClientPhaseReport one = phase.clients(0);
  phase.clear_clients();
  for (const double mib_per_s : {200.0, 300.0, std::nan(""), 100.0, std::nan("")}) {
    v1::ClientPhaseReport& client = *phase.add_clients();
    client = one;
    client.set_host(absl::StrCat("c", phase.clients_size()));
    client.set_bytes_per_s(mib_per_s * (1 << 20));
    client.set_share_of_mean(std::nan(""));
  }
  CHECK(Contains(ConsolePhase(report, phase, Brief()),
                 "\n  clients     slowest c4 100 MiB/s   fastest c2 300 MiB/s\n"));
  phase.mutable_clients()->DeleteSubrange(1, 4);
  phase.add_clients()->set_bytes_per_s(std::nan(""));
  CHECK_FALSE(Contains(ConsolePhase(report, phase, Brief()), "\n  clients"));
}

TEST_CASE("what limited a phase is said in both details, where it is known") {
  v1::RunReport report = GoldenReport();
  for (v1::PhaseReport& phase : *report.mutable_phases()) phase.clear_limited_by();
  CHECK_FALSE(Contains(ConsoleText(report, Brief()), "limited by"));
  report.mutable_phases(0)->set_limited_by("client CPU: lab\0331 98 %");
  for (const ConsoleStyle& style : {Brief(), ConsoleStyle{}}) {
    CHECK(Contains(ConsoleText(report, style), "\n  limited by  client CPU: lab?1 98 %\n"));
  }
}

TEST_CASE("only full detail says what to try, and names a second limit") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(0);
  phase.clear_limits();
  phase.set_limited_by("server CPU: filer1 97 %");
  for (const char* evidence : {"server CPU: filer1 97 %", "locks: 40 % of\033 time"}) {
    v1::Limit& limit = *phase.add_limits();
    limit.set_evidence(evidence);
    limit.set_advice("less work");
    limit.set_source("mpstat(1)");
  }
  const std::string brief = ConsolePhase(report, phase, Brief());
  CHECK(Contains(brief, "\n  limited by  server CPU: filer1 97 %\n"));
  CHECK_FALSE(Contains(brief, "also by"));
  CHECK_FALSE(Contains(brief, "try: "));
  CHECK(Contains(ConsolePhase(report, phase, ConsoleStyle{}),
                 "\n  limited by  server CPU: filer1 97 %\n              try: less work (mpstat(1))\n"
                 "  also by     locks: 40 % of? time\n              try: less work (mpstat(1))\n"));
}

TEST_CASE("a brief header leaves out the clients' facts, and what happens to ordinary data") {
  v1::RunReport report = GoldenReport();
  const std::string text = ConsoleHeader(report, Brief());
  CHECK_FALSE(Contains(text, "processors"));
  CHECK_FALSE(Contains(text, "\n  data "));
  CHECK(Contains(text, "vers=4.2, rsize=1048576"));
  report.mutable_run()->mutable_plan()->set_keep_data(true);
  CHECK(Contains(ConsoleHeader(report, Brief()), "kept at the end"));
}

TEST_CASE("the sign of an unsure percentile is explained only where it is shown") {
  v1::RunReport report = GoldenReport();
  for (v1::PhaseReport& phase : *report.mutable_phases()) {
    phase.mutable_latency_us()->clear_unsure();
    phase.mutable_latency_us()->add_unsure("p99_9");
  }
  CHECK(Contains(ConsoleFooter(report, ConsoleStyle{}), "fewer than 100 ops"));
  CHECK_FALSE(Contains(ConsoleFooter(report, Brief()), "fewer than 100 ops"));
  report.mutable_phases(0)->mutable_latency_us()->add_unsure("p99");
  CHECK(Contains(ConsoleFooter(report, Brief()), "fewer than 100 ops"));
}

TEST_CASE("a footer that has nothing else to say is the verdict") {
  v1::RunReport report = GoldenReport();
  report.mutable_phases()->DeleteSubrange(1, 2);
  report.mutable_phases(0)->mutable_latency_us()->clear_unsure();
  report.clear_repetitions();
  report.clear_notes();
  report.mutable_run()->clear_problems();
  report.mutable_run()->set_finished(true);
  v1::PhaseReport& phase = *report.mutable_phases(0);
  phase.clear_marks();
  phase.clear_not_whole();
  for (v1::ClientPhaseReport& client : *phase.mutable_clients()) client.clear_marks();
  CHECK(ConsoleFooter(report, Brief()) == "\n  verdict     no figure has a mark\n");
}

}  // namespace
}  // namespace iobench
