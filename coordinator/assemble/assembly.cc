#include "coordinator/assemble/assembly.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"
#include "common/text/log.h"
#include "coordinator/plan/check/ranks_check.h"
#include "coordinator/plan/resolve.h"
#include "coordinator/preflight/refusal.h"
#include "coordinator/preflight/storage_check.h"
#include "coordinator/process/failure.h"
#include "coordinator/conduct/data/access_check.h"
#include "coordinator/conduct/data/data_decision.h"

namespace iobench {
namespace {

// Counts the faults of clients from which no worker has joined.
uint32_t ClientsOfNobody(std::span<const JoinFault> faults, std::span<const Member> members) {
  uint32_t count = 0;
  for (const JoinFault& fault : faults) count += JoinedThere(fault, members).empty() ? 1 : 0;
  return count;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Look>> Assembly::Assemble(RunObserver& observer, const std::string& started_at) {
  IOBENCH_RETURN_IF_ERROR(Gather(observer));
  IOBENCH_ASSIGN_OR_RETURN(std::unique_ptr<Look> look, InspectWorkers(started_at, /*allows_one_client=*/false));
  IOBENCH_RETURN_IF_ERROR(DecideAboutData(*look));
  return look;
}

void Assembly::Refuse(const absl::Status& why) {
  cluster_.Dismiss(absl::StrCat("the coordinator refused the run: ", why.message()));
}

int Assembly::ExitOfRefusal(const Interrupt& interrupt) const {
  if (interrupt.raised()) return kExitInterrupted;
  return !all_joined_ || cluster_.live_count() + cluster_.absent_count() < cluster_.members().size() ? kExitPartial : kExitUsage;
}

absl::Status Assembly::Gather(RunObserver& observer) {
  observer_ = &observer;
  const CoordTime begin = cluster_.Now();
  const absl::Status gathered = cluster_.Gather(
      options_.worker_count, options_.join_deadline, options_.version,
      [&](uint32_t joined) {
        observer_->WorkersJoin(joined, options_.worker_count);
      },
      options_.join_watch, options_.on_fault == OnFault::kRefuse ? nullptr : &join_faults_);
  join_s_ += SecondsFrom(cluster_.Now() - begin);
  all_joined_ = gathered.ok();
  if (gathered.ok()) AddAbsent();
  return gathered;
}

// Workers keep the numbers that they have in the run that is resumed.
void Assembly::AddAbsent() {
  if (!options_.resume.has_value() || options_.resume->absent_workers.empty()) return;
  std::map<uint32_t, v1::WorkerFacts> absent;
  for (const uint32_t worker : options_.resume->absent_workers)
    absent.emplace(worker, options_.resume->run.workers(static_cast<int>(worker)));
  cluster_.AddAbsent(absent, "the run goes on without its client (--without)");
}

absl::StatusOr<std::unique_ptr<Look>> Assembly::InspectWorkers(const std::string& started_at, bool allows_one_client) {
  if (LeavesOut()) {
    // Workers that did join on such a client leave with the others that have a fault.
    std::vector<v1::LeftOutClient> not_joined;
    std::erase_if(join_faults_, [&](const JoinFault& fault) {
      if (!JoinedThere(fault, cluster_.members()).empty()) return false;
      not_joined.emplace_back().set_client(fault.client);
      not_joined.back().add_problems(fault.problem);
      return true;
    });
    IOBENCH_RETURN_IF_ERROR(LeaveOut(std::move(not_joined)));
  }
  if (RefillsSeats()) cluster_.HoldNewcomers();
  const absl::Cleanup begins = [this] { cluster_.SendNewcomersAway(); };
  for (uint32_t pass = 0;; ++pass) {
    // Anew, because numbers change when workers are left out.
    const uint32_t live = cluster_.live_count();
    absl::StatusOr<std::unique_ptr<Look>> inspected = InspectOnce(started_at, allows_one_client, pass);
    // What the look found may come from a worker that is gone.
    const uint32_t lost = live - cluster_.live_count();
    const bool ends = absl::IsCancelled(inspected.status()) || absl::IsAborted(inspected.status());
    if (lost > 0 && RefillsSeats() && !ends) {
      LogWarning(absl::StrCat("the run has not begun yet: it waits for ", lost,
                              lost == 1 ? " other worker to join" : " other workers to join"));
      IOBENCH_RETURN_IF_ERROR(Gather(*observer_));
      continue;
    }
    IOBENCH_ASSIGN_OR_RETURN(std::unique_ptr<Look> look, std::move(inspected));
    const absl::Status refusal = RefusalFor(cluster_.members(), preflight_.findings);
    if (refusal.ok() || Lists()) return look;
    std::set<uint32_t> bad;
    if (LeavesOut()) bad = WorkersToLeaveOut(cluster_.members(), preflight_.findings);
    if (bad.empty()) return refusal;
    if (!LeavesClients(cluster_.members(), bad)) {
      return Annotate(refusal, "--skip-bad would leave no client");
    }
    IOBENCH_RETURN_IF_ERROR(LeaveOut(ClientsToLeaveOut(bad)));
    cluster_.Exclude(bad, "the coordinator leaves this client out of the run (--skip-bad)");
    join_faults_.clear();
  }
}

// Workers that this program has started, or mpirun, are all there are; with --skip-bad, the run goes on without, and
// preflight lists them.
bool Assembly::RefillsSeats() const {
  const bool join_by_themselves = !cluster_.transport().ordered() && options_.join_watch.check == nullptr;
  return join_by_themselves && options_.on_fault == OnFault::kRefuse;
}

absl::StatusOr<std::unique_ptr<Look>> Assembly::InspectOnce(const std::string& started_at, bool allows_one_client,
                                                         uint32_t pass) {
  auto look = std::make_unique<Look>();
  look->clocks.emplace(
      cluster_, coordinator_.boot_id(),
      options_.always_measure_clocks ? ClockSync::Measured::kAllClocks : ClockSync::Measured::kOtherClocks,
      options_.max_burst_clocks);
  // First, because it determines which workers share a client.
  IOBENCH_RETURN_IF_ERROR(look->clocks->Verify());
  // Where nobody can take its place, such a worker costs only its own results.
  if (RefillsSeats()) DropImpossibleClocks(*look->clocks);
  IOBENCH_ASSIGN_OR_RETURN(plan_, Resolve(asked_, cluster_.roster(),
                                          {.resumed = options_.resume.has_value(),
                                           .least_lanes_per_worker = options_.least_lanes_per_worker,
                                           .allows_one_client = allows_one_client}));
  // Phases that are added later may be on some of the clients.
  if (options_.least_lanes_per_worker > 0)
    IOBENCH_RETURN_IF_ERROR(CheckOneClientIfCollective(plan_, cluster_.client_count()));
  look->layout.emplace(plan_, ClientsOf(cluster_.roster()));
  look->data.emplace(cluster_, plan_, *look->layout, started_at, coordinator_.host(),
                     options_.resume.has_value() ? options_.resume->part : RunPart());
  IOBENCH_RETURN_IF_ERROR(look->data->Inspect());
  // The first phase of a run measures the clocks by itself.
  if (Lists()) IOBENCH_RETURN_IF_ERROR(look->clocks->Burst());
  IOBENCH_RETURN_IF_ERROR(CheckStorage(*look, pass));
  FindFaults(*look);
  return look;
}

void Assembly::DropImpossibleClocks(const ClockSync& clocks) {
  for (uint32_t worker = 0; worker < cluster_.members().size(); ++worker) {
    if (!clocks.ImpossiblePing(worker).empty()) cluster_.DropFaulty(worker, clocks.ImpossiblePing(worker));
  }
}

absl::Status Assembly::CheckStorage(Look& look, uint32_t pass) {
  preflight_.not_checked.clear();
  storage_.clear();
  if (!options_.writes_check_files) return absl::OkStatus();
  if (!UsesFiles(plan_)) {
    preflight_.not_checked.push_back("same storage, writable: the plan writes no files of its own");
    return absl::OkStatus();
  }
  const auto members = static_cast<uint32_t>(cluster_.members().size());
  StorageCheck check(cluster_, plan_, *look.layout, look.data->facts(), options_.share_wait_ns,
                     pass * options_.worker_count);
  // A run on one worker finds out by itself whether it can write.
  IOBENCH_RETURN_IF_ERROR(check.Run(Lists() ? 1 : 2));
  storage_ = check.sights();
  look.data->SetStorageSights(storage_);
  if (members == 1) preflight_.not_checked.push_back("same storage: there is only one worker");
  return absl::OkStatus();
}

void Assembly::FindFaults(const Look& look) {
  const std::vector<Member>& members = cluster_.members();
  std::vector<int64_t> clock_error_ns;
  for (const Member& member : members) {
    clock_error_ns.push_back(look.clocks->MapOf(member.number).error_ns(cluster_.Now()));
  }
  std::vector<SpaceNeed> space;
  // Without a phase that creates files, the run uses kept data, or Decide refuses it.
  if (UsesFiles(plan_) && (CreatesData(plan_) || FillPercent(plan_) > 0)) {
    space = SpaceNeeds(plan_, *look.layout, members, look.data->facts());
  }
  preflight_.fills = FillEstimates(plan_, space);
  preflight_.findings = Judge({.plan = plan_,
                               .layout = *look.layout,
                               .members = members,
                               .targets = look.data->facts(),
                               .limits = look.data->limits(),
                               .unmet = look.data->unmet(),
                               .clock_error_ns = clock_error_ns,
                               .storage = storage_,
                               .space = space,
                               .join_faults = join_faults_,
                               .force = options_.force});
  preflight_.client_count = cluster_.client_count() + ClientsOfNobody(join_faults_, members);
  preflight_.worker_count = options_.worker_count;
}

absl::Status Assembly::DecideAboutData(Look& look) {
  // Only a preflight comes here with faults; what happens to the data then makes no difference.
  if (!RefusalFor(cluster_.members(), preflight_.findings).ok()) return absl::OkStatus();
  std::vector<uint64_t> earlier_runs;
  if (options_.resume.has_value()) earlier_runs = RunIdsOf(options_.resume->run);
  const absl::Status decided = look.data->Decide(options_.force, earlier_runs);
  if (decided.ok() || !Lists()) return decided;
  // Faults that concern no single client: data that exist already, direct I/O that does not fit.
  preflight_.findings.push_back({.severity = Severity::kFault,
                                 .check = PreflightCheck::kData,
                                 .client = "",
                                 .workers = {},
                                 .problem = std::string(decided.message()),
                                 .advice = "",
                                 .of_client = false,
                                 .alone = decided});
  return absl::OkStatus();
}

std::vector<v1::LeftOutClient> Assembly::ClientsToLeaveOut(const std::set<uint32_t>& workers) const {
  std::map<uint32_t, v1::LeftOutClient> clients;
  for (const uint32_t worker : workers) {
    v1::LeftOutClient& left_out = clients[cluster_.members()[worker].client];
    left_out.set_client(cluster_.members()[worker].facts.host());
    left_out.set_worker_count(left_out.worker_count() + 1);
  }
  for (const Finding& finding : preflight_.findings) {
    if (finding.severity != Severity::kFault || !finding.of_client) continue;
    std::set<uint32_t> having_it;  // several, if machines are cloned or share a name
    for (const uint32_t worker : finding.workers) {
      if (workers.contains(worker)) having_it.insert(cluster_.members()[worker].client);
    }
    for (const uint32_t client : having_it) clients[client].add_problems(finding.problem);
  }
  std::vector<v1::LeftOutClient> left_out;
  for (auto& [number, client] : clients) left_out.push_back(std::move(client));
  return left_out;
}

absl::Status Assembly::LeaveOut(std::vector<v1::LeftOutClient> clients) {
  const auto name_of = [](const v1::LeftOutClient& client) {
    return client.client().empty() ? std::string("a client") : client.client();
  };
  std::vector<std::string> described;
  for (const v1::LeftOutClient& client : clients) {
    described.push_back(name_of(client));
    if (!client.problems().empty()) absl::StrAppend(&described.back(), " (", client.problems(0), ")");
  }
  IOBENCH_RETURN_IF_ERROR(CheckAllRanksTakePart(plan_, described));
  for (v1::LeftOutClient& client : clients) {
    for (const std::string& problem : client.problems())
      LogWarning(absl::StrCat(name_of(client), " is left out: ", problem));
    left_out_.push_back(std::move(client));
  }
  return absl::OkStatus();
}

}  // namespace iobench
