// Workers in simulated time: messages have latency, clocks have offsets and drift, and a phase of an hour ends at once.
#ifndef TESTS_SUPPORT_SIMULATED_WORKERS_H_
#define TESTS_SUPPORT_SIMULATED_WORKERS_H_

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/digest/xxh3.h"
#include "common/text/units.h"
#include "common/transport/transport.h"

namespace iobench {

struct SimulatedWorker {
  v1::WorkerFacts facts;
  double offset_s = 0;            // offset of its clock at the start
  double drift_ppm = 0;           // drift of its clock from then on
  double lane_s = 1;              // duration of its only lane
  int64_t way_there_ns = 50'000;  // duration of a message to it …
  int64_t way_back_ns = 50'000;   // … and of its answer
  int pings_answered = INT_MAX;   // number of pings that it answers
  int ping_left_out = 0;          // number of the ping that it never answers; 0: none
  bool settles = false;           // it cannot report its results at once
  int polls_answered = INT_MAX;   // number of polls that it answers, each with 4 KiB more
  enum class Then { kSilent, kLost } then = Then::kSilent;  // after the last ping that it answers
};

// The coordinator's clock is now(), which advances only while the coordinator waits. One lane per worker, 1000 ops of 4
// KiB.
class SimulatedWorkers final : public Transport {
 public:
  explicit SimulatedWorkers(std::vector<SimulatedWorker> workers) : workers_(std::move(workers)) {
    for (WorkerId id = 0; id < workers_.size(); ++id) {
      v1::WorkerEvent joined;
      *joined.mutable_joined() = workers_[id].facts;
      events_.emplace(now_.ns, std::pair(id, joined));
    }
  }

  CoordTime now() const { return now_; }
  int64_t OnClockOf(WorkerId id, int64_t coord_ns) const {
    const SimulatedWorker& worker = workers_[id];
    return coord_ns + std::llround(worker.offset_s * 1e9) +
           std::llround(static_cast<double>(coord_ns - kBeginNs) * worker.drift_ppm * 1e-6);
  }
  int count(v1::WorkerRequest::BodyCase body) { return counts_[body]; }

  absl::Status Post(WorkerId id, const v1::WorkerRequest& request) override {
    ++counts_[request.body_case()];
    const int64_t here_ns = now_.ns + workers_[id].way_there_ns;
    v1::WorkerEvent event;
    event.set_call_id(request.call_id());
    const auto set_pong = [&](v1::Pong& pong) {
      pong.set_received_worker_ns(OnClockOf(id, here_ns));
      pong.set_replied_worker_ns(OnClockOf(id, here_ns));
    };
    switch (request.body_case()) {
      case v1::WorkerRequest::kPing:
        if (++pings_[id] > workers_[id].pings_answered) {
          if (workers_[id].then == SimulatedWorker::Then::kSilent) return absl::OkStatus();
          event.mutable_lost()->set_reason("its host is gone");
          break;
        }
        if (pings_[id] == workers_[id].ping_left_out) return absl::OkStatus();
        set_pong(*event.mutable_pong());
        break;
      case v1::WorkerRequest::kPoll:
        if (++polls_[id] > workers_[id].polls_answered) return absl::OkStatus();
        event.mutable_progress()->set_bytes(static_cast<uint64_t>(polls_[id]) * 4096);
        if (request.poll().latency()) {
          // As many ops as polls so far, all in the same bin.
          event.mutable_progress()->mutable_latency()->add_bin_gaps(100 + id);
          event.mutable_progress()->mutable_latency()->add_counts(polls_[id]);
        }
        set_pong(*event.mutable_progress()->mutable_pong());
        break;
      case v1::WorkerRequest::kInspect:
        for (int i = 0; i < request.inspect().targets_size(); ++i) {
          v1::TargetFacts& target = *event.mutable_inspected()->add_targets();
          target.set_filesystem_id("shared");
          target.set_network(true);
          target.set_free_bytes(1_GiB);
          target.set_logical_block_bytes(512);
        }
        break;
      case v1::WorkerRequest::kFileActions:
        for (const v1::FileAction& action : request.file_actions().actions()) {
          v1::FileActionResult& result = *event.mutable_file_actions_done()->add_results();
          if (action.what() == v1::FileAction::CREATE)
            check_files_[action.file()] = Xxh3Of(action.contents());
          if (action.what() == v1::FileAction::READ) result.set_contents_xxh3(check_files_[action.file()]);
        }
        break;
      case v1::WorkerRequest::kDataStep:
        event.mutable_data_step_done();
        break;
      case v1::WorkerRequest::kPrepare:
        lane_of_[id] = request.prepare().lanes(0).lane();
        event.mutable_prepared();
        break;
      case v1::WorkerRequest::kArm:
        Arm(id, request.arm().start_worker_ns(), event);
        if (request.arm().ping()) set_pong(*event.mutable_armed()->mutable_pong());
        break;
      case v1::WorkerRequest::kCollect:
        event.mutable_chunk()->set_last(true);
        if (request.collect().ping()) set_pong(*event.mutable_chunk()->mutable_pong());
        if (request.collect().ping() && workers_[id].settles) {
          event.mutable_chunk()->set_pending(true);
          break;
        }
        *event.mutable_chunk()->add_lanes() = results_[id];
        break;
      case v1::WorkerRequest::kAdjust:
        event.mutable_adjusted();
        break;
      default:
        return absl::OkStatus();
    }
    events_.emplace(here_ns + workers_[id].way_back_ns, std::pair(id, event));
    return absl::OkStatus();
  }

