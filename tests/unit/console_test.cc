#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "catch2/catch.hpp"
#include "common/model/metadata_operation.h"
#include "common/text/display_text.h"
#include "coordinator/report/console/console_report.h"
#include "coordinator/report/text/console_words.h"
#include "coordinator/report/text/text_table.h"
#include "tests/unit/console_text.h"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

std::string ConsoleText(const v1::RunReport& report, const ConsoleStyle& style) {
  std::ostringstream out;
  REQUIRE(WriteConsole(report, style, out).ok());
  return out.str();
}

TEST_CASE("the console report of the fixed result is as it was looked at") {
  CheckGolden("console.txt", ConsoleText(GoldenReport(), ConsoleStyle{}));
}

TEST_CASE("where ops have several record sizes, their shares stand in place of the size") {
  v1::RunReport report = GoldenReport();
  v1::Operation& operation =
      *report.mutable_run()->mutable_plan()->mutable_phases(0)->mutable_assignments(0)->mutable_operation();
  const std::string before = ConsoleText(report, ConsoleStyle{false, 160});
  CHECK(Contains(before, "records of 64 KiB"));
  for (const auto& [bytes, percent] : {std::pair(4096, 62.5), std::pair(65536, 37.5)}) {
    v1::RecordShare& share = *operation.add_records();
    share.set_record_bytes(static_cast<uint64_t>(bytes));
    share.set_percent(percent);
  }
  const std::string text = ConsoleText(report, ConsoleStyle{false, 160});
  CHECK(Contains(text.substr(0, text.find("\nwrite")), "records of 4 KiB 62.5 %, 64 KiB 37.5 %, 64 KiB"));  // of the phases
  CHECK(Contains(text.substr(text.find("\nwrite")), "records of 4 KiB 62.5 %, 64 KiB 37.5 %\n"));
}

