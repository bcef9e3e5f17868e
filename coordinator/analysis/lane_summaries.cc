#include "coordinator/analysis/lane_summaries.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/model/op.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/analysis/error_report.h"
#include "coordinator/analysis/phase/spread.h"

namespace iobench {
namespace {

struct RegionField {
  double (v1::RegionSeconds::*get)() const;
  void (v1::RegionSeconds::*set)(double);
};
constexpr RegionField kRegionFields[] = {
    {&v1::RegionSeconds::open, &v1::RegionSeconds::set_open},
    {&v1::RegionSeconds::ops, &v1::RegionSeconds::set_ops},
    {&v1::RegionSeconds::fsync, &v1::RegionSeconds::set_fsync},
    {&v1::RegionSeconds::close, &v1::RegionSeconds::set_close},
    {&v1::RegionSeconds::settle, &v1::RegionSeconds::set_settle},
};

void FillRegions(const PhaseView& view, v1::PhaseReport& report) {
  const v1::TimedRegion& region = view.phase.phase().region();
  v1::RegionSeconds sum, most;
  for (const AlignedLane& lane : view.aligned.lanes) {
    const v1::RegionSeconds regions = RegionsOf(*lane.result, region);
    for (const RegionField& field : kRegionFields) {
      const double seconds = (regions.*field.get)();
      (sum.*field.set)((sum.*field.get)() + seconds);
      (most.*field.set)(std::max((most.*field.get)(), seconds));
    }
  }
  const double lane_count = static_cast<double>(view.aligned.lanes.size());
  for (const RegionField& field : kRegionFields) (sum.*field.set)(Rate((sum.*field.get)(), lane_count));
  *report.mutable_regions_s() = std::move(sum);
  *report.mutable_regions_max_s() = std::move(most);
}

void FillTool(const PhaseView& view, v1::PhaseReport& report) {
  const v1::TimedRegion& region = view.phase.phase().region();
  double tool_s = 0, ops_s = 0, ops = 0, clock_read_ns = 0;
  std::set<std::string> clocks;
  for (const AlignedLane& lane : view.aligned.lanes) {
    tool_s += lane.result->tool_s();
    ops_s += RegionsOf(*lane.result, region).ops();
    ops += static_cast<double>(lane.result->region_ops());
    const v1::WorkerFacts& facts = view.run.workers(static_cast<int>(lane.worker));
    clocks.insert(facts.clock());
    clock_read_ns += facts.clock_read_ns();
  }
  v1::ToolReport& tool = *report.mutable_tool();
  tool.set_share_percent(100 * Rate(tool_s, ops_s));
  tool.set_ns_per_op(1e9 * Rate(tool_s, ops));
  tool.set_clock(absl::StrJoin(clocks, "+"));
  tool.set_clock_read_ns(Rate(clock_read_ns, static_cast<double>(view.aligned.lanes.size())));
}

void FillBuffers(const PhaseView& view, v1::PhaseReport& report) {
  v1::BufferPages all;
  bool knows_pages = true, has_nodes = false;
  uint64_t local_bytes = 0;
  for (const AlignedWorker& worker : view.aligned.workers) {
    const v1::BufferPages& buffers = worker.result->buffers();
    all.set_bytes(all.bytes() + buffers.bytes());
    all.set_huge_page_bytes(all.huge_page_bytes() + buffers.huge_page_bytes());
    knows_pages &= buffers.bytes() == 0 || buffers.has_huge_page_bytes();
    // On a client with one node, all are on it.
    has_nodes |= buffers.has_local_bytes();
    local_bytes += buffers.has_local_bytes() ? buffers.local_bytes() : buffers.bytes();
  }
  if (all.bytes() == 0) return;
  if (!knows_pages) all.clear_huge_page_bytes();
  if (has_nodes) all.set_local_bytes(local_bytes);
  *report.mutable_buffers() = all;
}

// The workers that moved the data of all, if the calls of all together moved just these: then no messages are among them.
std::vector<uint32_t> AggregatorsAmong(const PhaseView& view, uint64_t called_bytes, uint64_t phase_bytes) {
  constexpr double kSlack = 0.1, kNotableShare = 0.001;
  const double ratio = Rate(static_cast<double>(called_bytes), static_cast<double>(phase_bytes));
  std::vector<uint32_t> aggregators;
  if (!(std::fabs(ratio - 1) <= kSlack)) return aggregators;
  for (const AlignedWorker& worker : view.aligned.workers) {
    const double called = static_cast<double>(worker.result->mpi_io().called_bytes());
    if (called >= kNotableShare * static_cast<double>(called_bytes)) aggregators.push_back(worker.result->worker());
  }
  return aggregators;
}

void FillMpiIo(const PhaseView& view, v1::PhaseReport& report) {
  uint64_t called_bytes = 0;
  bool knows_calls = true;
  for (const AlignedWorker& worker : view.aligned.workers) {
    if (!worker.result->has_mpi_io()) continue;
    if (!report.has_mpi_io()) *report.mutable_mpi_io() = worker.result->mpi_io();
    knows_calls &= worker.result->mpi_io().has_called_bytes();
    called_bytes += worker.result->mpi_io().called_bytes();
  }
  if (!report.has_mpi_io()) return;
  v1::MpiIoFacts& facts = *report.mutable_mpi_io();
  facts.clear_called_bytes();
  facts.clear_aggregator_workers();
  if (!knows_calls) return;
  facts.set_called_bytes(called_bytes);
  if (!facts.collective()) return;
  for (const uint32_t worker : AggregatorsAmong(view, called_bytes, report.bytes())) facts.add_aggregator_workers(worker);
}

void FillLaneTimes(const PhaseView& view, v1::PhaseReport& report) {
  double user_s = 0, system_s = 0, wall_s = 0, run_delay_s = 0;
  bool knows_delay = true;
  for (const AlignedLane& lane : view.aligned.lanes) {
    if (!lane.started) continue;
    run_delay_s += lane.result->run_delay_s();
    knows_delay &= lane.result->has_run_delay_s();
    user_s += lane.result->cpu_user_s();
    system_s += lane.result->cpu_system_s();
    wall_s += SecondsFrom(lane.region_end - lane.first_op);
  }
  report.set_lanes_cpu_user_s(user_s);
  report.set_lanes_cpu_system_s(system_s);
  report.set_lanes_wall_s(wall_s);
  if (knows_delay && wall_s > 0) report.set_lanes_run_delay_s(run_delay_s);
}

// Lanes compare only with those that do the same: the rates of the parts of a mix differ on purpose.
std::vector<Straggler> StragglersWithinParts(const PhaseView& view, std::span<const double> rates) {
  if (view.phase.phase().assignments_size() < 2) return StragglersOf(rates);
  std::map<const v1::Assignment*, std::vector<size_t>> lanes_of;
  for (size_t i = 0; i < rates.size(); ++i) {
    lanes_of[view.assignments.Of(view.aligned.lanes[i].worker)].push_back(i);
  }
  std::vector<Straggler> all;
  for (const auto& [assignment, lanes] : lanes_of) {
    std::vector<double> own;
    for (const size_t lane : lanes) own.push_back(rates[lane]);
    for (const Straggler& straggler : StragglersOf(own)) {
      all.push_back({lanes[straggler.index], straggler.under_median});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Straggler& a, const Straggler& b) { return a.under_median > b.under_median; });
  return all;
}

// Other workers of a lost worker's client may have seen that the kernel killed a process of their control group. Empty
// if they have not, or if the reason says it already.
std::string OomText(const PhaseView& view, const AlignedWorker& lost) {
  constexpr char kWord[] = "oom_kill";
  if (lost.missing_reason.find(kWord) != std::string::npos) return "";
  const size_t client = view.roster.ClientOf(lost.number);
  for (const AlignedWorker& worker : view.aligned.workers) {
    if (view.roster.ClientOf(worker.number) != client || worker.result->host().cgroup().oom_kills() == 0) continue;
    return absl::StrCat("; meanwhile the kernel killed ", worker.result->host().cgroup().oom_kills(),
                        " of the processes of worker ", worker.number,
                        "'s control group, whose memory was used up (", kWord,
                        " of memory.events): raise memory.max, or use fewer lanes or a smaller -r or --depth");
  }
  return "";
}

}  // namespace

v1::RegionSeconds RegionsOf(const v1::LaneResult& lane, const v1::TimedRegion& region) {
  v1::RegionSeconds regions;
  const double ops_s = SecondsFrom(lane.ops_end_worker_ns() - lane.first_op_worker_ns());
  regions.set_open(lane.open_s());
  regions.set_ops(std::max(0.0, region.open() ? ops_s - lane.open_s() : ops_s));
  regions.set_fsync(lane.fsync_s());
  regions.set_close(lane.close_s());
  regions.set_settle(lane.settle_s());
  return regions;
}

void FillLaneSummaries(const PhaseView& view, v1::PhaseReport& report) {
  std::vector<double> byte_rates, op_rates;
  for (const LaneFigures& lane : view.figures.lanes) {
    byte_rates.push_back(lane.bytes_per_s());
    op_rates.push_back(lane.ops_per_s());
  }
  *report.mutable_lanes_bytes_per_s() = SpreadOf(byte_rates);
  *report.mutable_lanes_ops_per_s() = SpreadOf(op_rates);
  const bool in_ops = view.traits.headline_in_ops;
  const std::vector<double>& rates = in_ops ? op_rates : byte_rates;
  for (const Straggler& straggler : StragglersWithinParts(view, rates)) {
    const AlignedLane& lane = view.aligned.lanes[straggler.index];
    report.add_stragglers(absl::StrCat(view.roster.LaneName(lane.worker, lane.result->lane()), ": ",
                                       in_ops ? FormatCount(rates[straggler.index]) + " ops/s"
                                              : FormatBytesPerSecond(rates[straggler.index]),
                                       ", ", std::llround(100 * straggler.under_median),
                                       " % under the median"));
  }
  FillRegions(view, report);
  FillTool(view, report);
  FillBuffers(view, report);
  FillMpiIo(view, report);
  FillLaneTimes(view, report);
}

void AddCounts(const google::protobuf::RepeatedPtrField<v1::ErrorCount>& counts,
               google::protobuf::RepeatedPtrField<v1::FailedOps>& sums) {
  for (const v1::ErrorCount& error : counts) {
    // A saved run of a later version may have kinds that this one does not know.
    const std::string operation =
        v1::OpKind_IsValid(error.kind()) ? NameOf(static_cast<OpKind>(error.kind())) : "unknown";
    auto same = std::find_if(sums.begin(), sums.end(), [&](const v1::FailedOps& known) {
      return known.operation() == operation && known.errno_value() == error.errno_value();
    });
    v1::FailedOps& sum = same == sums.end() ? *sums.Add() : *same;
    sum.set_operation(operation);
    sum.set_errno_value(error.errno_value());
    sum.set_error(error.errno_value() == 0 ? "short" : ErrnoName(error.errno_value()));
    sum.set_count(sum.count() + error.count());
    sum.set_lanes(sum.lanes() + 1);
  }
}

void FillLosses(const PhaseView& view, v1::PhaseReport& report) {
  uint32_t lost = 0, failed = 0, sat_out = 0;
  const auto add_error = [&](const AlignedWorker& worker, const v1::Problem& problem) -> v1::ErrorReport& {
    v1::ErrorReport& error = *report.add_errors();
    error = ErrorFrom(problem);
    error.set_client(view.roster.NameOf(view.roster.ClientOf(worker.number)));
    error.set_worker(static_cast<int32_t>(worker.number));
    return error;
  };
  for (const AlignedWorker& worker : view.aligned.workers) {
    if (!worker.missing_reason.empty()) {
      ++lost;
      v1::Problem problem;
      const bool refused = !worker.result->refused_reason().empty();
      problem.set_message(
          absl::StrCat(refused ? "" : "lost: ", worker.missing_reason, refused ? "" : OomText(view, worker)));
      add_error(worker, problem);
    }
    for (const v1::LaneResult& lane : worker.result->lanes()) {
      AddCounts(lane.errors(), *report.mutable_failed_ops());
      AddCounts(lane.retries(), *report.mutable_retried_ops());
      if (lane.problem().code() != 0) {
        ++failed;
        v1::ErrorReport& error = add_error(worker, lane.problem());
        error.set_lane(static_cast<int32_t>(lane.lane()));
        if (error.operation().empty()) error.set_operation(lane.operation());
        if (error.file().empty()) error.set_file(lane.file());
      } else if (lane.sat_out() && view.assignments.Of(worker.number) != nullptr) {
        ++sat_out;  // a worker that no assignment selects sits out as planned
      }
    }
  }
  report.set_workers_lost(lost);
  report.set_lanes_failed(failed);
  report.set_lanes_sat_out(sat_out);

  report.set_rotated(view.traits.rotated);
  if (!view.traits.rotated) return;
  uint32_t on_own_client = 0;
  for (const AlignedLane& lane : view.aligned.lanes) {
    const uint32_t owner = view.OwnerWorkerOf(*lane.result);
    if (owner < view.roster.worker_count() &&
        view.roster.ClientOf(owner) == view.roster.ClientOf(lane.worker)) {
      ++on_own_client;
    }
  }
  report.set_lanes_on_own_client(on_own_client);
}

namespace {

// One step for what the samplers did, each with its host.
void AddServerStep(const PhaseView& view, v1::PhaseReport& report) {
  std::vector<std::string> outcomes;
  double seconds = 0;
  bool all_dropped = true;
  std::string name;
  for (const v1::ServerRecord& record : view.phase.servers()) {
    if (!record.has_dropped_caches()) continue;
    const bool known = record.sampler() < static_cast<uint32_t>(view.run.samplers_size());
    const std::string host = known ? view.run.samplers(static_cast<int>(record.sampler())).host()
                                   : absl::StrCat("sampler ", record.sampler());
    name = record.dropped_caches().name();
    seconds = std::max(seconds, record.dropped_caches().seconds());
    all_dropped &= record.dropped_caches().system_caches();
    outcomes.push_back(absl::StrCat(host, ": ", record.dropped_caches().outcome()));
  }
  if (outcomes.empty()) return;
  v1::StepResult& step = *report.add_steps();
  step.set_name(name);
  step.set_seconds(seconds);
  step.set_system_caches(all_dropped);
  step.set_outcome(absl::StrJoin(outcomes, "; "));
}

}  // namespace

void FillSteps(const PhaseView& view, v1::PhaseReport& report) {
  struct Outcomes {
    std::vector<std::string> in_order;
    std::map<std::string, int> workers;
  };
  std::vector<Outcomes> outcomes;
  std::map<std::string, int> index_of;
  const auto add = [&](const v1::StepResult& step) {
    const auto [position, is_new] = index_of.try_emplace(step.name(), report.steps_size());
    if (is_new) {
      report.add_steps()->set_name(step.name());
      report.mutable_steps(position->second)->set_system_caches(true);  // until one did not
      outcomes.emplace_back();
    }
    v1::StepResult& merged = *report.mutable_steps(position->second);
    merged.set_seconds(std::max(merged.seconds(), step.seconds()));
    merged.set_bytes(merged.bytes() + step.bytes());
    merged.set_system_caches(merged.system_caches() && step.system_caches());
    Outcomes& mine = outcomes[static_cast<size_t>(position->second)];
    if (mine.workers[step.outcome()]++ == 0) mine.in_order.push_back(step.outcome());
  };
  const auto& hooks = view.phase.hooks();
  const auto is_before = [](const v1::StepResult& hook) { return hook.name() == "before-phase"; };
  for (const v1::StepResult& hook : hooks) {
    if (is_before(hook)) add(hook);
  }
  for (const AlignedWorker& worker : view.aligned.workers) {
    for (const v1::StepResult& step : worker.result->steps()) add(step);
  }
  for (const v1::StepResult& hook : hooks) {
    if (!is_before(hook)) add(hook);
  }
  const int of_clients = report.steps_size();
  AddServerStep(view, report);
  for (int i = 0; i < of_clients; ++i) {
    const Outcomes& mine = outcomes[static_cast<size_t>(i)];
    std::vector<std::string> texts;
    for (const std::string& outcome : mine.in_order) {
      const int workers = mine.workers.at(outcome);
      texts.push_back(mine.in_order.size() == 1
                          ? outcome
                          : absl::StrCat(outcome.empty() ? "done" : outcome, " (", workers,
                                         workers == 1 ? " worker)" : " workers)"));
    }
    report.mutable_steps(i)->set_outcome(absl::StrJoin(texts, "; "));
  }
}

}  // namespace iobench
