// How the data keeper fills file systems before a phase (--fill).
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "common/roster/filesystem.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/cluster/interrupt.h"
#include "coordinator/conduct/data/data_keeper.h"

namespace iobench {
namespace {

// The next round writes what a round has not, because workers were lost, or the file system took less than statfs had
// said.
constexpr int kMaxRounds = 4;
// Less than this share of the file system is worth neither another round nor a message.
constexpr double kNearPercent = 0.5;

// How long an interrupted run waits for the flush in flight. mpirun kills the ranks one second after its SIGTERM.
constexpr int64_t kFlushEndsWithinNs = 5 * kNanosPerSecond;

// The file system is a little fuller than statfs says, because of the blocks that describe the files.
bool IsNear(const v1::Space& space, uint32_t percent) {
  return UsedPercent(space) > percent - kNearPercent;
}

absl::Status WithFillAdvice(const absl::Status& problem, uint32_t percent) {
  if (!absl::IsResourceExhausted(problem)) return problem;
  absl::Status told(
      problem.code(),
      absl::StrCat(problem.message(), ": --fill ", percent,
                   " needs more room than this user gets there: use a smaller percentage, or raise "
                   "the quota"));
  problem.ForEachPayload(
      [&told](absl::string_view type, const absl::Cord& payload) { told.SetPayload(type, payload); });
  return told;
}

}  // namespace

// By file system: one place where it is used, and the workers that use it with the target that each of them uses.
struct DataKeeper::FillPlace {
  uint32_t looker = 0;
  uint32_t looked_target = 0;
  std::map<uint32_t, uint32_t> writers;  // worker -> target
  v1::Space space;
  bool known = false;
};

std::map<FilesystemId, DataKeeper::FillPlace> DataKeeper::FillPlaces() const {
  std::map<FilesystemId, FillPlace> places;
  for (const Member& member : cluster_.members()) {
    if (member.lost) continue;
    for (const uint32_t target : layout_.TargetsOf(member.number)) {
      const auto [place, is_new] = places.try_emplace(FilesystemOf(*SeenOf(facts_[member.number], target)));
      if (is_new) place->second.looker = member.number;
      if (is_new) place->second.looked_target = target;
      place->second.writers.emplace(member.number, target);
    }
  }
  return places;
}

absl::Status DataKeeper::ReadSpace(std::map<FilesystemId, FillPlace>& places) {
  std::map<uint32_t, std::vector<FillPlace*>> of_worker;
  for (auto& [id, place] : places) {
    place.known = false;
    of_worker[place.looker].push_back(&place);
  }
  return cluster_.CallAndCheck(
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        const auto mine = of_worker.find(member.number);
        if (mine == of_worker.end()) return std::nullopt;
        v1::WorkerRequest request;
        for (const FillPlace* const place : mine->second) {
          *request.mutable_inspect()->add_targets() = plan_.targets(static_cast<int>(place->looked_target));
        }
        return request;
      },
      [&](const Member& member, const ReceivedEvent& received) {
        const auto& seen = received.event.inspected().targets();
        const std::vector<FillPlace*>& mine = of_worker[member.number];
        for (int i = 0; i < std::min(seen.size(), static_cast<int>(mine.size())); ++i) {
          FillPlace& place = *mine[static_cast<size_t>(i)];
          place.space = seen.Get(i).space();
          place.known = place.space.total_bytes() > 0;
        }
      },
      {.quick_work = "look at the space of its paths", .stall_after_ns = 0, .work = "look at its space"});
}

v1::FillSpace DataKeeper::FillRequest(const Member& member, uint32_t percent) const {
  v1::FillSpace fill;
  fill.set_percent(percent);
  fill.set_first_lane(member.number * layout_.lanes_per_worker());
  fill.set_lane_count(layout_.lanes_per_worker());
  fill.set_run_lane_count(layout_.lane_count());
  fill.set_seed(plan_.seed());
  return fill;
}

std::map<uint32_t, v1::FillSpace> DataKeeper::FillRequests(
    uint32_t percent, const std::map<FilesystemId, FillPlace>& places) const {
  std::map<uint32_t, v1::FillSpace> requests;
  std::set<std::pair<uint32_t, uint32_t>> named;  // worker, target
  const auto add = [&](uint32_t worker, uint32_t target, uint64_t part) {
    if (!named.emplace(worker, target).second) return;
    const Member& member = cluster_.members()[worker];
    v1::FillSpace& request = requests.try_emplace(worker, FillRequest(member, percent)).first->second;
    *request.add_targets() = plan_.targets(static_cast<int>(target));
    *request.add_claims() = ClaimFor(member, target);
    request.add_bytes(part);
  };
  for (const auto& [id, place] : places) {
    const uint64_t bytes = place.known ? BytesToFill(place.space, percent) : 0;
    if (bytes == 0) continue;
    for (const auto& [worker, target] : place.writers) add(worker, target, bytes / place.writers.size() + 1);
  }
  // An abandoned worker leaves the data that its newest request names, and must not forget any.
  for (const Member& member : cluster_.members()) {
    if (!requests.contains(member.number)) continue;
    for (const uint32_t target : layout_.TargetsOf(member.number)) add(member.number, target, 0);
  }
  return requests;
}

