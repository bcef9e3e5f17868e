// Engines with a queue keep several ops in flight and say why io_uring is unavailable, beyond the suite of all engines.
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <thread>

#include "tests/unit/engine_suite.h"

namespace iobench {
namespace {

bool Queues(const EngineSpec& engine) {
  return WithFiles(engine) && engine.Can(EngineFeature::kQueue);
}

// Calls test(engine, options) for every engine with a queue and each way to set it up.
template <typename Test>
void ForEachQueue(std::vector<uint32_t> depths, Test test) {
  for (const EngineSpec& engine : Engines()) {
    if (!Queues(engine) || !RunsHere(engine)) continue;
    for (const uint32_t depth : depths) {
      for (const bool copy : {false, true}) {
        if (copy && engine.name != "posix-aio") continue;
        INFO(std::string(engine.name) << ", depth " << depth << (copy ? ", copying" : ""));
        EngineOptions options;
        options.depth = depth;
        options.copy = copy;
        test(engine.name, options);
      }
    }
  }
}

// Waits for something that another thread does; false: timeout after 20 s.
bool Comes(const std::function<bool()>& happened) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!happened()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// Compares every read with the contents of the file, and records the order in which ops end.
class Checked final : public OpHook {
 public:
  explicit Checked(std::vector<std::string> files) : files_(std::move(files)) {}
  void Before(const Op&) override { ++begun; }
  void After(const Op& done, const std::byte* data, OpTimes) override {
    objects.push_back(done.object);
    if (done.kind == OpKind::kRead) {
      const std::string read(reinterpret_cast<const char*>(data), done.length);
      if (read != files_[done.object].substr(done.offset, done.length)) ++wrong;
    }
    ++ended;
  }
  std::atomic<int> begun{0}, ended{0};
  int wrong = 0;
  std::vector<uint32_t> objects;

