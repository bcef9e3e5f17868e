#include "worker/engine/stdio_engine.h"

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "worker/engine/open_files.h"
#include "worker/engine/rotating_buffers.h"
#include "worker/loop/timed_loop.h"

namespace iobench {
namespace {

struct OpenStream {
  FILE* file = nullptr;
  uint64_t extent_offset_bytes = 0;
  uint64_t position = 0;  // position of the next character
};

// Moves the stream to the op's position. Returns 0 or an errno.
int Seek(OpenStream& stream, const Op& op) {
  const uint64_t offset = stream.extent_offset_bytes + op.offset;
  if (stream.position == offset) [[likely]]
    return 0;
  if (::fseeko(stream.file, static_cast<off_t>(offset), SEEK_SET) != 0)
    return errno;  // fseeko writes the buffer first
  stream.position = offset;
  return 0;
}

// Returns the result of an op that moved `moved` bytes. A stream distinguishes an error from end of file only by its
// flag.
int64_t Outcome(OpenStream& stream, const Op& op, size_t moved) {
  stream.position += moved;
  if (moved == op.length) [[likely]]
    return op.length;
  if (::ferror_unlocked(stream.file) == 0) return static_cast<int64_t>(moved);
  return errno != 0 ? -int64_t{errno} : -int64_t{EIO};
}

struct Records {
  OpenStream* streams;
  Payload* payload;
  std::byte* read_buffer;

  int64_t operator()(const Op& op) const {
    OpenStream& stream = streams[op.object];
    if (const int error = Seek(stream, op); error != 0) return -error;
    const size_t moved = op.kind == OpKind::kRead
                             ? ::fread_unlocked(read_buffer, 1, op.length, stream.file)
                             : ::fwrite_unlocked(payload->Next(op), 1, op.length, stream.file);
    return Outcome(stream, op, moved);
  }
};

struct Characters {
  OpenStream* streams;
  Payload* payload;
  std::byte* read_buffer;

  int64_t operator()(const Op& op) const {
    OpenStream& stream = streams[op.object];
    if (const int error = Seek(stream, op); error != 0) return -error;
    FILE* const file = stream.file;
    const uint32_t length = op.length;
    uint32_t moved = 0;
    if (op.kind == OpKind::kRead) {
      std::byte* const data = read_buffer;
      for (; moved < length; ++moved) {
        const int character = getc_unlocked(file);
        if (character == EOF) [[unlikely]]
          break;
        data[moved] = static_cast<std::byte>(character);
      }
    } else {
      const std::byte* const data = payload->Next(op);
      for (; moved < length; ++moved) {
        if (putc_unlocked(static_cast<unsigned char>(data[moved]), file) == EOF) [[unlikely]]
          break;
      }
    }
    return Outcome(stream, op, moved);
  }
};

template <typename Clock>
class StdioEngine final : public IoEngine {
 public:
  explicit StdioEngine(const EngineOptions& options) : options_(options) {}
  ~StdioEngine() override { Close().IgnoreError(); }

  absl::Status MakeReady(LaneContext& lane) override {
    if (options_.buffer_bytes == 0) return absl::OkStatus();
    return rotating_buffers_.Allocate(options_.buffer_bytes, options_.longest_op_bytes, StartsOf(options_),
                                      lane.payload);
  }

  absl::Status Open(const FileSet& files, const OpenMode& mode) override {
    IOBENCH_RETURN_IF_ERROR(Close());
    files_ = &files;
    for (size_t i = 0; i < files.files.size(); ++i) {
      if (absl::Status opened = OpenOne(i, mode); !opened.ok()) {
        Close().IgnoreError();
        return opened;
      }
    }
    return absl::OkStatus();
  }

  LoopEnd Run(LaneContext& lane) override {
    if (options_.call == Call::kCharacter) {
      return RunWith(lane, Characters{streams_.data(), lane.payload, lane.read_buffer});
    }
    return RunWith(lane, Records{streams_.data(), lane.payload, lane.read_buffer});
  }

  absl::Status Flush() override {
    absl::Status first_error;
    for (uint32_t i = 0; i < streams_.size(); ++i) first_error.Update(FlushFile(i, OpKind::kFsync));
    return first_error;
  }

  // What the stream still holds belongs to what is flushed, so its write is part of the call.
  absl::Status FlushFile(uint32_t object, OpKind call) override {
    const char* failed = "fflush";
    const auto flush = [&] {
      if (::fflush_unlocked(streams_[object].file) != 0) return -1;
      failed = NameOf(call);
      return FlushDescriptor(::fileno_unlocked(streams_[object].file), files_->files[object], call);
    };
    if (Timed(timer(), call, flush) == 0) return absl::OkStatus();
    return ErrnoStatus(absl::StrCat(failed, " ", files_->PathOf(object)), errno);
  }

  absl::Status Close() override {
    absl::Status first_error;
    for (size_t i = 0; i < streams_.size(); ++i) {
      // It is closed in any case.
      if (Timed(timer(), OpKind::kClose, [&] { return ::fclose(streams_[i].file); }) != 0) {
        first_error.Update(ErrnoStatus(absl::StrCat("fclose ", files_->PathOf(i)), errno));
      }
    }
    streams_.clear();
    return first_error;
  }

 private:
  template <typename DoOp>
  LoopEnd RunWith(LaneContext& lane, DoOp do_op) {
    if (!rotating_buffers_.in_use()) return RunLoop<Clock>(lane, do_op);
    return RunLoop<Clock>(lane, WithRotatingBuffers<DoOp>{do_op, &rotating_buffers_, lane.payload});
  }

  absl::Status OpenOne(size_t index, const OpenMode& mode) {
    if (buffers_.size() <= index) {  // kept when files are reopened
      IOBENCH_ASSIGN_OR_RETURN(AlignedBuffer buffer,
                               AlignedBuffer::Allocate(std::max(1u, options_.record_bytes)));
      buffers_.push_back(std::move(buffer));
    }
    IOBENCH_ASSIGN_OR_RETURN(const int fd, OpenLaneFile(*files_, index, mode, options_));
    FILE* const file = ::fdopen(fd, mode.write ? "r+" : "r");
    if (file == nullptr) {
      const int error = errno;
      ::close(fd);
      return ErrnoStatus(absl::StrCat("fdopen ", files_->PathOf(index)), error);
    }
    streams_.push_back({.file = file, .extent_offset_bytes = files_->files[index].extent_offset_bytes});
    const AlignedBuffer& buffer = buffers_[index];
    if (::setvbuf(file, reinterpret_cast<char*>(buffer.data()), _IOFBF, buffer.size()) != 0) {
      return absl::InternalError(absl::StrCat("setvbuf ", files_->PathOf(index), ": a buffer of ",
                                              buffer.size(), " bytes was refused"));
    }
    return absl::OkStatus();
  }

  const EngineOptions options_;
  const FileSet* files_ = nullptr;
  RotatingBuffers rotating_buffers_;    // of the lane, not of the streams
  std::vector<AlignedBuffer> buffers_;  // by file; outlive the streams
  std::vector<OpenStream> streams_;
};

}  // namespace

std::unique_ptr<IoEngine> MakeStdioEngine(const EngineOptions& options) {
  return MakeForTicks<StdioEngine>(options);
}

}  // namespace iobench
