#include "worker/client/eaten_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/process/usable_memory.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "worker/rights/worker_rights.h"

namespace iobench {
namespace {

// Taken piece by piece, so that a watcher of the thread sees its progress.
constexpr uint64_t kPieceBytes = 64_MiB;
constexpr uint64_t kPageBytes = 4_KiB;
// What a host needs for this program and everything else.
constexpr uint64_t kLeftBytes = 64_MiB;

std::string Sized(uint64_t bytes) {
  return FormatBytes(static_cast<double>(bytes));
}

}  // namespace

absl::StatusOr<uint64_t> EatenMemory::BytesToEat(uint32_t percent, uint64_t total_bytes,
                                                 uint64_t available_bytes, uint64_t max_bytes) {
  if (percent < 1 || percent > 95) {
    return absl::InvalidArgumentError(absl::StrCat("--eat-memory ", percent, ": it takes 1 to 95 percent"));
  }
  const uint64_t bytes = total_bytes / 100 * percent / kPageBytes * kPageBytes;
  if (bytes == 0) return absl::UnavailableError("--eat-memory: the memory of this host is unknown");
  if (max_bytes > 0 && bytes > max_bytes) {
    return absl::PermissionDeniedError(absl::StrCat("--eat-memory ", percent, " is ", Sized(bytes),
                                                    ", and this worker was started with --max-memory ",
                                                    Sized(max_bytes), ": use a smaller percentage"));
  }
  if (bytes + kLeftBytes > available_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat("--eat-memory ", percent, " is ", Sized(bytes),
                                                     ", and only ", Sized(available_bytes),
                                                     " are available here: use a smaller percentage"));
  }
  return bytes;
}

absl::StatusOr<EatenMemory> EatenMemory::Eat(uint32_t percent) {
  IOBENCH_ASSIGN_OR_RETURN(
      const uint64_t bytes,
      BytesToEat(percent, MemoryOfThisProcess().bytes, AvailableMemoryBytes(), RightsOfThisWorker().max_memory_bytes));
  EatenMemory eaten(bytes, percent);
  IOBENCH_RETURN_IF_ERROR(eaten.Take());
  return eaten;
}

absl::Status EatenMemory::Take() {
  void* const memory =
      ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return ErrnoStatus("--eat-memory: allocate", errno);
  memory_ = memory;
  auto* const bytes = static_cast<volatile char*>(memory);
  for (uint64_t at = 0; at < bytes_; at += kPieceBytes) {
    const uint64_t piece = std::min(kPieceBytes, bytes_ - at);
    if (not_locked_.empty() && ::mlock(static_cast<char*>(memory) + at, piece) != 0) {
      not_locked_ = ErrnoName(errno);
    }
    if (not_locked_.empty()) continue;
    for (uint64_t page = at; page < at + piece; page += kPageBytes) bytes[page] = 1;
  }
  return absl::OkStatus();
}

EatenMemory::EatenMemory(EatenMemory&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      bytes_(other.bytes_),
      percent_(other.percent_),
      not_locked_(std::move(other.not_locked_)) {}

EatenMemory& EatenMemory::operator=(EatenMemory&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  std::swap(percent_, other.percent_);
  std::swap(not_locked_, other.not_locked_);
  return *this;
}

EatenMemory::~EatenMemory() {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
}

std::string EatenMemory::ToText() const {
  const std::string amount = absl::StrCat(Sized(bytes_), " of ", Sized(MemoryOfThisProcess().bytes));
  if (not_locked_.empty()) return absl::StrCat("locked ", amount);
  return absl::StrCat("in use, but not locked (", not_locked_, "): ", amount);
}

}  // namespace iobench
