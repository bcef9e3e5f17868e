#include "coordinator/cluster/silence_watch.h"

#include <catch2/catch.hpp>

namespace iobench {
namespace {

using Workers = std::vector<uint32_t>;

// A coordinator that looks every 100 ms, in simulated time.
struct Looking {
  CoordTime now{1'000};
  SilenceWatch watch{2, 60 * kNanosPerSecond, 60 * kNanosPerSecond, now};
  Workers asked, told, given_up;

  void For(double seconds) {
    for (const CoordTime end = now + NanosFrom(seconds); now < end;) {
      now = now + kNanosPerSecond / 10;
      Note(watch.Look(now));
    }
  }
  void Note(const SilenceWatch::Findings& findings) {
    asked.insert(asked.end(), findings.to_ask.begin(), findings.to_ask.end());
    for (const uint32_t worker : findings.to_ask) watch.Sent(worker, now);
    told.insert(told.end(), findings.to_tell.begin(), findings.to_tell.end());
    for (const uint32_t worker : findings.to_give_up) {
      given_up.push_back(worker);
      watch.Forget(worker);
    }
  }
};

TEST_CASE("a silent worker is asked after 5 s, told of after 10 s and given up after 60 s") {
  Looking looking;
  looking.For(4.9);
  CHECK(looking.asked.empty());
  looking.For(0.2);
  CHECK(looking.asked == Workers{0, 1});
  looking.watch.Heard(0, looking.now);
  looking.For(4.8);
  CHECK(looking.told.empty());
  looking.For(0.2);
  CHECK(looking.told == Workers{1});
  CHECK(looking.asked == Workers{0, 1, 0});
  looking.watch.Heard(0, looking.now);
  for (int i = 0; i < 49; ++i) {  // the other one always answers
    looking.For(1);
    looking.watch.Heard(0, looking.now);
  }
  CHECK(looking.given_up.empty());
  looking.For(1.5);
  CHECK(looking.given_up == Workers{1});
  looking.For(4);
  CHECK(looking.told == Workers{1});
  CHECK(looking.given_up == Workers{1});
}

TEST_CASE("a worker that answers at last is told of again only after a new silence") {
  Looking looking;
  looking.For(11);
  CHECK(looking.told == Workers{0, 1});
  CHECK(looking.watch.Heard(1, looking.now));
  CHECK_FALSE(looking.watch.Heard(1, looking.now));
  looking.For(9);
  CHECK(looking.told == Workers{0, 1});
  looking.For(2);
  CHECK(looking.told == Workers{0, 1, 1});
}

TEST_CASE("a coordinator that was stopped itself takes nobody's answer for missing") {
  Looking looking;
  looking.For(7);  // both are asked
  looking.now = looking.now + 1000 * kNanosPerSecond;
  looking.Note(looking.watch.Look(looking.now));
  looking.For(1);
  CHECK(looking.told.empty());
  CHECK(looking.given_up.empty());
  looking.For(3);
  CHECK(looking.told == Workers{0, 1});
}

TEST_CASE("many workers are asked more rarely, and a short patience sooner") {
  const CoordTime begin{0};
  SilenceWatch many(10'000, 60 * kNanosPerSecond, 10 * kNanosPerSecond, begin);
  many.Look(begin + NanosFrom(0.9));
  for (int i = 1; i <= 19; ++i) CHECK(many.Look(begin + i * kNanosPerSecond).to_ask.empty());
  CHECK(many.Look(begin + 20 * kNanosPerSecond).to_ask.size() == 10'000);
  SilenceWatch hasty(1, 2 * kNanosPerSecond, 10 * kNanosPerSecond, begin);
  CHECK(hasty.Look(begin + NanosFrom(0.4)).to_ask.empty());
  CHECK(hasty.Look(begin + NanosFrom(0.5)).to_ask.size() == 1);
  CHECK(hasty.told_after_ns() == kNanosPerSecond);
  SilenceWatch leased(1, 60 * kNanosPerSecond, 3 * kNanosPerSecond, begin);
  CHECK(leased.beat_ns() == kNanosPerSecond);
}

TEST_CASE("a worker that talks but is sent nothing is asked all the same, because its lease runs") {
  Looking looking;
  for (int i = 0; i < 12; ++i) {
    looking.watch.Heard(0, looking.now);
    looking.watch.Sent(1, looking.now);
    looking.watch.Heard(1, looking.now);
    looking.For(0.5);
  }
  CHECK(looking.asked == Workers{0});
}

}  // namespace
}  // namespace iobench
