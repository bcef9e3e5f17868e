#include "worker/metadata/lock_turns.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <utility>

#include "common/clock.h"
#include "worker/engine/file_lock.h"
#include "worker/loop/lane_context.h"

namespace iobench {
namespace {

constexpr LockRange kWholeFile{};

}  // namespace

int64_t LockTurns::Wait(const Interrupter& interrupter) {
  if (problem_ != 0) return std::exchange(problem_, 0);
  int error = 0;
  do {
    error = WaitForLockOnce(fd_, LockKind::kWrite, kWholeFile);
  } while (error == EINTR && !interrupter.over());
  return error == EINTR ? kGivenUp : -int64_t{error};
}

void LockTurns::Before(const Op& next) {
  if (had_turn_) LetOthersGoFirst();
  had_turn_ = false;
  if (next_ != nullptr) next_->Before(next);
}

void LockTurns::After(const Op& done, const std::byte* data, OpTimes times) {
  problem_ = Check(fd_);
  if (problem_ == 0) problem_ = CountTurn();
  had_turn_ = problem_ == 0;
  if (const int error = Unlock(fd_, kWholeFile); error != 0 && problem_ == 0) problem_ = -int64_t{error};
  if (next_ != nullptr) next_->After(done, data, times);
}

// An NFS client answers the read from its memory, but asks the server about the lock.
void LockTurns::LetOthersGoFirst() const {
  constexpr timespec kNap = {.tv_sec = 0, .tv_nsec = 20'000};
  const int64_t give_up_ns = MonotonicNowNs() + kPatienceForOthersNs;
  uint64_t turns = 0;
  while (::pread(fd_, &turns, sizeof(turns), 0) == sizeof(turns) && turns == counts_[0] &&
         !IsLockedByOthers(fd_, kWholeFile) && MonotonicNowNs() < give_up_ns)
    ::nanosleep(&kNap, nullptr);
}

int64_t LockTurns::CheckAtEnd(int fresh_fd) {
  constexpr int64_t kPatienceNs = 1'000'000'000;
  if (problem_ != 0 || !looked_) return problem_;
  // If others keep it busy, they find what is wrong, but for this lane's own number.
  if (TryToLock(fresh_fd, LockKind::kWrite, kWholeFile, kPatienceNs).errno_value != 0) return 0;
  const int64_t checked = Check(fresh_fd);
  Unlock(fresh_fd, kWholeFile);
  return checked;
}

int64_t LockTurns::Check(int fd) {
  // One more than there was: if it is read too, other lanes have made the file longer.
  size_t room = std::max(counts_.size(), slot_ + 1) + 1, read = 0;
  for (;; room *= 2) {
    counts_.resize(room);
    const ssize_t bytes = ::pread(fd, counts_.data(), room * sizeof(uint64_t), 0);
    if (bytes < 0) return -int64_t{errno};
    read = static_cast<size_t>(bytes) / sizeof(uint64_t);
    if (read < room) break;
  }
  counts_.resize(read);
  counts_.resize(std::max(read, slot_ + 1));  // new ones are 0
  const uint64_t excess = std::accumulate(counts_.begin() + 1, counts_.end(), uint64_t{0}) - counts_[0];
  const bool as_left = !looked_ || counts_[slot_] == own_count_;
  looked_ = true;
  own_count_ = counts_[slot_];
  const bool adds_up = excess == std::exchange(known_excess_, excess);
  return as_left && adds_up ? 0 : -int64_t{EBADMSG};
}

int64_t LockTurns::CountTurn() {
  ++counts_[0];
  own_count_ = ++counts_[slot_];
  const size_t bytes = counts_.size() * sizeof(uint64_t);
  const ssize_t written = ::pwrite(fd_, counts_.data(), bytes, 0);
  if (written < 0) return -int64_t{errno};
  return static_cast<size_t>(written) == bytes ? 0 : -int64_t{ENOSPC};
}

}  // namespace iobench
