// Bonnie++'s formats, from messages whose figures can be worked out by hand.
#include <algorithm>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "catch2/catch.hpp"
#include "coordinator/report/bonnie/bonnie_cells.h"
#include "coordinator/report/bonnie/bonnie_report.h"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

using Write = absl::Status (*)(const v1::RunReport&, std::ostream&);

std::string Written(Write write, const v1::RunReport& report) {
  std::ostringstream out;
  REQUIRE(write(report, out).ok());
  return out.str();
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  lines.pop_back();
  return lines;
}

std::vector<std::string> FieldsOf(const std::string& line) {
  return absl::StrSplit(line, ',');
}

// The numbers of fields in 2.00a's layout.
enum Field {
  kName = 2,
  kConcurrency = 3,
  kSize = 5,
  kChunk = 6,
  kSeekCount = 7,
  kSeekers = 8,
  kPutc = 9,
  kPutBlock = 11,
  kPutBlockCpu = 12,
  kGetBlock = 17,
  kSeeks = 19,
  kItems = 21,
  kMaxBytes = 22,
  kMinBytes = 23,
  kDirectories = 24,
  kItemChunk = 25,
  kSeqCreate = 26,
  kRandomDelete = 36,
  kRandomDeleteCpu = 37,
  kPutBlockLatency = 39,
  kRandomDeleteLatency = 49,
};

// A run of one worker with one lane per client. Every phase that is added took `seconds`, of which its lanes spent a
// quarter on their processors.
class BonnieStory {
 public:
  BonnieStory() {
    report_.mutable_run()->set_coordinator_host("head");
    report_.mutable_run()->set_id("20261122T070153Z-22283");
    report_.mutable_run()->set_program_version("1.0");
    report_.mutable_run()->set_worker_count(1);
    report_.mutable_run()->mutable_plan()->set_seed(42);
    report_.mutable_run()->mutable_plan()->set_lanes_per_worker(1);
    AddClient("head");
  }

  void AddClient(const std::string& host) {
    v1::ClientReport& client = *report_.add_clients();
    client.set_host(host);
    client.set_worker_count(1);
    report_.mutable_run()->set_worker_count(static_cast<uint32_t>(report_.clients_size()));
  }

  v1::PhaseReport& Add(const std::string& operation, double bytes_per_s, double ops_per_s, double seconds) {
    v1::Phase& planned = *report_.mutable_run()->mutable_plan()->add_phases();
    planned.add_assignments()->mutable_operation()->set_name(operation);
    v1::PhaseReport& phase = *report_.add_phases();
    phase.set_index(static_cast<uint32_t>(report_.phases_size() - 1));
    phase.set_name(operation);
    phase.set_operation(operation);
    phase.set_record_bytes(8192);
    phase.set_bytes_per_lane(64 << 20);
    phase.set_measured_ops(static_cast<uint64_t>(ops_per_s * seconds));
    phase.set_ops(phase.measured_ops());
    phase.set_lane_count(static_cast<uint32_t>(report_.clients_size()));
    phase.mutable_headline()->set_bytes_per_s(bytes_per_s);
    phase.mutable_headline()->set_ops_per_s(ops_per_s);
    phase.set_lanes_cpu_user_s(seconds / 8);
    phase.set_lanes_cpu_system_s(seconds / 8);
    phase.set_lanes_wall_s(seconds);
    phase.mutable_latency_us()->set_max(1500);
    phase.mutable_latency_us()->set_count(phase.ops());
    for (const v1::ClientReport& client : report_.clients()) {
      v1::ClientPhaseReport& part = *phase.add_clients();
      part.set_host(client.host());
      part.set_measured_ops(phase.measured_ops() / static_cast<uint64_t>(report_.clients_size()));
      part.set_ops(part.measured_ops());
      part.set_bytes_per_s(bytes_per_s / report_.clients_size());
      part.set_ops_per_s(ops_per_s / report_.clients_size());
      part.mutable_latency_us()->set_max(700);
      part.mutable_latency_us()->set_count(1);
      v1::LanePhaseReport& lane = *part.add_workers()->add_lanes();
      lane.set_start_us(0.5e6);
      lane.set_end_s(0.5 + seconds);
      lane.set_cpu_user_s(seconds / 2);
    }
    return phase;
  }