TEST_CASE("a phase on names is told in ops per second, and data only where some were moved") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(0);
  phase.set_metadata(true);
  phase.set_headline_in_ops(true);
  phase.mutable_tree()->set_items_per_lane(2500);
  phase.mutable_tree()->set_random_order(true);
  phase.set_rotated(true);
  phase.mutable_headline()->set_ops_per_s(12'345);
  phase.mutable_headline()->set_bytes_per_s(0);
  phase.set_bytes(0);
  phase.set_ops(10'000);
  phase.set_measured_ops(9'000);
  phase.set_headline_s(9'000 / 12'345.0);
  phase.mutable_throughput_ops_per_s()->set_children(777);
  phase.mutable_lanes_ops_per_s()->set_mean(888);
  for (v1::ClientPhaseReport& client : *phase.mutable_clients()) client.set_ops_per_s(999);
  const std::string text = ConsoleText(report, ConsoleStyle{false, 160});
  const std::string of_phase = text.substr(0, text.find("\nread "));
  CHECK(Contains(of_phase, "12,345 ops/s"));
  // 9,000 of 12,345 a second.
  CHECK(
      Contains(of_phase,
               "9,000 ops in 729 ms, and 1,000 after it, untimed; on 2,500 items per lane, in random order"));
  CHECK(Contains(of_phase, "items of the next client"));
  CHECK(Contains(of_phase, "children 777 ops/s"));
  CHECK(Contains(of_phase, "mean 888 ops/s"));
  CHECK(Contains(of_phase, "lanes  ops/s  of mean"));
  CHECK(Contains(of_phase, "    999 "));
  phase.mutable_headline()->set_bytes_per_s(64 << 20);
  phase.set_bytes(3 << 20);
  const std::string with_data = ConsoleText(report, ConsoleStyle{});
  CHECK(Contains(with_data, "64 MiB/s"));
  CHECK(Contains(with_data, "; 3 MiB of data in all"));
}

TEST_CASE("a phase of seeks is told in ops per second throughout, with its data rate beside the headline") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(0);
  phase.set_headline_in_ops(true);
  phase.mutable_headline()->set_ops_per_s(12'345);
  phase.mutable_headline()->set_bytes_per_s(64 << 20);
  phase.set_straggler_cost(0.2);
  phase.mutable_throughput_ops_per_s()->set_full(9'876);
  phase.mutable_throughput_ops_per_s()->set_children(777);
  phase.mutable_lanes_ops_per_s()->set_mean(888);
  phase.mutable_clients(0)->set_ops_per_s(2'222);
  phase.mutable_clients(1)->set_ops_per_s(1'111);
  const std::string full = ConsoleText(report, ConsoleStyle{false, 160});
  const std::string of_phase =
      full.substr(full.find("\nwrite "), full.find("\nread ") - full.find("\nwrite "));
  CHECK(Contains(of_phase, "\nwrite         12,345 ops/s   "));
  CHECK(Contains(of_phase, "   64 MiB/s"));
  CHECK(Contains(of_phase, "children 777 ops/s"));
  CHECK(Contains(of_phase, "mean 888 ops/s"));
  CHECK(Contains(of_phase, "lanes  ops/s  of mean"));
  const std::string brief = ConsoleText(report, Brief());
  CHECK(Contains(brief, "until the last lane ended: 9,876 ops/s, 20 % less"));
  CHECK(Contains(brief, " 1,111 ops/s ("));
  CHECK(Contains(brief, "fastest node01 2,222 ops/s ("));
}

TEST_CASE("files sized by memory have at least that size in every phase") {
  v1::RunReport report = GoldenReport();
  report.mutable_run()->mutable_plan()->mutable_files()->set_memory_percent(200);
  const std::string text = ConsoleText(report, ConsoleStyle{false, 400});
  CHECK(Contains(text,
                 ": per client 200 % of the memory of node01, the smallest client (64 GiB) or more, in "
                 "every phase"));
}

TEST_CASE("a tree is described in a few words") {
  v1::Tree tree;
  tree.set_items_per_lane(10'000);
  CHECK(TreeText("create", tree) == "10,000 items per lane");
  tree.set_shared_directory(true);
  tree.set_file_bytes(3901);
  CHECK(TreeText("create", tree) == "10,000 items per lane in one shared directory, files of 3.81 KiB");
  tree.set_depth(2);
  tree.set_branching(10);
  tree.set_random_order(true);
  CHECK(TreeText("create", tree) ==
        "10,000 items per lane in one shared tree of depth 2, 10 directories in each, files of "
        "3.81 KiB, in random order");
}

TEST_CASE("each operation's items have their own name in every text") {
  std::map<std::string, std::set<std::string>> operations_of;  // by text
  for (const MetadataSpec& spec : MetadataOperations()) {
    v1::Tree tree;
    tree.set_items_per_lane(2'500);
    operations_of[ItemsText(std::string(spec.name), tree)].insert(std::string(spec.name));
  }
  CHECK(operations_of["2,500 turns per lane"] == std::set<std::string>{"lock"});
  CHECK(operations_of["2,500 items, the same for all lanes"] == std::set<std::string>{"open-many"});
  CHECK(operations_of["2,500 items per lane"].size() + 2 == MetadataOperations().size());
  v1::Tree one;
  one.set_items_per_lane(1);
  CHECK(ItemsText("open-many", one) == "1 item, the same for all lanes");
  CHECK(ItemsText("lock", one) == "1 turn per lane");
  CHECK(ItemsText("of a later version", one) == "1 item per lane");
}

TEST_CASE("turns with a lock are no items, in the head and in a phase") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(0);
  phase.set_metadata(true);
  phase.set_operation("lock");
  phase.mutable_tree()->set_items_per_lane(2500);
  v1::Operation& planned = *report.mutable_run()->mutable_plan()->mutable_phases(0)->mutable_assignments(0)->mutable_operation();
  planned.set_name("lock");
  planned.set_engine("metadata");
  *planned.mutable_tree() = phase.tree();
  const std::string text = ConsoleText(report, ConsoleStyle{false, 160});
  CHECK(Contains(text, "untimed; on 2,500 turns per lane"));
  CHECK(!Contains(text, "items per lane"));
}

TEST_CASE("no line of the console report is wider than the style, whatever the names") {
  v1::RunReport report = GoldenReport();
  const std::string long_name(300, 'x');
  report.mutable_phases(0)->mutable_clients(0)->set_host(absl::StrCat(long_name, ".example.org"));
  report.mutable_phases(0)->mutable_errors(0)->set_message(std::string(500, 'y'));
  report.mutable_phases(1)->mutable_stonewall()->set_first_lane(absl::StrCat(long_name, " worker 3 lane 7"));
  report.mutable_phases(1)->mutable_marks(1)->set_subject(std::string(300, 'z'));
  report.mutable_phases(2)->set_name(std::string(300, 'p'));
  report.mutable_run()->set_command(std::string(300, 'c'));
  report.mutable_clients(0)->set_host("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e" + std::string(200, 'w'));
  for (const size_t width : {80u, 100u, 160u}) {
    const std::vector<std::string> lines = LinesOf(ConsoleText(report, ConsoleStyle{false, width}));
    REQUIRE(lines.size() > 10);
    for (const std::string& line : lines) {
      INFO(line);
      CHECK(DisplayColumns(line) <= width);
    }
  }
}

TEST_CASE("no line ends in spaces") {
  const std::vector<std::string> lines = LinesOf(ConsoleText(GoldenReport(), ConsoleStyle{}));
  REQUIRE(lines.size() > 10);
  for (const std::string& line : lines) {
    INFO(line);
    CHECK((line.empty() || line.back() != ' '));
  }
}

TEST_CASE("a host name cannot send escape sequences or line breaks to the terminal") {
  const std::string text = ConsoleText(GoldenReport(), ConsoleStyle{});
  CHECK(text.find('\033') == std::string::npos);
  CHECK(Contains(text, "n\303\266rd, \"zwei\"??[31m"));
}

TEST_CASE("colour adds escape sequences and changes nothing else") {
  std::string coloured = ConsoleText(GoldenReport(), ConsoleStyle{true, 100});
  CHECK(Contains(coloured, "\033[1m"));
  for (size_t at; (at = coloured.find('\033')) != std::string::npos;)
    coloured.erase(at, coloured.find('m', at) + 1 - at);
  CHECK(coloured == ConsoleText(GoldenReport(), ConsoleStyle{false, 100}));
}

TEST_CASE("a phase begins with its headline, the window and the region") {
  const v1::RunReport report = GoldenReport();
  const std::string text = ConsolePhase(report, report.phases(0), ConsoleStyle{});
  CHECK(LinesOf(text)[1] == "write         60 MiB/s   stonewalled (ops+fsync+close)   960 ops/s");
}

TEST_CASE("a percentile that too few ops support is marked with a tilde") {
  const v1::RunReport report = GoldenReport();
  const std::string text = ConsolePhase(report, report.phases(0), ConsoleStyle{});
  CHECK(Contains(text, "p50 450 us"));
  CHECK(Contains(text, "p99 ~1.5 ms"));
  CHECK(Contains(text, "p99.9 ~9 ms"));
}

TEST_CASE("a mark that phase and client both carry is printed once, with the client's name") {
  const v1::RunReport report = GoldenReport();
  const std::string text = ConsolePhase(report, report.phases(1), ConsoleStyle{});
  const size_t first = text.find("cached on");
  REQUIRE(first != std::string::npos);
  CHECK(text.find("cached on", first + 1) == std::string::npos);
  CHECK(Contains(text, "! mark      cached on node01: 43 % of the bytes"));
}

TEST_CASE("the same mark on many clients is one line that names three of them") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(2);
  for (int i = 0; i < 5; ++i) {
    v1::Mark& mark = *phase.add_marks();
    mark.set_code("cpu_bound");
    mark.set_subject("c" + std::to_string(i));
    mark.set_text("use more clients");
  }
  CHECK(Contains(ConsolePhase(report, phase, ConsoleStyle{}),
                 "cpu_bound on c0, c1, c2 and 2 more: use more clients"));
}

TEST_CASE("a mark that only a client carries gets the client's name") {
  v1::RunReport report = GoldenReport();
  v1::Mark& mark = *report.mutable_phases(2)->mutable_clients(0)->add_marks();
  mark.set_code("cpu_bound");
  mark.set_text("use more clients");
  CHECK(Contains(ConsolePhase(report, report.phases(2), ConsoleStyle{}),
                 "cpu_bound on node01: use more clients"));
}

TEST_CASE("a lost worker and a failed lane are named under the headline") {
  const v1::RunReport report = GoldenReport();
  const std::vector<std::string> lines = LinesOf(ConsolePhase(report, report.phases(0), ConsoleStyle{}));
  CHECK(Contains(lines[2], "worker 2: lost: connection reset by peer"));
  CHECK(Contains(lines[4], "worker 1 lane 3: fsync /mnt/nfs/cluster-iobench.data/lane-000003.0"));
  CHECK(Contains(lines[5], "at 4 MiB: Input/output error (EIO)"));
}

TEST_CASE("five errors are shown and the rest are counted") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(2);
  for (int i = 0; i < 8; ++i) {
    v1::ErrorReport& error = *phase.add_errors();
    error.set_worker(0);
    error.set_lane(i);
    error.set_message("disk " + std::to_string(i) + " is gone");
  }
  const std::string text = ConsolePhase(report, phase, ConsoleStyle{});
  CHECK(Contains(text, "worker 0 lane 4: disk 4 is gone"));
  CHECK(!Contains(text, "disk 5"));
  CHECK(Contains(text, "and 3 more in result.json"));
}

TEST_CASE("errors that differ only in their worker and lane are one text") {
  google::protobuf::RepeatedPtrField<v1::ErrorReport> errors;
  for (int i = 0; i < 6; ++i) {
    v1::ErrorReport& error = *errors.Add();
    error.set_client("node01");
    error.set_worker(i / 3);
    error.set_lane(i);
    error.set_message(i == 4 ? "another fault" : "the directory was removed");
  }
  using Texts = std::vector<std::string>;
  CHECK(ErrorTexts(errors, 5) == Texts{"node01 worker 0 lane 0 and 4 more: the directory was removed",
                                       "node01 worker 1 lane 4: another fault"});
  CHECK(ErrorTexts(errors, 1) ==
        Texts{"node01 worker 0 lane 0 and 4 more: the directory was removed", "and 1 more in result.json"});
}

TEST_CASE("one client with one lane gets no tables") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(2);
  phase.mutable_clients(0)->mutable_workers(0)->mutable_lanes()->RemoveLast();
  const std::string text = ConsolePhase(report, phase, ConsoleStyle{});
  CHECK(!Contains(text, "of mean"));
  CHECK(!Contains(text, "slowest"));
  CHECK(!Contains(text, "skew"));
  CHECK(Contains(text, "node01, cpu 14 %"));
}

TEST_CASE("of many clients the slowest twenty are listed") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(2);
  for (int i = 1; i <= 99; ++i) {
    v1::ClientPhaseReport& client = *phase.add_clients();
    client = phase.clients(0);
    client.set_host("c" + std::to_string(i));
    client.set_bytes_per_s(1000.0 * (100 - i));
  }
  const std::string text = ConsolePhase(report, phase, ConsoleStyle{});
  CHECK(Contains(text, "the slowest 20 of 100 clients"));
  CHECK(Contains(text, "  c99 "));
  CHECK(Contains(text, "  c80 "));
  CHECK(!Contains(text, "  c79 "));
  CHECK(text.find("  c99 ") < text.find("  c98 "));
}

TEST_CASE("of many clients those without a rate come first and then the slowest") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(2);
  for (int i = 1; i <= 99; ++i) {
    v1::ClientPhaseReport& client = *phase.add_clients();
    client = phase.clients(0);
    client.set_host("c" + std::to_string(i));
    client.set_bytes_per_s(i % 20 == 0 ? std::nan("") : 1000.0 * (100 - i));
  }
  const std::string text = ConsolePhase(report, phase, ConsoleStyle{});
  for (const char* const name : {"  c20 ", "  c40 ", "  c60 ", "  c80 ", "  c99 ", "  c84 "}) {
    INFO(name);
    CHECK(Contains(text, name));
  }
  CHECK(!Contains(text, "  c83 "));
  CHECK(text.find("  c80 ") < text.find("  c99 "));
}

TEST_CASE("five of nine stragglers are named and the rest are counted") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(2);
  for (int i = 0; i < 9; ++i) phase.add_stragglers("node01 worker 0 lane " + std::to_string(i) + ": 1 MiB/s");
  const std::string text = ConsolePhase(report, phase, ConsoleStyle{});
  CHECK(Contains(text, "slow lanes  node01 worker 0 lane 0: 1 MiB/s"));
  CHECK(Contains(text, "lane 4: 1 MiB/s"));
  CHECK(!Contains(text, "lane 5: 1 MiB/s"));
  CHECK(Contains(text, "and 4 more in result.json"));
}

