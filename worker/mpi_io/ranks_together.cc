#include "worker/mpi_io/ranks_together.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"

namespace iobench {

absl::Status MpiIoStatus(const MpiFiles& mpi, int error, std::string_view doing) {
  if (error == 0) return absl::OkStatus();
  std::array<char, 512> text;
  mpi.describe(error, text.data(), text.size());
  return ErrnoStatus(absl::StrCat(std::string(doing), ": MPI says \"", text.data(), "\""), mpi.errno_of(error));
}

RanksTogether::RanksTogether(const MpiFiles& mpi, OpKind kind, uint32_t round_ops)
    : mpi_(mpi), kind_(kind), round_ops_(std::clamp(round_ops, 1u, kMaxRound)) {}

absl::Status RanksTogether::Meet() {
  if (answered_.exchange(true)) return absl::CancelledError("this rank has already said that it does not take part");
  int all_can = 0;
  IOBENCH_RETURN_IF_ERROR(MpiIoStatus(mpi_, mpi_.meet(&all_can), "meet the other ranks"));
  if (all_can != 0) return absl::OkStatus();
  return absl::FailedPreconditionError("another rank cannot take part, so collective I/O (--collective) is not possible");
}

void RanksTogether::Decline() {
  if (!answered_.exchange(true)) mpi_.decline();
}

uint32_t RanksTogether::NextRound(uint32_t op_count) {
  if (promised_ > 0) return std::min(promised_, op_count);
  if (given_up_) return 0;
  const int wish = static_cast<int>(std::min(op_count, round_ops_));
  const absl::StatusOr<int> agreed = Vote(wish);
  given_up_ = agreed.ok() && *agreed == kGiveUp;
  // Otherwise ops are the earliest wish. Without an agreement MPI is broken, and says so in the call that follows.
  promised_ = static_cast<uint32_t>(agreed.ok() ? std::min(*agreed, wish) : 1);
  return promised_;
}

void RanksTogether::GiveUp() {
  KeepPromise();
  if (!std::exchange(given_up_, true)) Vote(kGiveUp).IgnoreError();
}

absl::StatusOr<int> RanksTogether::Vote(int wish) {
  int least = wish;
  IOBENCH_RETURN_IF_ERROR(MpiIoStatus(mpi_, mpi_.vote(wish, &least), "agree with the other ranks"));
  return least;
}

// Makes the calls that the other ranks wait for.
void RanksTogether::KeepPromise() {
  std::byte nothing{};
  size_t moved = 0;
  for (; promised_ > 0; --promised_) {
    kind_ == OpKind::kRead ? mpi_.read_at(file_, 1, 0, &nothing, 0, &moved)
                           : mpi_.write_at(file_, 1, 0, &nothing, 0, &moved);
  }
}

absl::Status RanksTogether::TakePartUntil(int wish) {
  while (true) {
    KeepPromise();
    IOBENCH_ASSIGN_OR_RETURN(const int agreed, Vote(wish));
    if (agreed == wish) return absl::OkStatus();
    if (agreed == kGiveUp) {
      given_up_ = true;
    } else if (agreed == kFlush) {
      static_cast<void>(mpi_.sync(file_));  // another rank's flush, which reports its own error there
    } else {
      promised_ = static_cast<uint32_t>(agreed);
    }
  }
}

int RanksTogether::Close() {
  void* const closed = file_;
  file_ = nullptr;
  return mpi_.close(closed);
}

size_t OpsTogether::Fill(std::span<Op> batch) {
  const size_t count = stream_->Fill(batch);
  // Not while the ranks' file is closed: what a lane does then, it does alone.
  if (count == 0 || !ranks_.has_file()) return count;
  const size_t agreed = ranks_.NextRound(static_cast<uint32_t>(std::min<size_t>(count, RanksTogether::kMaxRound)));
  stream_->Unread(count - agreed);
  return agreed;
}

}  // namespace iobench
