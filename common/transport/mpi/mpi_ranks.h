// What a rank knows about the other ranks, and how it talks to them. Used by both ends of the MPI transport.
#ifndef COMMON_TRANSPORT_MPI_MPI_RANKS_H_
#define COMMON_TRANSPORT_MPI_MPI_RANKS_H_

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/transport/mpi/mpi_mail.h"
#include "common/transport/mpi/mpi_nap.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// Lives as long as the MPI session and keeps the state of the ranks over several runs. The last letter that a worker
// sends in a run is empty: its goodbye. After that it sends nothing, and rank 0 may finalize. Not thread-safe: only the
// thread that initialised MPI may use it, because it makes MPI calls. `mpi` must outlive it.
class MpiRanks {
 public:
  MpiRanks(const MpiBytes& mpi, int own_rank, int rank_count, const MpiNap& own_nap)
      : rank_(own_rank),
        size_(rank_count),
        nap_(own_nap),
        mail_(mpi),
        told_to_leave_(static_cast<size_t>(rank_count)),
        said_goodbye_(static_cast<size_t>(rank_count)),
        given_up_(static_cast<size_t>(rank_count)) {
    told_to_leave_[0] = said_goodbye_[0] = true;  // rank 0 is not its own worker
  }

  int rank() const { return rank_; }
  int size() const { return size_; }
  MpiNap& nap() { return nap_; }
  MpiMail& mail() { return mail_; }
  // True while all ranks agree on the next step, so that MPI can be finalized.
  bool is_sound() const { return is_sound_; }
  void SetUnsound() { is_sound_ = false; }

  // ---- rank 0
  // Starts a run: every rank has a worker again.
  void BeginRun();
  // True if the worker was told to leave or has said goodbye; nothing more is sent to it in this run.
  bool has_left(int worker) const { return told_to_leave_[Index(worker)] || said_goodbye_[Index(worker)]; }
  // The worker is dead or hung: its goodbye is not awaited.
  void GiveUp(int worker) { given_up_[Index(worker)] = true; }
  // Tells all other ranks by an empty letter that one of them is gone, so that none waits for it; once, however many are gone.
  // Errors are those of MpiMail::Send.
  absl::Status SayOneIsGone();
  // True if a rank was given up and has not said goodbye. MPI_Finalize would wait for it forever.
  bool misses_a_rank() const;
  // Starts to send. Leave also marks the worker as told to leave. Errors are those of MpiMail::Send.
  absl::Status Send(int worker, const v1::WorkerRequest& request);
  // Returns the next letter of this run. A rank that has said goodbye may enter its next run before the others are
  // ready; its letters of that run are kept until BeginRun.
  std::optional<MpiLetter> Take();
  // Handles a letter without bytes. Take() then keeps further letters of that rank for the next run.
  void OnGoodbye(int worker) { said_goodbye_[Index(worker)] = true; }
  // Sends Leave to all workers that have not received it, then waits for all goodbyes; other letters are dropped. Ranks
  // that were given up are not waited for. DeadlineExceeded: a worker sent no goodbye within 10 s. After any error,
  // is_sound() is false and later calls return FailedPrecondition without waiting.
  absl::Status DismissAll();

  // ---- the other ranks
  // Starts a run: this rank owes a goodbye again.
  void BeginWorker() { goodbye_sent_ = false; }
  // Sends the goodbye as the last letter of the run and returns when everything has been sent; does nothing if the
  // goodbye was sent before. DeadlineExceeded: the letters were not taken within 10 s. After an error, is_sound() is
  // false.
  absl::Status SayGoodbye();

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
  std::vector<bool> given_up_;
  bool said_one_is_gone_ = false;
  std::deque<MpiLetter> of_this_run_;  // arrived before this run began
  std::deque<MpiLetter> of_next_run_;
  bool goodbye_sent_ = false;
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_MPI_MPI_RANKS_H_
