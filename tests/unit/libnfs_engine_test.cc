// The libnfs engine sends the right calls and ends its lanes properly, against a scripted NFS server.
#include "worker/engine/libnfs_engine.h"

#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/support/scripted_nfs_server.h"
#include "tests/unit/engine_suite.h"

namespace iobench {
namespace {

EngineOptions OptionsFor(const ScriptedNfsServer& server, uint32_t depth = 1) {
  EngineOptions options;
  options.depth = depth;
  options.directory = server.Url();
  return options;
}

// A lane of the engine whose files are on the server.
class NfsLane : public EngineLane {
 public:
  explicit NfsLane(const ScriptedNfsServer& server, uint32_t depth = 1, Call call = Call::kPositional)
      : EngineLane("libnfs", call, OptionsFor(server, depth)), url_(server.Url()) {}

  absl::Status TriesToOpen(std::vector<LaneFile> files, const OpenMode& mode, bool shared = false) {
    return EngineLane::TriesToOpen(-1, url_, std::move(files), mode, shared);
  }
  void Opens(std::vector<LaneFile> files, const OpenMode& mode, bool shared = false) {
    const absl::Status opened = TriesToOpen(std::move(files), mode, shared);
    INFO(opened.message());
    REQUIRE(opened.ok());
  }
  FailedOp WhyItFailed(const LoopEnd& end) {
    REQUIRE(end.reason == LoopEnd::Reason::kFailed);
    const std::optional<FailedOp> known = engine().Explain(end);
    REQUIRE(known.has_value());
    return *known;
  }

 private:
  const std::string url_;
};

constexpr OpenMode kReadOnly{.read = true};

bool Says(const absl::Status& status, const std::string& text) {
  return status.message().find(text) != absl::string_view::npos;
}

// Compares every read with the contents of the file.
class Compared final : public OpHook {
 public:
  explicit Compared(std::vector<std::string> files) : files_(std::move(files)) {}
  void Before(const Op&) override {}
  void After(const Op& done, const std::byte* data, OpTimes) override {
    ++ended;
    if (done.kind != OpKind::kRead) return;
    const std::string read(reinterpret_cast<const char*>(data), done.length);
    if (read != files_[done.object].substr(done.offset, done.length)) ++wrong;
  }
  int ended = 0;
  int wrong = 0;

