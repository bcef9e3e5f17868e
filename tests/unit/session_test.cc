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
  HeldWorker() : session_(std::make_shared<Session>(clock_, v1::WorkerFacts())) {
    Post(WorkerMessage::kPing);  // the first request starts the thread; before, tasks are dropped
  }
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

// --------------------------------------------------------------------------------- lanes' ends and their results

// A phase whose lanes end when the test says so.
class ToldPhase final : public PhaseControl {
 public:
  explicit ToldPhase(EventTaker take_event) : take_event_(std::move(take_event)) {}
  void EndsLane() {
    v1::WorkerEvent event;
    event.mutable_lane_ended();
    take_event_(std::move(event));
  }
  void EndsAllLanes() {
    v1::WorkerEvent event;
    event.mutable_lanes_done();
    take_event_(std::move(event));
  }

  absl::StatusOr<v1::Prepared> Prepare() override { return v1::Prepared(); }
  v1::Armed Arm(const v1::Arm&, WorkerTime) override { return {}; }
  void Stop() override {}
  void Quit() override {}
  void SetGoal(uint64_t) override {}
  void Cancel() override {}
  v1::Progress Progress(const v1::Poll&) const override { return {}; }
  void RecordStart() override {}
  absl::Status Collect(std::span<const WorkerTime>, std::optional<WorkerTime>,
                       const std::function<void(v1::ResultChunk)>&) override {
    return absl::OkStatus();
  }
  bool HasShortResults() override { return true; }
  bool WaitForLanes(int64_t) override {
    if (lanes_end.valid()) lanes_end.wait();
    return true;
  }
  void CloseDirectories() override {}

  std::shared_future<void> lanes_end;  // what WaitForLanes waits for, if anything

 private:
  const EventTaker take_event_;
};

struct ToldWorker {
  ToldWorker() {
    SessionParts parts = ThreadedParts();
    parts.make_phase = [this](const v1::Prepare&, const WorkerClock&, double,
                              PhaseControl::EventTaker take_event) {
      phase = std::make_shared<ToldPhase>(std::move(take_event));
      return phase;
    };
    session = std::make_shared<Session>(clock, v1::WorkerFacts(), parts);
    v1::WorkerRequest prepare, arm;
    *prepare.mutable_prepare() = PhaseOf("write", 1);
    session->Handle(prepare, mailbox, clock.Now());
    mailbox.Take([](const v1::WorkerEvent& event) { return event.has_prepared(); });
    arm.mutable_arm()->set_start_anyway(true);
    session->Handle(arm, mailbox, clock.Now());
  }
  ~ToldWorker() { session->Shutdown(); }
  ToldWorker(const ToldWorker&) = delete;

  static bool IsLaneEnded(const v1::WorkerEvent& event) { return event.has_lane_ended(); }
  static bool IsLanesDone(const v1::WorkerEvent& event) { return event.has_lanes_done(); }

  const WorkerClock clock;
  Mailbox mailbox;
  std::shared_ptr<ToldPhase> phase;
  std::shared_ptr<Session> session;
};

TEST_CASE("the end of a lane is told while others run on") {
  ToldWorker worker;
  worker.phase->EndsLane();
  worker.mailbox.Take(ToldWorker::IsLaneEnded);  // waits for it
  worker.phase->EndsAllLanes();
  worker.mailbox.Take(ToldWorker::IsLanesDone);
}

TEST_CASE("the end of the last lane is told once, by LanesDone") {
  ToldWorker worker;
  std::promise<void> let_go;
  worker.session->Later([&let_go](Session&) { let_go.get_future().wait(); });
  worker.phase->EndsLane();
  worker.phase->EndsAllLanes();
  let_go.set_value();
  worker.mailbox.Take(ToldWorker::IsLanesDone);
  CHECK_FALSE(worker.mailbox.Holds(ToldWorker::IsLaneEnded));
}

TEST_CASE("an Arm answers as a ping, if it is asked to") {
  WorkerHarness worker;
  worker.Prepare(PhaseOf("write", 1));
  for (const bool ping : {false, true}) {
    v1::WorkerRequest request;
    request.mutable_arm()->set_margin_needed_ns(1);  // late, so that it can be repeated
    request.mutable_arm()->set_ping(ping);
    const WorkerTime before = worker.Now();
    const v1::Armed armed = worker.Ask(request).armed();
    CHECK(armed.late());
    REQUIRE(armed.has_pong() == ping);
    if (!ping) continue;
    CHECK(armed.pong().received_worker_ns() >= before.ns);
    CHECK(armed.pong().replied_worker_ns() >= armed.pong().received_worker_ns());
    CHECK(armed.pong().replied_worker_ns() <= worker.Now().ns);
  }
}