  absl::StatusOr<ReceivedEvent> WaitEvent(CoordTime deadline) override {
    if (events_.empty() || events_.begin()->first > deadline.ns) {
      now_ = std::max(now_, deadline);
      return absl::DeadlineExceededError("nothing");
    }
    auto [at_ns, sent] = *events_.begin();
    events_.erase(events_.begin());
    now_.ns = std::max(now_.ns, at_ns);
    return ReceivedEvent{sent.first, sent.second, {at_ns}};
  }
  bool ordered() const override { return true; }
  std::string name() const override { return "simulated"; }

 private:
  static constexpr int64_t kBeginNs = 1'000'000'000'000;

  void Arm(WorkerId id, int64_t start_worker_ns, v1::WorkerEvent& answer) {
    // Finds, by bisection, the coordinator's time at which the worker's clock shows its start time.
    int64_t low_ns = now_.ns - 1'000'000'000, high_ns = now_.ns + 100'000'000'000;
    while (high_ns - low_ns > 1) {
      const int64_t middle_ns = low_ns + (high_ns - low_ns) / 2;
      (OnClockOf(id, middle_ns) < start_worker_ns ? low_ns : high_ns) = middle_ns;
    }
    const int64_t end_ns = high_ns + std::llround(workers_[id].lane_s * 1e9);
    answer.mutable_armed()->set_margin_ns(high_ns - now_.ns - workers_[id].way_there_ns);

    v1::LaneResult& lane = results_[id];
    lane = {};
    lane.set_lane(lane_of_[id]);
    lane.set_file_owner(lane_of_[id]);
    lane.set_operation("read");
    lane.set_first_op_worker_ns(start_worker_ns);
    lane.set_ops_end_worker_ns(OnClockOf(id, end_ns));
    lane.set_region_end_worker_ns(lane.ops_end_worker_ns());
    lane.mutable_timeline()->add_at_worker_ns(start_worker_ns);
    lane.mutable_timeline()->add_bytes(0);
    lane.mutable_timeline()->add_ops(0);
    lane.mutable_timeline()->add_at_worker_ns(lane.ops_end_worker_ns() - start_worker_ns);
    lane.mutable_timeline()->add_bytes(1000 * 4_KiB);
    lane.mutable_timeline()->add_ops(1000);
    lane.set_bytes(1000 * 4_KiB);
    lane.set_ops(1000);
    lane.set_region_bytes(lane.bytes());
    lane.set_region_ops(lane.ops());

    v1::WorkerEvent ended;
    ended.mutable_lane_ended();
    const int64_t arrival_ns = end_ns + workers_[id].way_back_ns;
    events_.emplace(arrival_ns, std::pair(id, ended));
    v1::WorkerEvent done;
    v1::LaneEnds& ends = *done.mutable_lanes_done()->add_ends();
    ends.set_took_part(true);
    ends.set_has_ops(true);
    ends.set_first_op_worker_ns(lane.first_op_worker_ns());
    ends.set_ops_end_worker_ns(lane.ops_end_worker_ns());
    ends.set_region_end_worker_ns(lane.region_end_worker_ns());
    events_.emplace(arrival_ns, std::pair(id, done));
  }

  const std::vector<SimulatedWorker> workers_;
  CoordTime now_{kBeginNs};
  std::multimap<int64_t, std::pair<WorkerId, v1::WorkerEvent>> events_;  // by time of arrival
  std::map<WorkerId, int> pings_;
  std::map<WorkerId, int> polls_;
  std::map<WorkerId, uint32_t> lane_of_;
  std::map<uint32_t, uint64_t> check_files_;  // on the shared storage: hash by file number
  std::map<WorkerId, v1::LaneResult> results_;
  std::map<v1::WorkerRequest::BodyCase, int> counts_;
};

}  // namespace iobench

#endif  // TESTS_SUPPORT_SIMULATED_WORKERS_H_
