#include "worker/pattern/several_sizes.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tests/unit/streams.h"
#include "worker/pattern/record_deck.h"

namespace iobench {
namespace {

constexpr uint64_t kKiB = 1024;

// -r 4k:60,64k:30,1m:10, in files that are no multiple of any of them.
StreamShape ShapeOfThree(uint32_t file_count = 3, uint64_t file_bytes = 100'000 * kKiB + 5) {
  return {.object_count = file_count,
          .object_bytes = file_bytes,
          .op_bytes = 1024 * kKiB,
          .records = {{4 * kKiB, 60}, {64 * kKiB, 30}, {1024 * kKiB, 10}},
          .seed = 11,
          .lane = 2,
          .phase = 5};
}

uint64_t BytesIn(const std::vector<Op>& ops) {
  uint64_t bytes = 0;
  for (const Op& op : ops) bytes += op.length;
  return bytes;
}

auto Tied(const Op& op) {
  return std::tuple(op.kind, op.object, op.offset, op.length);
}
bool Same(const Op& a, const Op& b) {
  return Tied(a) == Tied(b);
}

// How far counts are from expected ones, in standard deviations of chi². REQUIRES: each expects 5 or more.
double Sigmas(const std::vector<double>& counts, const std::vector<double>& expected) {
  double chi = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    REQUIRE(expected[i] >= 5);
    chi += (counts[i] - expected[i]) * (counts[i] - expected[i]) / expected[i];
  }
  const auto degrees = static_cast<double>(counts.size() - 1);
  return (chi - degrees) / std::sqrt(2 * degrees);
}

TEST_CASE("a deck has each size's share of its ops, to the op, and moves nearly all bytes") {
  // The mean is 0.6 x 4 + 0.3 x 64 + 0.1 x 1024 = 124 KiB, so 12,400,000 KiB are 100,000 ops.
  const StreamShape shape = ShapeOfThree();
  const RecordDeck deck(shape.records, 12'400'000 * kKiB);
  REQUIRE(deck.op_count() == 100'000);
  REQUIRE(deck.bytes() == 12'400'000 * kKiB);
  std::map<uint32_t, int> counts;
  for (uint64_t number = 0; number < deck.op_count(); ++number) ++counts[deck.LengthOf(number)];
  CHECK(counts[4 * kKiB] == 60'000);
  CHECK(counts[64 * kKiB] == 30'000);
  CHECK(counts[1024 * kKiB] == 10'000);
}

TEST_CASE("a deck for few bytes rounds shares to whole ops, and gives way where a size no longer fits") {
  // 1 MiB is 8.26 ops: 4.8, 2.4 and 0.8 of them. 4 + 2 + 0 ops leave 880 KiB, where no 1 MiB fits: one 4k, one 64k more.
  const StreamShape shape = ShapeOfThree();
  const RecordDeck deck(shape.records, 1024 * kKiB);
  CHECK(deck.op_count() == 8);
  CHECK(deck.bytes() == (5 * 4 + 3 * 64) * kKiB);
  // The largest alone has room for nothing else: still one op.
  const RecordDeck tiny(std::vector<RecordShare>{{1000, 1}, {10, 99}}, 1000);
  CHECK(tiny.op_count() == 50);  // the mean is 19.9 bytes
  CHECK(tiny.bytes() == 500);
}

TEST_CASE("a deck survives sizes and shares at their ends") {
  const std::vector<RecordShare> shares = {{1, 99.99}, {uint64_t{1} << 30, 0.01}};
  for (const uint64_t bytes : {uint64_t{1} << 40, uint64_t{1} << 62}) {
    const RecordDeck deck(shares, bytes);
    CHECK(deck.bytes() <= bytes);
    CHECK(deck.bytes() > bytes / 2);
    CHECK(deck.LengthOf(0) == 1);
    CHECK(deck.LengthOf(deck.op_count() - 1) == uint32_t{1} << 30);
  }
}

TEST_CASE("random ops of several sizes have their exact shares in each pass, and begin at multiples of their own size") {
  const StreamShape shape = ShapeOfThree();
  for (const char* const operation : {"random-read", "random-write", "random-mix"}) {
    const auto stream = StreamOf(operation, shape);
    for (uint64_t pass = 0; pass < 3; ++pass) {
      stream->Restart(pass);
      const std::vector<Op> ops = RestOfPass(*stream);
      REQUIRE(ops.size() == stream->ops_per_pass());
      CHECK(BytesIn(ops) == stream->bytes_per_pass());
      std::map<uint32_t, double> counts;
      for (const Op& op : ops) {
        ++counts[op.length];
        REQUIRE(op.offset % op.length == 0);
        REQUIRE(op.offset + op.length <= shape.object_bytes);
        REQUIRE(op.object < 3);
      }
      const auto all = static_cast<double>(ops.size());  // 2419
      CHECK(std::abs(counts[4 * kKiB] - 0.6 * all) <= 1);
      CHECK(std::abs(counts[64 * kKiB] - 0.3 * all) <= 1);
      CHECK(std::abs(counts[1024 * kKiB] - 0.1 * all) <= 1);
    }
  }
}

TEST_CASE("sizes are in random order: any part of a pass has the shares, and no size follows another one more often") {
  // 200,000 ops, of which parts are drawn without replacement: a hundredth is nearly as if with it.
  const StreamShape shape = ShapeOfThree(2, 12'400'000 * kKiB);
  for (const char* const operation : {"random-read", "write"}) {
    const auto stream = StreamOf(operation, shape);
    std::vector<Op> ops(2'000);
    std::vector<double> counts(3), pairs(9);
    size_t previous = 3;
    for (int part = 0; part < 20; ++part) {
      REQUIRE(stream->Fill(ops) == ops.size());
      for (const Op& op : ops) {
        const size_t size = op.length == 4 * kKiB ? 0 : op.length == 64 * kKiB ? 1 : 2;
        if (part == 0) ++counts[size];
        if (previous < 3) ++pairs[3 * previous + size];
        previous = size;
      }
    }
    const double first = Sigmas(counts, {1'200, 600, 200});
    CHECK(first < 4);
    CHECK(first > -4);
    const double n = 20 * 2'000 - 1;
    std::vector<double> expected;
    for (const double before : {0.6, 0.3, 0.1})
      for (const double after : {0.6, 0.3, 0.1}) expected.push_back(n * before * after);
    CHECK(Sigmas(pairs, expected) < 4);
  }
}

TEST_CASE("each size's random places are even over all files") {
  const StreamShape shape = ShapeOfThree(2, 1'000'000 * kKiB);
  const auto stream = StreamOf("random-write", shape);
  std::map<uint32_t, std::vector<double>> in_tenths;
  std::map<uint32_t, double> counts;
  for (uint64_t pass = 0; pass < 4; ++pass) {
    stream->Restart(pass);
    for (const Op& op : RestOfPass(*stream)) {
      in_tenths[op.length].resize(10);
      const uint64_t records = shape.object_bytes / op.length;
      ++in_tenths[op.length][(op.object * records + op.offset / op.length) * 10 / (2 * records)];
      ++counts[op.length];
    }
  }
  REQUIRE(counts.size() == 3);
  for (const auto& [length, tenths] : in_tenths) {
    INFO(length);
    CHECK(Sigmas(tenths, std::vector<double>(10, counts[length] / 10)) < 4);
  }
}

TEST_CASE("with --access, a record of the largest size is drawn, and the op is anywhere in it") {
  // 200 records of 1 MiB, of which hot:10/90 gives 90 % of the ops to 20.
  StreamShape shape = ShapeOfThree(2, 100 * 1024 * kKiB + 4096);
  shape.access = *ParseAccess("hot:10/90");
  const auto stream = StreamOf("random-read", shape);
  std::map<uint64_t, std::map<uint32_t, double>> uses;
  std::vector<double> in_sixteenths(16);
  std::map<uint32_t, double> of_length;
  double all = 0;
  constexpr uint64_t kPasses = 60;
  for (uint64_t pass = 0; pass < kPasses; ++pass) {
    stream->Restart(pass);
    for (const Op& op : RestOfPass(*stream)) {
      REQUIRE(op.offset % op.length == 0);
      REQUIRE(op.offset + op.length <= 100 * 1024 * kKiB);
      ++uses[op.object * 100 + op.offset / (1024 * kKiB)][op.length];
      ++of_length[op.length];
      ++all;
      if (op.length == 64 * kKiB) ++in_sixteenths[op.offset % (1024 * kKiB) / op.length];
    }
  }
  CHECK(std::abs(of_length[1024 * kKiB] - 0.1 * all) <= kPasses);
  CHECK(Sigmas(in_sixteenths, std::vector<double>(16, of_length[64 * kKiB] / 16)) < 4);
  // A hot record is used 0.9 / 20 of the times, a cold one 0.1 / 180: each size by its own.
  REQUIRE(uses.size() == 200);
  for (const auto& [length, of_size] : of_length) {
    INFO(length);
    std::vector<double> hot, expected;
    double cold = 0;
    for (auto& [record, by_length] : uses) {
      double of_record = 0;
      for (const auto& [each, times] : by_length) of_record += times;
      if (of_record > all * 0.9 / 20 / 2) {
        hot.push_back(by_length[length]);
        expected.push_back(of_size * 0.9 / 20);
      } else {
        cold += by_length[length];
      }
    }
    CHECK(hot.size() == 20);
    hot.push_back(cold);
    expected.push_back(of_size * 0.1);
    CHECK(Sigmas(hot, expected) < 4);
  }
}

TEST_CASE("ops of several sizes in order follow each other, and cover each file once; only its last op is cut") {
  const StreamShape shape = ShapeOfThree();
  for (const char* const operation : {"write", "read", "rewrite", "pread", "sequential-mix"}) {
    const auto stream = StreamOf(operation, shape);
    for (uint64_t pass = 0; pass < 2; ++pass) {
      stream->Restart(pass);
      const std::vector<Op> ops = RestOfPass(*stream, 7);
      REQUIRE(ops.size() == stream->ops_per_pass());
      CHECK(BytesIn(ops) == stream->bytes_per_pass());
      uint64_t object = 0, offset = 0;
      int cut = 0;
      std::map<uint32_t, double> counts;
      for (const Op& op : ops) {
        if (offset == shape.object_bytes) {
          ++object;
          offset = 0;
        }
        REQUIRE(op.object == object);
        REQUIRE(op.offset == offset);
        offset += op.length;
        const bool whole = op.length == 4 * kKiB || op.length == 64 * kKiB || op.length == 1024 * kKiB;
        if (!whole) CHECK(offset == shape.object_bytes);
        cut += whole ? 0 : 1;
        ++counts[op.length];
      }
      CHECK(object == 2);
      CHECK(offset == shape.object_bytes);
      CHECK(cut == 3);
      // 806 ops in each file, of which 80.6 have 1 MiB.
      CHECK(std::abs(counts[1024 * kKiB] - 0.1 * static_cast<double>(ops.size())) <= 3);
    }
  }
}

TEST_CASE("passes of several sizes differ, come again, and take ops back over the ends of files") {
  StreamShape shape = ShapeOfThree(5, 3'000 * kKiB + 1);  // about 24 ops each
  for (const char* const text : {"read", "sequential-mix", "random-read", "random-mix", "random-mix zipf:1.1"}) {
    INFO(text);
    const std::string words(text), operation = words.substr(0, words.find(' '));
    if (operation != words) shape.access = *ParseAccess(words.substr(operation.size() + 1));
    const auto stream = StreamOf(operation, shape);
    const std::vector<Op> pass = RestOfPass(*stream);
    stream->Restart(1);
    const std::vector<Op> other = RestOfPass(*stream);
    REQUIRE(other.size() == pass.size());
    CHECK_FALSE(std::equal(pass.begin(), pass.end(), other.begin(), Same));
    for (size_t taken = 1; taken <= pass.size(); ++taken) {
      stream->Restart(0);
      std::vector<Op> batch(taken);
      REQUIRE(stream->Fill(batch) == taken);
      const size_t back = (taken * 7 + 3) % (taken + 1);
      stream->Unread(back);
      const std::vector<Op> rest = RestOfPass(*stream, 3);
      REQUIRE(rest.size() == pass.size() - (taken - back));
      REQUIRE(std::equal(rest.begin(), rest.end(), pass.end() - static_cast<std::ptrdiff_t>(rest.size()), Same));
    }
    StreamShape of_other_lane = shape;
    of_other_lane.lane = 3;
    CHECK_FALSE(std::equal(pass.begin(), pass.begin() + 50, RestOfPass(*StreamOf(operation, of_other_lane)).begin(), Same));
  }
}

TEST_CASE("the first ops that move some bytes are those of pass 0") {
  const StreamShape shape = ShapeOfThree(2, 20'000 * kKiB);
  const std::vector<Op> pass = RestOfPass(*StreamOf("write", shape));
  uint64_t moved = 0;
  for (size_t ops = 0; ops < pass.size(); ++ops) {
    REQUIRE(SizedOpsThatMove(moved, shape) == ops);
    REQUIRE(SizedOpsThatMove(moved + 1, shape) == ops + 1);
    moved += pass[ops].length;
  }
  CHECK(SizedOpsThatMove(moved, shape) == pass.size());
  CHECK(SizedOpsThatMove(moved + 1, shape) == pass.size());
}

TEST_CASE("files that hold few records are covered, too") {
  for (const uint64_t bytes : {1024 * kKiB, 1025 * kKiB, 2 * 1024 * kKiB - 1, 2047 * kKiB}) {
    const auto stream = StreamOf("write", ShapeOfThree(4, bytes));
    CHECK(BytesIn(RestOfPass(*stream)) == 4 * bytes);
  }
}

TEST_CASE("orders that need one size refuse several") {
  for (const char* const operation : {"backward-read", "stride-read", "record-rewrite", "pwritev", "fwrite", "putc"}) {
    INFO(operation);
    CHECK_FALSE(MakeOpStream(**FindOperation(operation), ShapeOfThree()).ok());
  }
  StreamShape larger = ShapeOfThree();
  larger.records[0].record_bytes = larger.op_bytes + 1;
  CHECK_FALSE(MakeOpStream(**FindOperation("read"), larger).ok());
}

}  // namespace
}  // namespace iobench
