#include "worker/lease.h"

#include <catch2/catch.hpp>

namespace iobench {
namespace {

constexpr int64_t kSecond = kNanosPerSecond;

// A worker that checks its lease ten times a second.
struct Worker {
  Lease lease;
  int64_t now_ns = 5 * kSecond;

  bool LeavesWithin(double seconds, bool works = true) {
    for (const int64_t end_ns = now_ns + NanosFrom(seconds); now_ns < end_ns;) {
      now_ns += kSecond / 10;
      if (lease.IsOver(now_ns, works)) return true;
    }
    return false;
  }
};

TEST_CASE("a worker that hears nothing leaves when its lease is over, and not before") {
  Worker worker;
  worker.lease.Heard(10'000);
  CHECK_FALSE(worker.LeavesWithin(9.9));
  worker.lease.Heard(0);  // any request
  CHECK_FALSE(worker.LeavesWithin(9.9));
  CHECK(worker.LeavesWithin(0.2));
}

TEST_CASE("without a lease nobody leaves, and without a phase it lasts six times as long") {
  Worker worker;
  worker.lease.Heard(0);
  CHECK_FALSE(worker.LeavesWithin(1000));
  worker.lease.Heard(1000);
  CHECK_FALSE(worker.LeavesWithin(5.9, /*works=*/false));
  CHECK(worker.LeavesWithin(0.3, /*works=*/false));
}

TEST_CASE("a worker that was stopped itself does not leave because of that") {
  Worker worker;
  worker.lease.Heard(10'000);
  CHECK_FALSE(worker.LeavesWithin(5));
  worker.now_ns += 1000 * kSecond;
  CHECK_FALSE(worker.LeavesWithin(3.9));
  CHECK(worker.LeavesWithin(2));
}

}  // namespace
}  // namespace iobench
