#include "coordinator/live/observer_list.h"

#include <vector>

#include "catch2/catch.hpp"

namespace iobench {
namespace {

class Watching final : public RunObserver {
 public:
  explicit Watching(int64_t interval_ns, bool shows_latency = false)
      : interval_ns_(interval_ns), shows_latency_(shows_latency) {}
  void PhasePrepares(const PhaseProgress&) override { ++prepared; }
  void PhaseMoves(const PhaseProgress& progress) override { seen_s.push_back(progress.elapsed_s); }
  int64_t progress_interval_ns() const override { return interval_ns_; }
  bool shows_latency() const override { return shows_latency_; }

  int prepared = 0;
  std::vector<double> seen_s;

 private:
  const int64_t interval_ns_;
  const bool shows_latency_;
};

constexpr int64_t kHalf = 500'000'000, kOne = 1'000'000'000;

PhaseProgress At(double elapsed_s) {
  PhaseProgress progress;
  progress.elapsed_s = elapsed_s;
  return progress;
}

TEST_CASE("workers are polled at the shortest interval, and not at all if nobody asks") {
  Watching fast(kHalf), slow(kOne), never(0);
  CHECK(ObserverList({&slow, &never, &fast}).progress_interval_ns() == kHalf);
  CHECK(ObserverList({&slow}).progress_interval_ns() == kOne);
  CHECK(ObserverList({&never}).progress_interval_ns() == 0);
  CHECK(ObserverList({}).progress_interval_ns() == 0);
}

TEST_CASE("workers are asked for latencies if one observer shows them") {
  Watching line(kHalf), screen(kOne, true);
  CHECK_FALSE(ObserverList({&line}).shows_latency());
  CHECK(ObserverList({&line, &screen}).shows_latency());
}

TEST_CASE("each observer sees the progress at its own interval, and all see the other events") {
  Watching fast(kHalf), slow(kOne), never(0);
  ObserverList all({&fast, &slow, &never});
  all.PhasePrepares(At(0));
  const std::vector<double> polls = {0.501, 1.002, 1.503, 2.004, 2.505};
  for (const double elapsed_s : polls) all.PhaseMoves(At(elapsed_s));
  CHECK(fast.seen_s == polls);
  CHECK(slow.seen_s == std::vector<double>{1.002, 2.004});
  CHECK(never.seen_s.empty());
  CHECK(never.prepared == 1);
}

TEST_CASE("after a poll that came late, an observer is not called twice to catch up") {
  Watching fast(kHalf), slow(kOne);
  ObserverList all({&fast, &slow});
  all.PhasePrepares(At(0));
  for (const double elapsed_s : {0.5, 3.7, 4.2, 4.7, 5.2}) all.PhaseMoves(At(elapsed_s));
  CHECK(slow.seen_s == std::vector<double>{3.7, 4.2, 5.2});
}

TEST_CASE("the times of a phase do not count in the next") {
  Watching fast(kHalf), slow(kOne);
  ObserverList all({&fast, &slow});
  all.PhaseMoves(At(7));
  all.PhasePrepares(At(0));
  all.PhaseMoves(At(0.5));
  all.PhaseMoves(At(1.0));
  CHECK(slow.seen_s == std::vector<double>{7, 1});
}

}  // namespace
}  // namespace iobench
