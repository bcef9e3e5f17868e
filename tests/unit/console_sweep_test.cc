#include "coordinator/report/console/console_sweep.h"

#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/text/units.h"
#include "coordinator/analysis/across/surfaces.h"
#include "coordinator/analysis/across/worker_scaling.h"
#include "coordinator/report/console/console_report.h"
#include "tests/unit/console_text.h"

namespace iobench {
namespace {

// A run of phases, each measured at once: rates in KiB/s.
class SweepRun {
 public:
  SweepRun& Phase(const char* operation, uint32_t lanes, uint64_t bytes, uint64_t record_bytes,
                  double kib_per_s) {
    v1::Phase& phase = *report_.mutable_run()->mutable_plan()->add_phases();
    phase.set_name(absl::StrCat(operation, " ", bytes, "/", record_bytes, ", ", lanes));
    phase.set_lanes_per_worker(lanes);
    phase.mutable_files()->set_bytes_per_lane(bytes);
    v1::Operation& planned = *phase.add_assignments()->mutable_operation();
    planned.set_name(operation);
    planned.set_record_bytes(record_bytes);
    v1::PhaseReport& measured = *report_.add_phases();
    measured.set_index(static_cast<uint32_t>(report_.phases_size() - 1));
    measured.set_name(phase.name());
    measured.set_ops(10);
    measured.mutable_headline()->set_bytes_per_s(kib_per_s * 1024);
    return *this;
  }
  SweepRun& Marked(const char* code) {
    v1::Mark& mark = *report_.mutable_phases(report_.phases_size() - 1)->add_marks();
    mark.set_code(code);
    mark.set_subject("phase");
    mark.set_text("mend it");
    return *this;
  }
  v1::RunReport& report() { return report_; }
  v1::Plan& plan() { return *report_.mutable_run()->mutable_plan(); }
  std::string Footer(size_t width_columns = 100) {
    UpdateWorkerScaling(report_);
    UpdateSurfaces(report_);
    return ConsoleFooter(report_, {false, width_columns});
  }

