// Judges how much clients reach of what the network carries for them, and names clients with a slower network.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/units.h"
#include "coordinator/validate/checks/check_context.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/validate/performance/findings.h"
#include "coordinator/validate/performance/performance.h"

namespace iobench {
namespace {

// What a client reaches alone, in bytes per second.
struct AloneRates {
  double write = NAN, read = NAN;
  double best() const { return std::fmax(write, read); }
};

AloneRates RatesAlone(const Performance& measured, const std::string& client, bool is_only_client,
                      DoubtfulRates doubtful = DoubtfulRates::kCount) {
  AloneRates rates;
  for (const auto& [name, rate] : {std::pair{"write", &rates.write}, {"read", &rates.read}}) {
    const v1::PhaseReport* phase = measured.PhaseNamed(name);
    const v1::PerClientReport* const clients = measured.ClientsIn(name);
    bool has_row = false;
    for (int i = 0; clients != nullptr && i < clients->clients_size(); ++i) {
      if (clients->clients(i).client() != client) continue;
      has_row = true;
      *rate = clients->clients(i).alone();
    }
    // If there is a single client, the rows are its workers, if any.
    if (!has_row && is_only_client && phase != nullptr) *rate = HeadlineRate(*phase);
    if (has_row) phase = measured.PhaseNamed(absl::StrCat(name, " on ", client));
    if (doubtful == DoubtfulRates::kDoNotCount && phase != nullptr && IsDoubtful(*phase)) *rate = NAN;
  }
  return rates;
}

// The share of the interface's speed if that is known, otherwise of what TCP carries in the same direction. NAN:
// neither is known.
double ShareOf(const AloneRates& rates, const NetworkLimits& limits) {
  if (limits.nic > 0) return rates.best() / limits.nic;
  const double write = limits.to > 0 ? rates.write / limits.to : NAN;
  const double read = limits.from > 0 ? rates.read / limits.from : NAN;
  return std::fmax(write, read);
}

// "c01: write 95 MiB/s, read 101 MiB/s; 85 % of what its interface carries, 119 MiB/s; TCP carries …"
std::string NetworkLine(const std::string& client, const AloneRates& rates, const NetworkLimits& limits) {
  std::string line = absl::StrCat(client, ": write ", RateWord(false, rates.write), ", read ",
                                  RateWord(false, rates.read), ", ", ShareWord(ShareOf(rates, limits)));
  if (limits.nic > 0) {
    absl::StrAppend(&line, " of its interface, which carries ", FormatBytesPerSecond(limits.nic));
  } else {
    absl::StrAppend(&line, " of what TCP carries");
  }
  if (std::isfinite(limits.to) && std::isfinite(limits.from)) {
    absl::StrAppend(&line, "; TCP carries ", FormatBytesPerSecond(limits.to), " to the coordinator and ",
                    FormatBytesPerSecond(limits.from), " from it");
  }
  return line;
}

double MedianOfOthers(const NetworkOfClients& network, const std::string& client,
                      double NetworkLimits::*direction) {
  std::vector<double> others;
  for (const auto& [name, limits] : network) {
    if (name != client && std::isfinite(limits.*direction)) others.push_back(limits.*direction);
  }
  if (others.empty()) return NAN;
  std::sort(others.begin(), others.end());
  const size_t middle = others.size() / 2;
  return others.size() % 2 == 1 ? others[middle] : (others[middle - 1] + others[middle]) / 2;
}

// Clients for which TCP to the coordinator is far slower than for the others.
void FindSlowNetworks(const NetworkOfClients& network, const PerformanceLimits& limits, Outcome& outcome,
                         Findings& findings) {
  for (const auto& [client, carried] : network) {
    for (const auto& [direction, words] : {std::pair{&NetworkLimits::to, "to the coordinator"},
                                           {&NetworkLimits::from, "from the coordinator"}}) {
      const double share = carried.*direction / MedianOfOthers(network, client, direction);
      if (!(share < limits.outlier_fail)) continue;
      outcome.Evidence(absl::StrCat(client, ": TCP carries ", FormatBytesPerSecond(carried.*direction), " ",
                                    words, ", ", ShareWord(share), " of the median of the others"));
      findings.Blame(client);
      findings.warns = true;
      findings.Advise(
          "look at that client's link without NFS: speed and errors (ethtool), switch port, rate limits; nothing is "
          "wrong if it is only further from the coordinator than from the server");
    }
  }
}

}  // namespace

std::map<std::string, double> NetworkSharesOf(const Performance& measured, const NetworkOfClients& network,
                                              DoubtfulRates doubtful) {
  std::map<std::string, double> shares;
  for (const auto& [client, limits] : network) {
    const double share = ShareOf(RatesAlone(measured, client, network.size() == 1, doubtful), limits);
    if (std::isfinite(share)) shares[client] = share;
  }
  return shares;
}

void JudgeNetwork(const Performance& measured, const NetworkOfClients& network,
                  const std::string& not_measured, const PerformanceLimits& limits, Outcome& outcome) {
  Findings findings;
  std::vector<std::string> lines;
  size_t low_count = 0;
  double highest_limit = 0;
  for (const auto& [client, share] : NetworkSharesOf(measured, network)) {
    const NetworkLimits& carried = network.at(client);
    const std::string line = NetworkLine(client, RatesAlone(measured, client, network.size() == 1), carried);
    lines.push_back(line);
    outcome.Figure(FigureOf("network", "share", client).c_str(), share);
    if (std::isfinite(carried.to)) outcome.Figure(FigureOf("tcp", "to", client).c_str(), carried.to, "B/s");
    if (std::isfinite(carried.from))
      outcome.Figure(FigureOf("tcp", "from", client).c_str(), carried.from, "B/s");
    const double limit =
        std::max(carried.nic > 0 ? limits.network_warn : limits.tcp_warn, limits.network_fail);
    if (!(share < limit)) continue;
    highest_limit = std::max(highest_limit, limit);
    ++low_count;
    outcome.Evidence(line);
    (share < limits.network_fail ? findings.fails : findings.warns) = true;
    findings.Advise(
        "one client does not fill its link: try nconnect, larger rsize and wsize, and more read-ahead");
  }
  FindSlowNetworks(network, limits, outcome, findings);
  const std::string why =
      not_measured.empty() ? "" : absl::StrCat("; TCP to the coordinator was not measured: ", not_measured);
  if (lines.empty()) {
    outcome.Skip(
        absl::StrCat("the speed of the interfaces to the server is not known, as of virtual ones", why));
    return;
  }
  std::vector<std::string> problems;
  if (!findings.slow.empty()) {
    problems.push_back(absl::StrCat("the network of ", absl::StrJoin(findings.slow, ", "),
                                    " is slower than that of the others"));
  }
  if (low_count > 0) {
    problems.push_back(absl::StrCat(low_count, low_count == 1 ? " client" : " clients", " below ",
                                    ShareWord(highest_limit), " of what the network carries"));
  }
  findings.Conclude(absl::StrCat("each client alone: ", absl::StrJoin(lines, "; "), why),
                    absl::StrJoin(problems, "; "), outcome);
}

}  // namespace iobench
