#include "coordinator/net_check/net_check.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>
#include <set>
#include <thread>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/process/thread.h"
#include "common/roster/roster.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/net_check/net_server.h"
#include "coordinator/report/text/text_table.h"

namespace iobench {
namespace {

constexpr double kDefaultSeconds = 2;
constexpr double kMinSeconds = 0.2;
constexpr double kAloneSeconds = 120;  // for all clients one by one, in both directions
constexpr double kRoundTripSeconds = 0.5;
constexpr double kPatienceSeconds = 60;  // for a round, in addition to its duration
constexpr size_t kTableColumns = 160;

double Rate(const Streamed& moved) {
  return moved.seconds > 0 ? static_cast<double>(moved.bytes) / moved.seconds : NAN;
}

// The result of a round for one member.
struct Outcome {
  NetServed served;
  v1::NetTested tested;
};

class NetTester {
 public:
  NetTester(Cluster& cluster, const NetServer& server, const NetTestOptions& options)
      : cluster_(cluster), server_(server), options_(options) {}

  // Returns one entry per member of `members`, in their order.
  absl::StatusOr<std::vector<Outcome>> Round(v1::NetTest::Part part, double seconds,
                                             const std::vector<uint32_t>& members);

 private:
  v1::NetTest RequestFor(const Member& member, const NetRound& round, size_t index) const;

  Cluster& cluster_;
  const NetServer& server_;
  const NetTestOptions& options_;
  std::random_device random_;
};

v1::NetTest NetTester::RequestFor(const Member& member, const NetRound& round, size_t index) const {
  v1::NetTest test;
  test.set_part(round.part);
  if (options_.told_host.empty()) {
    for (std::string& host : OwnAddresses(member.facts.address())) test.add_hosts(std::move(host));
  } else {
    test.add_hosts(options_.told_host);
  }
  test.set_port(server_.port());
  test.set_token(round.tokens[index]);
  test.set_seconds(round.seconds);
  test.set_record_bytes(round.record_bytes);
  return test;
}

absl::StatusOr<std::vector<Outcome>> NetTester::Round(v1::NetTest::Part part, double seconds,
                                                      const std::vector<uint32_t>& members) {
  NetRound round{.part = part, .tokens = {}, .seconds = seconds, .record_bytes = options_.record_bytes};
  for (size_t i = 0; i < members.size(); ++i) round.tokens.push_back(uint64_t{random_()} << 32 | random_());
  std::vector<Outcome> outcomes(members.size());
  std::vector<NetServed> served;
  std::atomic<bool> cancel{false};
  IOBENCH_ASSIGN_OR_RETURN(std::thread serving,
                           StartThread([&] { served = server_.Serve(round, cancel); }));
  absl::Status first_problem;
  std::unordered_map<uint32_t, size_t> index_of;
  for (size_t i = 0; i < members.size(); ++i) index_of[members[i]] = i;
  absl::Status status = cluster_.CallSome(
      members,
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        v1::WorkerRequest request;
        *request.mutable_net_test() = RequestFor(member, round, index_of[member.number]);
        return request;
      },
      [&](const Member& member, const ReceivedEvent& received) {
        const absl::Status answer = ProblemOf(member, received);
        if (answer.ok()) {
          outcomes[index_of[member.number]].tested = received.event.net_tested();
          return;
        }
        first_problem.Update(answer);
        cancel = true;  // no other connection needs to wait
      },
      {.deadline = cluster_.Now() + NanosFrom(seconds + kPatienceSeconds)});
  if (!status.ok()) cancel = true;
  serving.join();
  IOBENCH_RETURN_IF_ERROR(first_problem);
  IOBENCH_RETURN_IF_ERROR(status);
  for (size_t i = 0; i < members.size(); ++i) {
    const Member& member = cluster_.members()[members[i]];
    if (member.lost)
      return absl::UnavailableError(absl::StrCat(member.Name(), " is lost: ", member.lost_reason));
    IOBENCH_RETURN_IF_ERROR(Annotate(served[i].status, member.Name()));
    outcomes[i].served = std::move(served[i]);
  }
  return outcomes;
}

// Returns the first worker of each client, in the order of the workers.
std::vector<uint32_t> OneOfEachClient(const Cluster& cluster) {
  std::set<uint32_t> seen;
  std::vector<uint32_t> members;
  for (const Member& member : cluster.members()) {
    if (!member.lost && seen.insert(member.client).second) members.push_back(member.number);
  }
  return members;
}

std::string MiBPerSecond(double rate) {
  return std::isfinite(rate) ? absl::StrFormat("%.1f", rate / static_cast<double>(1_MiB)) : "-";
}

std::string Microseconds(double us) {
  return std::isfinite(us) ? absl::StrFormat("%.1f", us) : "-";
}

}  // namespace

