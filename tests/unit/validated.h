// A validation of a real directory by workers whose answers a test may change: a client that lies shows whether a check
// notices. Everything is done on the test's thread.
#ifndef TESTS_UNIT_VALIDATED_H_
#define TESTS_UNIT_VALIDATED_H_

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "common/roster/roster.h"
#include "common/status_util.h"
#include "coordinator/validate/performance/performance.h"
#include "coordinator/validate/validator.h"
#include "tests/support/temp_dir.h"
#include "worker/check/check_files.h"

namespace iobench {

// Changes what a worker answers.
using Tamper = std::function<void(WorkerId, const v1::FileAction&, v1::FileActionResult&)>;

// Each worker performs its requests at once, on this thread.
class HonestWorkers final : public Transport {
 public:
  static constexpr uint64_t kRunId = 7;

  // `host`: of all clients; empty: "c0", "c1" … `unique_ids`: of their NFS modules; those that are missing have none.
  explicit HonestWorkers(size_t count, const std::string& host = "",
                         const std::vector<std::string>& unique_ids = {})
      : files_(count) {
    for (WorkerId id = 0; id < count; ++id) {
      v1::WorkerEvent joined;
      joined.mutable_joined()->set_host(host.empty() ? "c" + std::to_string(id) : host);
      joined.mutable_joined()->set_boot_id("boot " + std::to_string(id));
      joined.mutable_joined()->set_program_version("1.0");
      if (id < unique_ids.size()) {
        (*joined.mutable_joined()->mutable_settings())["nfs.nfs4_unique_id"] = unique_ids[id];
      }
      Push(id, joined);
    }
  }

  absl::Status Post(WorkerId id, const v1::WorkerRequest& request) override {
    if (has_power && !has_power(id)) return absl::OkStatus();
    v1::WorkerEvent event;
    event.set_call_id(request.call_id());
    if (request.has_ping()) {
      event.mutable_pong()->set_received_worker_ns(Now());
      event.mutable_pong()->set_replied_worker_ns(event.pong().received_worker_ns());
    } else if (Waits(request.file_actions())) {
      waiting_.emplace_back(id, request);
      return absl::OkStatus();
    } else if (request.has_file_actions()) {
      if (hangs && hangs(id, request.file_actions())) return absl::OkStatus();
      if (--requests_until_loss == 0) {
        event = {};
        event.mutable_lost()->set_reason("its host is gone");
      } else {
        Act(id, request, event);
      }
    } else {
      return absl::OkStatus();
    }
    Push(id, event);
    return absl::OkStatus();
  }
  absl::StatusOr<ReceivedEvent> WaitEvent(CoordTime) override {
    if (events_.empty() && !waiting_.empty()) {
      for (const auto& [id, request] : waiting_) {
        v1::WorkerEvent event;
        event.set_call_id(request.call_id());
        Act(id, request, event);
        Push(id, event);
      }
      waiting_.clear();
    }
    if (events_.empty()) return absl::DeadlineExceededError("nothing");
    ReceivedEvent next = std::move(events_.front());
    events_.pop_front();
    return next;
  }
  bool ordered() const override { return true; }
  std::string name() const override { return "test"; }

  // The clock of all workers. It runs fast, so that nothing waits for long.
  int64_t Now() {
    if (real_time_passes) real_ns_ = MonotonicNowNs();
    return real_ns_ + (skipped_ns_ += 5'000'000);
  }

  // False: only calls of Now() move the clock, so that times do not depend on how busy this host is.
  bool real_time_passes = true;
  Tamper tamper;
  std::function<bool(WorkerId)> has_power;  // a worker without it answers nothing; null: all have it
  // Whether a worker's file system hangs, so that it answers all but this request; null: none hangs.
  std::function<bool(WorkerId, const v1::FileActions&)> hangs;
  int requests_until_loss = -1;

 private:
  // A worker that waits for a lock does so while the others work: its calls are made after theirs.
  static bool Waits(const v1::FileActions& actions) {
    return std::any_of(actions.actions().begin(), actions.actions().end(),
                       [](const v1::FileAction& action) { return action.lock().waits(); });
  }
  void Act(WorkerId id, const v1::WorkerRequest& request, v1::WorkerEvent& event) {
    v1::FileActionsDone& done = *event.mutable_file_actions_done();
    v1::FileActions actions = request.file_actions();
    actions
        .clear_start_worker_ns();  // they are made one worker after the other, and none waits for its start
    const absl::Status status = files_[id].Do(
        kRunId, actions, [this] { return WorkerTime{Now()}; }, done);
    if (!status.ok()) *event.mutable_problem() = ToProblem(status);
    for (int i = 0; tamper && i < done.results_size(); ++i) {
      tamper(id, request.file_actions().actions(i), *done.mutable_results(i));
    }
  }
  void Push(WorkerId id, const v1::WorkerEvent& event) { events_.push_back({id, event, CoordTime{Now()}}); }

