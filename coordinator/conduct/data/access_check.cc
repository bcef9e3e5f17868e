#include "coordinator/conduct/data/access_check.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/model/phase_files.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "common/roster/filesystem.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/plan/check/metadata_plan.h"
#include "coordinator/plan/plan_check.h"
#include "coordinator/conduct/data/data_decision.h"

namespace iobench {
namespace {

// With rotated clients, a worker also uses the files of another, and must see the same file system for it. Adds that
// worker's targets to `used`.
absl::Status CheckRotated(const v1::Plan& plan, const Layout& layout, std::span<const Member> members,
                          std::span<const v1::WorkerTargets> facts, const Member& member,
                          std::set<uint32_t>& used) {
  for (const v1::Phase& phase : plan.phases()) {
    const v1::Assignment* assignment = AssignmentOf(phase, member.number);
    if (assignment == nullptr || !assignment->operation().rotate_clients()) continue;
    const uint32_t owner = layout.RotatedOwner(member.number);
    if (members[owner].lost) continue;  // its files exist nowhere
    for (const uint32_t number : layout.TargetsOf(owner)) {
      used.insert(number);
      const FilesystemId of_owner = FilesystemOf(*SeenOf(facts[owner], number));
      if (of_owner == FilesystemOf(*SeenOf(facts[member.number], number))) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("--rotate-clients: ", member.facts.host(), " and ", members[owner].facts.host(),
                       " do not see the same file system at ", plan.targets(static_cast<int>(number)).path(),
                       "; mount it from the same source on both"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckDirect(const v1::Plan& plan, const Member& member, const v1::Target& target,
                         const v1::TargetFacts& seen) {
  const uint64_t block_bytes = std::max(1u, seen.logical_block_bytes());
  for (const v1::Phase& phase : plan.phases()) {
    const v1::Assignment* assignment = AssignmentOf(phase, member.number);
    if (assignment == nullptr || !assignment->operation().direct()) continue;
    const v1::FileLayout files = ShapeOf(plan, phase).files;
    const uint64_t file_bytes = files.bytes_per_lane() / files.files_per_lane();
    for (const RecordShare& record : RecordsOf(assignment->operation())) {
      if (record.record_bytes % block_bytes == 0 && file_bytes % block_bytes == 0) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(TargetAt(member, target), ": with -I the record (", record.record_bytes,
                       " bytes) and the file (", file_bytes, " bytes) must be multiples of its logical block of ",
                       block_bytes, " bytes"));
    }
  }
  return absl::OkStatus();
}

uint32_t LanesWithFiles(const v1::Operation& operation, const PhaseShape& shape) {
  return operation.first_lane_files() ? 1 : shape.lanes_per_worker;
}

// What a worker has created by the end of the run, besides its parts of shared files.
struct OwnData {
  // Number of lanes with files of their own -> their largest size in any phase with that many, from the largest number.
  std::map<uint32_t, uint64_t, std::greater<>> bytes_of_lanes;
  uint64_t files = 0;  // at least
  bool has_trees = false;

  // A lane that is idle in some phases keeps the files of the others.
  uint64_t FileBytes() const {
    uint64_t bytes = 0, largest = 0;
    for (auto each = bytes_of_lanes.begin(); each != bytes_of_lanes.end(); ++each) {
      const auto fewer = std::next(each);
      largest = std::max(largest, each->second);
      bytes += (each->first - (fewer == bytes_of_lanes.end() ? 0u : fewer->first)) * largest;
    }
    return bytes;
  }
};

// By worker number.
std::vector<OwnData> OwnDataOf(const v1::Plan& plan, size_t worker_count) {
  std::vector<OwnData> workers(worker_count);
  for (const v1::Phase& phase : plan.phases()) {
    const PhaseShape shape = LeastShapeOf(plan, phase);
    const WorkerAssignments assignments(phase, worker_count);
    for (uint32_t worker = 0; worker < worker_count; ++worker) {
      const v1::Assignment* const assignment = assignments.Of(worker);
      if (assignment == nullptr) continue;
      OwnData& own = workers[worker];
      if (IsMetadata(assignment->operation())) {
        own.has_trees = true;
      } else if (!shape.files.shared_file()) {
        const uint32_t lanes = LanesWithFiles(assignment->operation(), shape);
        uint64_t& largest = own.bytes_of_lanes[lanes];
        largest = std::max(largest, shape.files.bytes_per_lane());
        own.files = std::max(own.files, uint64_t{lanes} * shape.files.files_per_lane());
      }
    }
  }
  return workers;
}

// Adds to each need the shared file at its largest: it is removed before a phase that creates it again. `parts`: the
// needs and the workers that create data there.
void AddSharedFiles(const v1::Plan& plan, size_t worker_count,
                    std::span<const std::pair<SpaceNeed*, uint32_t>> parts) {
  std::map<SpaceNeed*, uint64_t> largest;
  for (const v1::Phase& phase : plan.phases()) {
    const PhaseShape shape = ShapeOf(plan, phase);
    if (!shape.files.shared_file()) continue;
    const WorkerAssignments assignments(phase, worker_count);
    std::map<SpaceNeed*, uint64_t> bytes;
    for (const auto& [need, worker] : parts) {
      const v1::Assignment* const assignment = assignments.Of(worker);
      if (assignment == nullptr || IsMetadata(assignment->operation())) continue;
      bytes[need] += LanesWithFiles(assignment->operation(), shape) * shape.files.bytes_per_lane();
    }
    for (const auto& [need, of_phase] : bytes) largest[need] = std::max(largest[need], of_phase);
  }
  for (const auto& [need, of_shared] : largest) need->bytes += of_shared;
}

const char* WhatMakesItSmaller(const v1::Plan& plan) {
  const bool files = WorksOnData(plan), trees = TreeBytesPerLane(plan) > 0;
  if (FillPercent(plan) > 0) return "a smaller --fill, -s or --items";
  if (files && trees) return "a smaller -s, --items or --file-bytes";
  return trees ? "smaller --items or --file-bytes" : "a smaller -s";
}

}  // namespace

absl::Status CheckAccess(const v1::Plan& plan, const Layout& layout, std::span<const Member> members,
                         std::span<const v1::WorkerTargets> facts) {
  for (const Member& member : members) {
    if (member.lost) continue;
    const std::vector<uint32_t>& own = layout.TargetsOf(member.number);
    std::set<uint32_t> used(own.begin(), own.end());
    IOBENCH_RETURN_IF_ERROR(CheckRotated(plan, layout, members, facts, member, used));
    for (const uint32_t number : used) {
      const v1::TargetFacts& seen = *SeenOf(facts[member.number], number);
      if (seen.problem().code() != 0) {
        return absl::InvalidArgumentError(absl::StrCat(member.facts.host(), ": ", seen.problem().message()));
      }
      IOBENCH_RETURN_IF_ERROR(CheckDirect(plan, member, plan.targets(static_cast<int>(number)), seen));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckExistingFiles(const v1::Plan& plan, const Member& member,
                                const google::protobuf::RepeatedPtrField<v1::ExistingFile>& seen) {
  const auto file_count = static_cast<uint32_t>(plan.files().existing_files_size());
  if (file_count == 0) return absl::OkStatus();
  if (seen.size() != plan.files().existing_files_size()) {
    return absl::InternalError(absl::StrCat(member.Name(), " did not report on every existing file"));
  }
  const uint64_t needed = plan.files().bytes_per_lane();
  for (uint32_t i = 0; i < plan.lanes_per_worker(); ++i) {
    const int index = static_cast<int>((member.number * plan.lanes_per_worker() + i) % file_count);
    const v1::ExistingFile& file = seen.Get(index);
    if (file.problem().code() != 0) {
      return absl::InvalidArgumentError(absl::StrCat(member.facts.host(), ": ", file.problem().message()));
    }
    if (file.bytes() >= needed) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(member.facts.host(), ": existing file ", plan.files().existing_files(index), " has ",
                     FormatBytes(static_cast<double>(file.bytes())), ", but each lane reads ",
                     FormatBytes(static_cast<double>(needed)), ": use a smaller -s"));
  }
  return absl::OkStatus();
}

std::vector<SpaceNeed> SpaceNeeds(const v1::Plan& plan, const Layout& layout, std::span<const Member> members,
                                  std::span<const v1::WorkerTargets> facts) {
  std::map<FilesystemId, SpaceNeed> needs;  // by file system
  std::set<std::pair<FilesystemId, uint32_t>> counted_old_data;
  std::vector<std::pair<SpaceNeed*, uint32_t>> parts;
  const bool creates = CreatesData(plan);
  const std::vector<OwnData> own_data = OwnDataOf(plan, members.size());
  const uint64_t tree_bytes = uint64_t{layout.lanes_per_worker()} * TreeBytesPerLane(plan);
  const uint64_t tree_items = uint64_t{layout.lanes_per_worker()} * TreeNamesPerLane(plan);
  for (const Member& member : members) {
    const OwnData& own = own_data[member.number];
    const uint64_t worker_bytes = own.FileBytes() + (own.has_trees ? tree_bytes : 0);
    const uint64_t worker_items = own.files + (own.has_trees ? tree_items : 0);
    for (const uint32_t target : layout.TargetsOf(member.number)) {
      const v1::TargetFacts* const facts_of_target = SeenOf(facts[member.number], target);
      if (facts_of_target == nullptr) continue;  // it was lost
      const v1::TargetFacts& seen = *facts_of_target;
      if (seen.problem().code() != 0) continue;
      SpaceNeed& need = needs[FilesystemOf(seen)];
      if (need.workers.empty()) {
        need.path = plan.targets(static_cast<int>(target)).path();
        if (seen.has_free_bytes()) need.free_bytes = seen.free_bytes();
        if (seen.space().total_items() > 0) need.free_items = seen.space().available_items();
        need.smaller = WhatMakesItSmaller(plan);
        need.space = seen.space();
        need.fill_bytes = BytesToFill(seen.space(), FillPercent(plan));
        need.bytes = need.fill_bytes;
      }
      need.workers.insert(member.number);
      // Kept data are there; without any, reads have files written first.
      if (!creates && seen.manifest().state() == v1::Manifest::KEPT) continue;
      need.bytes += worker_bytes;
      need.items += worker_items;
      parts.emplace_back(&need, member.number);
      // Data of ours that Claim replaces frees its space.
      if (seen.has_manifest() && counted_old_data.emplace(FilesystemOf(seen), target).second) {
        if (need.free_bytes.has_value()) *need.free_bytes += DataBytesOf(seen.manifest());
        need.free_items.reset();  // it does not say how many files it frees
      }
    }
  }
  AddSharedFiles(plan, members.size(), parts);
  std::vector<SpaceNeed> list;
  for (auto& [id, need] : needs) list.push_back(std::move(need));
  return list;
}

absl::StatusOr<uint64_t> CheckSpace(const v1::Plan& plan, const Layout& layout,
                                    std::span<const Member> members, std::span<const v1::WorkerTargets> facts,
                                    IfTooSmall if_too_small) {
  uint64_t bytes_needed = 0;
  for (const SpaceNeed& need : SpaceNeeds(plan, layout, members, facts)) {
    bytes_needed += need.bytes - need.fill_bytes;
    const std::optional<Shortage> shortage = ShortageOf(need);
    if (!shortage.has_value() || if_too_small == IfTooSmall::kTryAnyway) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(members[*need.workers.begin()].facts.host(), ": ", need.path, ": the lanes there",
                     shortage->problem, ": ", shortage->advice));
  }
  return bytes_needed;
}

}  // namespace iobench
