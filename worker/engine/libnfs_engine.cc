#include "worker/engine/libnfs_engine.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "worker/engine/slot_buffers.h"
#include "worker/loop/queued_loop.h"
#include "worker/storage/nfs_connection.h"
#include "worker/storage/nfs_file.h"
#include "worker/storage/nfs_status.h"

namespace iobench {
namespace {

NfsStability StabilityOf(const OpenMode& mode) {
  if (mode.sync || mode.rsync) return NfsStability::kFileSync;
  return mode.dsync ? NfsStability::kDataSync : NfsStability::kUnstable;
}

// The lane's connection, its open files, and the ops in flight.
class NfsQueue {
 public:
  explicit NfsQueue(const EngineOptions& options)
      : url_(options.directory), depth_(options.depth), longest_op_bytes_(options.longest_op_bytes) {}

  absl::Status SetUp(LaneContext& lane) {
    retried_ = &lane.retried_ops;
    IOBENCH_RETURN_IF_ERROR(buffers_.Allocate(lane.read_buffer, depth_, longest_op_bytes_));
    return Connect();
  }

  absl::Status Open(const FileSet& files, const OpenMode& mode) {
    files_.clear();
    // The server may have closed an idle connection while other lanes wrote their files.
    if (!connection_->CheckAlive().ok()) IOBENCH_RETURN_IF_ERROR(Connect());
    stability_ = StabilityOf(mode);
    extents_.clear();
    const NfsOpen how{.read = mode.read, .write = mode.write, .create = mode.create};
    for (size_t i = 0; i < files.files.size(); ++i) {
      const LaneFile& file = files.files[i];
      auto open = NfsFile::Open(*connection_, connection_->directory(), file.name, how);
      RecordRetries(OpKind::kOpenClose, i);
      if (!open.ok()) {
        files_.clear();
        return Annotate(open.status(), absl::StrCat("open ", files.PathOf(i)));
      }
      files_.push_back(*std::move(open));
      extents_.push_back(file.extent_offset_bytes);
    }
    return absl::OkStatus();
  }

  absl::Status Commit(CallTimer* timer) {
    absl::Status first_error;
    for (size_t i = 0; i < files_.size(); ++i) first_error.Update(CommitOne(i, timer));
    return first_error;
  }
  absl::Status CommitOne(size_t index, CallTimer* timer) {
    NfsFile& file = *files_[index];
    if (!file.needs_commit()) return file.Commit();  // it sends nothing
    absl::Status committed = Timed(timer, OpKind::kCommit, [&] { return file.Commit(); });
    RecordRetries(OpKind::kWrite, index);
    return committed;
  }
  void Forget() { files_.clear(); }

  void BeginRun(LaneContext& lane) {
    payload_ = lane.payload;
    failure_ = {};
  }

  // Describes the first op that failed. REQUIRES: an op has failed.
  absl::Status Explain(const Op& op, const std::string& path) const {
    if (!connection_->lost().ok()) return connection_->lost();
    const NfsFile& file = *files_[op.object];
    if (file.restarted()) return file.RestartedError();
    std::string what = absl::StrCat(NameOf(op.kind), " ", path, " at offset ", failure_.offset);
    if (failure_.nfs_status != 0) absl::StrAppend(&what, ": ", NfsStatusName(failure_.nfs_status));
    return ErrnoStatus(what, failure_.errno_value);
  }
  bool has_failure() const { return failure_.errno_value != 0; }

  // ---- the queue interface of the loop

  void Prepare(uint32_t slot, const Op& op) {
    Flight& flight = flights_[slot];
    flight.op = op;
    flight.data = op.kind == OpKind::kRead ? buffers_[slot] : buffers_.FilledFor(op, slot, *payload_);
    prepared_.push_back(slot);
  }

  size_t Turn(bool wait, std::span<OpEnd> ends) {
    for (const uint32_t slot : prepared_) Begin(slot);
    prepared_.clear();
    // A lost connection ends everything in flight.
    while (connection_->Turn(wait && ended_.empty()).ok() && wait && ended_.empty()) continue;
    const size_t count = ended_.size();
    std::copy(ended_.begin(), ended_.end(), ends.begin());
    ended_.clear();
    return count;
  }

  void Await(int64_t ns) { connection_->Await(ns); }

  const std::byte* DataOf(uint32_t slot) const { return buffers_[slot]; }

 private:
  struct Flight {
    Op op;
    std::byte* data = nullptr;
    uint32_t piece_count = 0;
    uint32_t in_flight = 0;  // number of its parts in flight
  };
  struct Failure {
    int errno_value = 0;
    int nfs_status = 0;
    uint64_t offset = 0;
  };

  absl::Status Connect() {
    IOBENCH_ASSIGN_OR_RETURN(connection_, NfsConnection::Connect(url_));
    const uint32_t piece_bytes = std::min(connection_->read_max_bytes(), connection_->write_max_bytes());
    pieces_each_ = (longest_op_bytes_ + piece_bytes - 1) / piece_bytes;
    pieces_.assign(size_t{depth_} * pieces_each_, {});
    flights_.assign(depth_, {});
    prepared_.reserve(depth_);
    ended_.reserve(depth_);
    return absl::OkStatus();
  }

