#include "coordinator/plan/background.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/model/operation.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/plan/phase_list.h"
#include "coordinator/plan/plan_yaml.h"

namespace iobench {
namespace {

constexpr uint64_t kDefaultBackgroundRecordBytes = 64_KiB;

absl::Status WrongBackground(const std::string& text, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(
      "--background ", text, ": ", why,
      "; give an operation with its record size, such as write@1m or file-mix, or a plan FILE.yaml"));
}

uint64_t FirstRecordBytes(const v1::Plan& plan) {
  for (const v1::Phase& phase : plan.phases()) {
    for (const v1::Assignment& assignment : phase.assignments()) {
      if (assignment.operation().record_bytes() > 0 && !IsMetadata(assignment.operation()))
        return assignment.operation().record_bytes();
    }
  }
  return kDefaultBackgroundRecordBytes;
}

// "write@1m"
absl::StatusOr<v1::Phase> LoadOfText(const std::string& text, uint64_t default_record_bytes) {
  const size_t at = text.find('@');
  const absl::StatusOr<const OperationSpec*> spec = FindOperation(text.substr(0, at));
  if (!spec.ok()) return WrongBackground(text, absl::StrCat("\"", text.substr(0, at), "\" is no operation"));
  uint64_t record_bytes = default_record_bytes;
  if (at != std::string::npos) {
    if ((*spec)->is_metadata()) return WrongBackground(text, "metadata operations have no record size");
    const absl::StatusOr<uint64_t> bytes = ParseBytes(text.substr(at + 1), 1_KiB);
    if (!bytes.ok()) return WrongBackground(text, std::string(bytes.status().message()));
    record_bytes = *bytes;
  }
  v1::Phase phase;
  phase.set_name(text);
  *phase.add_assignments()->mutable_operation() = OperationOf(**spec, record_bytes, 0);
  return phase;
}

// The workers of some clients.
std::vector<uint32_t> WorkersOf(std::span<const WorkersOfClient> clients) {
  std::vector<uint32_t> workers;
  for (const WorkersOfClient& client : clients) {
    workers.insert(workers.end(), client.workers.begin(), client.workers.end());
  }
  return workers;
}

// A load uses its clients' own files on their own targets. `what`: the phase, for the message.
absl::Status CheckUsesOwnFiles(const std::string& what, const v1::Phase& phase) {
  if (phase.only_target() > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, "a background load cannot be combined with --each-path (only_target): compare ",
                     "paths in separate runs"));
  }
  const bool rotates =
      std::any_of(phase.assignments().begin(), phase.assignments().end(),
                  [](const v1::Assignment& each) { return each.operation().rotate_clients(); });
  if (!rotates) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, "a background load cannot be combined with --rotate-clients (rotate_clients): ",
                   "victims would read files of clients that run the load"));
}

// The phase of the victims beside a load.
v1::Phase Beside(const v1::Phase& victims, const v1::Phase& load, const std::vector<uint32_t>& others) {
  v1::Phase beside = victims;
  beside.set_name(absl::StrCat(victims.interference().phase(), " beside ", load.name()));
  beside.clear_score();
  beside.mutable_interference()->set_background(load.name());
  v1::Assignment& assignment = *beside.add_assignments();
  assignment.set_name(load.name());
  assignment.set_background(true);
  *assignment.mutable_operation() = load.assignments(0).operation();
  for (const uint32_t worker : others) assignment.mutable_who()->add_workers(worker);
  // Otherwise the load would overwrite what is still in its clients' memory, and hardly reach the storage. What victims
  // write must be flushed the same way as when they are undisturbed.
  const bool victims_write = std::any_of(victims.assignments().begin(), victims.assignments().end(),
                                         [](const v1::Assignment& each) { return Writes(each.operation()); });
  const v1::Operation& operation = assignment.operation();
  if (!victims_write && Writes(operation) && BuffersWrites(operation) && UsesFiles(operation)) {
    beside.mutable_region()->set_fsync(true);
    beside.mutable_region()->set_flush_passes(true);
  }
  return beside;
}

}  // namespace

bool HasBackground(const v1::Plan& plan) {
  return std::any_of(plan.phases().begin(), plan.phases().end(),
                     [](const v1::Phase& phase) { return phase.background(); });
}

