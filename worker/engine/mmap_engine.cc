#include "worker/engine/mmap_engine.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/model/advice.h"
#include "common/status_util.h"
#include "worker/engine/bus_error.h"
#include "worker/engine/posix_calls.h"
#include "worker/engine/rotating_buffers.h"
#include "worker/loop/timed_loop.h"

namespace iobench {
namespace {

uint64_t PageBytes() {
  static const auto bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

uint64_t PageFloor(uint64_t offset) {
  return offset & ~(PageBytes() - 1);
}

struct MappedFile {
  std::byte* data = nullptr;  // first byte of the extent
  uint64_t usable_bytes = 0;  // from there on
  bool writable = false;
};

uint64_t FileBytes(int fd) {
  struct stat facts {};
  return ::fstat(fd, &facts) == 0 ? static_cast<uint64_t>(facts.st_size) : 0;
}

// Extends the file to at least the lane's bytes, with allocated blocks if possible. Returns 0 or an errno.
int Grow(int fd, const LaneFile& file) {
  int error = 0;
  do {
    error =
        ::fallocate(fd, 0, static_cast<off_t>(file.extent_offset_bytes), static_cast<off_t>(file.bytes)) == 0
            ? 0
            : errno;
  } while (error == EINTR);
  if (error != EOPNOTSUPP && error != ENOSYS) return error;
  // Unlike ftruncate(), a write never shortens the file, which another lane may have extended meanwhile.
  const uint64_t end = file.extent_offset_bytes + file.bytes;
  if (FileBytes(fd) >= end) return 0;
  const std::byte zero{};
  const int64_t moved = CallAgainWhenInterrupted(SYS_pwrite64, fd, &zero, size_t{1}, end - 1);
  return moved == 1 ? 0 : moved < 0 ? static_cast<int>(-moved) : EIO;
}

// Performs one op with memcpy. Returns the bytes copied or -errno.
struct Copy {
  MappedFile* files;
  const OpenFile* open_files;
  Payload* payload;
  std::byte* read_buffer;
  const BusErrorGuard* guard;
  int msync_flags;  // for each op that writes; 0: none

  int64_t operator()(const Op& op) const {
    MappedFile& file = files[op.object];
    if (op.offset + op.length > file.usable_bytes) [[unlikely]]
      return Present(file, op);
    if (op.kind != OpKind::kRead && !file.writable) [[unlikely]]
      return -EBADF;
    std::byte* const place = file.data + op.offset;
    const std::byte* data = nullptr;
    if (op.kind != OpKind::kWrite) std::memcpy(read_buffer, place, op.length);
    if (op.kind != OpKind::kRead) {
      data = payload->Next(op);
      std::memcpy(place, data, op.length);
    }
    if (guard->fault() != nullptr) [[unlikely]]
      return AfterFault(file, op, data);
    if (msync_flags != 0 && op.kind != OpKind::kRead) {
      // msync needs whole pages, so the range includes what precedes the record in its first page.
      std::byte* const page = place - reinterpret_cast<uintptr_t>(place) % PageBytes();
      if (::msync(page, static_cast<size_t>(place - page) + op.length, msync_flags) != 0)
        return -int64_t{errno};
    }
    return op.length;
  }

  static int64_t Present(const MappedFile& file, const Op& op) {
    return static_cast<int64_t>(file.usable_bytes - std::min(file.usable_bytes, op.offset));
  }

  // A page was not available. A system call at the same place returns the reason; the file's size shows whether it was
  // truncated.
  int64_t AfterFault(MappedFile& file, const Op& op, const std::byte* data) const {
    const OpenFile& open_file = open_files[op.object];
    const auto fault = static_cast<uint64_t>(guard->fault() - file.data);
    const uint64_t file_bytes = FileBytes(open_file.fd);
    const uint64_t bytes_left = file_bytes - std::min(file_bytes, open_file.extent_offset_bytes);
    // From the addresses: the extent may begin within a page.
    const uint64_t data_address = reinterpret_cast<uintptr_t>(file.data);
    const uint64_t page_address = PageFloor(reinterpret_cast<uintptr_t>(guard->fault()));
    const uint64_t intact_bytes = page_address > data_address ? page_address - data_address : 0;
    file.usable_bytes = std::min({file.usable_bytes, bytes_left, intact_bytes});
    if (bytes_left < op.offset + op.length) {
      return static_cast<int64_t>(bytes_left - std::min(bytes_left, op.offset));
    }
    std::byte byte{};
    const uint64_t place = open_file.extent_offset_bytes + fault;
    const int64_t moved = data == nullptr
                              ? DirectCalls::Pread(open_file.fd, &byte, 1, place)
                              : DirectCalls::Pwrite(open_file.fd, data + (fault - op.offset), 1, place);
    return moved < 0 ? moved : -EIO;
  }
};

// -Z: every other op uses pread() or pwrite().
template <typename Calls>
struct Alternating {
  Copy copy;
  PositionalCalls<Calls> calls;
  uint64_t* op_count;

  int64_t operator()(const Op& op) const { return (*op_count)++ % 2 == 0 ? copy(op) : calls(op); }
};

template <typename Calls>
void SetReadBuffer(Alternating<Calls>& do_op, std::byte* buffer) {
  do_op.copy.read_buffer = do_op.calls.read_buffer = buffer;
}

template <typename Clock>
class MmapEngine final : public IoEngine {
 public:
  explicit MmapEngine(const EngineOptions& options) : options_(options), open_files_(options) {}
  ~MmapEngine() override { Close().IgnoreError(); }

  absl::Status MakeReady(LaneContext& lane) override {
    if (options_.buffer_bytes == 0) return absl::OkStatus();
    return buffers_.Allocate(options_.buffer_bytes, options_.longest_op_bytes, StartsOf(options_),
                             lane.payload);
  }

  absl::Status Open(const FileSet& files, const OpenMode& mode) override {
    IOBENCH_RETURN_IF_ERROR(Close());
    IOBENCH_RETURN_IF_ERROR(open_files_.Open(files, mode));
    for (size_t i = 0; i < files.files.size(); ++i) {
      if (absl::Status mapped = Map(files, i, mode); !mapped.ok()) {
        Close().IgnoreError();
        return mapped;
      }
    }
    return absl::OkStatus();
  }

  LoopEnd Run(LaneContext& lane) override {
    const BusErrorGuard guard(ranges_);
    const v1::Mmap::Sync sync = options_.mmap.sync();
    const int msync_flags = sync == v1::Mmap::SYNC ? MS_SYNC : sync == v1::Mmap::ASYNC ? MS_ASYNC : 0;
    const Copy copy{files_.data(), open_files_.data(), lane.payload, lane.read_buffer, &guard, msync_flags};
    if (!options_.mmap.mix_file_io()) return RunWith(lane, copy);
    return options_.libc_calls ? RunAlternating<LibcCalls>(lane, copy)
                               : RunAlternating<DirectCalls>(lane, copy);
  }

  absl::Status Flush() override {
    absl::Status first_error;
    for (uint32_t i = 0; i < ranges_.size(); ++i) first_error.Update(FlushFile(i, OpKind::kFsync));
    return first_error;
  }

  // msync writes what fsync then makes durable, so the two are one call.
  absl::Status FlushFile(uint32_t object, OpKind call) override {
    const MappedRange& range = ranges_[object];
    absl::Status status;
    return Timed(timer(), call, [&] {
      if (range.bytes > 0 && ::msync(range.begin, range.bytes, MS_SYNC) != 0) {
        status.Update(ErrnoStatus(absl::StrCat("msync ", open_files_.PathOf(object)), errno));
      }
      status.Update(open_files_.FlushFile(object, call, /*timer=*/nullptr));
      return status;
    });
  }

  // The kernel keeps pages that are mapped. What was written stays in the file's pages.
  void ReleasePages() override {
    for (const MappedRange& range : ranges_) {
      if (range.bytes > 0) ::madvise(range.begin, range.bytes, MADV_DONTNEED);
    }
  }

  absl::Status Close() override {
    for (const MappedRange& range : ranges_) {
      if (range.bytes > 0) ::munmap(range.begin, range.bytes);
    }
    ranges_.clear();
    files_.clear();
    return open_files_.Close(timer());
  }

 private:
  template <typename Calls>
  LoopEnd RunAlternating(LaneContext& lane, const Copy& copy) {
    const PositionalCalls<Calls> calls{open_files_.data(), lane.payload, lane.read_buffer};
    return RunWith(lane, Alternating<Calls>{copy, calls, &op_count_});
  }

  template <typename DoOp>
  LoopEnd RunWith(LaneContext& lane, DoOp do_op) {
    if (!buffers_.in_use()) return RunAround(lane, do_op);
    return RunAround(lane, WithRotatingBuffers<DoOp>{do_op, &buffers_, lane.payload});
  }

  template <typename DoOp>
  LoopEnd RunAround(LaneContext& lane, DoOp do_op) {
    if (!options_.record_locks) return RunLoop<Clock>(lane, do_op);
    return RunLoop<Clock>(lane, WithRecordLock<DoOp>{do_op, open_files_.data()});
  }

  absl::Status Map(const FileSet& files, size_t index, const OpenMode& mode) {
    const LaneFile& file = files.files[index];
    const std::string path = files.PathOf(index);
    const int fd = open_files_.data()[index].fd;
    struct stat facts {};
    if (::fstat(fd, &facts) != 0) return ErrnoStatus(absl::StrCat("look at ", path), errno);
    if (!S_ISREG(facts.st_mode)) {
      return absl::FailedPreconditionError(absl::StrCat("map ", path, ": it is not a regular file"));
    }
    if (file.bytes > kMaxMappedBytes) {
      return absl::OutOfRangeError(absl::StrCat(
          "map ", path, ": ", file.bytes,
          " bytes exceed the address space (2^47): use a smaller -s, or another engine than mmap"));
    }
    const uint64_t begin = file.extent_offset_bytes;
    if (mode.write && (files.shared || static_cast<uint64_t>(facts.st_size) < begin + file.bytes)) {
      if (const int error = Grow(fd, file); error != 0) {
        return ErrnoStatus(absl::StrCat("allocate ", file.bytes, " bytes of ", path), error);
      }
    }
    const uint64_t file_bytes = FileBytes(fd);
    const uint64_t usable_bytes = std::min(file.bytes, file_bytes - std::min(file_bytes, begin));
    if (usable_bytes == 0) {  // an empty map is not possible
      ranges_.push_back({});
      files_.push_back({});
      return absl::OkStatus();
    }
    const uint64_t before = begin - PageFloor(begin);
    const uint64_t bytes = PageFloor(before + usable_bytes + PageBytes() - 1);
    void* const map = ::mmap(nullptr, bytes, mode.write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd,
                             static_cast<off_t>(begin - before));
    if (map == MAP_FAILED) {
      return ErrnoStatus(absl::StrCat("map ", bytes, " bytes of ", path), errno);
    }
    auto* const first = static_cast<std::byte*>(map);
    ranges_.push_back({first, bytes});
    files_.push_back({first + before, usable_bytes, mode.write});
    if (options_.mmap.advice().empty()) return absl::OkStatus();
    IOBENCH_ASSIGN_OR_RETURN(const int advice, MapAdvice(options_.mmap.advice()));
    if (::madvise(map, bytes, advice) != 0) return ErrnoStatus(absl::StrCat("madvise ", path), errno);
    return absl::OkStatus();
  }

  const EngineOptions options_;
  OpenFiles open_files_;
  RotatingBuffers buffers_;
  std::vector<MappedRange> ranges_;  // by file; empty if the file has nothing to map
  std::vector<MappedFile> files_;
  uint64_t op_count_ = 0;
};

}  // namespace

std::unique_ptr<IoEngine> MakeMmapEngine(const EngineOptions& options) {
  return MakeForTicks<MmapEngine>(options);
}

}  // namespace iobench
