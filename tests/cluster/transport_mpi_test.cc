// The transport suite over MPI. Started by mpirun: rank 0 runs the tests, the other ranks are their workers, again and
// again until rank 0 sends them away for good.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <iostream>
#include <optional>
#include <string>

#include "common/transport/mpi/mpi_transport.h"
#include "tests/unit/transport_echo_worker.h"
#include "tests/unit/transport_take.h"

namespace iobench {
namespace {

constexpr char kEndOfTests[] = "end of the tests";

MpiSession* session = nullptr;

class MpiRig {
 public:
  static constexpr int kManyWorkers = 0;  // as many as mpirun has started, always

  explicit MpiRig(int) : worker_("echo-0"), transport_(session->Coordinator(worker_)) {}
  int worker_count() const { return session->size(); }
  Transport& transport() { return *transport_; }
  absl::Status Leave(const std::string& reason) {
    PostLeaveAndTakeLeft(*transport_, worker_count(), reason);
    CHECK(worker_.shutdown_count() == 1);
    return absl::OkStatus();
  }

 private:
  EchoWorker worker_;
  std::unique_ptr<Transport> transport_;
};

}  // namespace
}  // namespace iobench

#define TRANSPORT_RIGS MpiRig
#include "tests/unit/transport_suite.h"

namespace iobench {
namespace {

TEST_CASE("ranks that nobody told to leave go when the transport does", "[transport]") {
  for (int run = 0; run < 3; ++run) {
    EchoWorker worker("echo-0");
    const std::unique_ptr<Transport> transport = session->Coordinator(worker);
    ReceiveJoined(*transport, session->size());
    // Answers that nobody takes must not keep a rank from ending.
    for (int rank = 0; rank < session->size(); ++rank) {
      v1::WorkerRequest request = Request(1);
      request.mutable_inspect()->add_targets()->set_path(std::string(1 << 20, 'x'));
      REQUIRE(transport->Post(static_cast<WorkerId>(rank), request).ok());
    }
  }
}

TEST_CASE("a rank whose lease is over says so, waits until rank 0 tells it to go, and ends nobody's run", "[transport]") {
  if (session->size() == 1) return;
  EchoWorker worker("echo-0");
  const std::unique_ptr<Transport> transport = session->Coordinator(worker);
  ReceiveJoined(*transport, session->size());
  v1::WorkerRequest ping = Request(1);
  ping.mutable_ping()->set_lease_ms(EchoWorker::kNoLeaseMs);
  REQUIRE(transport->Post(1, ping).ok());
  REQUIRE(NextEvent(*transport).event.has_pong());
  ReceivedEvent left = NextEvent(*transport);
  const auto is_stop = [](const ReceivedEvent& event) { return event.event.has_adjusted(); };  // of its lanes
  while (is_stop(left)) left = NextEvent(*transport);
  REQUIRE(left.event.has_left());
  CHECK(left.worker == 1);
  CHECK(left.event.left().reason() == "its lease is over");
  // It answers nothing more, but takes what is sent to it.
  REQUIRE(transport->Post(1, ping).ok());
  auto next = transport->WaitEvent(CoordNow() + kNanosPerSecond / 10);
  if (next.ok() && is_stop(*next)) next = transport->WaitEvent(CoordNow() + kNanosPerSecond / 10);
  CHECK(absl::IsDeadlineExceeded(next.status()));
}

// What a worker's end of the transport returned is known to its rank alone: it ends the job when that is wrong.
int RunWorkers() {
  while (true) {
    EchoWorker worker("echo-" + std::to_string(session->rank()));
    const absl::Status status = session->RunWorker(worker);
    if (worker.shutdown_count() != 1) session->Abort(3);
    if (status.ok()) continue;
    if (status.message() == kEndOfTests && absl::IsFailedPrecondition(status)) return 0;
    if (status.message() == "its lease is over" && absl::IsFailedPrecondition(status)) continue;
    if (status.message() == "the coordinator has ended" && absl::IsFailedPrecondition(status)) continue;
    std::cerr << "rank " << session->rank() << ": " << status << std::endl;
    session->Abort(4);
  }
}

void EndWorkers() {
  EchoWorker worker("echo-0");
  const std::unique_ptr<Transport> transport = session->Coordinator(worker);
  v1::WorkerRequest leave = Request(1);
  leave.mutable_leave()->set_reason(kEndOfTests);
  for (int rank = 0; rank < session->size(); ++rank) {
    if (!transport->Post(static_cast<WorkerId>(rank), leave).ok()) session->Abort(5);
  }
}

}  // namespace
}  // namespace iobench

int main(int argc, char** argv) {
  auto started = iobench::MpiSession::Start();
  if (!started.ok()) {
    std::cerr << started.status().message() << std::endl;
    return 1;
  }
  iobench::session = started->get();
  if (iobench::session->rank() != 0) return iobench::RunWorkers();
  const int result = Catch::Session().run(argc, argv);
  iobench::EndWorkers();
  return result;
}
