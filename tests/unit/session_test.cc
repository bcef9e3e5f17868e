#include "worker/session.h"

#include <catch2/catch.hpp>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tests/unit/golden_file.h"
#include "tests/unit/worker_harness.h"
#include "worker/worker_state.h"

namespace iobench {
namespace {

std::vector<WorkerState> AllStates() {
  std::vector<WorkerState> states;
  for (size_t i = 0; i < kWorkerStateCount; ++i) states.push_back(static_cast<WorkerState>(i));
  return states;
}

std::vector<WorkerMessage> AllMessages() {
  std::vector<WorkerMessage> messages;
  for (size_t i = 0; i < kWorkerMessageCount; ++i) messages.push_back(static_cast<WorkerMessage>(i));
  return messages;
}

std::optional<WorkerState> StateNamed(const std::string& name) {
  for (const WorkerState state : AllStates()) {
    if (NameOf(state) == name) return state;
  }
  return std::nullopt;
}

// ------------------------------------------------------------------------------- the table in control.proto

// message, state -> next state
using Table = std::map<std::pair<std::string, std::string>, std::string>;

Table TableInText() {
  Table table;
  bool in_table = false;
  const std::vector<std::string> lines =
      absl::StrSplit(FileText(SourcePath("proto/iobench/v1/control.proto")), '\n');
  for (const std::string& line : lines) {
    const std::vector<std::string> words =
        absl::StrSplit(absl::StripPrefix(line, "//"), "  ", absl::SkipWhitespace());
    if (words.size() != 3) {
      if (in_table) break;
      continue;
    }
    if (!std::exchange(in_table, true)) continue;  // the heads of the columns
    const std::string message(absl::StripAsciiWhitespace(words[0]));
    const std::string next(absl::StripAsciiWhitespace(words[2]));
    std::vector<std::string> states = absl::StrSplit(absl::StripAsciiWhitespace(words[1]), ", ");
    if (states == std::vector<std::string>{"any"}) {
      states.clear();
      for (const WorkerState state : AllStates()) states.emplace_back(NameOf(state));
    }
    for (const std::string& state : states) {
      INFO(line);
      REQUIRE(StateNamed(state).has_value());
      REQUIRE((next == "same" || StateNamed(next).has_value()));
      REQUIRE(table.emplace(std::pair(message, state), next == "same" ? state : next).second);
    }
  }
  return table;
}

TEST_CASE("control.proto shows the table of states and messages that the worker follows") {
  Table in_code;
  for (const WorkerMessage message : AllMessages()) {
    for (const WorkerState state : AllStates()) {
      const std::optional<WorkerState> next = NextState(state, message);
      if (next) in_code.emplace(std::pair(NameOf(message), NameOf(state)), NameOf(*next));
    }
  }
  REQUIRE(TableInText() == in_code);
}

TEST_CASE("the states and messages of the table have names of their own") {
  std::set<std::string> states, messages;
  for (const WorkerState state : AllStates()) states.insert(NameOf(state));
  for (const WorkerMessage message : AllMessages()) messages.insert(NameOf(message));
  REQUIRE(states.size() == kWorkerStateCount);
  REQUIRE(messages.size() == kWorkerMessageCount);
}

// ---------------------------------------------------------------------------------- the table and the worker

// A request that is harmless in every state. An Arm is late, so that its outcome leaves the state as it is.
std::optional<v1::WorkerRequest> RequestFor(WorkerMessage message) {
  v1::WorkerRequest request;
  switch (message) {
    case WorkerMessage::kInspect:
      request.mutable_inspect();
      return request;
    case WorkerMessage::kDataStep:
      request.mutable_data_step()->set_action(v1::DataStep::REMOVE);
      return request;
    case WorkerMessage::kClientStep:
      request.mutable_client_step();
      return request;
    case WorkerMessage::kNetTest:
      request.mutable_net_test();
      return request;
    case WorkerMessage::kFileActions:
      request.mutable_file_actions();
      return request;
    case WorkerMessage::kPrepare:
      *request.mutable_prepare() = PhaseOf("write", 1);
      return request;
    case WorkerMessage::kPing:
      request.mutable_ping();
      return request;
    case WorkerMessage::kArm:
      request.mutable_arm()->set_margin_needed_ns(1);
      return request;
    case WorkerMessage::kDisarm:
      request.mutable_adjust()->set_disarm(true);
      return request;
    case WorkerMessage::kStop:
      request.mutable_adjust()->set_stop(true);
      return request;
    case WorkerMessage::kOpsGoal:
      request.mutable_adjust()->set_ops_goal(16);
      return request;
    case WorkerMessage::kQuit:
      request.mutable_adjust()->set_quit(true);
      return request;
    case WorkerMessage::kPoll:
      request.mutable_poll();
      return request;
    case WorkerMessage::kCollect:
      request.mutable_collect();
      return request;
    case WorkerMessage::kLeave:
      request.mutable_leave();
      return request;
    default:
      return std::nullopt;  // an outcome
  }
}

// A worker whose task thread can be held, so that states that last only for a task can be looked at.
class HeldWorker {
 public:
  HeldWorker() : session_(std::make_shared<Session>(clock_, v1::WorkerFacts())) {}
  ~HeldWorker() {
    if (held_) let_go_.set_value();
    session_->Shutdown();
  }
  HeldWorker(const HeldWorker&) = delete;
  HeldWorker& operator=(const HeldWorker&) = delete;

