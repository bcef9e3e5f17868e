#include "worker/data/data_blocks.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

namespace iobench {
namespace {

constexpr size_t kBlock = DataBlocks::kBlockBytes;
constexpr size_t kPiece = DataBlocks::kPieceBytes;

struct alignas(64) Memory {
  std::array<std::byte, 4 * kBlock> bytes;
};

// Word by word, from the definition.
std::string Defined(const DataBlocks& blocks, uint32_t file, uint64_t position, uint64_t length) {
  std::string bytes;
  for (uint64_t i = 0; i < length; ++i) {
    const uint64_t word = blocks.WordAt(file, (position + i) / 8);
    bytes += static_cast<char>(word >> (position + i) % 8 * 8);
  }
  return bytes;
}

std::string Made(const DataBlocks& blocks, uint32_t file, uint64_t position, uint64_t length) {
  Memory memory;
  blocks.Make(file, position, length, memory.bytes.data());
  return std::string(reinterpret_cast<const char*>(memory.bytes.data()) + position % kPiece, length);
}

std::string FileOf(const DataBlocks& blocks, uint32_t file, uint64_t length) {
  std::string bytes(length, '\0');
  blocks.Copy(file, 0, length, reinterpret_cast<std::byte*>(bytes.data()));
  return bytes;
}

double CompressedShare(const std::string& data) {
  uLongf size = compressBound(data.size());
  std::vector<Bytef> out(size);
  REQUIRE(compress2(out.data(), &size, reinterpret_cast<const Bytef*>(data.data()), data.size(), 9) == Z_OK);
  return static_cast<double>(size) / static_cast<double>(data.size());
}

// Returns how many strings as long as a Word repeat another one, wherever they begin.
template <typename Word>
size_t RepeatedStrings(const std::string& data) {
  std::vector<Word> words(data.size() - sizeof(Word) + 1);
  for (size_t at = 0; at < words.size(); ++at) std::memcpy(&words[at], data.data() + at, sizeof(Word));
  std::sort(words.begin(), words.end());
  size_t count = 0;
  for (size_t i = 1; i < words.size(); ++i) count += words[i] == words[i - 1] ? 1 : 0;
  return count;
}

TEST_CASE("every way to make blocks makes what the definition says, at any place and of any length") {
  for (const BlockMaker maker : BlockMakersHere()) {
    INFO("maker " << static_cast<int>(maker));
    for (const uint32_t percent : {0u, 30u, 100u}) {
      const DataBlocks blocks(17, {.compress_percent = percent}, maker);
      for (const uint64_t position : {uint64_t{0}, uint64_t{1}, uint64_t{511}, uint64_t{512}, uint64_t{2868},
                                      uint64_t{4095}, (uint64_t{1} << 45) + 4000}) {
        for (const uint64_t length : {1u, 8u, 511u, 512u, 513u, 4096u, 9000u}) {
          INFO(percent << " %, " << length << " bytes at " << position);
          REQUIRE(Made(blocks, 3, position, length) == Defined(blocks, 3, position, length));
        }
      }
    }
  }
}

TEST_CASE("a copy is the same bytes wherever it goes, and no others") {
  const DataBlocks blocks(17, {});
  std::string out(5002, '#');
  blocks.Copy(1, 700, 5000, reinterpret_cast<std::byte*>(out.data()) + 1);
  REQUIRE(out == "#" + Defined(blocks, 1, 700, 5000) + "#");
}

TEST_CASE("making some bytes overwrites nothing outside their pieces") {
  const DataBlocks blocks(17, {.compress_percent = 50});
  for (const uint64_t position : {600u, 1500u, 2000u, 3600u}) {
    Memory memory;
    memory.bytes.fill(std::byte{'#'});
    blocks.Make(0, position, 100, memory.bytes.data());
    const std::string all(reinterpret_cast<const char*>(memory.bytes.data()), memory.bytes.size());
    const size_t pieces = ((position + 100 + kPiece - 1) / kPiece - position / kPiece) * kPiece;
    INFO(position);
    REQUIRE(all.substr(pieces) == std::string(all.size() - pieces, '#'));
  }
}

TEST_CASE("no eight bytes of a file occur in it twice, wherever they begin") {
  // Of 2 Mi random strings of 64 bits two are equal once in 8 million tries.
  const std::string file = FileOf(DataBlocks(1, {}), 0, 2 << 20);
  REQUIRE(RepeatedStrings<uint64_t>(file) == 0);
  // … and strings of 32 bits as often as by chance: n²/2³³ = 512, not the 46 % of a pool that is repeated.
  REQUIRE(RepeatedStrings<uint32_t>(file) < 650);
}

TEST_CASE("files, salts and blocks have nothing in common") {
  std::string all;
  for (const uint64_t salt : {1u, 2u}) {
    for (const uint32_t file : {0u, 1u}) all += FileOf(DataBlocks(salt, {}), file, 512 << 10);
  }
  REQUIRE(RepeatedStrings<uint64_t>(all) == 0);
}

TEST_CASE("the differences between blocks compress as little as the blocks") {
  const std::string file = FileOf(DataBlocks(5, {}), 0, 256 * kBlock);
  for (const size_t apart : {size_t{1}, size_t{7}, size_t{128}}) {
    std::string xors, differences;
    for (size_t at = 0; at + apart * kBlock < file.size(); ++at) {
      xors += static_cast<char>(file[at] ^ file[at + apart * kBlock]);
      differences += static_cast<char>(file[at] - file[at + apart * kBlock]);
    }
    REQUIRE(CompressedShare(xors) > 0.999);
    REQUIRE(CompressedShare(differences) > 0.999);
  }
  std::string steps;  // what a delta filter of 8-byte words sees
  for (size_t at = 8; at < file.size(); ++at) steps += static_cast<char>(file[at] - file[at - 8]);
  REQUIRE(CompressedShare(steps) > 0.999);
}

TEST_CASE("all bytes are as frequent at each place of a word") {
  const std::string file = FileOf(DataBlocks(9, {}), 0, 8 << 20);
  for (size_t place = 0; place < 8; ++place) {
    std::array<double, 256> counts{};
    for (size_t at = place; at < file.size(); at += 8) ++counts[static_cast<unsigned char>(file[at])];
    double chi_square = 0;
    const double expected = static_cast<double>(file.size()) / 8 / 256;
    for (const double count : counts) chi_square += (count - expected) * (count - expected) / expected;
    INFO("byte " << place << ": " << chi_square);
    REQUIRE(chi_square < 255 + 6 * 22.6);  // six standard deviations
  }
}

TEST_CASE("compressible blocks are zeros at their end, and differ") {
  const DataBlocks blocks(3, {.compress_percent = 25});
  const std::string file = FileOf(blocks, 0, 8 * kBlock);
  for (size_t at = 0; at < file.size(); at += kBlock) {
    REQUIRE(file.substr(at + 3072, 1024) == std::string(1024, '\0'));
    REQUIRE(CompressedShare(file.substr(at, 3072)) > 0.99);
  }
  const std::string nothing = FileOf(DataBlocks(3, {.compress_percent = 100}), 0, 2 * kBlock);
  REQUIRE(nothing.substr(0, 8) != nothing.substr(kBlock, 8));
  REQUIRE(nothing.substr(8, 4088) == std::string(4088, '\0'));
}

}  // namespace
}  // namespace iobench
