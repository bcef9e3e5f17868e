// A coordinator and a hostile worker: what the worker says of itself and of a phase is refused, or yields a report. The
// input is a sequence of events, of which only those with facts or results count.
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "common/live/latency_bins.h"
#include "common/text/utf8.h"
#include "coordinator/analysis/report_builder.h"
#include "coordinator/analysis/summarize.h"
#include "coordinator/analysis/score.h"
#include "coordinator/cluster/join_check.h"
#include "coordinator/conduct/result_check.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/messages.h"
#include "tests/fuzz/rendered.h"

using namespace iobench;

namespace {

constexpr char kVersion[] = "fuzzed";
constexpr uint64_t kFileBytes = 1000 * 4096;
constexpr CoordTime kStart{1'000'000'000'000}, kCollected{1'010'000'000'000};

// A phase of two lanes on one worker; `name` is an operation that a plan may have.
v1::Phase PhaseNamed(const std::string& name) {
  v1::Phase phase;
  phase.set_name(name);
  v1::Operation& operation = *phase.add_assignments()->mutable_operation();
  operation.set_name(name);
  operation.set_engine("posix");
  operation.set_record_bytes(4096);
  operation.mutable_tree()->set_items_per_lane(1000);
  return phase;
}

v1::RunRecord RunOf(const v1::Phase& phase, const v1::WorkerFacts& facts) {
  v1::RunRecord run;
  run.set_id("fuzzed");
  run.set_run_number(1);
  v1::Plan& plan = *run.mutable_plan();
  plan.add_targets()->set_path("/mnt");
  plan.mutable_files()->set_bytes_per_lane(kFileBytes);
  plan.mutable_files()->set_files_per_lane(1);
  plan.set_lanes_per_worker(2);
  plan.set_repetitions(1);
  *plan.add_phases() = phase;
  *run.add_workers() = facts;
  return run;
}

std::vector<v1::LanePlan> GivenLanes() {
  std::vector<v1::LanePlan> lanes(2);
  for (uint32_t i = 0; i < 2; ++i) {
    lanes[i].set_lane(i);
    lanes[i].set_file_owner(i);
  }
  return lanes;
}

// Stores a chunk as the coordinator does (coordinator/conduct/phase_conductor.cc).
void Take(v1::ResultChunk chunk, v1::WorkerPhaseResult& result) {
  for (v1::LaneResult& lane : *chunk.mutable_lanes()) *result.add_lanes() = std::move(lane);
  if (!chunk.last()) return;
  *result.mutable_steps() = chunk.steps();
  *result.mutable_host() = chunk.host();
  result.set_process_cpu_user_s(chunk.process_cpu_user_s());
  result.set_process_cpu_system_s(chunk.process_cpu_system_s());
}

// A result that is accepted yields a report.
void Report(const v1::Phase& phase, const v1::WorkerFacts& facts, v1::WorkerPhaseResult result) {
  const std::vector<v1::LanePlan> lanes = GivenLanes();
  const absl::Status status = CheckResult(result, {.operation = phase.assignments(0).operation(),
                                                   .bytes_per_lane = kFileBytes,
                                                   .lanes = lanes,
                                                   .start = kStart,
                                                   .collected = kCollected});
  if (!status.ok()) {
    Require(!status.message().empty() && IsUtf8(std::string(status.message())), "a refusal can be printed");
    return;
  }
  result.set_done_coord_ns(kCollected.ns);
  const v1::RunRecord run = RunOf(phase, facts);
  v1::PhaseRecord record;
  *record.mutable_phase() = phase;
  record.set_start_coord_ns(kStart.ns);
  record.set_start_attempts(1);
  *record.add_workers() = std::move(result);
  ReportBuilder builder(run);
  builder.Begin(&record);
  v1::RunReport whole = builder.report();
  *whole.add_phases() = builder.Add(FinishPhase(run, record, Charts::kFilledIn));
  builder.UpdateTotals();
  Render(builder.report());
  Render(whole);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  v1::WorkerFacts facts;
  facts.set_program_version(kVersion);
  facts.set_host("client");
  facts.set_boot_id("boot");
  v1::WorkerPhaseResult result;
  LatencyBins live;
  for (v1::WorkerEvent& event : MessagesOf<v1::WorkerEvent>(PartsOf(data, size, 16))) {
    if (event.has_joined()) {
      event.mutable_joined()->set_program_version(kVersion);
      const absl::Status status = CheckFacts(event.joined(), kVersion, 1);
      if (status.ok()) facts = event.joined();
      Require(status.ok() || !status.message().empty(), "a refusal says why");
    } else if (event.has_progress()) {
      live.AddProto(event.progress().latency()).IgnoreError();
    } else if (event.has_chunk()) {
      Take(std::move(*event.mutable_chunk()), result);
    }
  }
  for (const char* const name : {"write", "read", "random-mix", "create", "stat"}) {
    Report(PhaseNamed(name), facts, result);
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  return MutateParts(data, size, max_size, seed, [](size_t) { return std::make_unique<v1::WorkerEvent>(); });
}
