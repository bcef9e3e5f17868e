#include "worker/pattern/bursts.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/unit/streams.h"

namespace iobench {
namespace {

bool Equal(const Op& a, const Op& b) {
  return std::tie(a.kind, a.object, a.offset, a.length) == std::tie(b.kind, b.object, b.offset, b.length);
}

// Two files of 10 records and a short one, in bursts of 4: 0-3, 4-7, and 8, 9 and the short one.
StreamShape ShortShape() {
  return {.object_count = 2, .object_bytes = 1'030, .op_bytes = 100, .burst_records = 4, .seed = 3};
}

TEST_CASE("a pass of bursts has each record once; within a burst, records follow each other") {
  for (const char* const operation : {"random-read", "random-write", "random-mix"}) {
    const auto stream = StreamOf(operation, ShortShape());
    REQUIRE(stream->ops_per_pass() == 22);
    REQUIRE(stream->bytes_per_pass() == 2'060);
    std::set<std::vector<uint64_t>> orders;
    for (uint64_t pass = 0; pass < 20; ++pass) {
      stream->Restart(pass);
      const std::vector<Op> ops = RestOfPass(*stream, 1 + pass);
      REQUIRE(ops.size() == 22);
      std::vector<uint64_t> places;
      std::set<std::pair<uint32_t, uint64_t>> records;
      for (size_t i = 0; i < ops.size();) {
        const uint64_t first = ops[i].offset / 100;
        REQUIRE(first % 4 == 0);
        places.push_back(ops[i].object * 10 + first);
        const size_t length = first == 8 ? 3 : 4;
        for (size_t n = 0; n < length; ++n, ++i) {
          REQUIRE(ops[i].object == ops[i - n].object);
          REQUIRE(ops[i].offset == (first + n) * 100);
          REQUIRE(ops[i].length == (first + n == 10 ? 30u : 100u));
          REQUIRE(records.emplace(ops[i].object, first + n).second);
        }
      }
      REQUIRE(records.size() == 22);
      orders.insert(places);
    }
    CHECK(orders.size() > 15);  // of 720 orders of 6 bursts
  }
}

TEST_CASE("the places of bursts are in random order: each is as often first, and as often after each other one") {
  StreamShape shape{.object_bytes = 800, .op_bytes = 10, .burst_records = 8};  // 10 bursts
  std::vector<double> first(10), after(100);
  constexpr int kPasses = 5'000;
  for (int pass = 0; pass < kPasses; ++pass) {
    shape.seed = static_cast<uint64_t>(pass);
    const std::vector<Op> ops = RestOfPass(*StreamOf("random-read", shape), 80);
    for (size_t burst = 0; burst < 10; ++burst) {
      const size_t place = ops[8 * burst].offset / 80;
      if (burst == 0) ++first[place];
      if (burst > 0) ++after[10 * (ops[8 * (burst - 1)].offset / 80) + place];
    }
  }
  const auto sigmas = [](const std::vector<double>& counts, double expected, double degrees) {
    double chi = 0;
    for (const double count : counts) chi += (count - expected) * (count - expected) / expected;
    return (chi - degrees) / std::sqrt(2 * degrees);
  };
  CHECK(sigmas(first, kPasses / 10.0, 9) < 4);
  after.erase(std::remove(after.begin(), after.end(), 0), after.end());  // no burst follows itself
  REQUIRE(after.size() == 90);
  CHECK(sigmas(after, kPasses * 9 / 90.0, 89) < 4);
}

TEST_CASE("with --access, each place is drawn and then walked through") {
  // 1000 bursts of 8 records; zipf:1.1 gives the hottest the share 1 / H, H the sum of r^-1.1.
  StreamShape shape{.object_count = 2, .object_bytes = 500 * 8 * 64 + 63, .op_bytes = 64, .access = *ParseAccess("zipf:1.1"),
                    .burst_records = 8, .seed = 9};
  const auto stream = StreamOf("random-read", shape);
  REQUIRE(stream->ops_per_pass() == 8'000);
  std::map<std::pair<uint32_t, uint64_t>, double> uses;
  double bursts = 0;
  for (uint64_t pass = 0; pass < 40; ++pass) {
    stream->Restart(pass);
    const std::vector<Op> ops = RestOfPass(*stream, 64);
    REQUIRE(ops.size() == 8'000);
    for (size_t i = 0; i < ops.size(); ++i) {
      if (i % 8 == 0) {
        REQUIRE(ops[i].offset % 512 == 0);
        ++uses[{ops[i].object, ops[i].offset}];
        ++bursts;
      } else {
        REQUIRE(ops[i].object == ops[i - 1].object);
        REQUIRE(ops[i].offset == ops[i - 1].offset + 64);
      }
    }
  }
  std::vector<double> counts;
  for (const auto& [place, count] : uses) counts.push_back(count);
  std::sort(counts.rbegin(), counts.rend());
  double sum = 0;
  for (int rank = 1000; rank >= 1; --rank) sum += std::pow(rank, -1.1);
  double chi = 0;
  for (int rank = 1; rank <= 10; ++rank) {  // far enough apart to be known by their counts
    const double expected = bursts * std::pow(rank, -1.1) / sum;
    chi += (counts[static_cast<size_t>(rank - 1)] - expected) * (counts[static_cast<size_t>(rank - 1)] - expected) / expected;
  }
  CHECK((chi - 10) / std::sqrt(20.0) < 4);
}

TEST_CASE("in a mix, each record of a burst is drawn: neighbours are as often alike as any two ops") {
  const StreamShape shape{.object_bytes = 800'000, .op_bytes = 10, .read_percent = 30, .burst_records = 8, .seed = 2};
  const std::vector<Op> ops = RestOfPass(*StreamOf("random-mix", shape), 64);
  REQUIRE(ops.size() == 80'000);
  double reads = 0, alike = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    reads += ops[i].kind == OpKind::kRead ? 1 : 0;
    if (i % 8 > 0) alike += ops[i].kind == ops[i - 1].kind ? 1 : 0;
  }
  CHECK(std::abs(reads - 24'000) < 4 * std::sqrt(80'000 * 0.3 * 0.7));
  CHECK(std::abs(alike - 70'000 * 0.58) < 4 * std::sqrt(70'000 * 0.58 * 0.42));  // 0.3^2 + 0.7^2
}

TEST_CASE("bursts take ops back, over the ends of bursts and of the pass") {
  for (const char* const access : {"", "hot:20/80"}) {
    StreamShape shape = ShortShape();
    shape.access = *ParseAccess(access);
    const auto stream = StreamOf("random-mix", shape);
    const std::vector<Op> pass = RestOfPass(*stream);
    REQUIRE(pass.size() == stream->ops_per_pass());
    for (size_t taken = 1; taken <= pass.size() + 1; ++taken) {
      for (size_t back = 0; back <= std::min(taken, pass.size()); ++back) {
        stream->Restart(0);
        std::vector<Op> batch(taken);
        const size_t got = stream->Fill(batch);
        REQUIRE(got == std::min(taken, pass.size()));
        stream->Unread(back);
        const std::vector<Op> rest = RestOfPass(*stream, 3);
        REQUIRE(rest.size() == pass.size() - (got - back));
        REQUIRE(std::equal(rest.begin(), rest.end(), pass.end() - static_cast<std::ptrdiff_t>(rest.size()), Equal));
      }
    }
  }
}

TEST_CASE("bursts that cannot be are refused") {
  for (const char* const operation : {"read", "stride-read", "pwritev", "record-rewrite"})
    CHECK_FALSE(MakeOpStream(**FindOperation(operation), ShortShape()).ok());
  StreamShape shape = ShortShape();
  for (const uint32_t records : {0u, 11u, UINT32_MAX}) {
    shape.burst_records = records;
    CHECK_FALSE(MakeOpStream(**FindOperation("random-read"), shape).ok());
  }
  shape.burst_records = 10;
  CHECK(MakeOpStream(**FindOperation("random-read"), shape).ok());
}

}  // namespace
}  // namespace iobench