TEST_CASE("a report of one phase has no summary table") {
  v1::RunReport report = GoldenReport();
  report.mutable_phases()->DeleteSubrange(1, 2);
  CHECK(!Contains(ConsoleFooter(report, ConsoleStyle{}), "summary"));
  CHECK(Contains(ConsoleFooter(GoldenReport(), ConsoleStyle{}), "summary"));
}

TEST_CASE("an empty report is rendered too") {
  CHECK(Contains(ConsoleText(v1::RunReport(), ConsoleStyle{}), "unfinished"));
  v1::PhaseReport phase;
  CHECK(!ConsolePhase(v1::RunReport(), phase, ConsoleStyle{}).empty());
}

TEST_CASE("printable text keeps letters and loses what could move the cursor or the reading direction") {
  CHECK(Printable("caf\303\251 \xf0\x9f\x98\x80") == "caf\303\251 \xf0\x9f\x98\x80");
  CHECK(Printable("a\tb\nc\x7f") == "a?b?c?");
  CHECK(Printable("\xc2\x9b"
                  "31m") == "?31m");  // C1 control sequence introducer
  CHECK(Printable("\xe2\x80\xae"
                  "exe") == "?exe");                    // right-to-left override
  CHECK(Printable("\xff\xc3") == "??");                 // not UTF-8, cut off
  CHECK(Printable("\xc0\xaf\xed\xa0\x80") == "?????");  // overlong, surrogate
}

