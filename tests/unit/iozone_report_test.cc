// IOzone's formats, of reports written by hand: titles, widths, tabs, and which figure stands where.
#include "coordinator/report/iozone/iozone_report.h"

#include <catch2/catch.hpp>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "coordinator/analysis/iozone_bands.h"
#include "coordinator/report/iozone/iozone_files.h"
#include "coordinator/report/iozone/iozone_time.h"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

constexpr double kKibPerS = 1024;

std::string TextOf(const v1::RunReport& report) {
  std::ostringstream out;
  REQUIRE(WriteIozoneReport(report, out).ok());
  return out.str();
}

std::string ExcelOf(const v1::RunReport& report) {
  std::ostringstream out;
  REQUIRE(WriteIozoneExcel(report, out).ok());
  return out.str();
}

// The lines after the heading of the table.
std::vector<std::string> RowsIn(const std::string& text) {
  std::vector<std::string> rows;
  for (const auto& line : absl::StrSplit(text, '\n')) {
    const std::string row(line);
    if (row.size() > 24 && row.find_first_not_of("0123456789 .") == std::string::npos &&
        row.find_first_not_of(' ') != std::string::npos)
      rows.push_back(row);
  }
  return rows;
}

struct Run {
  v1::RunReport report;

  explicit Run(uint32_t lanes = 1) {
    v1::RunInfo& run = *report.mutable_run();
    run.set_lane_count(lanes);
    run.set_finished(true);
    run.set_transport("local");
    run.set_started_at("2026-11-20T14:37:47.950Z");
    run.mutable_plan()->set_repetitions(1);
    run.mutable_iozone()->set_excel(true);
  }
  v1::PhaseReport& Add(const std::string& operation, uint64_t file_kib, uint64_t record_kib,
                       double kib_per_s) {
    report.mutable_run()->mutable_plan()->add_phases()->add_assignments()->mutable_operation()->set_name(
        operation);
    v1::PhaseReport& phase = *report.add_phases();
    phase.set_name(operation);
    phase.set_operation(operation);
    phase.set_title(operation);
    phase.set_bytes_per_lane(file_kib * 1024);
    phase.set_record_bytes(record_kib * 1024);
    phase.mutable_throughput_bytes_per_s()->set_children(kib_per_s * kKibPerS);
    phase.mutable_throughput_ops_per_s()->set_children(kib_per_s / static_cast<double>(record_kib));
    return phase;
  }
  v1::IozoneOutput& output() { return *report.mutable_run()->mutable_iozone(); }
};

// A lane that moved `kib` in `seconds`.
v1::LanePhaseReport& AddLane(v1::PhaseReport& phase, uint32_t number, uint64_t kib, double seconds) {
  if (phase.clients_size() == 0) phase.add_clients()->add_workers();
  v1::LanePhaseReport& lane = *phase.mutable_clients(0)->mutable_workers(0)->add_lanes();
  lane.set_lane(number);
  lane.set_measured_bytes(kib * 1024);
  lane.set_measured_ops(kib / 64);
  lane.set_bytes_per_s(static_cast<double>(kib) * 1024 / seconds);
  lane.set_ops_per_s(static_cast<double>(kib / 64) / seconds);
  lane.set_end_s(seconds);
  return lane;
}

TEST_CASE("the text of a run with several lanes is the reviewed one") {
  v1::RunReport report = GoldenReport();
  v1::IozoneOutput& output = *report.mutable_run()->mutable_iozone();
  output.set_excel(true);
  output.set_children(true);
  output.set_cpu(true);
  output.set_machine(true);
  CheckGolden("report.iozone.txt", TextOf(report));
}

