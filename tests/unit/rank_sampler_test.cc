#include "worker/pattern/rank_sampler.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/streams.h"
#include "worker/pattern/op_stream.h"

namespace iobench {
namespace {

Access Dist(const std::string& text) {
  const auto access = ParseAccess(text);
  REQUIRE(access.ok());
  return *access;
}

// The share of the ops that the `count` hottest of `all` records get, by the formulas of docs/definitions.md: from whole
// sums and distribution functions, not from weights of single ranks.
using ShareOfHottest = double (*)(double count, double all);

double Harmonic(double count, double theta) {  // added up from the small end, so that nothing is lost
  double sum = 0;
  for (double rank = count; rank >= 1; --rank) sum += 1 / std::exp(theta * std::log(rank));
  return sum;
}
double ZipfOf11(double count, double all) { return Harmonic(count, 1.1) / Harmonic(all, 1.1); }
double ZipfOf1(double count, double all) { return Harmonic(count, 1) / Harmonic(all, 1); }
double ZipfOfHalf(double count, double all) { return Harmonic(count, 0.5) / Harmonic(all, 0.5); }
// 0.2 of the records get 0.8 of the ops, 0.2 of these 0.8 of those …
double ParetoOf20(double count, double all) { return std::pow(0.8, std::log(count / all) / std::log(0.2)); }
double Hot10Of90(double count, double all) {
  const double hot = std::round(all / 10);  // whole records
  return count <= hot ? 0.9 * count / hot : 0.9 + 0.1 * (count - hot) / (all - hot);
}
double NormalOf10(double count, double all) {
  double sum = 0, upto = 0;
  for (double rank = 0; rank < all; ++rank) {
    const double z = rank / (all / 10);
    sum += std::exp(-z * z / 2);
    if (rank < count) upto = sum;
  }
  return upto / sum;
}

struct Distribution {
  const char* text;
  ShareOfHottest share;
};
constexpr Distribution kDistributions[] = {{"zipf:1.1", ZipfOf11},     {"zipf:1", ZipfOf1},
                                           {"zipf:0.5", ZipfOfHalf},   {"pareto:0.2", ParetoOf20},
                                           {"hot:10/90", Hot10Of90},   {"normal:10", NormalOf10}};

std::vector<uint64_t> DrawnRanks(const std::string& text, uint64_t rank_count, size_t draws, uint64_t key) {
  const RankSampler sampler(Dist(text), rank_count);
  std::vector<uint64_t> ranks;
  for (size_t i = 0; i < draws; ++i) ranks.push_back(sampler.RankAt(MixFast(key + i * kGoldenRatio64)));
  return ranks;
}

// How far the counts of some intervals of ranks are from what the formula expects, in standard deviations of chi². Each
// interval expects 50 draws or more.
double ChiSquareSigmas(const Distribution& distribution, uint64_t rank_count, size_t draws) {
  std::vector<uint64_t> ranks = DrawnRanks(distribution.text, rank_count, draws, 12'345);
  std::sort(ranks.begin(), ranks.end());
  double chi = 0, share_before = 0;
  size_t drawn_before = 0;
  int cells = 0;
  const auto all = static_cast<double>(rank_count);
  for (uint64_t end = 1; end <= rank_count;) {
    const double share = end == rank_count ? 1 : distribution.share(static_cast<double>(end), all);
    const double expected = (share - share_before) * static_cast<double>(draws);
    if (expected >= 50 || end == rank_count) {
      const auto drawn = static_cast<size_t>(std::lower_bound(ranks.begin(), ranks.end(), end) - ranks.begin());
      const double difference = static_cast<double>(drawn - drawn_before) - expected;
      if (expected > 5) {
        chi += difference * difference / expected;
        ++cells;
      }
      share_before = share;
      drawn_before = drawn;
    }
    end = end < 200 || end == rank_count ? end + 1 : std::min(rank_count, end + end / 20);
  }
  const double degrees = cells - 1;
  return (chi - degrees) / std::sqrt(2 * degrees);
}

TEST_CASE("each distribution gives every rank the share that its formula says") {
  for (const Distribution& distribution : kDistributions) {
    for (const uint64_t rank_count : {100u, 4'096u, 10'000u}) {
      INFO(distribution.text << " over " << rank_count);
      const double sigmas = ChiSquareSigmas(distribution, rank_count, 1'000'000);
      CHECK(sigmas < 4);
      CHECK(sigmas > -4);
    }
  }
}

TEST_CASE("a distribution over very many records needs no more than a few draws of one rank") {
  for (const char* const text : {"zipf:0.99", "zipf:10", "pareto:0.01", "pareto:0.49", "hot:1/99", "normal:0.001"}) {
    for (const uint64_t rank_count : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{1} << 40, uint64_t{1} << 62}) {
      INFO(text << " over " << rank_count);
      const std::vector<uint64_t> ranks = DrawnRanks(text, rank_count, 1000, 7);
      CHECK(*std::max_element(ranks.begin(), ranks.end()) < rank_count);
    }
  }
  // By the formula, a hundredth of the records gets 99 % of the ops, whatever their number.
  const uint64_t many = uint64_t{1} << 40;
  const std::vector<uint64_t> ranks = DrawnRanks("hot:1/99", many, 100'000, 7);
  const auto hot = std::count_if(ranks.begin(), ranks.end(), [&](uint64_t rank) { return rank < many / 100; });
  CHECK(std::abs(hot - 99'000) < 4 * 32);  // 4 standard deviations
}

StreamShape SkewedShape(const std::string& text) {
  return {.object_count = 2, .object_bytes = 1'000'050, .op_bytes = 100, .access = Dist(text), .seed = 5, .lane = 3};
}

std::map<uint64_t, int> UsesOf(const std::vector<Op>& ops) {
  std::map<uint64_t, int> uses;
  for (const Op& op : ops) ++uses[op.object * 10'000 + op.offset / 100];
  return uses;
}

std::set<uint64_t> HottestOf(const std::vector<Op>& ops, int least) {
  std::set<uint64_t> hottest;
  for (const auto& [record, uses] : UsesOf(ops)) {
    if (uses >= least) hottest.insert(record);
  }
  return hottest;
}

TEST_CASE("a skewed pass has as many ops as there are whole records, and only these") {
  const auto stream = StreamOf("random-read", SkewedShape("zipf:1.1"));
  REQUIRE(stream->ops_per_pass() == 20'000);
  REQUIRE(stream->bytes_per_pass() == 2'000'000);
  const std::vector<Op> ops = RestOfPass(*stream);
  REQUIRE(ops.size() == 20'000);
  for (const Op& op : ops) {
    REQUIRE(op.length == 100);
    REQUIRE(op.offset % 100 == 0);
    REQUIRE(op.offset < 1'000'000);
    REQUIRE(op.object < 2);
  }
}

TEST_CASE("hot records lie anywhere in the files, and stay hot in later passes and phases") {
  StreamShape shape = SkewedShape("hot:1/90");  // 200 of 20,000 records, each used 90 times per pass; others 0.1 times
  const auto stream = StreamOf("random-read", shape);
  const std::set<uint64_t> first = HottestOf(RestOfPass(*stream), 45);
  REQUIRE(first.size() == 200);
  // In ten equal parts of the files, 20 each: standard deviation 4.2.
  std::vector<int> parts(10);
  for (const uint64_t record : first) ++parts[record / 2'000];
  for (const int hot : parts) CHECK(std::abs(hot - 20) < 17);
  stream->Restart(1);
  const std::vector<Op> again = RestOfPass(*stream);
  CHECK(HottestOf(again, 45) == first);
  shape.phase = 9;
  CHECK(HottestOf(RestOfPass(*StreamOf("random-write", shape)), 45) == first);
  shape.lane = 4;
  CHECK(HottestOf(RestOfPass(*StreamOf("random-write", shape)), 45) != first);
}

TEST_CASE("a skewed pass is the same again, differs from the next one, and takes ops back") {
  const auto stream = StreamOf("random-mix", SkewedShape("pareto:0.2"));
  const std::vector<Op> pass = RestOfPass(*stream);
  stream->Restart(1);
  const std::vector<Op> other = RestOfPass(*stream);
  const auto same = [](const Op& a, const Op& b) {
    return a.kind == b.kind && a.object == b.object && a.offset == b.offset && a.length == b.length;
  };
  CHECK_FALSE(std::equal(pass.begin(), pass.end(), other.begin(), same));
  stream->Restart(0);
  std::vector<Op> batch(70);
  REQUIRE(stream->Fill(batch) == 70);
  stream->Unread(30);
  const std::vector<Op> rest = RestOfPass(*stream);
  REQUIRE(rest.size() == 20'000 - 40);
  CHECK(std::equal(rest.begin(), rest.end(), pass.begin() + 40, same));
}

TEST_CASE("an operation that writes new files uses each record once") {
  StreamShape shape = SkewedShape("zipf:1.1");
  CHECK_FALSE(MakeOpStream(**FindOperation("pwritev"), shape).ok());
}

TEST_CASE("a distribution that cannot be is refused with the syntax") {
  for (const char* const text :
       {"zipf", "zipf:", "zipf:0", "zipf:-1", "zipf:nan", "zipf:11", "pareto:0", "pareto:0.5", "hot:20", "hot:20/",
        "hot:0/80", "hot:100/100", "hot:80/20", "hot:20/101", "normal:0", "normal:101", "uniform", "zoned:50/5", ":",
        "zipf:1.1x"}) {
    INFO(text);
    const auto access = ParseAccess(text);
    REQUIRE_FALSE(access.ok());
    CHECK(std::string(access.status().message()).find("hot:20/80") != std::string::npos);
  }
  CHECK(ParseAccess("")->kind == Access::Kind::kEachOnce);
}

}  // namespace
}  // namespace iobench