TEST_CASE("width counts columns, not bytes") {
  CHECK(DisplayColumns("abc") == 3);
  CHECK(DisplayColumns("\303\266") == 1);
  CHECK(DisplayColumns("\xe6\x97\xa5\xe6\x9c\xac") == 4);  // two wide characters
  CHECK(DisplayColumns("e\xcc\x81") == 1);                 // combining accent
}

TEST_CASE("a shortened name keeps both ends") {
  CHECK(Shortened("abcdefghij", 10) == "abcdefghij");
  CHECK(Shortened("abcdefghij", 8) == "abc..hij");
  CHECK(Shortened("abcdefghij", 3) == "abc");
  CHECK(DisplayColumns(Shortened("\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5\xe6\x9c\xac", 7)) <= 7);
}

TEST_CASE("text is wrapped at spaces and long words are broken") {
  CHECK(Wrapped("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(Wrapped("abcdefgh", 3) == std::vector<std::string>{"abc", "def", "gh"});
  CHECK(Wrapped("", 10) == std::vector<std::string>{""});
}

double SecondsToWrap(size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += "word \xe6\x97\xa5\xe6\x9c\xac ";
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t begin = std::clock();  // processor time: does not depend on what else runs here
    REQUIRE(Wrapped(text, 86).size() > bytes / 200);
    best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return best;
}

TEST_CASE("wrapping ten times the text takes about ten times as long") {
  // It would be 100 times if every line counted the columns of all the rest.
  CHECK(SecondsToWrap(400'000) < 40 * SecondsToWrap(40'000));
}

TEST_CASE("a table aligns names left and figures right") {
  TextTable table({{"name", TextTable::Align::kLeft}, {"rate"}});
  table.AddRow({"a", "1 MiB/s"});
  table.AddRow({"longer", "12.5 MiB/s"});
  CHECK(table.Lines(100) == std::vector<std::string>{"name          rate",  //
                                                     "a          1 MiB/s",  //
                                                     "longer  12.5 MiB/s"});
}

TEST_CASE("in a table that is too wide the last words wrap, then the name is shortened") {
  TextTable table({{"name", TextTable::Align::kLeft}, {"rate"}, {"marks", TextTable::Align::kLeft}});
  table.AddRow(
      {"a-long-host-name", "1", "generator_bound, cached"});  // the longest mark stays whole, with its comma
  CHECK(table.Lines(40) == std::vector<std::string>{"name              rate  marks",             //
                                                    "a-long-host-name     1  generator_bound,",  //
                                                    "                        cached"});
  // A name has at least 12 columns.
  CHECK(table.Lines(36) == std::vector<std::string>{"name          rate  marks",             //
                                                    "a-lon..-name     1  generator_bound,",  //
                                                    "                    cached"});
}

TEST_CASE("optional columns go, the last one first, where even that does not fit") {
  TextTable table({{"name", TextTable::Align::kLeft},
                   {"a", TextTable::Align::kRight, true},
                   {"rate"},
                   {"b", TextTable::Align::kRight, true}});
  table.AddRow({"node", "111", "22222", "3333"});
  CHECK(table.Lines(22)[1] == "node  111  22222  3333");
  CHECK(table.Lines(21)[1] == "node  111  22222");
  CHECK(table.Lines(15)[1] == "node  22222");
}

TEST_CASE("columns that have no room follow below, with the first one again") {
  TextTable table({{"name", TextTable::Align::kLeft}, {"one"}, {"two"}, {"three"}});
  table.AddRow({"node", "111", "222", "33333"});
  CHECK(table.Lines(16) == std::vector<std::string>{"name  one  two",  //
                                                    "node  111  222",  //
                                                    "name  three",     //
                                                    "node  33333"});
}

TEST_CASE("texts between other columns are wrapped too") {
  TextTable table({{"", TextTable::Align::kLeft}, {"answer", TextTable::Align::kLeft}, {"by", TextTable::Align::kLeft}});
  table.AddRow({"links", "programs must know of it", "server"});
  CHECK(table.Lines(32) == std::vector<std::string>{"       answer             by",      //
                                                    "links  programs must      server",  //
                                                    "       know of it"});
}

TEST_CASE("a name that keeps its beginning is cut last, and at its end") {
  TextTable table(
      {{"phase", TextTable::Align::kLeft, false, true}, {"rate"}, {"p50", TextTable::Align::kRight, true}});
  table.AddRow({"random-read 1m 4 lanes", "1", "22"});
  CHECK(table.Lines(33)[1] == "random-read 1m 4 lanes     1   22");
  CHECK(table.Lines(32)[1] == "random-read 1m 4 lanes     1");
  CHECK(table.Lines(22)[1] == "random-read 1m..     1");
}

TEST_CASE("the summary has a phase's name alone") {
  const std::string summary = ConsoleFooter(GoldenReport(), ConsoleStyle{});
  CHECK(Contains(summary, "\n  nightly mix  "));
  CHECK_FALSE(Contains(summary, "(random-mix)"));
}

TEST_CASE("one clock read is told where it is a part of the loop that was measured") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(0);
  const auto text = [&] { return ConsolePhase(report, phase, ConsoleStyle{}); };
  CHECK(Contains(text(), "of the lanes' time; loop 18 ns per op; one clock read 10 ns (tsc)"));
  phase.mutable_tool()->set_clock_read_ns(77.5);
  CHECK(Contains(text(), "of the lanes' time; loop 18 ns per op (tsc)"));
}

TEST_CASE("large buffers are told with the share that is in huge pages") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(0);
  const auto text = [&] { return ConsolePhase(report, phase, ConsoleStyle{}); };
  v1::BufferPages& buffers = *phase.mutable_buffers();
  buffers.set_bytes(8 << 20);
  buffers.set_huge_page_bytes(8 << 20);
  CHECK(Contains(text(), "buffers 8 MiB, all in huge pages\n"));
  buffers.set_huge_page_bytes(6 << 20);
  CHECK(Contains(text(), "buffers 8 MiB, 6 MiB of them in huge pages\n"));
  buffers.set_huge_page_bytes(0);
  CHECK(Contains(text(), "buffers 8 MiB, none in huge pages\n"));
  buffers.set_local_bytes(8 << 20);
  CHECK(Contains(text(), "buffers 8 MiB, none in huge pages, all on their lanes' NUMA nodes\n"));
  buffers.clear_huge_page_bytes();
  buffers.set_local_bytes(2 << 20);
  CHECK(Contains(text(), "buffers 8 MiB, 2 MiB of them on their lanes' NUMA nodes\n"));
  buffers.clear_local_bytes();
  CHECK(Contains(text(), "buffers 8 MiB\n"));
  phase.clear_buffers();
  CHECK_FALSE(Contains(text(), "buffers"));
}

