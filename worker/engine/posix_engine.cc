#include "worker/engine/posix_engine.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <vector>

#include "common/memory/own_lines.h"
#include "worker/engine/open_files.h"
#include "worker/engine/posix_calls.h"
#include "worker/engine/rotating_buffers.h"
#include "worker/loop/timed_loop.h"

namespace iobench {
namespace {

// Other ways to perform one op, besides PositionalCalls. Each is int64_t(const Op&) and returns the bytes transferred
// or -errno.

template <typename By>
struct Stream {
  using Calls = By;
  const OpenFile* files;
  uint64_t* positions;  // by file: position of the next read() or write()
  Payload* payload;
  std::byte* read_buffer;

  [[gnu::always_inline]] int64_t operator()(const Op& op) const {
    const OpenFile& file = files[op.object];
    uint64_t& position = positions[op.object];
    const uint64_t offset = file.extent_offset_bytes + op.offset;
    const size_t length = op.length;
    const OpKind kind = op.kind;
    if (const int error = Seek(file, position, offset); error != 0) [[unlikely]]
      return -error;
    if (kind != OpKind::kWrite) {
      const int64_t moved = Calls::Read(file.fd, read_buffer, length);
      if (moved > 0) position += static_cast<uint64_t>(moved);
      if (kind == OpKind::kRead || moved != static_cast<int64_t>(length)) return moved;
      if (const int error = Seek(file, position, offset); error != 0) return -error;
    }
    const int64_t moved = Calls::Write(file.fd, payload->Next(op), length);
    if (moved > 0) position += static_cast<uint64_t>(moved);
    return moved;
  }

  static int Seek(const OpenFile& file, uint64_t& position, uint64_t offset) {
    if (position == offset) [[likely]]
      return 0;
    if (::lseek(file.fd, static_cast<off_t>(offset), SEEK_SET) < 0) return errno;
    position = offset;
    return 0;
  }
};

template <typename By>
struct Vector {
  using Calls = By;
  const OpenFile* files;
  Payload* payload;
  std::byte* read_buffer;
  uint32_t record_bytes;

  int64_t operator()(const Op& op) const {
    assert(op.kind == OpKind::kRead || op.kind == OpKind::kWrite);
    const bool reads = op.kind == OpKind::kRead;
    const OpenFile& file = files[op.object];
    // pwritev() does not change its buffer.
    std::byte* const data = reads ? read_buffer : const_cast<std::byte*>(payload->Next(op));
    std::array<iovec, kMaxRecordsPerVector> records;
    size_t count = 0;
    for (uint64_t at = 0; at < op.length; at += record_bytes) {
      assert(count < records.size());
      records[count++] = {data + at, std::min<size_t>(record_bytes, op.length - at)};
    }
    const uint64_t offset = file.extent_offset_bytes + op.offset;
    return reads ? Calls::Preadv(file.fd, records.data(), count, offset)
                 : Calls::Pwritev(file.fd, records.data(), count, offset);
  }
};

// Before every `every`-th read, performs a small read at the file's start, within that read's latency. The op then
// overwrites its data. pread() does not change the file position, but still moves the read-ahead window.
template <typename Calls, typename DoOp>
struct WithJitter {
  DoOp do_op;
  const OpenFile* files;
  uint32_t every;  // 0: never
  uint32_t bytes;
  std::byte* read_buffer;
  uint64_t* read_count;

  int64_t operator()(const Op& op) const {
    if (op.kind == OpKind::kRead && every > 0 && ++*read_count % every == 0) {
      const OpenFile& file = files[op.object];
      const int64_t moved = Calls::Pread(file.fd, read_buffer, bytes, file.extent_offset_bytes);
      if (moved < 0) return moved;
    }
    return do_op(op);
  }
};

template <typename Clock>
class PosixEngine final : public IoEngine {
 public:
  explicit PosixEngine(const EngineOptions& options) : options_(options), files_(options) {}

  absl::Status MakeReady(LaneContext& lane) override {
    if (options_.buffer_bytes == 0) return absl::OkStatus();
    return buffers_.Allocate(options_.buffer_bytes, options_.longest_op_bytes, StartsOf(options_),
                             lane.payload);
  }

  absl::Status Open(const FileSet& files, const OpenMode& mode) override {
    positions_.assign(files.files.size(), 0);
    // Direct reads need whole logical blocks, which records consist of.
    jitter_bytes_ = mode.direct ? std::min(options_.record_bytes, 4096u) : 1;
    return files_.Open(files, mode);
  }

  LoopEnd Run(LaneContext& lane) override {
    return options_.libc_calls ? RunBy<LibcCalls>(lane) : RunBy<DirectCalls>(lane);
  }

  absl::Status Flush() override { return files_.Flush(timer()); }
  absl::Status FlushFile(uint32_t object, OpKind call) override { return files_.FlushFile(object, call, timer()); }
  absl::Status Close() override { return files_.Close(timer()); }

 private:
  template <typename Calls>
  LoopEnd RunBy(LaneContext& lane) {
    switch (options_.call) {
      case Call::kStream:
        return RunWith(lane,
                       Stream<Calls>{files_.data(), positions_.data(), lane.payload, lane.read_buffer});
      case Call::kVector:
        return RunWith(
            lane, Vector<Calls>{files_.data(), lane.payload, lane.read_buffer, options_.record_bytes});
      default:
        return RunWith(lane, PositionalCalls<Calls>{files_.data(), lane.payload, lane.read_buffer});
    }
  }

  template <typename DoOp>
  LoopEnd RunWith(LaneContext& lane, DoOp do_op) {
    const bool is_plain = !buffers_.in_use() && !options_.record_locks && options_.jitter_every == 0;
    if constexpr (!DoOp::Calls::kOfLibc) {
      if (is_plain && lane.recorder.expects_only(OpKind::kRead))
        return RunLoop<Clock>(lane, OnlyReads<DoOp>{do_op});
    }
    using Calls = typename DoOp::Calls;
    if (!buffers_.in_use()) return RunAround<Calls>(lane, do_op);
    return RunAround<Calls>(lane, WithRotatingBuffers<DoOp>{do_op, &buffers_, lane.payload});
  }

  // Adds locks and jitter. Their own system calls, and those of the C library, cost far more than an indirect call.
  template <typename Calls, typename DoOp>
  LoopEnd RunAround(LaneContext& lane, DoOp do_op) {
    if (!options_.record_locks && options_.jitter_every == 0) {
      if constexpr (Calls::kOfLibc) return RunLoop<Clock>(lane, AnyOp(do_op));
      return RunLoop<Clock>(lane, do_op);
    }
    const WithJitter<Calls, DoOp> jittered{do_op,         files_.data(),    options_.jitter_every,
                                           jitter_bytes_, lane.read_buffer, &read_count_};
    if (!options_.record_locks) return RunLoop<Clock>(lane, AnyOp(jittered));
    const WithRecordLock<WithJitter<Calls, DoOp>> locked{jittered, files_.data()};
    return RunLoop<Clock>(lane, AnyOp(locked));
  }

  const EngineOptions options_;
  OpenFiles files_;
  RotatingBuffers buffers_;
  std::vector<uint64_t, OwnLinesAllocator<uint64_t>> positions_;
  uint32_t jitter_bytes_ = 1;
  uint64_t read_count_ = 0;
};

}  // namespace

std::unique_ptr<IoEngine> MakePosixEngine(const EngineOptions& options) {
  return MakeForTicks<PosixEngine>(options);
}

}  // namespace iobench
