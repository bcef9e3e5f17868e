#include "worker/data/written_records.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/unit/streams.h"
#include "worker/data/sector_checker.h"
#include "worker/data/sector_writer.h"
#include "worker/pattern/interleaved.h"

namespace iobench {
namespace {

constexpr uint32_t kRecordBytes = 4096;

StreamShape TenRecords(uint32_t files = 1) {
  StreamShape shape;
  shape.object_count = files;
  shape.object_bytes = 10 * kRecordBytes / files;
  shape.op_bytes = kRecordBytes;
  shape.stride_records = 4;
  shape.seed = 7;
  shape.lane = 2;
  shape.phase = 3;
  return shape;
}

// "1100000000": the records of the only file that have been written.
std::string Marked(const WrittenRecords& written, uint64_t distance = kRecordBytes) {
  std::string marked;
  for (uint64_t i = 0; i < 10; ++i) marked += written.Has(0, i * distance + 100) ? '1' : '0';
  return marked;
}

TEST_CASE("a pass has written the records that its order reaches first") {
  const StreamShape shape = TenRecords();
  const auto after = [&](const char* operation, uint64_t pass, uint64_t ops) {
    return Marked(*WrittenRecords::Of(*StreamOf(operation, shape), shape, pass, ops));
  };
  CHECK(after("write", 1, 3) == "1110000000");
  CHECK(after("write", 1, 0) == "0000000000");
  CHECK(after("write", 1, 10) == "1111111111");
  CHECK(after("write", 1, 1000) == "1111111111");  // not more than the pass has
}

TEST_CASE("in a random order, each pass has written others") {
  const StreamShape shape = TenRecords();
  for (const uint64_t pass : {0u, 1u, 5u}) {
    const auto stream = StreamOf("random-write", shape);
    stream->Restart(pass);
    std::array<Op, 4> ops;
    REQUIRE(stream->Fill(ops) == 4);
    std::string expected(10, '0');
    for (const Op& op : ops) expected[op.offset / kRecordBytes] = '1';
    CHECK(Marked(*WrittenRecords::Of(*StreamOf("random-write", shape), shape, pass, 4)) == expected);
  }
}

TEST_CASE("several files are written one after the other, and alternating records far apart") {
  const StreamShape of_two = TenRecords(2);
  const auto two = WrittenRecords::Of(*StreamOf("write", of_two), of_two, 1, 6);
  CHECK(two->Has(0, 4 * kRecordBytes));
  CHECK(two->Has(1, 0));
  CHECK_FALSE(two->Has(1, kRecordBytes));
  CHECK_FALSE(two->Has(0, 5 * kRecordBytes));  // beyond its end
  CHECK_FALSE(two->Has(2, 0));

  const StreamShape shape = TenRecords();
  const Interleave turns{.count = 3, .block_bytes = kRecordBytes};
  Interleaved every_third(StreamOf("write", shape), turns);
  CHECK(Marked(*WrittenRecords::Of(every_third, shape, 0, 2, turns), 3 * kRecordBytes) == "1100000000");
}

TEST_CASE("of alternating blocks, each record has its own place") {
  const StreamShape shape = TenRecords();
  const Interleave turns{.count = 3, .block_bytes = 2 * kRecordBytes};
  Interleaved in_turn(StreamOf("write", shape), turns);
  const auto written = WrittenRecords::Of(in_turn, shape, 0, 3, turns);
  // Records 0 and 1 of the file, and 6 and 7 …
  for (const uint64_t record : {0, 1, 6}) CHECK(written->Has(0, record * kRecordBytes + 100));
  for (const uint64_t record : {7, 12, 13}) CHECK_FALSE(written->Has(0, record * kRecordBytes + 100));
}

TEST_CASE("more records than fit into the memory for them are not remembered") {
  StreamShape shape = TenRecords();
  shape.object_bytes = (WrittenRecords::kMaxRecords + 1) * kRecordBytes;
  CHECK(WrittenRecords::Of(*StreamOf("write", shape), shape, 1, 1) == nullptr);
}

// Eight sectors from two passes: what the reader expects of each, and what it finds.
TEST_CASE("a pass that was lost is stale, and one that goes too far is unknown") {
  StreamShape shape = TenRecords();
  shape.op_bytes = 1024;  // two sectors
  shape.object_bytes = 4096;
  const auto bytes_of = [](uint64_t pass) {
    auto writer = SectorWriter::Create({.run = 1, .seed = 5, .owner = 1, .writer = 1, .generation = 4}, 4096);
    REQUIRE(writer.ok());
    (*writer)->BeginPass(pass);
    const std::byte* const made = (*writer)->Make({OpKind::kWrite, 0, 0, 4096});
    return std::vector<std::byte>(made, made + 4096);
  };
  const std::vector<std::byte> sixth = bytes_of(2), seventh = bytes_of(3);  // generations 6 and 7
  SectorExpectation expected{.run = 1, .seed = 5, .owner = 1, .reader = 2, .low = 6, .high = 7};
  expected.file_bytes = 4096;
  expected.last_pass = WrittenRecords::Of(*StreamOf("write", shape), shape, 3, 1);  // one record
  const auto checked = [&](size_t of_seventh, size_t from) {
    std::vector<std::byte> file = sixth;
    std::copy_n(seventh.begin() + static_cast<long>(from), of_seventh, file.begin() + static_cast<long>(from));
    SectorChecker checker(expected);
    checker.Check({OpKind::kRead, 0, 0, 4096}, file.data());
    return checker.Result();
  };
  const v1::VerifyResult right = checked(1024, 0);
  CHECK(right.sectors() == 8);
  CHECK(right.mismatched() == 0);
  CHECK(right.undetermined() == 0);

  const v1::VerifyResult lost = checked(512, 0);
  REQUIRE(lost.mismatched() == 1);
  CHECK(lost.counts().at("stale") == 1);
  CHECK(lost.first(0).offset() == 512);
  CHECK(lost.first(0).expected() == "generation 7");
  CHECK(lost.first(0).found() == "generation 6 by lane 1");

  const v1::VerifyResult too_far = checked(2048, 0);
  REQUIRE(too_far.mismatched() == 2);
  CHECK(too_far.counts().at("unknown") == 2);
  CHECK(too_far.first(0).expected() == "generation 6");

  expected.last_pass = nullptr;  // then each of both may be anywhere
  CHECK(checked(2048, 0).undetermined() == 8);
}

}  // namespace
}  // namespace iobench
