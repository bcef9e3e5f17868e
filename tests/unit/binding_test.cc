#include "worker/client/binding.h"

#include <sched.h>

#include <catch2/catch.hpp>
#include <thread>

namespace iobench {
namespace {

using Processors = std::vector<uint32_t>;

v1::Binding To(v1::Binding::To to, uint32_t first = 0) {
  v1::Binding binding;
  binding.set_to(to);
  binding.set_first(first);
  return binding;
}

TEST_CASE("lane i is bound to processor first + i, around those that the process may use") {
  const Processors usable = {1, 2, 5};
  const auto places = BindingSlotsFrom(To(v1::Binding::CORES, 1), usable, {});
  REQUIRE(places.ok());
  CHECK(places->Of(0) == Processors{2});
  CHECK(places->Of(1) == Processors{5});
  CHECK(places->Of(2) == Processors{1});
  CHECK(places->Of(3) == Processors{2});
  const Processors lanes = {2, 3};
  CHECK(places->ToText(lanes) == "processors 1, 2");
}

TEST_CASE("a first processor that a client does not have is refused with those that it has") {
  const Processors usable = {1, 2, 5};
  const auto refusal = [&](uint32_t first) {
    return std::string(BindingSlotsFrom(To(v1::Binding::CORES, first), usable, {}).status().message());
  };
  CHECK(refusal(2).empty());
  CHECK_THAT(refusal(3), Catch::Contains("-P 3") && Catch::Contains("0 to 2"));
  CHECK_THAT(refusal(4294967295u), Catch::Contains("3 processors"));
}

TEST_CASE("lanes go round the NUMA nodes that have a processor for them") {
  const Processors usable = {0, 1, 4, 9};
  const std::vector<NumaNode> nodes = {{0, {0, 1, 2, 3}}, {1, {}}, {2, {4, 5}}, {3, {6, 7}}};
  const auto places = BindingSlotsFrom(To(v1::Binding::NUMA_NODES), usable, nodes);
  REQUIRE(places.ok());
  CHECK(places->Of(0) == Processors{0, 1});
  CHECK(places->Of(1) == Processors{4});
  CHECK(places->Of(2) == Processors{0, 1});
  const Processors lanes = {0, 1, 2};
  CHECK(places->ToText(lanes) == "NUMA nodes 0, 2, 0");
  CHECK(absl::IsFailedPrecondition(BindingSlotsFrom(To(v1::Binding::NUMA_NODES), usable, {}).status()));
}

TEST_CASE("nothing is bound where nothing is asked for") {
  const Processors usable = {0};
  const auto places = BindingSlotsFrom(To(v1::Binding::NOTHING), usable, {});
  REQUIRE(places.ok());
  CHECK(places->empty());
}

TEST_CASE("the kernel's lists of processors are read") {
  CHECK(ParseProcessorList("0-3,8,10-11\n") == Processors{0, 1, 2, 3, 8, 10, 11});
  CHECK(ParseProcessorList("\n").empty());
  CHECK(ParseProcessorList("").empty());
}

TEST_CASE("a thread that is bound runs where it was bound, and no other one is") {
  const auto places = BindingSlotsFor(To(v1::Binding::CORES));
  REQUIRE(places.ok());
  REQUIRE(!places->empty());
  cpu_set_t before, bound, after;
  REQUIRE(sched_getaffinity(0, sizeof(before), &before) == 0);
  absl::Status status;
  std::thread lane([&] {
    status = BindThisThread(places->Of(0));
    sched_getaffinity(0, sizeof(bound), &bound);
  });
  lane.join();
  REQUIRE(status.ok());
  CHECK(CPU_COUNT(&bound) == 1);
  CHECK(CPU_ISSET(places->Of(0).front(), &bound));
  REQUIRE(sched_getaffinity(0, sizeof(after), &after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
}

}  // namespace
}  // namespace iobench
