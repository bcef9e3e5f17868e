// A whole run with a hostile worker among three: each of its events is a perfect worker's, with the next message of the
// input merged into it, or replaced by that message if it has call id 1. Whatever the worker says, the run ends with a
// documented exit code, and its report can be rendered. Time is simulated.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/plan/plan_check.h"
#include "spdlog/spdlog.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/messages.h"
#include "tests/fuzz/rendered.h"
#include "tests/unit/conductor_run.h"

using namespace iobench;

namespace {

constexpr size_t kMaxParts = 64;
constexpr WorkerId kHostile = 1;
constexpr uint64_t kMaxRequests = 100'000;  // to one worker: more is a loop

// The worker whose answers the input determines.
class HostileWorker {
 public:
  explicit HostileWorker(std::vector<std::string> parts) : parts_(std::move(parts)) {}

  void Change(std::vector<v1::WorkerEvent>& events) {
    std::vector<v1::WorkerEvent> more;
    for (v1::WorkerEvent& event : events) {
      if (next_ == parts_.size()) break;
      v1::WorkerEvent change;
      if (!change.ParseFromString(parts_[next_++])) continue;
      const bool fits = IsAnswer(change) || change.body_case() == event.body_case();
      if (!fits && change.call_id() == 1) {
        more.push_back(std::move(change));
      } else if (change.call_id() == 1) {
        event = std::move(change);
      } else if (fits) {
        Merge(std::move(change), event);
      }
    }
    for (v1::WorkerEvent& event : more) events.push_back(std::move(event));
  }

 private:
  static v1::ResultChunk* ResultsIn(v1::WorkerEvent& event) {
    if (event.has_chunk()) return event.mutable_chunk();
    return event.lanes_done().has_results() ? event.mutable_lanes_done()->mutable_results() : nullptr;
  }
  // Changes the results of lanes that are there, instead of adding others.
  static void Merge(v1::WorkerEvent change, v1::WorkerEvent& event) {
    v1::ResultChunk* from = ResultsIn(change);
    v1::ResultChunk* to = ResultsIn(event);
    if (from != nullptr && to != nullptr) {
      google::protobuf::RepeatedPtrField<v1::LaneResult> lanes;
      lanes.Swap(from->mutable_lanes());
      for (int i = 0; i < lanes.size(); ++i)
        (i < to->lanes_size() ? to->mutable_lanes(i) : to->add_lanes())->MergeFrom(lanes[i]);
    }
    event.MergeFrom(change);
  }
  // Other events come besides the answer.
  static bool IsAnswer(const v1::WorkerEvent& event) {
    return !event.has_lost() && !event.has_lanes_done() && !event.has_lane_ended() &&
           !event.has_deadline_reached();
  }

  std::vector<std::string> parts_;
  size_t next_ = 0;
};

// Returns a plan of empty phases, with a goal of ops, or with data: a phase that writes, and another that reads its
// files.
v1::Plan PlanOf(uint8_t kind) {
  v1::Plan plan = EmptyPhases(2, 2);
  v1::Phase& phase = *plan.mutable_phases(0);
  if (kind % 4 == 1) {
    phase.mutable_stop()->set_deadline_s(0.001);
    phase.mutable_stop()->set_wear_out(true);
  }
  if (kind % 4 >= 2) {
    phase.mutable_assignments(0)->mutable_operation()->set_engine("posix");
    if (kind % 4 == 3) *plan.add_phases() = phase;
    plan.mutable_phases(0)->mutable_assignments(0)->mutable_operation()->set_name("write");
    for (v1::Phase& each : *plan.mutable_phases()) each.clear_name();
    CompletePlan(plan);
  }
  return plan;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  spdlog::set_level(spdlog::level::off);  // the coordinator names every fault
  google::protobuf::SetLogHandler(nullptr);
  HostileWorker hostile(PartsOf(data + 1, size - 1, kMaxParts));
  Run run;
  run.plan = PlanOf(data[0]);
  // As with very many workers: they send their results when their lanes have ended.
  if (data[0] & 4) run.max_burst_clocks = 0;
  run.patience.stall_after_ns = 10 * kNanosPerSecond;
  run.phase_timeout_ns = 20 * kNanosPerSecond;
  PerfectWorkers perfect_copy;
  uint64_t request_count = 0;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (id != kHostile) return false;
    Require(++request_count < kMaxRequests, "a run ends");
    perfect_copy.clock = run.perfect.clock;
    events = perfect_copy(id, request);
    if (request.has_poll()) events.emplace_back().mutable_progress();
    run.perfect.clock.AdvanceTo(perfect_copy.clock.now);
    hostile.Change(events);
    return true;
  };
  const int exit_code = run.Go();
  Require(exit_code >= 0 && exit_code <= 3, "the exit code is documented: " + std::to_string(exit_code));
  v1::RunReport report = run.conductor->report();
  for (const v1::PhaseReport& phase : run.phases) Require(!phase.name().empty(), "a phase has a name");
  report.clear_phases();
  for (const v1::PhaseReport& phase : run.phases) *report.add_phases() = phase;
  Render(report);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  if (size < 2) return LLVMFuzzerMutate(data, size, max_size);
  return 1 + MutateParts(data + 1, size - 1, max_size - 1, seed,
                         [](size_t) { return std::make_unique<v1::WorkerEvent>(); });
}