  // Counts the retries of calls that open or commit a file, which are not ops.
  void RecordRetries(OpKind kind, size_t file) {
    const uint64_t count = connection_->PopRetries();
    if (count > 0) retried_->Note({.kind = kind, .object = static_cast<uint32_t>(file)}, -EAGAIN, count);
  }

  void Begin(uint32_t slot) {
    Flight& flight = flights_[slot];
    const Op& op = flight.op;
    const bool reads = op.kind == OpKind::kRead;
    const uint32_t max_bytes = reads ? connection_->read_max_bytes() : connection_->write_max_bytes();
    NfsTransfer* const pieces = &pieces_[size_t{slot} * pieces_each_];
    flight.piece_count = (op.length + max_bytes - 1) / max_bytes;
    // One more than there are parts, so that the op does not end before its last part has begun.
    flight.in_flight = flight.piece_count + 1;
    for (uint32_t i = 0; i < flight.piece_count; ++i) {
      const uint32_t begin = i * max_bytes;
      pieces[i] = {.offset = extents_[op.object] + op.offset + begin,
                   .data = flight.data + begin,
                   .length = std::min(max_bytes, op.length - begin),
                   .done = &NfsQueue::OnPiece,
                   .owner = this,
                   .retries_later = true};
      NfsFile& file = *files_[op.object];
      const bool sent = reads ? file.BeginRead(pieces[i]) : file.BeginWrite(pieces[i], stability_);
      if (!sent) --flight.in_flight;
    }
    EndOne(slot);
  }

  static void OnPiece(NfsTransfer& piece) {
    NfsQueue& queue = *static_cast<NfsQueue*>(piece.owner);
    queue.EndOne(static_cast<uint32_t>((&piece - queue.pieces_.data()) / queue.pieces_each_));
  }

  void EndOne(uint32_t slot) {
    Flight& flight = flights_[slot];
    if (--flight.in_flight > 0) return;
    const NfsTransfer* const pieces = &pieces_[size_t{slot} * pieces_each_];
    for (uint32_t i = 0; i < flight.piece_count; ++i) {
      if (pieces[i].retries > 0) retried_->Note(flight.op, -EAGAIN, pieces[i].retries);
    }
    int64_t moved = 0;
    bool whole = true;  // so far, no piece was short
    for (uint32_t i = 0; i < flight.piece_count; ++i) {
      const NfsTransfer& piece = pieces[i];
      if (piece.errno_value != 0) {
        if (!has_failure()) failure_ = {piece.errno_value, piece.nfs_status, piece.offset + piece.moved};
        moved = -piece.errno_value;
        break;
      }
      if (whole) moved += piece.moved;
      whole = whole && piece.moved == piece.length;
    }
    ended_.push_back({slot, moved});
  }

  const std::string url_;
  const uint32_t depth_;
  const uint32_t longest_op_bytes_;
  SlotBuffers buffers_;
  NfsStability stability_ = NfsStability::kUnstable;
  std::vector<uint64_t> extents_;
  uint32_t pieces_each_ = 0;
  std::vector<NfsTransfer> pieces_;  // by slot, pieces_each_ for each
  std::vector<Flight> flights_;      // by slot
  std::vector<uint32_t> prepared_;
  std::vector<OpEnd> ended_;
  Failure failure_;
  Payload* payload_ = nullptr;
  FailedOps* retried_ = nullptr;  // the lane's
  // Declared after all of the above, so that it is destroyed first: its destructor may run callbacks that use them.
  std::unique_ptr<NfsConnection> connection_;
  std::vector<std::unique_ptr<NfsFile>> files_;
};

template <typename Clock>
class LibnfsEngine final : public IoEngine {
 public:
  explicit LibnfsEngine(const EngineOptions& options) : queue_(options), slots_(options.depth) {}

  absl::Status MakeReady(LaneContext& lane) override { return queue_.SetUp(lane); }

  absl::Status Open(const FileSet& files, const OpenMode& mode) override {
    IOBENCH_RETURN_IF_ERROR(Close());
    files_ = &files;
    return queue_.Open(files, mode);
  }

  LoopEnd Run(LaneContext& lane) override {
    queue_.BeginRun(lane);
    return RunQueue<Clock>(lane, slots_, queue_);
  }

  std::optional<FailedOp> Explain(const LoopEnd& end) const override {
    if (!queue_.has_failure()) return std::nullopt;
    const std::string path = files_->PathOf(end.failed_op.object);
    return FailedOp{queue_.Explain(end.failed_op, path), path};
  }

  absl::Status Flush() override { return queue_.Commit(timer()); }
  absl::Status FlushFile(uint32_t object, OpKind) override { return queue_.CommitOne(object, timer()); }

  absl::Status Close() override {
    absl::Status status = queue_.Commit(timer());
    queue_.Forget();
    return status;
  }

 private:
  const FileSet* files_ = nullptr;
  NfsQueue queue_;
  OpSlots slots_;
};

}  // namespace

std::unique_ptr<IoEngine> MakeLibnfsEngine(const EngineOptions& options) {
  return MakeForTicks<LibnfsEngine>(options);
}

}  // namespace iobench
