// The answer on the console: the verdict, each mark once, and repetitions as one row.
#include "coordinator/report/console/console_verdict.h"

#include <catch2/catch.hpp>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "coordinator/analysis/across/repeat.h"
#include "coordinator/report/console/console_report.h"
#include "tests/unit/console_text.h"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

// A run that has ended, with these phases, each measured so often.
class MeasuredRun {
 public:
  MeasuredRun(std::initializer_list<const char*> names, uint32_t repetitions) {
    report_.mutable_run()->set_finished(true);
    v1::Plan& plan = *report_.mutable_run()->mutable_plan();
    plan.set_repetitions(repetitions);
    for (const char* const name : names) {
      v1::Phase& phase = *plan.add_phases();
      phase.set_name(name);
      phase.add_assignments()->mutable_operation()->set_name(name);
    }
    for (uint32_t repetition = 0; repetition < repetitions; ++repetition) {
      for (const char* const name : names) {
        v1::PhaseReport& phase = *report_.add_phases();
        phase.set_index(static_cast<uint32_t>(report_.phases_size() - 1));
        phase.set_repetition(repetition);
        phase.set_name(name);
        phase.set_operation(name);
        phase.set_ops(10);
        phase.mutable_headline()->set_name("full");
        phase.mutable_headline()->set_region("ops");
        phase.mutable_headline()->set_bytes_per_s((100.0 + repetition) * (1 << 20));
      }
    }
  }
  MeasuredRun& Marked(int phase, const char* code, const std::string& text) {
    v1::Mark& mark = *report_.mutable_phases(phase)->add_marks();
    mark.set_code(code);
    mark.set_subject("phase");
    mark.set_text(text);
    return *this;
  }
  v1::RunReport& report() { return report_; }
  std::string Footer() {
    report_.clear_repetitions();
    const std::vector<v1::PhaseReport> phases(report_.phases().begin(), report_.phases().end());
    for (v1::RepetitionReport& each : SummarizeRepetitions(phases)) *report_.add_repetitions() = std::move(each);
    return ConsoleFooter(report_, Brief());
  }

 private:
  v1::RunReport report_;
};

TEST_CASE("the verdict names the phases that are invalid or doubtful, and says so if there is none") {
  MeasuredRun run({"write", "read", "reread"}, 1);
  CHECK(Contains(run.Footer(), "\n  verdict     no figure has a mark\n"));
  run.Marked(0, "stalled", "it stood still");
  CHECK(Contains(run.Footer(), "\n  verdict     no figure is in doubt; notes on write\n"));
  run.Marked(1, "too_short", "longer").Marked(2, "partial", "a lane failed");
  CHECK(Contains(run.Footer(), "\n  verdict     invalid: reread; doubtful: read\n"));
  run.Marked(0, "too_short", "longer").Marked(2, "too_short", "longer");
  run.report().mutable_run()->set_finished(false);
  CHECK(Contains(run.Footer(), "\n  verdict     the run did not finish; invalid: reread; doubtful: write, read\n"));
}

TEST_CASE("a mark's text is there once, with the phases that it concerns, the worst first") {
  MeasuredRun run({"write", "read"}, 1);
  run.Marked(0, "stalled", "it stood still").Marked(0, "too_short", "use a larger -s").Marked(1, "too_short", "use a larger -s");
  run.Marked(1, "partial", "a lane failed");
  const std::string text = run.Footer();
  CHECK(Contains(text, "\n  ! invalid   partial in read: a lane failed\n  ! doubtful  too_short in all phases: use a larger -s\n"
                       "  note        stalled in write: it stood still\n"));
  const v1::RunReport& report = run.report();
  CHECK(Contains(ConsolePhase(report, report.phases(1), Brief()), "\n  ! marks     too_short; partial\n"));
  CHECK_FALSE(Contains(ConsolePhase(report, report.phases(1), Brief()), "use a larger -s"));
}

TEST_CASE("texts that differ between phases have the first as an example") {
  MeasuredRun run({"write", "read"}, 1);
  run.Marked(0, "too_short", "only 1 s").Marked(1, "too_short", "only 2 s");
  CHECK(Contains(run.Footer(), "too_short in all phases; for example: only 1 s\n"));
}

TEST_CASE("two thousand repetitions are a row, and their marks are counted") {
  MeasuredRun run({"write", "read"}, 2000);
  for (int i = 0; i < 4000; i += 4) run.Marked(i, "too_short", "use a larger -s");
  const v1::RunReport& report = run.report();
  std::string text = ConsoleHeader(report, Brief());
  for (const v1::PhaseReport& phase : report.phases())
    text += ConsolePhase(report, phase, Brief(), PagesFor(report.run().plan()));
  text += run.Footer();
  CHECK(LinesOf(text).size() < 30);
  CHECK(Contains(text, "\n  measured    write, read, each 2,000 times\n"));
  CHECK(Contains(text, "too_short in write (1,000 of 2,000): use a larger -s\n"));
  CHECK(Contains(text, "\n  repeated  times  unit"));
}

TEST_CASE("the figure of the first repetition is there if the run ended with it") {
  MeasuredRun run({"write"}, 50);
  run.report().mutable_phases()->DeleteSubrange(1, 49);
  run.report().mutable_run()->set_finished(false);
  CHECK(Contains(run.Footer(), "\n  write, 1 of 50    100 "));
}

TEST_CASE("of repetitions that fail alike the first three are shown") {
  MeasuredRun run({"write"}, 100);
  size_t shown = 0;
  for (v1::PhaseReport& phase : *run.report().mutable_phases()) {
    phase.set_not_whole("1 lane failed");
    phase.add_errors()->set_message("the disk is on fire");
  }
  for (const v1::PhaseReport& phase : run.report().phases())
    shown += ConsolePhase(run.report(), phase, Brief(), Pages::kRepeated).empty() ? 0 : 1;
  CHECK(shown == 3);
  CHECK(Contains(run.Footer(), "invalid: write (100 of 100)"));
}

TEST_CASE("the report of a finished run has the answer before its phases") {
  std::ostringstream out;
  REQUIRE(WriteConsole(GoldenReport(), Brief(), out).ok());
  const std::string text = out.str();
  const size_t verdict = text.find("\n  verdict "), table = text.find("\nsummary\n"), mark = text.find("\n  ! doubtful"),
               phase = text.find("\nwrite  ");
  CHECK(text.find("\n  target ") < text.find("\n  measured "));
  CHECK(text.find("\n  measured ") < verdict);
  CHECK(verdict < table);
  CHECK(table < mark);
  CHECK(mark < phase);
  CHECK(phase != std::string::npos);
}

}  // namespace
}  // namespace iobench