TEST_CASE("the banner has the lines that programs look for, whatever the run uses") {
  Run run;
  run.Add("write", 64, 4, 1);
  const std::string text = TextOf(run.report);
  CHECK(absl::StartsWith(text, "\tIozone: Performance Test of File I/O\n\t        Version $Revision: 3.471 $\n"
                               "\t\tCompiled for 64 bit mode.\n\t\tBuild: linux"));
  CHECK_THAT(text, Catch::Contains("\tProcessor cache size set to 1024 kBytes.\n"
                                   "\tProcessor cache line size set to 32 bytes.\n"
                                   "\tFile stride size set to 17 * record size.\n    "));
  v1::Operation& operation =
      *run.report.mutable_run()->mutable_plan()->mutable_phases(0)->mutable_assignments(0)->mutable_operation();
  operation.set_stride_records(3);
  operation.mutable_between()->set_purge_processor_cache(true);
  operation.mutable_between()->set_processor_cache_bytes(512 << 10);
  operation.mutable_between()->set_processor_cache_line_bytes(64);
  CHECK_THAT(TextOf(run.report), Catch::Contains("\tProcessor cache size set to 512 kBytes.\n"
                                                 "\tProcessor cache line size set to 64 bytes.\n"
                                                 "\tFile stride size set to 3 * record size.\n    "));
}

TEST_CASE("a single lane has the lines of throughput mode if its phases name the number of lanes") {
  Run run;
  AddLane(run.Add("write", 64, 4, 1), 0, 64, 1);
  CHECK_THAT(TextOf(run.report), Catch::Contains("reclen") && !Catch::Contains("Children see"));
  CHECK_THAT(ExcelOf(run.report), Catch::Contains("\"Writer report\""));
  run.report.mutable_run()->mutable_plan()->mutable_phases(0)->set_lanes_per_worker(1);
  CHECK_THAT(TextOf(run.report), !Catch::Contains("reclen") && Catch::Contains("Children see throughput for  1 initial"));
  CHECK_THAT(ExcelOf(run.report), Catch::Contains("\"Throughput report Y-axis"));
}

TEST_CASE("scripts that count lines find as many as IOzone has") {
  Run run;
  run.Add("write", 64, 4, 1);
  run.report.mutable_run()->set_label("rack 7");
  run.output().set_excel(false);
  run.output().set_auto_mode(true);
  const std::vector<std::string> lines = absl::StrSplit(TextOf(run.report), '\n');
  REQUIRE(lines.size() > 25);
  CHECK(lines[7] == "\tLabel: rack 7");
  CHECK(absl::StartsWith(lines[15], "\tRun began: "));  // after four lines, an empty one, nine, an empty one
  CHECK(lines[17] == "\tAuto Mode");
  CHECK(absl::StartsWith(lines[18], "\tCommand line used: "));
  CHECK(absl::StartsWith(lines[22], "\tFile stride size"));  // no resolution is known
  CHECK(absl::StartsWith(lines[25], "              64       4        1"));
}

TEST_CASE("the text for scripts has nothing after its figures; what puts them in doubt is apart") {
  Run run;
  v1::Mark& mark = *run.Add("write", 64, 4, 1).add_marks();
  mark.set_code("too_short");
  mark.set_text("write took 1 ms");
  CHECK_THAT(TextOf(run.report),
             Catch::Contains("\tMark too_short in 1 phase: write took 1 ms\n\niozone test complete.\n"));
  std::ostringstream out;
  REQUIRE(WriteIozoneFigures(run.report, out).ok());
  CHECK_THAT(out.str(), !Catch::Contains("Mark") && Catch::EndsWith("\n\niozone test complete.\n"));
  CHECK(IozoneDoubts(run.report) == "\n\tMark too_short in 1 phase: write took 1 ms\n");
}

TEST_CASE("throughput lines follow the banner at once, and three empty lines are before the text of -R") {
  Run run(2);
  v1::PhaseReport& phase = run.Add("write", 64, 4, 1);
  for (const uint32_t lane : {0, 1}) AddLane(phase, lane, 64, 1);
  CHECK_THAT(
      TextOf(run.report),
      Catch::Contains("* record size.\n\tThroughput test with 2 processes\n\tEach process writes a ") &&
          Catch::Contains("\n\n\n\n\"Throughput report Y-axis"));
}

