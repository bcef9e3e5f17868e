#include "worker/engine/posix_aio_engine.h"

#include <aio.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/open_file_limit.h"
#include "common/status_util.h"
#include "worker/engine/open_files.h"
#include "worker/engine/slot_buffers.h"
#include "worker/loop/queued_loop.h"

namespace iobench {
namespace {

// glibc performs the calls in its own threads: one for each descriptor with requests, created when needed. Their max is
// 20 unless it is changed before the process's first request, which fixes it, so it is set to a number that the lanes
// and depths never add up to. Idle threads stay for a minute, and thus survive the pauses between phases.
void AllowThreads() {
  static const bool once = [] {
    aioinit settings{};
    settings.aio_threads = 1 << 20;
    settings.aio_num = 4096;
    settings.aio_idle_time = 60;
    aio_init(&settings);
    return true;
  }();
  (void)once;
}

int Duplicate(int fd) {
  const int result = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (result >= 0 || errno != EMFILE || !RaiseOpenFileLimit()) return result;
  return ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

// glibc processes the requests of one descriptor one after the other, so each slot has its own descriptor of every
// file.
class SlotDescriptors {
 public:
  explicit SlotDescriptors(uint32_t depth) : depth_(depth) {}
  ~SlotDescriptors() { Close().IgnoreError(); }
  SlotDescriptors(const SlotDescriptors&) = delete;
  SlotDescriptors& operator=(const SlotDescriptors&) = delete;

  // `files` keeps its own descriptors, which slot 0 uses.
  absl::Status Open(const OpenFiles& files) {
    for (size_t file = 0; file < files.size(); ++file) {
      fds_.push_back(files.data()[file].fd);
      for (uint32_t slot = 1; slot < depth_; ++slot) {
        const int fd = Duplicate(files.data()[file].fd);
        if (fd < 0) {
          const int error = errno;
          Close().IgnoreError();
          return ErrnoStatus(
              absl::StrCat("a descriptor of ", files.PathOf(file), " for each of ", depth_, " ops in flight",
                           error == EMFILE ? " (raise ulimit -n, or use a smaller --depth)" : ""),
              error);
        }
        fds_.push_back(fd);
      }
    }
    return absl::OkStatus();
  }

  absl::Status Close(CallTimer* timer = nullptr) {
    absl::Status first_error;
    for (size_t i = 0; i < fds_.size(); ++i) {
      if (i % depth_ != 0 && Timed(timer, OpKind::kClose, [&] { return ::close(fds_[i]); }) != 0)
        first_error.Update(ErrnoStatus("close", errno));
    }
    fds_.clear();
    return first_error;
  }

  int Of(uint32_t file, uint32_t slot) const { return fds_[size_t{file} * depth_ + slot]; }

 private:
  const uint32_t depth_;
  std::vector<int> fds_;
};

class AioQueue {
 public:
  explicit AioQueue(const EngineOptions& options)
      : depth_(options.depth), copies_(options.copy), descriptors_(options.depth) {}

  absl::Status SetUp(const LaneContext& lane, uint32_t longest_op_bytes) {
    AllowThreads();
    requests_.assign(depth_, aiocb{});
    prepared_.reserve(depth_);
    flying_.reserve(depth_);
    IOBENCH_RETURN_IF_ERROR(lane_buffers_.Allocate(lane.read_buffer, depth_, longest_op_bytes));
    if (copies_) IOBENCH_RETURN_IF_ERROR(own_buffers_.Allocate(nullptr, depth_, longest_op_bytes));
    return absl::OkStatus();
  }

  absl::Status Use(const OpenFiles& files) {
    extents_.clear();
    for (size_t i = 0; i < files.size(); ++i) extents_.push_back(files.data()[i].extent_offset_bytes);
    return descriptors_.Open(files);
  }
  absl::Status CloseDescriptors(CallTimer* timer) { return descriptors_.Close(timer); }
  void WriteFrom(Payload* payload) { payload_ = payload; }

  // ---- the queue interface of the loop

  void Prepare(uint32_t slot, const Op& op) {
    std::byte* const data =
        op.kind == OpKind::kRead ? lane_buffers_[slot] : lane_buffers_.FilledFor(op, slot, *payload_);
    aiocb& request = requests_[slot];
    request.aio_fildes = descriptors_.Of(op.object, slot);
    request.aio_offset = static_cast<off_t>(extents_[op.object] + op.offset);
    request.aio_buf = copies_ ? own_buffers_[slot] : data;
    request.aio_nbytes = op.length;
    request.aio_lio_opcode = op.kind == OpKind::kRead ? LIO_READ : LIO_WRITE;
    request.aio_sigevent.sigev_notify = SIGEV_NONE;
    prepared_.push_back(&request);
  }

  size_t Turn(bool wait, std::span<OpEnd> ends) {
    size_t count = 0;
    for (aiocb* const request : prepared_) {
      if (Begin(*request) == 0) {
        flying_.push_back(request);
      } else {
        ends[count++] = {SlotOf(*request), -errno};
      }
    }
    prepared_.clear();
    if (wait && count == 0) ::aio_suspend(flying_.data(), static_cast<int>(flying_.size()), nullptr);
    size_t still_flying = 0;
    for (const aiocb* const each : flying_) {
      if (::aio_error(each) == EINPROGRESS) {
        flying_[still_flying++] = each;
      } else {
        ends[count++] = End(requests_[SlotOf(*each)]);
      }
    }
    flying_.resize(still_flying);
    return count;
  }

  void Await(int64_t ns) {
    const timespec patience{.tv_sec = ns / kNanosPerSecond, .tv_nsec = ns % kNanosPerSecond};
    ::aio_suspend(flying_.data(), static_cast<int>(flying_.size()), &patience);
  }

  const std::byte* DataOf(uint32_t slot) const { return lane_buffers_[slot]; }

 private:
  uint32_t SlotOf(const aiocb& request) const { return static_cast<uint32_t>(&request - requests_.data()); }

  int Begin(aiocb& request) {
    if (request.aio_lio_opcode == LIO_READ) return ::aio_read(&request);
    if (copies_) {
      const uint32_t slot = SlotOf(request);
      std::memcpy(own_buffers_[slot], lane_buffers_[slot], request.aio_nbytes);
    }
    return ::aio_write(&request);
  }

  OpEnd End(aiocb& request) {
    const uint32_t slot = SlotOf(request);
    const int error = ::aio_error(&request);
    const ssize_t moved = ::aio_return(&request);
    if (error != 0) return {slot, -int64_t{error}};
    if (copies_ && request.aio_lio_opcode == LIO_READ) {
      std::memcpy(lane_buffers_[slot], own_buffers_[slot], static_cast<size_t>(moved));
    }
    return {slot, moved};
  }

  const uint32_t depth_;
  const bool copies_;
  SlotDescriptors descriptors_;
  std::vector<uint64_t> extents_;
  SlotBuffers lane_buffers_;     // data that the lane writes or checks
  SlotBuffers own_buffers_;      // with copies_: buffers of the actual reads and writes
  std::vector<aiocb> requests_;  // by slot
  std::vector<aiocb*> prepared_;
  std::vector<const aiocb*> flying_;
  Payload* payload_ = nullptr;
};

template <typename Clock>
class PosixAioEngine final : public IoEngine {
 public:
  explicit PosixAioEngine(const EngineOptions& options)
      : longest_op_bytes_(options.longest_op_bytes),
        files_(options),
        queue_(options),
        slots_(options.depth) {}
  ~PosixAioEngine() override { Close().IgnoreError(); }

  absl::Status MakeReady(LaneContext& lane) override { return queue_.SetUp(lane, longest_op_bytes_); }

  absl::Status Open(const FileSet& files, const OpenMode& mode) override {
    IOBENCH_RETURN_IF_ERROR(Close());
    IOBENCH_RETURN_IF_ERROR(files_.Open(files, mode));
    absl::Status status = queue_.Use(files_);
    if (!status.ok()) files_.Close().IgnoreError();
    return status;
  }

  LoopEnd Run(LaneContext& lane) override {
    queue_.WriteFrom(lane.payload);
    return RunQueue<Clock>(lane, slots_, queue_);
  }

  absl::Status Flush() override { return files_.Flush(timer()); }
  absl::Status FlushFile(uint32_t object, OpKind call) override { return files_.FlushFile(object, call, timer()); }

  // Duplicates first: closing a file's last descriptor releases the file and its lock.
  absl::Status Close() override {
    absl::Status status = queue_.CloseDescriptors(timer());
    status.Update(files_.Close(timer()));
    return status;
  }

 private:
  const uint32_t longest_op_bytes_;
  OpenFiles files_;
  AioQueue queue_;
  OpSlots slots_;
};

}  // namespace

std::unique_ptr<IoEngine> MakePosixAioEngine(const EngineOptions& options) {
  return MakeForTicks<PosixAioEngine>(options);
}

}  // namespace iobench
