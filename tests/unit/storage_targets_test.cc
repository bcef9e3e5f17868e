// Figures by storage target, and which target is slow.
#include "coordinator/analysis/storage_targets.h"

#include <catch2/catch.hpp>
#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/support/phase_script.h"
#include "tests/unit/dependent_series.h"

namespace iobench {
namespace {

using Names = std::vector<std::string>;

Names NamesOf(const v1::PhaseReport& report) {
  Names names;
  for (const v1::StorageTargetReport& target : report.storage_targets()) names.push_back(target.name());
  return names;
}

Names SlowOnesOf(const v1::PhaseReport& report) {
  Names names;
  for (const v1::StorageTargetReport& target : report.storage_targets()) {
    if (target.slow()) names.push_back(target.name());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string Shown(const v1::PhaseReport& report) {
  std::string text;
  for (const v1::StorageTargetReport& target : report.storage_targets()) {
    absl::StrAppend(&text, target.name(), ": ", target.lanes(), " lanes at ", target.share_of_median(), target.slow() ? ", slow; " : "; ");
  }
  return text;
}

bool NamesLimit(const v1::PhaseReport& report) {
  return std::any_of(report.limits().begin(), report.limits().end(),
                     [](const v1::Limit& limit) { return limit.name() == "slow-target"; });
}

// Lanes that all run for 10 s, with ops of 1 MiB, on targets "a", "b" …
class Targets {
 public:
  explicit Targets(uint32_t lanes_per_worker = 1) : script("read", lanes_per_worker) { script.plan().mutable_stop()->set_time_s(10); }
  LaneScript& Lane(uint64_t ops, const Names& targets) {
    return script.Lane(lane_count_++).EndsAt(10_s).InOps(ops).Moves(ops << 20).HasFileOn(targets);
  }
  PhaseScript script;

 private:
  uint32_t lane_count_ = 0;
};

TEST_CASE("a target has the mean rate and the latencies of the lanes with files on it alone, slowest first") {
  Targets made;
  made.Lane(1000, {"a"}).OpsTake(0.010);
  made.Lane(2000, {"a"}).OpsTake(0.005);
  made.Lane(4000, {"b"}).OpsTake(0.0025);
  made.Lane(9000, {"a", "b"}).OpsTake(0.001);  // counts for neither
  made.Lane(500, {"c", "a"});                  // but c has no other
  const v1::PhaseReport report = made.script.Report();
  REQUIRE(NamesOf(report) == Names{"c", "a", "b"});
  const v1::StorageTargetReport& c = report.storage_targets(0);
  CHECK(c.lanes() == 1);
  CHECK(c.only_lanes() == 0);
  CHECK(c.ops_per_s() == Approx(50));
  const v1::StorageTargetReport& a = report.storage_targets(1);
  CHECK(a.lanes() == 4);
  CHECK(a.only_lanes() == 2);
  CHECK(a.ops_per_s() == Approx(150));
  CHECK(a.bytes_per_s() == Approx(150 * kMiB));
  CHECK(a.share_of_median() == Approx(1));
  CHECK(a.latency_us().count() == 3000);
  CHECK(a.latency_us().max() == Approx(10'000).epsilon(0.01));
  const v1::StorageTargetReport& b = report.storage_targets(2);
  CHECK(b.share_of_median() == Approx(400.0 / 150));
  CHECK(b.latency_us().p50() == Approx(2500).epsilon(0.01));
}

TEST_CASE("a lane with several files is on all their targets") {
  Targets made;
  made.Lane(1000, {"a"}).HasFileOn({"b"});
  made.Lane(1000, {"a"});
  const v1::PhaseReport report = made.script.Report();
  REQUIRE(report.storage_targets_size() == 2);
  CHECK(report.storage_targets(0).only_lanes() + report.storage_targets(1).only_lanes() == 1);
}

TEST_CASE("where only one target is known, there is nothing to compare") {
  Targets one;
  one.Lane(1000, {"a"});
  one.Lane(100, {"a"});
  CHECK(one.script.Report().storage_targets().empty());
  CHECK(TwoLanes().Report().storage_targets().empty());
}

// Workers on mounts of these sources, each with a lane.
PhaseScript OnNfs(const Names& sources, const std::string& pnfs = "not configured") {
  PhaseScript script("read");
  script.plan().mutable_stop()->set_time_s(10);
  for (uint32_t i = 0; i < sources.size(); ++i) {
    script.Lane(i).InOps(1000).EndsAt(10_s);
    v1::TargetFacts& target = *script.Worker(i).targets.mutable_targets(0);
    target.set_filesystem("nfs4");
    target.set_network(true);
    target.set_mount_source(sources[i]);
    target.set_filesystem_id(sources[i]);
    (*target.mutable_settings())["pnfs"] = pnfs;
  }
  return script;
}

TEST_CASE("files on NFS are on the server of the mount, unless data servers hold them") {
  CHECK(NamesOf(OnNfs({"filer1:/a", "filer2:/a", "filer1:/b"}).Report()) == Names{"filer1", "filer2"});
  CHECK(NamesOf(OnNfs({"[fd00::1]:/a", "[fd00::2]:/a"}).Report()) == Names{"[fd00::1]", "[fd00::2]"});
  CHECK(NamesOf(OnNfs({"filer1:/a", "filer2:/a"}, "LAYOUT_FLEX_FILES").Report()).empty());
}

TEST_CASE("a target whose lanes have a third of the others' rate all the time is slow, and limits the phase") {
  Targets made;
  for (const char* target : {"a", "b", "c", "d"}) {
    for (int lane = 0; lane < 2; ++lane) made.Lane(std::string(target) == "c" ? 300 : 1000, {target});
  }
  const v1::PhaseReport report = made.script.Report();
  CHECK(SlowOnesOf(report) == Names{"c"});
  REQUIRE(NamesLimit(report));
  CHECK(report.limits(0).evidence() == "one storage target: c at 30 % of the median rate per lane");
  CHECK(report.limits(0).strength() == Approx(0.6 * 0.7));
}

// Eight lanes on four targets, of which those on "c" do this many of 1000 ops.
Targets WithSlow(uint64_t ops, int lanes_on_it = 2) {
  Targets made;
  for (const char* target : {"a", "b", "d"}) {
    for (int lane = 0; lane < 2; ++lane) made.Lane(1000, {target});
  }
  for (int lane = 0; lane < lanes_on_it; ++lane) made.Lane(ops, {"c"});
  return made;
}

TEST_CASE("a target at just over half of the others' rate is not slow") {
  CHECK(SlowOnesOf(WithSlow(510).script.Report()).empty());
  CHECK(SlowOnesOf(WithSlow(480).script.Report()) == Names{"c"});
}

TEST_CASE("lanes that share a target with many others are slower than those that do not, but the target is not") {
  CHECK(SlowOnesOf(WithSlow(340, 6).script.Report()).empty());  // 6 x 34 % is as much as 2 x 100 %
  CHECK(SlowOnesOf(WithSlow(160, 6).script.Report()) == Names{"c"});
}

TEST_CASE("a single lane may be slow for reasons of its own") {
  CHECK(SlowOnesOf(WithSlow(100, 1).script.Report()).empty());
}

TEST_CASE("targets that hold the same lanes' files are judged together") {
  Targets made;
  for (int lane = 0; lane < 2; ++lane) {
    made.Lane(1000, {"a1", "a2"});
    made.Lane(300, {"b1", "b2"});
    made.Lane(1000, {"c1", "c2"});
  }
  const v1::PhaseReport report = made.script.Report();
  CHECK(SlowOnesOf(report) == Names{"b1", "b2"});
  REQUIRE(NamesLimit(report));
  CHECK(absl::StartsWith(report.limits(0).evidence(), "storage targets: b1 (and 1 more) at 30 %"));
}

TEST_CASE("lanes on several targets are not compared with lanes on one") {
  Targets made = WithSlow(510);
  for (int lane = 0; lane < 2; ++lane) made.Lane(4000, {"e", "f"});
  CHECK(SlowOnesOf(made.script.Report()).empty());
  Targets slow = WithSlow(300);
  for (int lane = 0; lane < 2; ++lane) slow.Lane(4000, {"e", "f"});
  CHECK(SlowOnesOf(slow.script.Report()) == Names{"c"});
}

TEST_CASE("lanes with files on several targets crowd all of them") {
  // Eight more lanes have a file on "c" and one elsewhere, so that six are on "c" in all, and half as many on the others.
  Targets made = WithSlow(340);
  for (int lane = 0; lane < 8; ++lane) made.Lane(700, {"c", Names{"a", "b", "d"}[static_cast<size_t>(lane % 3)]});
  CHECK(SlowOnesOf(made.script.Report()).empty());
}

TEST_CASE("of lanes with two targets each, those with the slow one are slower") {
  Targets made;
  for (int lane = 0; lane < 3; ++lane) {
    made.Lane(1000, {"OST0000", "OST0001"});
    made.Lane(400, {"OST0001", "OST0002"});
    made.Lane(400, {"OST0002", "OST0003"});
    made.Lane(1000, {"OST0003", "OST0000"});
  }
  CHECK(SlowOnesOf(made.script.Report()) == Names{"OST0002"});
}

TEST_CASE("lanes with files on several targets are compared with those that have as many") {
  Targets made;  // what is on "c" takes ten times as long
  for (int lane = 0; lane < 3; ++lane) {
    made.Lane(1000, {"a", "b"});
    made.Lane(181, {"b", "c"});
    made.Lane(181, {"c", "d"});
    made.Lane(1500, {"a", "b", "d"});
    made.Lane(250, {"b", "c", "d"});
  }
  CHECK(SlowOnesOf(made.script.Report()) == Names{"c"});
  Targets wide;  // more targets make a lane faster, and none slow
  for (int lane = 0; lane < 3; ++lane) {
    wide.Lane(1000, {"a", "b"});
    wide.Lane(3000, {"b", "c", "d", "e"});
    wide.Lane(3000, {"c", "d", "e", "f"});
  }
  CHECK(SlowOnesOf(wide.script.Report()).empty());
}

TEST_CASE("a target is slow if most of its lanes are") {
  Targets one = WithSlow(10, 1);  // one lane that hardly works …
  one.Lane(900, {"c"});           // … and one that does
  CHECK(SlowOnesOf(one.script.Report()).empty());
  Targets both = WithSlow(10, 1);
  both.Lane(450, {"c"});
  CHECK(SlowOnesOf(both.script.Report()) == Names{"c"});
}

TEST_CASE("one target that is faster than all others makes none of them slow") {
  Targets made;
  for (const char* target : {"a", "b", "c", "d"}) {
    for (int lane = 0; lane < 2; ++lane) made.Lane(std::string(target) == "c" ? 1000 : 300, {target});
  }
  CHECK(SlowOnesOf(made.script.Report()).empty());
}

TEST_CASE("with a headline that counts all until the last lane ends, the rates are those of the lanes' own times") {
  Targets made = WithSlow(1000);
  made.script.plan().set_stonewall(v1::STONEWALL_NONE);
  for (const uint32_t lane : {6u, 7u}) made.script.Lane(lane).EndsAt(40_s);
  const v1::PhaseReport report = made.script.Report();
  REQUIRE(report.headline().name() == "full");
  CHECK(SlowOnesOf(report) == Names{"c"});
  CHECK(report.storage_targets(0).share_of_median() == Approx(0.25));
  CHECK(report.limits(0).strength() == Approx(0.75));
}

TEST_CASE("a slow client with most of its files on one target makes that target no slow one, nor hides one that is") {
  for (const bool is_slow : {false, true}) {
    Targets made(8);
    const auto ops = [is_slow](bool on_a, double of_client) {
      return static_cast<uint64_t>(of_client * (on_a && is_slow ? 0.25 : 1));
    };
    for (int lane = 0; lane < 7; ++lane) made.Lane(ops(true, 400), {"a"});  // of the slow client
    made.Lane(ops(false, 400), {"b"});
    made.Lane(ops(true, 4000), {"a"});
    for (const char* target : {"b", "b", "b", "b", "c", "c", "d"}) made.Lane(ops(false, 4000), {target});
    made.script.Worker(1).RunsOn("node2", "boot2");
    const v1::PhaseReport report = made.script.Report();
    INFO(Shown(report));
    CHECK(SlowOnesOf(report) == (is_slow ? Names{"a"} : Names{}));
  }
}

// Clients on one NFS server each, with two lanes.
struct OfServer {
  std::string server;
  std::vector<uint64_t> ops;  // of each client's lanes
};
v1::PhaseReport OnServers(const std::vector<OfServer>& servers) {
  Targets made(2);
  uint32_t client = 0;
  for (const OfServer& server : servers) {
    for (const uint64_t ops : server.ops) {
      for (int lane = 0; lane < 2; ++lane) made.Lane(ops, {server.server});
      made.script.Worker(client).RunsOn(absl::StrCat("node", client), absl::StrCat("boot", client));
      ++client;
    }
  }
  return made.script.Report();
}

TEST_CASE("where each client uses one server, all clients of a slow server are slower than all others") {
  struct {
    const char* what;
    std::vector<OfServer> servers;
    Names slow;
  } const table[] = {
      {"three clients of six", {{"x", {300, 280, 310}}, {"y", {1000, 950, 1020}}}, {"x"}},
      {"two clients of eight",
       {{"w", {1000, 990}}, {"x", {300, 280}}, {"y", {1000, 950}}, {"z", {1000, 970}}},
       {"x"}},
      {"one client is as fast as others", {{"x", {300, 280, 900}}, {"y", {1000, 950, 1020}}}, {}},
      {"another server has a slow client, too", {{"x", {300, 280, 310}}, {"y", {1000, 950, 250}}}, {}},
      {"one slow client", {{"w", {1000}}, {"x", {200}}, {"y", {1000}}, {"z", {1000}}}, {}},
      {"two of four clients, which may be slow by chance", {{"x", {300, 280}}, {"y", {1000, 950}}}, {}},
      {"a server with many clients", {{"x", {340, 340, 340, 340, 340, 340}}, {"y", {1000, 1000}}}, {}},
      {"all are equally fast", {{"x", {1000, 980, 1010}}, {"y", {1000, 950, 1020}}}, {}},
  };
  for (const auto& row : table) {
    INFO(row.what);
    const v1::PhaseReport report = OnServers(row.servers);
    INFO(Shown(report));
    CHECK(SlowOnesOf(report) == row.slow);
    CHECK(NamesLimit(report) == !row.slow.empty());
    // A slow server's clients are no slow clients.
    if (!row.slow.empty()) {
      CHECK(report.limits_size() == 1);
    }
  }
}

TEST_CASE("a client with a worker on each server compares them") {
  PhaseScript script = OnNfs({"filer1:/a", "filer2:/a", "filer1:/b", "filer2:/b"});
  for (const uint32_t worker : {1u, 3u}) script.Lane(worker).InOps(300).Moves(300 << 20);
  for (const uint32_t worker : {0u, 2u}) script.Lane(worker).InOps(1000).Moves(1000 << 20);
  CHECK(SlowOnesOf(script.Report()) == Names{"filer2"});
}

TEST_CASE("a slow client makes no target slow, even if no other client has files there") {
  Targets made(4);  // lanes per worker
  for (const char* target : {"a", "a", "b", "b"}) made.Lane(1000, {target});
  for (const char* target : {"c", "c", "d", "d"}) made.Lane(200, {target});
  made.script.Worker(1).RunsOn("node2", "boot2");
  const v1::PhaseReport report = made.script.Report();
  REQUIRE(report.storage_targets_size() == 4);
  CHECK(SlowOnesOf(report).empty());
}

TEST_CASE("no target is slow in a phase that is short, has few ops, is not whole, or does several things") {
  Targets brief = WithSlow(300);
  for (uint32_t lane = 0; lane < 8; ++lane) brief.script.Lane(lane).EndsAt(0.9_s);
  CHECK(SlowOnesOf(brief.script.Report()).empty());
  Targets few;
  for (const char* target : {"a", "b", "c"}) {
    for (int lane = 0; lane < 2; ++lane) few.Lane(std::string(target) == "c" ? 5 : 15, {target});
  }
  CHECK(SlowOnesOf(few.script.Report()).empty());
  Targets broken = WithSlow(300);
  broken.Lane(1, {"a"}).FailsWith(5);
  CHECK(SlowOnesOf(broken.script.Report()).empty());
  Targets several = WithSlow(300);
  several.script.plan().add_assignments()->mutable_operation()->set_name("write");
  several.script.plan().mutable_assignments(0)->mutable_who()->add_workers(0);
  CHECK(SlowOnesOf(several.script.Report()).empty());
}

TEST_CASE("a target that stood still for a while is not slow") {
  Targets made = WithSlow(300);
  for (const uint32_t lane : {6u, 7u}) made.script.Lane(lane).Point(7_s, 1 << 20, 1).Point(10_s, 300 << 20, 300);
  CHECK(SlowOnesOf(made.script.Report()).empty());
}

TEST_CASE("a target is slow although all lanes stood still for a while") {
  Targets made = WithSlow(300);
  // All do next to nothing from 1 to 4 s, and then go on.
  for (uint32_t lane = 0; lane < 8; ++lane) {
    const uint64_t ops = lane < 6 ? 1000 : 300;
    made.script.Lane(lane).Point(1_s, ops / 10 << 20, ops / 10).Point(4_s, (ops / 10 + 1) << 20, ops / 10 + 1).Point(10_s, ops << 20, ops);
  }
  CHECK(SlowOnesOf(made.script.Report()) == Names{"c"});
}

// ---- a law: simulated storage in which the truth is known

// Lanes in a closed loop over bricks with queues: each op spends time in the client, then waits for one of the brick's
// servers, whose speed drifts and varies from op to op. All is drawn; nothing of it is shared with what is tested.
struct Storage {
  int clients = 1, lanes_per_client = 8, bricks = 4, servers = 1;
  double service_s = 0.004, client_s = 0.002, seconds = 4;
  int slow_brick = -1;
  double slow_factor = 8;
  int slow_client = -1;
  bool heavy_tails = false;   // a few ops take as long as all others together
  bool skewed = false;        // half of the lanes are on the first brick
  double drift = 0.15;        // of each brick's speed …
  double correlation = 0.7;   // … from part to part of the time
  double common_drift = 0;    // of all bricks together
};

PhaseScript Simulated(const Storage& storage, uint64_t seed) {
  SeriesSource random(seed);
  const int lane_count = storage.clients * storage.lanes_per_client;
  const auto spread = [&random](double deviation) { return std::exp(deviation * random.Normal()); };
  std::vector<int> brick_of;
  std::vector<double> lane_factor;
  for (int lane = 0; lane < lane_count; ++lane) {
    const int by_name = static_cast<int>(random.Uniform() * storage.bricks);  // as if by a hash of it
    brick_of.push_back(storage.skewed && random.Uniform() < 0.5 ? 0 : by_name);
    lane_factor.push_back(spread(0.1));
  }
  // The last two lanes on the brick in question are where they are by choice, so that it has any.
  if (storage.slow_brick >= 0) brick_of[0] = brick_of[static_cast<size_t>(lane_count) - 1] = storage.slow_brick;
  constexpr int kDrifts = 64;
  std::vector<std::vector<double>> drift;
  const std::vector<double> common = random.Series(kDrifts, 0, storage.common_drift, 0.9);
  for (int brick = 0; brick < storage.bricks; ++brick) {
    drift.push_back(random.Series(kDrifts, 0, storage.drift, storage.correlation));
    std::transform(drift.back().begin(), drift.back().end(), common.begin(), drift.back().begin(), std::plus<>());
  }
  std::vector<std::vector<double>> free_at(static_cast<size_t>(storage.bricks),
                                           std::vector<double>(static_cast<size_t>(storage.servers), 0.0));

  struct Event {
    double at_s;
    int lane;
    bool operator>(const Event& other) const { return at_s > other.at_s; }
  };
  std::priority_queue<Event, std::vector<Event>, std::greater<>> arrivals;  // at a brick
  const auto client_s = [&](int lane) {
    return storage.client_s * lane_factor[static_cast<size_t>(lane)] * spread(0.3) *
           (lane / storage.lanes_per_client == storage.slow_client ? 20 : 1);
  };
  PhaseScript script("read", static_cast<uint32_t>(storage.lanes_per_client));
  script.plan().mutable_stop()->set_time_s(storage.seconds);
  std::vector<uint64_t> ops(static_cast<size_t>(lane_count));
  std::vector<double> end_s(static_cast<size_t>(lane_count));
  for (int lane = 0; lane < lane_count; ++lane) arrivals.push({client_s(lane), lane});
  while (!arrivals.empty()) {
    const auto [at_s, lane] = arrivals.top();
    arrivals.pop();
    const int brick = brick_of[static_cast<size_t>(lane)];
    auto& servers = free_at[static_cast<size_t>(brick)];
    double& server = *std::min_element(servers.begin(), servers.end());
    const auto part = std::min(kDrifts - 1, static_cast<int>(at_s / storage.seconds * kDrifts));
    // Pareto's distribution with 1.5, whose variance is infinite and whose mean is 3.
    const double tail = storage.heavy_tails ? std::pow(1 - random.Uniform(), -1 / 1.5) / 3 : spread(0.4);
    const double service_s = storage.service_s * tail *
                             std::exp(drift[static_cast<size_t>(brick)][static_cast<size_t>(part)]) *
                             (brick == storage.slow_brick ? storage.slow_factor : 1);
    const double done_s = std::max(at_s, server) + service_s;
    server = done_s;
    if (done_s > storage.seconds) continue;
    const auto index = static_cast<size_t>(lane);
    end_s[index] = done_s;
    script.Lane(static_cast<uint32_t>(lane)).Point(done_s, ++ops[index] << 16, ops[index]);
    arrivals.push({done_s + client_s(lane), lane});
  }
  for (int lane = 0; lane < lane_count; ++lane) {
    const auto index = static_cast<size_t>(lane);
    script.Lane(static_cast<uint32_t>(lane)).EndsAt(std::max(0.001, end_s[index])).InOps(ops[index]).Moves(ops[index] << 16)
        .OpsTake(0.005).HasFileOn({absl::StrCat("brick", brick_of[index])});
  }
  for (int client = 0; client < storage.clients; ++client)
    script.Worker(static_cast<uint32_t>(client)).RunsOn(absl::StrCat("node", client), absl::StrCat("boot", client));
  return script;
}

// All kinds of deployments: bricks or clients are full, or neither.
Storage DrawnStorage(SeriesSource& random) {
  const auto among = [&random](std::initializer_list<double> values) {
    return values.begin()[static_cast<size_t>(random.Uniform() * static_cast<double>(values.size()))];
  };
  Storage storage;
  storage.clients = static_cast<int>(among({1, 2, 3}));
  storage.lanes_per_client = static_cast<int>(among({4, 8, 12}));
  storage.bricks = static_cast<int>(among({2, 4, 6}));
  storage.servers = static_cast<int>(among({1, 1, 2, 8}));
  storage.service_s = among({0.002, 0.004, 0.008});
  storage.client_s = among({0.0005, 0.004, 0.02});
  storage.seconds = among({1.5, 3});
  return storage;
}

TEST_CASE("one slow brick of four is named in 20 of 20 runs, and no other") {
  for (const double slow_factor : {4, 8}) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      Storage storage{.clients = 2, .lanes_per_client = 8, .servers = 1 + static_cast<int>(seed % 3), .seconds = 10};
      storage.slow_brick = static_cast<int>(seed % 4);
      storage.slow_factor = slow_factor;
      INFO("seed " << seed << ", " << slow_factor << " times slower");
      const v1::PhaseReport report = Simulated(storage, seed).Report();
      INFO(Shown(report));
      CHECK(SlowOnesOf(report) == Names{absl::StrCat("brick", storage.slow_brick)});
      CHECK(NamesLimit(report));
    }
  }
}

TEST_CASE("no brick is named in 500 runs without a slow one, even if a client is slow") {
  SeriesSource random(42);
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    Storage storage = DrawnStorage(random);
    if (storage.clients > 1 && seed % 4 == 0) storage.slow_client = 0;
    INFO("seed " << seed << ": " << storage.clients << " x " << storage.lanes_per_client << " lanes, " << storage.bricks
                 << " bricks, " << storage.servers << " servers, " << storage.service_s << " s, " << storage.client_s << " s");
    CHECK(SlowOnesOf(Simulated(storage, seed).Report()).empty());
  }
}

TEST_CASE("less than one in 100 runs names a brick by chance: with drift, with heavy tails, with most lanes on one") {
  SeriesSource random(43);
  size_t named = 0;
  std::string which;
  constexpr uint64_t kRuns = 500;
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    Storage storage = DrawnStorage(random);
    storage.heavy_tails = seed % 2 == 0;
    storage.skewed = seed % 3 == 0;
    if (seed % 5 < 2) storage.drift = 0.25, storage.correlation = 0.9, storage.common_drift = 0.5;
    if (storage.clients > 1 && seed % 7 == 0) storage.slow_client = 0;
    const v1::PhaseReport report = Simulated(storage, 1000 + seed).Report();
    if (SlowOnesOf(report).empty()) continue;
    ++named;
    absl::StrAppend(&which, "seed ", seed, ": ", storage.clients, " x ", storage.lanes_per_client, " lanes, ", storage.servers,
                    " servers, ", storage.service_s, " s, ", storage.client_s, " s: ", Shown(report), "\n");
  }
  INFO(which);
  CHECK(named * 100 < kRuns);
}

}  // namespace
}  // namespace iobench
