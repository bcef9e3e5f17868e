#include "common/transport/mpi/mpi_ranks.h"

#include <algorithm>
#include <utility>

#include "common/clock.h"
#include "common/time.h"

namespace iobench {
namespace {

// A worker needs half a second to abandon lanes that are stuck in the kernel, more on a crowded host.
constexpr int64_t kGoodbyeNs = 10 * kNanosPerSecond;
// For letters to ranks that were given up.
constexpr int64_t kLastLettersNs = kNanosPerSecond / 5;

}  // namespace

void MpiRanks::BeginRun() {
  std::fill(told_to_leave_.begin() + 1, told_to_leave_.end(), false);
  std::fill(said_goodbye_.begin() + 1, said_goodbye_.end(), false);
  of_this_run_ = std::exchange(of_next_run_, {});
}

absl::Status MpiRanks::Send(int worker, const v1::WorkerRequest& request) {
  if (request.has_leave()) told_to_leave_[Index(worker)] = true;
  nap_.OnMessage(MonotonicNowNs());
  return mail_.Send(worker, request.SerializeAsString());
}

absl::Status MpiRanks::SayOneIsGone() {
  if (said_one_is_gone_) return absl::OkStatus();
  said_one_is_gone_ = true;
  nap_.OnMessage(MonotonicNowNs());
  for (int worker = 1; worker < size_; ++worker) {
    if (has_left(worker) || given_up_[Index(worker)]) continue;
    if (absl::Status status = mail_.Send(worker, ""); !status.ok()) return status;
  }
  return absl::OkStatus();
}

std::optional<MpiLetter> MpiRanks::Take() {
  if (!of_this_run_.empty()) {
    std::optional<MpiLetter> letter(std::move(of_this_run_.front()));
    of_this_run_.pop_front();
    return letter;
  }
  while (std::optional<MpiLetter> letter = mail_.Take()) {
    if (!said_goodbye_[Index(letter->from)]) return letter;
    of_next_run_.push_back(*std::move(letter));
  }
  return std::nullopt;
}

absl::Status MpiRanks::DismissAll() {
  nap_.SetLanesRunning(false);
  if (!is_sound_) return absl::FailedPreconditionError("a rank has not answered before");
  absl::Status status = Dismiss();
  is_sound_ = is_sound_ && status.ok();
  return status;
}

absl::Status MpiRanks::Dismiss() {
  const int64_t until_ns = MonotonicNowNs() + kGoodbyeNs;
  v1::WorkerRequest leave;
  leave.mutable_leave()->set_reason("the coordinator has ended");
  for (int worker = 1; worker < size_; ++worker) {
    if (has_left(worker)) continue;
    if (absl::Status status = Send(worker, leave); !status.ok()) return status;
  }
  const auto is_awaited = [this] {
    for (size_t rank = 0; rank < said_goodbye_.size(); ++rank) {
      if (!said_goodbye_[rank] && !given_up_[rank]) return true;
    }
    return false;
  };
  while (is_awaited()) {
    if (absl::Status status = mail_.Progress(); !status.ok()) return status;
    while (std::optional<MpiLetter> letter = Take()) {
      if (letter->bytes.empty()) OnGoodbye(letter->from);
    }
    if (MonotonicNowNs() >= until_ns) return absl::DeadlineExceededError("not every MPI rank has ended");
    Nap(until_ns);
  }
  if (!misses_a_rank()) return FinishSending(until_ns);
  FinishSending(MonotonicNowNs() + kLastLettersNs).IgnoreError();
  return absl::OkStatus();
}

bool MpiRanks::misses_a_rank() const {
  for (size_t rank = 0; rank < given_up_.size(); ++rank) {
    if (given_up_[rank] && !said_goodbye_[rank]) return true;
  }
  return false;
}

absl::Status MpiRanks::SayGoodbye() {
  if (goodbye_sent_) return absl::OkStatus();
  goodbye_sent_ = true;
  absl::Status status = mail_.Send(0, "");
  if (status.ok()) status = FinishSending(MonotonicNowNs() + kGoodbyeNs);
  is_sound_ = is_sound_ && status.ok();
  return status;
}

absl::Status MpiRanks::FinishSending(int64_t until_ns) {
  while (mail_.is_sending()) {
    if (absl::Status status = mail_.Progress(); !status.ok()) return status;
    if (MonotonicNowNs() >= until_ns)
      return absl::DeadlineExceededError("an MPI rank no longer takes messages");
    if (mail_.is_sending()) Nap(until_ns);
  }
  return absl::OkStatus();
}

void MpiRanks::Nap(int64_t until_ns) const {
  const int64_t now_ns = MonotonicNowNs();
  const WorkerTime wake{std::min(until_ns, now_ns + nap_.NapNs(now_ns, mail_.under_way()))};
  WorkerClock().SleepUntil(wake);
}

}  // namespace iobench
