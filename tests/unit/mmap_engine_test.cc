// The mmap engine: file sizes, SIGBUS, msync, and file I/O between mapped ops.
#include "worker/engine/mmap_engine.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include <functional>

#include "tests/unit/engine_suite.h"
#include "worker/engine/bus_error.h"

namespace iobench {
namespace {

constexpr OpenMode kUpdate{.read = true, .write = true};

// Calls something before the op with this number.
class AtOp final : public OpHook {
 public:
  AtOp(uint64_t number, std::function<void()> action) : number_(number), action_(std::move(action)) {}
  void Before(const Op&) override {
    if (count_++ == number_) action_();
  }
  void After(const Op&, const std::byte*, OpTimes) override {}

 private:
  uint64_t number_, count_ = 0;
  std::function<void()> action_;
};

v1::Mmap Options(v1::Mmap::Sync sync, const char* advice, bool mix_file_io) {
  v1::Mmap options;
  options.set_sync(sync);
  options.set_advice(advice);
  options.set_mix_file_io(mix_file_io);
  return options;
}

TEST_CASE("a file written through a map has its exact size, page or not") {
  for (const uint64_t bytes : {1, 4095, 4096, 4097, 10'000}) {
    TempDirectory directory;
    EngineLane lane("mmap", Call::kPositional);
    lane.Opens(directory, {{.name = "a", .bytes = bytes}}, kCreate);
    REQUIRE(lane.Runs("write", static_cast<uint32_t>(std::min<uint64_t>(bytes, 1000))).reason ==
            LoopEnd::Reason::kDone);
    REQUIRE(lane.engine().Close().ok());
    REQUIRE(directory.ContentOf("a") == ExpectedFile(0, bytes));
  }
}

TEST_CASE("a file that is longer than its lane's part keeps its size and its end") {
  TempDirectory directory;
  directory.Put("a", std::string(20'000, 'x'));
  EngineLane lane("mmap", Call::kPositional);
  lane.Opens(directory, {{.name = "a", .bytes = 5000}}, kUpdate);
  REQUIRE(lane.Runs("rewrite", 1000).reason == LoopEnd::Reason::kDone);
  REQUIRE(lane.engine().Close().ok());
  REQUIRE(directory.ContentOf("a") == ExpectedFile(0, 5000) + std::string(15'000, 'x'));
}

// How many pages of a file are in memory; all are dropped first, if nobody keeps them.
size_t PagesKept(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(fsync(fd) == 0);
  REQUIRE(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0);
  struct stat facts {};
  REQUIRE(fstat(fd, &facts) == 0);
  const auto bytes = static_cast<size_t>(facts.st_size);
  void* const map = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  REQUIRE(map != MAP_FAILED);
  std::vector<unsigned char> resident((bytes + 4095) / 4096);
  REQUIRE(mincore(map, bytes, resident.data()) == 0);
  munmap(map, bytes);
  close(fd);
  return static_cast<size_t>(
      std::count_if(resident.begin(), resident.end(), [](unsigned char page) { return (page & 1) != 0; }));
}

TEST_CASE(
    "the kernel can drop the pages of a mapped file once the engine has released them, and none is lost") {
  constexpr uint64_t kBytes = 1 << 20;
  TempDirectory directory;
  directory.Put("unmapped", std::string(kBytes, 'x'));
  if (PagesKept(directory.PathOf("unmapped")) > 0) {
    WARN("pages are not dropped below " << directory.path());
    return;
  }
  EngineLane lane("mmap", Call::kPositional);
  lane.Opens(directory, {{.name = "a", .bytes = kBytes}}, kCreate);
  REQUIRE(lane.Runs("write", 4096).reason == LoopEnd::Reason::kDone);
  REQUIRE(PagesKept(directory.PathOf("a")) == kBytes / 4096);
  lane.engine().ReleasePages();
  REQUIRE(PagesKept(directory.PathOf("a")) == 0);
  REQUIRE(lane.Runs("read", 4096).reason == LoopEnd::Reason::kDone);
  REQUIRE(lane.engine().Close().ok());
  REQUIRE(directory.ContentOf("a") == ExpectedFile(0, kBytes));
}

TEST_CASE("where the file system can, the blocks are there before the first op") {
  TempDirectory directory;
  EngineLane lane("mmap", Call::kPositional);
  lane.Opens(directory, {{.name = "a", .bytes = 1 << 20}}, kCreate);
  struct stat facts {};
  REQUIRE(stat(directory.PathOf("a").c_str(), &facts) == 0);
  REQUIRE(facts.st_size == 1 << 20);
  const int probe = openat(directory.fd(), "probe", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (fallocate(probe, 0, 0, 4096) == 0) {
    REQUIRE(facts.st_blocks * 512 >= 1 << 20);
  } else {
    WARN("no fallocate below " << directory.path() << ": only the size was tested");
  }
  close(probe);
}

TEST_CASE("a file that is cut under the map ends its lane with a short transfer, not the process") {
  for (const char* operation : {"read", "rewrite"}) {
    for (const bool cut_to_nothing : {false, true}) {
      INFO(operation << (cut_to_nothing ? ", to nothing" : ""));
      TempDirectory directory;
      directory.Put("a", std::string(40'960, 'x'));
      EngineLane lane("mmap", Call::kPositional);
      AtOp cuts(
          3, [&] { REQUIRE(truncate(directory.PathOf("a").c_str(), cut_to_nothing ? 0 : 5 * 4096) == 0); });
      lane.between = &cuts;
      lane.Opens(directory, {{.name = "a", .bytes = 40'960}}, kUpdate);
      LoopEnd end = lane.Runs(operation, 4096);
      REQUIRE(end.reason == LoopEnd::Reason::kFailed);
      REQUIRE(end.errno_value == 0);
      REQUIRE(end.transferred == 0);
      REQUIRE(end.failed_op.offset == (cut_to_nothing ? 3 : 5) * 4096);
      REQUIRE(lane.recorder().ops() == (cut_to_nothing ? 3 : 5));
      // The handler has replaced the page with anonymous memory, which must not look like the file afterwards.
      lane.between = nullptr;
      end = lane.Runs("backward-read", 4096);
      REQUIRE(end.reason == LoopEnd::Reason::kFailed);
      REQUIRE(end.failed_op.offset == 36'864);
      REQUIRE(lane.engine().Close().ok());
      REQUIRE(std::filesystem::file_size(directory.PathOf("a")) == (cut_to_nothing ? 0 : 5 * 4096));
    }
  }
}

TEST_CASE("a cut in the middle of a long record leaves what is before it") {
  TempDirectory directory;
  directory.Put("a", std::string(65'536, 'x'));
  EngineLane lane("mmap", Call::kPositional);
  AtOp cuts(0, [&] { REQUIRE(truncate(directory.PathOf("a").c_str(), 3 * 4096 + 10) == 0); });
  lane.between = &cuts;
  lane.Opens(directory, {{.name = "a", .bytes = 65'536}}, {.read = true});
  const LoopEnd end = lane.Runs("read", 65'536);
  REQUIRE(end.errno_value == 0);
  REQUIRE(end.transferred == 3 * 4096 + 10);
}

TEST_CASE("a disk that fills up behind a hole is ENOSPC at the record that met it") {
  TempDirectory directory;
  OnSmallFileSystem(directory, [](int fd, const std::string& path) {
    const int hole = openat(fd, "a", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    REQUIRE(ftruncate(hole, 1 << 20) == 0);
    close(hole);
    EngineLane lane("mmap", Call::kPositional);
    REQUIRE(lane.TriesToOpen(fd, path, {{.name = "a", .bytes = 1 << 20}}, kUpdate).ok());
    const LoopEnd end = lane.Runs("rewrite", 8192);
    REQUIRE(end.reason == LoopEnd::Reason::kFailed);
    REQUIRE(end.errno_value == ENOSPC);
    REQUIRE(end.failed_op.offset == 64 * 1024);
    REQUIRE(lane.recorder().bytes() == 64 * 1024);
  });
}

TEST_CASE("after a fault all of an extent is used that precedes the page and nothing else") {
  TempDirectory directory;
  OnSmallFileSystem(directory, [](int fd, const std::string& path) {
    // The first page of the file exists; the second one is a hole, for which there is no space.
    const std::string page(4096, 'x');
    const int file = openat(fd, "a", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    REQUIRE(pwrite(file, page.data(), page.size(), 0) == 4096);
    REQUIRE(ftruncate(file, 8192) == 0);
    close(file);
    const int filler = openat(fd, "filler", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    while (::write(filler, page.data(), page.size()) > 0) {
    }
    REQUIRE(errno == ENOSPC);
    close(filler);
    // In the extent, the second page begins at 3096.
    for (const auto& [operation, faulting_offset] : {std::pair{"backward-read", 4500}, {"read", 3000}}) {
      INFO("first " << operation);
      EngineLane lane("mmap", Call::kPositional);
      REQUIRE(lane.TriesToOpen(fd, path, {{.name = "a", .extent_offset_bytes = 1000, .bytes = 5000}},
                               {.read = true})
                  .ok());
      LoopEnd end = lane.Runs(operation, 500);
      REQUIRE(end.reason == LoopEnd::Reason::kFailed);
      REQUIRE(end.failed_op.offset == static_cast<uint64_t>(faulting_offset));
      end = lane.Runs("read", 500);
      REQUIRE(end.reason == LoopEnd::Reason::kFailed);
      REQUIRE(end.failed_op.offset == 3000);
      REQUIRE(end.transferred == 96);
    }
  });
}

TEST_CASE("several lanes meet their own SIGBUS at the same time") {
  TempDirectory directory;
  std::vector<std::future<LoopEnd>> ends;
  std::vector<std::unique_ptr<EngineLane>> lanes;
  std::vector<std::unique_ptr<AtOp>> cuts;
  for (int i = 0; i < 4; ++i) {
    const std::string name = "f" + std::to_string(i);
    directory.Put(name, std::string(40'960, 'x'));
    lanes.push_back(std::make_unique<EngineLane>("mmap", Call::kPositional));
    cuts.push_back(
        std::make_unique<AtOp>(0, [path = directory.PathOf(name), i] { truncate(path.c_str(), i * 4096); }));
    lanes.back()->between = cuts.back().get();
    lanes.back()->Opens(directory, {{.name = name, .bytes = 40'960}}, {.read = true});
  }
  for (auto& lane : lanes)
    ends.push_back(std::async(std::launch::async, [&] { return lane->Runs("read", 4096); }));
  for (int i = 0; i < 4; ++i) {
    const LoopEnd end = ends[i].get();
    CHECK(end.reason == LoopEnd::Reason::kFailed);
    CHECK(end.failed_op.offset == static_cast<uint64_t>(i) * 4096);
  }
}

// Runs in a child process, which the signal must end.
TEST_CASE("a SIGBUS outside of the lane's maps ends the process as ever") {
  TempDirectory directory;
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGBUS, SIG_DFL);  // Catch's own handler would report a failure
    const int fd = openat(directory.fd(), "b", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (ftruncate(fd, 4096) != 0) _exit(1);
    auto* const foreign = static_cast<volatile char*>(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0));
    if (ftruncate(fd, 0) != 0) _exit(1);
    const MappedRange none[1] = {};
    const BusErrorGuard guard(none);
    const char byte = foreign[0];
    _exit(2 + byte);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  REQUIRE(WTERMSIG(status) == SIGBUS);
}

TEST_CASE("more than an address space is refused, and so is what is no file") {
  TempDirectory directory;
  directory.Put("a", "x");
  EngineLane lane("mmap", Call::kPositional);
  absl::Status status = lane.TriesToOpen(directory.fd(), directory.path(),
                                         {{.name = "a", .bytes = kMaxMappedBytes + 1}}, {.read = true});
  REQUIRE(absl::IsOutOfRange(status));
  REQUIRE(std::string(status.message()).find("use a smaller -s") != std::string::npos);

  REQUIRE(mkfifo(directory.PathOf("fifo").c_str(), 0600) == 0);
  status = lane.TriesToOpen(directory.fd(), directory.path(), {{.name = "fifo", .bytes = 1}}, kUpdate);
  REQUIRE(absl::IsFailedPrecondition(status));
}

#ifndef IOBENCH_TSAN  // which leaves no room for maps of this size
TEST_CASE("maps that do not fit in the address space together say so, and nothing stays mapped") {
  TempDirectory directory;
  directory.Put("a", "x");
  constexpr uint64_t kBytes = uint64_t{15} << 40;
  if (truncate(directory.PathOf("a").c_str(), kBytes) != 0) {
    WARN("no sparse file of 15 TiB below " << directory.path() << " (" << strerror(errno) << ")");
    return;
  }
  EngineLane lane("mmap", Call::kPositional);
  // Ten of them are more than 2^47 bytes.
  const std::vector<LaneFile> files(10, LaneFile{.name = "a", .bytes = kBytes});
  const int before = OpenDescriptorCount();
  const absl::Status status = lane.TriesToOpen(directory.fd(), directory.path(), files, {.read = true});
  REQUIRE(ErrnoOf(status) == ENOMEM);
  REQUIRE(std::string(status.message()).starts_with("map 16492674416640 bytes of " + directory.PathOf("a")));
  REQUIRE(OpenDescriptorCount() == before);
  lane.Opens(directory, {{.name = "a", .bytes = kBytes}}, {.read = true});
}
#endif

TEST_CASE("the options of a map change no data") {
  for (const auto sync : {v1::Mmap::NEVER, v1::Mmap::ASYNC, v1::Mmap::SYNC}) {
    for (const char* advice : {"", "normal", "random", "sequential", "dontneed", "willneed"}) {
      for (const bool mix : {false, true}) {
        TempDirectory directory;
        EngineLane lane("mmap", Call::kStream, {.mmap = Options(sync, advice, mix)});
        lane.Opens(directory, {{.name = "a", .extent_offset_bytes = 100, .bytes = 10'000}}, kCreate);
        REQUIRE(lane.Runs("random-write", 1000).reason == LoopEnd::Reason::kDone);
        REQUIRE(lane.Runs("read", 1000).reason == LoopEnd::Reason::kDone);
        REQUIRE(lane.last_read == ExpectedFile(0, 10'000).substr(9000));
        REQUIRE(lane.engine().Flush().ok());
        REQUIRE(lane.engine().Close().ok());
        REQUIRE(directory.ContentOf("a") == std::string(100, '\0') + ExpectedFile(0, 10'000));
      }
    }
  }
}

TEST_CASE("an unknown advice for maps is an error") {
  TempDirectory directory;
  directory.Put("a", "x");
  EngineLane lane("mmap", Call::kStream, {.mmap = Options(v1::Mmap::NEVER, "hurry", false)});
  const absl::Status status =
      lane.TriesToOpen(directory.fd(), directory.path(), {{.name = "a", .bytes = 1}}, {.read = true});
  REQUIRE(absl::IsInvalidArgument(status));
}

}  // namespace
}  // namespace iobench