absl::Status AddBackground(const GivenOptions& given, uint64_t drawn_seed, v1::Plan& plan) {
  const uint64_t record_bytes = FirstRecordBytes(plan);
  const int victims = plan.phases_size();
  for (const std::string& text : given.Texts("background")) {
    if (absl::EndsWith(text, ".yaml") || absl::StrContains(text, "/")) {
      IOBENCH_ASSIGN_OR_RETURN(const v1::Plan loads, LoadPlan(text, drawn_seed));
      for (const v1::Phase& load : loads.phases()) *plan.add_phases() = load;
      if (loads.phases().empty()) return WrongBackground(text, "the plan has no phases");
    } else {
      IOBENCH_ASSIGN_OR_RETURN(*plan.add_phases(), LoadOfText(text, record_bytes));
    }
  }
  for (int i = victims; i < plan.phases_size(); ++i) plan.mutable_phases(i)->set_background(true);
  return absl::OkStatus();
}

void KeepPaceOfBackground(const v1::Plan& before, v1::Plan& plan) {
  for (int i = 0; i < plan.phases_size(); ++i) {
    if (!plan.phases(i).background() || plan.phases(i).assignments().empty()) continue;
    v1::Operation& operation = *plan.mutable_phases(i)->mutable_assignments(0)->mutable_operation();
    const v1::Operation& own = before.phases(i).assignments(0).operation();
    operation.clear_arrivals();
    operation.clear_between();
    if (own.has_arrivals()) *operation.mutable_arrivals() = own.arrivals();
    if (own.has_between()) *operation.mutable_between() = own.between();
  }
}

absl::Status CheckBackground(const v1::Plan& plan) {
  if (!HasBackground(plan)) return absl::OkStatus();
  bool any = false;
  for (const v1::Phase& phase : plan.phases()) {
    const std::string what = absl::StrCat("phase ", phase.name(), ": ");
    IOBENCH_RETURN_IF_ERROR(CheckUsesOwnFiles(what, phase));
    if (phase.background()) {
      if (phase.assignments_size() == 1 && phase.assignments(0).who().workers().empty()) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          what,
          "a background load is a single assignment without workers (who) of its own: it runs on all clients that are not victims"));
    }
    any = true;
    if (phase.has_interference() || phase.has_alone()) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, "the plan already divides its clients: leave out --background"));
    }
    if (phase.has_spreading() || plan.per_client()) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, "a background load cannot be combined with a mix or per-client phases"));
    }
    if (phase.stop().time_s() > 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        what, "with a background load it needs a time limit, so that both end together: add --time"));
  }
  if (any) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "all phases are background loads, so there is nothing to measure beside them");
}

absl::Status SetBesideBackground(std::span<const WorkersOfClient> clients, bool by_worker, v1::Plan& plan) {
  const size_t others = plan.has_background_clients() ? plan.background_clients() : clients.size() / 2;
  if (clients.size() < 2 || others >= clients.size()) {
    const std::string word = by_worker ? "worker" : "client";
    return absl::InvalidArgumentError(absl::StrCat(
        "--background: of the ", clients.size(), " ", word, clients.size() == 1 ? "" : "s", " of this run, ",
        std::max<size_t>(1, others),
        " would run the load, leaving none to measure: use more clients "
        "(--hosts, --listen, mpirun), several workers on this one (--spawn), or a smaller --background-clients"));
  }
  const size_t victims = clients.size() - others;
  const std::vector<uint32_t> victim_workers = WorkersOf(clients.first(victims));
  const std::vector<uint32_t> other_workers = WorkersOf(clients.subspan(victims));
  const google::protobuf::RepeatedPtrField<v1::Phase> phases = std::move(*plan.mutable_phases());
  plan.clear_phases();
  plan.clear_background_clients();
  for (const v1::Phase& phase : phases) {
    if (phase.background()) continue;
    v1::Phase undisturbed = OfWorkers(victim_workers, phase);
    if (undisturbed.assignments().empty()) {
      return absl::InvalidArgumentError(absl::StrCat("phase ", phase.name(), " selects no worker of the ",
                                                     victims,
                                                     " victims: change its workers "
                                                     "(who), or --background-clients"));
    }
    v1::Interference& interference = *undisturbed.mutable_interference();
    interference.set_phase(phase.name());
    interference.set_victims(static_cast<uint32_t>(victims));
    interference.set_by_worker(by_worker);
    undisturbed.set_name(absl::StrCat(phase.name(), ", undisturbed"));
    *plan.add_phases() = undisturbed;
    interference.set_others(static_cast<uint32_t>(others));
    for (const v1::Phase& load : phases) {
      if (load.background()) *plan.add_phases() = Beside(undisturbed, load, other_workers);
    }
  }
  return absl::OkStatus();
}

}  // namespace iobench
