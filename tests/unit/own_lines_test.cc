// What is on lines of its own shares none with what was allocated before or after it.
#include "common/memory/own_lines.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "catch2/catch.hpp"

namespace iobench {
namespace {

struct Counter : OnOwnLines {
  uint64_t count = 0;
};
struct Base : OnOwnLines {
  virtual ~Base() = default;
};
struct Derived final : Base {
  std::array<char, 300> more{};
};

using Range = std::pair<uintptr_t, uintptr_t>;  // [begin, end)

template <typename T>
Range RangeOf(const T* object, size_t bytes = sizeof(T)) {
  const auto begin = reinterpret_cast<uintptr_t>(object);
  return {begin, begin + bytes};
}

bool ShareLines(Range a, Range b) {
  const auto line = [](uintptr_t at) { return at / kOwnLinesBytes; };
  return line(a.first) <= line(b.second - 1) && line(b.first) <= line(a.second - 1);
}

}  // namespace

TEST_CASE("objects and elements on lines of their own share no line with their neighbours") {
  std::vector<std::unique_ptr<Counter>> counters;
  std::vector<std::unique_ptr<Base>> derived;
  std::vector<std::vector<uint64_t, OwnLinesAllocator<uint64_t>>> lists;
  std::vector<std::unique_ptr<uint64_t>> others;  // on lines of anybody
  std::vector<Range> own;
  for (int i = 0; i < 100; ++i) {
    counters.push_back(std::make_unique<Counter>());
    others.push_back(std::make_unique<uint64_t>(0));
    derived.push_back(std::make_unique<Derived>());
    lists.emplace_back(3);
    own.push_back(RangeOf(counters.back().get()));
    own.push_back(RangeOf(static_cast<const Derived*>(derived.back().get())));
    own.push_back(RangeOf(lists.back().data(), 3 * sizeof(uint64_t)));
  }
  std::sort(own.begin(), own.end());
  for (size_t i = 1; i < own.size(); ++i) REQUIRE_FALSE(ShareLines(own[i - 1], own[i]));
  for (const auto& other : others) {
    for (const Range& range : own) REQUIRE_FALSE(ShareLines(RangeOf(other.get()), range));
  }
}

TEST_CASE("objects in a row without lines of their own share them, so the check above can fail") {
  const std::array<uint64_t, 2> row{};
  CHECK(ShareLines(RangeOf(&row[0]), RangeOf(&row[1])) ==
        (reinterpret_cast<uintptr_t>(&row[1]) % kOwnLinesBytes != 0));
}

}  // namespace iobench