  WorkerState state() { return session_->state(); }

  // Tasks that are posted from now on wait, and with them all outcomes but that of Arm.
  void Hold() {
    session_->Later([let_go = let_go_.get_future().share()](Session&) { let_go.wait(); });
    held_ = true;
  }

  uint64_t Post(v1::WorkerRequest request) {
    request.set_call_id(++call_id_);
    session_->Handle(request, mailbox_, clock_.Now());
    return call_id_;
  }
  uint64_t Post(WorkerMessage message) { return Post(*RequestFor(message)); }
  bool WasRefused(uint64_t call_id) {
    return mailbox_.Holds([call_id](const v1::WorkerEvent& event) {
      return event.call_id() == call_id &&
             event.problem().code() == static_cast<int>(absl::StatusCode::kFailedPrecondition);
    });
  }

  // Brings an idle worker into the state and holds it there.
  void BringTo(WorkerState state) {
    switch (state) {
      case WorkerState::kIdle:
        return Hold();
      case WorkerState::kPreparing:
        Hold();
        Post(WorkerMessage::kPrepare);
        return;
      case WorkerState::kPrepared:
        Prepare(0);
        return Hold();
      case WorkerState::kRunning:
        Prepare(3600);
        Hold();
        Arm();
        return;
      case WorkerState::kQuitting:
        BringTo(WorkerState::kRunning);
        Post(WorkerMessage::kQuit);
        return;
      case WorkerState::kDone:
        RunPhase();
        return Hold();
      case WorkerState::kEnded:
        RunPhase();
        Post(WorkerMessage::kQuit);
        return Hold();
      case WorkerState::kCollected: {
        RunPhase();
        Post(WorkerMessage::kCollect);
        mailbox_.Take([](const v1::WorkerEvent& event) { return event.chunk().last(); });
        return Hold();
      }
      case WorkerState::kDisarming:
        Hold();
        Post(WorkerMessage::kDisarm);
        return;
    }
  }

 private:
  void Prepare(double time_s) {
    v1::WorkerRequest request;
    *request.mutable_prepare() = PhaseOf("write", 1);
    request.mutable_prepare()->mutable_stop()->set_time_s(time_s);
    Post(std::move(request));
    mailbox_.Take([](const v1::WorkerEvent& event) { return event.has_prepared(); });
  }
  void Arm() {
    v1::WorkerRequest request;
    request.mutable_arm()->set_start_worker_ns(clock_.Now().ns);
    request.mutable_arm()->set_start_anyway(true);
    Post(std::move(request));
  }
  void RunPhase() {
    Prepare(0);
    Arm();
    mailbox_.Take([](const v1::WorkerEvent& event) { return event.has_lanes_done(); });
  }

  const WorkerClock clock_;
  Mailbox mailbox_;
  std::promise<void> let_go_;
  bool held_ = false;
  uint64_t call_id_ = 0;
  std::shared_ptr<Session> session_;
};

TEST_CASE("in every state, a worker takes and refuses the requests that the table says") {
  for (const WorkerState state : AllStates()) {
    for (const WorkerMessage message : AllMessages()) {
      const std::optional<v1::WorkerRequest> request = RequestFor(message);
      if (!request) continue;
      INFO(NameOf(message) << " in " << NameOf(state));
      HeldWorker worker;
      worker.BringTo(state);
      REQUIRE(worker.state() == state);
      const std::optional<WorkerState> next = NextState(state, message);
      const uint64_t call_id = worker.Post(*request);
      CHECK(worker.WasRefused(call_id) == !next.has_value());
      CHECK(worker.state() == next.value_or(state));
    }
  }
}

TEST_CASE("every request has its row, and a request without a body has none") {
  for (const WorkerMessage message : AllMessages()) {
    const std::optional<v1::WorkerRequest> request = RequestFor(message);
    if (request) CHECK(MessageOf(*request) == message);
  }
  v1::WorkerRequest request;
  CHECK_FALSE(MessageOf(request).has_value());
  request.mutable_adjust();
  CHECK_FALSE(MessageOf(request).has_value());
}

}  // namespace
}  // namespace iobench
