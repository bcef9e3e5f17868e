#include "coordinator/preflight/preflight.h"

#include <algorithm>
#include <cerrno>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/model/operation.h"
#include "common/model/phase_files.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "common/time.h"
#include "coordinator/analysis/marks/shared_target.h"
#include "coordinator/preflight/cause.h"

namespace iobench {
namespace {

// Of the program, its libraries and its connection, besides those of the lanes.
constexpr uint64_t kOwnDescriptors = 64;
constexpr uint64_t kLowMemoryPercent = 10;
// What a lane maps besides its buffers: 8 MiB for its thread's stack, of which little is used, and its data.
constexpr uint64_t kMappedByLane = 10_MiB;
// docs/marks.md#clock_uncertain.
constexpr int64_t kClockErrorNs = 5'000'000;
constexpr size_t kMaxNamed = 3;
// Of a client's clock from the file system's; validate's default (--clock-difference).
constexpr double kFileClockS = 1;
// A new file takes so long only while something keeps the server from opening files.
constexpr double kGraceS = 5;

// The most that any phase needs of one worker.
struct WorkerNeeds {
  uint64_t open_files = 0;
  uint64_t file_bytes = 0;    // size of the largest file that is written
  uint64_t memory_bytes = 0;  // at least
  uint32_t lanes = 0;
};

// Workers with an equal one share memory: that of their client, or of a control group on it.
using MemoryShare = std::pair<uint32_t, uint64_t>;
MemoryShare MemoryShareOf(const Member& member) {
  return {member.client, member.facts.memory_group()};
}

// By worker, and by memory for what workers share.
struct PlanNeeds {
  std::vector<WorkerNeeds> of_worker;
  std::map<MemoryShare, uint64_t> memory;  // bytes: of all live workers that share it, in the same phase
};

WorkerNeeds NeedsIn(const PhaseShape& shape, const v1::Operation& operation, uint64_t worker_count) {
  WorkerNeeds needs{.lanes = shape.lanes_per_worker};
  if (!UsesFiles(operation)) return needs;
  const uint64_t lanes = shape.lanes_per_worker, depth = std::max(1u, operation.depth());
  needs.memory_bytes = lanes * (kLaneMemoryBytes + depth * operation.record_bytes() + operation.buffer_bytes());
  if (IsMetadata(operation)) {
    needs.file_bytes = operation.tree().file_bytes();
    return needs;
  }
  const uint64_t files = std::max(1u, shape.files.files_per_lane());
  if (!IsUnmounted(operation)) needs.open_files = lanes * files;
  if (CreatesFiles(operation)) {
    needs.file_bytes = shape.files.shared_file() ? shape.files.bytes_per_lane() * lanes * worker_count
                                                 : shape.files.bytes_per_lane() / files;
  }
  return needs;
}

void Raise(const WorkerNeeds& needs, WorkerNeeds& most) {
  most.open_files = std::max(most.open_files, needs.open_files);
  most.file_bytes = std::max(most.file_bytes, needs.file_bytes);
  most.memory_bytes = std::max(most.memory_bytes, needs.memory_bytes);
  most.lanes = std::max(most.lanes, needs.lanes);
}

PlanNeeds NeedsOf(const v1::Plan& plan, std::span<const Member> members) {
  PlanNeeds needs;
  needs.of_worker.resize(members.size());
  for (const v1::Phase& phase : plan.phases()) {
    const PhaseShape shape = LeastShapeOf(plan, phase);
    const WorkerAssignments assignments(phase, members.size());
    std::map<MemoryShare, uint64_t> memory;
    for (const Member& member : members) {
      const v1::Assignment* const assignment = assignments.Of(member.number);
      if (member.lost || assignment == nullptr) continue;
      const WorkerNeeds here = NeedsIn(shape, assignment->operation(), members.size());
      Raise(here, needs.of_worker[member.number]);
      memory[MemoryShareOf(member)] += here.memory_bytes;
    }
    for (const auto& [share, bytes] : memory) {
      uint64_t& most = needs.memory[share];
      most = std::max(most, bytes);
    }
  }
  return needs;
}

// " within the limit of its control group (the host has 64 GiB)"
std::string LimitText(const v1::WorkerFacts& facts) {
  return absl::StrCat(" within the limit of ", FormatBytes(static_cast<double>(facts.memory_bytes())),
                      " of its control group (the host has ",
                      FormatBytes(static_cast<double>(facts.host_memory_bytes())), ")");
}

// The mount options that clients can have in common: without addresses and ports of their own.
std::vector<std::string> SharedOptions(const std::string& options) {
  std::vector<std::string> shared;
  for (const absl::string_view option : absl::StrSplit(options, ',', absl::SkipEmpty())) {
    const bool own = option.find("addr=") != absl::string_view::npos || option.substr(0, 9) == "mountport";
    if (!own) shared.emplace_back(option);
  }
  std::sort(shared.begin(), shared.end());
  return shared;
}

std::string NamesOfClients(const std::vector<std::string>& clients) {
  const size_t more = clients.size() > kMaxNamed ? clients.size() - kMaxNamed : 0;
  const std::vector<std::string> named(clients.begin(), clients.end() - static_cast<ptrdiff_t>(more));
  return absl::StrCat(absl::StrJoin(named, ", "), more > 0 ? absl::StrCat(" and ", more, " more") : "");
}

std::string SourceText(const v1::TargetFacts& seen) {
  return absl::StrCat(seen.filesystem().empty() ? "a file system" : seen.filesystem(),
                      seen.mount_source().empty() ? "" : absl::StrCat(" from ", seen.mount_source()));
}

class Judgement {
 public:
  explicit Judgement(const PreflightFacts& facts)
      : facts_(facts), needs_(NeedsOf(facts.plan, facts.members)) {}

