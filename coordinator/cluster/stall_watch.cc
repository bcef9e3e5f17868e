#include "coordinator/cluster/stall_watch.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace iobench {
namespace {

constexpr int kMaxNamedThreads = 2;
constexpr int64_t kToldAfterFraction = 5;

}  // namespace

StallWatch::Finding StallWatch::Note(uint32_t number, const v1::Progress& progress, CoordTime now,
                                     std::optional<int64_t> stall_after_ns) {
  Worker& worker = workers_[number];
  if (!worker.watched) return Finding::kNone;
  const std::optional<CoordTime> before = std::exchange(worker.noted, now);
  const bool counts = progress.ops() != worker.ops || progress.bytes() != worker.bytes;
  const bool compares = worker.activity && worker.looks_closely;
  const bool acts = compares && progress.activity() != *worker.activity;
  if (worker.looks_closely) worker.activity = progress.activity();
  worker.ops = progress.ops();
  worker.bytes = progress.bytes();
  worker.looks_closely = !counts;
  if (counts) worker.activity.reset();
  if (counts || acts || !before) {
    NoteStill(number, now);
    worker.still_from = now;
    worker.confirmed = false;
    worker.still_ns = 0;
    worker.told = false;
    return Finding::kNone;
  }
  worker.confirmed |= compares;
  worker.where = WorkText(progress);
  worker.still_ns += std::clamp<int64_t>(now - *before, 0, kLongestStepNs);
  const int64_t limit_ns = stall_after_ns.value_or(stall_after_ns_);
  if (limit_ns <= 0) return Finding::kNone;
  if (worker.still_ns >= limit_ns) return Finding::kStalled;
  if (worker.told || worker.still_ns < limit_ns / kToldAfterFraction) return Finding::kNone;
  worker.told = true;
  return Finding::kWarn;
}

void StallWatch::NoteStill(uint32_t number, CoordTime end) {
  Worker& worker = workers_[number];
  if (!worker.confirmed || worker.still_ns < kShortestStillNs) return;
  stills_.push_back({number, worker.still_from, end, std::move(worker.where)});
}

std::string WorkText(const v1::Progress& progress) {
  std::string text;
  for (int i = 0; i < std::min(kMaxNamedThreads, progress.work_size()); ++i) {
    const v1::ThreadWork& work = progress.work(i);
    if (work.lane() < 0 && i > 0) break;  // it waits for the lanes
    absl::StrAppend(&text, i > 0 ? "; " : "");
    if (work.lane() >= 0) absl::StrAppend(&text, "lane ", work.lane(), " in ", work.step());
    if (work.lane() < 0 && work.call().empty()) absl::StrAppend(&text, "its task");
    if (!work.call().empty()) absl::StrAppend(&text, work.lane() >= 0 ? ", " : "", work.call());
    if (work.has_offset()) absl::StrAppend(&text, " at offset ", work.offset());
    if (!work.file().empty()) absl::StrAppend(&text, work.call().empty() ? " on " : " of ", work.file());
    if (work.ops() > 0) absl::StrAppend(&text, ", after ", work.ops(), " ops");
  }
  if (progress.work_size() > kMaxNamedThreads && progress.work(kMaxNamedThreads).lane() >= 0) {
    absl::StrAppend(&text, "; …");
  }
  return text;
}

}  // namespace iobench
