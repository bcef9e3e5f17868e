#include "coordinator/cluster/worker_news.h"

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/transport/transport.h"

namespace iobench {
namespace {

using Kind = WorkerNews::Kind;
using Lines = std::vector<std::string>;

TEST_CASE("a thousand workers that are lost at once are a few lines, and one that sums up the others") {
  WorkerNews news;
  size_t printed = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string worker = absl::StrCat("worker ", i);
    news.Add(Kind::kLost, worker, worker + " is lost: it left", i);
    printed += news.Take(i).size();
  }
  CHECK(printed == kMaxFlappingLines);
  CHECK(news.Take(kFlappingPeriodNs - 1).empty());
  CHECK(news.Take(kFlappingPeriodNs + 1) ==
        Lines{"within 30 s, 992 times more: a worker is lost: the report names each with its reason"});
  CHECK(news.Take(INT64_MAX).empty());
}

TEST_CASE("each kind has lines of its own, and is said at once") {
  WorkerNews news;
  for (int i = 0; i < 20; ++i) news.Add(Kind::kSilent, absl::StrCat("worker ", i), "is silent", 0);
  CHECK(news.Take(0).size() == kMaxFlappingLines);
  news.Add(Kind::kAnswers, "worker 3", "worker 3 answers again", 1);
  news.Add(Kind::kStandsStill, "worker 4", "worker 4: no progress", 1);
  CHECK(news.Take(1) == Lines{"worker 3 answers again", "worker 4: no progress"});
  const Lines last = news.Take(INT64_MAX);
  REQUIRE(last.size() == 1);
  CHECK(absl::StartsWith(last[0], "within 30 s, 12 times more: a worker has not answered for long"));
}

TEST_CASE("of a worker whose connection flaps, its number of reconnections is said") {
  WorkerNews news;
  for (int i = 0; i < 15; ++i) news.Add(Kind::kReconnected, "worker 3 on c1", "worker 3 on c1 has reconnected", i);
  CHECK(news.Take(15) == Lines{"worker 3 on c1 has reconnected"});
  CHECK(news.Take(INT64_MAX) ==
        Lines{"connections broke and came back again, nothing was lost: worker 3 on c1, 14 times: check the network"});
}

}  // namespace
}  // namespace iobench
