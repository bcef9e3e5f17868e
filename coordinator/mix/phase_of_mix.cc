#include "coordinator/mix/phase_of_mix.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/model/phase_check.h"
#include "common/status_util.h"
#include "coordinator/mix/mix.h"

namespace iobench {
namespace {

constexpr double kDefaultMixSeconds = 10;

// The ops per second of a part over all clients at load 1, or its share of all ops.
double AmountOf(const v1::MixGroup& group, const v1::MixPart& part) {
  return group.clients() * (part.ops_per_s() > 0 ? part.ops_per_s() : part.percent());
}

double AmountOf(const v1::Mix& mix) {
  double sum = 0;
  for (const v1::MixGroup& group : mix.groups()) {
    for (const v1::MixPart& part : group.parts()) sum += AmountOf(group, part);
  }
  return sum;
}

// Lanes wait for ops in flight, so their number divides the workers best; ops are the next best guess.
double WeightOf(const v1::MixGroup& group, const v1::MixPart& part) {
  const bool all_have_lanes = std::all_of(group.parts().begin(), group.parts().end(),
                                          [](const v1::MixPart& each) { return each.lanes() > 0; });
  if (all_have_lanes) return part.lanes();
  return part.ops_per_s() > 0 ? part.ops_per_s() : part.percent();
}

v1::Operation OperationOf(const v1::MixPart& part) {
  v1::Operation operation;
  operation.set_name(part.operation());
  operation.set_record_bytes(part.record_bytes());
  *operation.mutable_records() = part.records();
  if (part.has_read_percent()) operation.set_read_percent(part.read_percent());
  if (part.has_tree()) *operation.mutable_tree() = part.tree();
  return operation;
}

// Divides `count` workers by weight: one for each, and the rest by the largest remainder. REQUIRES: count >= the number
// of weights.
std::vector<uint32_t> WorkersByWeight(std::span<const double> weights, uint32_t count) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<uint32_t> workers(weights.size(), 1);
  std::vector<double> owed;  // exact shares; the one worker that each already has does not change their order
  for (const double weight : weights) owed.push_back(weight / sum * count);
  for (auto left = count - static_cast<uint32_t>(weights.size()); left > 0; --left) {
    const auto most = static_cast<size_t>(std::max_element(owed.begin(), owed.end()) - owed.begin());
    ++workers[most];
    --owed[most];
  }
  return workers;
}

// Returns the groups of each client, in order.
std::vector<std::set<uint32_t>> GroupsOfClients(const v1::Spreading& spreading, size_t client_count) {
  std::vector<uint32_t> places;  // one for each client that the mix stands for: its group
  for (int group = 0; group < spreading.group_clients_size(); ++group) {
    places.insert(places.end(), spreading.group_clients(group), static_cast<uint32_t>(group));
  }
  if (places.empty()) places.push_back(0);
  std::vector<std::set<uint32_t>> groups(client_count);
  for (size_t i = 0; i < std::max(places.size(), client_count); ++i) {
    groups[i % client_count].insert(places[i % places.size()]);
  }
  return groups;
}

absl::Status TooFewWorkers(const v1::Phase& phase, size_t parts, size_t workers) {
  return absl::InvalidArgumentError(
      absl::StrCat("phase ", phase.name(), ": the ", parts, " parts of the mix need at least ", parts,
                   " workers per client, because a worker runs one operation at a time, and a client has ",
                   workers, ": start more workers on each client (--spawn ", parts, ", --hosts 'LIST*", parts,
                   "', more MPI ranks per host)"));
}

}  // namespace

double OpsPerSecondOf(const v1::Mix& mix) {
  return HasRates(mix) ? AmountOf(mix) : 0;
}

absl::StatusOr<v1::Phase> PhaseOfMix(const v1::Mix& mix, const MixLoad& load) {
  if (!HasRates(mix) && load.ops_per_s == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("mix ", mix.name(), " has shares but no rates: add --rate OPS"));
  }
  const double sum = AmountOf(mix);
  v1::Phase phase;
  phase.set_name(load.ops_per_s == 0 && load.factor != 1 ? absl::StrCat(mix.name(), ", ", load.factor, "x")
                                                         : mix.name());
  phase.mutable_stop()->set_time_s(kDefaultMixSeconds);
  for (int group = 0; group < mix.groups_size(); ++group) {
    phase.mutable_spreading()->add_group_clients(mix.groups(group).clients());
    for (const v1::MixPart& part : mix.groups(group).parts()) {
      const double amount = AmountOf(mix.groups(group), part);
      v1::Assignment& assignment = *phase.add_assignments();
      assignment.set_name(part.name());
      assignment.set_group(static_cast<uint32_t>(group));
      assignment.set_weight(WeightOf(mix.groups(group), part));
      *assignment.mutable_operation() = OperationOf(part);
      v1::Arrivals& arrivals = *assignment.mutable_operation()->mutable_arrivals();
      arrivals.set_ops_per_s(load.ops_per_s > 0 ? load.ops_per_s * amount / sum : load.factor * amount);
      if (load.end_ops_per_s > 0) arrivals.set_end_ops_per_s(load.end_ops_per_s * amount / sum);
      arrivals.set_burst_s(part.burst_s());
      arrivals.set_burst_every_s(part.burst_every_s());
      phase.mutable_stop()->set_time_s(std::max(phase.stop().time_s(), part.burst_every_s()));
      IOBENCH_RETURN_IF_ERROR(Annotate(CheckArrivals(assignment.operation(), phase.stop()),
                                       absl::StrCat("mix ", mix.name(), ": ", part.name())));
    }
  }
  return phase;
}

absl::Status SpreadOverWorkers(std::span<const uint32_t> client_of_worker, v1::Phase& phase) {
  std::map<uint32_t, std::vector<uint32_t>> workers_of_client;
  for (uint32_t worker = 0; worker < client_of_worker.size(); ++worker) {
    workers_of_client[client_of_worker[worker]].push_back(worker);
  }
  const std::vector<std::set<uint32_t>> groups = GroupsOfClients(phase.spreading(), workers_of_client.size());
  size_t index = 0;
  for (const auto& [client, workers] : workers_of_client) {
    std::vector<v1::Assignment*> own;
    std::vector<double> weights;
    for (v1::Assignment& assignment : *phase.mutable_assignments()) {
      if (!groups[index].contains(assignment.group())) continue;
      own.push_back(&assignment);
      weights.push_back(assignment.has_weight() ? assignment.weight() : 1);
    }
    ++index;
    if (own.size() > workers.size()) return TooFewWorkers(phase, own.size(), workers.size());
    const std::vector<uint32_t> counts = WorkersByWeight(weights, static_cast<uint32_t>(workers.size()));
    auto next = workers.begin();
    for (size_t i = 0; i < own.size(); ++i) {
      for (uint32_t n = 0; n < counts[i]; ++n) own[i]->mutable_who()->add_workers(*next++);
    }
  }
  phase.clear_spreading();
  return absl::OkStatus();
}

}  // namespace iobench
