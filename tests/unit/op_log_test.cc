// The log of ops with offset, latency and size (-Q): what is logged, and the file.
#include "worker/op_log/op_log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "common/model/offset_latency_file.h"
#include "common/model/operation.h"
#include "tests/support/rights_guard.h"
#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

constexpr char kHeading[] = "Offset in kBytes   Latency in microseconds  Transfer size in bytes\n";

TickScale FourTicksPerNs() {
  return TickScale(TickSource::kTsc, {{0}, 0, 0}, {{4'000'000'000}, 1'000'000'000, 0});
}

OpTimes Lasting(uint64_t ns) {
  return {{1'000}, {1'000 + 4 * ns}};
}

Op OpAt(uint64_t offset) {
  return Op{OpKind::kWrite, 0, offset, 65536};
}

std::string TextOf(const std::string& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST_CASE("an op is logged with the latency that the loop measured, rounded to microseconds") {
  OpLog log(nullptr, FourTicksPerNs());
  REQUIRE(log.Reserve(2).ok());
  log.Before(OpAt(0));
  log.After(OpAt(0), nullptr, Lasting(38'500));
  log.Before(OpAt(65536));
  log.NotBegun();
  log.Before(OpAt(65536));
  log.After(OpAt(65536), nullptr, Lasting(38'499));
  REQUIRE(log.ops().size() == 2);
  CHECK(log.ops()[0] == LoggedOp{0, 65536, 39});
  CHECK(log.ops()[1] == LoggedOp{65536, 65536, 38});
  CHECK(log.left_out_count() == 0);
  log.Before(OpAt(0));
  log.After(OpAt(0), nullptr, Lasting(1));
  CHECK(log.ops().size() == 2);
  CHECK(log.left_out_count() == 1);
}

TEST_CASE("a latency beyond the file's range is its longest") {
  OpLog log(nullptr, FourTicksPerNs());
  REQUIRE(log.Reserve(1).ok());
  log.After(OpAt(0), nullptr, Lasting(5'000'000'000'000));
  CHECK(log.ops()[0].latency_us == 4'294'967'295);
}

TEST_CASE("unmeasured ops are not logged, but the lane's other hook still sees them, with their times") {
  struct Counter final : OpHook {
    int before = 0;
    std::vector<Ticks> ends;
    void Before(const Op&) override { ++before; }
    void After(const Op&, const std::byte*, OpTimes times) override { ends.push_back(times.end); }
  } inner;
  OpLog log(&inner, FourTicksPerNs());
  REQUIRE(log.Reserve(2).ok());
  log.EndMeasured();
  log.Before(OpAt(0));
  log.After(OpAt(0), nullptr, {{7}, {9}});
  CHECK(log.ops().empty());
  CHECK(inner.before == 1);
  CHECK(inner.ends == std::vector{Ticks{9}});
}

TEST_CASE("a file has IOzone's heading and fields, and each test adds its own") {
  const TempDir directory;
  const std::string file = directory / "wol.dat";
  REQUIRE(CheckOpLog(file).ok());
  CHECK_FALSE(std::filesystem::exists(file));
  const LoggedOp ops[] = {{0, 65536, 39}, {65536, 65536, 4'000'000'000}};
  REQUIRE(AppendOpLog(file, ops, LoggedTimes{.user_s = 0.25, .system_s = 1, .real_s = 12.5}).ok());
  const std::string first = std::string(kHeading) +
                            "         0         39      65536\n"
                            "        64 4000000000      65536\n"
                            "\nSystem time      1.000 User time      0.250 Real     12.500  (seconds)\n";
  CHECK(TextOf(file) == first);
  REQUIRE(CheckOpLog(file).ok());
  REQUIRE(AppendOpLog(file, std::span(ops).first(1), std::nullopt).ok());
  CHECK(TextOf(file) == first + kHeading + "         0         39      65536\n");
}

TEST_CASE("a foreign file, a link and a pipe are left alone") {
  const TempDir directory;
  std::ofstream(directory / "rol.dat") << "Offset in miles\n";
  std::ofstream(directory / "target") << kHeading;
  std::filesystem::create_symlink(directory / "target", directory / "wol.dat");
  REQUIRE(mkfifo((directory / "rrol.dat").c_str(), 0600) == 0);
  for (const char* const name : {"rol.dat", "wol.dat", "rrol.dat"}) {
    INFO(name);
    CHECK(absl::IsAlreadyExists(CheckOpLog(directory / name)));
    CHECK(absl::IsAlreadyExists(AppendOpLog(directory / name, {}, std::nullopt)));
  }
  CHECK(TextOf(directory / "rol.dat") == "Offset in miles\n");
  CHECK(TextOf(directory / "target") == kHeading);
  CHECK(absl::IsNotFound(CheckOpLog("/nonexistent/wol.dat")));
}

TEST_CASE("files go to the directory in which the worker was started") {
  const std::string here = std::filesystem::current_path().string();
  CHECK(OpLogPath("wol.dat") == here + "/wol.dat");
  const TempDir directory;
  WorkerRights rights;
  rights.log_directory = directory.path();
  const RightsGuard guard(rights);
  CHECK(OpLogPath("wol.dat") == directory / "wol.dat");
  CHECK(OpLogPath(here + "/wol.dat") == here + "/wol.dat");
  REQUIRE(CheckOpLog("wol.dat").ok());
  directory.Write("wol.dat", "Offset in miles\n");
  CHECK(absl::IsAlreadyExists(CheckOpLog("wol.dat")));
}

TEST_CASE("files have IOzone's names, and no two operations share one") {
  CHECK(OffsetLatencyFile("write", 0, true) == "wol.dat");
  CHECK(OffsetLatencyFile("rewrite", 0, true) == "rwol.dat");
  CHECK(OffsetLatencyFile("read", 0, true) == "rol.dat");
  CHECK(OffsetLatencyFile("reread", 0, true) == "rrol.dat");
  CHECK(OffsetLatencyFile("random-read", 12, false) == "Child_12_randrol.dat");
  CHECK(OffsetLatencyFile("putc", 3, false) == "Child_3_putc_ol.dat");
  std::vector<std::string> names;
  for (const OperationSpec& operation : Operations())
    names.push_back(OffsetLatencyFile(operation.name, 0, true));
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

}  // namespace
}  // namespace iobench
