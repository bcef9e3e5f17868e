// Common parts of engine tests: a directory, a lane with everything that an engine needs, and a loop over all engines
// that move data and their calls.
#ifndef TESTS_UNIT_ENGINE_SUITE_H_
#define TESTS_UNIT_ENGINE_SUITE_H_

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/model/engine.h"
#include "common/status_util.h"
#include "tests/support/posix_mpi_files.h"
#include "tests/support/runs_here.h"
#include "tests/support/temp_dir.h"
#include "worker/engine/io_engine.h"

namespace iobench {

inline constexpr uint64_t kEngineTestSeed = 4711;
inline constexpr OpenMode kCreate{.read = true, .write = true, .create = true};

// A TempDir on a disk, opened.
class TempDirectory {
 public:
  TempDirectory() { REQUIRE(fd_ >= 0); }
  ~TempDirectory() { close(fd_); }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  int fd() const { return fd_; }
  const std::string& path() const { return directory_.path(); }
  std::string PathOf(const std::string& name) const { return directory_ / name; }
  std::string ContentOf(const std::string& name) const { return directory_.Read(name); }
  void Put(const std::string& name, const std::string& content) const { directory_.Write(name, content); }

 private:
  const TempDir directory_{ParentOnDisk()};
  const int fd_ = open(path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
};

// An engine with everything that one lane needs. Ops up to kLongestOpBytes.
class EngineLane {
 public:
  static constexpr uint32_t kRecordBytes = 4096;
  static constexpr uint32_t kLongestOpBytes = 16 * kRecordBytes;

  // Sets call, clock and sizes of `options`.
  EngineLane(std::string_view engine, Call call, EngineOptions options = {})
      : payload_(*Payload::Create(kEngineTestSeed, 0, 0, kLongestOpBytes)),
        buffer_(*AlignedBuffer::Allocate(kLongestOpBytes)) {
    options.call = call;
    options.ticks = ChosenTickSource();
    options.record_bytes = kRecordBytes;
    options.longest_op_bytes = kLongestOpBytes;
    auto made = MakeEngine(engine, options);
    REQUIRE(made.ok());
    engine_ = *std::move(made);
    Prepare("read", kRecordBytes, kRecordBytes);
    const absl::Status ready = engine_->MakeReady(NewContext());
    INFO(ready.message());
    REQUIRE(ready.ok());
  }

  void Opens(const TempDirectory& directory, std::vector<LaneFile> files, const OpenMode& mode,
             bool shared = false) {
    const absl::Status opened = TriesToOpen(directory.fd(), directory.path(), std::move(files), mode, shared);
    INFO(opened.message());
    REQUIRE(opened.ok());
  }
  absl::Status TriesToOpen(int directory_fd, const std::string& directory, std::vector<LaneFile> files,
                           const OpenMode& mode, bool shared = false) {
    files_ = FileSet{
        .directory_fd = directory_fd, .directory = directory, .files = std::move(files), .shared = shared};
    absl::Status opened = engine_->Open(files_, mode);
    retried = context_->retried_ops;
    return opened;
  }

  // Runs one pass of the operation's order over all files.
  LoopEnd Runs(const char* operation, uint32_t op_bytes) {
    Prepare(operation, files_.files[0].bytes, op_bytes);
    const LoopEnd end = engine_->Run(NewContext());
    retried = context_->retried_ops;
    recorder_->Finish();
    last_read.assign(reinterpret_cast<const char*>(buffer_.data()), op_bytes);
    return end;
  }

  // From the next run on, the lane's blocks alternate with those of others in its file.
  void InterleavesBy(const Interleave& interleave) { interleave_ = interleave; }

  void RecordRetried() { retried = context_->retried_ops; }

  // Returns the errno of the first error of opening, writing a pass, flushing and closing; 0: success. `where` says
  // which.
  int ErrnoOfWriting(int directory_fd, const std::string& directory, const LaneFile& file,
                     const OpenMode& mode, uint32_t op_bytes) {
    absl::Status status = TriesToOpen(directory_fd, directory, {file}, mode);
    where = "open";
    if (!status.ok()) return ErrnoOf(status);
    const LoopEnd end = Runs("write", op_bytes);
    where = "op";
    failed_op = end.failed_op;
    if (end.reason == LoopEnd::Reason::kFailed) {
      engine_->Close().IgnoreError();
      return end.errno_value;
    }
    where = "flush";
    status = engine_->Flush();
    if (status.ok()) where = "close";
    status.Update(engine_->Close());
    return ErrnoOf(status);
  }

  IoEngine& engine() { return *engine_; }
  const LaneRecorder& recorder() const { return *recorder_; }
  OpStream& stream() { return *stream_; }

