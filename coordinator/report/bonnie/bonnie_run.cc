#include "coordinator/report/bonnie/bonnie_run.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_traits.h"
#include "coordinator/analysis/across/phase_facts.h"

namespace iobench {
namespace {

std::optional<BonnieTest> TestOf(const v1::PhaseReport& phase) {
  if (phase.record_bytes() == 1) {  // a system call for each character, as Bonnie++ does it since 1.92
    if (phase.operation() == "write") return BonnieTest::kPutc;
    if (phase.operation() == "read") return BonnieTest::kGetc;
  }
  struct Row {
    std::string_view operation;
    BonnieTest test;
    BonnieTest in_random_order;  // of the items of a tree
  };
  constexpr Row kRows[] = {
      {"putc", BonnieTest::kPutc, BonnieTest::kPutc},
      {"write", BonnieTest::kPutBlock, BonnieTest::kPutBlock},
      {"update", BonnieTest::kRewrite, BonnieTest::kRewrite},
      {"getc", BonnieTest::kGetc, BonnieTest::kGetc},
      {"read", BonnieTest::kGetBlock, BonnieTest::kGetBlock},
      {"seeks", BonnieTest::kSeeks, BonnieTest::kSeeks},
      {"create", BonnieTest::kSeqCreate, BonnieTest::kRandomCreate},
      {"stat", BonnieTest::kSeqStat, BonnieTest::kRandomStat},
      {"unlink", BonnieTest::kSeqDelete, BonnieTest::kRandomDelete},
  };
  for (const Row& row : kRows) {
    if (row.operation == phase.operation())
      return phase.tree().random_order() ? row.in_random_order : row.test;
  }
  return std::nullopt;
}

// Two clients may have the same host name: `number` counts those of this name, from 0.
const v1::ClientPhaseReport* ClientOf(const v1::PhaseReport& phase, const std::string& host, size_t number) {
  for (const v1::ClientPhaseReport& client : phase.clients()) {
    if (client.host() == host && number-- == 0) return &client;
  }
  return nullptr;
}

BonnieMachine AllClients(const v1::RunReport& report, const BonnieRun& run) {
  BonnieMachine all;
  const int clients = report.clients_size();
  all.name = report.run().label();
  if (all.name.empty()) {
    all.name = report.run().coordinator_host();
    if (all.name.empty() && clients > 0) all.name = report.clients(0).host();
    // Otherwise, it would have the name of the coordinator's own client.
    if (clients > 1) absl::StrAppend(&all.name, " (", clients, " clients)");
  }
  for (size_t i = 0; i < kBonnieTestCount; ++i) {
    if (run.phases[i] == nullptr) continue;
    all.figures[i] = BonnieFigureOf(*run.phases[i]);
    all.worker_count = std::max(all.worker_count, WorkerCount(*run.phases[i]));
  }
  return all;
}

std::vector<BonnieMachine> EachClient(const v1::RunReport& report, const BonnieRun& run) {
  std::vector<BonnieMachine> machines;
  std::map<std::string, size_t> seen;
  for (const v1::ClientReport& client : report.clients()) {
    const size_t number = seen[client.host()]++;
    BonnieMachine& machine = machines.emplace_back();
    const std::string& label = report.run().label();
    machine.name = label.empty() ? client.host() : absl::StrCat(label, "/", client.host());
    for (size_t i = 0; i < kBonnieTestCount; ++i) {
      if (run.phases[i] == nullptr) continue;
      const v1::ClientPhaseReport* found = ClientOf(*run.phases[i], client.host(), number);
      if (found == nullptr) continue;
      machine.figures[i] = BonnieFigureOf(*found);
      machine.worker_count = std::max(machine.worker_count, static_cast<uint32_t>(found->workers_size()));
    }
  }
  return machines;
}

// Each figure comes from the first of the tests that was run.
const v1::PhaseReport* FirstRun(const BonnieRun& run, std::initializer_list<BonnieTest> tests) {
  for (const BonnieTest test : tests) {
    if (run.PhaseOf(test) != nullptr) return run.PhaseOf(test);
  }
  return nullptr;
}

void FillFile(const v1::RunReport& report, BonnieRun& run) {
  // Character tests cover only the first part of the file.
  const v1::PhaseReport* const phase =
      FirstRun(run, {BonnieTest::kPutBlock, BonnieTest::kRewrite, BonnieTest::kGetBlock, BonnieTest::kSeeks,
                     BonnieTest::kPutc, BonnieTest::kGetc});
  if (phase == nullptr) return;
  const v1::Phase* const planned = PlannedPhase(report.run().plan(), *phase);
  uint32_t lanes = 1;
  if (planned != nullptr && !planned->assignments().empty()) {
    const bool one_file = planned->assignments(0).operation().first_lane_files();
    if (!one_file) lanes = ShapeOf(report.run().plan(), *planned).lanes_per_worker;
  }
  run.file_bytes = FileBytesPerLane(*phase) * lanes;
  run.chunk_bytes = phase->record_bytes();
}

// A seeker that is stopped because another one has ended does fewer seeks than the plan has.
void FillSeeks(const v1::RunReport& report, BonnieRun& run) {
  const v1::PhaseReport* const phase = run.PhaseOf(BonnieTest::kSeeks);
  if (phase == nullptr) return;
  const uint32_t workers = std::max(1u, WorkerCount(*phase));
  run.seeker_count = phase->lane_count() / workers;
  run.seek_count = phase->ops() / workers;
  const v1::Phase* const planned = PlannedPhase(report.run().plan(), *phase);
  if (planned == nullptr || planned->stop().time_s() > 0 || phase->record_bytes() == 0) return;
  const uint64_t records = FileBytesPerLane(*phase) / phase->record_bytes();
  const uint64_t limit = planned->stop().max_ops();
  run.seek_count = run.seeker_count * (limit > 0 ? std::min(limit, records) : records);
}

// Counts the directories below that of the lane.
uint64_t DirectoriesOf(const v1::Tree& tree) {
  uint64_t count = 0, of_level = 1;
  for (uint32_t level = 0; level < tree.depth(); ++level) {
    of_level *= std::max(1u, tree.branching());
    count += of_level;
  }
  return count;
}

void FillItems(const v1::RunReport& report, BonnieRun& run) {
  const v1::PhaseReport* const phase =
      FirstRun(run, {BonnieTest::kSeqCreate, BonnieTest::kSeqStat, BonnieTest::kSeqDelete,
                     BonnieTest::kRandomCreate, BonnieTest::kRandomStat, BonnieTest::kRandomDelete});
  if (phase == nullptr) return;
  const v1::Tree& tree = phase->tree();
  const v1::Phase* const planned = PlannedPhase(report.run().plan(), *phase);
  const uint32_t lanes = planned == nullptr ? 1 : ShapeOf(report.run().plan(), *planned).lanes_per_worker;
  run.item_count = tree.items_per_lane() * lanes;
  run.max_item_bytes = tree.file_bytes();
  if (tree.random_sizes()) run.min_item_bytes = tree.min_file_bytes();
  run.directory_count = DirectoriesOf(tree);
}

// Phases of one client, of the servers or beside a load are not the tests of the whole run, and may come first.
bool IsOfWholeRun(const v1::Phase& planned) {
  return !planned.has_alone() && !planned.has_on_servers() && planned.interference().others() == 0;
}

}  // namespace

bool BonnieRun::has_data_tests() const {
  return std::any_of(phases.begin(), phases.begin() + kBonnieDataTestCount,
                     [](const v1::PhaseReport* phase) { return phase != nullptr; });
}

bool BonnieRun::has_item_tests() const {
  return std::any_of(phases.begin() + kBonnieDataTestCount, phases.end(),
                     [](const v1::PhaseReport* phase) { return phase != nullptr; });
}

absl::StatusOr<std::vector<BonnieRun>> BonnieRunsOf(const v1::RunReport& report) {
  std::map<std::pair<uint32_t, uint32_t>, BonnieRun> of_repetition;  // by repetition and only_target
  for (const v1::PhaseReport& phase : report.phases()) {
    const std::optional<BonnieTest> test = TestOf(phase);
    if (!test.has_value()) continue;
    const v1::Phase* const planned = PlannedPhase(report.run().plan(), phase);
    if (planned != nullptr && !IsOfWholeRun(*planned)) continue;
    const uint32_t only_target = planned == nullptr ? 0 : planned->only_target();
    BonnieRun& run = of_repetition[{phase.repetition(), only_target}];
    const v1::PhaseReport*& place = run.phases[static_cast<size_t>(*test)];
    if (place == nullptr) place = &phase;
  }
  if (of_repetition.empty()) {
    return absl::FailedPreconditionError(
        "this run has none of Bonnie++'s tests: use --suite bonnie, or some of --op putc, write, update, getc, "
        "read, seeks, create, stat and unlink");
  }
  std::vector<BonnieRun> runs;
  for (auto& [repetition, run] : of_repetition) {
    FillFile(report, run);
    FillSeeks(report, run);
    FillItems(report, run);
    run.machines.push_back(AllClients(report, run));
    if (report.clients_size() > 1) {
      for (BonnieMachine& machine : EachClient(report, run)) run.machines.push_back(std::move(machine));
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace iobench
