#include "coordinator/run/data_decision.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/model/data_content.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_traits.h"
#include "common/net/nfs_url.h"
#include "common/status_util.h"
#include "common/text/shell_word.h"
#include "common/text/units.h"
#include "coordinator/plan/metadata_plan.h"
#include "coordinator/run/data_ledger.h"
#include "coordinator/run/sharing_check.h"

namespace iobench {
namespace {

std::string At(const Member& member, const v1::Target& target) {
  return absl::StrCat(member.facts.host(), ": ", target.path());
}

uint64_t BytesOf(const v1::Manifest& manifest) {
  return uint64_t{manifest.workers()} * manifest.lanes_per_worker() * manifest.files().bytes_per_lane() /
         std::max(1u, manifest.targets());
}

// Data that the user kept, perhaps as evidence, is not replaced silently. The manifest does not say whether it is
// evidence.
std::string ReplacesNote(const std::string& data, const v1::Manifest& kept) {
  return absl::StrCat(
      "the data that ", kept.created_by(), " wrote at ", kept.created_at(), " and kept in ", data, " (",
      FormatBytes(static_cast<double>(BytesOf(kept))),
      "), with -w or because a verification failed, are removed for this run, which does not use "
      "them");
}

// Returns "4 workers, now 2; 64 MiB per lane, now 1 GiB": why kept data cannot be used. Empty: it can.
std::string Differences(const v1::Manifest& kept, const v1::Manifest& ours) {
  std::vector<std::string> differences;
  const auto compare = [&](const char* what, const auto& was, const auto& is) {
    if (was != is) differences.push_back(absl::StrCat(what, " ", was, ", now ", is));
  };
  compare("workers", kept.workers(), ours.workers());
  compare("lanes per worker", kept.lanes_per_worker(), ours.lanes_per_worker());
  compare("targets", kept.targets(), ours.targets());
  compare("bytes per lane", kept.files().bytes_per_lane(), ours.files().bytes_per_lane());
  compare("files per lane", kept.files().files_per_lane(), ours.files().files_per_lane());
  compare("shared file", std::string(kept.files().shared_file() ? "yes" : "no"),
          std::string(ours.files().shared_file() ? "yes" : "no"));
  compare("interleaved", std::string(kept.files().interleaved() ? "yes" : "no"),
          std::string(ours.files().interleaved() ? "yes" : "no"));
  if (HasSectors(ours.data())) {
    compare("written with --verify", std::string(HasSectors(kept.data()) ? "yes" : "no"), std::string("yes"));
    if (HasSectors(kept.data())) {
      compare("sectors at multiples of bytes", kept.unit_bytes(), ours.unit_bytes());
    }
  }
  if (ChecksPattern(ours.data())) {
    const auto pattern = [](const v1::DataContent& data) {
      return data.kind() == v1::DataContent::PATTERN ? absl::StrCat(data.pattern_byte())
                                                     : std::string("none");
    };
    compare("pattern", pattern(kept.data()), pattern(ours.data()));
  }
  return absl::StrJoin(differences, "; ");
}

absl::Status CheckAccess(const v1::Plan& plan, const Layout& layout, std::span<const Member> members,
                         std::span<const v1::WorkerTargets> facts) {
  for (const Member& member : members) {
    std::set<uint32_t> used = {layout.TargetOf(member.number)};
    for (const v1::Phase& phase : plan.phases()) {
      const v1::Assignment* assignment = AssignmentOf(phase, member.number);
      if (assignment == nullptr || !assignment->operation().rotate_clients()) continue;
      const uint32_t owner = layout.RotatedOwner(member.number);
      const int target = static_cast<int>(layout.TargetOf(owner));
      used.insert(layout.TargetOf(owner));
      if (facts[owner].targets(target).filesystem_id() !=
          facts[member.number].targets(target).filesystem_id()) {
        return absl::InvalidArgumentError(
            absl::StrCat("--rotate-clients: ", member.facts.host(), " and ", members[owner].facts.host(),
                         " do not see the same file system at ", plan.targets(target).path(),
                         "; mount it from the same source on both"));
      }
    }
    for (const uint32_t target : used) {
      const v1::TargetFacts& seen = facts[member.number].targets(static_cast<int>(target));
      if (seen.problem().code() != 0) {
        return absl::InvalidArgumentError(absl::StrCat(member.facts.host(), ": ", seen.problem().message()));
      }
      for (const v1::Phase& phase : plan.phases()) {
        const v1::Assignment* assignment = AssignmentOf(phase, member.number);
        if (assignment == nullptr || !assignment->operation().direct()) continue;
        const uint64_t block_bytes = std::max(1u, seen.logical_block_bytes());
        const v1::FileLayout files = ShapeOf(plan, phase).files;
        const uint64_t file_bytes = files.bytes_per_lane() / files.files_per_lane();
        if (assignment->operation().record_bytes() % block_bytes != 0 || file_bytes % block_bytes != 0) {
          return absl::InvalidArgumentError(
              absl::StrCat(At(member, plan.targets(static_cast<int>(target))), ": with -I the record (",
                           assignment->operation().record_bytes(), " bytes) and the file (", file_bytes,
                           " bytes) must be multiples of its logical block of ", block_bytes, " bytes"));
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string DataAt(const Member& member, const v1::Target& target) {
  return absl::StrCat(member.facts.host(), ": ", PathBelow(target.path(), kDataDirectoryName));
}

std::map<FilesystemOfTarget, uint32_t> Claimers(const Layout& layout, std::span<const Member> members,
                                                std::span<const v1::WorkerTargets> facts) {
  std::map<FilesystemOfTarget, uint32_t> claimers;
  for (const Member& member : members) {
    if (member.lost) continue;
    const uint32_t target = layout.TargetOf(member.number);
    claimers.emplace(
        FilesystemOfTarget(target, facts[member.number].targets(static_cast<int>(target)).filesystem_id()),
        member.number);
  }
  return claimers;
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

namespace {

// The lanes' own files at their largest, plus a shared file at its largest.
uint64_t FileBytesPerWorker(const v1::Plan& plan) {
  uint64_t own = 0, shared = 0;
  for (const v1::Phase& phase : plan.phases()) {
    if (IsMetadata(phase)) continue;
    const PhaseShape shape = ShapeOf(plan, phase);
    for (const v1::Assignment& assignment : phase.assignments()) {
      const uint64_t lanes = assignment.operation().first_lane_files() ? 1 : shape.lanes_per_worker;
      uint64_t& most = shape.files.shared_file() ? shared : own;
      most = std::max(most, lanes * shape.files.bytes_per_lane());
    }
  }
  return own + shared;
}

const char* WhatMakesItSmaller(const v1::Plan& plan) {
  const bool files = FileBytesPerWorker(plan) > 0, trees = TreeBytesPerLane(plan) > 0;
  if (files && trees) return "a smaller -s, --items or --file-bytes";
  return trees ? "smaller --items or --file-bytes" : "a smaller -s";
}

absl::Status CheckSpace(const v1::Plan& plan, const Layout& layout, std::span<const Member> members,
                        std::span<const v1::WorkerTargets> facts, DataDecision& decision, bool force) {
  struct Need {
    uint64_t bytes = 0;
    uint64_t free_bytes = 0;
    std::string where;
  };
  std::map<std::string, Need> needs;
  std::set<std::pair<std::string, uint32_t>> counted_old_data;
  for (const Member& member : members) {
    const uint32_t target = layout.TargetOf(member.number);
    const v1::TargetFacts& seen = facts[member.number].targets(static_cast<int>(target));
    Need& need = needs[seen.filesystem_id()];
    if (need.where.empty()) {
      need.where = At(member, plan.targets(static_cast<int>(target)));
      need.free_bytes = seen.free_bytes();
    }
    need.bytes += FileBytesPerWorker(plan) + uint64_t{layout.lanes_per_worker()} * TreeBytesPerLane(plan);
    // Data of ours that Claim replaces frees its space.
    if (seen.has_manifest() && counted_old_data.emplace(seen.filesystem_id(), target).second) {
      need.free_bytes += BytesOf(seen.manifest());
    }
  }
  for (const auto& [id, need] : needs) {
    decision.bytes_needed += need.bytes;
    if (need.bytes <= need.free_bytes || force) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(need.where, ": the lanes there need ", FormatBytes(static_cast<double>(need.bytes)),
                     ", but only ", FormatBytes(static_cast<double>(need.free_bytes)), " are free: use ",
                     WhatMakesItSmaller(plan), " or fewer lanes, or --force to try anyway"));
  }
  return absl::OkStatus();
}

// Checks whether the data of a run that did not end properly may be removed: never if any client sees its process
// running.
absl::Status CheckTakeOver(const Member& claimer, const v1::Target& target,
                           const std::pair<uint32_t, std::string>& where, std::span<const Member> members,
                           std::span<const v1::WorkerTargets> facts, const v1::Manifest& found, bool force,
                           std::vector<std::string>& notes) {
  const std::string data = DataAt(claimer, target);
  const std::string begun = absl::StrCat(found.created_by(), " began at ", found.created_at());
  bool is_gone = false;
  for (const Member& member : members) {
    const v1::TargetFacts& seen = facts[member.number].targets(static_cast<int>(where.first));
    if (seen.filesystem_id() != where.second || seen.manifest().run_id() != found.run_id()) continue;
    is_gone |= seen.owner() == v1::TargetFacts::GONE;
    if (seen.owner() != v1::TargetFacts::ALIVE) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(data, " is in use: the run of ", member.facts.host(), " pid ", found.pid(), ", which ",
                     begun, ", is alive: wait until it ends, or choose another --path"));
  }
  if (force) {
    if (!is_gone) {
      notes.push_back(
          absl::StrCat(data, ": removing the data of a run that ", begun,
                       " (--force); whether it is still alive could not be seen from here"));
    }
    return absl::OkStatus();
  }
  if (is_gone) {
    return absl::FailedPreconditionError(
        absl::StrCat(data, " belongs to a run that ", begun,
                     " and that has crashed: remove its data with `cluster-iobench clean ",
                     ShellWord(target.path()), "`, or use --force"));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      data, " belongs to a run that ", begun,
      " and that is running or has crashed, which cannot be seen from here: if it crashed, remove its data with "
      "`cluster-iobench clean --force ",
      ShellWord(target.path()), "`, or use --force"));
}

}  // namespace

absl::StatusOr<DataDecision> DecideAboutData(const v1::Plan& plan, const Layout& layout,
                                             std::span<const Member> members,
                                             std::span<const v1::WorkerTargets> facts,
                                             const v1::Manifest& ours, bool force) {
  DataDecision decision;
  decision.uses_files = UsesFiles(plan);
  const bool uses_targets = decision.uses_files || plan.files().existing_files_size() > 0;
  if (decision.uses_files) IOBENCH_RETURN_IF_ERROR(CheckAccess(plan, layout, members, facts));
  if (uses_targets) {
    IOBENCH_RETURN_IF_ERROR(CheckSharing(plan, layout, members, facts, force, decision.notes));
  }
  if (!decision.uses_files) return decision;

  // Trees are never reused: a run creates its own.
  bool creates = WorksOnTrees(plan);
  for (const v1::Phase& phase : plan.phases()) {
    for (const v1::Assignment& assignment : phase.assignments())
      creates |= CreatesFiles(assignment.operation());
  }
  const auto claimers = Claimers(layout, members, facts);
  size_t matching = 0;
  std::vector<std::string> if_replaced;
  for (const auto& [key, worker] : claimers) {
    const Member& member = members[worker];
    const v1::Target& target = plan.targets(static_cast<int>(key.first));
    const v1::TargetFacts& seen = facts[worker].targets(static_cast<int>(key.first));
    if (seen.foreign_data()) {
      return absl::FailedPreconditionError(absl::StrCat(
          DataAt(member, target),
          " is not ours (no readable manifest): move it away or choose another --path"));
    }
    if (!seen.has_manifest()) continue;
    const v1::Manifest& found = seen.manifest();
    const bool kept = found.state() == v1::Manifest::KEPT;
    if (!kept) {
      IOBENCH_RETURN_IF_ERROR(
          CheckTakeOver(member, target, key, members, facts, found, force, decision.notes));
    }
    if (kept) if_replaced.push_back(ReplacesNote(DataAt(member, target), found));
    const std::string differences = Differences(found, ours);
    if (kept && differences.empty()) {
      if (++matching == 1) decision.kept = found;
      const v1::Manifest& first = decision.kept;
      if (HasSectors(plan.data()) && !creates &&
          (found.run_id() != first.run_id() || found.generation_low() != first.generation_low() ||
           found.generation_high() != first.generation_high())) {
        return absl::FailedPreconditionError(absl::StrCat(
            At(member, target), ": the data kept there (-w) belong to another run than those on ",
            "other file systems, and cannot be verified together: write new data with -i 0"));
      }
    } else if (kept && !creates && !force) {
      return absl::FailedPreconditionError(absl::StrCat(
          At(member, target), ": the data kept there (-w) do not match this run: ", differences,
          "; use the same options as the run that wrote them, write new data with -i 0, or use --force"));
    } else {
      decision.removes_old_data = true;
    }
  }
  decision.uses_kept_data = !creates && !claimers.empty() && matching == claimers.size();
  if (!creates && matching > 0 && !decision.uses_kept_data && !force) {
    return absl::FailedPreconditionError(
        absl::StrCat("kept data (-w) exist on only ", matching, " of ", claimers.size(),
                     " file systems that this run uses: write new data with -i 0, or use --force"));
  }
  if (decision.uses_kept_data && plan.has_stripe()) {
    return absl::FailedPreconditionError(
        "--stripe (stripe) only applies to new files, and this run uses the kept ones (-w): leave it out, or write "
        "new data with -i 0");
  }
  if (creates && matching > 0) decision.removes_old_data = true;
  if (!decision.uses_kept_data) {
    decision.notes.insert(decision.notes.end(), if_replaced.begin(), if_replaced.end());
    IOBENCH_RETURN_IF_ERROR(CheckSpace(plan, layout, members, facts, decision, force));
  }
  return decision;
}

}  // namespace iobench