  std::vector<CheckFiles> files_;
  std::deque<ReceivedEvent> events_;
  std::vector<std::pair<WorkerId, v1::WorkerRequest>> waiting_;
  std::atomic<int64_t> real_ns_ = 0, skipped_ns_ = 0;
};

// As if all clients had been in their calls at the same time.
inline void Together(WorkerId, const v1::FileAction&, v1::FileActionResult& result) {
  result.set_begin_worker_ns(1'000'000'000);
  result.set_end_worker_ns(2'000'000'000);
}

struct Validated {
  TempDir directory{FastParent()};
  HonestWorkers workers;
  Interrupt interrupt;
  CheckChoice choice;
  std::vector<v1::WorkerTargets> targets;
  std::vector<Finding> findings;
  std::string fault_hook, client_hook;
  std::string own_boot_id = "boot 0";
  ValidateLimits limits{.visible_within_s = 0.2};
  ClusterPatience patience;
  bool whole = false;
  uint64_t over_quota_bytes = 0;
  double consistency_s = 0;
  std::function<absl::StatusOr<Performance>()> measure;  // null: nothing is measured
  v1::ValidateReport report;
  absl::Status ended;

  explicit Validated(size_t count = 3, const std::string& host = "",
                     const std::vector<std::string>& unique_ids = {})
      : workers(count, host, unique_ids), targets(count) {
    for (v1::WorkerTargets& seen : targets) {
      seen.add_targets()->set_filesystem("nfs4");
      seen.mutable_targets(0)->set_mount_source("server:/export");
      seen.mutable_targets(0)->set_network(true);
      seen.mutable_targets(0)->set_mount_options(
          "rw,hard,vers=4.2,rsize=1048576,wsize=1048576,local_lock=none");
    }
  }

  Validated& Run(const std::string& only = "") {
    if (!only.empty()) choice.only = {only};
    Cluster cluster(workers, HonestWorkers::kRunId, interrupt, patience,
                    [this] { return CoordTime{workers.Now()}; });
    REQUIRE(cluster
                .Gather(static_cast<uint32_t>(targets.size()), cluster.Now() + kNanosPerSecond, "1.0",
                        [](uint32_t) {})
                .ok());
    ClockSync clocks(cluster, "boot 0", ClockSync::Measured::kOtherClocks);
    REQUIRE(clocks.Verify().ok());
    REQUIRE(clocks.Burst().ok());
    v1::Target target;
    target.set_path(directory.path());
    FileCalls files(cluster, clocks, target);
    CheckContext context{.files = files,
                         .peers = {},
                         .left_out = 0,
                         .one_of_each = {},
                         .client_names = ClientNamesOf(cluster.roster()),
                         .client_count = cluster.client_count(),
                         .whole = whole,
                         .limits = limits,
                         .name_count = 60,
                         .fault_hook = fault_hook,
                         .client_hook = client_hook,
                         .own_boot_id = own_boot_id,
                         .path = directory.path(),
                         .targets = targets,
                         .findings = findings,
                         .random = std::mt19937_64(1),
                         .seed = 1,
                         .consistency_s = consistency_s};
    context.over_quota_bytes = over_quota_bytes;
    context.measure = measure;
    context.peers = PeersOf(cluster.members(), findings, context.left_out);
    for (const Member& member : cluster.members()) context.one_of_each.push_back(member.number);
    RecordClients(context, report);
    ended = RunChecks(
        choice, context, [](const Check&, size_t, size_t) {}, report);
    return *this;
  }
  const v1::ValidateCheck& Of(const std::string& name) const {
    for (const v1::ValidateCheck& check : report.checks()) {
      if (check.name() == name) return check;
    }
    FAIL("no check " << name);
    return report.checks(0);
  }
  std::string Verdict(const std::string& name) const { return Of(name).verdict(); }
  // All that a check says.
  std::string Text(const std::string& name) const {
    const v1::ValidateCheck& check = Of(name);
    std::string text = check.verdict() + ": " + check.found() + "\n";
    for (const std::string& line : check.evidence()) text += line + "\n";
    return text + check.advice();
  }
  bool LeftNothing() const { return !directory.Has("cluster-iobench.validate-0000000000000007"); }
};

inline Finding FindingOf(PreflightCheck check, const char* client, const char* problem) {
  Finding finding;
  finding.check = check;
  finding.client = client;
  finding.problem = problem;
  return finding;
}

inline bool Says(const std::string& text, const std::string& what) {
  INFO(text);
  const bool says = text.find(what) != std::string::npos;
  CHECK(says);
  return says;
}

}  // namespace iobench

#endif  // TESTS_UNIT_VALIDATED_H_