TEST_CASE("-S and -L are in the banner although nothing uses them") {
  Run run;
  run.Add("write", 64, 4, 1);
  v1::Plan& plan = *run.report.mutable_run()->mutable_plan();
  plan.mutable_phases(0)
      ->mutable_assignments(0)
      ->mutable_operation()
      ->mutable_between()
      ->set_processor_cache_bytes(2 << 20);
  CHECK_THAT(TextOf(run.report), Catch::Contains("\tProcessor cache size set to 2048 kBytes.\n"
                                                 "\tProcessor cache line size set to 32 bytes.\n"));
}

TEST_CASE("a full row has IOzone's 15 columns, in its widths, below its heading") {
  Run run;
  // The example of the reference: IOzone 3.471 printed this line.
  const std::vector<std::pair<const char*, double>> figures = {
      {"write", 879535},          {"rewrite", 1763685},        {"read", 11569783},
      {"reread", 10651598},       {"random-read", 10245071},   {"random-write", 1778290},
      {"backward-read", 7518900}, {"record-rewrite", 5022044}, {"stride-read", 12228612},
      {"fwrite", 1696795},        {"refwrite", 2131261},       {"fread", 8815202},
      {"refread", 11207494}};
  for (const auto& [operation, kib_per_s] : figures) run.Add(operation, 256, 64, kib_per_s + 0.9);  // cut off
  CHECK_THAT(
      TextOf(run.report),
      Catch::Contains(
          "                                                              random    random     bkwd    record    stride                                    \n"
          "              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   fwrite frewrite    fread  freread\n"
          "             256      64   879535  1763685 11569783 10651598 10245071  1778290  7518900   5022044  12228612  1696795  2131261  8815202 11207494\n"));
}

TEST_CASE("a test that was not run keeps its column; a second pass that was left out is 0") {
  Run run;
  run.Add("write", 64, 4, 1);
  run.Add("random-read", 64, 4, 2);
  run.Add("stride-read", 64, 4, 3);
  const auto rows = RowsIn(TextOf(run.report));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0] == absl::StrCat("              64       4        1        0", std::string(18, ' '),
                                "        2", std::string(28, ' '), "         3", std::string(36, ' ')));
}

TEST_CASE("a second pass that was planned but not reached is blank") {
  Run run;
  run.Add("write", 64, 4, 1);
  run.report.mutable_run()->mutable_plan()->add_phases()->add_assignments()->mutable_operation()->set_name(
      "rewrite");
  CHECK(RowsIn(TextOf(run.report)).at(0) ==
        absl::StrCat("              64       4        1", std::string(110, ' ')));
}

TEST_CASE("figures that fill their columns do not run into each other") {
  Run run;
  run.Add("write", 64, 4, 1);
  run.Add("rewrite", 64, 4, 123456789);
  CHECK_THAT(TextOf(run.report), Catch::Contains("      64       4        1 123456789 "));
}

TEST_CASE("a row is a combination of file and record; a cell that is measured again begins another row") {
  Run run;
  run.Add("write", 64, 4, 1);
  run.Add("write", 64, 8, 2);
  run.Add("write", 128, 4, 3);
  run.Add("read", 64, 4, 4);
  run.Add("write", 64, 4, 5);
  const auto rows = RowsIn(TextOf(run.report));
  REQUIRE(rows.size() == 4);
  CHECK(absl::StartsWith(rows[0], "              64       4        1        0        4        0"));
  CHECK(absl::StartsWith(rows[1], "              64       8        2 "));
  CHECK(absl::StartsWith(rows[2], "             128       4        3 "));
  CHECK(absl::StartsWith(rows[3], "              64       4        5 "));
}

TEST_CASE("the columns of -E appear when they are needed") {
  Run run;
  run.Add("pwrite", 64, 4, 12345678);  // as wide as its column
  run.Add("repread", 64, 4, 7);
  const std::string text = TextOf(run.report);
  CHECK_THAT(text, Catch::Contains("   fread  freread  pwrite repwrite   pread  repread\n"));
  CHECK_THAT(text, Catch::Contains(" 12345678        0                7\n"));
  run.Add("preadv", 64, 4, 8);
  CHECK_THAT(TextOf(run.report),
             Catch::Contains("   pread  repread  pwritev repwritev    preadv repreadv\n"));
}