  v1::RunReport& report() { return report_; }
  std::string Text() { return Written(WriteBonnieText, report_); }
  std::vector<std::string> Csv() { return LinesOf(Written(WriteBonnieCsv, report_)); }
  std::vector<std::string> Fields() { return FieldsOf(Csv().at(0)); }

 private:
  v1::RunReport report_;
};

v1::RunReport BonnieGolden() {
  v1::RunReport report;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(FileText(GoldenPath("bonnie.textproto")), &report));
  return report;
}

TEST_CASE("Bonnie++'s text of the fixed result is as it was looked at") {
  CheckGolden("bonnie.txt", Written(WriteBonnieText, BonnieGolden()));
}

TEST_CASE("Bonnie++ 2.00a's CSV of the fixed result is as it was looked at") {
  CheckGolden("bonnie.csv", Written(WriteBonnieCsv, BonnieGolden()));
}

TEST_CASE("Bonnie++ 1.96's CSV of the fixed result is as it was looked at") {
  CheckGolden("bonnie-1.96.csv", Written(WriteBonnieCsv196, BonnieGolden()));
}

TEST_CASE("the two layouts have 50 and 48 fields, of which only the numbers of seeks and seekers differ") {
  BonnieStory story;
  story.Add("seeks", 8192 * 500.0, 500, 4).set_lane_count(5);
  story.report().mutable_run()->mutable_plan()->mutable_phases(0)->mutable_stop()->set_max_ops(400);
  std::vector<std::string> newer = story.Fields();
  std::vector<std::string> older = FieldsOf(LinesOf(Written(WriteBonnieCsv196, story.report())).at(0));
  REQUIRE(newer.size() == 50);
  REQUIRE(older.size() == 48);
  CHECK(newer[0] == "1.98");
  CHECK(newer[1] == "2.00a");
  CHECK(newer[kSeekCount] == "2000");
  CHECK(newer[kSeekers] == "5");
  CHECK(older[0] == "1.96");
  CHECK(older[1] == "1.96");
  newer.erase(newer.begin() + kSeekCount, newer.begin() + kSeekers + 1);
  CHECK(std::equal(older.begin() + 2, older.end(), newer.begin() + 2));
}

TEST_CASE("tests that were not run leave their fields and columns empty") {
  BonnieStory story;
  story.Add("write", 2048 * 1024.0, 256, 2);
  const std::vector<std::string> fields = story.Fields();
  REQUIRE(fields.size() == 50);
  CHECK(fields[kPutBlock] == "2048");
  CHECK(fields[kPutBlockCpu] == "25");
  CHECK(fields[kPutBlockLatency] == "1500us");
  for (size_t i = kSeekCount; i < fields.size(); ++i) {
    INFO(i);
    if (i < kPutBlock || (i > kPutBlockCpu && i != kPutBlockLatency)) CHECK(fields[i].empty());
  }
  const std::vector<std::string> lines = LinesOf(story.Text());
  CHECK(lines.at(3) == "head            64M           2048k  25");
  CHECK(lines.at(4) == "Latency                        1500us");
  CHECK_FALSE(absl::StrContains(story.Text(), "Create"));
}