  StopCell stop;
  OpHook* between = nullptr;
  std::string last_read;
  FailedOps retried;  // since the last run began, or before the first one
  std::string where;
  Op failed_op;

 private:
  void Prepare(const char* operation, uint64_t file_bytes, uint32_t op_bytes) {
    // Not Catch's macros, which are not thread-safe: some tests run lanes in parallel.
    assert(op_bytes <= kLongestOpBytes);
    StreamShape shape{.object_count = static_cast<uint32_t>(std::max<size_t>(1, files_.files.size())),
                      .object_bytes = file_bytes,
                      .op_bytes = op_bytes,
                      .seed = kEngineTestSeed};
    stream_ = *MakeOpStream(**FindOperation(operation), shape);
    if (interleave_.count > 1) stream_ = std::make_unique<Interleaved>(std::move(stream_), interleave_);
    if (engine_ != nullptr) stream_ = engine_->OrderOf(std::move(stream_));
    recorder_ = std::make_unique<LaneRecorder>(OpKinds{OpKind::kRead, OpKind::kWrite, OpKind::kUpdate},
                                               CurrentTickScale());
  }
  // The context's address stays the same, since an engine may keep the reference that MakeReady got.
  LaneContext& NewContext() {
    return context_.emplace(LaneContext{.stream = *stream_,
                                        .payload = &payload_,
                                        .read_buffer = buffer_.data(),
                                        .stop = stop,
                                        .recorder = *recorder_,
                                        .between = between});
  }

  Payload payload_;
  AlignedBuffer buffer_;
  FileSet files_;
  Interleave interleave_;
  std::unique_ptr<OpStream> stream_;
  std::unique_ptr<LaneRecorder> recorder_;
  std::optional<LaneContext> context_;
  std::unique_ptr<IoEngine> engine_;
};

// Returns what the lane writes to the first `bytes` of a file.
inline std::string ExpectedFile(uint32_t object, uint64_t bytes) {
  std::vector<std::byte> data(bytes);
  Payload::Expected(kEngineTestSeed, 0, 0, {OpKind::kWrite, object, 0, static_cast<uint32_t>(bytes)}, data);
  return std::string(reinterpret_cast<const char*>(data.data()), bytes);
}

// Calls test(const EngineSpec&, Call) for every engine that `which` accepts and each of its calls that moves data.
template <typename Which, typename Test>
void ForEachEngine(Which which, Test test) {
  static constexpr std::pair<Call, const char*> kCalls[] = {{Call::kStream, "stream"},
                                                            {Call::kPositional, "positional"},
                                                            {Call::kVector, "vector"},
                                                            {Call::kStdio, "stdio"},
                                                            {Call::kCharacter, "character"}};
  UsePosixMpiFiles();
  for (const EngineSpec& engine : Engines()) {
    for (const auto& [call, name] : kCalls) {
      if (!engine.calls.Has(call) || !which(engine) || !RunsHere(engine)) continue;
      INFO("engine " << std::string(engine.name) << ", " << name);
      test(engine, call);
    }
  }
}
inline bool AnyEngine(
    const EngineSpec& engine) {  // engines without a mount need a server: libnfs_engine_test
  return engine.mounted || !engine.uses_files;
}
inline bool WithFiles(const EngineSpec& engine) {  // in a directory of this host
  return engine.uses_files && engine.mounted;
}
inline bool Maps(const EngineSpec& engine) {
  return engine.Can(EngineFeature::kMapping);
}

inline int OpenDescriptorCount() {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

// During its lifetime, no file of this process may grow beyond `bytes`: EFBIG.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(uint64_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

// Calls test(directory_fd) on a tmpfs of 64 KiB at `mount_point`, in a thread with its own mount namespace: nothing
// else sees it, and it disappears with the thread. Without permission it prints a warning and calls nothing.
template <typename Test>
void OnSmallFileSystem(const TempDirectory& directory, Test test) {
  const std::string mount_point = directory.PathOf("small");
  REQUIRE(mkdir(mount_point.c_str(), 0700) == 0);
  std::async(std::launch::async, [&] {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", mount_point.c_str(), "tmpfs", 0, "size=64k") != 0) {
      const int error = errno;
      WARN("no tmpfs could be mounted (" << strerror(error) << "): a full file system was not tested");
      REQUIRE((error == EPERM || error == EACCES || error == EINVAL));
      return;
    }
    const int fd = open(mount_point.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    test(fd, mount_point);
    close(fd);
  }).get();
}

}  // namespace iobench

#endif  // TESTS_UNIT_ENGINE_SUITE_H_
