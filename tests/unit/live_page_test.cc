#include "coordinator/live/live_page.h"

#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "catch2/catch.hpp"
#include "common/text/display_text.h"
#include "tests/unit/live_progress.h"

namespace iobench {
namespace {

std::string Joined(const std::vector<PageLine>& lines) {
  std::string text;
  for (const PageLine& line : lines) absl::StrAppend(&text, line.text, "\n");
  return text;
}

struct RunningPage {
  explicit RunningPage(const std::vector<std::string>& hosts) : phase(hosts) {
    page.RunStarts(LiveReport(hosts));
    page.PhasePrepares(phase.At(0));
  }
  std::string Text(const PageSize& size = {.rows = 30, .columns = 100}) {
    return Joined(page.Draw(size, 65));
  }

  LivePage page;
  LivePhase phase;
};

TEST_CASE("the view shows the phase's rate, its progress and the clients, slow ones first") {
  RunningPage run({"fast", "slow"});
  run.phase.Answer(0, 1, 300 << 20, 300);
  run.phase.Answer(1, 1, 100 << 20, 100);
  run.phase.Took(0, 100'000, 299);
  run.phase.Took(1, 1'000'000, 1);
  PhaseProgress progress = run.phase.At(1);
  progress.total_bytes = 1600ull << 20;
  run.page.PhaseMoves(progress);
  const std::string text = run.Text();
  CHECK(absl::StrContains(text, "20260301T101500Z-1   2 clients, 2 workers, 4 lanes   1 min 05 s"));
  CHECK(absl::StrContains(
      text, "1/2 write   400 MiB/s   400 ops/s   4 of 4 lanes   p50 100 us   p99 100 us   max 999 us"));
  CHECK(absl::StrContains(text, "  25 %   left 3 s\n"));
  CHECK(absl::StrContains(text, "max 400 MiB/s"));
  CHECK(absl::StrContains(text, "> write  running\n"));
  CHECK(absl::StrContains(text, "  read   to come\n"));
  CHECK(absl::StrContains(text, "clients 1-2 of 2, slow first  MiB/s  ops/s  p50 us  p99 us  max us  lanes"));
  CHECK(absl::StrContains(text, "     999     999     999 "));
  CHECK(text.find("\nslow ") < text.find("\nfast "));
}

TEST_CASE("a client that does not answer keeps its last rate, and the view says since when") {
  RunningPage run({"a", "b"});
  run.phase.Answer(0, 1, 100 << 20, 100);
  run.phase.Answer(1, 1, 200 << 20, 50);
  run.page.PhaseMoves(run.phase.At(1));
  run.phase.Answer(0, 6, 600 << 20, 600);
  run.page.PhaseMoves(run.phase.At(6));
  const std::string text = run.Text();
  CHECK(absl::StrContains(text, "no answer for 5 s"));
  const size_t of_b = text.find("\nb ");
  REQUIRE(of_b != std::string::npos);
  CHECK(absl::StrContains(text.substr(of_b, text.find('\n', of_b + 1) - of_b), " 200 "));
}

TEST_CASE("the end of a phase shows its result, and its marks and errors below") {
  RunningPage run({"a"});
  v1::PhaseReport report;
  report.set_name("write");
  report.mutable_headline()->set_bytes_per_s(64 << 20);
  report.mutable_latency_us()->set_count(1000);
  report.mutable_latency_us()->set_p50(450);
  report.mutable_latency_us()->set_p99(1500);
  v1::Mark& mark = *report.add_marks();
  mark.set_code("too_short");
  mark.set_subject("phase");
  mark.set_text("use --time 30");
  report.add_errors()->set_message("the disk is gone");
  run.page.PhaseEnds(report);
  const std::string text = run.Text();
  CHECK(absl::StrContains(text, "> write  64 MiB/s   p50 450 us   p99 1.5 ms   ! too_short\n"));
  CHECK(absl::StrContains(text, "! write: too_short: use --time 30\n"));
  CHECK(absl::StrContains(text, "! write: worker 0 lane 0: the disk is gone\n"));
  CHECK(absl::StrContains(text, "1/2 write   ended\n"));
}

TEST_CASE("lost workers are shown above and with their client") {
  RunningPage run({"a", "b"});
  run.phase.clients[1].workers_lost = 2;
  run.phase.Answer(0, 1, 100, 1);
  PhaseProgress progress = run.phase.At(1);
  progress.workers_lost = 2;
  run.page.PhaseMoves(progress);
  const std::string text = run.Text();
  CHECK(absl::StrContains(text, "\n2 workers lost\n"));
  CHECK(text.find("2 workers lost", text.find("slow first")) != std::string::npos);
}

TEST_CASE("the table of clients scrolls, and not beyond its end") {
  std::vector<std::string> hosts;
  for (int i = 0; i < 50; ++i) hosts.push_back(absl::StrCat("c", i));
  RunningPage run(hosts);
  for (size_t i = 0; i < hosts.size(); ++i) run.phase.Answer(i, 1, 1000 * (i + 1), 10);
  run.page.PhaseMoves(run.phase.At(1));
  CHECK(absl::StrContains(run.Text(), "clients 1-"));
  run.page.Scroll(5);
  CHECK(absl::StrContains(run.Text(), "clients 6-"));
  CHECK_FALSE(absl::StrContains(run.Text(), "\nc4 "));
  CHECK(absl::StrContains(run.Text(), "\nc5 "));
  run.page.Scroll(1000);
  CHECK(absl::StrContains(run.Text(), "-50 of 50"));
  run.page.Scroll(-1000);
  CHECK(absl::StrContains(run.Text(), "clients 1-"));
}

TEST_CASE("the phases around the current one are shown where not all fit") {
  LivePage page;
  v1::RunReport report = LiveReport({"a"});
  report.mutable_run()->mutable_plan()->clear_phases();
  for (int i = 0; i < 100; ++i) {
    report.mutable_run()->mutable_plan()->add_phases()->set_name(absl::StrCat("phase-", i));
  }
  page.RunStarts(report);
  LivePhase phase({"a"});
  phase.phase.set_name("phase-60");
  PhaseProgress progress = phase.At(1);
  progress.index = 60;
  progress.phase_count = 100;
  page.PhaseMoves(progress);
  const std::string text = Joined(page.Draw({.rows = 30, .columns = 80}, 1));
  CHECK(absl::StrContains(text, "> phase-60"));
  CHECK(absl::StrContains(text, "  phase-59"));
  CHECK(absl::StrContains(text, "  phase-61"));
  CHECK_FALSE(absl::StrContains(text, "phase-0"));
}

TEST_CASE("a phase that is repeated is called as in every other output") {
  LivePage page;
  v1::RunReport report = LiveReport({"a"});
  v1::Plan& plan = *report.mutable_run()->mutable_plan();
  plan.clear_phases();
  plan.add_phases()->set_name("read");
  plan.set_repetitions(2);
  page.RunStarts(report);
  LivePhase phase({"a"});
  phase.phase.set_name("read");
  PhaseProgress progress = phase.At(1);
  progress.name = "read, 1 of 2";
  page.PhasePrepares(progress);
  page.PhaseMoves(progress);
  const std::string text = Joined(page.Draw({.rows = 30, .columns = 80}, 1));
  CHECK(absl::StrContains(text, "1/2 read, 1 of 2 "));
  CHECK(absl::StrContains(text, "  read, 2 of 2"));
}

TEST_CASE("a page fits every size of terminal, whatever the names") {
  RunningPage run({std::string(300, 'x'), "\xe6\x97\xa5\xe6\x9c\xac\033[31m"});
  run.phase.phase.set_name(std::string(200, 'p'));
  run.phase.Answer(0, 1, 1 << 30, 1000);
  run.page.PhaseMoves(run.phase.At(1));
  for (int i = 0; i < 80; ++i) run.page.AddMessage(std::string(500, 'm'), Tone::kWarning);
  for (const size_t rows : {1u, 2u, 5u, 10u, 24u, 100u}) {
    for (const size_t columns : {10u, 40u, 80u, 200u}) {
      const std::vector<PageLine> lines = run.page.Draw({.rows = rows, .columns = columns}, 1);
      INFO(rows << " rows, " << columns << " columns\n" << Joined(lines));
      CHECK(lines.size() == rows);
      for (const PageLine& line : lines) {
        CHECK(DisplayColumns(line.text) <= columns);
        CHECK(line.text.find('\033') == std::string::npos);
      }
    }
  }
}

TEST_CASE("metadata operations are shown in ops per second, without bytes") {
  RunningPage run({"a"});
  run.phase.phase.mutable_assignments(0)->mutable_operation()->set_name("create");
  run.page.PhasePrepares(run.phase.At(0));
  run.phase.Answer(0, 1, 0, 500);
  run.page.PhaseMoves(run.phase.At(1));
  const std::string text = run.Text();
  CHECK(absl::StrContains(text, "write   500 ops/s"));
  CHECK_FALSE(absl::StrContains(text, "iB/s"));
}

TEST_CASE("a sparkline shows each value relative to the highest one, the newest at the right") {
  CHECK(Sparkline({0, 1, 4, 8}, 10, false) == "__-#");
  CHECK(Sparkline({0, 1, 4, 8}, 2, false) == "-#");
  CHECK(Sparkline({8, NAN, 8}, 10, false) == "# #");
  CHECK(Sparkline({0, 0}, 10, false) == "__");
  CHECK(Sparkline({}, 10, true).empty());
  CHECK(Sparkline({1, 8}, 10, true) == "▁█");
}

TEST_CASE("after an interrupt the view says that it ends") {
  RunningPage run({"a"});
  CHECK(absl::StrContains(run.Text(), "q or Ctrl-C: end the run"));
  run.page.Interrupts();
  CHECK(absl::StrContains(run.Text(), "ending: the results so far are collected"));
}

}  // namespace
}  // namespace iobench
