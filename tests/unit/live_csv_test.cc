#include "coordinator/live/live_csv.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/match.h"
#include "catch2/catch.hpp"
#include "tests/unit/live_progress.h"

namespace iobench {
namespace {

namespace fs = std::filesystem;

std::string ContentOf(const fs::path& path) {
  std::ifstream in(path);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

struct CsvDirectory {
  CsvDirectory() {
    char name[] = "/tmp/live_csv_test.XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    path = name;
  }
  ~CsvDirectory() { fs::remove_all(path); }
  std::string file() const { return path / "live.csv"; }
  fs::path path;
};

TEST_CASE("a sample is a row of the cluster and one of each client; what is unknown is empty") {
  LiveSample sample;
  sample.phase = "mix, \"hot\"";
  sample.index = 1;
  sample.cluster = {.client = "",
                    .at_s = 2.5,
                    .bytes_per_s = 1024,
                    .ops_per_s = 2,
                    .latency = {.mean_us = 10.5, .p50_us = 10, .p99_us = 11, .max_us = 12.3456},
                    .bytes = 2048,
                    .ops = 4,
                    .lanes_running = 3,
                    .lane_count = 4,
                    .workers_lost = 1};
  sample.clients.push_back({.client = "n\303\266rd",
                            .at_s = 2,
                            .bytes_per_s = NAN,
                            .ops_per_s = NAN,
                            .latency = {},
                            .bytes = 2048,
                            .ops = 4,
                            .lanes_running = 3,
                            .lane_count = 4,
                            .workers_lost = 0});
  CHECK(LiveCsvRows(sample, "T") ==
        "T,2.5,1,\"mix, \"\"hot\"\"\",all,1024,2,2048,4,3,4,1,10.5,10,11,12.346\n"
        "T,2,1,\"mix, \"\"hot\"\"\",n\303\266rd,,,2048,4,3,4,0,,,,\n");
}

TEST_CASE("rows are in the file at once, and the end of a phase adds its own") {
  const CsvDirectory directory;
  auto csv = LiveCsv::Open(directory.file(), false);
  REQUIRE(csv.ok());
  (*csv)->RunStarts(LiveReport({"a"}));
  LivePhase phase({"a"});
  (*csv)->PhasePrepares(phase.At(0));
  phase.Answer(0, 1, 512, 8);
  (*csv)->PhaseMoves(phase.At(1));
  const std::string text = ContentOf(directory.file());
  CHECK(absl::StartsWith(text, "time,elapsed_s,phase_index,phase,client,"));
  CHECK(absl::StrContains(text, "Z,1,0,write,all,512,8,512,8,2,2,0,,,,\n"));
  CHECK(absl::EndsWith(text, "Z,1,0,write,a,512,8,512,8,2,2,0,,,,\n"));
  v1::PhaseReport report;
  report.set_name("write");
  report.set_duration_s(2);
  report.set_bytes(600);
  report.add_clients()->set_host("a");
  report.mutable_clients(0)->set_bytes(600);
  report.mutable_clients(0)->set_ops(8);
  (*csv)->PhaseEnds({}, report);
  CHECK(absl::EndsWith(ContentOf(directory.file()), "Z,2,0,write,a,88,0,600,8,0,0,0,,,,\n"));
  CHECK((*csv)->status().ok());
}

TEST_CASE("a file that exists is replaced only if asked, and only when the run starts") {
  const CsvDirectory directory;
  std::ofstream(directory.file()) << "earlier\n";
  CHECK(absl::IsAlreadyExists(LiveCsv::Open(directory.file(), false).status()));
  {
    auto refused_later = LiveCsv::Open(directory.file(), true);
    REQUIRE(refused_later.ok());
  }
  CHECK(ContentOf(directory.file()) == "earlier\n");
  auto csv = LiveCsv::Open(directory.file(), true);
  REQUIRE(csv.ok());
  (*csv)->RunStarts(LiveReport({}));
  CHECK(absl::StartsWith(ContentOf(directory.file()), "time,"));
}

TEST_CASE("nothing is left of a file whose run did not start") {
  const CsvDirectory directory;
  { REQUIRE(LiveCsv::Open(directory.file(), false).ok()); }
  CHECK_FALSE(fs::exists(directory.file()));
}

TEST_CASE("an earlier file is replaced, never written to, so that its other names keep it") {
  const CsvDirectory directory;
  std::ofstream(directory.file()) << "earlier\n";
  const std::string other_name = directory.file() + ".kept";
  fs::create_hard_link(directory.file(), other_name);
  auto csv = LiveCsv::Open(directory.file(), true);
  REQUIRE(csv.ok());
  (*csv)->RunStarts(LiveReport({}));
  CHECK(absl::StartsWith(ContentOf(directory.file()), "time,"));
  CHECK(ContentOf(other_name) == "earlier\n");
}

TEST_CASE("what a link of another user leads to is not written to") {
  const CsvDirectory directory;
  const std::string foreign = directory.file() + ".foreign";
  std::ofstream(foreign) << "mine\n";
  fs::create_symlink(foreign, directory.file());
  if (::lchown(directory.file().c_str(), 4711, 4711) != 0) return;  // CI is root
  CHECK(absl::IsAlreadyExists(LiveCsv::Open(directory.file(), false).status()));
  CHECK(absl::IsInvalidArgument(LiveCsv::Open(directory.file(), true).status()));
  CHECK(ContentOf(foreign) == "mine\n");
}

TEST_CASE("a full device is reported once the run is over, with the file's name") {
  auto csv = LiveCsv::Open("/dev/full", true);
  REQUIRE(csv.ok());
  (*csv)->RunStarts(LiveReport({}));
  CHECK(absl::StrContains(std::string((*csv)->status().message()), "--live-csv /dev/full is incomplete"));
  CHECK(absl::IsResourceExhausted((*csv)->status()));
}

TEST_CASE("a file in a directory that does not exist is refused") {
  CHECK(absl::IsNotFound(LiveCsv::Open("/nonexistent/live.csv", true).status()));
}

}  // namespace
}  // namespace iobench