TEST_CASE("what was moved stands beside the time in which it was moved, the rest apart") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(0);
  phase.mutable_headline()->set_bytes_per_s(64 << 20);
  phase.set_measured_bytes(16 << 20);
  phase.set_bytes((16 << 20) + (832 << 10));
  const auto text = [&] { return ConsolePhase(report, phase, ConsoleStyle{}); };
  CHECK(Contains(text(), "moved       16 MiB in 250 ms, and 832 KiB after it, untimed; records of 64 KiB\n"));
  phase.mutable_stonewall()->set_kind("retroactive");
  CHECK(Contains(text(), "and 832 KiB after it, not counted"));
  report.mutable_run()->mutable_plan()->clear_phases();
  report.mutable_run()->mutable_plan()->add_phases()->mutable_stop()->set_warmup_s(1);
  CHECK(Contains(text(), "and 832 KiB before (warm-up) or after it, not counted"));
  phase.set_bytes(16 << 20);
  CHECK(Contains(text(), "moved       16 MiB in 250 ms; records of 64 KiB\n"));
  phase.set_measured_bytes(0);
  CHECK(Contains(text(),
                 "moved       nothing within the headline's time, and 16 MiB before (warm-up) or after it"));
}

TEST_CASE("an op on a vector is said to be several records") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(1);
  phase.set_operation("preadv");
  CHECK(Contains(ConsolePhase(report, phase, ConsoleStyle{}), "up to 16 records of 64 KiB per op"));
}

