#include "coordinator/cluster/crowding.h"

#include <catch2/catch.hpp>

namespace iobench {
namespace {

using Workers = std::vector<LanesOnProcessors>;

const std::string kFirst("\x01"), kSecond("\x02"), kBoth("\x03");

TEST_CASE("lanes are counted over all workers that use the same processors") {
  const LanesOnProcessors one_lane{.client = 0, .processor_mask = kBoth, .processors = 2, .lanes = 1};
  CHECK(CrowdedWorkers(Workers(2, one_lane)) == std::vector<bool>{false, false});
  CHECK(CrowdedWorkers(Workers(4, one_lane)) == std::vector<bool>{true, true, true, true});
  CHECK(CrowdedWorkers(Workers{{0, kBoth, 2, 2}}) == std::vector<bool>{false});
  CHECK(CrowdedWorkers(Workers{{0, kBoth, 2, 3}}) == std::vector<bool>{true});
}

TEST_CASE("workers of other clients, and those that take no part, crowd nobody") {
  const Workers workers = {{0, kBoth, 2, 2}, {1, kBoth, 2, 3}, {0, kBoth, 2, 0}};
  CHECK(CrowdedWorkers(workers) == std::vector<bool>{false, true, false});
}

TEST_CASE("workers that are bound to processors of their own do not crowd each other") {
  CHECK(CrowdedWorkers(Workers{{0, kFirst, 1, 1}, {0, kSecond, 1, 1}}) == std::vector<bool>{false, false});
  CHECK(CrowdedWorkers(Workers{{0, kFirst, 1, 1}, {0, kSecond, 1, 2}}) == std::vector<bool>{false, true});
  // The worker that may use both processors shares one with each of the others.
  const Workers workers = {{0, kFirst, 1, 1}, {0, kSecond, 1, 1}, {0, kBoth, 2, 1}};
  CHECK(CrowdedWorkers(workers) == std::vector<bool>{false, false, true});
}

TEST_CASE("masks of different lengths are of the same processors") {
  const std::string ninth("\x00\x01", 2);
  CHECK(CrowdedWorkers(Workers{{0, kFirst, 1, 1}, {0, ninth, 1, 1}}) == std::vector<bool>{false, false});
  CHECK(CrowdedWorkers(Workers{{0, ninth, 1, 1}, {0, ninth, 1, 1}}) == std::vector<bool>{true, true});
}

TEST_CASE("where the processors are not known their number decides, over the whole client") {
  CHECK(CrowdedWorkers(Workers(4, {.client = 0, .processor_mask = "", .processors = 2, .lanes = 1})) ==
        std::vector<bool>(4, true));
  CHECK(CrowdedWorkers(Workers(4, {.client = 0, .processor_mask = "", .processors = 4, .lanes = 1})) ==
        std::vector<bool>(4, false));
}

}  // namespace
}  // namespace iobench
