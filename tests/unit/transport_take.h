// Helpers for the transport suite and its rigs: receiving events with a timeout.
#ifndef TESTS_UNIT_TRANSPORT_TAKE_H_
#define TESTS_UNIT_TRANSPORT_TAKE_H_

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>

#include "common/clock.h"
#include "common/transport/transport.h"

namespace iobench {

inline constexpr int64_t kPatienceNs = 60'000'000'000;  // longer than any answer takes on a busy machine

inline ReceivedEvent NextEvent(Transport& transport) {
  absl::StatusOr<ReceivedEvent> event = transport.WaitEvent(CoordNow() + kPatienceNs);
  REQUIRE(event.ok());
  return *std::move(event);
}

inline std::map<WorkerId, ReceivedEvent> ReceiveJoined(Transport& transport, int worker_count) {
  std::map<WorkerId, ReceivedEvent> joined;
  for (int i = 0; i < worker_count; ++i) {
    ReceivedEvent event = NextEvent(transport);
    REQUIRE(event.event.has_joined());
    REQUIRE(joined.emplace(event.worker, event).second);
  }
  return joined;
}

inline v1::WorkerRequest Request(uint64_t call_id) {
  v1::WorkerRequest request;
  request.set_run_id(4711);
  request.set_call_id(call_id);
  return request;
}

// Takes every worker's Left; nothing else may come.
inline void PostLeaveAndTakeLeft(Transport& transport, int worker_count, const std::string& reason) {
  for (int worker = 0; worker < worker_count; ++worker) {
    v1::WorkerRequest request = Request(1000);
    request.mutable_leave()->set_reason(reason);
    REQUIRE(transport.Post(static_cast<WorkerId>(worker), request).ok());
  }
  std::set<WorkerId> left;
  for (int i = 0; i < worker_count; ++i) {
    const ReceivedEvent event = NextEvent(transport);
    REQUIRE(event.event.has_left());
    REQUIRE(event.event.call_id() == 1000);
    left.insert(event.worker);
  }
  REQUIRE(left.size() == static_cast<size_t>(worker_count));
}

}  // namespace iobench

#endif  // TESTS_UNIT_TRANSPORT_TAKE_H_
