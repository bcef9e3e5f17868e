#include "common/transport/guard/swelling.h"

#include <catch2/catch.hpp>

#include <string>

#include "iobench/v1/control.pb.h"

namespace iobench {
namespace {

constexpr uint64_t kNoLimit = UINT64_MAX / 2;

uint64_t Parsed(const v1::WorkerEvent& event) {
  return Swelling(*v1::WorkerEvent::descriptor()).BytesParsed(event.SerializeAsString(), kNoLimit);
}

TEST_CASE("a message counts about what protobuf says that it takes") {
  v1::WorkerEvent event;
  for (int i = 0; i < 1000; ++i) {
    v1::LaneResult& lane = *event.mutable_chunk()->add_lanes();
    lane.mutable_problem()->set_message(std::string(100, 'x'));
  }
  event.mutable_problem()->set_message(std::string(50'000, 'y'));
  CHECK(Parsed(event) > event.SpaceUsedLong() * 8 / 10);
  CHECK(Parsed(event) < event.SpaceUsedLong() * 14 / 10);
}

TEST_CASE("empty messages count although their bytes are few") {
  v1::WorkerEvent event;
  for (int i = 0; i < 10'000; ++i) event.mutable_chunk()->add_lanes();
  REQUIRE(event.ByteSizeLong() < 21'000);
  CHECK(Parsed(event) > event.SpaceUsedLong() * 8 / 10);
  CHECK(Parsed(event) > 50 * event.ByteSizeLong());
}

TEST_CASE("counting ends at the limit") {
  v1::WorkerEvent event;
  for (int i = 0; i < 10'000; ++i) event.mutable_chunk()->add_lanes();
  const uint64_t parsed = Swelling(*v1::WorkerEvent::descriptor()).BytesParsed(event.SerializeAsString(), 50'000);
  CHECK(parsed > 50'000);
  CHECK(parsed < 60'000);
}

TEST_CASE("fields that nobody knows count, and damage ends the count") {
  const Swelling swelling(*v1::WorkerEvent::descriptor());
  const uint64_t empty = swelling.BytesParsed("", kNoLimit);
  CHECK(swelling.BytesParsed(std::string("\xfa\x7f\x03xyz", 6), kNoLimit) == empty + 32 + 3);
  CHECK(swelling.BytesParsed("\xff", kNoLimit) == empty);
  CHECK(swelling.BytesParsed(std::string("\x12\x7fxyz", 5), kNoLimit) == empty);  // longer than the message
  CHECK(swelling.BytesParsed("\x0b", kNoLimit) == empty);                          // a group
}

}  // namespace
}  // namespace iobench