 private:
  std::vector<std::string> files_;
};

TEST_CASE(
    "libnfs: what is written stands on the server and is read from there, at any depth and with any call") {
  constexpr uint64_t kBytes = 300'000;  // 74 records, the last one short
  const uint32_t depth = GENERATE(1, 2, 7, 32, 100);
  const Call call = GENERATE(Call::kStream, Call::kPositional, Call::kVector);
  INFO("depth " << depth);
  ScriptedNfsServer server;
  NfsLane lane(server, depth, call);
  lane.Opens({{.name = "a", .bytes = kBytes}, {.name = "b", .bytes = kBytes}}, kCreate);
  server.ForgetCounts();
  for (const char* write : {"write", "random-write"}) {
    REQUIRE(lane.Runs(write, 4096).reason == LoopEnd::Reason::kDone);
    REQUIRE(lane.recorder().ops() == 148);
    REQUIRE(lane.recorder().bytes() == 2 * kBytes);
  }
  REQUIRE(server.CountOf(NfsProc::kWrite) == 2 * 148);
  REQUIRE(server.ContentOf("a") == ExpectedFile(0, kBytes));
  REQUIRE(server.ContentOf("b") == ExpectedFile(1, kBytes));
  for (const char* read : {"read", "random-read"}) {
    Compared compared({ExpectedFile(0, kBytes), ExpectedFile(1, kBytes)});
    lane.between = &compared;
    REQUIRE(lane.Runs(read, 4096).reason == LoopEnd::Reason::kDone);
    lane.between = nullptr;
    REQUIRE(compared.ended == 148);
    REQUIRE(compared.wrong == 0);
  }
  REQUIRE(server.CountOf(NfsProc::kRead) == 2 * 148);
  REQUIRE(server.CountOf(NfsProc::kCommit) == 0);
  REQUIRE(lane.engine().Flush().ok());
  REQUIRE(lane.engine().Close().ok());
}

TEST_CASE("libnfs: as many ops are on the wire at once as the depth says") {
  // The server answers no call before it has 8, and then the last of them first.
  ScriptedNfsServer server;
  NfsLane lane(server, 8);
  lane.Opens({{.name = "a", .bytes = 64 * 4096}}, kCreate);
  server.AnswerTogether(NfsProc::kWrite, 8);
  REQUIRE(lane.Runs("random-write", 4096).reason == LoopEnd::Reason::kDone);
  REQUIRE(server.MostInFlight(NfsProc::kWrite) == 8);
  server.AnswerTogether(NfsProc::kRead, 8);
  Compared compared({ExpectedFile(0, 64 * 4096)});
  lane.between = &compared;
  REQUIRE(lane.Runs("random-read", 4096).reason == LoopEnd::Reason::kDone);
  lane.between = nullptr;
  REQUIRE(server.MostInFlight(NfsProc::kRead) == 8);
  REQUIRE(compared.wrong == 0);
  REQUIRE(lane.recorder().ops() == 64);
}

TEST_CASE("libnfs: an op that is longer than the server takes is split, and all its pieces are in flight") {
  ScriptedNfsServer server;
  server.SetMaxTransfer(8192);
  NfsLane lane(server, 2);
  constexpr uint64_t kBytes = 4 * EngineLane::kLongestOpBytes;  // 4 ops of 65536: 8 pieces each
  lane.Opens({{.name = "a", .bytes = kBytes}}, kCreate);
  server.AnswerTogether(NfsProc::kWrite, 16);
  REQUIRE(lane.Runs("write", EngineLane::kLongestOpBytes).reason == LoopEnd::Reason::kDone);
  REQUIRE(lane.recorder().ops() == 4);
  REQUIRE(server.CountOf(NfsProc::kWrite) == 32);
  REQUIRE(server.MostInFlight(NfsProc::kWrite) == 16);
  REQUIRE(server.ContentOf("a") == ExpectedFile(0, kBytes));
  server.AnswerTogether(NfsProc::kRead, 16);
  Compared compared({ExpectedFile(0, kBytes)});
  lane.between = &compared;
  REQUIRE(lane.Runs("read", EngineLane::kLongestOpBytes).reason == LoopEnd::Reason::kDone);
  lane.between = nullptr;
  REQUIRE(compared.wrong == 0);
  REQUIRE(server.MostInFlight(NfsProc::kRead) == 16);
}

TEST_CASE("libnfs: answers with less than was asked for do not end an op") {
  ScriptedNfsServer server;
  server.AnswerAtMost(1500);
  NfsLane lane(server, 4);
  lane.Opens({{.name = "a", .bytes = 40'960}}, kCreate);
  REQUIRE(lane.Runs("write", 4096).reason == LoopEnd::Reason::kDone);
  REQUIRE(lane.recorder().ops() == 10);
  REQUIRE(server.CountOf(NfsProc::kWrite) == 30);
  REQUIRE(server.ContentOf("a") == ExpectedFile(0, 40'960));
  REQUIRE(lane.Runs("read", 4096).reason == LoopEnd::Reason::kDone);
  REQUIRE(server.CountOf(NfsProc::kRead) == 30);
}

TEST_CASE("libnfs: an op that meets the end of the file is short, and says how far it came") {
  ScriptedNfsServer server;
  server.Put("a", std::string(5000, 'x'));
  const uint32_t depth = GENERATE(1, 16);
  NfsLane lane(server, depth);
  lane.Opens({{.name = "a", .bytes = 20'000}}, {.read = true});
  const LoopEnd end = lane.Runs("read", 2000);
  REQUIRE(end.reason == LoopEnd::Reason::kFailed);
  REQUIRE(end.errno_value == 0);
  REQUIRE(end.transferred == (end.failed_op.offset == 4000 ? 1000 : 0));
  REQUIRE(lane.recorder().ops() == 2);
  REQUIRE_FALSE(lane.engine().Explain(end).has_value());  // the lane itself has a message for it
}

TEST_CASE("libnfs: extents of a shared file stay apart") {
  ScriptedNfsServer server;
  server.Put("shared", std::string(120'000, '.'));
  NfsLane lane(server, 8);
  lane.Opens({{.name = "shared", .extent_offset_bytes = 40'000, .bytes = 40'000}},
             {.read = true, .write = true},
             /*shared=*/true);
  REQUIRE(lane.Runs("random-write", 1000).reason == LoopEnd::Reason::kDone);
  REQUIRE(server.ContentOf("shared") ==
          std::string(40'000, '.') + ExpectedFile(0, 40'000) + std::string(40'000, '.'));
}

TEST_CASE("libnfs: opening sends LOOKUP and ACCESS of each file, and says which one is missing") {
  ScriptedNfsServer server;
  server.Put("a", "");
  server.Put("b", "");
  NfsLane lane(server);
  server.ForgetCounts();
  lane.Opens({{.name = "a"}, {.name = "b"}}, {.read = true, .write = true});
  REQUIRE(server.CountOf(NfsProc::kLookup) == 2);
  REQUIRE(server.CountOf(NfsProc::kAccess) == 2);
  const absl::Status status = lane.TriesToOpen({{.name = "a"}, {.name = "none"}}, {.read = true});
  REQUIRE(ErrnoOf(status) == ENOENT);
  REQUIRE(Says(status, "/export/dir"));
  REQUIRE(Says(status, "none"));
}

TEST_CASE("libnfs: fsync sends one COMMIT of each file that needs it, and close what is still due") {
  ScriptedNfsServer server;
  NfsLane lane(server, 4);
  const std::vector<LaneFile> files = {{.name = "a", .bytes = 8192}, {.name = "b", .bytes = 8192}};
  lane.Opens(files, kCreate);
  REQUIRE(lane.Runs("write", 4096).reason == LoopEnd::Reason::kDone);
  SECTION("fsync, then close") {
    REQUIRE(lane.engine().Flush().ok());
    REQUIRE(server.CountOf(NfsProc::kCommit) == 2);
    REQUIRE(lane.engine().Close().ok());
    REQUIRE(server.CountOf(NfsProc::kCommit) == 2);
  }
  SECTION("close alone") {
    REQUIRE(lane.engine().Close().ok());
    REQUIRE(server.CountOf(NfsProc::kCommit) == 2);
  }
  REQUIRE(server.CommittedContentOf("a") == ExpectedFile(0, 8192));
  REQUIRE(server.CommittedContentOf("b") == ExpectedFile(1, 8192));
  REQUIRE(lane.engine().Close().ok());
  REQUIRE(server.CountOf(NfsProc::kCommit) == 2);
}

TEST_CASE("libnfs: reads are followed by no COMMIT") {
  ScriptedNfsServer server;
  server.Put("a", std::string(8192, 'x'));
  NfsLane lane(server);
  lane.Opens({{.name = "a", .bytes = 8192}}, {.read = true});
  REQUIRE(lane.Runs("read", 4096).reason == LoopEnd::Reason::kDone);
  REQUIRE(lane.engine().Flush().ok());
  REQUIRE(lane.engine().Close().ok());
  REQUIRE(server.CountOf(NfsProc::kCommit) == 0);
}

TEST_CASE("libnfs: sync writes are FILE_SYNC, dsync writes DATA_SYNC, and neither needs a COMMIT") {
  struct Mode {
    const char* name;
    OpenMode mode;
    uint32_t stability;
    int commits;
  };
  OpenMode sync = kCreate, dsync = kCreate, rsync = kCreate;
  sync.sync = true;
  dsync.dsync = true;
  rsync.rsync = true;
  for (const Mode& each : {Mode{"plain", kCreate, 0, 1}, Mode{"sync", sync, 2, 0}, Mode{"dsync", dsync, 1, 0},
                           Mode{"rsync", rsync, 2, 0}}) {
    INFO(each.name);
    ScriptedNfsServer server;
    NfsLane lane(server, 2);
    lane.Opens({{.name = "a", .bytes = 8192}}, each.mode);
    REQUIRE(lane.Runs("write", 4096).reason == LoopEnd::Reason::kDone);
    REQUIRE(server.StabilitiesAsked() == std::vector<uint32_t>{each.stability, each.stability});
    REQUIRE(lane.engine().Flush().ok());
    REQUIRE(lane.engine().Close().ok());
    REQUIRE(server.CountOf(NfsProc::kCommit) == each.commits);
  }
}

TEST_CASE("libnfs: a full server ends the lane with its own errno, and what was whole counts") {
  const auto [nfsstat3, errno_value] = GENERATE(table<uint32_t, int>({{28, ENOSPC}, {69, EDQUOT}}));
  const uint32_t depth = GENERATE(1, 8);
  ScriptedNfsServer server;
  server.HoldAtMost(65'536, nfsstat3);
  NfsLane lane(server, depth);
  lane.Opens({{.name = "a", .bytes = 131'072}}, kCreate);
  const LoopEnd end = lane.Runs("write", 4096);
  REQUIRE(end.errno_value == errno_value);
  REQUIRE(lane.recorder().ops() == 16);
  const FailedOp failed = lane.WhyItFailed(end);
  REQUIRE(ErrnoOf(failed.status) == errno_value);
  REQUIRE(Says(failed.status, "at offset 65536: NFS3ERR_"));
  REQUIRE(Says(failed.status, failed.file));
}

TEST_CASE("libnfs: an op that the server defers is sent again, and each attempt counts") {
  const uint32_t depth = GENERATE(1, 4);
  constexpr uint32_t kJukebox = 10008;
  ScriptedNfsServer server;
  server.Put("a", std::string(16'384, 'x'));
  NfsLane lane(server, depth);
  lane.Opens({{.name = "a", .bytes = 16'384}}, kReadOnly);
  server.FailAll(NfsProc::kRead, kJukebox);
  std::thread recall([&] {
    while (server.CountOf(NfsProc::kRead) < 2 * static_cast<int>(depth)) usleep(1000);  // the first retries
    server.FailAll(NfsProc::kRead, 0);
  });
  const LoopEnd end = lane.Runs("read", 4096);
  recall.join();
  REQUIRE(end.reason == LoopEnd::Reason::kDone);
  REQUIRE(lane.recorder().ops() == 4);
  REQUIRE(lane.last_read == std::string(4096, 'x'));
  REQUIRE(lane.retried.total() + 4 == static_cast<uint64_t>(server.CountOf(NfsProc::kRead)));
  REQUIRE(lane.retried.total() >= depth);
  REQUIRE(lane.retried.entries().size() == 1);
  REQUIRE(lane.retried.entries()[0].errno_value == EAGAIN);
}

TEST_CASE("libnfs: calls that open or commit a file are sent again when the server defers them, and count") {
  ScriptedNfsServer server;
  server.Put("a", std::string(4096, 'x'));
  NfsLane lane(server);
  const auto check = [&](NfsProc proc, OpKind kind) {
    REQUIRE(lane.retried.entries().size() == 1);
    CHECK(lane.retried.entries()[0].first.kind == kind);
    CHECK(lane.retried.entries()[0].errno_value == EAGAIN);
    CHECK(lane.retried.total() == static_cast<uint64_t>(server.CountOf(proc)) - 1);
  };
  const auto [proc, file] = GENERATE(table<NfsProc, const char*>({{NfsProc::kLookup, "a"},
                                                                  {NfsProc::kAccess, "a"},
                                                                  {NfsProc::kGetattr, "a"},
                                                                  {NfsProc::kCreate, "new"}}));
  if (proc == NfsProc::kGetattr) server.LeaveOutAttributes();
  {
    const Deferring deferring(server, proc);
    lane.Opens({{.name = file, .bytes = 4096}}, kCreate);
  }
  check(proc, OpKind::kOpenClose);

  server.Commits(0);
  REQUIRE(lane.Runs("write", 4096).reason == LoopEnd::Reason::kDone);
  REQUIRE(lane.retried.total() == 0);
  {
    const Deferring deferring(server, NfsProc::kCommit);
    REQUIRE(lane.engine().Flush().ok());
  }
  lane.RecordRetried();
  check(NfsProc::kCommit, OpKind::kWrite);
}

TEST_CASE("libnfs: an op that the server defers for longer than its patience fails by that name") {
  ScriptedNfsServer server;
  server.Put("a", std::string(4096, 'x'));
  EngineOptions options = OptionsFor(server);
  options.directory += "&timeo=10";  // tenths of a second
  EngineLane lane("libnfs", Call::kPositional, options);
  REQUIRE(lane.TriesToOpen(-1, options.directory, {{.name = "a", .bytes = 4096}}, kReadOnly).ok());
  server.FailAll(NfsProc::kRead, 10008);
  const LoopEnd end = lane.Runs("read", 4096);
  REQUIRE(end.reason == LoopEnd::Reason::kFailed);
  REQUIRE(end.errno_value == EAGAIN);
  REQUIRE(lane.retried.total() >= 2);
  const std::optional<FailedOp> failed = lane.engine().Explain(end);
  REQUIRE(failed.has_value());
  REQUIRE(Says(failed->status, "NFS3ERR_JUKEBOX"));
}

TEST_CASE("libnfs: a connection that is lost ends ops that wait for a retry") {
  ScriptedNfsServer server;
  server.Put("a", std::string(4096, 'x'));
  NfsLane lane(server);
  lane.Opens({{.name = "a", .bytes = 4096}}, kReadOnly);
  server.FailAll(NfsProc::kRead, 10008);
  std::thread cut([&] {
    while (server.CountOf(NfsProc::kRead) < 2) usleep(1000);
    server.CloseConnections();
  });
  const LoopEnd end = lane.Runs("read", 4096);
  cut.join();
  REQUIRE(end.reason == LoopEnd::Reason::kFailed);
  REQUIRE(end.errno_value == ECONNRESET);
}

TEST_CASE("libnfs: a handle that has gone stale is told apart from other errors") {
  ScriptedNfsServer server;
  server.Put("a", std::string(8192, 'x'));
  NfsLane lane(server, 2);
  lane.Opens({{.name = "a", .bytes = 8192}}, {.read = true});
  server.FailAll(NfsProc::kRead, 70);
  const LoopEnd end = lane.Runs("read", 4096);
  REQUIRE(ErrnoOf(lane.WhyItFailed(end).status) == ESTALE);
}

TEST_CASE("libnfs: a server that falls silent ends the lane in bounded time, with its name and the seconds") {
  const uint32_t depth = GENERATE(1, 8);
  ScriptedNfsServer server;
  EngineOptions options = OptionsFor(server, depth);
  options.directory += "&timeo=10";
  EngineLane lane("libnfs", Call::kPositional, options);
  REQUIRE(lane.TriesToOpen(-1, options.directory, {{.name = "a", .bytes = 65'536}}, kCreate).ok());
  server.FallSilent(NfsProc::kWrite);
  const LoopEnd end = lane.Runs("write", 4096);
  REQUIRE(end.reason == LoopEnd::Reason::kFailed);
  const std::optional<FailedOp> failed = lane.engine().Explain(end);
  REQUIRE(failed.has_value());
  REQUIRE(absl::IsDeadlineExceeded(failed->status));
  REQUIRE(Says(failed->status, "127.0.0.1"));
  REQUIRE(Says(failed->status, std::to_string(depth) + " call"));
  REQUIRE(Says(failed->status, " in flight for 1 s"));
  REQUIRE(lane.recorder().ops() == 0);
  REQUIRE(lane.engine().Close().ok());  // nothing was written, so nothing is due
}

TEST_CASE("libnfs: a connection that is closed in mid-phase ends the lane, and all its ops come back") {
  ScriptedNfsServer server;
  NfsLane lane(server, 8);
  lane.Opens({{.name = "a", .bytes = 65'536}}, kCreate);
  server.FallSilent(NfsProc::kWrite);
  std::thread closer([&] {
    while (server.CountOf(NfsProc::kWrite) < 8) std::this_thread::yield();
    server.CloseConnections();
  });
  const LoopEnd end = lane.Runs("write", 4096);
  closer.join();
  REQUIRE(absl::IsUnavailable(lane.WhyItFailed(end).status));
}

TEST_CASE("libnfs: a connection that was closed while idle is made anew when files are opened") {
  ScriptedNfsServer server;
  NfsLane lane(server);
  server.CloseConnections();
  lane.Opens({{.name = "a", .bytes = 8192}}, kCreate);
  REQUIRE(lane.Runs("write", 4096).reason == LoopEnd::Reason::kDone);
  REQUIRE(lane.engine().Close().ok());
}

TEST_CASE("libnfs: a server that restarts between WRITE and COMMIT is an error of the lane") {
  ScriptedNfsServer server;
  NfsLane lane(server, 2);
  lane.Opens({{.name = "a", .bytes = 8192}}, kCreate);
  REQUIRE(lane.Runs("write", 4096).reason == LoopEnd::Reason::kDone);
  server.Restart();
  SECTION("seen by fsync") {
    REQUIRE(absl::IsDataLoss(lane.engine().Flush()));
  }
  SECTION("seen by close") {
    REQUIRE(absl::IsDataLoss(lane.engine().Close()));
  }
  SECTION("seen by the next write") {
    const LoopEnd end = lane.Runs("rewrite", 4096);
    REQUIRE(absl::IsDataLoss(lane.WhyItFailed(end).status));
  }
}

TEST_CASE("libnfs: a stopped lane ends its ops in flight, and no more begin") {
  ScriptedNfsServer server;
  NfsLane lane(server, 4);
  lane.Opens({{.name = "a", .bytes = 40'960}}, kCreate);
  lane.stop.stop = true;
  REQUIRE(lane.Runs("write", 4096).reason == LoopEnd::Reason::kStopped);
  REQUIRE(lane.recorder().ops() == 0);
  lane.stop.stop = false;
  // Stopped by the fifth op while others are in flight.
  class Stops final : public OpHook {
   public:
    explicit Stops(StopCell& stop) : stop_(stop) {}
    void Before(const Op&) override {}
    void After(const Op&, const std::byte*, OpTimes) override {
      if (++ended == 5) stop_.stop = true;
    }
    int ended = 0;

   private:
    StopCell& stop_;
  } stops(lane.stop);
  lane.between = &stops;
  server.ForgetCounts();
  REQUIRE(lane.Runs("write", 4096).reason == LoopEnd::Reason::kStopped);
  REQUIRE(lane.recorder().ops() >= 5);
  REQUIRE(lane.recorder().ops() <= 8);
  REQUIRE(server.CountOf(NfsProc::kWrite) == static_cast<int>(lane.recorder().ops()));
  REQUIRE(stops.ended == static_cast<int>(lane.recorder().ops()));
}

TEST_CASE("libnfs: lanes have connections of their own and do not wait for each other") {
  // The server answers only when two lanes have a write in flight at the same time.
  ScriptedNfsServer server;
  server.AnswerTogether(NfsProc::kWrite, 2);
  NfsLane first(server), second(server);
  first.Opens({{.name = "a", .bytes = 40'960}}, kCreate);
  second.Opens({{.name = "b", .bytes = 40'960}}, kCreate);
  std::atomic<int> failed = 0;
  std::thread other([&] {
    if (first.Runs("write", 4096).reason != LoopEnd::Reason::kDone) ++failed;
  });
  if (second.Runs("write", 4096).reason != LoopEnd::Reason::kDone) ++failed;
  other.join();
  REQUIRE(failed == 0);
  REQUIRE(server.MostInFlight(NfsProc::kWrite) == 2);
  REQUIRE(server.ContentOf("a") == ExpectedFile(0, 40'960));
  REQUIRE(server.ContentOf("b") == ExpectedFile(0, 40'960));
}

TEST_CASE("libnfs: MakeReady says why there is no connection") {
  EngineOptions options;
  options.record_bytes = options.longest_op_bytes = 4096;
  options.directory = "nfs://127.0.0.1/export?nfsport=1&mountport=1";
  const auto engine = *MakeEngine("libnfs", options);
  auto stream = *MakeOpStream(**FindOperation("read"), {.object_bytes = 4096, .op_bytes = 4096});
  LaneRecorder recorder(OpKind::kRead, CurrentTickScale());
  StopCell stop;
  LaneContext lane{
      .stream = *stream, .payload = nullptr, .read_buffer = nullptr, .stop = stop, .recorder = recorder};
  const absl::Status status = engine->MakeReady(lane);
  REQUIRE(absl::IsUnavailable(status));
  REQUIRE(Says(status, "Connection refused"));
}

}  // namespace
}  // namespace iobench
