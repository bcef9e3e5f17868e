#include "common/transport/guard/header_bound.h"

#include <catch2/catch.hpp>

#include <string>

namespace iobench {
namespace {

std::optional<uint64_t> Added(HeaderBound& bound, const std::string& block) {
  return bound.Add({reinterpret_cast<const unsigned char*>(block.data()), block.size()});
}

std::optional<uint64_t> BoundOf(const std::string& block) {
  HeaderBound bound;
  return Added(bound, block);
}

TEST_CASE("a header that is written out counts its name, its value and 32 bytes") {
  CHECK(BoundOf(std::string("\x00\x01x\x05value", 9)) == 1 + 5 + 32);
  CHECK(BoundOf("") == 0);
  CHECK(BoundOf(std::string("\x10\x01x\x05value", 9)) == 1 + 5 + 32);  // never indexed
}

TEST_CASE("a header of the static table counts as the largest there") {
  CHECK(BoundOf("\x83\x86") == 2 * 64);
  CHECK(BoundOf("\x04\x01/") == 64 + 1 + 32);  // its name alone
}

TEST_CASE("one byte that names an entry counts as the largest entry so far") {
  HeaderBound bound;
  const std::string large = std::string("\x40\x01x\x7f\xa1\x1e", 6) + std::string(4000, 'v');
  REQUIRE(Added(bound, large) == 1 + 4000 + 32);
  CHECK(Added(bound, std::string(16'000, '\xbe')) == uint64_t{16'000} * 4033);
}

TEST_CASE("Huffman's code counts as its shortest") {
  CHECK(BoundOf(std::string("\x00\x01x\x85zzzzz", 9)) == 1 + 8 + 32);
}

TEST_CASE("damaged headers are refused") {
  const std::string block = GENERATE(std::string("\x80"),                             // the entry 0
                                     std::string("\x00\x05x", 3),                     // a name that ends too early
                                     std::string("\x00\x01x\x7f", 4),                 // a value without its length
                                     std::string("\x00\x7f\x80\x80\x80\x80\x80", 7),  // a number that does not end
                                     std::string("\x3f\xe1\x7f"));                    // a table of 16 KiB
  CHECK(BoundOf(block) == std::nullopt);
}

}  // namespace
}  // namespace iobench
