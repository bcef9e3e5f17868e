#include "coordinator/conduct/data/broken_files.h"

#include <map>

#include "common/model/phase_shape.h"
#include "common/model/plan_traits.h"

namespace iobench {

void BrokenFiles::ForgetShared(const std::set<uint32_t>& targets) {
  std::erase_if(files_,
                [&](const FilesOfOwner& files) { return files.shared && targets.contains(files.target); });
}

void BrokenFiles::NoteAbsent(uint32_t worker) {
  for (const v1::Phase& phase : plan_.phases()) {
    const PhaseShape shape = ShapeOf(plan_, phase);
    const v1::Assignment* const assignment = AssignmentOf(phase, worker);
    if (assignment == nullptr || MovesNothing(assignment->operation()) || IsMetadata(assignment->operation())) continue;
    v1::Operation own = assignment->operation();
    own.set_rotate_clients(false);
    for (const v1::LanePlan& lane : layout_.LanesOf(worker, own, shape)) {
      const FilesOfOwner files = FilesOf(lane, shape);
      if (!files.shared) files_.insert(files);
    }
  }
}

void BrokenFiles::Note(const v1::PhaseRecord& record) {
  const PhaseShape shape = ShapeOf(plan_, record.phase());
  const WorkerAssignments assignments(record.phase(), layout_.worker_count());
  std::set<FilesOfOwner> broken, created;
  for (const v1::WorkerPhaseResult& worker : record.workers()) {
    const v1::Assignment* const assignment = assignments.Of(worker.worker());
    if (assignment == nullptr || MovesNothing(assignment->operation())) continue;
    const v1::Operation& operation = assignment->operation();
    if (IsMetadata(operation)) continue;
    const bool creates = CreatesFiles(operation);
    // It is unknown how far its lanes got.
    const bool may_have_written = Writes(operation) && (worker.lost() || !worker.refused_reason().empty());
    std::map<uint32_t, const v1::LaneResult*> results;
    for (const v1::LaneResult& lane : worker.lanes()) {
      if (!lane.sat_out()) results[lane.lane()] = &lane;
    }
    for (const v1::LanePlan& lane : layout_.LanesOf(worker.worker(), operation, shape)) {
      const auto result = results.find(lane.lane());
      const bool ended = result != results.end();
      const bool failed = ended && result->second->problem().code() != 0;
      // In a soak, the lane tries again with files that are still there; the ledger knows that their contents are
      // doubtful.
      const bool tries_again = plan_.soak_s() > 0 && !creates;
      // Its worker was lost after it had reported the lane, perhaps while it finished the file.
      const bool cut_short =
          ended && worker.lost() && result->second->bytes() < shape.files.bytes_per_lane();
      if (ended && !failed && creates && !cut_short) {
        created.insert(FilesOf(lane, shape));
      } else if (may_have_written || (failed && !tries_again)) {
        broken.insert(FilesOf(lane, shape));
      }
    }
  }
  // Where lanes share files, one that has failed leaves them broken, however the others ended.
  for (const FilesOfOwner& files : created) files_.erase(files);
  files_.merge(broken);
}

}  // namespace iobench
