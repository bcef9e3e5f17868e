#include "worker/check/block_writes.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/unique_fd.h"
#include "worker/check/write_all.h"

namespace iobench {
namespace {

constexpr size_t kStampedBytes = 512;
// Between writes to blocks that are never used again, so that a long fault does not fill the file system.
constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 5'000'000};
constexpr uint64_t kMagic = 0x6b636f6c622d6269;  // "ib-block"

struct Header {
  uint64_t magic, key, number, sector;
};

absl::StatusOr<UniqueFd> OpenBlocks(int directory, const std::string& name, int flags,
                                    const std::string& path) {
  UniqueFd fd(::openat(directory, name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, 0640));
  if (fd.valid()) return fd;
  return ErrnoStatus(absl::StrCat("open ", path), errno);
}

// Returns the errno; 0: the block is written, and flushed as far as the calls report it.
int WriteBlock(UniqueFd& fd, std::span<const std::byte> block, uint64_t offset, bool close) {
  if (const int error = WriteAt(fd.get(), block, offset); error != 0) return error;
  if (!close) return ::fsync(fd.get()) == 0 ? 0 : errno;
  return ::close(fd.Release()) == 0 ? 0 : errno;
}

// O_DIRECT demands an aligned buffer.
struct alignas(kCheckBlockBytes) Block {
  std::byte bytes[kCheckBlockBytes];
};

// Number of the first write that is not overwritten by a later one.
uint64_t StraightFrom(const v1::BlockWrites& writes) {
  return writes.straight_from() == 0 ? UINT64_MAX : writes.straight_from();
}

uint64_t BlockOf(const v1::BlockWrites& writes, uint64_t number) {
  const uint64_t straight_from = StraightFrom(writes);
  return number < straight_from ? number % writes.block_count()
                                : writes.block_count() + (number - straight_from);
}

// The newest acknowledged write to this block; nullopt: there is none.
std::optional<uint64_t> LastAcknowledged(const v1::BlockWrites& writes, uint64_t block) {
  if (block >= writes.block_count()) {
    const uint64_t number = StraightFrom(writes) + (block - writes.block_count());
    return number < writes.acknowledged() ? std::optional(number) : std::nullopt;
  }
  const uint64_t end = std::min(writes.acknowledged(), StraightFrom(writes));
  if (end <= block) return std::nullopt;
  return block + (end - 1 - block) / writes.block_count() * writes.block_count();
}

// The number of blocks that acknowledged writes went to; never more than WriteBlocks writes, whatever is asked for.
uint64_t AcknowledgedBlocks(const v1::BlockWrites& writes) {
  const uint64_t straight_from = StraightFrom(writes);
  if (writes.acknowledged() <= straight_from)
    return std::min<uint64_t>(writes.block_count(), writes.acknowledged());
  const uint64_t straight = std::min(writes.acknowledged() - straight_from, kMaxCheckBlocks);
  return std::min<uint64_t>(writes.block_count() + straight, kMaxCheckBlocks);
}

}  // namespace

void FillCheckBlock(uint64_t key, uint64_t number, std::span<std::byte> block) {
  for (uint64_t sector = 0; sector < block.size() / kStampedBytes; ++sector) {
    std::byte* const begin = block.data() + sector * kStampedBytes;
    const Header header = {kMagic, key, number, sector};
    uint64_t state = key ^ number * 0x9e3779b97f4a7c15 ^ sector;
    for (size_t at = 0; at < kStampedBytes; at += sizeof state) {
      state = state * 6364136223846793005 + 1442695040888963407;
      std::memcpy(begin + at, &state, sizeof state);
    }
    std::memcpy(begin, &header, sizeof header);
  }
}

BlockState ReadCheckBlock(uint64_t key, std::span<const std::byte> block, uint64_t& number) {
  if (std::all_of(block.begin(), block.end(), [](std::byte b) { return b == std::byte{0}; })) {
    return BlockState::kEmpty;
  }
  Header header{};
  std::memcpy(&header, block.data(), sizeof header);
  if (header.magic != kMagic || header.key != key) return BlockState::kTorn;
  Block expected;
  FillCheckBlock(key, header.number, expected.bytes);
  if (std::memcmp(expected.bytes, block.data(), block.size()) != 0) return BlockState::kTorn;
  number = header.number;
  return BlockState::kWritten;
}

