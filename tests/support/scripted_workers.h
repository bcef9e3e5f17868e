// A Transport with fake workers that answer by script, on the calling thread and in simulated time. For situations that
// real workers cannot produce on demand (a late answer, a loss during a phase, another version).
#ifndef TESTS_SUPPORT_SCRIPTED_WORKERS_H_
#define TESTS_SUPPORT_SCRIPTED_WORKERS_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/time.h"
#include "common/transport/transport.h"

namespace iobench {

// The coordinator's clock in tests: it moves only when told to. Not thread-safe.
struct ManualClock {
  CoordTime now{1'000'000'000'000};

  void Advance(int64_t ns) { now = now + ns; }
  void AdvanceTo(CoordTime time) { now = std::max(now, time); }
};

// Time passes while a message is on its way, kWayNs in each direction, and while the coordinator waits for events that
// do not come. A script may let more time pass. The clock must outlive this object; the coordinator must use it, too.
class ScriptedWorkers final : public Transport {
 public:
  static constexpr int64_t kWayNs = 1'000;

  // Handles a worker's request: returns the events that it sends. Joined is that of a new worker, with the next id.
  using Script = std::function<std::vector<v1::WorkerEvent>(WorkerId, const v1::WorkerRequest&)>;

  ScriptedWorkers(ManualClock& clock, std::vector<v1::WorkerFacts> facts, Script script)
      : clock_(clock), script_(std::move(script)) {
    for (WorkerId& id = joined_count_; id < facts.size(); ++id) {
      v1::WorkerEvent joined;
      *joined.mutable_joined() = facts[id];
      events_.push_back({id, joined, clock_.now});
    }
  }

  absl::Status Post(WorkerId worker, const v1::WorkerRequest& request) override {
    posted.push_back({worker, request});
    clock_.Advance(kWayNs);
    std::vector<v1::WorkerEvent> answers = script_(worker, request);
    clock_.Advance(kWayNs);
    CoordTime at = clock_.now;  // none overtakes another
    for (v1::WorkerEvent& event : answers) {
      if (!event.has_lost() && !event.has_lanes_done() && !event.has_lane_ended() &&
          !event.has_deadline_reached()) {
        event.set_call_id(request.call_id());
      }
      at = std::max(at, ArrivalOf(event));
      Queue({event.has_joined() ? joined_count_++ : worker, event, at});
    }
    return absl::OkStatus();
  }
  absl::StatusOr<ReceivedEvent> WaitEvent(CoordTime deadline) override {
    if (events_.empty() || events_.front().received_at > std::max(deadline, clock_.now)) {
      clock_.AdvanceTo(deadline);
      return absl::DeadlineExceededError("nothing");
    }
    ReceivedEvent event = std::move(events_.front());
    events_.pop_front();
    clock_.AdvanceTo(event.received_at);
    return event;
  }
  bool ordered() const override { return ordered_; }
  std::string name() const override { return "scripted"; }
  void set_ordered(bool ordered) { ordered_ = ordered; }

  struct Posted {
    WorkerId worker;
    v1::WorkerRequest request;
  };
  std::vector<Posted> posted;

 private:
  // Results do not arrive before the lanes have ended, on a worker whose clock is the coordinator's.
  CoordTime ArrivalOf(const v1::WorkerEvent& event) const {
    CoordTime at = clock_.now;
    if (!event.lanes_done().has_results()) return at;
    for (const v1::LaneEnds& ends : event.lanes_done().ends()) {
      at = std::max(at, CoordTime{ends.region_end_worker_ns()});
    }
    return at;
  }
  void Queue(ReceivedEvent received) {
    const auto next =
        std::upper_bound(events_.begin(), events_.end(), received.received_at,
                         [](CoordTime at, const ReceivedEvent& queued) { return at < queued.received_at; });
    events_.insert(next, std::move(received));
  }

  ManualClock& clock_;
  Script script_;
  std::deque<ReceivedEvent> events_;
  WorkerId joined_count_ = 0;
  bool ordered_ = true;
};

}  // namespace iobench

#endif  // TESTS_SUPPORT_SCRIPTED_WORKERS_H_
