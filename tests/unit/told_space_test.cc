#include "worker/storage/told_space.h"

#include <catch2/catch.hpp>

namespace iobench {
namespace {

TEST_CASE("the numbers of a file system become bytes and inodes") {
  const v1::Space space = SpaceOf({.unit_bytes = 4096,
                                   .total = 1000,
                                   .free = 300,
                                   .available = 250,
                                   .total_items = 640,
                                   .available_items = 20});
  CHECK(space.total_bytes() == 4'096'000);
  CHECK(space.free_bytes() == 1'228'800);
  CHECK(space.available_bytes() == 1'024'000);
  CHECK(space.total_items() == 640);
  CHECK(space.available_items() == 20);
}

TEST_CASE("a full file system is known to be full") {
  const v1::Space space = SpaceOf({.unit_bytes = 4096, .total = 1000, .free = 50, .total_items = 640});
  CHECK(space.total_bytes() > 0);
  CHECK(space.available_bytes() == 0);
  CHECK(space.total_items() == 640);
  CHECK(space.available_items() == 0);
}

TEST_CASE("file systems that tell nothing, or as much as fits into a number, have no known size") {
  const uint64_t sizes[] = {0, uint64_t{1} << 52, uint64_t{1} << 63, UINT64_MAX};
  for (const uint64_t blocks : sizes) {
    const v1::Space space = SpaceOf({.unit_bytes = 4096,
                                     .total = blocks,
                                     .free = blocks,
                                     .available = blocks,
                                     .total_items = blocks < (uint64_t{1} << 60) ? 0 : blocks,
                                     .available_items = blocks});
    INFO(blocks);
    CHECK(space.total_bytes() == 0);
    CHECK(space.available_bytes() == 0);
    CHECK(space.total_items() == 0);
    CHECK(space.available_items() == 0);
  }
  CHECK(SpaceOf({.unit_bytes = 0, .total = 7, .free = 7, .available = 7}).total_bytes() == 7);
}

TEST_CASE("more free than there is in all is all that there is") {
  const v1::Space space = SpaceOf({.unit_bytes = 512, .total = 10, .free = 12, .available = UINT64_MAX});
  CHECK(space.free_bytes() == 5120);
  CHECK(space.available_bytes() == 5120);
}

}  // namespace
}  // namespace iobench
