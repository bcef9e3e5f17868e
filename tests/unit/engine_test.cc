// The suite that every engine passes. A new engine joins it by its row in common/engine.h.
#include "common/engine.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "common/status_util.h"
#include "worker/engine/io_engine.h"

namespace iobench {
namespace {

constexpr uint64_t kSeed = 4711;

// Removed with all that is in it.
class TempDirectory {
 public:
  // Below $TMPDIR, else /var/tmp: a disk rather than tmpfs, which has no O_DIRECT on older kernels.
  TempDirectory() {
    const char* base = std::getenv("TMPDIR");
    path_ = std::string(base == nullptr ? "/var/tmp" : base) + "/iobench-engine-test-XXXXXX";
    REQUIRE(mkdtemp(path_.data()) != nullptr);
    fd_ = open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    REQUIRE(fd_ >= 0);
  }
  ~TempDirectory() {
    close(fd_);
    std::filesystem::remove_all(path_);
  }
  int fd() const { return fd_; }
  const std::string& path() const { return path_; }
  std::string ContentOf(const std::string& name) const {
    std::ifstream file(path_ + "/" + name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  void Put(const std::string& name, const std::string& content) const {
    std::ofstream(path_ + "/" + name, std::ios::binary) << content;
  }

 private:
  std::string path_;
  int fd_ = -1;
};

// An engine with all that one lane needs around it.
class Lane {
 public:
  Lane(std::string_view engine, Call call) : call_(call) {
    auto made = MakeEngine(engine, {.call = call, .ticks = ChosenTickSource()});
    REQUIRE(made.ok());
    engine_ = *std::move(made);
  }

  void Opens(const TempDirectory& directory, std::vector<LaneFile> files, const OpenMode& mode) {
    REQUIRE(TriesToOpen(directory.fd(), directory.path(), std::move(files), mode).ok());
  }
  absl::Status TriesToOpen(int directory_fd, const std::string& directory, std::vector<LaneFile> files,
                           const OpenMode& mode) {
    files_ = FileSet{.directory_fd = directory_fd, .directory = directory, .files = std::move(files)};
    return engine_->Open(files_, mode);
  }

  // Runs one pass of the operation over all files.
  LoopEnd Runs(const char* operation, uint32_t record_bytes) {
    StreamShape shape{.object_count = static_cast<uint32_t>(files_.files.size()),
                      .object_bytes = files_.files[0].bytes,
                      .record_bytes = record_bytes,
                      .seed = kSeed};
    stream_ = *MakeOpStream(**FindOperation(operation), shape);
    auto payload = Payload::Create(kSeed, 0, 0, record_bytes);
    auto buffer = AlignedBuffer::Allocate(record_bytes);
    REQUIRE((payload.ok() && buffer.ok()));
    recorder_ = std::make_unique<LaneRecorder>(OpKinds{OpKind::kRead, OpKind::kWrite}, CurrentTickScale());
    LaneContext lane{.stream = *stream_,
                     .payload = &*payload,
                     .read_buffer = buffer->data(),
                     .stop = stop,
                     .recorder = *recorder_,
                     .between = between};
    const LoopEnd end = engine_->Run(lane);
    recorder_->Finish();
    last_read.assign(reinterpret_cast<const char*>(buffer->data()), record_bytes);
    return end;
  }

  IoEngine& engine() { return *engine_; }
  const LaneRecorder& recorder() const { return *recorder_; }
  OpStream& stream() { return *stream_; }
  Call call() const { return call_; }

  StopCell stop;
  BetweenOps* between = nullptr;
  std::string last_read;

 private:
  Call call_;
  FileSet files_;
  std::unique_ptr<IoEngine> engine_;
  std::unique_ptr<OpStream> stream_;
  std::unique_ptr<LaneRecorder> recorder_;
};

std::string ExpectedFile(uint32_t object, uint64_t bytes) {
  std::vector<std::byte> data(bytes);
  Payload::Expected(kSeed, 0, 0, {OpKind::kWrite, object, 0, static_cast<uint32_t>(bytes)}, data);
  return std::string(reinterpret_cast<const char*>(data.data()), bytes);
}

// Calls `test` for every engine (those that use files only, when asked) and both calls.
template <typename Test>
void ForEachEngine(bool with_files_only, Test test) {
  for (const EngineSpec& engine : Engines()) {
    if (with_files_only && !engine.uses_files) continue;
    for (const Call call : {Call::kStream, Call::kPositional}) {
      if (!engine.calls.Has(call)) continue;
      INFO("engine " << std::string(engine.name) << ", "
                     << (call == Call::kStream ? "stream" : "positional"));
      test(engine.name, call);
    }
  }
}

constexpr OpenMode kCreate{.read = true, .write = true, .create = true};

int OpenDescriptorCount() {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

TEST_CASE("every engine runs the whole stream and records each op") {
  ForEachEngine(false, [](std::string_view name, Call call) {
    TempDirectory directory;
    Lane lane(name, call);
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
  ForEachEngine(false, [](std::string_view name, Call call) {
    TempDirectory directory;
    Lane lane(name, call);
    lane.Opens(directory, {{.name = "a", .bytes = 8192}}, kCreate);
    lane.stop.stop = true;
    REQUIRE(lane.Runs("write", 4096).reason == LoopEnd::Reason::kStopped);
    REQUIRE(lane.recorder().ops() == 0);
    REQUIRE(directory.ContentOf("a").empty());
  });
}

TEST_CASE("every engine can be closed twice, unopened, and opened again") {
  ForEachEngine(false, [](std::string_view name, Call call) {
    TempDirectory directory;
    const int before = OpenDescriptorCount();
    {
      Lane lane(name, call);
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
  ForEachEngine(true, [](std::string_view name, Call call) {
    for (const char* operation : {"write", "random-write"}) {
      INFO(operation);
      TempDirectory directory;
      Lane lane(name, call);
      constexpr uint64_t kBytes = 100'000;  // 25 records, the last one short
      lane.Opens(directory, {{.name = "a", .bytes = kBytes}, {.name = "b", .bytes = kBytes}}, kCreate);
      REQUIRE(lane.Runs(operation, 4096).reason == LoopEnd::Reason::kDone);
      REQUIRE(directory.ContentOf("a") == ExpectedFile(0, kBytes));
      REQUIRE(directory.ContentOf("b") == ExpectedFile(1, kBytes));

      for (const char* read : {"read", "random-read", "backward-read", "stride-read"}) {
        INFO(read);
        REQUIRE(lane.Runs(read, 4096).reason == LoopEnd::Reason::kDone);
        REQUIRE(lane.recorder().bytes() == 2 * kBytes);
        // The buffer holds the last record of the order, its head at least.
        lane.stream().Restart(0);
        std::vector<Op> ops(50);
        REQUIRE(lane.stream().Fill(ops) == 50);
        const Op last = ops.back();
        REQUIRE(lane.last_read.substr(0, last.length) ==
                ExpectedFile(last.object, kBytes).substr(last.offset, last.length));
      }
    }
  });
}

TEST_CASE("a lane of a shared file stays inside its extent") {
  ForEachEngine(true, [](std::string_view name, Call call) {
    TempDirectory directory;
    directory.Put("shared", std::string(30'000, '.'));
    Lane lane(name, call);
    lane.Opens(directory, {{.name = "shared", .extent_offset_bytes = 10'000, .bytes = 10'000}},
               {.read = true, .write = true});
    REQUIRE(lane.Runs("random-write", 1000).reason == LoopEnd::Reason::kDone);
    REQUIRE(directory.ContentOf("shared") ==
            std::string(10'000, '.') + ExpectedFile(0, 10'000) + std::string(10'000, '.'));
    REQUIRE(lane.Runs("backward-read", 1000).reason == LoopEnd::Reason::kDone);
    REQUIRE(lane.last_read == ExpectedFile(0, 1000));
  });
}

// A FIFO cannot seek: a stream engine gets through it only if it never asks where it need not.
TEST_CASE("the posix engine's stream calls seek only where the position is not already right") {
  TempDirectory directory;
  REQUIRE(mkfifo((directory.path() + "/fifo").c_str(), 0600) == 0);
  Lane lane("posix", Call::kStream);
  lane.Opens(directory, {{.name = "fifo", .bytes = 8192}}, {.read = true, .write = true});
  REQUIRE(lane.Runs("write", 2048).reason == LoopEnd::Reason::kDone);
  REQUIRE(lane.recorder().bytes() == 8192);
  const LoopEnd end = lane.Runs("read", 2048);  // begins at 0 while the position is 8192
  REQUIRE(end.reason == LoopEnd::Reason::kFailed);
  REQUIRE(end.errno_value == ESPIPE);
}

TEST_CASE("a file that is too short fails the op that meets its end") {
  ForEachEngine(true, [](std::string_view name, Call call) {
    TempDirectory directory;
    directory.Put("a", std::string(5000, 'x'));
    Lane lane(name, call);
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

TEST_CASE("a device without space fails the op with ENOSPC") {
  ForEachEngine(true, [](std::string_view name, Call call) {
    const int dev_fd = open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);
    REQUIRE(dev_fd >= 0);
    {
      Lane lane(name, call);
      REQUIRE(lane.TriesToOpen(dev_fd, "/dev", {{.name = "full", .bytes = 8192}}, {.write = true}).ok());
      const LoopEnd end = lane.Runs("write", 4096);
      REQUIRE(end.reason == LoopEnd::Reason::kFailed);
      REQUIRE(end.errno_value == ENOSPC);
      REQUIRE(end.failed_op.offset == 0);
    }
    close(dev_fd);
  });
}

// The same on a file system: needs the right to mount one of 64 KiB. Without it /dev/full above has to do.
TEST_CASE("a file system that fills up fails the op that met its end") {
  TempDirectory directory;
  const std::string mount_point = directory.path() + "/small";
  REQUIRE(mkdir(mount_point.c_str(), 0700) == 0);
  if (mount("tmpfs", mount_point.c_str(), "tmpfs", 0, "size=64k") != 0) {
    const int mount_errno = errno;
    WARN("no tmpfs could be mounted (" << strerror(mount_errno) << "): only /dev/full was tested");
    REQUIRE((mount_errno == EPERM || mount_errno == EACCES));
    return;
  }
  struct Unmount {
    ~Unmount() { umount2(path.c_str(), MNT_DETACH); }
    const std::string& path;
  } unmount{mount_point};
  ForEachEngine(true, [&](std::string_view name, Call call) {
    const int fd = open(mount_point.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    {
      Lane lane(name, call);
      REQUIRE(lane.TriesToOpen(fd, mount_point, {{.name = "a", .bytes = 1 << 20}}, kCreate).ok());
      const LoopEnd end = lane.Runs("write", 4096);
      REQUIRE(end.reason == LoopEnd::Reason::kFailed);
      REQUIRE(end.errno_value == ENOSPC);
      REQUIRE(end.failed_op.offset == 64 * 1024);
      REQUIRE(lane.recorder().bytes() == 64 * 1024);
    }
    close(fd);
    REQUIRE(unlink((mount_point + "/a").c_str()) == 0);
  });
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
  ForEachEngine(true, [&](std::string_view name, Call call) {
    OpenMode mode = kCreate;
    mode.direct = true;
    Lane lane(name, call);
    lane.Opens(directory, {{.name = "a", .bytes = 1 << 20}}, mode);
    for (const uint32_t record_bytes : {4096u, 65'536u}) {
      REQUIRE(lane.Runs("random-write", record_bytes).reason == LoopEnd::Reason::kDone);
      REQUIRE(lane.Runs("read", record_bytes).reason == LoopEnd::Reason::kDone);
      REQUIRE(lane.last_read == ExpectedFile(0, 1 << 20).substr((1 << 20) - record_bytes));
    }
    REQUIRE(lane.engine().Close().ok());
    REQUIRE(directory.ContentOf("a") == ExpectedFile(0, 1 << 20));
    REQUIRE(unlink((directory.path() + "/a").c_str()) == 0);
  });
}

TEST_CASE("the flags of the open mode reach the kernel") {
  ForEachEngine(true, [](std::string_view name, Call call) {
    TempDirectory directory;
    directory.Put("a", "x");
    struct Case {
      OpenMode mode;
      int flags;
    };
    for (const Case& each : {Case{{.read = true}, O_RDONLY}, Case{{.write = true}, O_RDWR},
                             Case{{.read = true, .write = true, .sync = true}, O_RDWR | O_SYNC},
                             Case{{.write = true, .dsync = true}, O_RDWR | O_DSYNC}}) {
      Lane lane(name, call);
      lane.Opens(directory, {{.name = "a", .bytes = 1}}, each.mode);
      // The engine's descriptor is the one that leads to our file.
      int found = 0;
      for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code error;
        if (std::filesystem::read_symlink(entry.path(), error) != directory.path() + "/a") continue;
        const int flags = fcntl(std::stoi(entry.path().filename()), F_GETFL);
        REQUIRE((flags & (O_ACCMODE | O_SYNC | O_DSYNC)) == each.flags);
        ++found;
      }
      REQUIRE(found == 1);
    }
  });
}

TEST_CASE("a file that cannot be opened is named, and nothing stays open") {
  ForEachEngine(true, [](std::string_view name, Call call) {
    TempDirectory directory;
    directory.Put("a", "x");
    const int before = OpenDescriptorCount();
    Lane lane(name, call);
    const absl::Status status =
        lane.TriesToOpen(directory.fd(), directory.path(),
                         {{.name = "a", .bytes = 1}, {.name = "gone", .bytes = 1}}, {.read = true});
    REQUIRE(status.code() == absl::StatusCode::kNotFound);
    REQUIRE(ErrnoOf(status) == ENOENT);
    REQUIRE(std::string(status.message()).find(directory.path() + "/gone") != std::string::npos);
    REQUIRE(OpenDescriptorCount() == before);
  });
}

TEST_CASE("writing to a file that was opened for reading fails with EBADF") {
  ForEachEngine(true, [](std::string_view name, Call call) {
    TempDirectory directory;
    directory.Put("a", std::string(4096, 'x'));
    Lane lane(name, call);
    lane.Opens(directory, {{.name = "a", .bytes = 4096}}, {.read = true});
    const LoopEnd end = lane.Runs("rewrite", 4096);
    REQUIRE(end.reason == LoopEnd::Reason::kFailed);
    REQUIRE(end.errno_value == EBADF);
  });
}

TEST_CASE("an unknown engine is told what there is") {
  const absl::Status status = MakeEngine("floppy", {}).status();
  REQUIRE(status.code() == absl::StatusCode::kNotFound);
  REQUIRE(std::string(status.message()).find("posix, null") != std::string::npos);
}

// Notes what comes between ops, and in which order.
class Noted final : public BetweenOps {
 public:
  void Before(const Op& next) override { order += "b" + std::to_string(next.offset / 4096); }
  void After(const Op& done, const std::byte* data) override {
    order += "a" + std::to_string(done.offset / 4096);
    if (data != nullptr) read.append(reinterpret_cast<const char*>(data), done.length);
  }
  std::string order, read;
};

TEST_CASE("what lies between ops comes before and after each, with what a read brought") {
  ForEachEngine(true, [](std::string_view name, Call call) {
    TempDirectory directory;
    const std::string content = ExpectedFile(0, 10'000);
    directory.Put("a", content);
    Lane lane(name, call);
    Noted noted;
    lane.between = &noted;
    lane.Opens(directory, {{.name = "a", .bytes = 10'000}}, {.read = true});
    REQUIRE(lane.Runs("read", 4096).reason == LoopEnd::Reason::kDone);
    REQUIRE(noted.order == "b0a0b1a1b2a2");
    REQUIRE(noted.read == content);
  });
}

TEST_CASE("the null engine opens nothing and needs no directory") {
  Lane lane("null", Call::kPositional);
  REQUIRE(lane.TriesToOpen(-1, "/nowhere", {{.name = "a", .bytes = 1 << 20}}, kCreate).ok());
  REQUIRE(lane.Runs("random-write", 4096).reason == LoopEnd::Reason::kDone);
  REQUIRE(lane.recorder().bytes() == 1 << 20);
}

TEST_CASE("the cost of the loop is measured, on both clocks") {
  for (const TickSource ticks : {ChosenTickSource(), TickSource::kMonotonic}) {
    const double ns = MeasureLoopNs(ticks);
    REQUIRE(ns > 0);
    REQUIRE(ns < 100'000);  // says only that it is no nonsense; tests/perf judges
  }
}

}  // namespace
}  // namespace iobench
