#include "worker/engine/uring_engine.h"

#include <liburing.h>
#include <sys/resource.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "worker/engine/open_files.h"
#include "worker/engine/slot_buffers.h"
#include "worker/loop/queued_loop.h"

namespace iobench {
namespace {

// From the flags of the newest kernels to those of the oldest. One thread submits and reaps, so the kernel needs
// neither locks nor interrupts to announce completions: we poll for them.
constexpr std::array<unsigned, 3> kSetupFlags = {
    IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_DEFER_TASKRUN,  // 6.1
    IORING_SETUP_COOP_TASKRUN,                                                            // 5.19
    0,
};

// -1: unknown (an older kernel, or no /proc).
int DisabledSetting() {
  FILE* const file = std::fopen("/proc/sys/kernel/io_uring_disabled", "re");
  if (file == nullptr) return -1;
  int value = -1;
  if (std::fscanf(file, "%d", &value) != 1) value = -1;
  std::fclose(file);
  return value;
}

absl::Status WhyNoRing(int error, uint32_t depth) {
  const std::string what = absl::StrCat("set up io_uring with ", depth, " ops in flight");
  const char* const other = "; or use another --engine";
  if (error == ENOSYS) {
    return absl::UnimplementedError(
        absl::StrCat("this kernel has no io_uring, or a container's seccomp profile hides it (ENOSYS): allow "
                     "io_uring_setup, io_uring_enter and io_uring_register",
                     other));
  }
  if (error == EPERM || error == EACCES) {
    const int disabled = DisabledSetting();
    return absl::PermissionDeniedError(absl::StrCat(
        "io_uring is forbidden here (", ErrnoName(error), "): ",
        disabled > 0 ? absl::StrCat("the sysctl kernel.io_uring_disabled is ", disabled, "; set it to 0")
                     : "a seccomp profile or security module refuses it; allow io_uring_setup",
        other));
  }
  absl::Status status = ErrnoStatus(what, error);
  if (error != ENOMEM) return status;
  return Annotate(status, "not enough memory, or locked memory (ulimit -l), for the ring");
}

std::string LockedMemoryLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "unlimited";
  return FormatBytes(static_cast<double>(limit.rlim_cur));
}

// The ring and its ops.
class UringQueue {
 public:
  UringQueue() = default;
  ~UringQueue() {
    if (is_set_up_) io_uring_queue_exit(&ring_);
  }
  UringQueue(const UringQueue&) = delete;
  UringQueue& operator=(const UringQueue&) = delete;

  absl::Status SetUp(const LaneContext& lane, uint32_t depth, uint32_t longest_op_bytes) {
    IOBENCH_RETURN_IF_ERROR(buffers_.Allocate(lane.read_buffer, depth, longest_op_bytes));
    int error = EINVAL;
    for (size_t i = 0; i < kSetupFlags.size() && error == EINVAL; ++i) {
      error = -io_uring_queue_init(depth, &ring_, kSetupFlags[i]);
      defers_ends_ = (kSetupFlags[i] & IORING_SETUP_DEFER_TASKRUN) != 0;
    }
    if (error != 0) return WhyNoRing(error, depth);
    is_set_up_ = true;
    AllowWorkers(depth);
    return RegisterBuffers(depth);
  }

  absl::Status RegisterFiles(const OpenFiles& files) {
    extents_.clear();
    std::vector<int> fds;
    for (size_t i = 0; i < files.size(); ++i) {
      fds.push_back(files.data()[i].fd);
      extents_.push_back(files.data()[i].extent_offset_bytes);
    }
    const int result = io_uring_register_files(&ring_, fds.data(), static_cast<unsigned>(fds.size()));
    if (result != 0)
      return ErrnoStatus(absl::StrCat("register ", fds.size(), " files with io_uring"), -result);
    has_files_ = true;
    return absl::OkStatus();
  }

  // The ring keeps registered files open, so closing them before would have no effect.
  void UnregisterFiles() {
    if (std::exchange(has_files_, false)) io_uring_unregister_files(&ring_);
  }

  const std::string& note() const { return note_; }
  void WriteFrom(Payload* payload) { payload_ = payload; }

  // ---- the queue interface of the loop

  void Prepare(uint32_t slot, const Op& op) {
    io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
    assert(entry != nullptr);  // there are as many entries as slots
    const int file = static_cast<int>(op.object);
    const uint64_t offset = extents_[op.object] + op.offset;
    if (op.kind == OpKind::kRead) {
      std::byte* const data = buffers_[slot];
      if (has_fixed_buffers_) {
        io_uring_prep_read_fixed(entry, file, data, op.length, offset, static_cast<int>(slot));
      } else {
        io_uring_prep_read(entry, file, data, op.length, offset);
      }
    } else {
      std::byte* const data = buffers_.FilledFor(op, slot, *payload_);
      if (has_fixed_buffers_) {
        io_uring_prep_write_fixed(entry, file, data, op.length, offset, static_cast<int>(slot));
      } else {
        io_uring_prep_write(entry, file, data, op.length, offset);
      }
    }
    io_uring_sqe_set_flags(entry, IOSQE_FIXED_FILE);
    io_uring_sqe_set_data64(entry, slot);
  }