double PercentileUs(std::vector<int64_t> times_ns, double percent) {
  if (times_ns.empty()) return NAN;
  std::sort(times_ns.begin(), times_ns.end());
  const auto rank = static_cast<size_t>(std::ceil(percent / 100 * static_cast<double>(times_ns.size())));
  return static_cast<double>(times_ns[std::clamp<size_t>(rank, 1, times_ns.size()) - 1]) / 1e3;
}

absl::StatusOr<std::vector<NetFigures>> TestNetwork(Cluster& cluster, const std::string& own_boot_id,
                                                    const NetTestOptions& options) {
  IOBENCH_ASSIGN_OR_RETURN(const NetServer server, NetServer::Start());
  NetTester tester(cluster, server, options);
  const std::vector<uint32_t> members = OneOfEachClient(cluster);
  const std::vector<std::string> names = ClientNamesOf(cluster.roster());
  const double together_s = options.seconds > 0 ? options.seconds : kDefaultSeconds;
  const double alone_s =
      options.seconds > 0
          ? options.seconds
          : std::clamp(kAloneSeconds / 2 / static_cast<double>(members.size()), kMinSeconds, kDefaultSeconds);
  std::vector<NetFigures> figures;
  for (const uint32_t number : members) {
    const Member& member = cluster.members()[number];
    NetFigures& client = figures.emplace_back();
    client.host = names[number];
    client.same_host = IsOnHost(member.facts, own_boot_id);
    IOBENCH_ASSIGN_OR_RETURN(const auto trips, tester.Round(v1::NetTest::ROUND_TRIP,
                                                            std::min(alone_s, kRoundTripSeconds), {number}));
    client.reached_at = trips[0].tested.host();
    client.round_trip_median_us = PercentileUs(trips[0].served.round_trips_ns, 50);
    client.round_trip_p99_us = PercentileUs(trips[0].served.round_trips_ns, 99);
    IOBENCH_ASSIGN_OR_RETURN(const auto to, tester.Round(v1::NetTest::TO_COORDINATOR, alone_s, {number}));
    client.to_bytes_per_s = Rate(to[0].served.moved);
    IOBENCH_ASSIGN_OR_RETURN(const auto from, tester.Round(v1::NetTest::FROM_COORDINATOR, alone_s, {number}));
    client.from_bytes_per_s = Rate({from[0].tested.bytes(), from[0].tested.seconds()});
  }
  if (!options.together) return figures;
  IOBENCH_ASSIGN_OR_RETURN(const auto all_to, tester.Round(v1::NetTest::TO_COORDINATOR, together_s, members));
  IOBENCH_ASSIGN_OR_RETURN(const auto all_from,
                           tester.Round(v1::NetTest::FROM_COORDINATOR, together_s, members));
  for (size_t i = 0; i < members.size(); ++i) {
    figures[i].all_to_bytes_per_s = Rate(all_to[i].served.moved);
    figures[i].all_from_bytes_per_s = Rate({all_from[i].tested.bytes(), all_from[i].tested.seconds()});
  }
  return figures;
}

void PrintNetFigures(const std::vector<NetFigures>& figures, std::ostream& out) {
  TextTable table({{.title = "client", .align = TextTable::Align::kLeft},
                   {.title = "to MiB/s"},
                   {.title = "from MiB/s"},
                   {.title = "RTT median us"},
                   {.title = "RTT p99 us"},
                   {.title = "all: to MiB/s"},
                   {.title = "all: from MiB/s"},
                   {.title = "reached at", .align = TextTable::Align::kLeft}});
  double all_to = 0, all_from = 0;
  for (const NetFigures& client : figures) {
    table.AddRow({client.host, MiBPerSecond(client.to_bytes_per_s), MiBPerSecond(client.from_bytes_per_s),
                  Microseconds(client.round_trip_median_us), Microseconds(client.round_trip_p99_us),
                  MiBPerSecond(client.all_to_bytes_per_s), MiBPerSecond(client.all_from_bytes_per_s),
                  absl::StrCat(client.reached_at, client.same_host ? " (this host)" : "")});
    all_to += client.all_to_bytes_per_s;
    all_from += client.all_from_bytes_per_s;
  }
  table.AddRow({absl::StrCat("all ", figures.size()), "", "", "", "", MiBPerSecond(all_to),
                MiBPerSecond(all_from), ""});
  out << "network test: to and from the coordinator's host over TCP, each client alone, then all at once\n";
  for (const std::string& line : table.Lines(kTableColumns)) out << "  " << line << '\n';
  out << std::flush;
}

}  // namespace iobench