  std::vector<Finding> Take() {
    AddJoinFaults();
    for (const Member& member : facts_.members) {
      if (member.absent) continue;
      if (member.lost) {
        Add(member, PreflightCheck::kJoin, absl::StrCat("was lost: ", member.lost_reason), "").alone =
            absl::UnavailableError(absl::StrCat(member.Name(), " was lost: ", member.lost_reason));
        continue;
      }
      CheckPaths(member);
      AddUnmet(member);
      CheckLimitsOf(member);
      CheckClock(member);
    }
    for (int target = 0; target < facts_.plan.targets_size(); ++target) {
      SetStorage(target);
      CheckFileClocks(target);
      CheckMountsOf(target);
    }
    CheckFreeSpace();
    CheckMemoryNeeds();
    CheckThreadLimits();
    Sort();
    return std::move(findings_);
  }

 private:
  // Equal findings of several workers of a client become one.
  Finding& Add(const Member& member, PreflightCheck check, std::string problem, std::string advice,
               Severity severity = Severity::kFault) {
    const auto [found, is_new] =
        index_.emplace(std::tuple(member.client, check, severity, problem), findings_.size());
    if (is_new) {
      findings_.push_back({.severity = severity,
                           .check = check,
                           .client = member.facts.host(),
                           .workers = {},
                           .problem = std::move(problem),
                           .advice = std::move(advice),
                           .of_client = true,
                           .alone = {}});
    }
    Finding& finding = findings_[found->second];
    finding.workers.insert(member.number);
    return finding;
  }

  const v1::TargetFacts* SeenBy(const Member& member, int target) const {
    if (member.number >= facts_.targets.size()) return nullptr;
    return SeenOf(facts_.targets[member.number], static_cast<uint32_t>(target));
  }
  // The members that use the target. There may be as many targets as members, so nothing here looks at all members for
  // each target.
  std::vector<const Member*> UsersOf(int target) const {
    std::vector<const Member*> users;
    for (const uint32_t worker : facts_.layout.WorkersOn(static_cast<uint32_t>(target))) {
      users.push_back(&facts_.members[worker]);
    }
    return users;
  }
  const std::string& PathOf(int target) const { return facts_.plan.targets(target).path(); }

  void AddJoinFaults();
  void CheckPaths(const Member& member);
  void AddUnmet(const Member& member);
  void CheckLimitsOf(const Member& member);
  void CheckClock(const Member& member);
  void SetStorage(int target);
  void CheckFileClocks(int target);
  std::string WhoSeesWhat(int target) const;
  void CheckMountsOf(int target);
  void CheckFreeSpace();
  void CheckMemoryNeeds();
  void CheckThreadLimits();
  void Sort();

