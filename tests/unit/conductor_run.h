// Runs the conductor in simulated time with scripted workers, which behave perfectly unless a test overrides it.
#ifndef TESTS_UNIT_CONDUCTOR_RUN_H_
#define TESTS_UNIT_CONDUCTOR_RUN_H_

#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/digest/xxh3.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/conduct/conductor.h"
#include "coordinator/conduct/plan_phases.h"
#include "coordinator/plan/plan_builder.h"
#include "coordinator/process/failure.h"
#include "tests/support/scripted_workers.h"

namespace iobench {

inline v1::WorkerFacts Facts(const std::string& host, const std::string& version = "1.0") {
  v1::WorkerFacts facts;
  facts.set_host(host);
  facts.set_boot_id("boot of " + host);
  facts.set_program_version(version);
  return facts;
}

// Events for scripts of workers.
inline v1::WorkerEvent ArmedInTime() {
  v1::WorkerEvent event;
  event.mutable_armed()->set_margin_ns(1'000'000'000);
  return event;
}
inline v1::WorkerEvent AtDeadline(uint64_t max_ops) {
  v1::WorkerEvent event;
  event.mutable_deadline_reached()->set_max_ops(max_ops);
  return event;
}
inline v1::WorkerEvent Done() {
  v1::WorkerEvent event;
  event.mutable_lanes_done();
  return event;
}
// One lane that began at `start_ns`, with the given durations of its ops and region.
inline v1::WorkerEvent DoneAfter(int64_t start_ns, int64_t ops_ns, int64_t region_ns) {
  v1::WorkerEvent event;
  v1::LaneEnds& ends = *event.mutable_lanes_done()->add_ends();
  ends.set_took_part(true);
  ends.set_has_ops(true);
  ends.set_first_op_worker_ns(start_ns);
  ends.set_ops_end_worker_ns(start_ns + ops_ns);
  ends.set_region_end_worker_ns(start_ns + region_ns);
  return event;
}
inline v1::WorkerEvent Lost(const std::string& reason) {
  v1::WorkerEvent event;
  event.mutable_lost()->set_reason(reason);
  return event;
}

// 4 KiB in one op of 1 ms.
inline v1::LaneResult ResultOf(const v1::LanePlan& plan, int64_t start_ns) {
  v1::LaneResult result;
  result.set_lane(plan.lane());
  result.set_file_owner(plan.file_owner());
  result.set_operation("read");
  result.set_sat_out(plan.sits_out());
  if (plan.sits_out()) return result;
  result.set_first_op_worker_ns(start_ns);
  result.set_ops_end_worker_ns(start_ns + 1'000'000);
  result.set_region_end_worker_ns(start_ns + 1'000'000);
  for (const uint64_t total : {0_KiB, 4_KiB}) {  // delta-coded
    result.mutable_timeline()->add_at_worker_ns(total == 0 ? start_ns : 1'000'000);
    result.mutable_timeline()->add_bytes(total);
    result.mutable_timeline()->add_ops(total / 4_KiB);
  }
  result.set_bytes(4_KiB);
  result.set_ops(1);
  result.set_region_bytes(4_KiB);
  result.set_region_ops(1);
  return result;
}

// Workers that handle every request perfectly: each lane 4 KiB in 1 ms per phase. A test overrides what it tests.
struct PerfectWorkers {
  ManualClock clock;  // the coordinator's, and that of workers on hosts without an offset
  std::function<bool(WorkerId, const v1::WorkerRequest&, std::vector<v1::WorkerEvent>&)>
      instead;  // true: handled
  std::map<WorkerId, int64_t> start_ns;
  std::map<WorkerId, uint32_t> lane;  // the first lane of each
  std::map<WorkerId, std::vector<v1::LanePlan>> lane_plans;
  // The storage that holds a worker's check files: the same for all, unless a test says otherwise.
  std::function<std::string(WorkerId)> storage_of = [](WorkerId) { return "shared"; };
  std::map<std::pair<std::string, uint32_t>, std::string> check_files;  // by storage and number

  v1::FileActionResult Act(WorkerId id, const v1::FileAction& action) {
    v1::FileActionResult result;
    const std::pair key(storage_of(id), action.file());
    if (action.what() == v1::FileAction::CREATE) check_files[key] = action.contents();
    if (action.what() == v1::FileAction::REMOVE) check_files.erase(key);
    if (action.what() != v1::FileAction::READ) return result;
    const auto found = check_files.find(key);
    if (found == check_files.end()) {
      *result.mutable_problem() = ToProblem(ErrnoStatus("open it", ENOENT));
    } else {
      result.set_contents_xxh3(Xxh3Of(found->second));
    }
    return result;
  }

  v1::Pong Pong() const {
    v1::Pong pong;
    pong.set_received_worker_ns(clock.now.ns);
    pong.set_replied_worker_ns(clock.now.ns);
    return pong;
  }

  void AddResults(WorkerId id, v1::ResultChunk& chunk) {
    chunk.set_last(true);
    for (const v1::LanePlan& plan : lane_plans[id]) *chunk.add_lanes() = ResultOf(plan, start_ns[id]);
  }

  std::vector<v1::WorkerEvent> operator()(WorkerId id, const v1::WorkerRequest& request) {
    std::vector<v1::WorkerEvent> events;
    if (instead && instead(id, request, events)) return events;
    v1::WorkerEvent event;
    switch (request.body_case()) {
      case v1::WorkerRequest::kPing: {
        *event.mutable_pong() = Pong();
        break;
      }
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
          *event.mutable_file_actions_done()->add_results() = Act(id, action);
        }
        break;
      case v1::WorkerRequest::kDataStep:
        event.mutable_data_step_done();
        break;
      case v1::WorkerRequest::kPrepare:
        lane[id] = request.prepare().lanes(0).lane();
        lane_plans[id].assign(request.prepare().lanes().begin(), request.prepare().lanes().end());
        event.mutable_prepared();
        break;
      case v1::WorkerRequest::kArm: {
        start_ns[id] = request.arm().start_worker_ns();
        event.mutable_armed()->set_margin_ns(start_ns[id] - clock.now.ns);
        if (request.arm().ping()) *event.mutable_armed()->mutable_pong() = Pong();
        events.push_back(event);
        event = DoneAfter(start_ns[id], 1'000'000, 1'000'000);
        if (request.arm().report_up_to_ns() >= 1'000'000)
          AddResults(id, *event.mutable_lanes_done()->mutable_results());
        break;
      }
      case v1::WorkerRequest::kCollect: {
        clock.AdvanceTo({start_ns[id] + 1'000'000});  // results do not arrive before the phase has ended
        AddResults(id, *event.mutable_chunk());
        break;
      }
      case v1::WorkerRequest::kAdjust:
        event.mutable_adjusted();
        break;
      default:
        return events;
    }
    events.push_back(event);
    return events;
  }
};

struct Run {
  PerfectWorkers perfect;
  std::vector<v1::WorkerFacts> hosts = {Facts("b2"), Facts("b10"), Facts("a1")};
  v1::Plan plan = EmptyPhases(2, 1);
  Interrupt interrupt;
  bool interrupts_when_running = false;
  std::vector<ScriptedWorkers::Posted> posted;
  bool ordered = true;
  std::string out_directory;
  bool in_process = false;
  ClusterPatience patience;
  int64_t phase_timeout_ns = 0;
  uint32_t worker_count = 0;  // to wait for; 0: as many as there are hosts
  size_t max_burst_clocks = ClockSync::kMaxBurstClocks;
  HookCommands hooks;
  OnFault on_fault = OnFault::kRefuse;
  JoinWatch join_watch;
  double max_duration_s = 0;
  std::optional<ResumePoint> resume;
  bool force = false;
  Conductor::Conclude conclude;
  PhaseSource* source = nullptr;  // of the phases; null: the plan's
  std::vector<v1::PhaseReport> phases;  // the conductor keeps only briefs of them
  std::function<void(const v1::PhaseReport&)> on_phase = [this](const v1::PhaseReport& phase) {
    phases.push_back(phase);
  };
  std::unique_ptr<Conductor> conductor;