absl::Status DataKeeper::FillOnce(uint32_t percent, const std::map<FilesystemId, FillPlace>& places,
                                  std::map<uint32_t, v1::StepResult>& done) {
  const std::map<uint32_t, v1::FillSpace> requests = FillRequests(percent, places);
  absl::Status first_problem;
  const auto make = [&](const Member& member) -> std::optional<v1::WorkerRequest> {
    const auto mine = requests.find(member.number);
    if (mine == requests.end()) return std::nullopt;
    v1::WorkerRequest request;
    *request.mutable_fill_space() = mine->second;
    return request;
  };
  const auto disarm = [&](const Member& member) -> std::optional<v1::WorkerRequest> {
    if (!requests.contains(member.number)) return std::nullopt;
    v1::WorkerRequest request;
    request.mutable_adjust()->set_disarm(true);
    return request;
  };
  absl::Status status =
      cluster_.Call(make,
                    [&](const Member& member, const ReceivedEvent& received) {
                      const absl::Status problem = ProblemOf(member, received);
                      if (!problem.ok() && first_problem.ok())
                        cluster_.Tell(disarm);  // the rest is not needed
                      first_problem.Update(problem);
                      v1::StepResult& step = done[member.number];
                      step.set_seconds(step.seconds() + received.event.space_filled().seconds());
                      for (const uint64_t bytes : received.event.space_filled().bytes())
                        step.set_bytes(step.bytes() + bytes);
                    },
                    {.stall_after_ns = 0, .work = "fill the file system"});
  status.Update(WithFillAdvice(first_problem, percent));
  if (status.ok()) return status;
  // In any case, workers return to a state in which they can remove the data.
  cluster_
      .Call(disarm, [](const Member&, const ReceivedEvent&) {},
            {.deadline = cluster_.Now() +
                         (cluster_.transport_name() == "mpi" ? kInterruptGraceNs : kFlushEndsWithinNs),
             .interruptible = false,
             .drop_late = "it was still filling the file system when the run ended"})
      .IgnoreError();
  return status;
}

absl::Status DataKeeper::Fill(uint32_t percent, const std::function<void(uint64_t bytes)>& on_begin,
                              StepsOfWorkers& steps) {
  if (!claimed_) return absl::OkStatus();
  std::map<uint32_t, v1::StepResult> done;
  std::map<FilesystemId, FillPlace> places;
  std::map<FilesystemId, double> percent_before;
  for (int round = 0;; ++round) {
    places = FillPlaces();
    IOBENCH_RETURN_IF_ERROR(ReadSpace(places));
    uint64_t missing = 0;
    for (const auto& [id, place] : places) {
      percent_before.try_emplace(id, place.known ? UsedPercent(place.space) : std::nan(""));
      const bool filled = (round > 0 || filled_percent_ >= percent) && IsNear(place.space, percent);
      if (place.known && !filled) missing += BytesToFill(place.space, percent);
    }
    filled_percent_ = std::max(filled_percent_, percent);
    if (missing == 0 || round == kMaxRounds) break;
    if (round == 0) on_begin(missing);
    IOBENCH_RETURN_IF_ERROR(FillOnce(percent, places, done));
  }
  for (const auto& [id, place] : places) {
    const double before = percent_before[id];
    for (const auto& [worker, target] : place.writers) {
      const bool wrote = done.contains(worker) && before < percent;
      if (!wrote && worker != place.looker) continue;  // the looker reports it
      v1::StepResult step = wrote ? done[worker] : v1::StepResult();
      done.erase(worker);
      step.set_name("fill");
      step.set_outcome(FillOutcome(place, before, percent));
      steps[worker].push_back(std::move(step));
    }
  }
  return absl::OkStatus();
}

std::string DataKeeper::FillOutcome(const FillPlace& place, double percent_before, uint32_t percent) {
  if (!place.known) return "the size of the file system is unknown: nothing was written";
  if (percent_before >= percent) {
    return absl::StrFormat("%.0f %% were in use already: nothing was written", percent_before);
  }
  const std::string whole = FormatBytes(static_cast<double>(place.space.total_bytes()));
  if (IsNear(place.space, percent)) return absl::StrCat(percent, " % of ", whole, " in use");
  return absl::StrFormat("only %.1f %% of %s in use instead of %d %%", UsedPercent(place.space), whole,
                         percent);
}

}  // namespace iobench
