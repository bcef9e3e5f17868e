// What the ranks of an MPI job do together in a phase with collective I/O.
//
// A collective call returns when all ranks have made it, so a rank that ends early (an op failed, its time is over) must not
// just stay away. Ranks therefore agree by votes: before some ops, before a flush and before closing, each says what it wants
// next, and the earliest wish of all wins. A rank that wanted something later takes part with calls of 0 bytes, and votes
// again. Earliest of all is to give up.
#ifndef WORKER_MPI_IO_RANKS_TOGETHER_H_
#define WORKER_MPI_IO_RANKS_TOGETHER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/model/op.h"
#include "common/mpi_io/mpi_files.h"
#include "worker/pattern/op_stream.h"

namespace iobench {

// Makes a Status of an MPI error code; 0 is OK. `doing`: "open FILE".
absl::Status MpiIoStatus(const MpiFiles& mpi, int error, std::string_view doing);

// One rank's part in one phase. `mpi` must outlive it.
class RanksTogether {
 public:
  // The most ops between two votes.
  static constexpr uint32_t kMaxRound = 64;

  // `kind`: of all ops of the phase. `round_ops`: ops between two votes, fewer near the end.
  RanksTogether(const MpiFiles& mpi, OpKind kind, uint32_t round_ops);
  ~RanksTogether() { Decline(); }
  RanksTogether(const RanksTogether&) = delete;
  RanksTogether& operator=(const RanksTogether&) = delete;

  // Waits until every rank has answered whether it can take part; each does once per phase, by this call or by Decline.
  // Afterwards, all open the file together. FailedPrecondition: another rank cannot or is lost, so that this one cannot either.
  absl::Status Meet();
  // This rank cannot take part. Does not wait, and does nothing after Meet. Usable from any thread.
  void Decline();

  // ---- The rest is for the lane's thread.

  // All ranks have opened `file` together.
  void Begin(void* file) { file_ = file; }
  bool has_file() const { return file_ != nullptr; }

  // Agrees with the other ranks on the number of ops that follow, at most `op_count`, and promises one call for each.
  // Returns what is left of an earlier promise, if there is one; 0: a rank gave up, and no more ops follow. REQUIRES:
  // op_count > 0, has_file().
  uint32_t NextRound(uint32_t op_count);
  // A call that was promised is being made.
  void BeginCall() {
    if (promised_ > 0) --promised_;
  }

  // The ops of this rank have failed for good: those of all end, since the file will not be whole. REQUIRES: has_file().
  void GiveUp();

  // Takes part in what the other ranks still want to do before it, then in the flush, or in closing the file. An error is
  // that of this rank's own call.
  absl::Status BeforeFlush() { return TakePartUntil(kFlush); }
  int Flush() { return mpi_.sync(file_); }
  absl::Status BeforeClose() { return TakePartUntil(kClose); }
  int Close();

 private:
  // Votes. Those between are numbers of ops.
  static constexpr int kGiveUp = 0, kFlush = 1000, kClose = 2000;

  absl::Status TakePartUntil(int wish);
  absl::StatusOr<int> Vote(int wish);
  void KeepPromise();

  const MpiFiles& mpi_;
  const OpKind kind_;
  const uint32_t round_ops_;
  std::atomic<bool> answered_ = false;
  void* file_ = nullptr;
  bool given_up_ = false;  // by any rank
  uint32_t promised_ = 0;
};

// The order of `stream`, handed out in rounds on which the ranks agree. Owns the stream; `ranks` must outlive it.
class OpsTogether : public OpStream {
 public:
  OpsTogether(std::unique_ptr<OpStream> stream, RanksTogether& ranks) : stream_(std::move(stream)), ranks_(ranks) {}

  size_t Fill(std::span<Op> batch) override;
  void Unread(size_t op_count) override { stream_->Unread(op_count); }
  void Restart(uint64_t pass) override { stream_->Restart(pass); }
  uint64_t ops_per_pass() const override { return stream_->ops_per_pass(); }
  uint64_t bytes_per_pass() const override { return stream_->bytes_per_pass(); }

 private:
  const std::unique_ptr<OpStream> stream_;
  RanksTogether& ranks_;
};

}  // namespace iobench

#endif  // WORKER_MPI_IO_RANKS_TOGETHER_H_
