// Judges a deployment's performance by the phases of a validation. Pure, except for PerformanceOf and NetworkOf
// (performance_checks.cc).
#ifndef COORDINATOR_VALIDATE_PERFORMANCE_PERFORMANCE_H_
#define COORDINATOR_VALIDATE_PERFORMANCE_PERFORMANCE_H_

#include <cmath>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/validate/performance/expectations.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

struct CheckContext;  // coordinator/validate/checks/check_context.h
class Outcome;

// How much each worker does. The defaults are those of the command line.
struct PhaseAmounts {
  uint64_t bytes = 256 << 20;  // that each worker writes and reads
  double seconds = 3;          // of each phase
};

// Replaces the phases of the plan by those of a validation: write, read, create, stat and unlink, each by every client
// alone and then by all. Reads begin with cold caches, and each client reads what another one has written. REQUIRES:
// the plan has its target.
void UsePerformancePhases(const PhaseAmounts& amounts, v1::Plan& plan);

// The phases of data, by name.
std::span<const std::string_view> DataPhases();

// About how long the phases take, once they exist for each client.
double SecondsOfPhases(const v1::Plan& plan);

// What was measured. `report` has briefs of the phases.
struct Performance {
  v1::RunReport report;
  // First error of a phase, by its name.
  std::map<std::string, std::string> errors;
  std::string problem;  // nothing was measured, and why

  // Returns the phase by all clients. Null: there is none.
  const v1::PhaseReport* PhaseNamed(std::string_view name) const;
  // Returns each client alone and together. Null: there is only one worker.
  const v1::PerClientReport* ClientsIn(std::string_view phase) const;
};

// Measures on the first call. Null, with a verdict in `outcome`: nothing could be measured. Errors: those of
// CheckContext.measure that end a validation.
absl::StatusOr<const Performance*> PerformanceOf(CheckContext& context, Outcome& outcome);

// Shares below which a figure is worth a warning, or fails. Below a share from an expectation, it always fails.
struct PerformanceLimits {
  double outlier_warn = 0.7, outlier_fail = 0.5;  // of the median of the others
  // Rates of names vary by a factor of two with the server's journal.
  double metadata_warn = 0.5, metadata_fail = 0.2;
  double fairness_warn = 0.7, fairness_fail = 0.5;  // slowest client of the mean, while all work
  double network_warn = 0.6, network_fail = 0;  // what a client alone reaches, of what the network carries
  // Where no interface reports its speed: TCP alone, perhaps within one machine, may carry more than any file system.
  double tcp_warn = 0.2;
  double scaling_fail = 0;  // all together, of the sum of each alone
};
// Returns `limits`, with the expectations in place of the defaults.
PerformanceLimits WithExpectations(PerformanceLimits limits, const Expectations& expected);

// Judge each client alone: outliers, and data that did not come from the server or go there.
void JudgeClientRates(const Performance& measured, const PerformanceLimits& limits, Outcome& outcome);
void JudgeMetadataRates(const Performance& measured, const PerformanceLimits& limits, Outcome& outcome);
// Judges all clients together: scaling and fairness.
void JudgeScaling(const Performance& measured, const PerformanceLimits& limits, Outcome& outcome);
// What the network carries for a client, in bytes per second. NAN: unknown.
struct NetworkLimits {
  double nic = NAN;  // its interface to the server, as the driver says
  // Over TCP to the coordinator's host and from it, each client alone, while nothing else runs. The path to the server
  // may carry more or less: only the client's own link is part of both.
  double to = NAN, from = NAN;
};
using NetworkOfClients = std::map<std::string, NetworkLimits>;

struct MeasuredNetwork {
  NetworkOfClients clients;
  std::string problem;  // why there are no rates of TCP; empty: there are
};
// Measures on the first call, but not the speeds of interfaces, which are known. Errors: those of
// CheckContext.measure_network that end a validation.
absl::StatusOr<const MeasuredNetwork*> NetworkOf(CheckContext& context);

// Whether the rates of phases that IsDoubtful (findings.h) count.
enum class DoubtfulRates { kCount, kDoNotCount };
// What each client alone reaches (network_judge.cc), as a share: its best rate of its interface; where that is not known, the better of
// writing and reading, of what TCP carries in that direction. Clients of which neither is known, or none of whose rates
// counts, are left out.
std::map<std::string, double> NetworkSharesOf(const Performance& measured, const NetworkOfClients& network,
                                              DoubtfulRates doubtful = DoubtfulRates::kCount);
// Judges these shares, and names clients whose network is slower than that of the others. `not_measured`: why there
// are no rates of TCP; empty: there are.
void JudgeNetwork(const Performance& measured, const NetworkOfClients& network,
                  const std::string& not_measured, const PerformanceLimits& limits, Outcome& outcome);
// Judges p99 and max of the latencies against the expectations; without any, they are facts.
void JudgeLatencies(const Performance& measured, const Expectations& expected, Outcome& outcome);

// A client's facts that can be expected: values by their names in `facts`.
struct FactsOfClient {
  std::string client;
  std::map<std::string, std::string> values;
};
FactsOfClient FactsOf(const std::string& client, const v1::WorkerFacts& worker, const v1::TargetFacts& seen);

// Judges each expectation (expected_judge.cc): a line each, those that are not met first. `measured`: null if no rate is expected.
void JudgeExpectations(const Expectations& expected, std::span<const FactsOfClient> clients,
                       const Performance* measured, const NetworkOfClients& network, Outcome& outcome);

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_PERFORMANCE_PERFORMANCE_H_
