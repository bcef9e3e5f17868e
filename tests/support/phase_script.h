// A hand-written phase for tests of the analysis: "Lane(2).Moves(5_GiB).EndsAt(10_s)". Times are seconds after T on the
// coordinator's clock; the script converts them to each worker's own clock, as a worker would record them.
#ifndef TESTS_SUPPORT_PHASE_SCRIPT_H_
#define TESTS_SUPPORT_PHASE_SCRIPT_H_

#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/histogram.h"
#include "common/text/units.h"
#include "common/time.h"
#include "common/timeline.h"
#include "coordinator/analysis/summarize.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

inline constexpr double operator""_s(long double seconds) {
  return static_cast<double>(seconds);
}
inline constexpr double operator""_s(unsigned long long seconds) {
  return static_cast<double>(seconds);
}
inline constexpr double operator""_ms(unsigned long long ms) {
  return static_cast<double>(ms) / 1e3;
}

inline constexpr double kMiB = 1048576.0;
inline constexpr double kGiB = 1073741824.0;

// T of every scripted phase.
inline constexpr int64_t kStartCoordNs = 5'000'000'000'000;
inline CoordTime CoordAt(double seconds) {
  return {kStartCoordNs + std::llround(seconds * 1e9)};
}

class LaneScript {
 public:
  LaneScript& StartsAt(double s) { return start_s_ = s, *this; }
  LaneScript& EndsAt(double s) { return end_s_ = s, *this; }           // end of its ops
  LaneScript& Moves(uint64_t bytes) { return bytes_ = bytes, *this; }  // evenly, until its end
  LaneScript& InOps(uint64_t ops) { return ops_ = ops, *this; }
  LaneScript& Fsyncs(double s) { return fsync_s_ = s, *this; }
  LaneScript& Closes(double s) { return close_s_ = s, *this; }
  LaneScript& FlushCalls(v1::OpKind call, uint64_t ns, uint64_t count) {
    Histogram histogram;
    for (uint64_t i = 0; i < count; ++i) histogram.Add(ns);
    v1::KindResult& result = calls_.emplace_back();
    result.set_kind(call);
    result.set_ops(count);
    *result.mutable_latency() = histogram.ToProto();
    return *this;
  }
  LaneScript& Opens(double s) { return open_s_ = s, *this; }
  LaneScript& IsStopped() { return stopped_ = true, *this; }
  LaneScript& FinishesUnmeasured(uint64_t bytes) { return tail_bytes_ = bytes, *this; }
  LaneScript& NeverStarts() { return never_starts_ = stopped_ = true, *this; }
  LaneScript& SitsOut() { return sat_out_ = true, *this; }
  LaneScript& FailsWith(int errno_value) { return errno_value_ = errno_value, *this; }
  LaneScript& HasDeadlineAt(double s) { return deadline_s_ = s, *this; }
  // A pass moves `bytes`; its first one ended then, and another one began.
  LaneScript& LoopsOver(uint64_t bytes, double first_pass_end_s) {
    return pass_bytes_ = bytes, first_pass_end_s_ = first_pass_end_s, *this;
  }
  LaneScript& WorksOnFilesOf(uint32_t lane) { return owner_ = static_cast<int64_t>(lane), *this; }
  LaneScript& Writes(double share = 1) {
    return write_share_ = share, *this;
  }  // share of its ops; the others read
  LaneScript& OpsTake(double s) { return op_s_ = s, *this; }
  LaneScript& ToolTakes(double s) { return tool_s_ = s, *this; }
  LaneScript& LastOpEndsAt(double s) { return last_op_s_ = s, *this; }
  LaneScript& UsesCpu(double s) { return cpu_s_ = s, *this; }
  LaneScript& Stalls(double from_s, double until_s) {
    return stall_from_s_ = from_s, stall_until_s_ = until_s, *this;
  }
  // A time of 1 s or more without the end of an op; of a lane with any, Stalls is not needed.
  LaneScript& Gap(double from_s, double until_s, bool flushed = false) {
    return gaps_.push_back({from_s, until_s, flushed}), *this;
  }
  LaneScript& OneOpTakes(double s) { return long_ops_s_.push_back(s), *this; }  // besides the usual ones
  LaneScript& WaitsForProcessor(double s) { return run_delay_s_ = s, *this; }
  LaneScript& Pauses(double s) { return pause_s_ = s, *this; }      // excluded from the lane's own time
  LaneScript& WorksOnData(double s) { return data_s_ = s, *this; }  // generating and checking data
  LaneScript& HadInMemory(uint64_t bytes) { return resident_bytes_ = static_cast<int64_t>(bytes), *this; }
  // It has a file on these storage targets.
  LaneScript& HasFileOn(const std::vector<std::string>& targets) {
    v1::FilePlace& place = places_.emplace_back();
    place.mutable_storage_targets()->Assign(targets.begin(), targets.end());
    return *this;
  }
  LaneScript& HasHoles(uint64_t bytes) { return hole_bytes_ = bytes, *this; }
  LaneScript& IsCompressed(uint64_t bytes) { return compressed_bytes_ = bytes, *this; }
  LaneScript& Verifies(uint64_t sectors) { return verify_.set_sectors(sectors), *this; }
  LaneScript& Finds(v1::Mismatch::What what, const std::string& name, uint64_t count) {
    verify_.set_mismatched(verify_.mismatched() + count);
    (*verify_.mutable_counts())[name] += count;
    for (uint64_t i = 0; i < count && verify_.first_size() < 10; ++i) {
      v1::Mismatch& mismatch = *verify_.add_first();
      mismatch.set_what(what);
      mismatch.set_file("/mnt/test/file");
      mismatch.set_offset(512 * i);
      mismatch.set_expected("generation 2");
      mismatch.set_found("generation 1 by lane 0");
    }
    return *this;
  }
  // Adds a point after the origin to a custom timeline.
  LaneScript& Point(double s, uint64_t bytes, uint64_t ops) {
    return points_.push_back({s, bytes, ops}), *this;
  }

