// Judges the expectations of --expect: a line for each, those that are not met first.
#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/units.h"
#include "coordinator/validate/checks/check_context.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/validate/performance/findings.h"
#include "coordinator/validate/performance/performance.h"

namespace iobench {
namespace {

// What was found for one expectation.
struct Verdict {
  bool met = false;
  std::string found;
};

std::string InUnitsOf(Quantity quantity, double value) {
  if (!std::isfinite(value)) return "-";
  switch (quantity) {
    case Quantity::kBytesPerSecond:
      return FormatBytesPerSecond(value);
    case Quantity::kPerSecond:
      return absl::StrCat(FormatCount(value), "/s");
    case Quantity::kSeconds:
      return FormatSeconds(value);
    case Quantity::kShare:
      break;
  }
  return absl::StrCat(std::llround(100 * value), " %");
}

using Readings = std::vector<std::pair<std::string, double>>;  // whose, and its value

Readings AloneIn(const Performance& measured, std::string_view name, bool of_others) {
  Readings readings;
  if (const v1::PerClientReport* const clients = measured.ClientsIn(name); clients != nullptr) {
    for (const v1::PerClientRow& row : clients->clients()) {
      readings.emplace_back(row.client(), of_others ? row.of_others() : row.alone());
    }
  } else if (const v1::PhaseReport* const phase = measured.PhaseNamed(name); phase != nullptr && !of_others) {
    readings.emplace_back("the only client", HeadlineRate(*phase));
  }
  return readings;
}

Readings LatenciesIn(const Performance& measured, std::string_view name, Measured which) {
  Readings readings;
  const std::string alone = absl::StrCat(std::string(name), " on ");
  for (const v1::PhaseReport& phase : measured.report.phases()) {
    if (phase.name() != name && !phase.name().starts_with(alone)) continue;
    const v1::Latency& latency = phase.latency_us();
    const double us = which == Measured::kP99 ? latency.p99() : latency.max();
    readings.emplace_back(phase.name(), latency.count() > 0 ? us * 1e-6 : NAN);
  }
  return readings;
}

Readings SharesOfData(const Performance& measured, Measured which) {
  Readings readings;
  for (const std::string_view name : DataPhases()) {
    const v1::PerClientReport* const clients = measured.ClientsIn(name);
    if (clients == nullptr) continue;
    readings.emplace_back(std::string(name),
                          which == Measured::kScaling ? clients->scaling() : clients->fairness());
  }
  return readings;
}

Readings ReadingsFor(const ThresholdKey& key, const Performance& measured, const NetworkOfClients& network) {
  switch (key.measured) {
    case Measured::kEachAlone:
      return AloneIn(measured, key.phase, /*of_others=*/false);
    case Measured::kAllTogether: {
      const v1::PhaseReport* const phase = measured.PhaseNamed(key.phase);
      if (phase == nullptr) return {};
      return {{"all", HeadlineRate(*phase)}};
    }
    case Measured::kP99:
    case Measured::kLongest:
      return LatenciesIn(measured, key.phase, key.measured);
    case Measured::kScaling:
    case Measured::kFairness:
      return SharesOfData(measured, key.measured);
    case Measured::kOutlier: {
      Readings readings;
      for (const std::string_view name : DataPhases()) {
        for (auto& [client, share] : AloneIn(measured, name, /*of_others=*/true)) {
          readings.emplace_back(absl::StrCat(client, " (", std::string(name), ")"), share);
        }
      }
      return readings;
    }
    case Measured::kNetwork:
      break;
  }
  const std::map<std::string, double> shares = NetworkSharesOf(measured, network);
  return {shares.begin(), shares.end()};
}

// Whether a threshold's readings come from this phase, by all clients or by one alone ("read on c01"). Not for those of
// the network, which have a choice of phases.
bool ComesFrom(const v1::PhaseReport& phase, const ThresholdKey& key, const Performance& measured) {
  const size_t end = phase.name().find(" on ");
  const bool of_one = end != std::string::npos;
  const std::string name = phase.name().substr(0, end);
  const std::span<const std::string_view> data = DataPhases();
  const bool of_data = std::find(data.begin(), data.end(), name) != data.end();
  switch (key.measured) {
    case Measured::kEachAlone:
      // A single client is alone in the phase of all.
      return name == key.phase && of_one == (measured.ClientsIn(name) != nullptr);
    case Measured::kAllTogether:
      return name == key.phase && !of_one;
    case Measured::kP99:
    case Measured::kLongest:
      return name == key.phase;
    case Measured::kScaling:
      return of_data;
    case Measured::kFairness:
      return of_data && !of_one;
    case Measured::kOutlier:
      return of_data && of_one;
    case Measured::kNetwork:
      break;
  }
  return false;
}

// The better of writing and reading decides, so it is decided if one of both is beyond doubt and good enough.
Verdict OnNetwork(const Threshold& threshold, const Readings& readings, const Performance& measured,
                  const NetworkOfClients& network) {
  const auto certain = NetworkSharesOf(measured, network, DoubtfulRates::kDoNotCount);
  double least = NAN;
  for (const auto& [client, share] : readings) {
    const auto found = certain.find(client);
    if (found == certain.end() || found->second < threshold.limit) {
      return {false, absl::StrCat("undecided: ", client, " reaches ", InUnitsOf(Quantity::kShare, share),
                                  " only in a phase whose data were not read from or written to the server")};
    }
    least = std::fmin(least, found->second);
  }
  return {true, InUnitsOf(Quantity::kShare, least)};
}

Verdict OnThreshold(const Threshold& threshold, const Performance& measured,
                    const NetworkOfClients& network) {
  const ThresholdKey& key = *threshold.key;
  const Readings readings = ReadingsFor(key, measured, network);
  if (readings.empty()) {
    return {
        false,
        key.measured == Measured::kNetwork
            ? "neither the speed of the interfaces to the server nor that of TCP to the coordinator is known"
            : "not measured: it needs at least two clients"};
  }
  std::vector<std::string> missing;
  double worst = NAN;
  for (const auto& [whose, value] : readings) {
    worst = key.is_min ? std::fmin(worst, value) : std::fmax(worst, value);
    const bool met = key.is_min ? value >= threshold.limit : value <= threshold.limit;  // false for NaN
    if (!met) missing.push_back(absl::StrCat(whose, " has ", InUnitsOf(key.quantity, value)));
  }
  if (!missing.empty()) return {false, absl::StrJoin(missing, ", ")};
  // What is too good to be true meets no expectation.
  if (key.measured == Measured::kNetwork) return OnNetwork(threshold, readings, measured, network);
  for (const v1::PhaseReport& phase : measured.report.phases()) {
    if (!ComesFrom(phase, key, measured) || !IsDoubtful(phase)) continue;
    return {false, absl::StrCat("undecided: ", phase.name(),
                                " has a mark that its data did not come from the server or go there")};
  }
  return {true, InUnitsOf(key.quantity, worst)};
}

Verdict OnFact(const ExpectedFact& fact, std::span<const FactsOfClient> clients) {
  if (fact.name == "clients") {
    const std::string count = absl::StrCat(clients.size());
    return {IsAsExpected(fact, count), absl::StrCat("there are ", count)};
  }
  std::map<std::string, std::vector<std::string>> wrong;  // by value: clients
  for (const FactsOfClient& client : clients) {
    const auto value = client.values.find(fact.name);
    const std::string text = value == client.values.end() ? "" : value->second;
    if (!IsAsExpected(fact, text)) wrong[text].push_back(client.client);
  }
  if (wrong.empty()) return {true, clients.size() == 1 ? "so it is" : "on all clients"};
  std::vector<std::string> parts;
  for (const auto& [value, names] : wrong) {
    parts.push_back(absl::StrCat(absl::StrJoin(names, ", "), names.size() == 1 ? " has " : " have ",
                                 value.empty() ? "none, or does not tell" : value));
  }
  return {false, absl::StrJoin(parts, "; ")};
}

}  // namespace

void JudgeExpectations(const Expectations& expected, std::span<const FactsOfClient> clients,
                       const Performance* measured, const NetworkOfClients& network, Outcome& outcome) {
  std::vector<std::string> met, missed;
  const auto note = [&](const std::string& text, const Verdict& verdict, int line) {
    (verdict.met ? met : missed)
        .push_back(absl::StrCat(verdict.met ? "met: " : "not met: ", text, ": ", verdict.found,
                                verdict.met ? "" : absl::StrCat(" (", expected.PlaceOf(line), ")")));
  };
  for (const ExpectedFact& fact : expected.facts) note(fact.Text(), OnFact(fact, clients), fact.line);
  for (const Threshold& each : expected.thresholds) {
    const Verdict verdict =
        measured == nullptr ? Verdict{false, "not measured"} : OnThreshold(each, *measured, network);
    note(absl::StrCat(each.key->name, " ", each.text), verdict, each.line);
  }
  for (const std::string& line : missed) outcome.Evidence(line);
  for (const std::string& line : met) outcome.Evidence(line);
  const size_t count = met.size() + missed.size();
  outcome.Figure("expectations", static_cast<double>(count));
  outcome.Figure("not_met", static_cast<double>(missed.size()));
  if (missed.empty()) {
    outcome.Pass(absl::StrCat("all ", count, " expectations of ", expected.file, " are met"));
  } else {
    outcome.Fail(
        absl::StrCat(missed.size(), " of ", count, " expectations of ", expected.file, " are not met"),
        "change the deployment, or what is expected of it");
  }
}

}  // namespace iobench
