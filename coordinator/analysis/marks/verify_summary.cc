#include "coordinator/analysis/marks/verify_summary.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "common/model/plan_traits.h"
#include "common/text/mark_codes.h"
#include "common/text/units.h"
#include "coordinator/analysis/marks/marks.h"
#include "coordinator/analysis/phase/latency.h"

namespace iobench {
namespace {

constexpr int kMaxMismatches = 10;
constexpr double kDataTimePercent =
    10.0;  // generating incompressible data takes as long as a write to memory
constexpr double kPacePercent = 99.0;

// Returns "wrong-offset" etc., as in VerifyResult.counts.
std::string NameOf(v1::Mismatch::What what) {
  return absl::StrReplaceAll(absl::AsciiStrToLower(v1::Mismatch::What_Name(what)), {{"_", "-"}});
}

void AddMismatch(const PhaseView& view, uint32_t worker, const v1::LaneResult& lane,
                 const v1::Mismatch& mismatch, v1::PhaseReport& report) {
  *report.mutable_verify()->add_first() = mismatch;
  if (mismatch.what() == v1::Mismatch::MISSING) return;  // it is the lane's problem, which has its error
  v1::ErrorReport& error = *report.add_errors();
  error.set_client(view.roster.NameOf(view.roster.ClientOf(worker)));
  error.set_worker(static_cast<int32_t>(worker));
  error.set_lane(static_cast<int32_t>(lane.lane()));
  error.set_operation(lane.operation());
  error.set_file(mismatch.file());
  error.set_offset(mismatch.offset());
  error.set_message(absl::StrCat(NameOf(mismatch.what()), " data in ", mismatch.file(), " at offset ",
                                 mismatch.offset(), ": expected ", mismatch.expected(), ", found ",
                                 mismatch.found()));
}

// `subject`: the phase, or the part of a mix that these ops belong to.
std::optional<v1::Mark> GeneratorMarkOf(const std::string& subject, const v1::OpenLoopReport& open_loop) {
  constexpr double kDonePercent = 99, kLagPercent = 25;
  if (open_loop.done_percent() < kDonePercent) {
    return MakeMark(
        mark_code::kGeneratorBound, subject, open_loop.done_percent(), kDonePercent,
        absl::StrFormat("only %.1f %% of the ops that were due were done, because storage, lanes or clients could not keep up",
                        open_loop.done_percent()),
        "use a lower --rate, or more lanes, --depth or clients");
  }
  const double lag_percent = 100 * open_loop.lag_us().p99() / open_loop.response_us().p99();
  if (!(lag_percent > kLagPercent)) return std::nullopt;
  return MakeMark(
      mark_code::kGeneratorBound, subject, lag_percent, kLagPercent,
      absl::StrFormat("1 %% of the ops began at least %s late, %.0f %% of the response times' p99, because all "
                      "lanes, or the client's processors, were busy: response times include this wait",
                      FormatSeconds(open_loop.lag_us().p99() * 1e-6), lag_percent),
      "use more lanes, --depth or clients, or a lower --rate");
}

}  // namespace

void FillVerify(const PhaseView& view, v1::PhaseReport& report) {
  // Includes failed lanes, because what they had checked is valid.
  for (const AlignedWorker& worker : view.aligned.workers) {
    for (const v1::LaneResult& lane : worker.result->lanes()) {
      if (!lane.has_verify()) continue;
      v1::VerifyResult& all = *report.mutable_verify();
      all.set_sectors(all.sectors() + lane.verify().sectors());
      all.set_mismatched(all.mismatched() + lane.verify().mismatched());
      all.set_undetermined(all.undetermined() + lane.verify().undetermined());
      all.set_missing_bytes(all.missing_bytes() + lane.verify().missing_bytes());
      for (const auto& [name, count] : lane.verify().counts()) (*all.mutable_counts())[name] += count;
      for (const v1::Mismatch& mismatch : lane.verify().first()) {
        if (all.first_size() == kMaxMismatches) break;
        AddMismatch(view, worker.number, lane, mismatch, report);
      }
    }
  }
}

std::optional<Pace> PaceOf(const PhaseView& view, const AlignedLane& lane) {
  const v1::Assignment* const assignment = view.assignments.Of(lane.worker);
  if (assignment == nullptr || assignment->operation().between().ops_per_s() <= 0 || !lane.started) {
    return std::nullopt;
  }
  Pace pace{.asked_ops_per_s = assignment->operation().between().ops_per_s()};
  const v1::LaneResult& result = *lane.result;
  const auto ops = static_cast<double>(result.region_ops());
  if (ops >= 2) {
    // n ops have n - 1 intervals between their starts. Waiting after the last one is not part of the pace.
    const int64_t end_ns =
        result.last_op_worker_ns() != 0 ? result.last_op_worker_ns() : result.ops_end_worker_ns();
    pace.kept_ops_per_s =
        Rate(ops - 1, SecondsFrom(end_ns - result.first_op_worker_ns()) - MeanOpSeconds(result));
  } else {
    // At most one op, in the time of several.
    const double ops_s = SecondsFrom(result.ops_end_worker_ns() - result.first_op_worker_ns());
    if (ops_s * pace.asked_ops_per_s < 2) return std::nullopt;
    pace.kept_ops_per_s = ops / ops_s;
  }
  if (!std::isfinite(pace.kept_ops_per_s)) return std::nullopt;
  return pace;
}

void FillBetween(const PhaseView& view, v1::PhaseReport& report) {
  double between_s = 0, pause_s = 0, data_s = 0, paces = 0;
  int paced_lanes = 0;
  for (const v1::Assignment& assignment : view.phase.phase().assignments()) {
    const double asked = assignment.operation().between().ops_per_s();
    if (report.asked_ops_per_s() == 0) report.set_asked_ops_per_s(asked);
  }
  for (const AlignedLane& lane : view.aligned.lanes) {
    between_s += lane.result->between_s();
    pause_s += lane.result->pause_s();
    data_s += lane.result->data_s();
    if (const std::optional<Pace> pace = PaceOf(view, lane)) {
      paces += pace->kept_ops_per_s;
      ++paced_lanes;
    }
  }
  const double lane_count = std::max<double>(1, static_cast<double>(view.aligned.lanes.size()));
  report.set_between_s(between_s / lane_count);
  report.set_pause_s(pause_s / lane_count);
  report.set_data_s(data_s / lane_count);
  if (paced_lanes > 0) report.set_paced_ops_per_s(paces / paced_lanes);
}

std::optional<v1::Mark> PaceMark(const PhaseView& view) {
  size_t paced_lanes = 0, slow_lanes = 0;
  double slowest_percent = kPacePercent;
  const AlignedLane* slowest = nullptr;
  for (const AlignedLane& lane : view.aligned.lanes) {
    const std::optional<Pace> pace = PaceOf(view, lane);
    if (!pace) continue;
    ++paced_lanes;
    const double percent = 100 * pace->kept_ops_per_s / pace->asked_ops_per_s;
    if (percent >= kPacePercent) continue;
    ++slow_lanes;
    if (percent >= slowest_percent) continue;
    slowest_percent = percent;
    slowest = &lane;
  }
  if (slowest == nullptr) return std::nullopt;
  return MakeMark(
      mark_code::kPaceMissed, "phase", slowest_percent, kPacePercent,
      absl::StrFormat(
          "%d of %d lanes missed their pace, the slowest (%s) reached %.1f %% of it: ops take longer than the "
          "interval, or the client is too busy",
          slow_lanes, paced_lanes, view.roster.LaneName(slowest->worker, slowest->result->lane()),
          slowest_percent));
}

std::vector<v1::Mark> GeneratorMarks(const v1::PhaseReport& report) {
  std::vector<v1::Mark> marks;
  const auto judge = [&marks](const std::string& subject, const v1::OpenLoopReport& open_loop) {
    std::optional<v1::Mark> mark = GeneratorMarkOf(subject, open_loop);
    if (mark.has_value()) marks.push_back(*std::move(mark));
  };
  for (const v1::PartReport& part : report.parts()) {
    if (part.has_open_loop()) judge(part.name(), part.open_loop());
  }
  if (report.parts().empty() && report.has_open_loop()) judge("phase", report.open_loop());
  return marks;
}

std::optional<v1::Mark> DataTimeMark(const v1::PhaseReport& report) {
  const v1::RegionSeconds& regions = report.regions_s();
  double region_s = regions.ops();
  for (const double flush_s : {regions.fsync(), regions.close()}) region_s += flush_s > 0 ? flush_s : 0;
  if (!(region_s > 0) || report.data_s() <= 0) return std::nullopt;
  const double percent = 100 * report.data_s() / region_s;
  if (!(percent > kDataTimePercent)) return std::nullopt;
  return MakeMark(
      mark_code::kDataTime, "phase", percent, kDataTimePercent,
      absl::StrFormat(
          "making and checking data took %.0f %% of the lanes' time, so the rates are lower than the "
          "storage's; latencies exclude it",
          percent));
}

}  // namespace iobench
