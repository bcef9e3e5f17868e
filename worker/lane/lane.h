// One I/O thread's part in a phase, from its files to its results.
#ifndef WORKER_LANE_LANE_H_
#define WORKER_LANE_LANE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/clock.h"
#include "common/live/latency_bins.h"
#include "common/time.h"
#include "iobench/v1/control.pb.h"
#include "worker/lane/lane_files.h"
#include "worker/lane/lane_setup.h"
#include "worker/lane/lane_work.h"
#include "worker/lane/timed_region.h"
#include "worker/metadata/tree_keeper.h"
#include "worker/prepare/phase_spec.h"
#include "worker/storage/directory.h"

namespace iobench {

// The outcome of a lane's steps before the start, for the phase's StepResults. Times are 0 for steps that were not
// needed.
struct LanePreparation {
  struct Times {
    int64_t create_ns = 0, prefill_ns = 0, forget_ns = 0, open_ns = 0, deferred_ns = 0;
  };
  Times times;
  uint64_t prefilled_bytes = 0;
  // How many bytes of the files were in this host's memory before the start; nullopt: unknown, or the lane reads
  // nothing.
  std::optional<uint64_t> resident_bytes;
  uint64_t file_bytes = 0;  // total size of these files
  // What of the files is not stored as it is read; nullopt: as above.
  std::optional<Unstored> unstored;
  std::vector<v1::FilePlace> places;  // of its files; empty: unknown
  TreePrepared tree;
};

// The lane's own thread calls the steps of a phase in the order in which they are declared. Steps return no status: the
// first failure is kept as problem(), and the later steps then do nothing but close; in a lane that sits out, no step
// does anything. Other threads may call Stop and Quit at any time, live() and AddLatenciesTo() after MakeReady, and the
// results only while the lane's thread waits or has ended.
class Lane {
 public:
  // `spec` and `directory` must outlive the lane. `directory` holds the files of all lanes of a target. It is null if
  // no files are used, or if `target` is a URL, to which each lane connects on its own.
  Lane(const PhaseSpec& spec, const v1::LanePlan& plan, const std::string& target,
       const Directory* directory);

  // ---- before the phase's start
  // Gives the calling thread a descriptor table of its own (own_descriptors.h), before it opens anything. Does nothing
  // for engines whose calls are made by other threads.
  void UnshareDescriptors();
  // Binds the calling thread to the processors of its slot, if the plan binds lanes.
  void Bind();
  // Makes the LaneSetup: everything that would take time later.
  void MakeReady();
  // If the operation writes new files: creates them, empty, in place of those of earlier phases.
  void CreateFiles();
  // If the operation needs data: writes it, or only checks it (data_must_exist). Also prepares a tree.
  void Prefill();
  // Drops the cached pages of the lane's files; the phase runner calls it for the step --drop-caches.
  void ForgetPages();
  // Notes what is known of the files: resident_bytes, unstored, places.
  void LookAtFiles();
  // Waits until the lanes that act together with this one are ready to open the files, or one of them says that it is not.
  // Nothing may fail between this and Open.
  void MeetOthers();
  // Opens the files, except with region.open, which opens them in the timed region.
  void Open();

  // ---- the timed region
  void BeginRegion(WorkerTime start);  // at the start; with region.open, opens the files
  void RunOps();                       // until done, stopped, failed, or the deadline
  bool waits_at_deadline() const;      // RunOps ended at the deadline and the plan has wear-out
  void RunToGoal(uint64_t ops_goal);   // the ops after the deadline
  void RecordStoppedAtDeadline();        // the lane was stopped before it got a goal
  void EndRegion();                    // fsync with region.fsync, always close

  // ---- after it
  // Completes unfinished files as far as later phases need them and flushes, so that these find what they need and no
  // written data is left in memory. Does nothing if nothing is left to do; Quit ends it.
  void Settle();
  // Writes the recorded ops to the trace file, and those logged with offset and latency, if the plan asks for them.
  void WriteTrace();
  // Releases files and buffers, but keeps the results. Call it on the lane's thread, which owns the descriptors.
  void Release();

  // The lane ends after the op in flight; its timed region then ends as usual, and Settle completes its files.
  void Stop() { stop_.stop.store(true, std::memory_order_relaxed); }
  void Quit();  // Stop, and leave unfinished files as they are