TEST_CASE("a test of less than half a second has plus signs, and its latency") {
  for (const double seconds : {0.499, 0.5}) {
    BonnieStory story;
    story.Add("write", 1 << 20, 10'000, seconds);
    const bool is_short = seconds < 0.5;
    CHECK(story.Fields()[kPutBlock] == (is_short ? "+++++" : "1024"));
    CHECK(story.Fields()[kPutBlockCpu] == (is_short ? "+++" : "25"));
    CHECK(story.Fields()[kPutBlockLatency] == "1500us");
    CHECK(absl::StrContains(story.Text(), "for less than 0.5 s") == is_short);
  }
  BonnieStory story;
  story.Add("write", 1 << 20, 10'000, 0.1);
  CHECK(absl::StrContains(story.Text(), "           +++++ +++\n"));
}

TEST_CASE("a phase that measured nothing is a test that was not run") {
  BonnieStory story;
  story.Add("read", 1 << 20, 128, 1);
  v1::PhaseReport& failed = story.Add("write", 0, 0, 0);
  failed.mutable_headline()->set_ops_per_s(std::numeric_limits<double>::quiet_NaN());
  CHECK(story.Fields()[kPutBlock].empty());
  CHECK(story.Fields()[kPutBlockCpu].empty());
  CHECK(story.Fields()[kGetBlock] == "1024");
}

TEST_CASE("rates of data are in k, m or g, with at most five columns") {
  const auto text_of = [](double kib_per_s) {
    BonnieMachine machine;
    machine.figures[1] = {.state = BonnieFigure::State::kMeasured, .bytes_per_s = kib_per_s * 1024};
    return BonnieShortRate(machine, BonnieTest::kPutBlock);
  };
  CHECK(text_of(0.4) == "0k");
  CHECK(text_of(9999.4) == "9999k");
  CHECK(text_of(10000) == "9.8m");
  CHECK(text_of(99.9 * 1024) == "99.9m");
  CHECK(text_of(99.96 * 1024) == "100m");
  CHECK(text_of(999 * 1024) == "999m");
  CHECK(text_of(1000 * 1024) == "1.0g");
  CHECK(text_of(12.34 * 1048576) == "12.3g");
  CHECK(text_of(200 * 1048576) == "200g");
}

TEST_CASE("seeks have a digit after the point below 1000, files none") {
  const auto rates_of = [](BonnieTest test, double rate) {
    BonnieMachine machine;
    machine.figures[static_cast<size_t>(test)] = {.state = BonnieFigure::State::kMeasured, .ops_per_s = rate};
    return BonnieRate(machine, test) + " " + BonnieShortRate(machine, test);
  };
  CHECK(rates_of(BonnieTest::kSeeks, 123.44) == "123.4 123.4");
  CHECK(rates_of(BonnieTest::kSeeks, 999.94) == "999.9 999.9");
  CHECK(rates_of(BonnieTest::kSeeks, 999.96) == "1000 1000");
  CHECK(rates_of(BonnieTest::kSeqStat, 123.44) == "123 123");
  CHECK(rates_of(BonnieTest::kSeqStat, 99'999) == "99999 99999");
  CHECK(rates_of(BonnieTest::kSeqStat, 123'456) == "123456 123k");
}

TEST_CASE("latencies are in us below 100 ms, and in ms below 100 s") {
  const auto text_of = [](double us) {
    return BonnieLatency({.state = BonnieFigure::State::kMeasured, .max_latency_us = us});
  };
  CHECK(text_of(0.6) == "1us");
  CHECK(text_of(99'999) == "99999us");
  CHECK(text_of(100'000) == "100ms");
  CHECK(text_of(99'999'400) == "99999ms");
  CHECK(text_of(100'000'000) == "100s");
  CHECK(text_of(std::numeric_limits<double>::quiet_NaN()).empty());
}

TEST_CASE("sizes are in the largest unit that divides them, files in units of 1024") {
  CHECK(BonnieSize(2ull << 30) == "2G");
  CHECK(BonnieSize(64ull << 20) == "64M");
  CHECK(BonnieSize(65539ull << 10) == "65539K");
  CHECK(BonnieSize(1000) == "1000");
  CHECK(BonnieItems(16384) == "16");
  CHECK(BonnieItems(50) == "0.0488");
  CHECK(BonnieItems(256) == "0.25");
  CHECK(BonnieItems(3'000) == "2.92969");
  CHECK(BonnieItems(50'000) == "48.8281");
  CHECK(BonnieItems(2'000'000) == "1953");
}

TEST_CASE("the chunk, the seekers and the directories are in their own fields") {
  BonnieStory story;
  story.Add("write", 1 << 20, 128, 1).set_record_bytes(65536);
  v1::Tree& tree = *story.Add("create", 0, 3000, 1).mutable_tree();
  tree.set_items_per_lane(2048);
  tree.set_file_bytes(10000);
  tree.set_random_sizes(true);
  tree.set_min_file_bytes(1000);
  tree.set_depth(1);
  tree.set_branching(3);
  const std::vector<std::string> fields = story.Fields();
  CHECK(fields[kSize] == "64M");
  CHECK(fields[kChunk] == "64k");
  CHECK(fields[kItems] == "2");
  CHECK(fields[kMaxBytes] == "10000");
  CHECK(fields[kMinBytes] == "1000");
  CHECK(fields[kDirectories] == "3");
  CHECK(fields[kItemChunk].empty());
  CHECK(fields[kSeqCreate] == "3000");
  const std::string text = story.Text();
  CHECK(absl::StrContains(text, "\nhead        64M:64k "));
  CHECK(absl::StrContains(text, "\nfiles:max:min        /sec"));
  CHECK(absl::StrContains(text, "\n     2:10000:1000/3  3000  25\n"));
}

TEST_CASE("a tree of several levels has the directories of all of them") {
  BonnieStory story;
  v1::Tree& tree = *story.Add("create", 0, 3000, 1).mutable_tree();
  tree.set_items_per_lane(1024);
  tree.set_depth(2);
  tree.set_branching(4);
  CHECK(story.Fields()[kDirectories] == "20");  // 4 + 16
}

TEST_CASE("the tests of names are in order or at random by their trees") {
  BonnieStory story;
  v1::PhaseReport& phase = story.Add("unlink", 0, 5000, 1);
  phase.mutable_tree()->set_items_per_lane(1024);
  phase.mutable_tree()->set_random_order(true);
  CHECK(story.Fields()[kRandomDelete] == "5000");
  CHECK(story.Fields()[kRandomDeleteCpu] == "25");
  CHECK(story.Fields()[kRandomDeleteLatency] == "1500us");
  const std::vector<std::string> lines = LinesOf(story.Text());
  CHECK(absl::StartsWith(lines.at(1), "head                -Create--"));
  CHECK(lines.at(2) == "              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP");
  CHECK(lines.at(3) == std::string(18, ' ') + "1" + std::string(50, ' ') + "  5000  25");
}

TEST_CASE("with several clients, the first line is all of them, and each has its own with its part") {
  BonnieStory story;
  story.AddClient("node,2");
  story.Add("write", 4 << 20, 512, 2);
  const std::vector<std::string> lines = story.Csv();
  REQUIRE(lines.size() == 3);
  const std::vector<std::string> all = FieldsOf(lines[0]), second = FieldsOf(lines[2]);
  CHECK(all[kName] == "head (2 clients)");
  CHECK(all[kConcurrency] == "2");
  CHECK(all[kPutBlock] == "4096");
  CHECK(all[kPutBlockCpu] == "25");
  CHECK(all[kPutBlockLatency] == "1500us");
  CHECK(FieldsOf(lines[1])[kName] == "head");
  CHECK(second[kName] == "node_2");
  CHECK(second[kConcurrency] == "1");
  CHECK(second[kPutBlock] == "2048");
  CHECK(second[kPutBlockCpu] == "50");
  CHECK(second[kPutBlockLatency] == "700us");
  const std::vector<std::string> text = LinesOf(story.Text());
  CHECK(text.at(3) == "head (2 cl.. 64M::2           4096k  25");
  CHECK(text.at(7) == "node,2          64M           2048k  50");
}

TEST_CASE("clients of the same name keep their own figures, and one that sat out has none") {
  BonnieStory story;
  story.AddClient("head");
  story.AddClient("idle");
  v1::PhaseReport& phase = story.Add("write", 3 << 20, 384, 2);
  phase.mutable_clients(0)->set_bytes_per_s(1 << 20);
  phase.mutable_clients(1)->set_bytes_per_s(2 << 20);
  phase.mutable_clients()->RemoveLast();
  const std::vector<std::string> lines = story.Csv();
  REQUIRE(lines.size() == 4);
  CHECK(FieldsOf(lines[1])[kPutBlock] == "1024");
  CHECK(FieldsOf(lines[2])[kPutBlock] == "2048");
  CHECK(FieldsOf(lines[3])[kName] == "idle");
  CHECK(FieldsOf(lines[3])[kPutBlock].empty());
}

TEST_CASE("the label is the name, and nothing in a name can break the CSV or a page made of it") {
  BonnieStory story;
  story.report().mutable_run()->set_label("\"a\",<script>\n\033[31m ö & 'b'");
  story.AddClient("node2");
  story.Add("write", 1 << 20, 128, 1);
  const std::vector<std::string> lines = story.Csv();
  REQUIRE(lines.size() == 3);
  for (const std::string& line : lines) CHECK(FieldsOf(line).size() == 50);
  CHECK(FieldsOf(lines[0])[kName] == "_a___script_??[31m ö _ _b_");
  CHECK(absl::EndsWith(FieldsOf(lines[2])[kName], "/node2"));
  CHECK(story.Text().find('\033') == std::string::npos);
}

TEST_CASE("a long name is cut, so that no line is wider than 80 columns") {
  BonnieStory story;
  story.report().mutable_run()->set_label("a-very-long-name-漢字漢字.example.org");
  for (const char* operation :
       {"putc", "write", "update", "getc", "read", "seeks", "create", "stat", "unlink"}) {
    story.Add(operation, 1e11, 5e6, 200).mutable_latency_us()->set_max(9e12);
  }
  const std::vector<std::string> lines = LinesOf(story.Text());
  for (const std::string& line : lines) CHECK(line.size() <= 80);
  CHECK(absl::StartsWith(lines.at(3), "a-very-l.. 64M::::1 "));
}

TEST_CASE("each repetition has lines of its own, and of equal tests the first counts") {
  BonnieStory story;
  story.Add("write", 1 << 20, 128, 1);
  story.Add("write", 2 << 20, 256, 1);
  story.Add("write", 3 << 20, 384, 1).set_repetition(1);
  const std::vector<std::string> lines = story.Csv();
  REQUIRE(lines.size() == 2);
  CHECK(FieldsOf(lines[0])[kPutBlock] == "1024");
  CHECK(FieldsOf(lines[1])[kPutBlock] == "3072");
}

TEST_CASE("phases of one client or of servers or beside a load are not Bonnie++'s tests") {
  BonnieStory story;
  for (int i = 0; i < 4; ++i) story.Add("write", (1 + i) << 20, 128 * (1 + i), 1);
  v1::Plan& plan = *story.report().mutable_run()->mutable_plan();
  plan.mutable_phases(0)->mutable_alone()->set_client("c01");
  plan.mutable_phases(1)->mutable_on_servers()->set_servers(1);
  plan.mutable_phases(2)->mutable_interference()->set_others(1);
  CHECK(story.Fields()[kPutBlock] == "4096");
  plan.mutable_phases(2)->mutable_interference()->set_others(0);  // the victims, undisturbed
  CHECK(story.Fields()[kPutBlock] == "3072");
  *plan.mutable_phases(2) = *plan.mutable_phases(3) = plan.phases(0);
  std::ostringstream out;
  CHECK(absl::IsFailedPrecondition(WriteBonnieText(story.report(), out)));
}

TEST_CASE("the CPU of lanes whose time is not known is empty, never 0") {
  BonnieStory story;
  story.Add("write", 1 << 20, 128, 1).set_lanes_wall_s(0);
  CHECK(story.Fields()[kPutBlock] == "1024");
  CHECK(story.Fields()[kPutBlockCpu].empty());
}

TEST_CASE("the name's field has what differs from Bonnie++'s defaults, as far as it fits") {
  BonnieStory story;
  v1::PhaseReport& seeks = story.Add("seeks", 1 << 20, 800, 10);
  seeks.set_lane_count(5);
  v1::Phase& planned = *story.report().mutable_run()->mutable_plan()->mutable_phases(0);
  planned.mutable_stop()->set_max_ops(1638);
  CHECK(absl::StrContains(story.Text(), "\nhead            64M "));  // 8190: what five seekers can do of 8192
  planned.mutable_stop()->set_max_ops(600);
  CHECK(absl::StrContains(story.Text(), "\nhead     64M:::3000 "));
  seeks.set_lane_count(3);
  CHECK(absl::StrContains(story.Text(), "\nhead   64M:::1800:3 "));
  seeks.set_bytes_per_lane(1001 << 10);  // 125 records, none of which a seeker visits twice
  CHECK(absl::StrContains(story.Text(), "\nhead  1001K:::375:3 "));
  seeks.set_record_bytes(65536);
  for (int i = 1; i < 10; ++i) seeks.mutable_clients(0)->add_workers();
  seeks.set_lane_count(120);
  seeks.set_bytes_per_lane(uint64_t{1001} << 30);
  CHECK(absl::StrContains(story.Text(), "\n  1001G:64k:10:7200 "));
  seeks.set_bytes_per_lane(uint64_t{1001001} << 30);
  CHECK(absl::StrContains(story.Text(), "\nhea 1001001G:64k:10 "));
}

TEST_CASE("the notes say what the character tests cover, and which tests have marks") {
  BonnieStory story;
  v1::PhaseReport& phase = story.Add("putc", 1 << 20, 128, 1);
  phase.set_bytes_per_lane(3 << 20);
  phase.add_marks()->set_code("cached");
  phase.set_not_whole("interrupted");
  const std::string text = story.Text();
  CHECK(absl::StrContains(text, "\nPer Chr: putc() of 3 MiB; its latency is that of 8 KiB."));
  CHECK(absl::StrContains(text, "\nMark cached: putc.\nMark not whole (interrupted): putc.\n"));
  CHECK(story.Fields()[kPutc] == "1024");
}

TEST_CASE("a write of single bytes is Bonnie++'s character test, as it is since 1.92") {
  BonnieStory story;
  v1::PhaseReport& phase = story.Add("write", 1 << 20, 1 << 20, 1);
  phase.set_record_bytes(1);
  phase.set_bytes_per_lane(3 << 20);
  CHECK(story.Fields()[kPutc] == "1024");
  CHECK(story.Fields()[kPutBlock].empty());
  CHECK(absl::StrContains(story.Text(), "\nPer Chr: write() of each byte of 3 MiB.\n"));
}

TEST_CASE("without any of Bonnie++'s tests there is nothing to show, and the message says what to run") {
  BonnieStory story;
  story.Add("random-read", 1 << 20, 128, 1);
  for (const Write write : {WriteBonnieText, WriteBonnieCsv, WriteBonnieCsv196}) {
    std::ostringstream out;
    const absl::Status status = write(story.report(), out);
    CHECK(absl::IsFailedPrecondition(status));
    CHECK(absl::StrContains(status.message(), "--suite bonnie"));
    CHECK(out.str().empty());
  }
}

}  // namespace
}  // namespace iobench
