// A worker as its coordinator sees it, with requests and events. For tests of the worker.
#ifndef TESTS_UNIT_WORKER_HARNESS_H_
#define TESTS_UNIT_WORKER_HARNESS_H_

#include <catch2/catch.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "common/mutex.h"
#include "common/transport/transport.h"
#include "tests/support/temp_dir.h"
#include "worker/worker_service.h"

namespace iobench {

// Stores the worker's events until they are taken.
class Mailbox final : public EventSink {
 public:
  void Send(v1::WorkerEvent event) override {
    MutexLock lock(mutex_);
    events_.push_back(std::move(event));
    changed_.NotifyAll();
  }

  // Removes and returns the first event that fits; fails the test if none arrives within two minutes: that long
  // a disk may take beside other tests.
  v1::WorkerEvent Take(const std::function<bool(const v1::WorkerEvent&)>& fits) {
    MutexLock lock(mutex_);
    auto found = events_.end();
    const bool came = changed_.WaitUntil(mutex_, MonotonicNowNs() + 120'000'000'000, [&] {
      for (found = events_.begin(); found != events_.end(); ++found) {
        if (fits(*found)) return true;
      }
      return false;
    });
    REQUIRE(came);
    v1::WorkerEvent event = std::move(*found);
    events_.erase(found);
    return event;
  }

  size_t size() {
    MutexLock lock(mutex_);
    return events_.size();
  }
  bool Holds(const std::function<bool(const v1::WorkerEvent&)>& fits) {
    MutexLock lock(mutex_);
    for (const v1::WorkerEvent& event : events_) {
      if (fits(event)) return true;
    }
    return false;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::deque<v1::WorkerEvent> events_;
};

// The names of a manifest that accounts for all our files and trees.
inline v1::DataNames AllNames() {
  v1::DataNames names;
  names.set_lanes(1000);
  names.set_files_per_lane(1000);
  names.set_shared_file(true);
  names.set_trees(1000);
  return names;
}

class WorkerHarness {
 public:
  static constexpr uint64_t kRun = 7;

  explicit WorkerHarness(int64_t clock_offset_ns = 0)
      : clock_(clock_offset_ns),
        worker_(MakeWorkerService({.clock = clock_,
                                   .host_override = "client-a",
                                   .boot_id_override = "boot-a",
                                   .measure_costs = false})) {}

  // Another kind of worker, on the clock CLOCK_MONOTONIC + `clock_offset_ns`.
  WorkerHarness(std::unique_ptr<WorkerHandler> worker, int64_t clock_offset_ns)
      : clock_(clock_offset_ns), worker_(std::move(worker)) {}

  WorkerHandler& worker() { return *worker_; }
  Mailbox& mailbox() { return mailbox_; }
  WorkerTime Now() const { return clock_.Now(); }

  uint64_t Post(v1::WorkerRequest request) {
    request.set_run_id(kRun);
    request.set_call_id(++call_id_);
    worker_->Handle(request, mailbox_);
    return call_id_;
  }
  v1::WorkerEvent AnswerTo(uint64_t call_id) {
    v1::WorkerEvent event = mailbox_.Take([=](const v1::WorkerEvent& e) { return e.call_id() == call_id; });
    return event;
  }
  v1::WorkerEvent Ask(v1::WorkerRequest request) { return AnswerTo(Post(std::move(request))); }