  const PreflightFacts& facts_;
  PlanNeeds needs_;
  std::vector<Finding> findings_;
  std::map<std::tuple<uint32_t, PreflightCheck, Severity, std::string>, size_t> index_;
};

void Judgement::AddJoinFaults() {
  for (const JoinFault& fault : facts_.join_faults) {
    findings_.push_back({.severity = Severity::kFault,
                         .check = PreflightCheck::kJoin,
                         .client = fault.client,
                         .workers = JoinedThere(fault, facts_.members),
                         .problem = fault.problem,
                         .advice = fault.advice,
                         .of_client = true,
                         .alone = {}});
  }
}

void Judgement::CheckPaths(const Member& member) {
  if (!UsesFiles(facts_.plan)) return;
  for (const uint32_t number : facts_.layout.TargetsOf(member.number)) {
    const v1::TargetFacts* const seen = SeenBy(member, static_cast<int>(number));
    if (seen == nullptr || seen->problem().code() == 0) continue;
    const std::string& path = PathOf(static_cast<int>(number));
    const v1::Problem& problem = seen->problem();
    const bool missing = problem.errno_value() == ENOENT;
    const Cause* const cause = CauseOf(problem.errno_value());
    Finding& finding = Add(member, PreflightCheck::kPath,
                           missing ? absl::StrCat(path, " does not exist") : problem.message(),
                           missing ? "mount it or create it on this client, or choose another --path"
                           : cause != nullptr ? AdviceOn(*cause, *seen)
                                              : "");
    finding.error = problem.errno_value();
    finding.alone = absl::InvalidArgumentError(absl::StrCat(member.facts.host(), ": ", problem.message()));
  }
}

void Judgement::AddUnmet(const Member& member) {
  if (member.number >= facts_.unmet.size()) return;
  for (const absl::Status& unmet : facts_.unmet[member.number]) {
    const std::string message(unmet.message()), host = member.facts.host() + ": ";
    Add(member, PreflightCheck::kNeeds, message.starts_with(host) ? message.substr(host.size()) : message, "")
        .alone = unmet;
  }
}

void Judgement::CheckLimitsOf(const Member& member) {
  if (member.number >= facts_.limits.size()) return;
  const v1::WorkerLimits& limits = facts_.limits[member.number];
  const WorkerNeeds& needs = needs_.of_worker[member.number];
  if (const uint64_t needed = needs.open_files + kOwnDescriptors;
      needs.open_files > 0 && limits.open_files() > 0 && limits.open_files() < needed) {
    Add(member, PreflightCheck::kLimits,
        absl::StrCat("a worker may have ", limits.open_files(), " files open, and its lanes need ", needed),
        "raise the limit with `ulimit -n` (LimitNOFILE= of systemd), or use fewer lanes or files per lane");
  }
  if (limits.file_bytes() > 0 && limits.file_bytes() < needs.file_bytes) {
    Add(member, PreflightCheck::kLimits,
        absl::StrCat("a file may have at most ", FormatBytes(static_cast<double>(limits.file_bytes())),
                     " there, and the plan writes files of ",
                     FormatBytes(static_cast<double>(needs.file_bytes))),
        "raise the limit with `ulimit -f` (LimitFSIZE= of systemd), or use a smaller -s");
  }
  if (limits.max_lanes() > 0 && limits.max_lanes() < needs.lanes) {
    Add(member, PreflightCheck::kLimits,
        absl::StrCat("the worker takes at most ", limits.max_lanes(), " lanes, and the plan has ",
                     needs.lanes, " per worker"),
        "use more workers, or start the worker with a larger --max-lanes");
  }
  if (limits.max_memory_bytes() > 0 && limits.max_memory_bytes() < needs.memory_bytes) {
    Add(member, PreflightCheck::kMemory,
        absl::StrCat("the lanes of a worker need at least ",
                     FormatBytes(static_cast<double>(needs.memory_bytes)), ", and this one takes at most ",
                     FormatBytes(static_cast<double>(limits.max_memory_bytes()))),
        "use fewer lanes (-t), a smaller -r or --depth, or start the worker with a larger --max-memory");
  }
  if (const uint64_t needed = needs.memory_bytes + needs.lanes * kMappedByLane;
      limits.address_space_left_bytes() > 0 && limits.address_space_left_bytes() < needed) {
    Add(member, PreflightCheck::kMemory,
        absl::StrCat("the lanes of a worker map at least ", FormatBytes(static_cast<double>(needed)),
                     ", and it may map only ",
                     FormatBytes(static_cast<double>(limits.address_space_left_bytes())), " more"),
        "raise the limit with `ulimit -v` (LimitAS= of systemd), or use fewer lanes (-t), a smaller -r or --depth");
  }
}

void Judgement::CheckClock(const Member& member) {
  if (member.number >= facts_.clock_error_ns.size()) return;
  const int64_t error_ns = facts_.clock_error_ns[member.number];
  if (error_ns <= kClockErrorNs) return;
  Add(member, PreflightCheck::kClock,
      absl::StrCat("its clock is known only to +-", FormatSeconds(static_cast<double>(error_ns) * 1e-9),
                   ", because messages there and back take long"),
      "expect marks clock_uncertain on short phases; use a faster network path to the coordinator",
      Severity::kWarning);
}

// The clients' clocks against that of the file system, and a server that let them wait for its grace period.
void Judgement::CheckFileClocks(int target) {
  if (static_cast<size_t>(target) >= facts_.storage.size()) return;
  std::vector<ClockSight> sights;
  for (const auto& [worker, sight] : facts_.storage[static_cast<size_t>(target)].clocks) {
    sights.push_back(sight);
    const double took_s = SecondsFrom(sight.end_wall_ns - sight.begin_wall_ns);
    if (took_s < kGraceS || worker >= facts_.members.size()) continue;
    Add(facts_.members[worker], PreflightCheck::kWrite,
        absl::StrCat("waited ", FormatSeconds(took_s), " for a new file at ", PathOf(target)),
        "if the server has just started, that was its grace period, in which it opens and locks nothing new; otherwise "
        "look for what it waits for",
        Severity::kWarning);
  }
  const FileClocks clocks = CompareClocks(sights, StepOfWholeSecondsNs(sights));
  if (clocks.worst_s() <= kFileClockS) return;
  std::string problem = Summary(clocks);
  if (!clocks.server_ahead_s) absl::StrAppend(&problem, ": ", absl::StrJoin(Lines(clocks), "; "));
  findings_.push_back({.severity = Severity::kWarning,
                       .check = PreflightCheck::kClock,
                       .client = "",
                       .workers = {},
                       .problem = absl::StrCat(problem, " (files at ", PathOf(target), ")"),
                       .advice = Advice(clocks),
                       .of_client = false,
                       .of_users = false,
                       .alone = absl::OkStatus()});
}

void Judgement::SetStorage(int target) {
  if (static_cast<size_t>(target) >= facts_.storage.size()) return;
  const StorageSights& sights = facts_.storage[static_cast<size_t>(target)];
  const std::vector<const Member*> users = UsersOf(target);
  std::vector<std::string> most;  // clients that see the usual one
  std::set<std::string> in_most;
  for (const Member* const member : users) {
    if (sights.SeesUsual(member->number) && in_most.insert(member->facts.host()).second)
      most.push_back(member->facts.host());
  }
  const std::string usual_clients = absl::StrCat(NamesOfClients(most), most.size() == 1 ? " sees" : " see");
  std::string who_sees_what;  // once for all who see something else: each might be one of thousands
  for (const Member* const user : users) {
    const Member& member = *user;
    if (const auto refused = sights.cannot_write.find(member.number); refused != sights.cannot_write.end()) {
      const int error = ErrnoOf(refused->second);
      const Cause* const cause = CauseOf(error);
      const v1::TargetFacts* const seen = SeenBy(member, target);
      Add(member, PreflightCheck::kWrite, std::string(refused->second.message()),
          cause != nullptr && seen != nullptr
              ? AdviceOn(*cause, *seen)
              : "make the directory writable for the workers' user on this client")
          .error = error;
    }
    const bool cannot_read = sights.cannot_read.contains(member.number);
    if (cannot_read || sights.cannot_write_others.contains(member.number)) {
      const std::string wrong = absl::StrCat("may not ", cannot_read ? "read" : "write",
                                             " what another worker has made at ", PathOf(target));
      const char* const advice =
          "let all workers run as the same user, and check how the server maps users";
      Finding& finding = Add(member, PreflightCheck::kStorage, wrong, advice);
      finding.of_users = true;
      finding.alone = absl::FailedPreconditionError(absl::StrCat(member.facts.host(), ": ", wrong, ": ", advice));
    }
    if (!sights.SeesOther(member.number)) continue;
    const v1::TargetFacts* const seen = SeenBy(member, target);
    const auto one_way = sights.one_way.find(member.number);
    const std::string within =
        sights.waited_s > 0 ? absl::StrCat(" within ", FormatSeconds(sights.waited_s)) : "";
    const std::string wrong =
        one_way == sights.one_way.end()
            ? absl::StrCat(
                  PathOf(target), " is other storage than ", usual_clients, " there",
                  within.empty() ? "" : absl::StrCat(": what was written there did not appear here", within))
        : one_way->second == StorageSights::OneWay::kUnseen
            ? absl::StrCat("others do not see what it writes at ", PathOf(target), within,
                           ", and it sees what they write")
            : absl::StrCat("it does not see what others write at ", PathOf(target), within,
                           ", and they see what it writes");
    const bool others_remain =
        !member.facts.server() &&
        std::any_of(facts_.members.begin(), facts_.members.end(), [&member](const Member& other) {
          return !other.facts.server() && other.client != member.client;
        });
    const std::string advice = absl::StrCat(one_way == sights.one_way.end()
                                                ? "mount the same file system there on all clients, "
                                                : "mount the shared file system itself there, without an overlay or a "
                                                  "cache that diverts writes or keeps an old view, ",
                                            others_remain ? "leave this client out (--skip-bad), " : "",
                                            "or add up different storage (--force)");
    const std::string here = seen == nullptr ? "" : absl::StrCat(" (here: ", SourceText(*seen), ")");
    if (who_sees_what.empty()) who_sees_what = WhoSeesWhat(target);
    Add(member, PreflightCheck::kStorage, absl::StrCat(wrong, here), advice,
        facts_.force ? Severity::kWarning : Severity::kFault)
        .alone = absl::FailedPreconditionError(
        absl::StrCat(member.facts.host(), ": ", wrong, " (", who_sees_what, "): ", advice));
  }
}

// "node1, node2: nfs4 server:/export; node3: its own ext4 (/dev/vda1)"
std::string Judgement::WhoSeesWhat(int target) const {
  std::vector<TargetSight> sights;
  for (const Member* const member : UsersOf(target)) {
    const v1::TargetFacts* const seen = SeenBy(*member, target);
    if (seen != nullptr) sights.push_back({member->facts.host(), *seen, PathOf(target)});
  }
  const std::string text = sights.empty() ? "" : SharingAmong(sights).who_sees_what;
  return text.empty() ? "under one name" : text;
}

void Judgement::CheckMountsOf(int target) {
  struct View {
    std::string type;
    std::vector<std::string> options;
    bool operator<(const View& other) const {
      return std::tie(type, options) < std::tie(other.type, other.options);
    }
  };
  std::map<View, std::vector<const Member*>> views;
  for (const Member* const member : UsersOf(target)) {
    const v1::TargetFacts* const seen = SeenBy(*member, target);
    if (member->lost || seen == nullptr || seen->problem().code() != 0) continue;
    const bool other_storage = static_cast<size_t>(target) < facts_.storage.size() &&
                               facts_.storage[static_cast<size_t>(target)].SeesOther(member->number);
    if (!other_storage) views[{seen->filesystem(), SharedOptions(seen->mount_options())}].push_back(member);
  }
  if (views.size() < 2) return;
  // The most common view; of equally common ones, that of the first worker.
  const auto usual = std::max_element(views.begin(), views.end(), [](const auto& a, const auto& b) {
    if (a.second.size() != b.second.size()) return a.second.size() < b.second.size();
    return a.second.front()->number > b.second.front()->number;
  });
  for (const auto& [view, members] : views) {
    if (&view == &usual->first) continue;
    const auto only_in = [](const View& in, const View& not_in) {
      std::vector<std::string> only;
      std::set_difference(in.options.begin(), in.options.end(), not_in.options.begin(), not_in.options.end(),
                          std::back_inserter(only));
      if (in.type != not_in.type) only.insert(only.begin(), in.type.empty() ? "unknown type" : in.type);
      return only.empty() ? std::string("nothing") : absl::StrJoin(only, ",");
    };
    for (const Member* const member : members) {
      Add(*member, PreflightCheck::kMount,
          absl::StrCat(PathOf(target), " is mounted with ", only_in(view, usual->first), ", where most have ",
                       only_in(usual->first, view)),
          "mount it with the same options on all clients, or compare clients with care", Severity::kWarning);
    }
  }
}

void Judgement::CheckFreeSpace() {
  for (const SpaceNeed& need : facts_.space) {
    const std::optional<Shortage> shortage = ShortageOf(need);
    if (!shortage.has_value() || need.workers.empty()) continue;
    const Member& first = facts_.members[*need.workers.begin()];
    std::set<uint32_t> clients;
    for (const uint32_t worker : need.workers) clients.insert(facts_.members[worker].client);
    Finding& finding =
        Add(first, PreflightCheck::kSpace, absl::StrCat("the lanes at ", need.path, shortage->problem),
            shortage->advice, facts_.force ? Severity::kWarning : Severity::kFault);
    finding.alone =
        absl::FailedPreconditionError(absl::StrCat(first.facts.host(), ": ", need.path, ": the lanes there",
                                                   shortage->problem, ": ", shortage->advice));
    finding.of_client = clients.size() == 1;
    if (!finding.of_client) finding.client.clear();
    finding.workers = need.workers;
  }
}

void Judgement::CheckMemoryNeeds() {
  std::set<MemoryShare> seen;
  for (const Member& member : facts_.members) {
    if (member.lost || member.number >= facts_.limits.size()) continue;
    const uint64_t free_bytes = facts_.limits[member.number].available_memory_bytes();
    const uint64_t all_bytes = member.facts.memory_bytes();
    if (free_bytes == 0 || !seen.insert(MemoryShareOf(member)).second) continue;
    const uint64_t needed = needs_.memory[MemoryShareOf(member)];
    const bool limited = member.facts.memory_group() != 0;
    if (free_bytes < needed) {
      Add(member, PreflightCheck::kMemory,
          absl::StrCat("the lanes of this client need at least ", FormatBytes(static_cast<double>(needed)),
                       ", and only ", FormatBytes(static_cast<double>(free_bytes)), " are free",
                       limited ? LimitText(member.facts) : ""),
          limited ? "raise memory.max of the control group, or use fewer lanes (-t) or workers, or a smaller -r or --depth"
                  : "use fewer lanes (-t) or workers, or a smaller -r or --depth");
    } else if (free_bytes < all_bytes / 100 * kLowMemoryPercent) {
      Add(member, PreflightCheck::kMemory,
          absl::StrCat("only ", FormatBytes(static_cast<double>(free_bytes)), " of ",
                       FormatBytes(static_cast<double>(all_bytes)), " of memory are free", limited ? LimitText(member.facts) : ""),
          "find out what uses the memory: little is left for the page cache", Severity::kWarning);
    }
  }
}

// Each lane is a thread. What limits them may be shared by all workers of a client, or by those of a container.
void Judgement::CheckThreadLimits() {
  struct Sharers {
    uint64_t needed = 0;
    std::vector<const Member*> members;
  };
  std::map<std::pair<uint32_t, std::string>, Sharers> sharers;
  for (const Member& member : facts_.members) {
    if (member.lost || member.number >= facts_.limits.size()) continue;
    const v1::WorkerLimits& limits = facts_.limits[member.number];
    if (limits.threads_left() == 0) continue;
    Sharers& all = sharers[{member.client, limits.threads_shared_by()}];
    all.needed += needs_.of_worker[member.number].lanes;
    all.members.push_back(&member);
  }
  for (const auto& [client, all] : sharers) {
    const v1::WorkerLimits* closest = &facts_.limits[all.members.front()->number];
    for (const Member* const member : all.members) {
      const v1::WorkerLimits& limits = facts_.limits[member->number];
      if (limits.threads_left() < closest->threads_left()) closest = &limits;
    }
    if (all.needed <= closest->threads_left()) continue;
    const size_t workers = all.members.size();
    for (const Member* const member : all.members) {
      Add(*member, PreflightCheck::kLimits,
          absl::StrCat("the lanes of ", workers == 1 ? "a worker" : absl::StrCat(workers, " workers"), " need ",
                       all.needed, " threads, and only ", closest->threads_left(), " more may be started there (",
                       closest->threads_limit(), ")"),
          "use fewer lanes (-t) or workers, or raise the limit");
    }
  }
}

void Judgement::Sort() {
  const auto order = [](const Finding& finding) {
    const uint32_t worker = finding.workers.empty() ? 0 : *finding.workers.begin();
    return std::tuple(finding.severity, !finding.workers.empty(), worker, finding.check);
  };
  std::stable_sort(findings_.begin(), findings_.end(),
                   [&order](const Finding& a, const Finding& b) { return order(a) < order(b); });
}

}  // namespace

const char* NameOf(PreflightCheck check) {
  switch (check) {
    case PreflightCheck::kJoin:
      return "join";
    case PreflightCheck::kPath:
      return "path";
    case PreflightCheck::kNeeds:
      return "needs";
    case PreflightCheck::kStorage:
      return "storage";
    case PreflightCheck::kWrite:
      return "write";
    case PreflightCheck::kSpace:
      return "space";
    case PreflightCheck::kLimits:
      return "limits";
    case PreflightCheck::kMemory:
      return "memory";
    case PreflightCheck::kClock:
      return "clock";
    case PreflightCheck::kMount:
      return "mount";
    case PreflightCheck::kData:
      return "data";
  }
  return "";
}

std::vector<Finding> Judge(const PreflightFacts& facts) {
  return Judgement(facts).Take();
}

size_t FaultCount(const PreflightReport& report) {
  return static_cast<size_t>(
      std::count_if(report.findings.begin(), report.findings.end(),
                    [](const Finding& finding) { return finding.severity == Severity::kFault; }));
}

std::set<uint32_t> JoinedThere(const JoinFault& fault, std::span<const Member> members) {
  std::set<uint32_t> workers, of_host, of_others;
  for (const Member& member : members) {
    if (member.facts.server()) continue;
    if (fault.positions.contains(member.facts.client_list_position())) workers.insert(member.number);
    if (fault.boot_id.empty() || member.facts.boot_id() != fault.boot_id) continue;
    (member.facts.host() == fault.client ? of_host : of_others).insert(member.number);
  }
  // Hosts with one boot id are containers of one client, which have all of its faults, or cloned machines.
  workers.merge(of_host.empty() ? of_others : of_host);
  return workers;
}

std::optional<Shortage> ShortageOf(const SpaceNeed& need) {
  const char* const kAnyway = " or fewer lanes, or --force to try anyway";
  if (need.HasTooFewBytes()) {
    return Shortage{absl::StrCat(" need ", FormatBytes(static_cast<double>(need.bytes)), OfItForFilling(need),
                                 ", but only ", FormatBytes(static_cast<double>(*need.free_bytes)),
                                 " are free"),
                    absl::StrCat("use ", need.smaller, kAnyway)};
  }
  if (!need.HasTooFewItems()) return std::nullopt;
  return Shortage{absl::StrCat(" need at least ", FormatCount(static_cast<double>(need.items)),
                               " inodes, but only ", FormatCount(static_cast<double>(*need.free_items)),
                               " are free"),
                  absl::StrCat("use smaller --items or --files-per-lane", kAnyway)};
}

std::string OfItForFilling(const SpaceNeed& need) {
  if (need.fill_bytes == 0) return "";
  return absl::StrCat(", ", FormatBytes(static_cast<double>(need.fill_bytes)), " of it for --fill");
}

std::vector<FillEstimate> FillEstimates(const v1::Plan& plan, std::span<const SpaceNeed> space) {
  std::vector<FillEstimate> fills;
  const uint32_t percent = FillPercent(plan);
  if (percent == 0) return fills;
  for (const SpaceNeed& need : space) {
    fills.push_back({.path = need.path, .percent = percent, .bytes = need.fill_bytes, .space = need.space});
  }
  return fills;
}

}  // namespace iobench
