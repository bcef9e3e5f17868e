// How workers become members of a run: they join, are checked, and get their numbers.
#include <algorithm>
#include <limits>
#include <map>
#include <unordered_set>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/log.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/join_check.h"

namespace iobench {
namespace {

// If no worker joins for this time, missing workers are reported, and then again.
constexpr int64_t kWarnMissingAfterNs = 3 * kNanosPerSecond;
constexpr int64_t kWarnAgainAfterNs = 30 * kNanosPerSecond;
constexpr size_t kMaxNamed = 8;

// Sorts "node9" before "node10": digits compare as numbers.
bool NaturalLess(const std::string& a, const std::string& b) {
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (isdigit(static_cast<unsigned char>(a[i])) && isdigit(static_cast<unsigned char>(b[j]))) {
      size_t i_end = i, j_end = j;
      while (i_end < a.size() && isdigit(static_cast<unsigned char>(a[i_end]))) ++i_end;
      while (j_end < b.size() && isdigit(static_cast<unsigned char>(b[j_end]))) ++j_end;
      while (i + 1 < i_end && a[i] == '0') ++i;
      while (j + 1 < j_end && b[j] == '0') ++j;
      if (i_end - i != j_end - j) return i_end - i < j_end - j;
      if (const int order = a.compare(i, i_end - i, b, j, j_end - j); order != 0) return order < 0;
      i = i_end;
      j = j_end;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

// Who has joined so far.
struct Joined {
  uint32_t wanted = 0;          // number of workers that measure
  std::vector<Member> workers;  // of clients
  std::vector<Member> of_servers;
  std::unordered_set<uint32_t> taken_positions;  // in the client list
};

// Returns "2 of 4 workers have joined (node01, 2 on node02); missing: …".
std::string WhoIsMissing(const Joined& joined, size_t samplers, const JoinWatch& watch) {
  std::map<std::string, size_t> hosts;
  std::vector<v1::WorkerFacts> facts;
  for (const Member& member : joined.workers) {
    ++hosts[member.facts.host()];
    facts.push_back(member.facts);
  }
  std::vector<std::string> names;
  for (const auto& [host, workers] : hosts) {
    if (names.size() == kMaxNamed) {
      names.push_back(absl::StrCat("and ", hosts.size() - kMaxNamed, " more hosts"));
      break;
    }
    names.push_back(workers == 1 ? host : absl::StrCat(workers, " on ", host));
  }
  return absl::StrCat(joined.workers.size(), " of ", joined.wanted, " workers have joined",
                      names.empty() ? "" : absl::StrCat(" (", absl::StrJoin(names, ", "), ")"),
                      watch.samplers == 0 ? ""
                                          : absl::StrCat(", and ", samplers, " of ", watch.samplers,
                                                         " samplers (worker --sampler)"),
                      watch.server_workers == 0
                          ? ""
                          : absl::StrCat(", and ", joined.of_servers.size(), " of ", watch.server_workers,
                                         " workers on servers (--server-workers)"),
                      watch.missing ? absl::StrCat("; missing: ", watch.missing(facts)) : "");
}

absl::Status CheckJoined(const v1::WorkerFacts& facts, const std::string& version, const Joined& joined,
                         size_t samplers, const JoinWatch& watch) {
  IOBENCH_RETURN_IF_ERROR(CheckFacts(facts, version, joined.wanted + watch.samplers + watch.server_workers));
  // An unrequested sampler could hold up every phase.
  if (facts.sampler() && samplers >= watch.samplers) {
    return absl::FailedPreconditionError(
        watch.samplers == 0 ? "this run has no samplers: --samplers N or --sampler-hosts LIST asks for them"
                            : absl::StrCat("this run has all of its samplers: it asks for ", watch.samplers));
  }
  if (facts.server() && joined.of_servers.size() >= watch.server_workers) {
    return absl::FailedPreconditionError(
        watch.server_workers == 0
            ? "this run measures no server's directory: --server-path DIR asks for it"
            : absl::StrCat("this run has all of its workers on servers: --server-workers add up to ",
                           watch.server_workers));
  }
  if (!facts.sampler() && !facts.server() && joined.workers.size() >= joined.wanted) {
    return absl::FailedPreconditionError("the run has all its workers, and waits only for samplers");
  }
  const uint32_t position = facts.client_list_position();
  if (position == 0 || !joined.taken_positions.contains(position)) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat("worker ", position - 1, " of the client list has already joined"));
}

// Those who have a seat already.
Joined SeatsTaken(std::span<const Member> members, uint32_t wanted) {
  Joined joined{.wanted = wanted, .workers = {}, .of_servers = {}, .taken_positions = {}};
  for (const Member& member : members) {
    if (member.lost) continue;
    (member.facts.server() ? joined.of_servers : joined.workers).push_back(member);
    joined.taken_positions.insert(member.facts.client_list_position());
  }
  return joined;
}

// Workers of a client that are refused for the same reason are one fault.
void AddRefused(const v1::WorkerFacts& facts, const absl::Status& why, std::vector<JoinFault>& faults) {
  JoinFault refused{.client = facts.host(),
                    .problem = std::string(why.message()),
                    .advice = "",
                    .positions = {},
                    .boot_id = facts.boot_id()};
  const bool known = std::any_of(faults.begin(), faults.end(), [&refused](const JoinFault& fault) {
    return fault.boot_id == refused.boot_id && fault.client == refused.client &&
           fault.problem == refused.problem;
  });
  if (!known) faults.push_back(std::move(refused));
}

// Removes a worker that has left before all have joined.
void RemoveLeft(WorkerId worker, const JoinWatch& watch, Joined& joined, std::vector<Member>& members) {
  std::erase_if(members, [&](const Member& member) {
    if (member.id != worker) return false;
    joined.taken_positions.erase(member.facts.client_list_position());
    if (watch.presence) watch.presence(member.facts, false);
    return true;
  });
}

// The order of members: see Cluster::Gather.
struct Earlier {
  bool keeps_ids = false;  // the transport has an order of its own

  bool operator()(const Member& a, const Member& b) const {
    if (a.facts.client_list_position() != b.facts.client_list_position())
      return a.facts.client_list_position() < b.facts.client_list_position();
    if (!keeps_ids && a.facts.host() != b.facts.host()) return NaturalLess(a.facts.host(), b.facts.host());
    return a.id < b.id;
  }
};

// Interleaves the workers of several servers, so that the first N, for any N, are spread evenly. `workers`: those of a
// server are adjacent.
std::vector<Member> InTurn(std::vector<Member> workers) {
  std::map<std::string, uint32_t> count_of_server;
  std::vector<std::pair<uint32_t, size_t>> order;  // place on its server, and in `workers`
  for (size_t i = 0; i < workers.size(); ++i) {
    order.emplace_back(count_of_server[workers[i].facts.boot_id()]++, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<Member> in_turn;
  for (const auto& [place, i] : order) in_turn.push_back(std::move(workers[i]));
  return in_turn;
}

// Returns all members, those of clients first.
std::vector<Member> InOrder(Joined joined, const Earlier& before) {
  std::stable_sort(joined.workers.begin(), joined.workers.end(), before);
  std::stable_sort(joined.of_servers.begin(), joined.of_servers.end(), before);
  std::vector<Member> members = std::move(joined.workers);
  for (Member& member : InTurn(std::move(joined.of_servers))) members.push_back(std::move(member));
  return members;
}

// Workers that joined but could not take part.
class SentAway {
 public:
  void Note(const v1::WorkerFacts& facts, const absl::Status& fault) {
    constexpr uint64_t kMaxWarnings = 10;
    last_ = Printable(absl::StrCat(facts.address(), ": ", std::string(fault.message())));
    if (++count_ <= kMaxWarnings) LogWarning(absl::StrCat("sent away a worker from ", last_));
    if (count_ == kMaxWarnings) LogWarning("further workers that are sent away are only counted");
  }
  std::string ToText() const {
    return count_ == 0 ? "" : absl::StrCat("; sent away: ", count_, ", the last from ", last_);
  }

 private:
  uint64_t count_ = 0;
  std::string last_;
};

}  // namespace

absl::Status Cluster::Gather(uint32_t count, CoordTime deadline, const std::string& version,
                             const std::function<void(uint32_t)>& on_joined, const JoinWatch& watch,
                             std::vector<JoinFault>* faults) {
  Joined joined = SeatsTaken(members_, count);
  gathers_ = true;
  const absl::Cleanup done = [this] { gathers_ = false; };
  ending_of_ = watch.ending;
  // True if the run can do without the workers that `why` is about; `faults` then names them.
  const auto can_do_without = [&](const absl::Status& why) {
    if (faults == nullptr || joined.workers.empty() || absl::IsCancelled(why)) return false;
    if (joined.of_servers.size() < watch.server_workers) return false;
    std::vector<JoinFault> named = watch.faults ? watch.faults() : std::vector<JoinFault>();
    if (named.empty()) named.push_back({.client = "", .problem = std::string(why.message()), .advice = ""});
    faults->insert(faults->end(), named.begin(), named.end());
    return true;
  };
  SentAway strangers;
  const Patience patience{.deadline = deadline};
  CoordTime warn_at = Now() + kWarnMissingAfterNs;
  while (joined.workers.size() < joined.wanted || samplers_.size() < watch.samplers ||
         joined.of_servers.size() < watch.server_workers) {
    auto next = NextWhileGathering(patience);
    if (!next.ok()) {
      if (!absl::IsDeadlineExceeded(next.status())) return next.status();
      const auto late = absl::DeadlineExceededError(
          absl::StrCat(WhoIsMissing(joined, samplers_.size(), watch), strangers.ToText(),
                       "; raise --join-timeout to wait longer"));
      if (can_do_without(late)) break;
      return late;
    }
    if (!next->has_value()) {
      if (absl::Status status = watch.check ? watch.check() : absl::OkStatus(); !status.ok()) {
        if (can_do_without(status)) break;
        return status;
      }
      if (Now() < warn_at) continue;
      LogWarning(WhoIsMissing(joined, samplers_.size(), watch));
      warn_at = Now() + kWarnAgainAfterNs;
      continue;
    }
    const ReceivedEvent& received = **next;
    if (received.event.has_lost()) {
      RemoveLeft(received.worker, watch, joined, joined.workers);
      RemoveLeft(received.worker, watch, joined, joined.of_servers);
      RemoveLeft(received.worker, watch, joined, samplers_);
      on_joined(static_cast<uint32_t>(joined.workers.size()));
      continue;
    }
    if (!received.event.has_joined()) continue;
    const v1::WorkerFacts& facts = received.event.joined();
    if (absl::Status fault = CheckJoined(facts, version, joined, samplers_.size(), watch); !fault.ok()) {
      DismissOne(received.worker, std::string(fault.message()));
      const bool counts = transport_.ordered() || (watch.started_here && watch.started_here(facts));
      if (counts && faults == nullptr) return fault;
      if (counts) {
        AddRefused(facts, fault, *faults);
        if (--joined.wanted == 0) return fault;
        continue;
      }
      strangers.Note(facts, fault);
      continue;
    }
    Member member;
    member.id = received.worker;
    member.facts = facts;
    member.facts.clear_clone();  // only SeparateClones decides
    joined.taken_positions.insert(facts.client_list_position());
    if (watch.presence) watch.presence(facts, true);
    (facts.sampler()  ? samplers_
     : facts.server() ? joined.of_servers
                      : joined.workers)
        .push_back(std::move(member));
    warn_at = std::max(warn_at, Now() + kWarnMissingAfterNs);
    on_joined(static_cast<uint32_t>(joined.workers.size()));
  }
  const Earlier before{.keeps_ids = transport_.ordered()};
  std::stable_sort(samplers_.begin(), samplers_.end(), before);
  for (uint32_t i = 0; i < samplers_.size(); ++i) samplers_[i].number = i;
  members_ = InOrder(std::move(joined), before);
  lost_count_ = 0;
  NumberMembers();
  return absl::OkStatus();
}

absl::StatusOr<std::optional<ReceivedEvent>> Cluster::NextWhileGathering(const Patience& patience) {
  if (!newcomers_.has_value() || newcomers_->empty()) return Next(patience);
  ReceivedEvent first = std::move(newcomers_->front());
  newcomers_->pop_front();
  return std::optional<ReceivedEvent>(std::move(first));
}

void Cluster::HandleNewcomer(const ReceivedEvent& received) {
  if (newcomers_.has_value() && received.event.has_joined()) {
    newcomers_->push_back(received);
  } else if (newcomers_.has_value() && received.event.has_lost()) {
    std::erase_if(*newcomers_, [&](const ReceivedEvent& joined) { return joined.worker == received.worker; });
  } else if (received.event.has_joined()) {
    // Too late for this run: dismisses the worker instead of letting it wait.
    DismissOne(received.worker, "the run has already started with all its workers");
  }
}

void Cluster::SendNewcomersAway() {
  const std::deque<ReceivedEvent> newcomers = std::exchange(newcomers_, std::nullopt).value_or(std::deque<ReceivedEvent>());
  for (const ReceivedEvent& joined : newcomers) HandleNewcomer(joined);
}

void Cluster::Exclude(const std::set<uint32_t>& workers, const std::string& reason) {
  for (const uint32_t worker : workers) {
    if (!members_[worker].lost) DismissOne(members_[worker].id, reason);
  }
  std::erase_if(members_, [&workers](const Member& member) { return workers.contains(member.number); });
  lost_count_ = static_cast<uint32_t>(
      std::count_if(members_.begin(), members_.end(), [](const Member& member) { return member.lost; }));
  NumberMembers();
}

void Cluster::AddAbsent(const std::map<uint32_t, v1::WorkerFacts>& absent, const std::string& reason) {
  std::vector<Member> joined = std::move(members_);
  members_.clear();
  auto next = joined.begin();
  for (uint32_t number = 0; number < joined.size() + absent.size(); ++number) {
    const auto place = absent.find(number);
    if (place == absent.end()) {
      members_.push_back(std::move(*next++));
      continue;
    }
    Member member;
    member.id = std::numeric_limits<WorkerId>::max() - number;  // of no connection
    member.facts = place->second;
    member.lost = member.absent = true;
    member.lost_reason = reason;
    members_.push_back(std::move(member));
  }
  lost_count_ += static_cast<uint32_t>(absent.size());
  NumberMembers();
}

uint32_t Cluster::absent_count() const {
  return static_cast<uint32_t>(
      std::count_if(members_.begin(), members_.end(), [](const Member& member) { return member.absent; }));
}

void Cluster::NumberMembers() {
  number_of_.clear();
  work_polls_.clear();
  for (uint32_t number = 0; number < members_.size(); ++number) {
    members_[number].number = number;
    number_of_[members_[number].id] = number;
  }
  NumberClients();
  const auto count = static_cast<uint32_t>(members_.size());
  silence_.emplace(count, patience_.lost_after_ns, patience_.lease_ns, Now());
  stalls_.emplace(count, patience_.stall_after_ns);
  for (const Member& member : members_) {
    if (member.lost) silence_->Forget(member.number);
  }
}

void Cluster::NumberClients() {
  std::vector<const v1::WorkerFacts*> facts;
  for (const Member& member : members_) facts.push_back(&member.facts);
  roster_ = RosterOf(facts);
  for (Member& member : members_) member.client = roster_.workers[member.number].client;
}

void Cluster::SeparateClones(const std::vector<uint32_t>& clone_of_worker) {
  for (Member& member : members_) member.facts.set_clone(clone_of_worker[member.number]);
  NumberClients();
}

}  // namespace iobench
