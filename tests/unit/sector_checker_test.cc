#include "worker/data/sector_checker.h"

#include <zlib.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "worker/data/sector_writer.h"

namespace iobench {
namespace {

using Bytes = std::vector<std::byte>;

constexpr uint64_t kRun = 77;
constexpr uint64_t kSeed = 5;

// What one lane writes in one generation.
struct Writer {
  uint32_t writer = 1;
  uint32_t generation = 3;
  uint64_t run = kRun;
  uint32_t owner = 1;
  uint64_t unit_bytes = 512;
  uint32_t compress_percent = 0;

  Bytes Write(uint64_t offset, uint64_t length, uint32_t file = 0) const {
    auto made = SectorWriter::Create({.run = run,
                                      .seed = kSeed,
                                      .owner = owner,
                                      .writer = writer,
                                      .generation = generation,
                                      .unit_bytes = unit_bytes,
                                      .compress_percent = compress_percent},
                                     length);
    REQUIRE(made.ok());
    const std::byte* const data =
        (*made)->Make({OpKind::kWrite, file, offset, static_cast<uint32_t>(length)});
    REQUIRE(reinterpret_cast<uintptr_t>(data) % 4096 == offset % 4096);
    return Bytes(data, data + length);
  }
};

SectorExpectation Expectation(uint32_t low = 3, uint32_t high = 3) {
  return {
      .run = kRun, .seed = kSeed, .owner = 1, .reader = 2, .low = low, .high = high, .file_bytes = 1 << 20};
}

v1::VerifyResult Checked(const Bytes& data, uint64_t offset,
                         const SectorExpectation& expected = Expectation(), uint32_t file = 0) {
  SectorChecker checker(expected);
  checker.Check({OpKind::kRead, file, offset, static_cast<uint32_t>(data.size())}, data.data());
  return checker.Result();
}

using Counts = std::map<std::string, uint64_t>;
Counts CountsOf(const v1::VerifyResult& result) {
  return {result.counts().begin(), result.counts().end()};
}

// One bad sector of eight, at 8192 + 1024: its kind and its message.
void RequireOne(const v1::VerifyResult& result, const std::string& kind, const std::string& found) {
  INFO(result.ShortDebugString());
  REQUIRE(result.sectors() == 8);
  REQUIRE(result.mismatched() == 1);
  REQUIRE(CountsOf(result) == Counts{{kind, 1}});
  REQUIRE(result.first_size() == 1);
  REQUIRE(result.first(0).offset() == 8192 + 1024);
  REQUIRE(result.first(0).expected() == "generation 3");
  REQUIRE_THAT(result.first(0).found(), Catch::Contains(found));
}

Bytes Spliced(Bytes data, const Bytes& other, size_t at = 1024, size_t begin = 0, size_t end = 512) {
  for (size_t i = begin; i < end; ++i) data.at(at + i) = other.at(i);
  return data;
}

TEST_CASE("sectors are read as they were written, whatever the record that reads them") {
  const Bytes data = Writer().Write(0, 64 << 10);
  const auto all = Checked(data, 0);
  REQUIRE(all.sectors() == 128);
  REQUIRE(all.mismatched() == 0);
  REQUIRE(all.undetermined() == 0);
  for (const uint64_t record : {512u, 1024u, 4096u}) {
    SectorChecker checker(Expectation());
    for (uint64_t at = 0; at < data.size(); at += record) {
      checker.Check({OpKind::kRead, 0, at, static_cast<uint32_t>(record)}, data.data() + at);
    }
    REQUIRE(checker.Result().sectors() == 128);
    REQUIRE(checker.Result().mismatched() == 0);
  }
}

TEST_CASE("the data of a place do not depend on the record that wrote it") {
  const Bytes whole = Writer().Write(0, 16 << 10);
  for (const uint64_t at : {uint64_t{0}, uint64_t{512}, uint64_t{7680}}) {
    REQUIRE(Writer().Write(at, 512) == Bytes(whole.begin() + at, whole.begin() + at + 512));
  }
}

TEST_CASE("an older generation of a sector is stale, and its writer is named") {
  const Bytes old = Writer{.writer = 4, .generation = 2}.Write(8192 + 1024, 512);
  RequireOne(Checked(Spliced(Writer().Write(8192, 4096), old), 8192), "stale", "generation 2 by lane 4");
}

TEST_CASE("a sector of another place of the file is at a wrong offset") {
  const Bytes other = Writer().Write(65'536, 512);
  RequireOne(Checked(Spliced(Writer().Write(8192, 4096), other), 8192), "wrong-offset", "offset 65536");
}

TEST_CASE(
    "a sector of another file or another owner's file is named, of a shared file it is a wrong offset") {
  const Bytes good = Writer().Write(8192, 4096);
  const Bytes second_file = Writer().Write(8192 + 1024, 512, /*file=*/2);
  RequireOne(Checked(Spliced(good, second_file), 8192), "other-file", "file 2 of lane 1");
  const Bytes others = Writer{.owner = 6}.Write(8192 + 1024, 512);
  RequireOne(Checked(Spliced(good, others), 8192), "other-file", "file 0 of lane 6");
  SectorExpectation shared = Expectation();
  shared.shared = true;
  RequireOne(Checked(Spliced(good, others), 8192, shared), "wrong-offset", "the extent of lane 6");
}

TEST_CASE("a sector of another run is named") {
  const Bytes other = Writer{.run = 78}.Write(8192 + 1024, 512);
  RequireOne(Checked(Spliced(Writer().Write(8192, 4096), other), 8192), "other-run", "run 78");
}

TEST_CASE("zeros are told from other corruption") {
  RequireOne(Checked(Spliced(Writer().Write(8192, 4096), Bytes(512)), 8192), "zeros", "zeros");
}

TEST_CASE("a sector of two writes is torn") {
  const Bytes good = Writer().Write(8192, 4096);
  const Bytes old = Writer{.generation = 2}.Write(8192 + 1024, 512);
  RequireOne(Checked(Spliced(good, old, 1024, 256, 512), 8192), "torn",
             "generation 3 by lane 1, partly generation 2 by lane 1");
  // The other way round: the newer write only reached the second half.
  RequireOne(Checked(Spliced(good, old, 1024, 0, 256), 8192), "torn",
             "generation 2 by lane 1, partly generation 3 by lane 1");
  RequireOne(Checked(Spliced(good, Bytes(512), 1024, 128, 256), 8192), "torn", "partly zeros");
}

TEST_CASE("where writes have failed, what they would have overwritten is no mismatch, but anything else is") {
  SectorExpectation expected = Expectation();
  expected.unacknowledged = true;
  const Bytes good = Writer{}.Write(8192, 4096), zeros(512);
  const Bytes old = Writer{.generation = 2}.Write(8192 + 1024, 512);
  for (const Bytes& data : {Spliced(good, zeros), Spliced(good, old), Spliced(good, old, 1024, 256, 512)}) {
    CHECK(Checked(data, 8192).mismatched() == 1);
    const v1::VerifyResult result = Checked(data, 8192, expected);
    CHECK(result.mismatched() == 0);
    CHECK(result.undetermined() == 1);
    CHECK(result.sectors() == 8);
  }
  const Bytes elsewhere = Writer{}.Write(0, 512);
  CHECK(CountsOf(Checked(Spliced(good, elsewhere), 8192, expected)) == Counts{{"wrong-offset", 1}});
}

TEST_CASE("a flipped bit anywhere in a sector is corruption, in the header too") {
  for (size_t at = 0; at < 512; ++at) {
    Bytes data = Writer().Write(8192, 4096);
    data[1024 + at] ^= std::byte{1};
    INFO("byte " << at);
    RequireOne(Checked(data, 8192), "corrupt",
               at < 16   ? "no sector of this program"
               : at < 48 ? "a header with a wrong checksum"
                         : "the header of generation 3 by lane 1, other contents");
  }
}

TEST_CASE("data of somebody else are corrupt, and their first bytes are shown") {
  Bytes data = Writer().Write(8192, 4096);
  std::memset(data.data() + 1024, 'x', 512);
  RequireOne(Checked(data, 8192), "corrupt", "0x7878787878787878");
}

TEST_CASE("where two generations are possible both are right, and undetermined") {
  Bytes data = Writer().Write(0, 4096);
  data = Spliced(data, Writer{.generation = 2}.Write(1024, 512));
  const auto both = Checked(data, 0, Expectation(2, 3));
  REQUIRE(both.mismatched() == 0);
  REQUIRE(both.undetermined() == 8);
  data = Spliced(data, Writer{.generation = 1}.Write(2048, 512), 2048);
  const auto older = Checked(data, 0, Expectation(2, 3));
  REQUIRE(CountsOf(older) == Counts{{"stale", 1}});
  REQUIRE(older.undetermined() == 7);
  REQUIRE(older.first(0).expected() == "generation 2 to 3");
}

TEST_CASE("a generation that nobody should have written yet is neither right nor stale") {
  const Bytes newer = Writer{.generation = 4}.Write(8192 + 1024, 512);
  RequireOne(Checked(Spliced(Writer().Write(8192, 4096), newer), 8192), "unknown", "generation 4 by lane 1");
}

TEST_CASE("records that are no multiple of a sector end with a short one, down to a byte") {
  for (const uint64_t record : {1u, 7u, 47u, 48u, 100u, 513u, 559u, 1000u, 5000u}) {
    INFO("record " << record);
    const Writer writer{.unit_bytes = record};
    SectorExpectation expected = Expectation();
    expected.unit_bytes = record;
    expected.file_bytes = 20 * record - record / 2;
    SectorChecker checker(expected);
    for (uint64_t at = 0; at < expected.file_bytes; at += record) {
      const uint64_t length = std::min(record, expected.file_bytes - at);
      const Bytes data = writer.Write(at, length);
      checker.Check({OpKind::kRead, 0, at, static_cast<uint32_t>(length)}, data.data());
    }
    const auto result = checker.Result();
    REQUIRE(result.mismatched() == 0);
    const uint64_t last = record - record / 2;
    REQUIRE(result.sectors() == 19 * ((record + 511) / 512) + (last + 511) / 512);
    // Several records at once are the same sectors.
    Bytes two = writer.Write(0, 2 * record);
    REQUIRE(Checked(two, 0, expected).sectors() == 2 * ((record + 511) / 512));
    REQUIRE(Checked(two, 0, expected).mismatched() == 0);
    two.back() ^= std::byte{0x80};
    REQUIRE(CountsOf(Checked(two, 0, expected)) == Counts{{"corrupt", 1}});
  }
}

TEST_CASE("a sector without room for a header is stale, zeros or corrupt") {
  const Writer writer{.unit_bytes = 40};
  SectorExpectation expected = Expectation(2, 3);
  expected.unit_bytes = 40;
  Bytes data = writer.Write(0, 160);
  REQUIRE(Checked(data, 0, expected).undetermined() == 4);
  const Bytes old = Writer{.generation = 1, .unit_bytes = 40}.Write(40, 40);
  std::memcpy(data.data() + 40, old.data(), 40);
  std::memset(data.data() + 80, 0, 40);
  std::memset(data.data() + 120, 'x', 40);
  const auto result = Checked(data, 0, expected);
  REQUIRE(CountsOf(result) == Counts{{"corrupt", 1}, {"stale", 1}, {"zeros", 1}});
  REQUIRE(result.first(0).found() == "generation 1");
}

TEST_CASE("sectors that an op only touches are not looked at") {
  const Bytes data = Writer().Write(0, 8192);
  const Bytes part(data.begin() + 100, data.begin() + 2148);  // of sectors 0 and 4 only a part
  const auto result = Checked(part, 100);
  REQUIRE(result.sectors() == 3);
  REQUIRE(result.mismatched() == 0);
}

TEST_CASE("ten mismatches are described, all are counted") {
  const auto result = Checked(Bytes(64 << 10), 0);
  REQUIRE(result.mismatched() == 128);
  REQUIRE(CountsOf(result) == Counts{{"zeros", 128}});
  REQUIRE(result.first_size() == 10);
  REQUIRE(result.first(9).offset() == 9 * 512);
}

TEST_CASE("sectors that say who wrote them do not compress, and with a percentage they do by as much") {
  for (const uint32_t percent : {0u, 1u, 30u, 50u, 77u, 90u}) {
    for (const uint64_t unit : {512u, 4097u}) {
      INFO(percent << " %, unit " << unit);
      const Bytes data =
          Writer{.unit_bytes = unit, .compress_percent = percent}.Write(0, unit * ((2 << 20) / unit));
      uLongf size = compressBound(data.size());
      std::vector<Bytef> out(size);
      REQUIRE(compress2(out.data(), &size, reinterpret_cast<const Bytef*>(data.data()), data.size(), 9) ==
              Z_OK);
      REQUIRE(static_cast<double>(size) / static_cast<double>(data.size()) ==
              Approx(1 - percent / 100.0).margin(0.01));
    }
  }
}

TEST_CASE("compressible sectors are checked all the same") {
  const Writer writer{.compress_percent = 50};
  SectorExpectation expected = Expectation();
  expected.compress_percent = 50;
  const Bytes good = writer.Write(8192, 4096);
  REQUIRE(Checked(good, 8192, expected).mismatched() == 0);
  Writer before = writer;
  before.generation = 2;
  RequireOne(Checked(Spliced(good, before.Write(8192 + 1024, 512), 1024, 256, 512), 8192, expected), "torn",
             "partly generation 2 by lane 1");
}

}  // namespace
}  // namespace iobench
