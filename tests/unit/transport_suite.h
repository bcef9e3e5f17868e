// The requirements for every transport. Include it once, after
//   #define TRANSPORT_RIGS RigA, RigB
// where a rig has echo workers ("echo-0", "echo-1" …) at the far end and provides
//   static constexpr int kManyWorkers;    max. number of workers to test the transport with
//   explicit Rig(int worker_count);       a rig may have more workers than requested
//   int worker_count();
//   Transport& transport();
//   absl::Status Leave(const std::string& reason);   PostLeaveAndTakeLeft, then waits until the workers have ended;
//                                                    returns the status of their end of the transport
// and TRANSPORT_RIGS_WITH_WORKER_END: those rigs whose workers run their own end of the transport.
#ifndef TESTS_UNIT_TRANSPORT_SUITE_H_
#define TESTS_UNIT_TRANSPORT_SUITE_H_

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/transport/transport.h"
#include "tests/unit/transport_take.h"

namespace iobench {

TEMPLATE_TEST_CASE("every worker joins before it says anything else", "[transport]", TRANSPORT_RIGS) {
  TestType rig(3);
  const auto joined = ReceiveJoined(rig.transport(), rig.worker_count());
  std::set<std::string> hosts;
  for (const auto& [worker, event] : joined) {
    CHECK(worker < static_cast<WorkerId>(rig.worker_count()));
    CHECK_FALSE(event.event.joined().address().empty());
    if (rig.transport().ordered()) CHECK(event.event.joined().host() == "echo-" + std::to_string(worker));
    hosts.insert(event.event.joined().host());
  }
  CHECK(hosts.size() == static_cast<size_t>(rig.worker_count()));
  CHECK(rig.Leave("").ok());
}

TEMPLATE_TEST_CASE("a request is answered by its worker under its call id", "[transport]", TRANSPORT_RIGS) {
  TestType rig(3);
  Transport& transport = rig.transport();
  const auto joined = ReceiveJoined(transport, rig.worker_count());
  for (const auto& [worker, event] : joined) {
    v1::WorkerRequest request = Request(100 + worker);
    request.mutable_inspect()->add_targets()->set_path("/of/" + event.event.joined().host());
    REQUIRE(transport.Post(worker, request).ok());
  }
  std::set<WorkerId> answered;
  for (int i = 0; i < rig.worker_count(); ++i) {
    const ReceivedEvent event = NextEvent(transport);
    REQUIRE(event.event.has_inspected());
    CHECK(event.event.call_id() == 100 + event.worker);
    CHECK(event.event.inspected().targets(0).mount_source() ==
          "/of/" + joined.at(event.worker).event.joined().host());
    answered.insert(event.worker);
  }
  CHECK(answered.size() == static_cast<size_t>(rig.worker_count()));
  CHECK(rig.Leave("").ok());
}

TEMPLATE_TEST_CASE("the events of a worker come in the order it sent them", "[transport]", TRANSPORT_RIGS) {
  constexpr int kChunks = 300;
  TestType rig(3);
  Transport& transport = rig.transport();
  ReceiveJoined(transport, rig.worker_count());
  for (int worker = 0; worker < rig.worker_count(); ++worker) {
    for (uint64_t call_id : {1, 2}) {
      v1::WorkerRequest request = Request(call_id);
      for (int i = 0; i < kChunks; ++i) request.mutable_collect()->add_instants_worker_ns(i);
      REQUIRE(transport.Post(static_cast<WorkerId>(worker), request).ok());
    }
  }
  std::vector<uint32_t> received(static_cast<size_t>(rig.worker_count()));
  for (int i = 0; i < 2 * kChunks * rig.worker_count(); ++i) {
    const ReceivedEvent event = NextEvent(transport);
    REQUIRE(event.event.has_chunk());
    uint32_t& index = received.at(event.worker);
    REQUIRE(event.event.call_id() == 1 + index / kChunks);
    REQUIRE(event.event.chunk().lanes(0).lane() == index % kChunks);
    REQUIRE(event.event.chunk().last() == (index % kChunks == kChunks - 1));
    ++index;
  }
  CHECK(rig.Leave("").ok());
}

TEMPLATE_TEST_CASE("a worker sends events by itself", "[transport]", TRANSPORT_RIGS) {
  TestType rig(2);
  Transport& transport = rig.transport();
  ReceiveJoined(transport, rig.worker_count());
  transport.SetLanesRunning(true);
  for (int worker = 0; worker < rig.worker_count(); ++worker) {
    v1::WorkerRequest request = Request(5);
    request.mutable_arm();
    REQUIRE(transport.Post(static_cast<WorkerId>(worker), request).ok());
  }
  std::map<WorkerId, std::vector<v1::WorkerEvent::BodyCase>> received;
  for (int i = 0; i < 3 * rig.worker_count(); ++i) {
    const ReceivedEvent event = NextEvent(transport);
    CHECK(event.event.call_id() == (event.event.has_armed() ? 5 : 0));
    received[event.worker].push_back(event.event.body_case());
  }
  for (const auto& [worker, bodies] : received) {
    CHECK(bodies ==
          std::vector{v1::WorkerEvent::kArmed, v1::WorkerEvent::kLaneEnded, v1::WorkerEvent::kLanesDone});
  }
  transport.SetLanesRunning(false);
  CHECK(rig.Leave("").ok());
}

// All rigs are on one host, so one clock orders the four instants.
TEMPLATE_TEST_CASE("a ping is received, answered and stamped in this order", "[transport]", TRANSPORT_RIGS) {
  TestType rig(2);
  Transport& transport = rig.transport();
  ReceiveJoined(transport, rig.worker_count());
  for (int worker = 0; worker < rig.worker_count(); ++worker) {
    v1::WorkerRequest request = Request(9);
    request.mutable_ping();
    const CoordTime sent = CoordNow();
    REQUIRE(transport.Post(static_cast<WorkerId>(worker), request).ok());
    const ReceivedEvent event = NextEvent(transport);
    const CoordTime taken = CoordNow();
    REQUIRE(event.event.has_pong());
    CHECK(sent.ns <= event.event.pong().received_worker_ns());
    CHECK(event.event.pong().received_worker_ns() <= event.event.pong().replied_worker_ns());
    CHECK(event.event.pong().replied_worker_ns() <= event.received_at.ns);
    CHECK(event.received_at <= taken);
  }
  CHECK(rig.Leave("").ok());
}

TEMPLATE_TEST_CASE("messages of 8 MiB pass in both directions at once", "[transport]", TRANSPORT_RIGS) {
  constexpr size_t kBytes = 8 << 20;
  TestType rig(3);
  Transport& transport = rig.transport();
  ReceiveJoined(transport, rig.worker_count());
  // Posted before anything is read: a transport that waits for its peer to read would block here.
  for (uint64_t call_id : {1, 2, 3}) {
    for (int worker = 0; worker < rig.worker_count(); ++worker) {
      v1::WorkerRequest request = Request(call_id);
      request.mutable_inspect()->add_targets()->set_path(
          std::string(kBytes, static_cast<char>('a' + call_id)));
      REQUIRE(transport.Post(static_cast<WorkerId>(worker), request).ok());
    }
  }
  std::vector<uint64_t> last_call_id(static_cast<size_t>(rig.worker_count()));
  for (int i = 0; i < 3 * rig.worker_count(); ++i) {
    const ReceivedEvent event = NextEvent(transport);
    REQUIRE(event.event.has_inspected());
    CHECK(event.event.call_id() == ++last_call_id.at(event.worker));
    CHECK(event.event.inspected().targets(0).mount_source() ==
          std::string(kBytes, static_cast<char>('a' + event.event.call_id())));
  }
  CHECK(rig.Leave("").ok());
}

TEMPLATE_TEST_CASE("many workers answer", "[transport]", TRANSPORT_RIGS) {
  TestType rig(TestType::kManyWorkers);
  Transport& transport = rig.transport();
  ReceiveJoined(transport, rig.worker_count());
  for (uint64_t round = 1; round <= 3; ++round) {
    for (int worker = 0; worker < rig.worker_count(); ++worker) {
      v1::WorkerRequest request = Request(round);
      request.mutable_adjust()->set_stop(true);
      REQUIRE(transport.Post(static_cast<WorkerId>(worker), request).ok());
    }
    std::set<WorkerId> answered;
    for (int i = 0; i < rig.worker_count(); ++i) {
      const ReceivedEvent event = NextEvent(transport);
      REQUIRE(event.event.has_adjusted());
      CHECK(event.event.call_id() == round);
      answered.insert(event.worker);
    }
    CHECK(answered.size() == static_cast<size_t>(rig.worker_count()));
  }
  CHECK(rig.Leave("").ok());
}

TEMPLATE_TEST_CASE("waiting for an event ends at the deadline, not before", "[transport]", TRANSPORT_RIGS) {
  TestType rig(1);
  Transport& transport = rig.transport();
  ReceiveJoined(transport, rig.worker_count());
  for (const int64_t wait_ns : {int64_t{0}, int64_t{3'000'000}, int64_t{30'000'000}}) {
    const CoordTime deadline = CoordNow() + wait_ns;
    CHECK(absl::IsDeadlineExceeded(transport.WaitEvent(deadline).status()));
    CHECK(CoordNow() >= deadline);
  }
  CHECK(rig.Leave("").ok());
}

TEMPLATE_TEST_CASE("an event that is there is handed over although the deadline is past", "[transport]",
                   TRANSPORT_RIGS) {
  TestType rig(1);
  Transport& transport = rig.transport();
  ReceiveJoined(transport, rig.worker_count());
  for (uint64_t call_id : {1, 2}) {
    v1::WorkerRequest request = Request(call_id);
    request.mutable_ping();
    REQUIRE(transport.Post(0, request).ok());
  }
  CHECK(NextEvent(transport).event.call_id() == 1);
  absl::StatusOr<ReceivedEvent> second = absl::DeadlineExceededError("");
  const CoordTime give_up = CoordNow() + kPatienceNs;
  while (!second.ok() && CoordNow() < give_up) second = transport.WaitEvent(CoordTime{0});
  REQUIRE(second.ok());
  CHECK(second->event.call_id() == 2);
  CHECK(rig.Leave("").ok());
}

TEMPLATE_TEST_CASE("a worker told to leave says so, ends, and is not reported lost", "[transport]",
                   TRANSPORT_RIGS) {
  TestType rig(3);
  ReceiveJoined(rig.transport(), rig.worker_count());
  CHECK(rig.Leave("").ok());                           // the rig checks that every worker answers Left
  const CoordTime deadline = CoordNow() + 20'000'000;  // time for an unexpected Lost event to arrive
  CHECK(absl::IsDeadlineExceeded(rig.transport().WaitEvent(deadline).status()));
  v1::WorkerRequest request = Request(2);
  request.mutable_ping();
  rig.transport().Post(0, request).IgnoreError();  // harmless
  CHECK(absl::IsDeadlineExceeded(rig.transport().WaitEvent(CoordNow()).status()));
}

TEMPLATE_TEST_CASE("an answer that was under way when its worker had to leave still arrives", "[transport]",
                   TRANSPORT_RIGS) {
  constexpr size_t kBytes = 8 << 20;
  TestType rig(2);
  Transport& transport = rig.transport();
  ReceiveJoined(transport, rig.worker_count());
  for (int worker = 0; worker < rig.worker_count(); ++worker) {
    v1::WorkerRequest request = Request(1);
    request.mutable_inspect()->add_targets()->set_path(std::string(kBytes, 'x'));
    REQUIRE(transport.Post(static_cast<WorkerId>(worker), request).ok());
    v1::WorkerRequest leave = Request(2);
    leave.mutable_leave();
    REQUIRE(transport.Post(static_cast<WorkerId>(worker), leave).ok());
  }
  std::set<WorkerId> answered;
  std::set<WorkerId> left;
  for (int i = 0; i < 2 * rig.worker_count(); ++i) {
    const ReceivedEvent event = NextEvent(transport);
    if (event.event.has_inspected()) {
      CHECK(event.event.inspected().targets(0).mount_source().size() == kBytes);
      answered.insert(event.worker);
    } else {
      REQUIRE(event.event.has_left());
      left.insert(event.worker);
    }
  }
  CHECK(answered.size() == static_cast<size_t>(rig.worker_count()));
  CHECK(left.size() == static_cast<size_t>(rig.worker_count()));
}

#ifdef TRANSPORT_RIGS_WITH_WORKER_END
TEMPLATE_TEST_CASE("a worker sent away is told why", "[transport]", TRANSPORT_RIGS_WITH_WORKER_END) {
  TestType rig(2);
  ReceiveJoined(rig.transport(), rig.worker_count());
  const absl::Status status = rig.Leave("version 0.2 joins a run of version 0.1");
  CHECK(absl::IsFailedPrecondition(status));
  CHECK(status.message() == "version 0.2 joins a run of version 0.1");
}
#endif

}  // namespace iobench

#endif  // TESTS_UNIT_TRANSPORT_SUITE_H_