TEST_CASE("a phase in which nobody did anything is one line, its errors and its marks") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(0);
  phase.set_lane_count(0);
  phase.set_ops(0);
  phase.set_workers_lost(0);
  phase.set_lanes_failed(4);
  phase.set_lanes_sat_out(1);
  phase.clear_errors();
  phase.add_errors()->set_message("open: EACCES");
  const auto lines = LinesOf(ConsolePhase(report, phase, ConsoleStyle{}));
  CHECK(lines[1] == "write   nothing was measured: 4 lanes failed, 1 lane sat out");
  CHECK(lines[2] == "  errors      worker 0 lane 0: open: EACCES");
  for (size_t i = 3; i < lines.size(); ++i)
    CHECK((lines[i].find("  ! mark") == 0 || lines[i].find("       ") == 0));
}

TEST_CASE("the offset of an error is shown where there is one") {
  v1::ErrorReport error;
  error.set_operation("write");
  error.set_file("/data/lane-000000.0");
  error.set_message("the server has closed the connection");
  CHECK(ErrorText(error) ==
        "worker 0 lane 0: write /data/lane-000000.0: the server has closed the connection");
  error.set_offset(4096);
  CHECK(ErrorText(error) ==
        "worker 0 lane 0: write /data/lane-000000.0 at 4 KiB: the server has closed the connection");
}