 private:
  v1::RunReport report_;
};

TEST_CASE("sizes go down and records across, a table for each operation") {
  SweepRun run;
  run.Phase("write", 1, 64_KiB, 4_KiB, 1000).Phase("read", 1, 64_KiB, 4_KiB, 3000);
  run.Phase("write", 1, 1_MiB, 4_KiB, 1500).Phase("read", 1, 1_MiB, 4_KiB, 3500);
  run.Phase("write", 1, 1_MiB, 1_MiB, 12345).Phase("read", 1, 1_MiB, 1_MiB, 4500);
  // After the verdict.
  const std::string text = run.Footer();
  const std::vector<std::string> lines = LinesOf(text.substr(text.find("\n\nwrite") + 1));
  const std::vector<std::string> expected = {
      "",
      "write, KiB/s",
      "  size \\ record     4k      1m",
      "            64k  1,000",
      "             1m  1,500  12,345",
      "",
      "read, MiB/s",
      "  size \\ record    4k    1m",
      "            64k  2.93",
      "             1m  3.42  4.39",
  };
  REQUIRE(lines.size() > expected.size());
  for (size_t i = 0; i < expected.size(); ++i) REQUIRE(lines[i] == expected[i]);
  REQUIRE_FALSE(Contains(run.Footer(), "summary"));
}

TEST_CASE("lanes go down and operations across where nothing else changes") {
  SweepRun run;
  for (const uint32_t lanes : {1, 2, 4}) {
    run.Phase("write", lanes, 64_KiB, 4_KiB, 100.0 * lanes)
        .Phase("read", lanes, 64_KiB, 4_KiB, 200.0 * lanes);
  }
  const std::string text = run.Footer();
  REQUIRE(Contains(text, "lanes per worker by operation, KiB/s"));
  REQUIRE(Contains(text, "  lanes  write  read\n      1    100   200\n"));
  REQUIRE(Contains(text, "\n      4    400   800\n"));
}

TEST_CASE("with several lanes and several records each number of lanes has a table of its own") {
  for (const uint64_t last_record : {8_KiB, 16_KiB}) {
    SweepRun run;
    for (const uint32_t lanes : {1u, 2u}) {
      for (uint64_t record = 4_KiB; record <= last_record; record *= 2) {
        run.Phase("write", lanes, 64_KiB, record, 100.0 * lanes + static_cast<double>(record / 1024));
      }
    }
    const std::string text = run.Footer();
    const std::string last = last_record == 16_KiB ? "  116" : "";
    REQUIRE(Contains(text, "\nwrite, KiB/s, 1 lane per worker\n  size \\ record"));
    REQUIRE(Contains(text, "            64k  104  108" + last + "\n"));
    REQUIRE(Contains(text, "\nwrite, KiB/s, 2 lanes per worker\n  size \\ record"));
    REQUIRE(Contains(text, "            64k  204  208"));
    REQUIRE_FALSE(Contains(text, "by operation"));
  }
}

TEST_CASE("one size for each number of lanes is in the table of lanes") {
  SweepRun run;
  for (const uint32_t lanes : {1u, 2u}) {
    run.Phase("write", lanes, 64_KiB / lanes, 4_KiB, 100.0 * lanes)
        .Phase("read", lanes, 64_KiB / lanes, 8_KiB, 200.0 * lanes);
  }
  REQUIRE(Contains(run.Footer(), "  lanes  write  read\n      1    100   200\n      2    200   400\n"));
}

TEST_CASE("workers go down with their clients, what a client has of the rate, and how it scales") {
  SweepRun run;
  run.report().mutable_run()->set_worker_count(4);
  for (const uint32_t workers : {1u, 2u, 4u}) {
    run.Phase("write", 1, 1_MiB, 64_KiB, 1024 * (workers == 4 ? 300 : 100 * workers));
    v1::Phase& planned = *run.plan().mutable_phases(run.plan().phases_size() - 1);
    v1::PhaseReport& measured = *run.report().mutable_phases(run.plan().phases_size() - 1);
    measured.set_lane_count(workers);
    for (uint32_t i = 0; i < workers; ++i) {
      if (workers < 4) planned.mutable_assignments(0)->mutable_who()->add_workers(i);
      if (i % 2 == 0) measured.add_clients();
      measured.mutable_clients(static_cast<int>(i / 2))->add_workers();
    }
  }
  run.Marked("skewed_start");
  const std::string text = run.Footer();
  REQUIRE(Contains(text, "\nwrite by workers\n"));
  REQUIRE(Contains(text, "  workers  clients  lanes  MiB/s  per client  scaling\n"));
  REQUIRE(Contains(text, "        1        1      1  100           100    100 %\n"));
  REQUIRE(Contains(text, "        4        2      4  300 a         150     75 %\n"));
  REQUIRE(Contains(text, "scaling     rate of N workers / (N x rate of 1)\n"));
  REQUIRE(Contains(text, "! a         skewed_start"));
}

TEST_CASE("names have their own unit beside data") {
  SweepRun run;
  for (const uint32_t lanes : {1, 2}) run.Phase("stat", lanes, 0, 0, 0);
  for (v1::PhaseReport& phase : *run.report().mutable_phases()) {
    phase.set_metadata(true);
    phase.set_headline_in_ops(true);
    phase.mutable_headline()->set_ops_per_s(4321);
  }
  REQUIRE(Contains(run.Footer(), "stat (ops/s)\n      1         4,321\n"));
  REQUIRE(Contains(run.Footer(), "lanes per worker by operation, ops/s"));
}

TEST_CASE("seeks are in ops per second in the tables of sizes and records") {
  SweepRun run;
  run.Phase("seeks", 1, 1_MiB, 4_KiB, 1000).Phase("seeks", 1, 2_MiB, 4_KiB, 1000);
  for (v1::PhaseReport& phase : *run.report().mutable_phases()) {
    phase.set_headline_in_ops(true);
    phase.mutable_headline()->set_ops_per_s(4321);
  }
  REQUIRE(Contains(run.Footer(), "seeks, ops/s\n  size \\ record     4k\n             1m  4,321\n"));
}

TEST_CASE("cells keep their marks as letters, and what a whole table has is only said below") {
  SweepRun run;
  run.Phase("write", 1, 64_KiB, 4_KiB, 1000).Marked("memory_fs").Marked("unflushed").Marked("too_short");
  run.Phase("write", 1, 1_MiB, 4_KiB, 2000).Marked("memory_fs").Marked("unflushed").Marked("skewed_start");
  run.Phase("write", 1, 2_MiB, 4_KiB, 3000).Marked("memory_fs").Marked("unflushed");
  for (const uint64_t bytes : {64_KiB, 1_MiB, 2_MiB}) {
    run.Phase("read", 1, bytes, 4_KiB, 7000).Marked("memory_fs").Marked("too_short");
  }
  const std::string text = run.Footer();
  REQUIRE(Contains(text, "            64k  1,000 a\n"));
  REQUIRE(Contains(text, "             1m  2,000 b\n"));
  REQUIRE(Contains(text, "             2m  3,000\n"));
  REQUIRE(Contains(text, "             2m  6.84\n"));
  REQUIRE(Contains(text, "! mark      memory_fs in all cells; for example: mend it\n"));
  REQUIRE(Contains(text, "! mark      unflushed in all of write; for example: mend it\n"));
  REQUIRE(Contains(text, "! a         too_short, and in all of read; for example: mend it\n"));
  REQUIRE(Contains(text, "! b         skewed_start; for example: mend it\n"));
}

TEST_CASE("of repetitions a cell has the median, and a phase without a figure says so") {
  SweepRun run;
  run.Phase("write", 1, 64_KiB, 4_KiB, 1000).Phase("write", 1, 64_KiB, 8_KiB, 0);
  run.plan().set_repetitions(3);
  run.report().mutable_phases(1)->set_ops(0);
  for (const double kib_per_s : {5000.0, 2000.0}) {
    v1::PhaseReport phase = run.report().phases(0);
    phase.set_index(static_cast<uint32_t>(run.report().phases_size()));
    phase.mutable_headline()->set_bytes_per_s(kib_per_s * 1024);
    *run.report().add_phases() = phase;
    v1::PhaseReport failed = run.report().phases(1);
    failed.set_index(static_cast<uint32_t>(run.report().phases_size()));
    failed.set_ops(0);
    *run.report().add_phases() = failed;
  }
  REQUIRE(Contains(run.Footer(), "            64k  1.95  failed\n"));
  REQUIRE(Contains(run.Footer(), "of 3 repetitions"));
}

TEST_CASE("repetitions that did nothing, lost a lane or have no figure leave the median to the others") {
  SweepRun run;
  run.Phase("write", 1, 64_KiB, 4_KiB, 1000).Phase("write", 1, 64_KiB, 8_KiB, 7000);
  run.report().mutable_phases(1)->set_not_whole("1 lane failed");
  run.report().mutable_phases(1)->add_marks()->set_code("partial");
  run.plan().set_repetitions(5);
  const auto repeat = [&run](double kib_per_s, uint64_t ops, const char* mark) {
    for (int planned : {0, 1}) {
      v1::PhaseReport phase = run.report().phases(planned);
      phase.set_index(static_cast<uint32_t>(run.report().phases_size()));
      phase.mutable_headline()->set_bytes_per_s(planned == 0 ? kib_per_s * 1024 : std::nan(""));
      phase.set_ops(ops);
      if (mark != nullptr) phase.add_marks()->set_code(mark);
      if (mark != nullptr) phase.set_not_whole("1 lane failed");
      *run.report().add_phases() = phase;
    }
  };
  repeat(3000, 10, nullptr);
  repeat(9000, 0, nullptr);
  repeat(8000, 10, "partial");
  repeat(std::nan(""), 10, nullptr);
  // The other cell has no complete repetition with a figure.
  REQUIRE(Contains(run.Footer(), "64k  1.95  "));
  REQUIRE(Contains(run.Footer(), "  6.84"));
}

TEST_CASE("columns that do not fit follow below, with the first one again") {
  SweepRun run;
  for (uint64_t record = 4_KiB; record <= 16_MiB; record *= 2)
    run.Phase("write", 1, 16_MiB, record, 12345 * 1024.0);
  const std::string text = run.Footer(60);
  for (const std::string& line : LinesOf(text)) REQUIRE(line.size() <= 60);
  REQUIRE(Contains(text, "  size \\ record    4k"));
  REQUIRE(Contains(text, " 16m\n"));
  size_t tables = 0;
  for (const std::string& line : LinesOf(text)) tables += Contains(line, "size \\ record") ? 1 : 0;
  REQUIRE(tables == 2);  // 7 columns of 4 fit beside the first
}

TEST_CASE("with several paths each one has tables of its own, and its own marks") {
  SweepRun run;
  for (const char* path : {"/mnt/a", "/mnt/b"}) {
    run.plan().add_targets()->set_path(path);
    const bool first = run.plan().targets_size() == 1;
    for (const uint64_t record : {4_KiB, 8_KiB}) {
      run.Phase("write", 1, 64_KiB, record, (first ? 1000.0 : 2000.0) + static_cast<double>(record / 1024));
      run.plan().mutable_phases()->rbegin()->set_only_target(
          static_cast<uint32_t>(run.plan().targets_size()));
    }
    run.Marked(first ? "too_short" : "cached");
  }
  REQUIRE(IsSweep(run.plan()));
  const std::string text = run.Footer();
  const size_t of_first =
      text.find("on /mnt/a\nwrite, KiB/s\n  size \\ record       4k       8k\n            64k  1,004    1,008 a\n");
  const size_t of_second =
      text.find("on /mnt/b\nwrite, MiB/s\n  size \\ record      4k      8k\n            64k  1.96    1.96 a\n");
  REQUIRE(of_first != std::string::npos);
  REQUIRE(of_second != std::string::npos);
  const size_t first_mark = text.find("! a         too_short"), second_mark = text.find("! a         cached");
  REQUIRE(of_first < first_mark);
  REQUIRE(first_mark < of_second);
  REQUIRE(of_second < second_mark);
  REQUIRE(text.find("by path") > second_mark);
  REQUIRE(text.find("details     ") == text.rfind("details     "));

  run.plan().mutable_phases(0)->set_only_target(3);  // there are two targets
  REQUIRE_FALSE(IsSweep(run.plan()));
  run.plan().mutable_phases(0)->set_only_target(0);
  REQUIRE_FALSE(IsSweep(run.plan()));
}

TEST_CASE("only the same operations at several places are a sweep") {
  REQUIRE_FALSE(IsSweep(v1::Plan()));
  SweepRun once;
  once.Phase("write", 1, 64_KiB, 4_KiB, 1).Phase("read", 1, 64_KiB, 4_KiB, 1);
  REQUIRE_FALSE(IsSweep(once.plan()));
  SweepRun twice;
  twice.Phase("write", 1, 64_KiB, 4_KiB, 1).Phase("write", 1, 64_KiB, 8_KiB, 1);
  REQUIRE(IsSweep(twice.plan()));
  twice.Phase("read", 1, 64_KiB, 4_KiB, 1);  // at one place only
  REQUIRE_FALSE(IsSweep(twice.plan()));
  SweepRun same;
  same.Phase("write", 1, 64_KiB, 4_KiB, 1)
      .Phase("write", 1, 64_KiB, 4_KiB, 1)
      .Phase("write", 1, 64_KiB, 8_KiB, 1);
  REQUIRE_FALSE(IsSweep(same.plan()));
  SweepRun otherwise;
  otherwise.Phase("write", 1, 64_KiB, 4_KiB, 1).Phase("write", 1, 64_KiB, 8_KiB, 1);
  otherwise.plan().mutable_phases(1)->mutable_assignments(0)->mutable_operation()->set_direct(true);
  REQUIRE_FALSE(IsSweep(otherwise.plan()));
}

TEST_CASE("of a long sweep only what went wrong has a page, of a short one every phase") {
  SweepRun run;
  for (uint64_t record = 4_KiB; record <= 512_KiB; record *= 2) run.Phase("write", 1, 16_MiB, record, 1000);
  REQUIRE_FALSE(IsLongSweep(run.plan()));
  REQUIRE_FALSE(ConsolePhase(run.report(), run.report().phases(0), {}, PagesFor(run.plan())).empty());
  REQUIRE_FALSE(Contains(ConsoleHeader(run.report(), {}), "shown as tables"));
  run.plan().set_repetitions(3);  // 24 pages
  REQUIRE(IsLongSweep(run.plan()));
  REQUIRE(Contains(ConsoleHeader(run.report(), {}), "measured    write, in 8 phases, each 3 times: a sweep, shown as tables"));
  v1::PhaseReport phase = run.report().phases(0);
  REQUIRE(ConsolePhase(run.report(), phase, {}, PagesFor(run.plan())).empty());
  phase.add_errors()->set_message("the disk is on fire");
  REQUIRE(Contains(ConsolePhase(run.report(), phase, {}, PagesFor(run.plan())), "the disk is on fire"));
  phase.clear_errors();
  phase.mutable_verify()->set_mismatched(1);
  REQUIRE_FALSE(ConsolePhase(run.report(), phase, {}, PagesFor(run.plan())).empty());
}

}  // namespace
}  // namespace iobench