TEST_CASE("sizes that are no whole kB have decimals") {
  Run run;
  run.Add("write", 64, 1, 5).set_record_bytes(512);
  CHECK(absl::StartsWith(RowsIn(TextOf(run.report)).at(0), "              64     0.5        5"));
}

TEST_CASE("-O shows ops per second and -N microseconds per op, and both say so in place of the unit") {
  Run run;
  run.Add("write", 64, 4, 30);  // 7.5 ops/s, 133333.3 us
  CHECK_THAT(TextOf(run.report), Catch::Contains("\tOutput is in kBytes/sec\n"));
  run.output().set_ops_per_s(true);
  std::string text = TextOf(run.report);
  CHECK_THAT(text, Catch::Contains("\tOPS Mode. Output is in operations per second.\n"));
  CHECK_FALSE(absl::StrContains(text, "kBytes/sec"));
  CHECK_THAT(text, Catch::Contains("              64       4        7 "));
  run.output().set_ops_per_s(false);
  run.output().set_us_per_op(true);
  text = TextOf(run.report);
  CHECK_THAT(text, Catch::Contains("\tMicroseconds/op Mode. Output is in microseconds per operation.\n"));
  CHECK_THAT(text, Catch::Contains("              64       4   133333 "));
}

TEST_CASE("the Excel blocks have a column per record size and end with the largest that fits") {
  Run run;
  for (const uint64_t file : {64, 128})
    for (uint64_t record = 16; record <= file; record *= 4)
      run.Add("write", file, record, static_cast<double>(file * 1000 + record));
  run.Add("reread", 64, 64, 9);
  CHECK(ExcelOf(run.report) ==
        "\nExcel output is below:\n\n"
        "\"Writer report\"\n        \"16\"  \"64\"\n"
        "\"64\"   64016  64064 \n\"128\"   128016  128064 \n\n"
        "\"Re-Reader report\"\n        \"64\"\n\"64\"   9 \n\n");
}

TEST_CASE("cells that were not run are 0 in the Excel blocks, and records beyond the file are left out") {
  Run run;
  run.Add("read", 64, 64, 5);
  run.Add("read", 128, 4,
          6);  // the crossover leaves out small records of large files; here the other way round
  run.Add("read", 128, 128, 7);
  CHECK_THAT(ExcelOf(run.report), Catch::Contains("\"Reader report\"\n        \"4\"  \"64\"  \"128\"\n"
                                                  "\"64\"   0  5 \n\"128\"   6  0  7 \n"));
}

TEST_CASE("with -+u the CPU blocks follow, named after the tests that were run") {
  Run run;
  run.output().set_cpu(true);
  run.Add("random-read", 64, 4, 5);
  AddLane(*run.report.mutable_phases(0), 0, 64, 2).set_cpu_user_s(0.5);
  CHECK_THAT(ExcelOf(run.report),
             Catch::EndsWith(
                 "\"Random read CPU utilization report (Zero values should be ignored)\"\n        \"4\"\n"
                 "\"64\"    25.00 \n\n"));
}

TEST_CASE("-+u shows the CPU of a single lane without -R too") {
  Run run;
  run.output().set_excel(false);
  AddLane(run.Add("write", 64, 4, 5), 0, 64, 2).set_cpu_user_s(0.5);
  CHECK_FALSE(absl::StrContains(TextOf(run.report), "Writer"));
  run.output().set_cpu(true);
  const std::string text = TextOf(run.report);
  CHECK_THAT(text, Catch::Contains("\"Writer CPU utilization report (Zero values should be ignored)\"\n"));
  CHECK_FALSE(absl::StrContains(text, "\"Writer report\""));
}