  // Raises the interrupt once lanes run, if requested.
  class Observer final : public RunObserver {
   public:
    explicit Observer(Run& run) : run_(run) {}
    void PhaseMoves(const PhaseProgress&) override { run_.interrupt.Raise(); }
    void PhaseEnds(const v1::RunReport&, const v1::PhaseReport& phase) override { run_.on_phase(phase); }
    int64_t progress_interval_ns() const override { return run_.interrupts_when_running ? 1'000'000 : 0; }

   private:
    Run& run_;
  };

  ConductorOptions Options() const {
    ConductorOptions options;
    options.run_name = "test";
    options.run_id = 7;
    options.version = "1.0";
    options.worker_count = worker_count > 0 ? worker_count : static_cast<uint32_t>(hosts.size());
    options.patience = patience;
    options.max_burst_clocks = max_burst_clocks;
    options.phase_timeout_ns = phase_timeout_ns;
    options.clock = [this] { return perfect.clock.now; };
    options.join_deadline = perfect.clock.now + 200'000'000;
    options.out_directory = out_directory;
    options.in_process = in_process;
    options.hooks = hooks;
    options.on_fault = on_fault;
    options.join_watch = join_watch;
    options.max_duration_s = max_duration_s;
    options.resume = resume;
    options.force = force;
    return options;
  }

