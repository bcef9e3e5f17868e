#include "worker/data/deduped_records.h"

#include <zlib.h>

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace iobench {
namespace {

constexpr uint32_t kRecord = 4096;

DedupeShape Shape(uint32_t percent, uint32_t within, uint32_t interior, uint32_t lane = 0) {
  return {.percent = percent,
          .within_percent = within,
          .interior_percent = interior,
          .seed = 9,
          .lane = lane,
          .phase = 2,
          .record_bytes = kRecord};
}

// A file as one lane writes it, `records_per_op` records at a time.
std::vector<std::string> FileOf(const DedupeShape& shape, uint64_t records, uint32_t file = 0,
                                uint32_t records_per_op = 1) {
  auto maker = DedupedRecords::Create(shape, uint64_t{shape.record_bytes} * records_per_op);
  REQUIRE(maker.ok());
  std::vector<std::string> made;
  for (uint64_t i = 0; i < records; i += records_per_op) {
    const Op op{OpKind::kWrite, file, i * shape.record_bytes, shape.record_bytes * records_per_op};
    const std::byte* const data = (*maker)->Make(op);
    REQUIRE(reinterpret_cast<uintptr_t>(data) % 4096 == op.offset % 4096);
    for (uint32_t j = 0; j < records_per_op; ++j) {
      made.emplace_back(reinterpret_cast<const char*>(data) + j * shape.record_bytes, shape.record_bytes);
    }
  }
  return made;
}

// How many records of `file` have a copy in it, in `other`, in both, nowhere.
struct Copies {
  int unique = 0, across = 0, both = 0, within = 0;
};
Copies CopiesOf(const std::vector<std::string>& file, const std::vector<std::string>& other) {
  std::map<std::string, int> in_file;
  for (const std::string& record : file) ++in_file[record];
  const std::set<std::string> in_other(other.begin(), other.end());
  Copies copies;
  for (const std::string& record : file) {
    const bool within = in_file.at(record) > 1;
    const bool across = in_other.contains(record);
    ++(within ? (across ? copies.both : copies.within) : (across ? copies.across : copies.unique));
  }
  return copies;
}

TEST_CASE("the fractions of records with copies are those asked for, over lanes and files") {
  // Of 10,000: 40 % dedupable = 4000; of these 30 % equal within = 1200; of these 25 % only within their file = 300.
  const auto lane0 = FileOf(Shape(40, 30, 25, 0), 10'000);
  for (const auto& other : {FileOf(Shape(40, 30, 25, 1), 10'000), FileOf(Shape(40, 30, 25, 0), 10'000, 1)}) {
    const Copies copies = CopiesOf(lane0, other);
    REQUIRE(copies.unique == 6000);
    REQUIRE(copies.across == 2800);
    REQUIRE(copies.both == 900);
    REQUIRE(copies.within == 300);
  }
}

TEST_CASE("any percentages hold to one in a hundred, also for odd record counts and several records an op") {
  for (const auto& [p, q, r] : {std::array{13u, 57u, 91u}, std::array{100u, 0u, 0u}, std::array{0u, 0u, 0u},
                                std::array{99u, 100u, 0u}, std::array{50u, 50u, 100u}}) {
    INFO(p << " " << q << " " << r);
    constexpr int kCount = 4000;
    const auto file = FileOf(Shape(p, q, r, 0), kCount, 0, 16);
    REQUIRE(file == FileOf(Shape(p, q, r, 0), kCount));
    const Copies copies = CopiesOf(file, FileOf(Shape(p, q, r, 1), kCount));
    const double dedupable = p / 100.0, within = q / 100.0, interior = r / 100.0;
    const auto is_near = [](double wanted) { return Approx(wanted * kCount).margin(0.01 * kCount); };
    REQUIRE(copies.unique == is_near(1 - dedupable));
    REQUIRE(copies.across == is_near(dedupable * (1 - within)));
    REQUIRE(copies.both == is_near(dedupable * within * (1 - interior)));
    REQUIRE(copies.within == is_near(dedupable * within * interior));
  }
}

TEST_CASE("the fractions hold for lanes that take turns in a file") {
  DedupeShape dense = Shape(50, 0, 0), apart = dense;
  apart.interleave = {.count = 4, .block_bytes = apart.record_bytes};
  auto maker = DedupedRecords::Create(apart, kRecord);
  REQUIRE(maker.ok());
  const auto expected = FileOf(dense, 100);
  for (uint64_t i = 0; i < 100; ++i) {
    const std::byte* const made = (*maker)->Make({OpKind::kWrite, 0, i * 4 * kRecord, kRecord});
    REQUIRE(std::string(reinterpret_cast<const char*>(made), kRecord) == expected[i]);
  }
}

TEST_CASE("sets share nothing with each other, and a lane offset extends a set") {
  DedupeShape other_set = Shape(100, 50, 0, 1);
  other_set.set = 3;
  const Copies apart = CopiesOf(FileOf(Shape(100, 50, 0, 0), 1000), FileOf(other_set, 1000));
  REQUIRE(apart.across == 0);
  REQUIRE(apart.both == 0);
  // Another run of the same set: shared records are shared with it too, all others are not.
  DedupeShape later = Shape(50, 0, 0, 32);
  later.seed = 10;
  const Copies extended = CopiesOf(FileOf(Shape(50, 0, 0, 0), 1000), FileOf(later, 1000));
  REQUIRE(extended.across == 500);
  REQUIRE(extended.unique == 500);
}

TEST_CASE("a phase writes its unique records anew and its shared ones again") {
  DedupeShape rewrite = Shape(50, 0, 0);
  ++rewrite.phase;
  const Copies copies = CopiesOf(FileOf(Shape(50, 0, 0), 1000), FileOf(rewrite, 1000));
  REQUIRE(copies.unique == 500);
  REQUIRE(copies.across == 500);
}

TEST_CASE("the short last record of a file is cut from a whole one") {
  auto maker = DedupedRecords::Create(Shape(0, 0, 0), kRecord);
  const std::byte* const whole = (*maker)->Make({OpKind::kWrite, 0, 3 * kRecord, kRecord});
  const std::string begin(reinterpret_cast<const char*>(whole), 100);
  const std::byte* const part = (*maker)->Make({OpKind::kWrite, 0, 3 * kRecord, 100});
  REQUIRE(std::string(reinterpret_cast<const char*>(part), 100) == begin);
}

TEST_CASE("records that are not shared do not compress, and with a percentage they do by as much") {
  const auto compressed_share = [](const DedupeShape& shape) {
    std::string all;
    for (const std::string& record : FileOf(shape, 512)) all += record;
    uLongf size = compressBound(all.size());
    std::vector<Bytef> out(size);
    REQUIRE(compress2(out.data(), &size, reinterpret_cast<const Bytef*>(all.data()), all.size(), 9) == Z_OK);
    return static_cast<double>(size) / static_cast<double>(all.size());
  };
  REQUIRE(compressed_share(Shape(0, 0, 0)) > 0.99);
  DedupeShape half = Shape(0, 0, 0);
  half.compress_percent = 40;
  REQUIRE(compressed_share(half) == Approx(0.60).margin(0.01));
}

}  // namespace
}  // namespace iobench