TEST_CASE("each repetition has its own table") {
  Run run;
  run.report.mutable_run()->mutable_plan()->set_repetitions(2);
  run.Add("write", 64, 4, 1);
  run.Add("write", 64, 4, 2).set_repetition(1);
  const std::string text = TextOf(run.report);
  const size_t second = text.find("\tRepetition 2 of 2\n");
  REQUIRE(second != std::string::npos);
  CHECK(RowsIn(text.substr(0, second)).size() == 1);
  CHECK(absl::StartsWith(RowsIn(text.substr(second)).at(0), "              64       4        2 "));
}

TEST_CASE("a run with several lanes has IOzone's lines for each phase") {
  Run run(2);
  v1::PhaseReport& phase = run.Add("read", 256, 64, 300);
  phase.mutable_throughput_bytes_per_s()->set_parent(200 * kKibPerS);
  phase.mutable_lanes_bytes_per_s()->set_min(0);
  phase.mutable_lanes_bytes_per_s()->set_max(300 * kKibPerS);
  phase.mutable_lanes_bytes_per_s()->set_mean(150 * kKibPerS);
  AddLane(phase, 0, 0, 1);  // did nothing: IOzone's minimum would ignore this in the first lane
  AddLane(phase, 1, 256, 1);
  const std::string text = TextOf(run.report);
  CHECK_THAT(text, Catch::Contains("\tThroughput test with 2 processes\n"
                                   "\tEach process writes a 256 kByte file in 64 kByte records\n"
                                   "\n\tChildren see throughput for  2 readers \t\t=     300.00 kB/sec\n"
                                   "\tParent sees throughput for  2 readers \t\t=     200.00 kB/sec\n"
                                   "\tMin throughput per process \t\t\t=       0.00 kB/sec \n"
                                   "\tMax throughput per process \t\t\t=     300.00 kB/sec\n"
                                   "\tAvg throughput per process \t\t\t=     150.00 kB/sec\n"
                                   "\tMin xfer \t\t\t\t\t=       0.00 kB\n"));
  CHECK_FALSE(absl::StrContains(text, "Child["));
  CHECK_FALSE(absl::StrContains(text, "reclen"));
}

TEST_CASE("-C lists the children, and -+u their CPU") {
  Run run(2);
  v1::PhaseReport& phase = run.Add("write", 256, 64, 300);
  AddLane(phase, 1, 256, 2).set_cpu_user_s(1);
  AddLane(phase, 0, 128, 4).set_cpu_system_s(1);
  run.output().set_children(true);
  CHECK_THAT(TextOf(run.report),
             Catch::Contains("\tChild[0] xfer count =     128.00 kB, Throughput =      32.00 kB/sec\n"
                             "\tChild[1] xfer count =     256.00 kB, Throughput =     128.00 kB/sec\n"));
  run.output().set_cpu(true);
  CHECK_THAT(TextOf(run.report),
             Catch::Contains(
                 "\tCPU Utilization: Wall time    4.000    CPU time    2.000    CPU utilization  50.00 %\n\n"
                 "\tChild[0] xfer count =     128.00 kB, Throughput =      32.00 kB/sec, wall= 4.000, cpu= "
                 "1.000, %= 25.00\n"));
  phase.set_operation("reread");
  CHECK_THAT(TextOf(run.report), Catch::Contains("\tCPU utilization: Wall time"));
}

TEST_CASE("a lane's wall time is not less than its CPU time") {
  Run run;
  run.output().set_cpu(true);
  AddLane(run.Add("write", 64, 4, 5), 0, 64, 0.5).set_cpu_user_s(2);
  CHECK_THAT(ExcelOf(run.report), Catch::Contains("\"64\"   100.00 \n"));
}

