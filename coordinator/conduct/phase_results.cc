// How the phase conductor collects the results of a phase, and which of them it refuses.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/model/plan_traits.h"
#include "coordinator/cluster/interrupt.h"
#include "coordinator/conduct/phase_conductor.h"
#include "coordinator/conduct/result_check.h"

namespace iobench {
namespace {

constexpr int64_t kCollectAfterTimeoutNs = 10 * kNanosPerSecond;
// What takes less need not be announced.
constexpr double kAnnouncedFromS = 1;

void AddSettled(const v1::LaneSettled& settled, google::protobuf::RepeatedPtrField<v1::LaneResult>& lanes) {
  for (v1::LaneResult& lane : lanes) {
    if (lane.lane() != settled.lane()) continue;
    lane.set_settle_s(settled.settle_s());
    lane.set_bytes(settled.bytes());
    lane.set_ops(settled.ops());
    if (settled.has_problem()) *lane.mutable_problem() = settled.problem();
    return;
  }
}

}  // namespace

// With this many clocks, a ping for each after the phase would cost as much as its results. What a worker reports at
// once needs no instants, which are known only when all clocks are.
absl::Status PhaseConductor::CollectWithPings() {
  PingRide pings(context_.clock_sync, context_.cluster,
                 [this](const Member& member) { return AwaitsResultOf(member.number); });
  const absl::Status collected = context_.cluster.Call(
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        if (!AwaitsResultOf(member.number)) return std::nullopt;
        v1::WorkerRequest request;
        request.mutable_collect()->set_ping(true);
        pings.Takes(member.number);
        return request;
      },
      [&](const Member& member, const ReceivedEvent& received) {
        if (!received.event.has_chunk()) return RecordRefusal(member, received);
        const v1::ResultChunk& chunk = received.event.chunk();
        if (chunk.has_pong()) pings.Note(member, chunk.pong(), received.received_at);
        if (!chunk.pending()) AddChunk(member.number, chunk, received.received_at);
      },
      {.at_a_time = pings.at_a_time()});
  GoOnWithoutRefused().IgnoreError();  // what they reported counts
  return collected;
}

absl::Status PhaseConductor::Collect(Answers answers) {
  const std::vector<Member>& members = context_.cluster.members();
  if (std::none_of(members.begin(), members.end(),
                   [this](const Member& member) { return !member.lost && AwaitsResultOf(member.number); })) {
    return absl::OkStatus();
  }
  const std::vector<CoordTime> instants = lanes_.Instants();
  Cluster::Patience patience = PatienceFor("report the phase");
  // Other workers may have used up the phase's time; that must not cost this one.
  if (context_.timeout_ns > 0)
    patience.deadline = std::max(deadline_, context_.cluster.Now() + kCollectAfterTimeoutNs);
  if (answers == Answers::kBrieflyAwaited) {
    patience = {.deadline = context_.cluster.Now() + kInterruptGraceNs, .interruptible = false};
  }
  const absl::Status collected = context_.cluster.Call(
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        if (!AwaitsResultOf(member.number)) return std::nullopt;
        ResultOf(member.number).clear_lanes();  // of an earlier request
        v1::WorkerRequest request;
        *request.mutable_collect() = CollectFrom(member, instants);
        return request;
      },
      [&](const Member& member, const ReceivedEvent& received) {
        if (received.event.has_chunk())
          AddChunk(member.number, received.event.chunk(), received.received_at);
        RecordRefusal(member, received);
      },
      patience);
  GoOnWithoutRefused().IgnoreError();  // what they reported counts
  return collected;
}

v1::Collect PhaseConductor::CollectFrom(const Member& member, const std::vector<CoordTime>& instants) const {
  v1::Collect collect;
  const ClockMap map = context_.clock_sync.MapOf(member.number);
  if (context_.settle_until.ns != INT64_MAX)
    collect.set_settle_until_worker_ns(map.ToWorker(context_.settle_until).ns);
  for (const CoordTime instant : instants) {
    // The bounds at a window's end are evaluated at the instant and at both ends of its clock error.
    const int64_t error_ns = map.error_ns(instant);
    for (const int64_t shift : {-error_ns, int64_t{0}, error_ns}) {
      collect.add_instants_worker_ns(map.ToWorker(instant + shift).ns);
      if (error_ns == 0) break;
    }
  }
  return collect;
}

void PhaseConductor::RecordReported() {
  if (!context_.clock_sync.pings_ride()) return;  // none was asked to
  for (const Member& member : context_.cluster.members()) {
    const std::optional<v1::ResultChunk> results = lanes_.PopResults(member.number);
    if (!results) continue;
    notes_[member.number].reported = true;
    AddChunk(member.number, *results, *lanes_.DoneAt(member.number));
  }
}

void PhaseConductor::AddChunk(uint32_t number, const v1::ResultChunk& chunk, CoordTime received_at) {
  v1::WorkerPhaseResult& worker = ResultOf(number);
  // One lane too many is enough to refuse the result; the rest would only take memory.
  for (const v1::LaneResult& lane : chunk.lanes()) {
    if (static_cast<size_t>(worker.lanes_size()) > notes_[number].lanes.size()) break;
    *worker.add_lanes() = lane;
  }
  for (const v1::LaneSettled& settled : chunk.settled()) AddSettled(settled, *worker.mutable_lanes());
  if (!chunk.last() && !chunk.measured()) return;
  const bool is_first = !IsMeasured(number);
  notes_[number].measured_at = received_at;
  if (is_first) RecordUnfinished(chunk);
  AddStepsOf(number, chunk.steps());
  *worker.mutable_host() = chunk.host();
  worker.set_missed_arrivals(chunk.missed_arrivals());
  if (chunk.has_buffers()) *worker.mutable_buffers() = chunk.buffers();
  if (chunk.has_mpi_io()) *worker.mutable_mpi_io() = chunk.mpi_io();
  worker.set_process_cpu_user_s(chunk.process_cpu_user_s());
  worker.set_process_cpu_system_s(chunk.process_cpu_system_s());
}

