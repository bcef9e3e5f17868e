#include "worker/data/payload.h"

#include <zlib.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace iobench {
namespace {

Op WriteAt(uint64_t offset, uint32_t length, uint32_t object = 0) {
  return {OpKind::kWrite, object, offset, length};
}

Payload MakePayload(uint64_t seed, uint32_t lane, uint32_t phase, uint32_t record_bytes) {
  auto payload = Payload::Create(seed, lane, phase, record_bytes);
  REQUIRE(payload.ok());
  return *std::move(payload);
}

std::string Bytes(const std::byte* data, size_t size) {
  return std::string(reinterpret_cast<const char*>(data), size);
}

std::string Expected(uint64_t seed, uint32_t lane, uint32_t phase, const Op& op) {
  std::vector<std::byte> out(op.length);
  Payload::Expected(seed, lane, phase, op, out);
  return Bytes(out.data(), out.size());
}

// What a sequential pass writes into one file.
std::string FileOf(Payload& payload, uint32_t record_bytes, uint64_t file_bytes, uint32_t object = 0) {
  std::string file;
  for (uint64_t at = 0; at < file_bytes; at += record_bytes) {
    const Op op =
        WriteAt(at, static_cast<uint32_t>(std::min<uint64_t>(record_bytes, file_bytes - at)), object);
    file += Bytes(payload.Next(op), op.length);
  }
  return file;
}

double CompressedShare(const std::string& data) {
  uLongf size = compressBound(data.size());
  std::vector<Bytef> out(size);
  REQUIRE(compress2(out.data(), &size, reinterpret_cast<const Bytef*>(data.data()), data.size(), 9) == Z_OK);
  return static_cast<double>(size) / static_cast<double>(data.size());
}

TEST_CASE("what is written is what Expected says, for every record size and any order of ops") {
  for (const uint32_t record_bytes :
       {1u, 7u, 512u, 1000u, 1024u, 4096u, 5000u, 65'536u, 1u << 20, (3u << 20) + 12}) {
    INFO("record " << record_bytes);
    Payload payload = MakePayload(11, 2, 3, record_bytes);
    // Positions around block and file ends, each visited after others.
    for (const uint64_t index : {0u, 1u, 5u, 255u, 256u, 3u, 1023u, 1024u, 1025u, 2u, 100'000u, 0u}) {
      const Op op = WriteAt(index * uint64_t{record_bytes}, record_bytes, index % 3);
      REQUIRE(Bytes(payload.Next(op), op.length) == Expected(11, 2, 3, op));
    }
    const Op short_op = WriteAt(4096 * 7 + 1, (record_bytes + 1) / 2);
    REQUIRE(Bytes(payload.Next(short_op), short_op.length) == Expected(11, 2, 3, short_op));
  }
}

TEST_CASE("the data at a position does not depend on the record size that wrote it") {
  constexpr uint64_t kFileBytes = (2 << 20) + 777;
  Payload large = MakePayload(1, 0, 0, 1 << 20);
  const std::string file = FileOf(large, 1 << 20, kFileBytes);
  for (const uint32_t record_bytes : {512u, 1000u, 4096u, 65'536u}) {
    Payload payload = MakePayload(1, 0, 0, record_bytes);
    REQUIRE(FileOf(payload, record_bytes, kFileBytes) == file);
  }
}

TEST_CASE("zlib cannot take one percent off what several records hold") {
  for (const uint32_t record_bytes : {512u, 1024u, 4096u, 65'536u, 1u << 20}) {
    Payload payload = MakePayload(1, 0, 0, record_bytes);
    INFO("record " << record_bytes);
    REQUIRE(CompressedShare(FileOf(payload, record_bytes, 4 << 20)) > 0.99);
  }
  REQUIRE(CompressedShare(std::string(100'000, 'x')) < 0.01);  // so CompressedShare can tell
}

TEST_CASE("so much of every block compresses away as was asked for, to one percent") {
  for (const uint32_t percent : {0u, 1u, 30u, 50u, 77u, 99u, 100u}) {
    for (const uint32_t record_bytes : {512u, 4096u, 65'536u, 1u << 20}) {
      INFO(percent << " %, record " << record_bytes);
      auto payload = Payload::Create(1, 0, 0, record_bytes, {.compress_percent = percent});
      REQUIRE(payload.ok());
      const std::string file = FileOf(*payload, record_bytes, 4 << 20);
      REQUIRE(CompressedShare(file) == Approx(1 - percent / 100.0).margin(0.01));
      std::set<std::string> blocks;
      for (size_t at = 0; at < file.size(); at += 4096) blocks.insert(file.substr(at, 4096));
      REQUIRE(blocks.size() == file.size() / 4096);
      const Op op = WriteAt(3 * 4096 + 512, 512);
      std::vector<std::byte> expected(op.length);
      Payload::Expected(1, 0, 0, op, expected, {.compress_percent = percent});
      REQUIRE(Bytes(payload->Next(op), op.length) == Bytes(expected.data(), op.length));
    }
  }
}

TEST_CASE("constant data are that byte everywhere, without a stamp") {
  for (const unsigned char byte : {0, 7, 255}) {
    auto payload = Payload::Create(1, 0, 0, 10'000, {.constant = byte});
    REQUIRE(payload.ok());
    REQUIRE(FileOf(*payload, 10'000, 2 << 20) == std::string(2 << 20, static_cast<char>(byte)));
  }
}

TEST_CASE("repeated data are those of the first record in every write, and do not compress") {
  auto payload = Payload::CreateRepeated(5, 1, 2, 65'536);
  REQUIRE(payload.ok());
  const std::string first = Expected(5, 1, 2, WriteAt(0, 65'536));
  payload->BeginPrefill();
  CHECK(Bytes(payload->Next(WriteAt(0, 65'536)), 65'536) == first);
  payload->BeginPass(3);
  payload->NumberWrites();
  for (const Op& op : {WriteAt(1 << 20, 65'536), WriteAt(4096, 4096), WriteAt(0, 1000)}) {
    CHECK(Bytes(payload->Next(op), op.length) == first.substr(0, op.length));
  }
  // As far into the buffer as into a block of the file.
  CHECK(Bytes(payload->Next(WriteAt(8192 + 100, 4096)), 4096) == first.substr(100, 4096));
  auto out = AlignedBuffer::Allocate(8192);
  payload->CopyTo(out->data(), WriteAt(16'384, 4096));
  CHECK(Bytes(out->data(), 4096) == first.substr(0, 4096));
}

TEST_CASE(
    "a copy of the data is the same whatever was copied there before, and of long ones the time is known") {
  Payload payload = MakePayload(5, 1, 2, 1 << 20);
  auto out = AlignedBuffer::Allocate((1 << 20) + 2 * Payload::kBlockBytes);
  REQUIRE(out.ok());
  // At the border of a block or not, of a piece or not, with another length, over another one's end.
  for (const Op& op : {WriteAt(4096, 8195), WriteAt(512, 5000), WriteAt(513, 5000), WriteAt(1000, 1000),
                       WriteAt(3 << 20, 8192), WriteAt(0, 100), WriteAt(4095, 1)}) {
    INFO("offset " << op.offset << ", length " << op.length);
    payload.CopyTo(out->data(), op);
    REQUIRE(Bytes(out->data(), op.length) == Expected(5, 1, 2, op));
  }
  REQUIRE(payload.copying_ns() == 0);
  payload.CopyTo(out->data(), WriteAt(1 << 20, 1 << 20));
  REQUIRE(Bytes(out->data(), 1 << 20) == Expected(5, 1, 2, WriteAt(1 << 20, 1 << 20)));
  REQUIRE(payload.copying_ns() > 0);
}

TEST_CASE("each pass, and each preparation of files, has other data at every place") {
  constexpr uint32_t kFileBytes = 64 << 10;
  Payload payload = MakePayload(1, 0, 0, 4096);
  std::set<std::string> sectors;
  const auto add_pass = [&] {
    const std::string file = FileOf(payload, 4096, kFileBytes);
    for (size_t at = 0; at < file.size(); at += 512) sectors.insert(file.substr(at, 512));
  };
  payload.BeginPrefill();
  add_pass();
  for (const uint64_t pass : {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{1} << 40}) {
    payload.BeginPass(pass);
    add_pass();
  }
  CHECK(sectors.size() == 5 * kFileBytes / 512);

  const Op op = WriteAt(8192, 4096);
  payload.BeginPass(2);
  std::vector<std::byte> expected(op.length);
  Payload::Expected(1, 0, 0, op, expected, {}, 2);
  CHECK(Bytes(payload.Next(op), op.length) == Bytes(expected.data(), op.length));
  payload.BeginPass(0);
  CHECK(Bytes(payload.Next(op), op.length) == Expected(1, 0, 0, op));
}

TEST_CASE("numbered writes of one place differ, however they are made") {
  const Op op = WriteAt(4096, 32'768);
  auto out = AlignedBuffer::Allocate(op.length + 2 * Payload::kBlockBytes);
  REQUIRE(out.ok());
  std::set<std::string> contents;
  Payload within = MakePayload(1, 0, 0, op.length);
  within.NumberWrites();
  for (int i = 0; i < 3; ++i) contents.insert(Bytes(within.Next(op), op.length));
  within.BeginPass(1);
  contents.insert(Bytes(within.Next(op), op.length));
  within.CopyTo(out->data(), op);
  contents.insert(Bytes(out->data(), op.length));
  within.MakeBeforeOps();
  for (int i = 0; i < 2; ++i) {
    within.Prepare(op);
    contents.insert(Bytes(within.Next(op), op.length));
  }
  CHECK(contents.size() == 7);
}

TEST_CASE("what is made before the ops is what is made within them") {
  Payload payload = MakePayload(5, 1, 2, 65'536);
  payload.MakeBeforeOps();
  for (const Op& op : {WriteAt(65'536, 65'536), WriteAt(1000, 20'000), WriteAt(0, 7)}) {
    payload.Prepare(op);
    REQUIRE(Bytes(payload.Next(op), op.length) == Expected(5, 1, 2, op));
    REQUIRE(payload.Next(op) == payload.Next(op));
  }
}

TEST_CASE("data stand where they are told to") {
  auto place = AlignedBuffer::Allocate(3 * Payload::kBlockBytes);
  REQUIRE(place.ok());
  Payload payload = MakePayload(5, 1, 2, 4096);
  payload.StandAt(place->data());
  const Op op = WriteAt(7 * 4096 + 1000, 4000);
  REQUIRE(payload.Next(op) == place->data() + 1000);
  REQUIRE(Bytes(place->data() + 1000, 4000) == Expected(5, 1, 2, op));
}

TEST_CASE("a copy of what a maker made is whole") {
  struct Changing final : RecordMaker {
    void BeginPass(uint64_t) override {}
    const std::byte* Make(const Op&) override {
      bytes.fill(std::byte{++count});
      return bytes.data();
    }
    std::array<std::byte, 8192> bytes = {};
    unsigned char count = 0;
  };
  Payload payload = MakePayload(1, 0, 0, 8192);
  payload.MakeWith(std::make_unique<Changing>());
  std::vector<std::byte> out(8192);
  const Op op = WriteAt(0, 8192);
  for (char expected : {1, 2, 3}) {
    payload.Prepare(op);
    payload.CopyTo(out.data(), op);
    REQUIRE(Bytes(out.data(), op.length) == std::string(8192, expected));
  }
}

TEST_CASE("where a maker makes the data they are handed out until the next is made") {
  struct Counting final : RecordMaker {
    void BeginPass(uint64_t) override {}
    const std::byte* Make(const Op&) override { return &bytes[count++]; }
    std::byte bytes[3] = {};
    size_t count = 0;
  };
  auto maker = std::make_unique<Counting>();
  const std::byte* const bytes = maker->bytes;
  Payload payload = MakePayload(1, 0, 0, 512);
  payload.MakeWith(std::move(maker));
  const Op op = WriteAt(512, 512);
  payload.Prepare(op);
  REQUIRE(payload.Next(op) == bytes);
  REQUIRE(payload.Next(op) == bytes);
  payload.Prepare(op);
  REQUIRE(payload.Next(op) == bytes + 1);
}

TEST_CASE("no two 4 KiB blocks are equal over files, lanes and phases") {
  std::set<std::string> blocks;
  size_t count = 0;
  for (const uint32_t lane : {0u, 1u}) {
    for (const uint32_t phase : {0u, 1u}) {
      Payload payload = MakePayload(1, lane, phase, 65'536);
      for (const uint32_t object : {0u, 1u}) {
        const std::string file = FileOf(payload, 65'536, 3 << 20, object);
        for (size_t at = 0; at < file.size(); at += 4096) {
          blocks.insert(file.substr(at, 4096));
          ++count;
        }
      }
    }
  }
  REQUIRE(count == 8 * 768);
  REQUIRE(blocks.size() == count);
}

TEST_CASE("lanes, phases and seeds write different data even into parts of a block") {
  const Op op = WriteAt(512, 512);
  const std::set<std::string> data{Expected(1, 0, 0, op), Expected(1, 1, 0, op), Expected(1, 0, 1, op),
                                   Expected(2, 0, 0, op), Expected(1, 1, 1, op)};
  REQUIRE(data.size() == 5);
}

TEST_CASE("data are aligned in memory as their offset is, for O_DIRECT") {
  Payload payload = MakePayload(1, 0, 0, 65'536);
  for (const uint64_t offset :
       {uint64_t{0}, uint64_t{512}, uint64_t{4096}, uint64_t{1} << 20, (uint64_t{1} << 40) + 1536}) {
    REQUIRE(reinterpret_cast<uintptr_t>(payload.Next(WriteAt(offset, 512))) % 4096 == offset % 4096);
  }
}

TEST_CASE("a buffer is aligned as asked, has its size, and can be moved") {
  auto small = AlignedBuffer::Allocate(10);
  REQUIRE(small.ok());
  REQUIRE(small->size() == 10);
  REQUIRE(reinterpret_cast<uintptr_t>(small->data()) % 4096 == 0);
  auto large = AlignedBuffer::Allocate(1, 1 << 16);
  REQUIRE(reinterpret_cast<uintptr_t>(large->data()) % (1 << 16) == 0);
  std::byte* const data = small->data();
  AlignedBuffer moved = *std::move(small);
  REQUIRE(moved.data() == data);
  moved = *std::move(large);
  REQUIRE(moved.size() == 1);
}

TEST_CASE("a buffer that no machine has is refused") {
  REQUIRE(AlignedBuffer::Allocate(SIZE_MAX).status().code() == absl::StatusCode::kResourceExhausted);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their allocators abort instead
  REQUIRE(AlignedBuffer::Allocate(size_t{1} << 60).status().code() == absl::StatusCode::kResourceExhausted);
#endif
}

}  // namespace
}  // namespace iobench