  v1::LaneResult Result(uint32_t number, int64_t clock_offset_ns) const {
    v1::LaneResult lane;
    lane.set_lane(number);
    lane.set_file_owner(owner_ < 0 ? number : static_cast<uint32_t>(owner_));
    lane.set_sat_out(sat_out_);
    lane.set_stopped(stopped_);
    lane.set_file("lane" + std::to_string(number));
    lane.set_operation(write_share_ == 0 ? "read" : write_share_ == 1 ? "write" : "random-mix");
    if (errno_value_ != 0) {
      lane.mutable_problem()->set_code(13);
      lane.mutable_problem()->set_errno_value(errno_value_);
      lane.mutable_problem()->set_message("scripted failure");
      lane.mutable_problem()->set_offset(4096);
    }
    if (sat_out_ || never_starts_) return lane;
    const auto on_worker = [&](double s) { return CoordAt(s).ns + clock_offset_ns; };
    lane.set_first_op_worker_ns(on_worker(start_s_));
    lane.set_ops_end_worker_ns(on_worker(end_s_));
    lane.set_region_end_worker_ns(on_worker(end_s_ + fsync_s_ + close_s_));
    if (last_op_s_ >= 0) lane.set_last_op_worker_ns(on_worker(last_op_s_));
    lane.set_open_s(open_s_);
    lane.set_fsync_s(fsync_s_);
    lane.set_close_s(close_s_);
    lane.set_region_bytes(bytes_);
    lane.set_region_ops(ops_);
    lane.set_bytes(bytes_ + tail_bytes_);
    lane.set_ops(ops_);
    lane.set_tool_s(tool_s_);
    lane.set_cpu_system_s(cpu_s_);
    lane.set_stall_begin_worker_ns(on_worker(stall_from_s_));
    lane.set_stall_end_worker_ns(on_worker(stall_until_s_));
    for (const ScriptedGap& scripted : gaps_) {
      v1::Gap& gap = *lane.add_gaps();
      gap.set_begin_worker_ns(on_worker(scripted.from_s));
      gap.set_end_worker_ns(on_worker(scripted.until_s));
      gap.set_flushed(scripted.flushed);
    }
    if (run_delay_s_ >= 0) lane.set_run_delay_s(run_delay_s_);
    lane.set_pause_s(pause_s_);
    lane.set_data_s(data_s_);
    if (resident_bytes_ >= 0) lane.set_resident_bytes(static_cast<uint64_t>(resident_bytes_));
    lane.mutable_places()->Assign(places_.begin(), places_.end());
    lane.set_hole_bytes(hole_bytes_);
    lane.set_compressed_bytes(compressed_bytes_);
    lane.set_between_s(pause_s_ + data_s_);
    if (verify_.sectors() > 0) *lane.mutable_verify() = verify_;
    if (deadline_s_ >= 0) lane.set_deadline_worker_ns(on_worker(deadline_s_));
    if (pass_bytes_ > 0) {
      lane.set_bytes_per_pass(pass_bytes_);
      lane.set_passes(bytes_ / pass_bytes_);
      lane.set_pass_ops(bytes_ % pass_bytes_ * ops_ / bytes_);
      if (first_pass_end_s_ >= 0) lane.set_first_pass_end_worker_ns(on_worker(first_pass_end_s_));
    }
    std::vector<WorkerPoint> points = {{{on_worker(start_s_)}, 0, 0}};
    if (points_.empty()) {
      for (uint64_t op = 1; op <= ops_; ++op) {
        const double at_s =
            start_s_ + (end_s_ - start_s_) * static_cast<double>(op) / static_cast<double>(ops_);
        points.push_back({{on_worker(at_s)}, bytes_ * op / ops_, op});
      }
    }
    for (const ScriptedPoint& point : points_)
      points.push_back({{on_worker(point.at_s)}, point.bytes, point.ops});
    *lane.mutable_timeline() = ToProto(points);
    AddKind(v1::OP_READ, 1 - write_share_, lane);
    AddKind(v1::OP_WRITE, write_share_, lane);
    for (const v1::KindResult& call : calls_) *lane.add_calls() = call;
    return lane;
  }