absl::Status WriteBlocks(int directory, const std::string& name, const std::string& path,
                         const v1::BlockWrites& writes, int64_t end_worker_ns,
                         const std::atomic<bool>& cancelled, const std::function<WorkerTime()>& now,
                         v1::BlockCounts& counts) {
  const bool close = writes.flush() == v1::BlockWrites::CLOSE;
  IOBENCH_ASSIGN_OR_RETURN(UniqueFd fd, OpenBlocks(directory, name, O_WRONLY | O_CREAT, path));
  Block block;
  counts.set_begun(writes.begun());
  counts.set_acknowledged(writes.acknowledged());
  int64_t begin_ns = now().ns;
  while (begin_ns < end_worker_ns && !cancelled && BlockOf(writes, counts.begun()) < kMaxCheckBlocks) {
    const uint64_t number = counts.begun();
    FillCheckBlock(writes.key(), number, block.bytes);
    counts.set_begun(number + 1);
    int error = 0;
    if (!fd.valid()) {
      auto again = OpenBlocks(directory, name, O_WRONLY, path);
      error = ErrnoOf(again.status());
      if (again.ok()) fd = *std::move(again);
    }
    if (error == 0) {
      error = WriteBlock(fd, block.bytes, BlockOf(writes, number) * kCheckBlockBytes, close);
    }
    const int64_t end_ns = now().ns;
    counts.set_longest_ns(std::max(counts.longest_ns(), end_ns - begin_ns));
    if (error != 0) {
      counts.set_failed(1);
      counts.set_first_errno(error);
      return absl::OkStatus();
    }
    counts.set_acknowledged(number + 1);
    if (number >= StraightFrom(writes)) ::nanosleep(&kPause, nullptr);
    begin_ns = now().ns;
  }
  counts.set_full(BlockOf(writes, counts.begun()) >= kMaxCheckBlocks);
  return absl::OkStatus();
}

absl::Status CheckBlocks(int directory, const std::string& name, const std::string& path,
                         const v1::BlockWrites& writes, v1::BlockCounts& counts) {
  auto fd = OpenBlocks(directory, name, O_RDONLY | O_DIRECT, path);
  if (ErrnoOf(fd.status()) == EINVAL) {
    fd = OpenBlocks(directory, name, O_RDONLY, path);
    if (fd.ok()) ::posix_fadvise(fd->get(), 0, 0, POSIX_FADV_DONTNEED);
  }
  // A file that is gone has lost all that was acknowledged.
  if (!fd.ok() && ErrnoOf(fd.status()) != ENOENT) return fd.status();
  Block block;
  const auto note = [&counts](uint64_t offset) {
    const bool first = counts.lost() + counts.stale() + counts.torn() == 0;
    if (first) counts.set_first_bad_offset(offset);
  };
  for (uint64_t index = 0; index < AcknowledgedBlocks(writes); ++index) {
    const std::optional<uint64_t> due = LastAcknowledged(writes, index);
    if (!due) continue;
    counts.set_checked(counts.checked() + 1);
    const uint64_t offset = index * kCheckBlockBytes;
    const ssize_t read =
        fd.ok() ? ::pread(fd->get(), block.bytes, sizeof block.bytes, static_cast<off_t>(offset)) : 0;
    if (read < 0) return ErrnoStatus(absl::StrCat("read ", path), errno);
    uint64_t number = 0;
    const BlockState state = static_cast<size_t>(read) < sizeof block.bytes
                                 ? BlockState::kEmpty
                                 : ReadCheckBlock(writes.key(), block.bytes, number);
    if (state == BlockState::kWritten && number >= *due && number < writes.begun()) continue;
    note(offset);
    if (state == BlockState::kEmpty) {
      counts.set_lost(counts.lost() + 1);
    } else if (state == BlockState::kWritten && number < *due) {
      counts.set_stale(counts.stale() + 1);
    } else {
      counts.set_torn(counts.torn() + 1);
    }
  }
  return absl::OkStatus();
}

}  // namespace iobench