  // Requests whose answers must be successful.
  v1::Prepared Prepare(const v1::Prepare& prepare) {
    v1::WorkerRequest request;
    *request.mutable_prepare() = prepare;
    const v1::WorkerEvent event = Ask(std::move(request));
    INFO(event.problem().message());
    REQUIRE(event.has_prepared());
    return event.prepared();
  }
  // A start `lead_ns` from now. Without a needed margin it is given again if this thread came too late, because it was
  // preempted for longer than `lead_ns`.
  v1::Armed ArmIn(int64_t lead_ns, int64_t margin_needed_ns = 0, int64_t report_up_to_ns = 0) {
    v1::Armed armed;
    do {
      v1::WorkerRequest request;
      start_ = Now() + lead_ns;
      request.mutable_arm()->set_report_up_to_ns(report_up_to_ns);
      request.mutable_arm()->set_start_worker_ns(start_.ns);
      request.mutable_arm()->set_margin_needed_ns(margin_needed_ns);
      const v1::WorkerEvent event = Ask(std::move(request));
      REQUIRE(event.has_armed());
      armed = event.armed();
    } while (armed.late() && margin_needed_ns == 0);
    return armed;
  }
  WorkerTime start() const { return start_; }
  void Stop() {
    Adjust([](v1::Adjust& adjust) { adjust.set_stop(true); });
  }
  void Quit() {
    Adjust([](v1::Adjust& adjust) { adjust.set_quit(true); });
  }
  void Disarm() {
    Adjust([](v1::Adjust& adjust) { adjust.set_disarm(true); });
  }
  void Goal(uint64_t ops) {
    Adjust([=](v1::Adjust& adjust) { adjust.set_ops_goal(ops); });
  }
  v1::LanesDone WaitDone() {
    return mailbox_.Take([](const v1::WorkerEvent& e) { return e.has_lanes_done(); }).lanes_done();
  }
  // All chunks merged into one, with what the lanes did when they settled.
  v1::ResultChunk Collect(const std::vector<int64_t>& instants = {}, int64_t settle_until_ns = 0) {
    v1::WorkerRequest request;
    request.mutable_collect()->set_settle_until_worker_ns(settle_until_ns);
    for (const int64_t ns : instants) request.mutable_collect()->add_instants_worker_ns(ns);
    const uint64_t call_id = Post(std::move(request));
    v1::ResultChunk all;
    do {
      const v1::WorkerEvent event = AnswerTo(call_id);
      INFO(event.problem().message());
      REQUIRE(event.has_chunk());
      ++chunk_count_;
      if (event.chunk().measured()) {  // each of these has all of them
        all.clear_steps();
        all.clear_host();
      }
      all.MergeFrom(event.chunk());
    } while (!all.last());
    for (int i = 0; i < all.settled_size(); ++i) {
      const v1::LaneSettled& settled = all.settled(i);
      v1::LaneResult& lane = *all.mutable_lanes(i);
      lane.set_settle_s(settled.settle_s());
      lane.set_bytes(settled.bytes());
      lane.set_ops(settled.ops());
      if (settled.has_problem()) *lane.mutable_problem() = settled.problem();
    }
    return all;
  }
  int chunk_count() const { return chunk_count_; }

  void ClaimData(const TempDir& directory, uint64_t run_id = kRun) {
    v1::WorkerRequest request;
    v1::DataStep& step = *request.mutable_data_step();
    step.set_action(v1::DataStep::CLAIM);
    step.add_targets()->set_path(directory.path());
    step.mutable_manifest()->set_program("cluster-iobench");
    step.mutable_manifest()->set_format(1);
    step.mutable_manifest()->set_run_id(run_id);
    step.mutable_manifest()->set_state(v1::Manifest::ACTIVE);
    *step.mutable_manifest()->mutable_names() = AllNames();
    const v1::WorkerEvent event = Ask(std::move(request));
    INFO(event.problem().message());
    REQUIRE(event.problem().code() == 0);
  }
  // Runs a complete phase: prepare, arm, wait for the lanes, collect.
  v1::ResultChunk RunPhase(const v1::Prepare& prepare) {
    Prepare(prepare);
    REQUIRE_FALSE(ArmIn(5'000'000).late());
    WaitDone();
    return Collect();
  }

 private:
  void Adjust(const std::function<void(v1::Adjust&)>& set) {
    v1::WorkerRequest request;
    set(*request.mutable_adjust());
    const v1::WorkerEvent event = Ask(std::move(request));
    INFO(event.problem().message());
    REQUIRE(event.has_adjusted());
    REQUIRE(event.problem().code() == 0);
  }

  WorkerClock clock_;
  Mailbox mailbox_;
  WorkerTime start_;
  uint64_t call_id_ = 0;
  int chunk_count_ = 0;
  std::unique_ptr<WorkerHandler>
      worker_;  // last, so that it is destroyed before the members that it sends to
};

// A basic phase: `lanes` lanes of 16 records of 4 KiB, one file each.
inline v1::Prepare PhaseOf(const std::string& operation, uint32_t lanes, const std::string& path = "",
                           const std::string& engine = "null") {
  v1::Prepare prepare;
  prepare.mutable_operation()->set_name(operation);
  prepare.mutable_operation()->set_engine(path.empty() ? engine : "posix");
  prepare.mutable_operation()->set_record_bytes(4096);
  prepare.mutable_files()->set_bytes_per_lane(16 * 4096);
  prepare.mutable_files()->set_files_per_lane(1);
  prepare.set_seed(1);
  if (!path.empty()) prepare.add_targets()->set_path(path);
  for (uint32_t i = 0; i < lanes; ++i) {
    v1::LanePlan& lane = *prepare.add_lanes();
    lane.set_lane(i);
    lane.set_file_owner(i);
  }
  return prepare;
}

}  // namespace iobench

#endif  // TESTS_UNIT_WORKER_HARNESS_H_