v1::ResultChunk AnswerToPingingCollect(WorkerHarness& worker, const v1::Prepare& prepare) {
  worker.Prepare(prepare);
  worker.ArmIn(2'000'000);
  worker.WaitDone();
  v1::WorkerRequest request;
  request.mutable_collect()->set_ping(true);
  const int64_t before_ns = worker.Now().ns;
  v1::ResultChunk chunk = worker.Ask(request).chunk();
  CHECK(chunk.last());
  REQUIRE(chunk.has_pong());
  CHECK(chunk.pong().received_worker_ns() >= before_ns);
  CHECK(chunk.pong().replied_worker_ns() >= chunk.pong().received_worker_ns());
  return chunk;
}

TEST_CASE("a Collect that is a ping has short results with its pong, and the next phase may follow") {
  WorkerHarness worker;
  for (int phase = 0; phase < 2; ++phase) {
    // RecordCounters may still be at work when LanesDone arrives: the answer is then pending.
    v1::ResultChunk chunk = AnswerToPingingCollect(worker, PhaseOf("write", 2));
    if (chunk.pending()) chunk = worker.Collect();
    REQUIRE(chunk.lanes_size() == 2);
    CHECK(chunk.lanes(1).ops() > 0);
    uint64_t ops = 0;
    for (const uint64_t more : chunk.lanes(1).timeline().ops()) ops += more;
    CHECK(ops == chunk.lanes(1).ops());
    CHECK(chunk.has_host());
  }
}

TEST_CASE("a Collect that is a ping leaves results that take time or need instants for another") {
  const TempDir directory;
  v1::Prepare long_timeline = PhaseOf("write", 1);
  long_timeline.mutable_files()->set_bytes_per_lane(uint64_t{4096} * 5000);
  v1::Prepare many_lanes = PhaseOf("write", 5);
  v1::Prepare unflushed = PhaseOf("write", 1, directory.path());
  for (const v1::Prepare& prepare : {long_timeline, many_lanes, unflushed}) {
    WorkerHarness worker;
    if (prepare.targets_size() > 0) worker.ClaimData(directory);
    const v1::ResultChunk chunk = AnswerToPingingCollect(worker, prepare);
    CHECK(chunk.pending());
    CHECK(chunk.lanes().empty());
    const v1::ResultChunk results = worker.Collect();
    REQUIRE(results.lanes_size() == prepare.lanes_size());
    CHECK(results.lanes(0).ops() > 0);
    CHECK_FALSE(results.has_pong());
  }
}

v1::LanesDone EndsOf(WorkerHarness& worker, const v1::Prepare& prepare, int64_t report_up_to_ns) {
  worker.Prepare(prepare);
  worker.ArmIn(2'000'000, 0, report_up_to_ns);
  return worker.WaitDone();
}

TEST_CASE("the end of short regions brings short results, if it is asked to, and the next phase may follow") {
  WorkerHarness worker;
  for (int phase = 0; phase < 2; ++phase) {
    const v1::LanesDone done = EndsOf(worker, PhaseOf("write", 2), 60 * kNanosPerSecond);
    REQUIRE(done.ends_size() == 2);
    REQUIRE(done.has_results());
    CHECK(done.results().last());
    CHECK(done.results().has_host());
    REQUIRE(done.results().lanes_size() == 2);
    CHECK(done.results().lanes(1).ops() > 0);
    CHECK(done.results().lanes(1).region_end_worker_ns() == done.ends(1).region_end_worker_ns());
    // They may be collected again.
    CHECK(worker.Collect().lanes(1).ops() == done.results().lanes(1).ops());
  }
  CHECK_FALSE(EndsOf(worker, PhaseOf("write", 2), 0).has_results());
}

TEST_CASE("the end of longer regions, or of lanes whose results are not short, does not bring results") {
  const TempDir directory;
  v1::Prepare many_lanes = PhaseOf("write", 5);
  v1::Prepare unflushed = PhaseOf("write", 1, directory.path());
  for (const v1::Prepare& prepare : {many_lanes, unflushed}) {
    WorkerHarness worker;
    if (prepare.targets_size() > 0) worker.ClaimData(directory);
    CHECK_FALSE(EndsOf(worker, prepare, 60 * kNanosPerSecond).has_results());
    CHECK(worker.Collect().lanes_size() == prepare.lanes_size());
  }
  WorkerHarness worker;
  CHECK_FALSE(EndsOf(worker, PhaseOf("write", 2), 1).has_results());
  CHECK(worker.Collect().lanes_size() == 2);
}

TEST_CASE("the end of a lane of a start that is called off is not told") {
  ToldWorker worker;
  std::promise<void> lanes_end, through;
  worker.phase->lanes_end = lanes_end.get_future().share();
  v1::WorkerRequest disarm;
  disarm.mutable_adjust()->set_disarm(true);
  worker.session->Handle(disarm, worker.mailbox, worker.clock.Now());
  worker.phase->EndsLane();  // its last op was in flight
  lanes_end.set_value();
  worker.mailbox.Take([](const v1::WorkerEvent& event) { return event.has_adjusted(); });
  worker.session->Later([&through](Session&) { through.set_value(); });
  through.get_future().wait();
  CHECK_FALSE(worker.mailbox.Holds(ToldWorker::IsLaneEnded));
}

}  // namespace
}  // namespace iobench
