// The check of the network between each client and the server: does much data pass at once, and how much of it is lost?
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/display_text.h"
#include "common/text/number_words.h"
#include "common/text/units.h"
#include "coordinator/analysis/phase/host_delta.h"
#include "coordinator/validate/checks/checks.h"
#include "coordinator/validate/checks/network_reading.h"

namespace iobench {
namespace {

// 8 MiB take 4 s over 2 MB/s. A connection whose large segments vanish moves none of them, however long it tries.
constexpr double kTransferWithinS = 60;
constexpr uint32_t kTransferFile = 1;

constexpr char kAdvice[] =
    "look for errors and drops (ethtool -S, switch ports), cables, duplex and a full link between these clients and the "
    "server";
constexpr char kMtuAdvice[] =
    "compare the MTU of clients, switches and server (ip link; tracepath SERVER): it must be the same on the whole path, and "
    "ICMP \"fragmentation needed\" must pass";

std::string Percent(double share) {
  return absl::StrCat(FormatSignificant(100 * share, 2), " %");
}

// "3 % of 4,512 segments sent again"
std::string LossText(const v1::TransportReport& transport) {
  return absl::StrCat(Percent(transport.retransmitted_share()), " of ", CountText(transport.sent_segments()),
                      transport.of_servers() ? " segments to the server" : " segments of the whole client",
                      " were sent again");
}

struct Found {
  bool broken = false, lossy = false, hangs = false;
  std::vector<std::string> clients;

  void Add(const std::string& client) {
    if (std::find(clients.begin(), clients.end(), client) == clients.end()) clients.push_back(client);
  }
};

// Sends 4 MiB to the server and back on all clients at the same time. Clients that do not end are no peers any more.
absl::Status TransferOnAll(CheckContext& context, uint32_t directory, Outcome& outcome, Found& found) {
  std::map<uint32_t, CallList> calls;
  for (const uint32_t worker : context.peers) {
    CallList& list = calls.emplace(worker, CallList(directory)).first->second;
    list.Add(v1::FileAction::TRY, kTransferFile + worker).add_trials("large-transfer");
  }
  std::vector<uint32_t> late;
  IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers results,
                           context.files.DoWithin(calls, kTransferWithinS, late));
  for (const uint32_t worker : late) {
    outcome.Evidence(absl::StrCat(context.NameOf(worker),
                                  ": 4 MiB did not get to the server and back within ",
                                  FormatSeconds(kTransferWithinS), ", although small requests did"));
    found.hangs = true;
    found.Add(context.NameOf(worker));
    std::erase(context.peers, worker);
    ++context.left_out;
  }
  for (const auto& [worker, of_worker] : results) {
    for (const v1::TrialResult& trial : of_worker.front().trials()) {
      if (trial.problem().code() == 0) continue;
      outcome.Evidence(absl::StrCat(context.NameOf(worker), ": ", Printable(trial.problem().message())));
      found.broken = true;
      found.Add(context.NameOf(worker));
    }
  }
  return absl::OkStatus();
}

void Judge(const std::string& client, const NetworkOfClient& network, Outcome& outcome, Found& found) {
  const v1::TransportReport& transport = network.transport;
  const auto bad = [&](const std::string& what) {
    outcome.Evidence(absl::StrCat(client, ": ", what));
    found.Add(client);
  };
  if (Loses(transport)) {
    (Loses(transport, kBrokenShare) ? found.broken : found.lossy) = true;
    bad(LossText(transport));
  }
  if (network.comes_late_share >= kBrokenShare) {
    found.lossy = true;
    bad(absl::StrCat(Percent(network.comes_late_share), " of ", CountText(network.received_segments),
                     " segments from the server came before an earlier one, which was lost or overtaken"));
  }
  if (transport.interface_errors() > 0) {
    found.lossy = true;
    bad(absl::StrCat(network.interface, " counted ", CountText(transport.interface_errors()), " errors"));
  }
}

}  // namespace

absl::Status CheckNetwork(CheckContext& context, Outcome& outcome) {
  if (context.IsLocal()) {
    outcome.Skip("no client has a network file system there");
    return absl::OkStatus();
  }
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(context.peers.front()));
  IOBENCH_ASSIGN_OR_RETURN(const NetworkReadings before, ReadNetworks(context, directory));
  Found found;
  IOBENCH_RETURN_IF_ERROR(TransferOnAll(context, directory, outcome, found));
  if (!context.peers.empty()) {
    IOBENCH_ASSIGN_OR_RETURN(const NetworkReadings after, ReadNetworks(context, directory));
    for (const auto& [worker, reading] : after) {
      if (const auto network = NetworkBetween(before.at(worker), reading); network.has_value())
        Judge(context.NameOf(worker), *network, outcome, found);
    }
  }
  context.network_begin = before;
  const std::string clients = absl::StrJoin(found.clients, ", ");
  if (found.hangs) {
    outcome.Fail(absl::StrCat("much data at once does not pass between the server and ", clients),
                 kMtuAdvice);
  } else if (found.broken) {
    outcome.Fail(absl::StrCat("the network to the server fails on ", clients), kAdvice);
  } else if (found.lossy) {
    outcome.Warn(absl::StrCat("the network to the server loses packets of ", clients), kAdvice);
  } else {
    outcome.Pass("4 MiB went to the server and back on each client, and hardly a packet was lost");
  }
  return absl::OkStatus();
}

}  // namespace iobench
