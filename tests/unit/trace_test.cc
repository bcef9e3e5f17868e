#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/temp_dir.h"
#include "worker/lane/trace_hook.h"
#include "worker/prepare/trace_file.h"

namespace iobench {
namespace {

constexpr uint64_t kFileBytes = 1 << 20;

std::string ProblemWith(std::string_view text) {
  const auto ops = ParseTrace(text, "t", kFileBytes);
  REQUIRE(!ops.ok());
  CHECK(absl::IsInvalidArgument(ops.status()));
  return std::string(ops.status().message());
}

std::shared_ptr<const TraceOps> Trace(TraceOps ops) {
  return std::make_shared<const TraceOps>(std::move(ops));
}

// Moves during sleeps, and when it is read often.
class FakeClock final : public PauseClock {
 public:
  int64_t now_ns = 1'000'000;
  int64_t NowNs() override { return now_ns += 1; }
  void SleepUntilNs(int64_t ns) override { now_ns = ns; }
};

Op OpAt(uint64_t offset, uint32_t length) {
  return Op{OpKind::kWrite, 0, offset, length};
}

TEST_CASE("a trace has an op a line, with or without a delay") {
  const auto ops = ParseTrace("# ours\n0 4096\n8192\t512  1.5\r\n1048575 1 250", "t", kFileBytes);
  REQUIRE(ops.ok());
  CHECK(*ops == TraceOps{{0, 4096, 0}, {8192, 512, 1500}, {1048575, 1, 250'000}});
}

TEST_CASE("a bad line of a trace is named by its number") {
  CHECK(ProblemWith("0 512\n\n0 512\n") ==
        "trace t:2: a line must be \"offset size\" or \"offset size delay_ms\"");
  CHECK_THAT(ProblemWith("#\n0\n"), Catch::StartsWith("trace t:2: a line must be "));
  CHECK_THAT(ProblemWith("0 512 0 0\n"), Catch::StartsWith("trace t:1: a line must be "));
  CHECK_THAT(ProblemWith("zero 512\n"),
             Catch::StartsWith("trace t:1: offset and size must be whole numbers"));
  CHECK_THAT(ProblemWith("-512 512\n"),
             Catch::StartsWith("trace t:1: offset and size must be whole numbers"));
  CHECK_THAT(ProblemWith("0 4k\n"), Catch::StartsWith("trace t:1: offset and size must be whole numbers"));
  CHECK_THAT(ProblemWith("0 0\n"), Catch::StartsWith("trace t:1: a size of 0 "));
  CHECK_THAT(ProblemWith("0 2147483648\n"), Catch::StartsWith("trace t:1: a size of 2147483648 "));
  CHECK_THAT(ProblemWith("0 512 -1\n"), Catch::StartsWith("trace t:1: a delay must be "));
  CHECK_THAT(ProblemWith("0 512 nan\n"), Catch::StartsWith("trace t:1: a delay must be "));
  CHECK_THAT(ProblemWith("0 512 soon\n"), Catch::StartsWith("trace t:1: a delay must be "));
  CHECK_THAT(ProblemWith("1048576 1\n"), Catch::Contains("end past the lane's file of 1048576 bytes"));
  CHECK_THAT(ProblemWith("18446744073709551615 1024\n"), Catch::Contains("end past"));
  CHECK(ProblemWith("# nothing\n") == "trace t: it contains no ops");
  CHECK(absl::IsNotFound(LoadTrace("/nonexistent/trace", 1).status()));
}

TEST_CASE("a trace that is written is read back as it was") {
  std::string name = "/tmp/cluster-iobench-trace-XXXXXX";
  const int made = mkstemp(name.data());
  REQUIRE(made >= 0);
  close(made);
  unlink(name.c_str());
  const TraceOps ops = {{0, 4096, 0}, {4096, 1, 1}, {1048064, 512, 3'599'999'999}};
  {
    auto fd = OpenTraceForWriting(name);
    REQUIRE(fd.ok());
    REQUIRE(WriteTrace(fd->get(), name, ops).ok());
  }
  std::stringstream text;
  text << std::ifstream(name).rdbuf();
  CHECK(text.str() == "0 4096 0.000\n4096 1 0.001\n1048064 512 3599999.999\n");
  const auto back = LoadTrace(name, kFileBytes);
  unlink(name.c_str());
  REQUIRE(back.ok());
  CHECK(**back == ops);
}

TEST_CASE("a trace that the system does not keep is an error, though all of it was taken") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);  // takes what is written, and cannot flush it
  const TraceOps ops = {{0, 512, 0}};
  const absl::Status written = WriteTrace(ends[1], "t", ops);
  close(ends[0]);
  close(ends[1]);
  CHECK(absl::IsInvalidArgument(written));
  CHECK_THAT(std::string(written.message()), Catch::StartsWith("fsync of trace t: "));
}

TEST_CASE("what bears the name of a trace is neither overwritten nor followed") {
  std::string name = "/tmp/cluster-iobench-trace-XXXXXX";
  const int made = mkstemp(name.data());
  REQUIRE(made >= 0);
  close(made);
  const std::string link = name + ".link";
  REQUIRE(symlink((name + ".nowhere").c_str(), link.c_str()) == 0);
  const absl::Status file = OpenTraceForWriting(name).status(), dangling = OpenTraceForWriting(link).status();
  std::vector<bool> looked;
  for (const std::string& each : {name, link, name + ".nowhere"})
    looked.push_back(absl::IsAlreadyExists(CheckNewTrace(each)));
  const bool followed = access((name + ".nowhere").c_str(), F_OK) == 0;
  unlink(name.c_str());
  unlink(link.c_str());
  CHECK(absl::IsAlreadyExists(file));
  CHECK_THAT(std::string(file.message()), Catch::StartsWith("trace " + name + " already exists"));
  CHECK(absl::IsAlreadyExists(dangling));
  CHECK(looked == std::vector<bool>{true, true, false});
  CHECK(!followed);
}

TEST_CASE("a trace is replaced only on request and nothing else of its name is") {
  const TempDir directory;
  directory.Write("old", "0 4096 0.000\n4096 4096 0.010\n");
  directory.Write("empty", "");
  directory.Write("notes", "mine\n");
  std::filesystem::create_symlink(directory / "old", directory / "link");
  for (const char* const name : {"notes", "link"}) {
    const std::string file = directory / name;
    CHECK(absl::IsAlreadyExists(CheckNewTrace(file, OldTrace::kReplaced)));
    CHECK(absl::IsAlreadyExists(OpenTraceForWriting(file, OldTrace::kReplaced).status()));
  }
  CHECK(directory.Read("notes") == "mine\n");
  for (const char* const name : {"old", "empty"}) {
    const std::string file = directory / name;
    CHECK(absl::IsAlreadyExists(CheckNewTrace(file)));
    CHECK(CheckNewTrace(file, OldTrace::kReplaced).ok());
    const auto fd = OpenTraceForWriting(file, OldTrace::kReplaced);
    REQUIRE(fd.ok());
    CHECK(directory.SizeOf(name) == 0);
  }
  CHECK(OpenTraceForWriting(directory / "new", OldTrace::kReplaced).ok());
}

TEST_CASE("a trace that cannot be written is told before anything runs") {
  const auto fd = OpenTraceForWriting("/nonexistent/dir/trace");
  CHECK(absl::IsNotFound(fd.status()));
}

TEST_CASE("a replayed stream gives the trace's ops, in every pass, and takes back what was not run") {
  const auto stream = MakeReplayed(OpKind::kRead, Trace({{512, 1024, 7}, {0, 512, 0}, {512, 1024, 0}}));
  CHECK(stream->ops_per_pass() == 3);
  CHECK(stream->bytes_per_pass() == 2560);
  std::array<Op, 2> batch;
  REQUIRE(stream->Fill(batch) == 2);
  CHECK((batch[0].offset == 512 && batch[0].length == 1024 && batch[0].kind == OpKind::kRead));
  CHECK(batch[1].offset == 0);
  stream->Unread(1);
  REQUIRE(stream->Fill(batch) == 2);
  CHECK((batch[0].offset == 0 && batch[1].offset == 512));
  CHECK(stream->Fill(batch) == 0);
  stream->Restart(1);
  REQUIRE(stream->Fill(batch) == 2);
  CHECK(batch[0].offset == 512);
}

TEST_CASE("delays are kept from the end of one op to the beginning of the next") {
  StopCell stop;
  FakeClock clock;
  TraceHook between(nullptr, stop, clock);
  between.Replay(Trace({{0, 1, 2000}, {1, 1, 0}, {2, 1, 3000}}));
  const int64_t begin_ns = clock.now_ns;
  between.Before(OpAt(0, 1));
  CHECK(clock.now_ns - begin_ns >= 2'000'000);
  CHECK(clock.now_ns - begin_ns < 2'200'000);
  clock.now_ns += 50'000'000;  // the op
  between.After(OpAt(0, 1), nullptr, {});
  const int64_t second_ns = clock.now_ns;
  between.Before(OpAt(1, 1));
  CHECK(clock.now_ns - second_ns < 1000);
  between.After(OpAt(1, 1), nullptr, {});
  const int64_t third_ns = clock.now_ns;
  clock.now_ns += 2'000'000;  // whatever the lane did meanwhile is part of the delay
  between.Before(OpAt(2, 1));
  CHECK(clock.now_ns - third_ns >= 3'000'000);
  CHECK(clock.now_ns - third_ns < 3'200'000);
  CHECK(between.waited_ns() >= 3'000'000);
  CHECK(between.waited_ns() < 3'200'000);
}

TEST_CASE("a delay ends when the lane is stopped, or at its deadline") {
  StopCell stop;
  FakeClock clock;
  TraceHook between(nullptr, stop, clock);
  between.Replay(Trace({{0, 1, 4'000'000'000}}));
  between.EndAt(clock.now_ns + 1'000'000);
  const int64_t begin_ns = clock.now_ns;
  between.Before(OpAt(0, 1));
  CHECK(clock.now_ns - begin_ns < 2'000'000);
  between.EndAt(std::numeric_limits<int64_t>::max());
  stop.stop = true;
  const int64_t stopped_ns = clock.now_ns;
  between.Before(OpAt(0, 1));
  CHECK(clock.now_ns - stopped_ns < 1'000'000);
}

TEST_CASE("an op that does not begin after all is neither recorded nor replayed, and comes again") {
  StopCell stop;
  FakeClock clock;
  TraceHook between(nullptr, stop, clock);
  between.Replay(Trace({{0, 512, 0}, {4096, 512, 7'000}, {8192, 512, 9'000}}));
  REQUIRE(between.Record(3).ok());
  const auto does = [&](uint64_t offset) {
    between.Before(OpAt(offset, 512));
    between.After(OpAt(offset, 512), nullptr, {});
  };
  does(0);
  between.EndAt(clock.now_ns + 1'000'000);
  between.Before(OpAt(4096, 512));
  between.NotBegun();
  between.EndAt(std::numeric_limits<int64_t>::max());
  const int64_t before_ns = clock.now_ns;
  does(4096);
  CHECK(clock.now_ns - before_ns >= 5'900'000);  // its own delay again, from the end of the op before
  does(8192);
  const TraceOps recorded = between.PopRecorded();
  REQUIRE(recorded.size() == 3);
  CHECK(recorded[1].offset == 4096);
  CHECK(recorded[2].offset == 8192);
  CHECK(between.left_out_count() == 0);
}

TEST_CASE("an op that failed is not recorded, and the ops around it are") {
  StopCell stop;
  FakeClock clock;
  TraceHook between(nullptr, stop, clock);
  REQUIRE(between.Record(3).ok());
  const auto does = [&](uint64_t offset) {
    between.Before(OpAt(offset, 512));
    between.After(OpAt(offset, 512), nullptr, {});
  };
  const auto fails = [&](uint64_t offset) {
    between.Before(OpAt(offset, 512));
    between.LeaveLastOut();
  };
  does(0);
  fails(4096);
  does(8192);
  does(512);
  fails(1024);  // there is no room for it anyway
  CHECK(between.left_out_count() == 0);
  const TraceOps recorded = between.PopRecorded();
  REQUIRE(recorded.size() == 3);
  CHECK(recorded[0].offset == 0);
  CHECK(recorded[1].offset == 8192);
  CHECK(recorded[2].offset == 512);
}

TEST_CASE("what is recorded is replayed to the same ops and delays") {
  StopCell stop;
  FakeClock clock;
  TraceHook between(nullptr, stop, clock);
  REQUIRE(between.Record(3).ok());
  for (const uint64_t offset : {4096u, 0u, 8192u, 512u}) {
    clock.now_ns += 5'000'000;
    between.Before(OpAt(offset, 512));
    clock.now_ns += 70'000'000;
    between.After(OpAt(offset, 512), nullptr, {});
  }
  CHECK(between.PopRecorded() == TraceOps{{4096, 512, 0}, {0, 512, 5000}, {8192, 512, 5000}});
  between.EndMeasured();
  between.Before(OpAt(0, 512));
  CHECK(between.left_out_count() == 1);
}

}  // namespace
}  // namespace iobench
