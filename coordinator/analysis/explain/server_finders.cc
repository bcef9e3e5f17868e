#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/analysis/explain/finders.h"

namespace iobench {
namespace {

constexpr double kServerRoom = 0.70;
constexpr double kMinDiskQueue =
    1.5;  // less: the disk is busy with one request at a time, and more lanes may help
constexpr double kSomeDisk = 0.30;    // busy; below this, threads do not wait for it
constexpr double kOverThreads = 1.2;  // requests per thread: at least one in six finds none free
constexpr double kIdleEnough = 0.50;  // of disks and processors: a busier one may be the limit instead

double BusiestDisk(const v1::ServerReport& server) {
  double busy = 0;
  for (const v1::ServerDisk& disk : server.disks()) busy = std::max(busy, disk.busy());
  return busy;
}

double BusyThreads(const v1::ServerReport& server) {
  const v1::ServerNfsd& nfsd = server.nfsd();
  if (!nfsd.has_busy_threads() || nfsd.threads() == 0) return std::nan("");
  return nfsd.busy_threads() / nfsd.threads();
}

// Keeps the stronger one.
void Keep(std::optional<FoundLimit>& best, double strength, std::string evidence) {
  if (!best.has_value() || strength > best->strength) best = FoundLimit{strength, std::move(evidence)};
}

}  // namespace

bool ServersHaveRoom(const v1::PhaseReport& report, bool threads_too) {
  return !report.servers().empty() &&
         std::all_of(report.servers().begin(), report.servers().end(), [&](const v1::ServerReport& server) {
           return server.problem().empty() && server.interval_count() > 0 && server.has_cpu_busy() &&
                  server.cpu_busy() <= kServerRoom && server.busiest_processor() <= kServerRoom &&
                  BusiestDisk(server) <= kServerRoom && !(threads_too && BusyThreads(server) > kServerRoom) &&
                  std::none_of(server.nics().begin(), server.nics().end(),
                               [](const v1::ServerNic& nic) { return LinkShare(nic) > kServerRoom; });
         });
}

std::optional<ServerThreads> ThreadsOf(const v1::PhaseReport& report) {
  if (report.servers().empty()) return std::nullopt;
  ServerThreads threads;
  for (const v1::ServerReport& server : report.servers()) {
    if (!server.problem().empty() || !std::isfinite(BusyThreads(server))) return std::nullopt;
    threads.busy += server.nfsd().busy_threads();
    threads.requests_per_s += server.nfsd().rpcs_per_s();
  }
  return threads;
}

double WaitingThreads(const v1::PhaseReport& report, const ExplainFacts& facts, bool short_waits) {
  const std::optional<ServerThreads> threads = ThreadsOf(report);
  if (!threads.has_value() || facts.server_processors.size() != static_cast<size_t>(report.servers_size()))
    return std::nan("");
  double waiting = threads->busy, disk = 0;
  for (int i = 0; i < report.servers_size(); ++i) {
    const v1::ServerReport& server = report.servers(i);
    if (!server.has_cpu_busy() || server.cpu_busy() > kServerRoom) return std::nan("");
    waiting -= (short_waits ? 1 : server.cpu_busy()) * facts.server_processors[static_cast<size_t>(i)];
    disk = std::max(disk, BusiestDisk(server));
  }
  return short_waits && disk < kSomeDisk ? std::nan("") : waiting;
}

bool ServerLinksAreKnown(const v1::PhaseReport& report) {
  return std::all_of(report.servers().begin(), report.servers().end(), [](const v1::ServerReport& server) {
    return std::any_of(server.nics().begin(), server.nics().end(),
                       [](const v1::ServerNic& nic) { return std::isfinite(LinkShare(nic)); });
  });
}

bool SharesDirectory(const v1::PhaseReport& report) {
  static const auto* const kChanges =
      new std::set<std::string>{"create", "unlink", "mkdir", "rmdir", "rename", "link", "symlink"};
  return report.metadata() && report.tree().shared_directory() && report.lane_count() > 1 &&
         kChanges->count(report.operation()) > 0;
}

std::optional<FoundLimit> FindServerDisk(const v1::PhaseReport& report, const ExplainFacts&, double busy) {
  std::optional<FoundLimit> best;
  for (const v1::ServerReport& server : report.servers()) {
    for (const v1::ServerDisk& disk : server.disks()) {
      if (!(disk.busy() >= busy && disk.queue() >= kMinDiskQueue)) continue;
      Keep(best, disk.busy(),
           absl::StrFormat("server disk: %s %s %s busy, %.1f requests waiting", server.host(), disk.name(),
                           PercentText(disk.busy()), disk.queue()));
    }
  }
  return best;
}

std::optional<FoundLimit> FindServerCpu(const v1::PhaseReport& report, const ExplainFacts&, double busy) {
  std::optional<FoundLimit> best;
  for (const v1::ServerReport& server : report.servers()) {
    if (!server.has_cpu_busy() || !(server.cpu_busy() >= busy)) continue;
    Keep(best, server.cpu_busy(),
         absl::StrCat("server CPU: ", server.host(), " ", PercentText(server.cpu_busy())));
  }
  return best;
}

std::optional<FoundLimit> FindServerNetwork(const v1::PhaseReport& report, const ExplainFacts&,
                                            double share) {
  std::optional<FoundLimit> best;
  for (const v1::ServerReport& server : report.servers()) {
    for (const v1::ServerNic& nic : server.nics()) {
      const double used = LinkShare(nic);
      if (!(used >= share)) continue;
      Keep(best, std::min(1.0, used),
           absl::StrCat("network of server ", server.host(), ": ", PercentText(used), " of ", nic.name()));
    }
  }
  return best;
}

// Threads that wait for a disk or for a directory's lock count as busy too. If the threads are already busy with all
// requests that the clients have in flight, more of them would have nothing to do.
std::optional<FoundLimit> FindNfsdThreads(const v1::PhaseReport& report, const ExplainFacts& facts,
                                          double share) {
  std::optional<FoundLimit> best;
  if (SharesDirectory(report)) return best;
  double threads = 0;
  for (const v1::ServerReport& server : report.servers()) threads += server.nfsd().threads();
  const std::optional<RequestsUnderWay> requests = RequestsOf(report);
  const double under_way = requests.has_value() ? requests->unanswered : facts.in_flight;
  if (!(under_way >= kOverThreads * threads)) return best;
  for (const v1::ServerReport& server : report.servers()) {
    const double busy = BusyThreads(server);
    if (!(busy >= share) || BusiestDisk(server) > kIdleEnough) continue;
    if (!server.has_cpu_busy() || server.cpu_busy() > kIdleEnough) continue;
    Keep(best, std::min(1.0, busy),
         absl::StrFormat("nfsd threads: %s with %.1f of %d busy", server.host(), server.nfsd().busy_threads(),
                         server.nfsd().threads()));
  }
  return best;
}

// A directory's lock makes lanes wait in their own client, before the request, and threads on the server. Lanes that
// wait for an answer on which no thread is working wait for the network.
std::optional<FoundLimit> FindOneDirectory(const v1::PhaseReport& report, const ExplainFacts& facts,
                                           double share) {
  if (!SharesDirectory(report) || !ClientsHaveRoom(report) || !ServersHaveRoom(report, false))
    return std::nullopt;
  const double waiting = OpsUnderWay(report, facts) / report.lane_count();
  if (!(waiting >= share)) return std::nullopt;
  const std::optional<RequestsUnderWay> requests = RequestsOf(report);
  const std::optional<ServerThreads> threads = ThreadsOf(report);
  if (!requests.has_value() || !threads.has_value()) return std::nullopt;
  const double locked = OpsUnderWay(report, facts) - std::max(0.0, requests->all() - threads->busy);
  if (!(locked >= share * OpsUnderWay(report, facts))) return std::nullopt;
  return FoundLimit{
      0.7, absl::StrCat("one directory: ", report.lane_count(), " lanes change names in it, each waiting ",
                        PercentText(std::min(1.0, waiting)), " of its time")};
}

}  // namespace iobench