  // Calls `act` while the workers are there, and returns what it does.
  template <typename Act>
  auto OnWorkers(Act act) {
    ScriptedWorkers workers(perfect.clock, hosts, [this](WorkerId id, const v1::WorkerRequest& request) {
      return perfect(id, request);
    });
    workers.set_ordered(ordered);
    auto result = act(workers);
    posted = std::move(workers.posted);
    return result;
  }

  // The whole run; returns its exit code.
  int Go() {
    Observer observer(*this);
    return OnWorkers([&](Transport& workers) {
      conductor = std::make_unique<Conductor>(workers, observer, interrupt, Facts("here"), plan, Options());
      if (const absl::Status assembled = conductor->Assemble(); !assembled.ok()) return conductor->Refuse(assembled);
      const std::unique_ptr<PhaseSource> of_plan =
          SourceOf(conductor->record().plan(), resume.has_value() ? resume->part : RunPart());
      return conductor->Conduct(source == nullptr ? *of_plan : *source, conclude);
    });
  }

  // Only what `preflight` does. `resolved`: the plan for these workers.
  absl::StatusOr<PreflightReport> Preflight(v1::Plan* resolved = nullptr) {
    return OnWorkers([&](Transport& workers) -> absl::StatusOr<PreflightReport> {
      ConductorOptions options = Options();
      options.on_fault = OnFault::kList;
      const v1::WorkerFacts here = Facts("here");
      v1::Plan asked = plan;
      RunObserver nobody;
      Cluster cluster(workers, options.run_id, interrupt, options.patience, options.clock);
      Assembly assembly(cluster, options, here, asked);
      const auto look = assembly.Assemble(nobody, "2026-11-28T00:00:00Z");
      if (!look.ok()) return look.status();
      if (resolved != nullptr) *resolved = asked;
      cluster.Dismiss();
      return assembly.preflight();
    });
  }
  int Count(v1::WorkerRequest::BodyCase body) const {
    return static_cast<int>(std::count_if(
        posted.begin(), posted.end(), [body](const auto& sent) { return sent.request.body_case() == body; }));
  }
};

}  // namespace iobench

#endif  // TESTS_UNIT_CONDUCTOR_RUN_H_
