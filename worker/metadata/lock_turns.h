// The turns that lanes take with a lock on one file (operation lock), and the proof that no two of them have it at once.
#ifndef WORKER_METADATA_LOCK_TURNS_H_
#define WORKER_METADATA_LOCK_TURNS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/process/interrupter.h"
#include "worker/loop/op_hook.h"

namespace iobench {

// One lane's turns. An op is the wait for the lock. Between ops, the lane that has it counts its turn in the file and unlocks
// it, so that this is in no op's latency. A lane that has just had its turn could take the lock again before any other wakes
// up: so it waits, between ops, until another one has it or has had it, at most for kPatienceForOthersNs. The file holds the
// number of all turns, and then that of each lane, as 64-bit integers: a lane whose own number is not as it left it, or that
// finds a sum that is not the number of all, has found that the lock did not exclude others, or that a client did not see
// what the one before it had written.
//
// The lock belongs to the open file description (file_lock.h), so that lanes of one process exclude each other, and is gone
// when its process is. Only the lane's thread uses it.
class LockTurns final : public OpHook {
 public:
  // `fd`: the file, opened for this lane alone. `next`: what else the lane does between ops; may be null. Both are borrowed.
  LockTurns(int fd, uint32_t lane, OpHook* next) : fd_(fd), slot_(lane + size_t{1}), next_(next) {}

  // Waits until the lane has the lock. Returns 0, -errno, or kGivenUp once the interrupter is over. -EBADMSG: what the file
  // holds shows that the turn before was not the only one at its time. An error of the turn before ends this one.
  int64_t Wait(const Interrupter& interrupter);
  // Looks once more, when no op follows, unless others keep the lock. `fresh_fd`: the file, opened anew, so that an NFS client asks
  // the server whether it has changed. Returns what Wait would return of the turn before.
  int64_t CheckAtEnd(int fresh_fd);

  static constexpr int64_t kPatienceForOthersNs = 10'000'000;
  void Before(const Op& next) override;
  void NotBegun() override {
    if (next_ != nullptr) next_->NotBegun();
  }
  void After(const Op& done, const std::byte* data, OpTimes times) override;

  OpHook* next() const { return next_; }

 private:
  // Both return 0 or -errno. REQUIRE: the lane has the lock.
  int64_t Check(int fd);
  int64_t CountTurn();

  void LetOthersGoFirst() const;

  const int fd_;
  const size_t slot_;  // of the lane's own number in counts_
  OpHook* const next_;
  std::vector<uint64_t> counts_;  // as the file has them, at least up to slot_
  bool looked_ = false;
  bool had_turn_ = false;      // and no op has begun since
  uint64_t own_count_ = 0;     // as this lane left it, once it has looked
  uint64_t known_excess_ = 0;  // of the sum over the number of all, modulo 2^64: told already
  int64_t problem_ = 0;        // of the turn before, -errno
};

}  // namespace iobench

#endif  // WORKER_METADATA_LOCK_TURNS_H_
