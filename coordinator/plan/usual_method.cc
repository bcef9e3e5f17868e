// How a run measures if the user has said neither how much nor how: storage, not the client's memory.
#include <algorithm>
#include <span>
#include <vector>

#include "common/model/phase_files.h"
#include "common/model/plan_traits.h"
#include "common/text/units.h"
#include "coordinator/plan/phase_list.h"
#include "coordinator/plan/plan_check.h"
#include "coordinator/plan/plan_fields.h"
#include "coordinator/plan/rounds.h"

namespace iobench {
namespace {

constexpr double kUsualSeconds = 3;
// What a lane has not flushed when its time is over takes as long on slow storage as it takes: 4 lanes, at 10 MB/s, 6 s.
constexpr uint64_t kUsualFlushBytes = 16_MiB;
// What no lane writes in a few seconds; with hours, lanes begin again instead of filling the storage.
constexpr uint64_t kMostBytesPerLane = 64_GiB;

bool HasAny(const GivenOptions& given, std::span<const OptionName> names) {
  return std::any_of(names.begin(), names.end(), [&](OptionName name) { return given.Has(name); });
}

// A soak does not end with the data, so their amount does not say how long its phases take.
bool SaysHowMuch(const GivenOptions& given) {
  static constexpr OptionName kAmounts[] = {"auto",       "deadline",    "max-ops",       "existing", "read-existing",
                                            "read-trace", "write-trace", "offset-latency"};
  static constexpr OptionName kOfData[] = {"size", "constant-total"};
  return HasAny(given, kAmounts) || (HasAny(given, kOfData) && !given.Has("soak"));
}

bool IsOnOrOff(const GivenOptions& given, std::span<const OptionName> names) {
  return HasAny(given, names) || std::any_of(names.begin(), names.end(), [&](OptionName name) {
           return given.turned_off().contains(&name.spec());
         });
}

bool SaysRegion(const GivenOptions& given) {
  static constexpr OptionName kRegion[] = {"close-in-timing", "fsync-in-timing"};
  return IsOnOrOff(given, kRegion);
}

bool SaysCaches(const GivenOptions& given) {
  static constexpr OptionName kCaches[] = {"cold", "drop-caches", "rotate-clients", "remount", "eat-memory"};
  return IsOnOrOff(given, kCaches);
}

// Whether a plan, a suite or the options of a mix say what each phase does.
bool IsScripted(const GivenOptions& given) {
  static constexpr OptionName kScripts[] = {"plan", "suite", "mix", "background"};
  return HasAny(given, kScripts);
}

double UsualSeconds(const GivenOptions& given, const v1::Plan& plan) {
  return plan.soak_s() > 0 ? SoakPhaseSeconds(plan) : kUsualSeconds + given.Decimal("warmup");
}

// Lanes loop, and each pass of writes is flushed, so that it does not overwrite data that is still in memory.
void FlushWrites(const GivenOptions& given, v1::Phase& phase) {
  const v1::Operation& operation = phase.assignments(0).operation();
  if (SaysRegion(given) || !Writes(operation) || MovesNothing(operation)) return;
  v1::TimedRegion region = phase.region();
  region.set_fsync(true);
  region.set_close(true);
  // Writes that bypass or flush memory need no flush.
  if (DefaultStonewall(operation, region) == v1::STONEWALL_FLUSHED) *phase.mutable_region() = region;
}

// Flushing often bounds what is left to flush in the end. What lies between ops is undefined with several in flight, and
// what the user asked for between them, or when they are due, is not changed.
void FlushOften(v1::Phase& phase) {
  v1::Operation& operation = *phase.mutable_assignments(0)->mutable_operation();
  if (!phase.region().fsync() || !BuffersWrites(operation) || MovesNothing(operation)) return;
  if (operation.depth() > 1 || operation.has_between() || operation.has_arrivals()) return;
  operation.mutable_between()->set_burst_bytes(kUsualFlushBytes);
}

bool LeavesLittleToFlush(const v1::Operation& operation) {
  return !BuffersWrites(operation) || operation.between().burst_bytes() > 0;
}

bool SweepsRecords(const GivenOptions& given) {
  const std::vector<std::string> percents = given.LastParts("record");
  return percents.size() > 1 && percents.front().empty();
}

// Without a size, files grow in place of being overwritten. Phases of several records would have files of several sizes.
void LetFilesGrow(const GivenOptions& given, v1::Plan& plan) {
  if (given.Has("soak") || SweepsRecords(given)) return;
  std::vector<v1::Phase*> growing;
  for (v1::Phase& phase : *plan.mutable_phases()) {
    const v1::Operation& operation = phase.assignments(0).operation();
    if (phase.has_files()) return;
    if (!CanGrow(plan.files(), operation)) continue;
    if (!LeavesLittleToFlush(operation)) return;
    growing.push_back(&phase);
  }
  for (v1::Phase* const phase : growing)
    phase->mutable_files()->set_bytes_per_lane(WholeRecordsIn(kMostBytesPerLane, *phase));
}

}  // namespace

bool IsUsualMethod(const GivenOptions& given) {
  return !IsScripted(given) && !SaysHowMuch(given);
}

bool ReadsColdAsUsual(const GivenOptions& given) {
  return IsUsualMethod(given) && !given.Has("soak") && !SaysCaches(given);
}

void MeasureAsUsual(const GivenOptions& given, v1::Plan& plan) {
  const bool is_usual = IsUsualMethod(given);
  if (!is_usual && !(plan.soak_s() > 0 && !IsScripted(given))) return;
  bool all_known = true;
  for (v1::Phase& phase : *plan.mutable_phases()) {
    all_known &= !phase.assignments().empty();
    if (phase.assignments().empty()) continue;  // CheckPlan refuses it
    if (IsMetadata(phase.assignments(0).operation())) continue;  // --items determines the amount
    if (is_usual && !given.Has("time")) phase.mutable_stop()->set_time_s(UsualSeconds(given, plan));
    FlushWrites(given, phase);
    if (is_usual && !given.Has("soak")) FlushOften(phase);
  }
  if (is_usual && all_known) LetFilesGrow(given, plan);
}

}  // namespace iobench
