// Changes of a phase's rate, found in the timelines of simulated lanes.
#include "coordinator/analysis/explain/rate_changes.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/analysis/marks/marks.h"
#include "tests/support/phase_script.h"
#include "tests/unit/dependent_series.h"

namespace iobench {
namespace {

constexpr uint64_t kRecord = 1_MiB;

// What a phase is like: lanes that each begin an op when its last one has ended.
struct Load {
  std::vector<double> lane_ops;    // of each lane
  std::vector<double> lane_speed;  // 1: as the others
  double op_s = 0.004;             // mean
  double sigma = 0.5;              // of the logarithm of the time of an op
  double common = 0;               // deviation of a factor that all ops have in common, which changes slowly
  double common_s = 0.2;           // how slowly
  double slope = 0;                // at first the rate is lower by this share …
  double slope_s = 1;              // … which decays with this time
  double stop_s = 0;               // all lanes stop then; 0: each has its number of ops
  double tokens = 0;               // ops that may pass as fast as they come; 0: no limit …
  double refill_per_s = 0;         // … and ops a second that are added, in ticks of 5 ms
};

// Plays the load op by op. Tokens are counted in ticks, and ops queue for them: no rate is computed.
// `emptied_s`, if not null: when the first op found no token.
PhaseScript Played(const Load& load, SeriesSource& source, double* emptied_s = nullptr) {
  constexpr double kTick = 0.005;
  struct Turn {
    double at_s;
    size_t lane;
    bool served;  // it only waits for its token
    bool operator>(const Turn& other) const { return at_s > other.at_s; }
  };
  PhaseScript script("write", static_cast<uint32_t>(load.lane_ops.size()));
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
  std::deque<size_t> waiting;
  std::vector<uint64_t> done(load.lane_ops.size());
  double tokens = load.tokens, common = source.Normal(), common_at = 0, tick_at = 0;
  const auto service_s = [&](double now_s, size_t lane) {
    while (common_at < now_s) {  // an autoregressive factor, in steps
      const double keeps = std::exp(-0.02 / load.common_s);
      common = keeps * common + std::sqrt(1 - keeps * keeps) * source.Normal();
      common_at += 0.02;
    }
    const double own = std::exp(load.sigma * source.Normal() - load.sigma * load.sigma / 2);
    const double slow = std::exp(load.common * common) / (1 - load.slope * std::exp(-now_s / load.slope_s));
    return load.op_s * own * slow / load.lane_speed[lane];
  };
  const auto ends = [&](double at_s, size_t lane) {
    ++done[lane];
    script.Lane(static_cast<uint32_t>(lane)).Point(at_s, done[lane] * kRecord, done[lane]).EndsAt(at_s);
    const bool goes_on = load.stop_s > 0 ? at_s < load.stop_s : static_cast<double>(done[lane]) < load.lane_ops[lane];
    if (goes_on) turns.push({at_s + service_s(at_s, lane), lane, false});
  };
  for (size_t lane = 0; lane < done.size(); ++lane) turns.push({service_s(0, lane), lane, false});
  while (!turns.empty() || !waiting.empty()) {
    const double next_s = turns.empty() ? std::numeric_limits<double>::infinity() : turns.top().at_s;
    if (load.tokens > 0 && tick_at <= next_s) {
      tokens = std::min(load.tokens, tokens + load.refill_per_s * kTick);
      for (; !waiting.empty() && tokens >= 1; tokens -= 1) {
        ends(tick_at, waiting.front());
        waiting.pop_front();
      }
      tick_at += kTick;
      continue;
    }
    const Turn turn = turns.top();
    turns.pop();
    if (load.tokens > 0 && (tokens < 1 || !waiting.empty())) {
      if (emptied_s != nullptr && *emptied_s == 0) *emptied_s = turn.at_s;
      waiting.push_back(turn.lane);
      continue;
    }
    tokens -= 1;
    ends(turn.at_s, turn.lane);
  }
  for (size_t lane = 0; lane < done.size(); ++lane)
    script.Lane(static_cast<uint32_t>(lane)).Writes().Moves(done[lane] * kRecord).InOps(done[lane]);
  return script;
}

TEST_CASE("token buckets are found within 5 %: the instant, both levels, and what was moved by then") {
  SeriesSource source(33);
  int in_bounds = 0, count = 0;
  for (const double low : {150.0, 300.0, 500.0}) {
    for (const double share : {0.15, 0.4, 0.7}) {
      for (const int lanes : {1, 4, 16}) {
        Load load{.lane_ops = std::vector<double>(static_cast<size_t>(lanes), 0),
                  .lane_speed = std::vector<double>(static_cast<size_t>(lanes), 1),
                  .op_s = lanes / 1000.0,  // together 1000 ops a second
                  .common = 0.03,
                  .stop_s = 10,
                  .refill_per_s = low};
        load.tokens = share * load.stop_s * (1000 - low);  // what the bucket lacks of the load until then
        double at_s = 0;  // noise moves it a little
        const v1::PhaseReport report = Played(load, source, &at_s).Report();
        INFO("to " << low << " after " << at_s << " s, " << lanes << " lanes");
        REQUIRE(report.changes_size() == 1);
        const v1::RateChange& change = report.changes(0);
        CHECK(change.at_s() == Approx(at_s).epsilon(0.05));
        CHECK(change.before_per_s() == Approx(1000 * kMiB).epsilon(0.05));
        CHECK(change.after_per_s() == Approx(low * kMiB).epsilon(0.05));
        CHECK(at_s == Approx(share * load.stop_s).epsilon(0.1));
        CHECK(static_cast<double>(change.bytes_until()) == Approx((load.tokens + low * at_s) * kMiB).epsilon(0.05));
        CHECK(static_cast<double>(change.ops_until()) == Approx(load.tokens + low * at_s).epsilon(0.05));
        // The law of the bucket, of the report's own figures.
        CHECK(static_cast<double>(change.bytes_until()) ==
              Approx(load.tokens * kMiB + change.after_per_s() * change.at_s()).epsilon(0.05));
        CHECK(HasMark(report, "rate_changed"));
        in_bounds += change.low_s() <= at_s && at_s <= change.high_s();
        ++count;
      }
    }
  }
  CHECK(in_bounds >= count * 9 / 10);
}

TEST_CASE("of 500 phases whose level never changed, fewer than 1 % have a change") {
  SeriesSource source(500);
  int alarms = 0;
  std::string which;
  for (int i = 0; i < 500; ++i) {
    const auto lanes = static_cast<size_t>(1 + 8 * source.Uniform());
    Load load;
    load.sigma = 0.2 + 0.8 * source.Uniform();
    load.common = 0.15 * source.Uniform();
    load.common_s = 0.05 + 0.5 * source.Uniform();
    load.slope = i % 3 == 0 ? 0.8 * source.Uniform() : 0;
    load.slope_s = 0.05 + 0.4 * source.Uniform();
    for (size_t lane = 0; lane < lanes; ++lane) {
      load.lane_ops.push_back(400 + 400 * source.Uniform());  // lanes end one after the other
      load.lane_speed.push_back(i % 2 == 0 ? 1 : 0.4 + 0.6 * source.Uniform());  // some straggle
    }
    if (i % 5 == 0) load.stop_s = 2 + 2 * source.Uniform();
    const v1::PhaseReport report = Played(load, source).Report();
    if (report.changes().empty()) continue;
    ++alarms;
    which += "\n" + std::to_string(i) + ": " + report.changes(0).ShortDebugString();
  }
  INFO(alarms << which);
  CHECK(alarms < 5);
}

// Two lanes, 100 ops a second each for 4 s, then 25 for 6 s.
PhaseScript Slowing(const std::string& operation = "write") {
  PhaseScript script(operation, 2);
  for (uint32_t lane : {0u, 1u}) {
    for (uint64_t op = 1; op <= 550; ++op) {
      const double at_s = op <= 400 ? 0.01 * static_cast<double>(op) : 4 + 0.04 * static_cast<double>(op - 400);
      script.Lane(lane).Point(at_s, op * kRecord, op);
    }
    script.Lane(lane).Moves(550 * kRecord).InOps(550).EndsAt(10_s);
    if (operation == "write") script.Lane(lane).Writes();
  }
  return script;
}

TEST_CASE("a change is where all lanes together changed, counted from the first op") {
  const v1::PhaseReport report = Slowing().Report();
  REQUIRE(report.changes_size() == 1);
  const v1::RateChange& change = report.changes(0);
  CHECK(change.at_s() == Approx(4).margin(0.03));
  CHECK(change.low_s() < 4);
  CHECK(change.high_s() > 4);
  CHECK(change.before_per_s() == Approx(200 * kMiB).epsilon(0.01));
  CHECK(change.after_per_s() == Approx(50 * kMiB).epsilon(0.01));
  CHECK(static_cast<double>(change.ops_until()) == Approx(800).margin(4));
  CHECK(static_cast<double>(change.bytes_until()) == Approx(800 * kMiB).epsilon(0.005));
}

TEST_CASE("a warm-up past the change leaves one level") {
  PhaseScript script = Slowing();
  script.plan().mutable_stop()->set_warmup_s(4.5);
  const v1::PhaseReport report = script.Report();
  CHECK(report.changes().empty());
  CHECK_FALSE(HasMark(report, "rate_changed"));
}

TEST_CASE("with a warm-up before it, the change is still counted from the first op") {
  PhaseScript script = Slowing();
  script.plan().mutable_stop()->set_warmup_s(1);
  REQUIRE(script.Report().changes_size() == 1);
  CHECK(script.Report().changes(0).at_s() == Approx(4).margin(0.03));
  CHECK(static_cast<double>(script.Report().changes(0).ops_until()) == Approx(800).margin(4));
}

TEST_CASE("where the plan changes the load, no change is reported") {
  PhaseScript script = Slowing();
  script.operation().mutable_arrivals()->set_ops_per_s(200);
  CHECK(script.Report().changes_size() == 1);
  script.operation().mutable_arrivals()->set_end_ops_per_s(50);
  CHECK(script.Report().changes().empty());
}

TEST_CASE("a change at the end of the first pass over the data has that as its cause") {
  PhaseScript script = Slowing("read");
  CHECK(script.Report().changes(0).cause() == "burst credits used up");
  for (uint32_t lane : {0u, 1u}) script.Lane(lane).LoopsOver(400 * kRecord, 4.05);
  CHECK(script.Report().changes(0).cause() == "the first pass over the data ended");
  for (uint32_t lane : {0u, 1u}) script.Lane(lane).LoopsOver(400 * kRecord, 7);
  CHECK(script.Report().changes(0).cause() == "burst credits used up");
}

TEST_CASE("the rate of writes into the clients' memory falls when that is full") {
  const v1::PhaseReport report = Slowing().Report();
  CHECK(report.changes(0).cause() == "write cache full");
  CHECK(report.limited_by().find("write cache: full after 4 s and 800 MiB, then 50 MiB/s instead of 200 MiB/s") == 0);
}

TEST_CASE("buffered writes that are flushed every few ops do not fill the clients' memory") {
  PhaseScript script = Slowing();
  script.operation().mutable_between()->set_flush_every_ops(200);
  CHECK(script.Report().changes(0).cause().empty());  // the last ones may still be there (mark unflushed)
  script.operation().mutable_between()->set_flush_every_ops(8);
  CHECK(script.Report().changes(0).cause() == "burst credits used up");
  script.operation().mutable_between()->set_flush_every_ops(200);
  script.plan().mutable_region()->set_fsync(true);
  script.plan().set_stonewall(v1::STONEWALL_FLUSHED);
  CHECK(script.Report().changes(0).cause() == "burst credits used up");
}

TEST_CASE("a steady level after a fall of direct writes is that of a token bucket") {
  PhaseScript script = Slowing();
  script.operation().set_direct(true);
  const v1::PhaseReport report = script.Report();
  CHECK(report.changes(0).cause() == "burst credits used up");
  REQUIRE(report.limits_size() == 1);
  CHECK(report.limits(0).name() == "burst-credits");
}

TEST_CASE("the mark says which levels the headline mixes") {
  const v1::PhaseReport report = Slowing().Report();
  for (const v1::Mark& mark : report.marks()) {
    if (mark.code() != "rate_changed") continue;
    CHECK(mark.value() == Approx(4).epsilon(0.02));
    CHECK(mark.text().find("the headline is the mean of 2 levels, of 50 MiB/s to 200 MiB/s; the last change was after 4 s "
                           "and 800 MiB") == 0);
  }
}

}  // namespace
}  // namespace iobench
