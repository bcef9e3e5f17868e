// A mix as one phase in an open loop. Pure.
#ifndef COORDINATOR_MIX_PHASE_OF_MIX_H_
#define COORDINATOR_MIX_PHASE_OF_MIX_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/mix.pb.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// The load to generate from a mix, over all clients.
struct MixLoad {
  // Multiplies the rates of the mix: 1 is what all clients that the mix stands for do together, however many clients
  // replay it.
  double factor = 1;
  // Ops per second of all clients; 0: `factor` applies. A mix without rates needs it.
  double ops_per_s = 0;
  // With ops_per_s: the rate changes linearly to this over the phase's time; 0: it is constant.
  double end_ops_per_s = 0;
};

// Returns the ops per second of all clients that the mix stands for; 0: it has no rates. REQUIRES: CompleteMix.
double OpsPerSecondOf(const v1::Mix& mix);

// Returns a phase with one assignment for each part, named after the mix, which lasts 10 s. Its workers are not known
// yet: it has Phase.spreading, until SpreadOverWorkers. InvalidArgument: a mix without rates has no ops_per_s, or a
// part's rate is not between 0.0001 and 10^9 ops/s. REQUIRES: CompleteMix.
absl::StatusOr<v1::Phase> PhaseOfMix(const v1::Mix& mix, const MixLoad& load);

// Gives each assignment its workers and removes Phase.spreading, so that the phase can be repeated. Each client belongs
// to groups in proportion to group_clients: with at least as many clients as the mix stands for, to one group each, in
// turn; with fewer, to several. Its workers are divided among its assignments by weight, at least one for each.
// `client_of_worker`: the index of each worker's client. InvalidArgument: a client has fewer workers than assignments;
// the message says how many it needs. REQUIRES: phase.has_spreading() and at least one worker.
absl::Status SpreadOverWorkers(std::span<const uint32_t> client_of_worker, v1::Phase& phase);

}  // namespace iobench

#endif  // COORDINATOR_MIX_PHASE_OF_MIX_H_