 private:
  struct ScriptedGap {
    double from_s, until_s;
    bool flushed;
  };
  struct ScriptedPoint {
    double at_s;
    uint64_t bytes, ops;
  };

  void AddKind(v1::OpKind kind, double share, v1::LaneResult& lane) const {
    if (share == 0) return;
    v1::KindResult& result = *lane.add_kinds();
    result.set_kind(kind);
    result.set_bytes(static_cast<uint64_t>(share * static_cast<double>(bytes_)));
    result.set_ops(static_cast<uint64_t>(std::llround(share * static_cast<double>(ops_))));
    const double op_s = op_s_ > 0 ? op_s_ : (end_s_ - start_s_ - pause_s_) / static_cast<double>(ops_);
    Histogram histogram;
    for (uint64_t i = 0; i < result.ops(); ++i)
      histogram.Add(static_cast<uint64_t>(std::llround(op_s * 1e9)));
    for (const double long_op_s : long_ops_s_) histogram.Add(static_cast<uint64_t>(std::llround(long_op_s * 1e9)));
    *result.mutable_latency() = histogram.ToProto();
  }

  double start_s_ = 0, end_s_ = 10, fsync_s_ = 0, close_s_ = 0, open_s_ = 0, deadline_s_ = -1,
         last_op_s_ = -1, op_s_ = 0, tool_s_ = 0, pause_s_ = 0, data_s_ = 0, cpu_s_ = 0, stall_from_s_ = 0,
         stall_until_s_ = 0;
  double run_delay_s_ = -1;  // negative: unknown
  std::vector<ScriptedGap> gaps_;
  std::vector<double> long_ops_s_;
  std::vector<v1::KindResult> calls_;
  std::vector<v1::FilePlace> places_;
  uint64_t pass_bytes_ = 0;        // 0: unknown
  double first_pass_end_s_ = -1;  // -1: no other pass began
  int64_t resident_bytes_ = -1;  // -1: unknown
  uint64_t hole_bytes_ = 0, compressed_bytes_ = 0;
  double write_share_ = 0;
  uint64_t bytes_ = 10_GiB, ops_ = 1000, tail_bytes_ = 0;
  bool stopped_ = false, never_starts_ = false, sat_out_ = false;
  int errno_value_ = 0;
  int64_t owner_ = -1;
  v1::VerifyResult verify_;
  std::vector<ScriptedPoint> points_;
};

class WorkerScript {
 public:
  // The worker's clock shows the coordinator's time + offset, known to +- error at `bursts_at_s` (the pings give these
  // bounds).
  WorkerScript& HasClock(double offset_s, double error_s, std::vector<double> bursts_at_s = {0}) {
    offset_ns_ = std::llround(offset_s * 1e9);
    for (const double at_s : bursts_at_s) Burst(at_s, offset_s, error_s);
    return *this;
  }
  WorkerScript& Burst(double at_s, double offset_s, double error_s) {
    v1::PingSample& sample = *bursts_.emplace_back().add_samples();
    sample.set_sent_coord_ns(CoordAt(at_s - error_s).ns);
    sample.set_received_worker_ns(CoordAt(at_s).ns + std::llround(offset_s * 1e9));
    sample.set_replied_worker_ns(sample.received_worker_ns());
    sample.set_returned_coord_ns(CoordAt(at_s + error_s).ns);
    return *this;
  }
  WorkerScript& IsLost(const std::string& reason) { return lost_reason_ = reason, *this; }
  WorkerScript& SaysDoneAt(double s) { return done_s_ = s, *this; }
  WorkerScript& RunsOn(const std::string& host_name, const std::string& boot_id) {
    facts.set_host(host_name);
    facts.set_boot_id(boot_id);
    return *this;
  }

