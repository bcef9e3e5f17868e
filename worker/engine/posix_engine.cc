#include "worker/engine/posix_engine.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "worker/timed_loop.h"

namespace iobench {
namespace {

static_assert(sizeof(off_t) == 8 && sizeof(long) == 8, "offsets travel in one register");

struct OpenFile {
  int fd = -1;
  uint64_t extent_offset_bytes = 0;
  uint64_t position = 0;  // kStream: where the next read() or write() lands
};

// As IOzone opens: what writes can also read.
int FlagsOf(const OpenMode& mode) {
  int flags = O_CLOEXEC | (mode.write ? O_RDWR : O_RDONLY);
  if (mode.create) flags |= O_CREAT;
  if (mode.direct) flags |= O_DIRECT;
  if (mode.sync) flags |= O_SYNC;
  if (mode.dsync) flags |= O_DSYNC;
  return flags;
}

std::string DescribeOpen(const std::string& path, const OpenMode& mode) {
  return absl::StrCat("open ", path, mode.write ? " for writing" : " for reading",
                      mode.direct ? ", direct" : "", mode.sync ? ", sync" : "", mode.dsync ? ", dsync" : "");
}

// The calls without glibc's wrappers: those are cancellation points, which cost a process with threads two locked
// instructions per call (about 10 ns, 1 % of a cached 4 KiB read).
template <typename... Args>
int64_t CallAgainWhenInterrupted(long number, Args... args) {
  for (;;) {
    const long result = ::syscall(number, args...);
    if (result >= 0) [[likely]]
      return result;
    if (errno != EINTR) return -errno;
  }
}

template <typename Clock>
class PosixEngine final : public IoEngine {
 public:
  explicit PosixEngine(const EngineOptions& options) : call_(options.call) {}
  ~PosixEngine() override { Close().IgnoreError(); }

  absl::Status Open(const FileSet& files, const OpenMode& mode) override {
    IOBENCH_RETURN_IF_ERROR(Close());
    files_ = &files;
    open_files_.reserve(files.files.size());
    for (size_t i = 0; i < files.files.size(); ++i) {
      const LaneFile& file = files.files[i];
      const int fd = ::openat(files.directory_fd, file.name.c_str(), FlagsOf(mode), 0640);
      if (fd < 0) {
        absl::Status status = ErrnoStatus(DescribeOpen(files.PathOf(i), mode), errno);
        Close().IgnoreError();
        return status;
      }
      open_files_.push_back({.fd = fd, .extent_offset_bytes = file.extent_offset_bytes});
    }
    return absl::OkStatus();
  }

  LoopEnd Run(LaneContext& lane) override {
    return call_ == Call::kPositional ? RunPositional(lane) : RunStream(lane);
  }

  absl::Status Flush() override {
    absl::Status first_error;
    for (size_t i = 0; i < open_files_.size(); ++i) {
      if (::fsync(open_files_[i].fd) != 0) {
        first_error.Update(ErrnoStatus(absl::StrCat("fsync ", files_->PathOf(i)), errno));
      }
    }
    return first_error;
  }

  absl::Status Close() override {
    absl::Status first_error;
    for (size_t i = 0; i < open_files_.size(); ++i) {
      // Linux has closed the descriptor even where it reports an error: never again, it may be another's by then.
      if (::close(open_files_[i].fd) != 0) {
        first_error.Update(ErrnoStatus(absl::StrCat("close ", files_->PathOf(i)), errno));
      }
    }
    open_files_.clear();
    return first_error;
  }

 private:
  LoopEnd RunPositional(LaneContext& lane) {
    const OpenFile* const files = open_files_.data();
    Payload* const payload = lane.payload;
    std::byte* const read_buffer = lane.read_buffer;
    return RunLoop<Clock>(lane, [=](const Op& op) {
      const OpenFile& file = files[op.object];
      const uint64_t offset = file.extent_offset_bytes + op.offset;
      const size_t length = op.length;
      if (op.kind == OpKind::kRead) {
        return CallAgainWhenInterrupted(SYS_pread64, file.fd, read_buffer, length, offset);
      }
      return CallAgainWhenInterrupted(SYS_pwrite64, file.fd, payload->Next(op), length, offset);
    });
  }

  LoopEnd RunStream(LaneContext& lane) {
    OpenFile* const files = open_files_.data();
    Payload* const payload = lane.payload;
    std::byte* const read_buffer = lane.read_buffer;
    return RunLoop<Clock>(lane, [=](const Op& op) {
      OpenFile& file = files[op.object];
      const uint64_t offset = file.extent_offset_bytes + op.offset;
      const size_t length = op.length;
      if (file.position != offset) {
        if (::lseek(file.fd, static_cast<off_t>(offset), SEEK_SET) < 0) return -int64_t{errno};
        file.position = offset;
      }
      const int64_t moved = op.kind == OpKind::kRead
                                ? CallAgainWhenInterrupted(SYS_read, file.fd, read_buffer, length)
                                : CallAgainWhenInterrupted(SYS_write, file.fd, payload->Next(op), length);
      if (moved > 0) file.position += static_cast<uint64_t>(moved);
      return moved;
    });
  }

  Call call_;
  const FileSet* files_ = nullptr;
  std::vector<OpenFile> open_files_;
};

}  // namespace

std::unique_ptr<IoEngine> MakePosixEngine(const EngineOptions& options) {
  return MakeForTicks<PosixEngine>(options);
}

}  // namespace iobench