TEST_CASE("the subjects of the lines are IOzone's, with its tabs") {
  const std::vector<std::pair<const char*, const char*>> subjects = {
      {"write", " 2 initial writers \t="},
      {"rewrite", " 2 rewriters \t="},
      {"read", " 2 readers \t\t="},
      {"reread", "2 re-readers \t="},
      {"backward-read", "2 reverse readers \t="},
      {"stride-read", "2 stride readers \t="},
      {"random-read", "2 random readers \t="},
      {"random-mix", "2 mixed workload \t="},
      {"random-write", "2 random writers \t="},
      {"pwrite", "2 pwrite writers \t="},
      {"pread", "2 pread readers \t="},
      {"fwrite", " 2 fwriters \t="},
      {"fread", " 2 freaders \t="}};
  for (const auto& [operation, subject] : subjects) {
    Run run(2);
    v1::PhaseReport& phase = run.Add(operation, 64, 64, 1);
    AddLane(phase, 0, 64, 1);
    AddLane(phase, 1, 64, 1);
    CHECK_THAT(TextOf(run.report),
               Catch::Contains(absl::StrCat("\tChildren see throughput for ", subject, " ")));
  }
  Run run(2);
  AddLane(run.Add("fread", 64, 64, 1), 0, 64, 1);
  CHECK_THAT(TextOf(run.report), Catch::Contains("\tParent sees throughput for  1 freaders \t\t= "));
}

TEST_CASE("the Excel text of several lanes has a row per test and a column per number of lanes") {
  Run run(2);
  for (const uint32_t lanes : {1, 2}) {
    for (const char* const operation : {"write", "random-mix"}) {
      v1::PhaseReport& phase = run.Add(operation, 256, 64, 100 * lanes + (*operation == 'w' ? 0 : 0.5));
      for (uint32_t lane = 0; lane < lanes; ++lane) AddLane(phase, lane, 64, 1).set_cpu_user_s(0.25);
    }
  }
  CHECK(ExcelOf(run.report) ==
        "\n\"Throughput report Y-axis is type of test X-axis is number of processes\"\n"
        "\"Record size = 64 kBytes \"\n\"Output is in kBytes/sec\"\n\n"
        "\"  Initial write \"     100.00      200.00 \n\n"
        "\" Mixed workload \"     100.50      200.50 \n\n");
  run.output().set_cpu(true);
  CHECK_THAT(
      ExcelOf(run.report),
      Catch::EndsWith("\n\"CPU utilization report Y-axis is type of test X-axis is number of processes\"\n"
                      "\"Record size = 64 kBytes \"\n\"Output is in CPU%\"\n\n"
                      "\"  Initial write \"      25.00       50.00 \n\n"
                      "\" Mixed workload \"      25.00       50.00 \n\n"));
}

TEST_CASE("metadata operations are in ops per second, whatever the unit of the others") {
  Run run(1);
  v1::PhaseReport& phase = run.Add("mkdir", 0, 1, 7);
  phase.set_metadata(true);
  phase.set_headline_in_ops(true);
  AddLane(phase, 0, 640, 2);
  CHECK_THAT(TextOf(run.report),
             Catch::Contains("\tChildren see throughput for  1 mkdir lanes \t=       7.00 ops/sec\n") &&
                 Catch::Contains("\tMin xfer \t\t\t\t\t=      10.00 ops\n"));
}

TEST_CASE("a run that failed or has not ended is not called complete") {
  Run run;
  CHECK_THAT(TextOf(run.report), Catch::EndsWith("\niozone test complete.\n"));
  run.report.mutable_run()->set_exit_code(2);
  CHECK_FALSE(absl::StrContains(TextOf(run.report), "test complete"));
  run.report.mutable_run()->set_exit_code(0);
  run.report.mutable_run()->set_finished(false);
  CHECK_FALSE(absl::StrContains(TextOf(run.report), "test complete"));
}

TEST_CASE("an unknown figure is shown as such") {
  Run run;
  run.Add("random-read", 64, 4, std::numeric_limits<double>::quiet_NaN());
  run.Add("random-write", 64, 4, 3);
  CHECK(absl::StartsWith(RowsIn(TextOf(run.report)).at(0),
                         absl::StrCat("              64       4", std::string(45, ' '), "        3")));
  CHECK_THAT(TextOf(run.report), Catch::Contains("\"Random read report\"\n        \"4\"\n\"64\"   0 \n"));
  run.report.mutable_run()->set_lane_count(2);
  CHECK_THAT(TextOf(run.report), Catch::Contains("=          - kB/sec"));
}