TEST_CASE("of files of the user's the head says that they stay") {
  v1::RunReport report = GoldenReport();
  report.mutable_run()->mutable_plan()->mutable_files()->add_existing_files("/data/movie");
  const std::string text = ConsoleHeader(report, ConsoleStyle{});
  CHECK(Contains(text, "  data        the contents of your files; they are only read, never removed\n"));
  CHECK_FALSE(Contains(text, "removed at the end"));
}

TEST_CASE("percentages show what is there") {
  CHECK(Percent(0) == "0 %");
  CHECK(Percent(0.034) == "0.034 %");
  CHECK(Percent(0.02) == "0.02 %");
  CHECK(Percent(0.0001) == "< 0.001 %");
  CHECK(Percent(2.44) == "2.4 %");
  CHECK(Percent(-12.34) == "-12.3 %");
  CHECK(Percent(31.04) == "31 %");
  CHECK(Percent(100) == "100 %");
  CHECK(Percent(NAN) == "-");
}

TEST_CASE("the head says how Lustre spreads the files, where that was asked for") {
  v1::RunReport report = GoldenReport();
  const auto head = [&report] { return ConsoleHeader(report, ConsoleStyle{false, 300}); };
  CHECK(!Contains(head(), "OST"));
  v1::Stripe& stripe = *report.mutable_run()->mutable_plan()->mutable_stripe();
  stripe.set_count(4);
  stripe.set_bytes(1 << 20);
  CHECK(Contains(head(), "; over 4 OSTs, 1 MiB on each in turn\n"));
  stripe.set_count(-1);
  stripe.clear_bytes();
  CHECK(Contains(head(), "; over all OSTs\n"));
}

}  // namespace
}  // namespace iobench