  size_t Turn(bool wait, std::span<OpEnd> ends) {
    int result = 0;
    if (wait) {
      result = io_uring_submit_and_wait(&ring_, 1);
    } else if (defers_ends_) {
      result = io_uring_submit_and_get_events(&ring_);
    } else {
      result = io_uring_submit(&ring_);
    }
    // Ops that the kernel could not accept now stay in the ring and are submitted in the next turn.
    if (result < 0 && result != -EINTR && result != -EAGAIN && result != -EBUSY) [[unlikely]] {
      return FailUnsubmitted(result, ends);
    }
    size_t count = 0;
    unsigned head = 0, entries = 0;
    io_uring_cqe* entry = nullptr;
    io_uring_for_each_cqe(&ring_, head, entry) {
      ++entries;
      // Before Linux 5.11, liburing waits (Await) with a timeout that is an entry of its own.
      if (entry->user_data == LIBURING_UDATA_TIMEOUT) [[unlikely]]
        continue;
      ends[count++] = {static_cast<uint32_t>(entry->user_data), entry->res};
    }
    io_uring_cq_advance(&ring_, entries);
    return count;
  }

  void Await(int64_t ns) {
    __kernel_timespec patience{.tv_sec = ns / kNanosPerSecond, .tv_nsec = ns % kNanosPerSecond};
    io_uring_cqe* entry = nullptr;
    io_uring_wait_cqe_timeout(&ring_, &entry, &patience);  // Turn takes what it found
  }

  const std::byte* DataOf(uint32_t slot) const { return buffers_[slot]; }

 private:
  // The kernel passes ops that would block (a buffered read that misses the cache, most of NFS) to its own threads: by
  // default at most 4 per processor, regardless of the depth. Kernels before 5.15 cannot change this.
  void AllowWorkers(uint32_t depth) {
    unsigned most[2] = {depth, 0};  // for files; 0: unchanged
    io_uring_register_iowq_max_workers(&ring_, most);
  }

  absl::Status RegisterBuffers(uint32_t depth) {
    std::vector<iovec> vectors;
    for (uint32_t slot = 0; slot < depth; ++slot) vectors.push_back({buffers_[slot], buffers_.bytes_each()});
    const int result = io_uring_register_buffers(&ring_, vectors.data(), depth);
    has_fixed_buffers_ = result == 0;
    if (result == -ENOMEM) {
      note_ = absl::StrCat(depth, " buffers of ", FormatBytes(static_cast<double>(buffers_.bytes_each())),
                           " were not registered: the limit on locked memory is ", LockedMemoryLimit(),
                           " (ulimit -l); ops use unregistered buffers");
    } else if (result != 0) {
      return ErrnoStatus("register buffers with io_uring", -result);
    }
    return absl::OkStatus();
  }

  // The kernel rejects the whole call: every op that it has not accepted fails with this error.
  size_t FailUnsubmitted(int result, std::span<OpEnd> ends) {
    io_uring_sq& queue = ring_.sq;
    size_t count = 0;
    for (unsigned at = *queue.khead; at != queue.sqe_tail; ++at) {
      ends[count++] = {static_cast<uint32_t>(queue.sqes[at & *queue.kring_mask].user_data), result};
    }
    queue.sqe_head = queue.sqe_tail = *queue.khead;
    *queue.ktail = *queue.khead;
    return count;
  }

  io_uring ring_{};
  bool is_set_up_ = false;
  bool defers_ends_ = false;
  bool has_files_ = false;
  bool has_fixed_buffers_ = false;
  SlotBuffers buffers_;
  std::vector<uint64_t> extents_;
  Payload* payload_ = nullptr;
  std::string note_;
};

template <typename Clock>
class UringEngine final : public IoEngine {
 public:
  explicit UringEngine(const EngineOptions& options)
      : depth_(options.depth),
        longest_op_bytes_(options.longest_op_bytes),
        files_(options),
        slots_(options.depth) {}
  ~UringEngine() override { Close().IgnoreError(); }

  absl::Status MakeReady(LaneContext& lane) override { return queue_.SetUp(lane, depth_, longest_op_bytes_); }

  absl::Status Open(const FileSet& files, const OpenMode& mode) override {
    queue_.UnregisterFiles();
    IOBENCH_RETURN_IF_ERROR(files_.Open(files, mode));
    absl::Status registered = queue_.RegisterFiles(files_);
    if (!registered.ok()) files_.Close().IgnoreError();
    return registered;
  }

  LoopEnd Run(LaneContext& lane) override {
    queue_.WriteFrom(lane.payload);
    return RunQueue<Clock>(lane, slots_, queue_);
  }

  absl::Status Flush() override { return files_.Flush(timer()); }
  absl::Status FlushFile(uint32_t object, OpKind call) override { return files_.FlushFile(object, call, timer()); }

  absl::Status Close() override {
    queue_.UnregisterFiles();
    return files_.Close(timer());
  }

  std::string Note() const override { return queue_.note(); }

 private:
  const uint32_t depth_;
  const uint32_t longest_op_bytes_;
  OpenFiles files_;
  UringQueue queue_;
  OpSlots slots_;
};

}  // namespace

absl::Status CheckUring() {
  io_uring ring{};
  if (const int result = io_uring_queue_init(1, &ring, 0); result != 0) return WhyNoRing(-result, 1);
  io_uring_queue_exit(&ring);
  return absl::OkStatus();
}

std::unique_ptr<IoEngine> MakeUringEngine(const EngineOptions& options) {
  return MakeForTicks<UringEngine>(options);
}

}  // namespace iobench