TEST_CASE("the banner names the sizes that were given, not those that ran, and none in automatic mode") {
  Run run;
  run.Add("write", 1024, 64, 1);
  run.Add("write", 8192, 64, 1);
  CHECK_THAT(TextOf(run.report), Catch::Contains("\tUsing minimum file size of 1024 kilobytes.\n"
                                                 "\tUsing maximum file size of 8192 kilobytes.\n"
                                                 "\tRecord Size 64 kB\n"));
  run.output().set_auto_mode(true);
  run.output().set_all_records(true);
  CHECK_THAT(TextOf(run.report), Catch::Contains("\tAuto Mode\n\tCross over of record size disabled.\n"
                                                 "\tExcel chart generation enabled\n\tCommand line used:"));
  run.output().set_max_file_bytes(10 << 20);
  run.output().set_no_retest(true);
  CHECK_THAT(TextOf(run.report), Catch::Contains("enabled\n\tUsing maximum file size of 10240 kilobytes.\n"
                                                 "\tNo retest option selected\n\tCommand line used:"));
  run.output().Clear();
  for (const uint64_t kib : {64, 32}) run.output().add_file_bytes(kib << 10);
  run.output().add_record_bytes(4 << 10);
  CHECK_THAT(TextOf(run.report), Catch::Contains("\n\n\tRecord Size 4 kB\n\tFile size set to 64 kB\n"
                                                 "\tFile size set to 32 kB\n\tCommand line used:"));
}

TEST_CASE("control characters of names do not reach the terminal") {
  v1::RunReport report = GoldenReport();
  report.mutable_run()->set_command("x\033[31m");
  report.mutable_run()->set_label("two\nlines");
  report.mutable_run()->mutable_iozone()->set_machine(true);
  const std::string text = TextOf(report);
  CHECK_FALSE(absl::StrContains(text, "\033"));
  CHECK_FALSE(absl::StrContains(text, "two\nlines"));
}

TEST_CASE("times are those of ctime, in UTC") {
  CHECK(CtimeText("2026-11-20T14:37:47Z", 0) == "Fri Nov 20 14:37:47 2026");
  CHECK(CtimeText("2026-11-20T14:37:47.950Z", 0.04) == "Fri Nov 20 14:37:47 2026");
  CHECK(CtimeText("2026-11-20T14:37:47.950Z", 0.06) == "Fri Nov 20 14:37:48 2026");
  CHECK(CtimeText("2026-12-31T23:59:59Z", 2) == "Fri Jan  1 00:00:01 2027");
  CHECK(CtimeText("", 0) == "unknown");
  CHECK(CtimeText("2026-11-20T14:37:47Z", std::numeric_limits<double>::quiet_NaN()) == "unknown");
}

TEST_CASE("a lane's log has the times of each of its tests, and its histogram the bands") {
  Run run(2);
  v1::PhaseReport& phase = run.Add("write", 256, 64, 300);
  phase.set_started_at("2026-11-20T14:37:47.000Z");
  v1::LanePhaseReport& lane = AddLane(phase, 1, 256, 90);
  CHECK(
      LogText(phase, lane) ==
      "Write test start:         Fri Nov 20 14:37:47 2026\nWrite test finished:      Fri Nov 20 14:39:17 2026\n");
  CHECK(HistogramText(phase, lane).empty());
  for (uint64_t i = 0; i < IozoneBands().size(); ++i) lane.add_iozone_bands(i);
  const std::string text = HistogramText(phase, lane);
  CHECK(absl::StartsWith(
      text, "Child: 1 Op: write\nBand 1: 20us:0 40us:1 60us:2 80us:3 100us:4\nBand 2: 200us:5 "));
  CHECK(absl::StrContains(text, "\nBand 8: 20s:34 30s:35 60s:36 90s:37 120s:38\nBand 9: 120+s:39\n"));
  lane.set_sat_out(true);
  CHECK(LogText(phase, lane).empty());
}

}  // namespace
}  // namespace iobench