 private:
  std::vector<std::string> files_;
};

TEST_CASE("with many ops in flight everything is written where it belongs and read from there") {
  ForEachQueue({2, 7, 32, 100}, [](std::string_view name, const EngineOptions& options) {
    constexpr uint64_t kBytes = 300'000;  // 74 records, the last one short
    for (const char* operation : {"write", "random-write"}) {
      TempDirectory directory;
      EngineLane lane(name, Call::kPositional, options);
      lane.Opens(directory, {{.name = "a", .bytes = kBytes}, {.name = "b", .bytes = kBytes}}, kCreate);
      REQUIRE(lane.Runs(operation, 4096).reason == LoopEnd::Reason::kDone);
      REQUIRE(lane.recorder().ops() == 148);
      REQUIRE(lane.recorder().bytes() == 2 * kBytes);
      REQUIRE(lane.recorder().histogram_of(OpKind::kWrite)->count() == 148);
      REQUIRE(directory.ContentOf("a") == ExpectedFile(0, kBytes));
      REQUIRE(directory.ContentOf("b") == ExpectedFile(1, kBytes));
      for (const char* read : {"read", "random-read"}) {
        Checked checked({ExpectedFile(0, kBytes), ExpectedFile(1, kBytes)});
        lane.between = &checked;
        REQUIRE(lane.Runs(read, 4096).reason == LoopEnd::Reason::kDone);
        lane.between = nullptr;
        REQUIRE(checked.begun == 148);
        REQUIRE(checked.ended == 148);
        REQUIRE(checked.wrong == 0);
      }
      REQUIRE(lane.engine().Flush().ok());
      REQUIRE(lane.engine().Close().ok());
    }
  });
}

TEST_CASE("long records are each written whole while others are in flight") {
  ForEachQueue({16}, [](std::string_view name, const EngineOptions& options) {
    constexpr uint64_t kBytes = 16 * EngineLane::kLongestOpBytes;
    TempDirectory directory;
    EngineLane lane(name, Call::kPositional, options);
    lane.Opens(directory, {{.name = "a", .bytes = kBytes}}, kCreate);
    REQUIRE(lane.Runs("random-write", EngineLane::kLongestOpBytes).reason == LoopEnd::Reason::kDone);
    REQUIRE(lane.engine().Close().ok());
    REQUIRE(directory.ContentOf("a") == ExpectedFile(0, kBytes));
  });
}

TEST_CASE("a deep queue stays inside the extent of a shared file") {
  ForEachQueue({8}, [](std::string_view name, const EngineOptions& options) {
    TempDirectory directory;
    directory.Put("shared", std::string(120'000, '.'));
    EngineLane lane(name, Call::kPositional, options);
    lane.Opens(directory, {{.name = "shared", .extent_offset_bytes = 40'000, .bytes = 40'000}},
               {.read = true, .write = true}, /*shared=*/true);
    REQUIRE(lane.Runs("random-write", 1000).reason == LoopEnd::Reason::kDone);
    REQUIRE(lane.engine().Close().ok());
    REQUIRE(directory.ContentOf("shared") ==
            std::string(40'000, '.') + ExpectedFile(0, 40'000) + std::string(40'000, '.'));
  });
}

TEST_CASE("a deep queue that meets the end of a file counts what was whole") {
  ForEachQueue({4, 64}, [](std::string_view name, const EngineOptions& options) {
    TempDirectory directory;
    directory.Put("a", std::string(5000, 'x'));
    EngineLane lane(name, Call::kPositional, options);
    lane.Opens(directory, {{.name = "a", .bytes = 20'000}}, {.read = true});
    const LoopEnd end = lane.Runs("read", 2000);
    REQUIRE(end.reason == LoopEnd::Reason::kFailed);
    REQUIRE(end.errno_value == 0);
    REQUIRE(end.failed_op.offset >= 4000);
    REQUIRE(end.transferred == (end.failed_op.offset == 4000 ? 1000 : 0));
    REQUIRE(lane.recorder().ops() == 2);
  });
}

TEST_CASE("a deep queue that may not write fails with EBADF") {
  ForEachQueue({16}, [](std::string_view name, const EngineOptions& options) {
    TempDirectory directory;
    directory.Put("a", std::string(65'536, 'x'));
    EngineLane lane(name, Call::kPositional, options);
    lane.Opens(directory, {{.name = "a", .bytes = 65'536}}, {.read = true});
    const LoopEnd end = lane.Runs("rewrite", 4096);
    REQUIRE(end.reason == LoopEnd::Reason::kFailed);
    REQUIRE(end.errno_value == EBADF);
    REQUIRE(lane.recorder().ops() == 0);
  });
}

TEST_CASE("direct I/O with many ops in flight") {
  TempDirectory directory;
  const int probe = openat(directory.fd(), "probe", O_CREAT | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
  if (probe < 0) {
    WARN("no O_DIRECT below " << directory.path() << "; set TMPDIR to a disk");
    return;
  }
  close(probe);
  ForEachQueue({16}, [&](std::string_view name, const EngineOptions& options) {
    OpenMode mode = kCreate;
    mode.direct = true;
    EngineLane lane(name, Call::kPositional, options);
    lane.Opens(directory, {{.name = "a", .bytes = 1 << 20}}, mode);
    REQUIRE(lane.Runs("random-write", 8192).reason == LoopEnd::Reason::kDone);
    Checked checked({ExpectedFile(0, 1 << 20)});
    lane.between = &checked;
    REQUIRE(lane.Runs("random-read", 8192).reason == LoopEnd::Reason::kDone);
    REQUIRE(checked.ended == 128);
    REQUIRE(checked.wrong == 0);
  });
}

// A read of an empty FIFO waits. The first op is served last: the others must have begun while it waited.
TEST_CASE("ops of a queue are in flight together") {
  constexpr uint32_t kCount = 4;
  ForEachQueue({kCount}, [](std::string_view name, const EngineOptions& options) {
    TempDirectory directory;
    std::vector<LaneFile> files;
    std::vector<int> writers;
    for (uint32_t i = 0; i < kCount; ++i) {
      files.push_back({.name = "fifo" + std::to_string(i), .bytes = 4096});
      const std::string path = directory.PathOf(files.back().name);
      REQUIRE(mkfifo(path.c_str(), 0600) == 0);
      writers.push_back(open(path.c_str(), O_RDWR | O_CLOEXEC));
      REQUIRE(writers.back() >= 0);
    }
    const std::string data(4096, 'f');
    Checked checked(std::vector<std::string>(kCount, data));
    auto run = std::async(std::launch::async, [&] {
      EngineLane lane(name, Call::kPositional, options);
      lane.between = &checked;
      lane.Opens(directory, files, {.read = true, .write = true});
      return lane.Runs("read", 4096).reason;
    });
    bool each_came = true;  // no REQUIRE while the other thread may use one: Catch is not thread-safe
    for (int i = kCount - 1; i >= 0; --i) {
      each_came &= write(writers[static_cast<size_t>(i)], data.data(), data.size()) == 4096;
      const int ended = static_cast<int>(kCount) - i;
      each_came &= Comes([&] { return checked.ended >= ended; });
    }
    REQUIRE(run.get() == LoopEnd::Reason::kDone);
    REQUIRE(each_came);
    REQUIRE(checked.objects == std::vector<uint32_t>{3, 2, 1, 0});
    REQUIRE(checked.wrong == 0);
    for (const int fd : writers) close(fd);
  });
}

// How many threads of this process are inside read(2).
int ThreadsInRead() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "syscall");
    long number = -1;
    if (file >> number && number == SYS_read) ++count;
  }
  return count;
}

// On files that cannot seek, the C library falls back to read(2). It serves a descriptor's requests one after the
// other.
TEST_CASE("posix-aio has as many calls on one file in the kernel as the depth says") {
  if (!RunsHere(**FindEngine("posix-aio"))) return;
  TempDirectory directory;
  const std::string path = directory.PathOf("fifo");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const int writer = open(path.c_str(), O_RDWR | O_CLOEXEC);
  auto run = std::async(std::launch::async, [&] {
    EngineOptions options;
    options.depth = 24;  // more than the 20 threads that the library takes by itself
    EngineLane lane("posix-aio", Call::kPositional, options);
    lane.Opens(directory, {{.name = "fifo", .bytes = 30 * 4096}}, {.read = true, .write = true});
    return lane.Runs("read", 4096).reason;
  });
  const bool all_waited = Comes([] { return ThreadsInRead() >= 24; });
  const std::string data(4096, 'f');
  int written = 0;
  for (int i = 0; i < 30; ++i) written += write(writer, data.data(), data.size()) == 4096 ? 1 : 0;
  REQUIRE(run.get() == LoopEnd::Reason::kDone);
  REQUIRE(written == 30);
  REQUIRE(all_waited);
  close(writer);
}

TEST_CASE("posix-aio takes more descriptors than the soft limit, and gives them back") {
  if (!RunsHere(**FindEngine("posix-aio"))) return;
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const int open_before = OpenDescriptorCount();
  rlimit low = before;
  low.rlim_cur = static_cast<rlim_t>(open_before) + 20;
  if (low.rlim_cur + 60 > before.rlim_max) {
    WARN("the hard limit on descriptors is too low for this test");
    return;
  }
  {
    TempDirectory directory;
    EngineOptions options;
    options.depth = 64;
    EngineLane lane("posix-aio", Call::kPositional, options);
    REQUIRE(setrlimit(RLIMIT_NOFILE, &low) == 0);
    lane.Opens(directory, {{.name = "a", .bytes = 65'536}}, kCreate);
    REQUIRE(OpenDescriptorCount() >= open_before + 64);
    REQUIRE(lane.Runs("write", 4096).reason == LoopEnd::Reason::kDone);
    REQUIRE(lane.engine().Close().ok());
  }
  REQUIRE(OpenDescriptorCount() == open_before);
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
}

TEST_CASE("buffers that no machine has are refused before they are touched") {
  for (const EngineSpec& engine : Engines()) {
    if (!Queues(engine)) continue;
    INFO(std::string(engine.name));
    auto made = MakeEngine(engine.name, {.longest_op_bytes = 1u << 30, .depth = 4096});
    REQUIRE(made.ok());
    auto stream = *MakeOpStream(**FindOperation("read"), {.object_bytes = 4096, .op_bytes = 4096});
    LaneRecorder recorder(OpKind::kRead, CurrentTickScale());
    StopCell stop;
    LaneContext lane{
        .stream = *stream, .payload = nullptr, .read_buffer = nullptr, .stop = stop, .recorder = recorder};
    const absl::Status ready = (*made)->MakeReady(lane);
    REQUIRE(ready.code() == absl::StatusCode::kResourceExhausted);
    REQUIRE(std::string(ready.message()).find("--depth") != std::string::npos);
  }
}

// ---- where io_uring is restricted. Each test uses a thread of its own: neither filters nor dropped capabilities can
// be undone.

absl::Status ReadyInThread(const std::function<bool()>& restrict, std::string& note) {
  return std::async(std::launch::async,
                    [&]() -> absl::Status {
                      auto engine = *MakeEngine("uring", {.longest_op_bytes = 65'536, .depth = 32});
                      auto stream = *MakeOpStream(**FindOperation("read"),
                                                  {.object_bytes = 4096, .op_bytes = 4096});
                      LaneRecorder recorder(OpKind::kRead, CurrentTickScale());
                      StopCell stop;
                      LaneContext lane{.stream = *stream,
                                       .payload = nullptr,
                                       .read_buffer = nullptr,
                                       .stop = stop,
                                       .recorder = recorder};
                      if (!restrict()) return absl::UnknownError("cannot restrict this thread");
                      const absl::Status ready = engine->MakeReady(lane);
                      note = engine->Note();
                      return ready;
                    })
      .get();
}

// As a container's profile does: io_uring_setup fails with `error`.
bool ForbidRings(uint32_t error) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{4, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_CASE("where the kernel forbids io_uring the error says so and names another way") {
  std::string note;
  const absl::Status forbidden = ReadyInThread([] { return ForbidRings(EPERM); }, note);
  INFO(forbidden.message());
  REQUIRE(forbidden.code() == absl::StatusCode::kPermissionDenied);
  for (const char* word : {"forbidden", "EPERM", "seccomp", "--engine"}) {
    INFO(word);
    REQUIRE(std::string(forbidden.message()).find(word) != std::string::npos);
  }
  const absl::Status before_lanes = std::async(std::launch::async, [] {
                                      return ForbidRings(EPERM) ? CheckEngineHere("uring") : absl::OkStatus();
                                    }).get();
  REQUIRE(before_lanes == forbidden);
  REQUIRE(CheckEngineHere("uring").ok());
  REQUIRE(CheckEngineHere("posix").ok());
  const absl::Status missing = ReadyInThread([] { return ForbidRings(ENOSYS); }, note);
  INFO(missing.message());
  REQUIRE(missing.code() == absl::StatusCode::kUnimplemented);
  REQUIRE(std::string(missing.message()).find("ENOSYS") != std::string::npos);
}

// Without CAP_IPC_LOCK the limit on locked memory counts.
bool DropLockCapability() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (syscall(SYS_capget, &header, data) != 0) return false;
  data[0].effective &= ~(1u << CAP_IPC_LOCK);
  data[0].permitted &= ~(1u << CAP_IPC_LOCK);
  data[0].inheritable = 0;
  return syscall(SYS_capset, &header, data) == 0;
}

TEST_CASE("buffers beyond the limit on locked memory are used unregistered, and the engine says so") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_MEMLOCK, &before) == 0);
  rlimit low = before;
  low.rlim_cur = 256 * 1024;  // 2 MiB would be needed
  REQUIRE(setrlimit(RLIMIT_MEMLOCK, &low) == 0);
  std::async(std::launch::async, [] {
    REQUIRE(DropLockCapability());
    TempDirectory directory;
    EngineOptions options;
    options.depth = 32;
    EngineLane lane("uring", Call::kPositional, options);
    INFO(lane.engine().Note());
    REQUIRE(lane.engine().Note().find("were not registered") != std::string::npos);
    REQUIRE(lane.engine().Note().find("256 KiB") != std::string::npos);
    lane.Opens(directory, {{.name = "a", .bytes = 300'000}}, kCreate);
    REQUIRE(lane.Runs("random-write", 4096).reason == LoopEnd::Reason::kDone);
    REQUIRE(directory.ContentOf("a") == ExpectedFile(0, 300'000));
    Checked checked({ExpectedFile(0, 300'000)});
    lane.between = &checked;
    REQUIRE(lane.Runs("random-read", 4096).reason == LoopEnd::Reason::kDone);
    REQUIRE(checked.wrong == 0);
  }).get();
  REQUIRE(setrlimit(RLIMIT_MEMLOCK, &before) == 0);
  EngineOptions options;
  options.depth = 2;
  EngineLane lane("uring", Call::kPositional, options);
  REQUIRE(lane.engine().Note().empty());
}

}  // namespace
}  // namespace iobench
