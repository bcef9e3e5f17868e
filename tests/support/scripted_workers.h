// A Transport with fake workers that answer by script, at once and on the calling thread. For situations that real
// workers cannot produce on demand (a late answer, a loss during a phase, another version).
#ifndef TESTS_SUPPORT_SCRIPTED_WORKERS_H_
#define TESTS_SUPPORT_SCRIPTED_WORKERS_H_

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/transport/transport.h"

namespace iobench {

class ScriptedWorkers final : public Transport {
 public:
  // Handles a worker's request: returns the events that it sends.
  using Script = std::function<std::vector<v1::WorkerEvent>(WorkerId, const v1::WorkerRequest&)>;

  ScriptedWorkers(std::vector<v1::WorkerFacts> facts, Script script) : script_(std::move(script)) {
    for (WorkerId id = 0; id < facts.size(); ++id) {
      v1::WorkerEvent joined;
      *joined.mutable_joined() = facts[id];
      events_.push_back({id, joined, CoordNow()});
    }
  }

  absl::Status Post(WorkerId worker, const v1::WorkerRequest& request) override {
    posted.push_back({worker, request});
    for (v1::WorkerEvent& event : script_(worker, request)) {
      if (!event.has_lost() && !event.has_lanes_done() && !event.has_lane_ended() &&
          !event.has_deadline_reached()) {
        event.set_call_id(request.call_id());
      }
      events_.push_back({worker, event, CoordNow()});
    }
    return absl::OkStatus();
  }
  absl::StatusOr<ReceivedEvent> WaitEvent(CoordTime deadline) override {
    if (events_.empty()) {
      WorkerClock().SleepUntil({deadline.ns});
      return absl::DeadlineExceededError("nothing");
    }
    ReceivedEvent event = std::move(events_.front());
    events_.pop_front();
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
  Script script_;
  std::deque<ReceivedEvent> events_;
  bool ordered_ = true;
};

}  // namespace iobench

#endif  // TESTS_SUPPORT_SCRIPTED_WORKERS_H_
