// Verdicts on performance and on expected facts. All judge the same phases, which run once.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "coordinator/validate/performance/performance.h"
#include "coordinator/validate/performance/performance_checks.h"

namespace iobench {
namespace {

const Expectations& ExpectedOf(const CheckContext& context) {
  static const Expectations kNothing;
  return context.expected != nullptr ? *context.expected : kNothing;
}

PerformanceLimits LimitsOf(const CheckContext& context) {
  PerformanceLimits limits;
  limits.outlier_fail = context.limits.outlier_share;
  limits.outlier_warn = std::max(limits.outlier_warn, limits.outlier_fail);
  return WithExpectations(limits, ExpectedOf(context));
}

// Speeds of the interfaces to the server, by the names that the measurement gives to clients.
NetworkOfClients NicSpeeds(const CheckContext& context) {
  NetworkOfClients speeds;
  for (const uint32_t worker : context.one_of_each) {
    const auto& settings = context.SeenBy(worker).settings();
    const auto mbit = settings.find("nic_mbit_per_s");
    double value = 0;
    if (mbit == settings.end() || !absl::SimpleAtod(mbit->second, &value) || value <= 0) continue;
    speeds[context.ClientOf(worker)].nic = value * 1e6 / 8;
  }
  return speeds;
}

// What preflight found that keeps the phases from running; empty: nothing.
std::string WhyNotMeasurable(const CheckContext& context) {
  for (const Finding& finding : context.findings) {
    const bool hinders = finding.check == PreflightCheck::kNeeds || finding.check == PreflightCheck::kSpace ||
                         finding.check == PreflightCheck::kLimits || finding.check == PreflightCheck::kMemory;
    if (finding.severity != Severity::kFault || !hinders) continue;
    return absl::StrCat(finding.client.empty() ? "" : absl::StrCat(finding.client, ": "), finding.problem);
  }
  return "";
}

}  // namespace

absl::StatusOr<const Performance*> PerformanceOf(CheckContext& context, Outcome& outcome) {
  const bool is_first = context.measured == nullptr;
  if (is_first) {
    auto measurement = std::make_shared<Performance>();
    measurement->problem = WhyNotMeasurable(context);
    if (measurement->problem.empty()) {
      auto measured = context.measure();
      if (absl::IsCancelled(measured.status()) || absl::IsUnavailable(measured.status()))
        return measured.status();
      if (measured.ok()) {
        *measurement = *std::move(measured);
      } else {
        measurement->problem = std::string(measured.status().message());
      }
    }
    context.measured = std::move(measurement);
  }
  if (context.measured->problem.empty()) return context.measured.get();
  if (is_first) {
    outcome.NotReached("fail", absl::StrCat("not measured: ", Printable(context.measured->problem)),
                       "mend that, and check again");
  } else {
    outcome.Skip("not measured, as the first check of performance says");
  }
  return nullptr;
}

absl::StatusOr<const MeasuredNetwork*> NetworkOf(CheckContext& context) {
  if (context.network != nullptr) return context.network.get();
  auto network = std::make_shared<MeasuredNetwork>();
  network->clients = NicSpeeds(context);
  if (context.measure_network != nullptr) {
    const auto carried = context.measure_network();
    if (absl::IsCancelled(carried.status()) || absl::IsUnavailable(carried.status())) return carried.status();
    if (!carried.ok()) network->problem = Printable(std::string(carried.status().message()));
    if (carried.ok() && carried->empty()) network->problem = "all clients are the coordinator's host";
    for (const auto& [client, limits] : carried.ok() ? *carried : NetworkOfClients{}) {
      network->clients[client].to = limits.to;
      network->clients[client].from = limits.from;
    }
  }
  context.network = std::move(network);
  return context.network.get();
}

absl::Status CheckClientRates(CheckContext& context, Outcome& outcome) {
  IOBENCH_ASSIGN_OR_RETURN(const Performance* const measured, PerformanceOf(context, outcome));
  if (measured != nullptr) JudgeClientRates(*measured, LimitsOf(context), outcome);
  return absl::OkStatus();
}

absl::Status CheckNetworkLimit(CheckContext& context, Outcome& outcome) {
  IOBENCH_ASSIGN_OR_RETURN(const Performance* const measured, PerformanceOf(context, outcome));
  if (measured == nullptr) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(const MeasuredNetwork* const network, NetworkOf(context));
  JudgeNetwork(*measured, network->clients, network->problem, LimitsOf(context), outcome);
  return absl::OkStatus();
}

absl::Status CheckScaling(CheckContext& context, Outcome& outcome) {
  IOBENCH_ASSIGN_OR_RETURN(const Performance* const measured, PerformanceOf(context, outcome));
  if (measured != nullptr) JudgeScaling(*measured, LimitsOf(context), outcome);
  return absl::OkStatus();
}

absl::Status CheckMetadataRates(CheckContext& context, Outcome& outcome) {
  IOBENCH_ASSIGN_OR_RETURN(const Performance* const measured, PerformanceOf(context, outcome));
  if (measured != nullptr) JudgeMetadataRates(*measured, LimitsOf(context), outcome);
  return absl::OkStatus();
}

absl::Status CheckLatencyTail(CheckContext& context, Outcome& outcome) {
  IOBENCH_ASSIGN_OR_RETURN(const Performance* const measured, PerformanceOf(context, outcome));
  if (measured != nullptr) JudgeLatencies(*measured, ExpectedOf(context), outcome);
  return absl::OkStatus();
}

absl::Status CheckExpected(CheckContext& context, Outcome& outcome) {
  const Expectations& expected = ExpectedOf(context);
  const Performance* measured = nullptr;
  if (!expected.thresholds.empty()) {
    // Facts are judged even if nothing could be measured; expected rates then fail.
    v1::ValidateCheck unused;
    Outcome of_measuring(unused);
    if (context.measure != nullptr && context.left_out == 0) {
      IOBENCH_ASSIGN_OR_RETURN(measured, PerformanceOf(context, of_measuring));
    }
  }
  std::vector<FactsOfClient> clients;
  for (const uint32_t worker : context.one_of_each) {
    clients.push_back(FactsOf(context.ClientOf(worker), context.files.cluster().members()[worker].facts,
                              context.SeenBy(worker)));
  }
  NetworkOfClients network;
  if (measured != nullptr && expected.LimitOf("network_min")) {
    IOBENCH_ASSIGN_OR_RETURN(const MeasuredNetwork* const carried, NetworkOf(context));
    network = carried->clients;
  }
  JudgeExpectations(expected, clients, measured, network, outcome);
  return absl::OkStatus();
}

}  // namespace iobench
