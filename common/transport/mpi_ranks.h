// What this rank knows of the others, and how it talks to them. Shared by the two ends of the MPI transport.
#ifndef COMMON_TRANSPORT_MPI_RANKS_H_
#define COMMON_TRANSPORT_MPI_RANKS_H_

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/transport/mpi_mail.h"
#include "common/transport/mpi_nap.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// A worker's last letter of a run is an empty one, its goodbye: nothing follows, and rank 0 may finalize. One thread.
class MpiRanks {
 public:
  MpiRanks(const MpiBytes& mpi, int own_rank, int rank_count, const MpiNap& own_nap)
      : rank_(own_rank),
        size_(rank_count),
        nap_(own_nap),
        mail_(mpi),
        told_to_leave_(static_cast<size_t>(rank_count)),
        said_goodbye_(static_cast<size_t>(rank_count)) {
    told_to_leave_[0] = said_goodbye_[0] = true;  // rank 0 is not a worker to itself
  }

  int rank() const { return rank_; }
  int size() const { return size_; }
  MpiNap& nap() { return nap_; }
  MpiMail& mail() { return mail_; }
  // All ranks agree on what comes next, and can be finalized.
  bool is_sound() const { return is_sound_; }
  void SetUnsound() { is_sound_ = false; }

  // ---- rank 0
  // A run begins: every rank has a worker again.
  void BeginRun();
  bool has_left(int worker) const { return told_to_leave_[Index(worker)] || said_goodbye_[Index(worker)]; }
  absl::Status Send(int worker, const v1::WorkerRequest& request);
  // The next letter of this run. A rank that has said goodbye may be in its next run before the others have: what it
  // sends then is kept until that run begins.
  std::optional<MpiLetter> Take();
  // A letter without bytes.
  void OnGoodbye(int worker) { said_goodbye_[Index(worker)] = true; }
  // Sends away who has not been told to leave, then waits for everybody's goodbye; what else comes is dropped.
  // DeadlineExceeded: somebody said none within half a minute. Then, and when MPI fails, nothing is sound any more, and
  // later calls wait for nobody (FailedPrecondition).
  absl::Status DismissAll();

  // ---- the others
  void BeginWorker() { goodbye_sent_ = false; }
  absl::Status SayGoodbye();  // once a run, after everything else; returns when all has been sent

 private:
  static size_t Index(int worker) { return static_cast<size_t>(worker); }
  absl::Status Dismiss();
  absl::Status FinishSending(int64_t until_ns);
  void Nap(int64_t until_ns) const;

  const int rank_;
  const int size_;
  MpiNap nap_;
  MpiMail mail_;
  bool is_sound_ = true;
  std::vector<bool> told_to_leave_;  // index = rank
  std::vector<bool> said_goodbye_;
  std::deque<MpiLetter> of_this_run_;  // came before it began
  std::deque<MpiLetter> of_next_run_;
  bool goodbye_sent_ = false;
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_MPI_RANKS_H_