  bool takes_part() const { return !work_.plan.sits_out() && !failed(); }
  bool failed() const { return problem_.has_value(); }
  bool ended_by_itself() const;  // the ops ended without a stop, a failure or a wait at the deadline
  uint64_t ops() const;          // completed so far; only for the lane's thread, or while it waits
  uint64_t bytes_per_pass() const { return setup_ == nullptr ? 0 : setup_->stream().bytes_per_pass(); }
  uint64_t ops_per_pass() const { return setup_ == nullptr ? 0 : setup_->stream().ops_per_pass(); }
  const LiveCell* live() const { return setup_ == nullptr ? nullptr : &setup_->recorder().live(); }
  // Adds the latencies of its ops so far. Callable from any thread after MakeReady.
  void AddLatenciesTo(LatencyBins& bins) const {
    if (setup_ != nullptr) setup_->recorder().AddLatenciesTo(bins);
  }
  uint32_t number() const { return work_.plan.lane(); }
  uint32_t index_on_client() const { return work_.plan.index_on_client(); }
  const std::optional<v1::Problem>& problem() const { return problem_; }
  // An error if the lane found another run's data in place of its own. Only for lanes that open their directory
  // themselves.
  const absl::Status& lost_claim() const { return directory_.lost_claim(); }

  const LanePreparation& preparation() const { return preparation_; }
  // When the lane's ops ended, on the tick clock; 0: it did none.
  Ticks ops_end() const { return ran() ? setup_->recorder().ops_end() : Ticks{0}; }
  std::string OpLogFile() const { return work_.OpLogFile(); }
  std::string FirstFile() const { return work_.FirstFile(); }
  std::string engine_note() const { return setup_ == nullptr ? std::string() : setup_->engine_note(); }
  std::optional<v1::MpiIoFacts> mpi_io_facts() const { return region_ ? region_->outcome().mpi_io : std::nullopt; }
  int64_t pass_end_ns() const { return region_ ? region_->outcome().pass_end_ns : 0; }
  // The number of ops in the trace that was written, and of those left out of it because it was full.
  uint64_t traced_ops() const;
  uint64_t untraced_ops() const;
  bool quit_before_trace() const { return quit_before_trace_; }  // WriteTrace therefore wrote no trace
  // The same for the log of offsets and latencies.
  uint64_t logged_ops() const;
  uint64_t unlogged_ops() const;

  // Return the ends of the lane, and its whole result with a timeline that is exact around `instants`. Both convert
  // ticks with `scale`, which is built from two tick pairs around the phase. REQUIRES: EndRegion, or the lane does not
  // take part.
  v1::LaneEnds EndsOn(const TickScale& scale) const;
  // Whether Settle and WriteTrace have something to do, and what of it is to finish files or trees. REQUIRES: as EndsOn,
  // and Release was not called.
  bool HasTail() const;
  struct Unfinished {
    uint64_t ops = 0;
    uint64_t bytes = 0;  // 0 for names
  };
  Unfinished WhatIsUnfinished() const;
  // What Settle and WriteTrace have changed in a result. REQUIRES: they have ended.
  v1::LaneSettled Settled() const;
  // True if there is no tail and the timeline need not be thinned: the result takes no time, and needs no instants.
  // REQUIRES: as HasTail.
  bool HasShortResult() const;
  v1::LaneResult ResultOn(const TickScale& scale, std::span<const WorkerTime> instants) const;

 private:
  // The first failure counts; later ones change nothing.
  void Fail(const LaneFailure& failure);
  void FailUnlessOk(const absl::Status& status);  // OK: no failure; otherwise it concerns the first file
  absl::Status PrepareData();
  absl::Status CheckData();
  absl::Status CheckNothingLost();
  absl::Status FindLost();
  absl::Status CheckNothingReplaced();
  SeenIn InPhase() const;
  absl::Status Complete(uint64_t ops);
  absl::Status FlushWritten();
  absl::Status WriteData();
  void RecordContents();
  void RecordPlaces();
  bool ran() const { return region_ && region_->outcome().ran; }
  bool quits() const { return quit_.stop.load(std::memory_order_relaxed); }

  const LaneWork work_;
  LaneDirectory directory_;
  StopCell stop_, quit_;
  bool quit_before_trace_ = false;
  LanePreparation preparation_;
  std::unique_ptr<LaneSetup> setup_;   // null until MakeReady, or if it failed
  std::optional<TimedRegion> region_;  // if there is a set-up
  LostBytes lost_;
  int64_t settle_ns_ = 0;
  int64_t region_ns_ = 0;  // duration of the timed region
  std::optional<v1::Problem> problem_;
};

// True if all lanes have short results and there are only a few of them: some tens of KiB in all, which delay no ping
// on the same connection. REQUIRES: as Lane::HasShortResult. Defined in lane_result.cc.
bool HaveShortResults(std::span<const std::unique_ptr<Lane>> lanes);

}  // namespace iobench

#endif  // WORKER_LANE_LANE_H_
