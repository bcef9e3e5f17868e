#include "coordinator/analysis/marks/marks.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/model/data_content.h"
#include "common/model/plan_traits.h"
#include "common/text/mark_codes.h"
#include "common/text/units.h"
#include "coordinator/analysis/marks/advice.h"
#include "coordinator/analysis/marks/cold_report.h"
#include "coordinator/analysis/marks/mark_table.h"
#include "coordinator/analysis/marks/shared_target.h"
#include "coordinator/analysis/marks/verify_summary.h"
#include "coordinator/analysis/marks/whole.h"
#include "coordinator/analysis/phase/phase_writes.h"

namespace iobench {
namespace {

constexpr double kSkewPercent = 1.0;
constexpr double kShortestSeconds = 0.95;  // --time 1 measures a little less than 1 s: until the last op that ends within it
constexpr double kServerCachedPercent = 5.0;
constexpr double kFewestOpsPerLane = 100.0;

// Writes that loop without a flush stay in memory, however long they take.
bool StaysInMemoryWithTime(const PhaseTraits& traits) {
  return traits.buffered_writes && !traits.unmounted && !traits.flush_in_region;
}

void AddStartMarks(const PhaseView& view, const v1::PhaseReport& report, std::vector<v1::Mark>& marks) {
  const v1::StartReport& start = report.start();
  if (view.phase.start_late()) {
    marks.push_back(MakeMark(
        mark_code::kStartLate, "phase", start.attempts(), 0,
        absl::StrCat(
            "a worker confirmed the start too late even at attempt ", start.attempts(),
            ", so lanes may have started after the common start time")));
  }
  // A repeated write creates its files again, and dropping the caches is repeated with the start.
  if (view.phase.begun_before() && (view.traits.reads || view.traits.needs_items) &&
      !view.traits.null_engine && !view.traits.unmounted && !view.traits.drops_caches) {
    marks.push_back(MakeMark(
        mark_code::kBegunBefore, "phase", start.attempts(), 0,
        "a start was cancelled after lanes had begun, so part of the data (or names) may already have been "
        "read",
        AdviceFor("use {--drop-caches|fewer workers per processor}", view.phase.phase())));
  }
  if (start.skew_percent() > kSkewPercent) {
    // With a single clock the estimate is exact.
    const std::string bounds = start.skew_low_us() == start.skew_high_us()
                                   ? std::string()
                                   : absl::StrCat(" (between ", FormatSeconds(start.skew_low_us() * 1e-6),
                                                  " and ", FormatSeconds(start.skew_high_us() * 1e-6), ")");
    marks.push_back(
        MakeMark(mark_code::kSkewedStart, "phase", start.skew_percent(), kSkewPercent,
                 absl::StrFormat("lanes began %s apart%s, %.1f %% of the phase", FormatSeconds(start.skew_us() * 1e-6),
                                 bounds, start.skew_percent()),
                 absl::StrFormat("use %s, or no more lanes than processors",
                                 StaysInMemoryWithTime(view.traits) ? "a larger -s"
                                 : !view.traits.metadata            ? "a larger -s or --time"
                                 : view.traits.metadata_repeats     ? "more --items or --time"
                                                                    : "more --items")));
  }
}

const char* LongerBy(const PhaseTraits& traits) {
  if (StaysInMemoryWithTime(traits)) return "a larger -s, or --time 30 with -e";
  if (!traits.metadata) return "a larger -s, or --time 30";
  return traits.metadata_repeats ? "more --items, or --time 30" : "more --items";
}

std::string HowToLast(const PhaseTraits& traits) {
  return absl::StrCat("use ", LongerBy(traits));
}

// Checks the basis of the headline: its window, and the ops in the lanes' timed regions.
void AddTooShort(const PhaseView& view, std::vector<v1::Mark>& marks) {
  const double seconds = view.figures.headline_seconds;
  if (view.figures.first_to_end == nullptr) return;  // no lane did anything, so nothing is too short
  const double warmup_s = view.traits.warmup_s;
  if (warmup_s > 0 && seconds < kShortestSeconds) {
    const std::string measured =
        seconds > 0 ? absl::StrCat("measured for only ", FormatSeconds(seconds), " after a warm-up of ",
                                   FormatSeconds(warmup_s))
                    : absl::StrCat("the warm-up of ", FormatSeconds(warmup_s), " took the whole phase");
    marks.push_back(MakeMark(mark_code::kTooShort, "phase", seconds, kShortestSeconds, measured,
                             absl::StrCat("use a shorter --warmup, or ", LongerBy(view.traits))));
    return;
  }
  if (seconds < kShortestSeconds) {
    marks.push_back(
        MakeMark(mark_code::kTooShort, "phase", seconds, kShortestSeconds,
                 absl::StrCat("measured for only ", FormatSeconds(seconds)), HowToLast(view.traits)));
    return;
  }
  double ops = 0;
  for (const AlignedLane& lane : view.aligned.lanes) ops += static_cast<double>(lane.result->region_ops());
  const double ops_per_lane = ops / static_cast<double>(view.aligned.lanes.size());
  if (ops_per_lane < kFewestOpsPerLane) {
    marks.push_back(MakeMark(
        mark_code::kTooShort, "phase", ops_per_lane, kFewestOpsPerLane,
        absl::StrFormat("only %.0f ops per lane", ops_per_lane),
        view.traits.metadata ? HowToLast(view.traits) : "use a larger -s or a smaller -r"));
  }
}

v1::Mark Unflushed(const PhaseView& view) {
  const PhaseTraits& traits = view.traits;
  const auto mark = [&view](const char* what, const char* advice) {
    return MakeMark(mark_code::kUnflushed, "phase", 0, 0, what, AdviceFor(advice, view.phase.phase()));
  };
  if (traits.unmounted) return mark("bytes may still be in the server's memory, not on its disks", "add {-e|-o}");
  if (traits.headline_closes) {
    return mark("bytes may still be in client memory: close() does not wait for a local disk, nor under an NFSv4 write "
                "delegation",
                "add {-e|-I}");
  }
  return mark("bytes may still be in client memory, not on the server", "add {-e|-I}");
}

void AddMemoryFs(const PhaseView& view, std::vector<v1::Mark>& marks) {
  std::set<std::string> places;
  std::set<size_t> clients;
  for (const AlignedLane& lane : view.aligned.lanes) {
    uint32_t target_index = 0;
    const v1::TargetFacts* target = view.TargetOf(lane, &target_index);
    if (target == nullptr || !target->memory()) continue;
    places.insert(absl::StrCat(view.run.plan().targets(static_cast<int>(target_index)).path(), " (",
                               target->filesystem(), ")"));
    clients.insert(view.roster.ClientOf(lane.worker));
  }
  if (places.empty() || view.traits.null_engine) return;
  marks.push_back(
      MakeMark(mark_code::kMemoryFs, "phase", static_cast<double>(clients.size()), 0,
               absl::StrCat(absl::StrJoin(places, ", "),
                            " is the client's memory, not storage")));
}

void AddRepeatedData(const PhaseView& view, std::vector<v1::Mark>& marks) {
  if (view.run.plan().data().kind() != v1::DataContent::SAME || !view.traits.writes || view.traits.null_engine) return;
  marks.push_back(MakeMark(mark_code::kRepeatedData, "phase", static_cast<double>(view.aligned.lanes.size()), 0,
                           "each lane writes one buffer again and again: storage that deduplicates or compresses may "
                           "store little of it, and the client makes no data"));
}

// Clients of one target that see different file systems there: their sum combines different storage.
void AddNotShared(const PhaseView& view, std::vector<v1::Mark>& marks) {
  if (view.traits.null_engine) return;
  std::map<uint32_t, std::map<uint32_t, const v1::TargetFacts*>> seen_by_worker;  // by target
  for (const AlignedLane& lane : view.aligned.lanes) {
    uint32_t target_index = 0;
    const v1::TargetFacts* const target = view.TargetOf(lane, &target_index);
    if (target != nullptr) seen_by_worker[target_index].emplace(lane.worker, target);
  }
  size_t filesystem_count = 0;
  std::vector<std::string> differ;
  for (const auto& [target_index, seen] : seen_by_worker) {
    const std::string& path = view.run.plan().targets(static_cast<int>(target_index)).path();
    std::vector<TargetSight> sights;
    for (const auto& [worker, facts] : seen) {
      sights.push_back({view.roster.NameOf(view.roster.ClientOf(worker)), *facts, path});
    }
    const TargetSharing sharing = SharingAmong(sights);
    if (sharing.sharing != Sharing::kDifferent) continue;
    filesystem_count += sharing.filesystem_count;
    differ.push_back(absl::StrCat(path, " (", sharing.who_sees_what, ")"));
  }
  if (differ.empty()) return;
  marks.push_back(
      MakeMark(mark_code::kNotShared, "phase", static_cast<double>(filesystem_count), 1,
               absl::StrCat("the clients do not see the same file system at ", absl::StrJoin(differ, ", "),
                            ", so the total adds up different storage")));
}

// Results that cannot be right, of which nothing counts.
void AddRefusedResult(const PhaseView& view, std::vector<v1::Mark>& marks) {
  std::vector<std::string> reasons;
  for (const AlignedWorker& worker : view.aligned.workers) {
    const std::string& reason = worker.result->refused_reason();
    if (reason.empty()) continue;
    reasons.push_back(absl::StrCat("worker ", worker.number, " on ",
                                   view.roster.NameOf(view.roster.ClientOf(worker.number)), ": ", reason));
  }
  if (reasons.empty()) return;
  marks.push_back(MakeMark(
      mark_code::kRefusedResult, "phase", static_cast<double>(reasons.size()), 0,
      absl::StrCat(
          reasons.front(), reasons.size() > 1 ? absl::StrCat(" (and ", reasons.size() - 1, " more)") : "",
          ": this is impossible, so the whole result is refused")));
}

void AddPartial(const PhaseView& view, const v1::PhaseReport& report, std::vector<v1::Mark>& marks) {
  const Missing missing = MissingFrom(view, report);
  if (missing.count == 0) return;
  marks.push_back(MakeMark(mark_code::kPartial, "phase", static_cast<double>(missing.count), 0,
                           absl::StrCat(missing.text,
                                        view.aligned.lanes.empty() ? ": no figures" : ": totals exclude them")));
}

// Returns the options of the first NFS mount that gives up, such as "soft,timeo=10,retrans=2".
std::string SoftMountOf(const v1::RunRecord& run) {
  for (const v1::WorkerTargets& targets : run.targets()) {
    for (const v1::TargetFacts& target : targets.targets()) {
      std::vector<absl::string_view> said;
      bool gives_up = false;
      for (const absl::string_view option : absl::StrSplit(target.mount_options(), ',')) {
        const bool soft = option == "soft" || option == "softerr";
        gives_up |= soft;
        if (soft || absl::StartsWith(option, "timeo=") || absl::StartsWith(option, "retrans="))
          said.push_back(option);
      }
      if (IsNfs(target) && gives_up) return absl::StrJoin(said, ",");
    }
  }
  return "";
}

// The failures of a mount that gives up look like those of a disk.
std::string GivenUpText(const v1::RunRecord& run, const v1::PhaseReport& report) {
  const bool any = std::any_of(report.failed_ops().begin(), report.failed_ops().end(), [](const v1::FailedOps& failed) {
    return failed.errno_value() == EIO || failed.errno_value() == ETIMEDOUT;
  });
  const std::string options = any ? SoftMountOf(run) : "";
  if (options.empty()) return "";
  return absl::StrCat("; a mount with ", options,
                      " returns this when the server does not answer in time: mount it with hard, and ops wait");
}

// Lanes went on after failed ops (--max-errors): their figures lack what failed.
void AddFailedOps(const PhaseView& view, const v1::PhaseReport& report, std::vector<v1::Mark>& marks) {
  if (report.failed_ops().empty()) return;
  uint64_t count = 0;
  std::vector<std::string> kinds;
  for (const v1::FailedOps& failed : report.failed_ops()) {
    count += failed.count();
    kinds.push_back(absl::StrCat(failed.count(), " ", failed.operation(), " ", failed.error(), " in ",
                                 Counted(failed.lanes(), "lane")));
  }
  marks.push_back(MakeMark(mark_code::kFailedOps, "phase", static_cast<double>(count), 0,
                           absl::StrCat(absl::StrJoin(kinds, ", "), ": no figure contains failed ops",
                                        GivenUpText(view.run, report))));
}

// The figure is then one of the servers' memory and the network.
void AddServerCached(const v1::PhaseReport& report, std::vector<v1::Mark>& marks) {
  const v1::ReadSources& sources = report.read_sources();
  if (!sources.has_server_memory_bytes()) return;
  const double percent =
      100 * static_cast<double>(sources.server_memory_bytes()) / static_cast<double>(sources.server_bytes());
  if (!(percent > kServerCachedPercent)) return;
  marks.push_back(MakeMark(
      mark_code::kServerCached, "phase", percent, kServerCachedPercent,
      absl::StrFormat("at least %.0f %% of what the servers returned came from their memory and not from their disks",
                      percent)));
}

// Without any match it is unknown whether the search criteria were right.
void AddNothingFound(const PhaseView& view, const v1::PhaseReport& report, std::vector<v1::Mark>& marks) {
  if (!view.traits.finds || report.found_items() > 0 || report.ops() == 0) return;
  marks.push_back(
      MakeMark(mark_code::kNothingFound, "phase", 0, 0,
               absl::StrCat("find matched none of ", FormatCount(static_cast<double>(report.ops())),
                            " items, which makes the result invalid for the IO500")));
}

// A colon introduces the advice, or a semicolon, if one already introduces what is wrong (in parentheses does not count).
std::string WithAdvice(std::string_view what, std::string_view advice) {
  std::string text(what);
  if (advice.empty()) return text;
  int depth = 0;
  bool has_colon = false;
  for (size_t i = 0; i < what.size(); ++i) {
    depth += what[i] == '(' ? 1 : what[i] == ')' ? -1 : 0;
    has_colon |= depth == 0 && what.substr(i).starts_with(": ");
  }
  absl::StrAppend(&text, has_colon ? "; " : ": ", std::string(advice));
  return text;
}

}  // namespace

bool HasMark(const v1::PhaseReport& report, std::string_view code) {
  return std::any_of(report.marks().begin(), report.marks().end(),
                     [code](const v1::Mark& mark) { return mark.code() == code; });
}

bool HasFailed(const v1::PhaseReport& report) {
  return report.lanes_failed() > 0 || report.failed_ops_size() > 0 || FoundBadData(report.verify()) ||
         HasMark(report, mark_code::kRefusedResult);
}

v1::Mark MakeMark(std::string_view code, std::string_view subject, double value, double threshold,
                  std::string_view what, std::string_view advice) {
  const MarkRow& row = RowOf(code);
  assert(row.code == code && (row.advice.empty() || advice.empty()));
  v1::Mark mark;
  mark.set_code(std::string(code));
  mark.set_subject(std::string(subject));
  mark.set_value(value);
  mark.set_threshold(threshold);
  mark.set_text(WithAdvice(what, row.advice.empty() ? advice : row.advice));
  return mark;
}

std::vector<v1::Mark> PhaseMarks(const PhaseView& view, const v1::PhaseReport& report) {
  std::vector<v1::Mark> marks;
  AddRefusedResult(view, marks);
  AddPartial(view, report, marks);
  AddFailedOps(view, report, marks);
  if (std::optional<v1::Mark> stopped = CoordinatorStopped(view)) marks.push_back(*std::move(stopped));
  if (view.aligned.lanes.empty()) return marks;  // there is no figure to doubt
  for (v1::Mark& mark : FaultMarks(view, report)) marks.push_back(std::move(mark));
  if (view.traits.buffered_writes && !view.writes->flushed) {
    marks.push_back(Unflushed(view));
  }
  AddServerCached(report, marks);
  AddRepeatedData(view, marks);
  AddNotShared(view, marks);
  AddMemoryFs(view, marks);
  AddStartMarks(view, report, marks);
  AddTooShort(view, marks);
  if (std::optional<v1::Mark> changed = RateMark(report)) marks.push_back(*std::move(changed));
  AddNothingFound(view, report, marks);
  if (std::optional<v1::Mark> data_time = DataTimeMark(report)) marks.push_back(*std::move(data_time));
  if (std::optional<v1::Mark> pace = PaceMark(view)) marks.push_back(*std::move(pace));
  for (v1::Mark& bound : GeneratorMarks(report)) marks.push_back(std::move(bound));
  if (std::optional<v1::Mark> shared = TransportMark(view)) marks.push_back(*std::move(shared));
  if (std::optional<v1::Mark> differ = OptionsDiffer(view.run, view.roster))
    marks.push_back(*std::move(differ));
  return marks;
}

void FillMarks(const PhaseView& view, v1::PhaseReport& report) {
  for (v1::Mark& mark : PhaseMarks(view, report)) *report.add_marks() = std::move(mark);
  if (view.aligned.lanes.empty()) return;
  const std::vector<ClientPart> parts = ClientPartsOf(view);
  for (v1::ClientPhaseReport& client : *report.mutable_clients()) {
    const size_t index = view.roster.ClientOf(client.workers(0).worker());
    for (v1::Mark& mark : ClientMarks(view, client, parts[index])) {
      *report.add_marks() = mark;
      *client.add_marks() = std::move(mark);
    }
  }
  FillCold(view, report);
}

}  // namespace iobench