// Announces what lanes do after their timed regions when it is known of all workers, and if it takes long at the rate of
// the phase.
void PhaseConductor::RecordUnfinished(const v1::ResultChunk& chunk) {
  unfinished_.bytes += chunk.unfinished_bytes();
  unfinished_.ops += chunk.unfinished_ops();
  const std::vector<Member>& members = context_.cluster.members();
  const bool waits = std::any_of(members.begin(), members.end(), [this](const Member& member) {
    return !member.lost && AwaitsResultOf(member.number);
  });
  if (waits || unfinished_.ops == 0 || ended_early_ || context_.cluster.Now() >= context_.settle_until) return;
  double ops = 0;
  for (const v1::WorkerPhaseResult& worker : record_.workers()) {
    for (const v1::LaneResult& lane : worker.lanes()) ops += static_cast<double>(lane.region_ops());
  }
  const double ops_per_s = ops / lanes_.LongestTimedSeconds();
  unfinished_.for_whom = context_.later.first;
  unfinished_.seconds = static_cast<double>(unfinished_.ops) / ops_per_s;
  if (!(unfinished_.seconds < kAnnouncedFromS)) context_.observer.FilesAreFinished(unfinished_);
}

// Adds the steps of a worker to the record. Data written in an earlier attempt already existed in the last one.
void PhaseConductor::AddStepsOf(uint32_t worker,
                               const google::protobuf::RepeatedPtrField<v1::StepResult>& steps) {
  auto& noted = *ResultOf(worker).mutable_steps();
  noted.Clear();
  const auto is_rest = [](const v1::StepResult& step) { return step.name() == "rest"; };
  if (std::none_of(steps.begin(), steps.end(), is_rest)) {
    for (const v1::StepResult& step : earlier_steps_[worker]) {
      if (is_rest(step)) *noted.Add() = step;
    }
  }
  for (const v1::StepResult& step : client_steps_[worker]) *noted.Add() = step;
  for (const v1::StepResult& step : steps) {
    const std::vector<v1::StepResult>& earlier = earlier_steps_[worker];
    const auto wrote = std::find_if(earlier.begin(), earlier.end(), [&](const v1::StepResult& candidate) {
      return candidate.name() == step.name() && step.bytes() == 0;
    });
    *noted.Add() = wrote == earlier.end() ? step : *wrote;
  }
}

std::string PhaseConductor::WhyRefused(uint32_t worker) const {
  if (const std::string& ping = context_.clock_sync.ImpossiblePing(worker); !ping.empty()) return ping;
  const v1::WorkerPhaseResult& result = record_.workers(static_cast<int>(worker));
  if (static_cast<size_t>(result.lanes_size()) > notes_[worker].lanes.size()) {
    return absl::StrCat("it reports more lanes than the ", notes_[worker].lanes.size(), " that it has");
  }
  const v1::Assignment* const assignment = assignments_.Of(worker);
  if (!IsMeasured(worker) || assignment == nullptr) return "";
  return std::string(CheckResult(result, {.operation = assignment->operation(),
                                          .bytes_per_lane = shape_.files.bytes_per_lane(),
                                          .lanes = notes_[worker].lanes,
                                          .start = {lanes_.start().ns - notes_[worker].start_error_ns},
                                          .collected = *notes_[worker].measured_at})
                         .message());
}

// Called when the record has the pings that map the workers' times.
void PhaseConductor::RefuseImpossibleResults() {
  std::map<uint32_t, std::string> why;  // by worker number
  std::set<uint32_t> to_ping;
  for (const Member& member : context_.cluster.members()) {
    const bool has_results = !member.lost || IsMeasured(member.number);
    if (!has_results || !lanes_.TakesPart(member.number)) continue;
    std::string reason = WhyRefused(member.number);
    if (reason.empty()) continue;
    // If its clock was stepped, only a ping after that shows it.
    if (notes_[member.number].reported && !member.lost) to_ping.insert(member.number);
    why.emplace(member.number, std::move(reason));
  }
  if (!to_ping.empty()) PingAgain(to_ping);
  for (const uint32_t worker : to_ping) why[worker] = WhyRefused(worker);

  for (const auto& [worker, reason] : why) {
    if (reason.empty()) continue;
    v1::WorkerPhaseResult& result = ResultOf(worker);
    if (!result.lost()) result.set_refused_reason(reason);
    result.clear_lanes();
    result.clear_steps();
    result.clear_host();
    result.clear_missed_arrivals();
    result.clear_buffers();
    result.clear_mpi_io();
    result.clear_process_cpu_user_s();
    result.clear_process_cpu_system_s();
  }
}

void PhaseConductor::PingAgain(const std::set<uint32_t>& workers) {
  PingRide pings(context_.clock_sync, context_.cluster,
                 [&](const Member& member) { return workers.contains(member.number); });
  context_.cluster
      .Call(
          [&](const Member& member) -> std::optional<v1::WorkerRequest> {
            if (!pings.Takes(member.number)) return std::nullopt;
            v1::WorkerRequest request;
            request.mutable_ping();
            return request;
          },
          [&](const Member& member, const ReceivedEvent& received) {
            pings.Note(member, received.event.pong(), received.received_at);
          },
          {.deadline = context_.cluster.Now() + kInterruptGraceNs,
           .interruptible = false,
           .at_a_time = pings.at_a_time()})
      .IgnoreError();  // without the ping, the results are refused
  for (const uint32_t worker : workers) RecordBursts(worker);
}

}  // namespace iobench
