// The posix engine: vectors, seeks only where needed, locks, jitter.
#include "worker/engine/posix_engine.h"

#include <future>
#include <thread>

#include "tests/unit/engine_suite.h"
#include "worker/engine/file_lock.h"
#include "worker/engine/open_files.h"

namespace iobench {
namespace {

// A FIFO cannot seek: a stream engine gets through it only if it never seeks without need.
TEST_CASE("the posix engine's stream calls seek only where the position is not already right") {
  TempDirectory directory;
  REQUIRE(mkfifo(directory.PathOf("fifo").c_str(), 0600) == 0);
  EngineLane lane("posix", Call::kStream);
  lane.Opens(directory, {{.name = "fifo", .bytes = 8192}}, {.read = true, .write = true});
  REQUIRE(lane.Runs("write", 2048).reason == LoopEnd::Reason::kDone);
  REQUIRE(lane.recorder().bytes() == 8192);
  const LoopEnd end = lane.Runs("read", 2048);  // begins at 0 while the position is 8192
  REQUIRE(end.reason == LoopEnd::Reason::kFailed);
  REQUIRE(end.errno_value == ESPIPE);
}

TEST_CASE("the posix engine's op that meets the end of a full file system is the one that fails") {
  TempDirectory directory;
  OnSmallFileSystem(directory, [](int fd, const std::string& path) {
    for (const Call call : {Call::kStream, Call::kPositional, Call::kVector}) {
      EngineLane lane("posix", call);
      REQUIRE(lane.ErrnoOfWriting(fd, path, {.name = "a", .bytes = 1 << 20}, kCreate, 4096) == ENOSPC);
      REQUIRE(lane.failed_op.offset == 64 * 1024);
      REQUIRE(lane.recorder().bytes() == 64 * 1024);
      REQUIRE(unlinkat(fd, "a", 0) == 0);
    }
  });
}

TEST_CASE(
    "what one of our files has become a link to is not opened; a file of the user's own may be a link") {
  TempDirectory directory;
  directory.Put("precious", std::string(8192, 'x'));
  REQUIRE(symlink("precious", directory.PathOf("link").c_str()) == 0);
  FileSet ours{.directory_fd = directory.fd(),
               .directory = directory.path(),
               .files = {{.name = "link", .bytes = 8192}}};
  for (const bool writes : {false, true}) {
    const auto opened = OpenLaneFile(ours, 0, {.read = true, .write = writes}, {});
    REQUIRE(absl::IsFailedPrecondition(opened.status()));
    REQUIRE(std::string(opened.status().message()).find("symbolic link") != std::string::npos);
  }
  FileSet users = ours;
  users.files[0].name = directory.PathOf("link");
  const auto opened = OpenLaneFile(users, 0, {.read = true}, {});
  REQUIRE(opened.ok());
  close(*opened);
}

TEST_CASE("sixteen records go with one call, and a vector that ends short is so many bytes short") {
  TempDirectory directory;
  directory.Put("a", std::string(2 * 65'536 + 5000, 'x'));
  EngineLane lane("posix", Call::kVector);
  lane.Opens(directory, {{.name = "a", .bytes = 3 * 65'536}}, {.read = true});
  const LoopEnd end = lane.Runs("read", 65'536);
  REQUIRE(lane.recorder().ops() == 2);
  REQUIRE(end.errno_value == 0);
  REQUIRE(end.transferred == 5000);
}

// ------------------------------------------------------------------------------------------------------- locks

// The lines of /proc/locks on this file: "READ 0 4095", "WRITE 0 EOF", and "-> …" for those that wait.
std::vector<std::string> LocksOn(const std::string& path) {
  struct stat facts {};
  REQUIRE(stat(path.c_str(), &facts) == 0);
  std::ifstream locks("/proc/locks");
  std::vector<std::string> found;
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, flavour, type, process, inode, begin, end;
    words >> number >> kind;
    const bool waits = kind == "->";
    if (waits) words >> kind;
    words >> flavour >> type >> process >> inode >> begin >> end;
    if (!inode.ends_with(":" + std::to_string(facts.st_ino))) continue;
    found.push_back((waits ? "-> " : "") + type + " " + begin + " " + end);
  }
  std::sort(found.begin(), found.end());
  return found;
}
using Locks = std::vector<std::string>;

bool LocksFiles(const EngineSpec& engine) {
  return engine.features.Has(EngineFeature::kFileLock);
}
bool LocksRecords(const EngineSpec& engine) {
  return engine.features.Has(EngineFeature::kRecordLocks);
}

TEST_CASE("-W holds a lock on the whole file from Open to Close: readers share, a writer is alone") {
  ForEachEngine(LocksFiles, [](const EngineSpec& engine, Call call) {
    TempDirectory directory;
    directory.Put("a", std::string(8192, 'x'));
    const std::string path = directory.PathOf("a");
    EngineLane reader(engine.name, call, {.file_lock = true});
    EngineLane other_reader(engine.name, call, {.file_lock = true});
    reader.Opens(directory, {{.name = "a", .bytes = 8192}}, {.read = true});
    other_reader.Opens(directory, {{.name = "a", .bytes = 8192}}, {.read = true});
    REQUIRE(LocksOn(path) == Locks{"READ 0 EOF", "READ 0 EOF"});
    REQUIRE(reader.Runs("read", 4096).reason == LoopEnd::Reason::kDone);
    REQUIRE(reader.engine().Close().ok());
    REQUIRE(LocksOn(path) == Locks{"READ 0 EOF"});  // the other lane of this process keeps its own
    REQUIRE(other_reader.engine().Close().ok());
    REQUIRE(LocksOn(path).empty());

    EngineLane writer(engine.name, call, {.file_lock = true});
    writer.Opens(directory, {{.name = "a", .bytes = 8192}}, {.write = true});
    REQUIRE(LocksOn(path) == Locks{"WRITE 0 EOF"});
  });
}

TEST_CASE("-W locks a lane's extent of a shared file, so that no lane waits for another") {
  ForEachEngine(LocksFiles, [](const EngineSpec& engine, Call call) {
    TempDirectory directory;
    directory.Put("shared", std::string(20'000, '.'));
    EngineLane one(engine.name, call, {.file_lock = true});
    EngineLane two(engine.name, call, {.file_lock = true});
    one.Opens(directory, {{.name = "shared", .extent_offset_bytes = 0, .bytes = 10'000}}, {.write = true},
              true);
    two.Opens(directory, {{.name = "shared", .extent_offset_bytes = 10'000, .bytes = 10'000}},
              {.write = true}, true);
    REQUIRE(LocksOn(directory.PathOf("shared")) == Locks{"WRITE 0 9999", "WRITE 10000 19999"});
  });
}

// Checks the locks before and after each op.
TEST_CASE("-+l locks nothing between ops, and leaves nothing locked when an op fails") {
  ForEachEngine(LocksRecords, [](const EngineSpec& engine, Call call) {
    class Looks final : public OpHook {
     public:
      explicit Looks(std::string path) : path_(std::move(path)) {}
      void Before(const Op&) override { CHECK(LocksOn(path_).empty()); }
      void After(const Op&, const std::byte*, OpTimes) override { CHECK(LocksOn(path_).empty()); }

     private:
      std::string path_;
    };
    TempDirectory directory;
    directory.Put("a", std::string(5000, 'x'));
    Looks looks(directory.PathOf("a"));
    EngineLane lane(engine.name, call, {.record_locks = true});
    lane.between = &looks;
    lane.Opens(directory, {{.name = "a", .bytes = 8192}}, {.read = true});
    const LoopEnd end = lane.Runs("read", 4096);
    REQUIRE(end.reason == LoopEnd::Reason::kFailed);
    REQUIRE(end.transferred == 5000 - 4096);
    REQUIRE(LocksOn(directory.PathOf("a")).empty());
  });
}

TEST_CASE("-+l waits for whoever holds the record, inside the op, and locks exactly it") {
  ForEachEngine(LocksRecords, [](const EngineSpec& engine, Call call) {
    TempDirectory directory;
    directory.Put("a", std::string(8192, 'x'));
    const std::string path = directory.PathOf("a");
    const int holder = open(path.c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(WaitForLock(holder, LockKind::kWrite, {4096, 1}) == 0);
    EngineLane lane(engine.name, call, {.record_locks = true});
    lane.Opens(directory, {{.name = "a", .bytes = 8192}}, {.read = true, .write = true});
    auto end = std::async(std::launch::async, [&] { return lane.Runs("rewrite", 4096); });
    const Locks expected{"-> WRITE 4096 8191", "WRITE 4096 4096"};
    const int64_t patience_ends_ns = MonotonicNowNs() + 20 * kNanosPerSecond;
    while (LocksOn(path) != expected && MonotonicNowNs() < patience_ends_ns) std::this_thread::yield();
    const Locks seen = LocksOn(path);
    REQUIRE(Unlock(holder, {4096, 1}) == 0);
    CHECK(seen == expected);
    REQUIRE(end.get().reason == LoopEnd::Reason::kDone);
    REQUIRE(LocksOn(path).empty());
    REQUIRE(lane.engine().Close().ok());
    close(holder);
    REQUIRE(directory.ContentOf("a") == ExpectedFile(0, 8192));
  });
}

TEST_CASE("a lock that is not to be had is told with its holder after a while") {
  TempDirectory directory;
  directory.Put("a", "x");
  const int holder = open(directory.PathOf("a").c_str(), O_RDWR | O_CLOEXEC);
  const int other = open(directory.PathOf("a").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(TryToLock(holder, LockKind::kWrite, {}, 0).errno_value == 0);
  LockAttempt attempt = TryToLock(other, LockKind::kRead, {}, 1'000'000);
  REQUIRE(attempt.errno_value == EAGAIN);
  REQUIRE(attempt.holder_process == 0);  // the lock belongs to an open file description, not a process
  REQUIRE(Unlock(holder, {}) == 0);
  struct flock of_process {};
  of_process.l_type = F_WRLCK;
  REQUIRE(fcntl(holder, F_SETLK, &of_process) == 0);
  attempt = TryToLock(other, LockKind::kRead, {}, 0);
  REQUIRE(attempt.errno_value == EAGAIN);
  REQUIRE(attempt.holder_process == getpid());
  close(other);
  close(holder);
}

// ------------------------------------------------------------------------------------------------------ jitter

TEST_CASE("-K reads at the begin of the file between reads, and the lane does not notice") {
  for (const Call call : {Call::kStream, Call::kPositional, Call::kVector}) {
    TempDirectory directory;
    const std::string content = ExpectedFile(0, 40'960);
    directory.Put("a", content);
    class Collects final : public OpHook {
     public:
      void Before(const Op&) override {}
      void After(const Op& done, const std::byte* data, OpTimes) override {
        read.append(reinterpret_cast<const char*>(data), done.length);
      }
      std::string read;
    } collects;
    EngineLane lane("posix", call, {.jitter_every = 3});
    lane.between = &collects;
    lane.Opens(directory, {{.name = "a", .bytes = 40'960}}, {.read = true});
    REQUIRE(lane.Runs("read", 4096).reason == LoopEnd::Reason::kDone);
    REQUIRE(collects.read == content);
    REQUIRE(lane.recorder().ops() == 10);
    REQUIRE(lane.recorder().bytes() == 40'960);
  }
}

TEST_CASE("advice reaches the kernel, and an unknown word is an error") {
  ForEachEngine(
      [](const EngineSpec& engine) { return engine.features.Has(EngineFeature::kFileAdvice); },
      [](const EngineSpec& engine, Call call) {
        TempDirectory directory;
        directory.Put("a", "x");
        EngineLane good(engine.name, call, {.advice = "random"});
        good.Opens(directory, {{.name = "a", .bytes = 1}}, {.read = true});
        EngineLane bad(engine.name, call, {.advice = "hurry"});
        const absl::Status status =
            bad.TriesToOpen(directory.fd(), directory.path(), {{.name = "a", .bytes = 1}}, {.read = true});
        REQUIRE(std::string(status.message()) ==
                "unknown advice \"hurry\" on files (--fadvise); there are: normal, sequential, random, "
                "noreuse, willneed");
      });
}

}  // namespace
}  // namespace iobench