  v1::WorkerFacts facts;
  v1::WorkerTargets targets;
  v1::HostDelta host;
  v1::BufferPages buffers;
  std::optional<v1::MpiIoFacts> mpi_io;
  double process_cpu_s = 0;
  std::vector<v1::StepResult> steps;
  bool has_lanes = true;

 private:
  friend class PhaseScript;
  int64_t offset_ns_ = 0;
  std::vector<v1::PingBurst> bursts_;
  std::string lost_reason_;
  double done_s_ = -1;
};

class PhaseScript {
 public:
  explicit PhaseScript(const std::string& operation = "read", uint32_t lanes_per_worker = 1) {
    run.mutable_plan()->set_lanes_per_worker(lanes_per_worker);
    run.mutable_plan()->add_targets()->set_path("/mnt/test");
    phase.set_start_coord_ns(kStartCoordNs);
    phase.set_start_attempts(1);
    plan().set_stonewall(v1::STONEWALL_RETROACTIVE);
    v1::Operation& first = *plan().add_assignments()->mutable_operation();
    first.set_name(operation);
    first.set_engine("posix");
    first.set_record_bytes(1_MiB);
  }

  v1::Phase& plan() { return *phase.mutable_phase(); }
  v1::Operation& operation() { return *plan().mutable_assignments(0)->mutable_operation(); }
  LaneScript& Lane(uint32_t number) {
    Worker(number / run.plan().lanes_per_worker());
    return lanes_[number];
  }
  // Creates the worker at first use, on host node1 with a working local file system.
  WorkerScript& Worker(uint32_t number) {
    while (workers_.size() <= number) {
      WorkerScript& worker = workers_.emplace_back();
      worker.RunsOn("node1", "boot1");
      worker.facts.set_kernel("6.1.0");
      worker.facts.set_clock("tsc");
      v1::TargetFacts& target = *worker.targets.add_targets();
      target.set_filesystem("ext4");
      target.set_filesystem_id("8:1");
      target.set_boot_id("boot1");
    }
    return workers_[number];
  }

  v1::PhaseRecord Record() const {
    v1::PhaseRecord record = phase;
    for (uint32_t number = 0; number < workers_.size(); ++number) {
      const WorkerScript& script = workers_[number];
      v1::WorkerPhaseResult& worker = *record.add_workers();
      worker.set_worker(number);
      for (const v1::PingBurst& burst : script.bursts_) *worker.add_bursts() = burst;
      for (const v1::StepResult& step : script.steps) *worker.add_steps() = step;
      *worker.mutable_host() = script.host;
      worker.set_process_cpu_user_s(script.process_cpu_s);
      if (!script.lost_reason_.empty()) {
        worker.set_lost(true);
        worker.set_lost_reason(script.lost_reason_);
        worker.set_last_known_bytes(123);
      }
      if (script.buffers.bytes() > 0) *worker.mutable_buffers() = script.buffers;
      if (script.mpi_io) *worker.mutable_mpi_io() = *script.mpi_io;
      if (script.done_s_ >= 0) worker.set_done_coord_ns(CoordAt(script.done_s_).ns);
      if (!script.has_lanes) continue;
      for (const auto& [lane, lane_script] : lanes_) {
        if (lane / run.plan().lanes_per_worker() == number) {
          *worker.add_lanes() = lane_script.Result(lane, script.offset_ns_);
        }
      }
    }
    return record;
  }
  v1::RunRecord Run() const {
    v1::RunRecord record = run;
    for (const WorkerScript& worker : workers_) {
      *record.add_workers() = worker.facts;
      *record.add_targets() = worker.targets;
    }
    return record;
  }
  v1::PhaseReport Report() const { return SummarizePhase(Run(), Record()); }

  v1::RunRecord run;      // workers and targets are added by Run()
  v1::PhaseRecord phase;  // workers are added by Record()

 private:
  std::deque<WorkerScript> workers_;
  std::map<uint32_t, LaneScript> lanes_;
};

// The first lane ends at 5 s with 5 GiB, the second at 10 s with 10 GiB: the stonewall is 10 GiB in 5 s.
inline PhaseScript TwoLanes(const std::string& operation = "read") {
  PhaseScript script(operation);
  script.Lane(0).Moves(5_GiB).EndsAt(5_s).InOps(1000);
  script.Lane(1).Moves(10_GiB).EndsAt(10_s).InOps(2000);
  return script;
}

}  // namespace iobench

#endif  // TESTS_SUPPORT_PHASE_SCRIPT_H_
