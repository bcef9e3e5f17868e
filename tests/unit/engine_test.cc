// Every engine passes this suite. A row in the engine table (common/model/engine.cc) adds an engine to it; what only
// one engine does is tested in a separate file.
#include <utility>

#include "tests/unit/engine_suite.h"

namespace iobench {
namespace {

TEST_CASE("every engine runs the whole stream and records each op") {
  ForEachEngine(AnyEngine, [](const EngineSpec& engine, Call call) {
    TempDirectory directory;
    EngineLane lane(engine.name, call);
    lane.Opens(directory, {{.name = "a", .bytes = 10'000}}, kCreate);
    REQUIRE(lane.Runs("write", 4096).reason == LoopEnd::Reason::kDone);
    REQUIRE(lane.recorder().ops() == 3);
    REQUIRE(lane.recorder().bytes() == 10'000);
    REQUIRE(lane.recorder().ops_of(OpKind::kWrite) == 3);
    REQUIRE(lane.recorder().histogram_of(OpKind::kWrite)->count() == 3);
    REQUIRE(lane.recorder().first_op() < lane.recorder().last_end());
    REQUIRE(lane.engine().Flush().ok());
    REQUIRE(lane.engine().Close().ok());
  });
}

TEST_CASE("every engine stops when told to") {
  ForEachEngine(AnyEngine, [](const EngineSpec& engine, Call call) {
    TempDirectory directory;
    EngineLane lane(engine.name, call);
    lane.Opens(directory, {{.name = "a", .bytes = 8192}}, kCreate);
    lane.stop.stop = true;
    REQUIRE(lane.Runs("write", 4096).reason == LoopEnd::Reason::kStopped);
    REQUIRE(lane.recorder().ops() == 0);
    REQUIRE(lane.engine().Close().ok());
    // An engine that maps the file has set its size, and nothing else.
    REQUIRE(directory.ContentOf("a") == std::string(Maps(engine) ? 8192 : 0, '\0'));
  });
}

TEST_CASE("every engine can be closed twice, unopened, and opened again") {
  ForEachEngine(AnyEngine, [](const EngineSpec& engine, Call call) {
    TempDirectory directory;
    const int before = OpenDescriptorCount();
    {
      EngineLane lane(engine.name, call);
      REQUIRE(lane.engine().Close().ok());
      for (int i = 0; i < 2; ++i) {
        lane.Opens(directory, {{.name = "a", .bytes = 4096}, {.name = "b", .bytes = 4096}}, kCreate);
        REQUIRE(lane.Runs("write", 4096).reason == LoopEnd::Reason::kDone);
        REQUIRE(lane.engine().Close().ok());
        REQUIRE(lane.engine().Close().ok());
      }
      lane.Opens(directory, {{.name = "a", .bytes = 4096}}, kCreate);  // left open: the destructor closes
    }
    REQUIRE(OpenDescriptorCount() == before);
  });
}

TEST_CASE("what an engine writes is on the file system and comes back, in every order") {
  ForEachEngine(WithFiles, [](const EngineSpec& engine, Call call) {
    for (const auto& [operation, op_bytes] :
         {std::pair{"write", 4096u}, std::pair{"random-write", 4096u}, std::pair{"random-write", 20'000u}}) {
      INFO(operation << " " << op_bytes);
      TempDirectory directory;
      EngineLane lane(engine.name, call);
      constexpr uint64_t kBytes =
          100'000;  // the last record of 4096 is short, and so is the last of each vector
      lane.Opens(directory, {{.name = "a", .bytes = kBytes}, {.name = "b", .bytes = kBytes}}, kCreate);
      REQUIRE(lane.Runs(operation, op_bytes).reason == LoopEnd::Reason::kDone);
      REQUIRE(lane.engine().Flush().ok());
      REQUIRE(directory.ContentOf("a") == ExpectedFile(0, kBytes));
      REQUIRE(directory.ContentOf("b") == ExpectedFile(1, kBytes));

      for (const char* read : {"read", "random-read", "backward-read", "stride-read"}) {
        INFO(read);
        REQUIRE(lane.Runs(read, op_bytes).reason == LoopEnd::Reason::kDone);
        REQUIRE(lane.recorder().bytes() == 2 * kBytes);
        // The buffer holds the last record of the order, its head at least.
        lane.stream().Restart(0);
        std::vector<Op> ops(lane.stream().ops_per_pass());
        REQUIRE(lane.stream().Fill(ops) == ops.size());
        const Op last = ops.back();
        REQUIRE(lane.last_read.substr(0, last.length) ==
                ExpectedFile(last.object, kBytes).substr(last.offset, last.length));
      }
      REQUIRE(lane.engine().Close().ok());
    }
  });
}

TEST_CASE("a lane of a shared file stays inside its extent") {
  ForEachEngine(WithFiles, [](const EngineSpec& engine, Call call) {
    TempDirectory directory;
    directory.Put("shared", std::string(30'000, '.'));
    EngineLane lane(engine.name, call);
    lane.Opens(directory, {{.name = "shared", .extent_offset_bytes = 10'000, .bytes = 10'000}},
               {.read = true, .write = true}, /*shared=*/true);
    REQUIRE(lane.Runs("random-write", 1000).reason == LoopEnd::Reason::kDone);
    REQUIRE(lane.engine().Flush().ok());
    REQUIRE(directory.ContentOf("shared") ==
            std::string(10'000, '.') + ExpectedFile(0, 10'000) + std::string(10'000, '.'));
    REQUIRE(lane.Runs("backward-read", 1000).reason == LoopEnd::Reason::kDone);
    REQUIRE(lane.last_read == ExpectedFile(0, 1000));
  });
}

TEST_CASE("extents of a shared file that is new are written by lanes in any order") {
  ForEachEngine(WithFiles, [](const EngineSpec& engine, Call call) {
    TempDirectory directory;
    for (const uint64_t extent : {20'000, 0, 10'000}) {
      EngineLane lane(engine.name, call);
      lane.Opens(directory, {{.name = "shared", .extent_offset_bytes = extent, .bytes = 10'000}}, kCreate,
                 /*shared=*/true);
      REQUIRE(lane.Runs("write", 4096).reason == LoopEnd::Reason::kDone);
      REQUIRE(lane.engine().Close().ok());
    }
    const std::string one = ExpectedFile(0, 10'000);
    REQUIRE(directory.ContentOf("shared") == one + one + one);
  });
}

TEST_CASE("a file that is too short fails the op that meets its end") {
  ForEachEngine(WithFiles, [](const EngineSpec& engine, Call call) {
    TempDirectory directory;
    directory.Put("a", std::string(5000, 'x'));
    EngineLane lane(engine.name, call);
    lane.Opens(directory, {{.name = "a", .bytes = 20'000}}, {.read = true});
    const LoopEnd end = lane.Runs("read", 2000);
    REQUIRE(end.reason == LoopEnd::Reason::kFailed);
    REQUIRE(end.errno_value == 0);
    REQUIRE(end.transferred == 1000);
    REQUIRE(end.failed_op.kind == OpKind::kRead);
    REQUIRE(end.failed_op.offset == 4000);
    REQUIRE(end.failed_op.length == 2000);
    REQUIRE(lane.recorder().ops() == 2);
  });
}

TEST_CASE("an empty file fails the first op") {
  ForEachEngine(WithFiles, [](const EngineSpec& engine, Call call) {
    TempDirectory directory;
    directory.Put("a", "");
    EngineLane lane(engine.name, call);
    lane.Opens(directory, {{.name = "a", .bytes = 8192}}, {.read = true});
    const LoopEnd end = lane.Runs("read", 4096);
    REQUIRE(end.reason == LoopEnd::Reason::kFailed);
    REQUIRE(end.errno_value == 0);
    REQUIRE(end.transferred == 0);
    REQUIRE(lane.recorder().ops() == 0);
  });
}

TEST_CASE("a device without space is an error, ENOSPC, at the latest when the file is closed") {
  const int dev_fd = open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(dev_fd >= 0);
  ForEachEngine(WithFiles, [&](const EngineSpec& engine, Call call) {
    EngineLane lane(engine.name, call);
    const int error =
        lane.ErrnoOfWriting(dev_fd, "/dev", {.name = "full", .bytes = 8192}, {.write = true}, 4096);
    if (Maps(engine)) {
      REQUIRE(lane.where == "open");  // a device cannot be mapped
    } else {
      REQUIRE(error == ENOSPC);
      REQUIRE(lane.recorder().bytes() <= EngineLane::kRecordBytes);  // at most what a buffer holds
    }
  });
  close(dev_fd);
}

TEST_CASE("a file that may not grow is an error, EFBIG") {
  ForEachEngine(WithFiles, [](const EngineSpec& engine, Call call) {
    TempDirectory directory;
    EngineLane lane(engine.name, call);
    int error = 0;
    {
      const FileSizeLimit limit(64 * 1024);
      error = lane.ErrnoOfWriting(directory.fd(), directory.path(), {.name = "a", .bytes = 1 << 20}, kCreate,
                                  4096);
    }
    INFO(lane.where);
    REQUIRE(error == EFBIG);
    REQUIRE(std::filesystem::file_size(directory.PathOf("a")) <= 64 * 1024);
  });
}

TEST_CASE("a file system that fills up is an error, ENOSPC") {
  TempDirectory directory;
  OnSmallFileSystem(directory, [](int fd, const std::string& path) {
    ForEachEngine(WithFiles, [&](const EngineSpec& engine, Call call) {
      EngineLane lane(engine.name, call);
      const int error = lane.ErrnoOfWriting(fd, path, {.name = "a", .bytes = 1 << 20}, kCreate, 4096);
      INFO(lane.where);
      REQUIRE(error == ENOSPC);
      REQUIRE(lane.where == (Maps(engine) ? "open" : "op"));
      REQUIRE(unlinkat(fd, "a", 0) == 0);
    });
  });
}

// Address 0 of a process is never mapped: reading and writing it through /proc are EIO. (A mapping gets SIGBUS instead
// of EIO: mmap_engine_test.)
TEST_CASE("a read error comes through with its errno") {
  const int proc_fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
  ForEachEngine(WithFiles, [&](const EngineSpec& engine, Call call) {
    if (Maps(engine)) return;  // it has no size that could be mapped
    EngineLane lane(engine.name, call);
    REQUIRE(lane.TriesToOpen(proc_fd, "/proc/self", {{.name = "mem", .bytes = 8192}}, {.read = true}).ok());
    const LoopEnd end = lane.Runs("read", 4096);
    REQUIRE(end.reason == LoopEnd::Reason::kFailed);
    REQUIRE(end.errno_value == EIO);
    REQUIRE(end.failed_op.offset == 0);
  });
  close(proc_fd);
}

TEST_CASE("a write error comes through with its errno") {
  const int proc_fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
  ForEachEngine(WithFiles, [&](const EngineSpec& engine, Call call) {
    if (Maps(engine)) return;
    EngineLane lane(engine.name, call);
    const int error =
        lane.ErrnoOfWriting(proc_fd, "/proc/self", {.name = "mem", .bytes = 8192}, {.write = true}, 4096);
    INFO(lane.where);
    REQUIRE(error == EIO);
  });
  close(proc_fd);
}

TEST_CASE("direct I/O takes the engine's buffers") {
  TempDirectory directory;
  const int probe = openat(directory.fd(), "probe", O_CREAT | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
  const int probe_errno = errno;
  if (probe < 0) {
    WARN("no O_DIRECT below " << directory.path() << " (" << strerror(probe_errno)
                              << "); set TMPDIR to a disk");
    REQUIRE(probe_errno == EINVAL);
    return;
  }
  close(probe);
  const auto direct = [](const EngineSpec& engine) {
    return WithFiles(engine) && engine.Can(EngineFeature::kDirect);
  };
  ForEachEngine(direct, [&](const EngineSpec& engine, Call call) {
    OpenMode mode = kCreate;
    mode.direct = true;
    EngineLane lane(engine.name, call);
    lane.Opens(directory, {{.name = "a", .bytes = 1 << 20}}, mode);
    for (const uint32_t op_bytes : {4096u, 65'536u}) {
      REQUIRE(lane.Runs("random-write", op_bytes).reason == LoopEnd::Reason::kDone);
      REQUIRE(lane.Runs("read", op_bytes).reason == LoopEnd::Reason::kDone);
      REQUIRE(lane.last_read == ExpectedFile(0, 1 << 20).substr((1 << 20) - op_bytes));
    }
    REQUIRE(lane.engine().Close().ok());
    REQUIRE(directory.ContentOf("a") == ExpectedFile(0, 1 << 20));
    REQUIRE(unlink(directory.PathOf("a").c_str()) == 0);
  });
}

TEST_CASE("the flags of the open mode reach the kernel") {
  ForEachEngine(WithFiles, [](const EngineSpec& engine, Call call) {
    TempDirectory directory;
    directory.Put("a", "x");
    struct Case {
      OpenMode mode;
      int flags;
    };
    for (const Case& each : {Case{{.read = true}, O_RDONLY}, Case{{.write = true}, O_RDWR},
                             Case{{.read = true, .write = true, .sync = true}, O_RDWR | O_SYNC},
                             Case{{.write = true, .dsync = true}, O_RDWR | O_DSYNC},
                             Case{{.read = true, .rsync = true}, O_RDONLY | O_SYNC}}) {
      if ((each.flags & (O_SYNC | O_DSYNC)) != 0 && !engine.Can(EngineFeature::kSync)) continue;
      EngineLane lane(engine.name, call);
      lane.Opens(directory, {{.name = "a", .bytes = 1}}, each.mode);
      // The engine's descriptors are those that lead to our file.
      int found = 0;
      for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code error;
        if (std::filesystem::read_symlink(entry.path(), error) != directory.PathOf("a")) continue;
        const int flags = fcntl(std::stoi(entry.path().filename()), F_GETFL);
        REQUIRE((flags & (O_ACCMODE | O_SYNC | O_DSYNC)) == each.flags);
        ++found;
      }
      REQUIRE(found >= 1);
    }
  });
}

TEST_CASE("a file that cannot be opened is named, and nothing stays open") {
  ForEachEngine(WithFiles, [](const EngineSpec& engine, Call call) {
    TempDirectory directory;
    directory.Put("a", "x");
    EngineLane lane(engine.name, call);
    const int before = OpenDescriptorCount();
    const absl::Status status =
        lane.TriesToOpen(directory.fd(), directory.path(),
                         {{.name = "a", .bytes = 1}, {.name = "gone", .bytes = 1}}, {.read = true});
    REQUIRE(status.code() == absl::StatusCode::kNotFound);
    REQUIRE(ErrnoOf(status) == ENOENT);
    REQUIRE(std::string(status.message()).find(directory.PathOf("gone")) != std::string::npos);
    REQUIRE(OpenDescriptorCount() == before);
  });
}

TEST_CASE("writing to a file that was opened for reading fails with EBADF") {
  ForEachEngine(WithFiles, [](const EngineSpec& engine, Call call) {
    TempDirectory directory;
    directory.Put("a", std::string(4096, 'x'));
    EngineLane lane(engine.name, call);
    lane.Opens(directory, {{.name = "a", .bytes = 4096}}, {.read = true});
    const LoopEnd end = lane.Runs("rewrite", 4096);
    REQUIRE(end.reason == LoopEnd::Reason::kFailed);
    REQUIRE(end.errno_value == EBADF);
  });
}

TEST_CASE("an unknown engine is told what there is") {
  const absl::Status status = MakeEngine("floppy", {}).status();
  REQUIRE(status.code() == absl::StatusCode::kNotFound);
  REQUIRE(std::string(status.message()).find("posix, stdio, mmap") != std::string::npos);
}

// Records what happens between ops, and in which order.
class Noted final : public OpHook {
 public:
  void Before(const Op& next) override { order += "b" + std::to_string(next.offset / 4096); }
  void After(const Op& done, const std::byte* data, OpTimes) override {
    order += "a" + std::to_string(done.offset / 4096);
    if (data != nullptr) read.append(reinterpret_cast<const char*>(data), done.length);
  }
  std::string order, read;
};

TEST_CASE("what lies between ops comes before and after each, with what a read brought") {
  ForEachEngine(WithFiles, [](const EngineSpec& engine, Call call) {
    TempDirectory directory;
    const std::string content = ExpectedFile(0, 10'000);
    directory.Put("a", content);
    EngineLane lane(engine.name, call);
    Noted noted;
    lane.between = &noted;
    lane.Opens(directory, {{.name = "a", .bytes = 10'000}}, {.read = true});
    REQUIRE(lane.Runs("read", 4096).reason == LoopEnd::Reason::kDone);
    REQUIRE(noted.order == "b0a0b1a1b2a2");
    REQUIRE(noted.read == content);
  });
}

TEST_CASE("an update reads a record, changes it and writes it back, and its bytes count once") {
  const auto updates = [](const EngineSpec& engine) {
    return WithFiles(engine) && engine.Can(EngineFeature::kUpdate);
  };
  ForEachEngine(updates, [](const EngineSpec& engine, Call call) {
    if (call == Call::kVector) return;  // no operation updates vectors
    TempDirectory directory;
    const std::string before(10'000, 'o');
    directory.Put("a", before);
    EngineLane lane(engine.name, call);
    lane.Opens(directory, {{.name = "a", .bytes = 10'000}}, {.read = true, .write = true});
    REQUIRE(lane.Runs("update", 4096).reason == LoopEnd::Reason::kDone);
    REQUIRE(lane.recorder().ops_of(OpKind::kUpdate) == 3);
    REQUIRE(lane.recorder().bytes() == 10'000);
    REQUIRE(lane.last_read.substr(0, 10'000 - 2 * 4096) == before.substr(2 * 4096));  // the old contents
    REQUIRE(lane.engine().Close().ok());
    REQUIRE(directory.ContentOf("a") == ExpectedFile(0, 10'000));
  });
}

TEST_CASE("an update of a file that is too short writes nothing there") {
  const auto updates = [](const EngineSpec& engine) {
    return WithFiles(engine) && engine.Can(EngineFeature::kUpdate) && !Maps(engine);  // mapping completes the file
  };
  ForEachEngine(updates, [](const EngineSpec& engine, Call call) {
    if (call == Call::kVector) return;
    TempDirectory directory;
    directory.Put("a", std::string(5000, 'o'));
    EngineLane lane(engine.name, call);
    lane.Opens(directory, {{.name = "a", .bytes = 8192}}, {.read = true, .write = true});
    const LoopEnd end = lane.Runs("update", 4096);
    REQUIRE(end.reason == LoopEnd::Reason::kFailed);
    REQUIRE(end.errno_value == 0);
    REQUIRE(end.transferred == 5000 - 4096);
    REQUIRE(lane.engine().Close().ok());
    REQUIRE(directory.ContentOf("a") == ExpectedFile(0, 4096) + std::string(5000 - 4096, 'o'));
  });
}

TEST_CASE("the null engine opens nothing and needs no directory") {
  EngineLane lane("null", Call::kPositional);
  REQUIRE(lane.TriesToOpen(-1, "/nowhere", {{.name = "a", .bytes = 1 << 20}}, kCreate).ok());
  REQUIRE(lane.Runs("random-write", 4096).reason == LoopEnd::Reason::kDone);
  REQUIRE(lane.recorder().bytes() == 1 << 20);
}

TEST_CASE("the cost of the loop is measured, on both clocks") {
  for (const TickSource ticks : {ChosenTickSource(), TickSource::kMonotonic}) {
    const double ns = MeasureLoopNs(ticks, MeasureClockReadNs(ticks));
    REQUIRE(ns > 0);
    REQUIRE(ns < 100'000);  // only a sanity check; tests/perf measures it
  }
}

}  // namespace
}  // namespace iobench
