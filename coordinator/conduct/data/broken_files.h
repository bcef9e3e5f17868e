// Tracks which files the phases of a run have left in an unknown state. Pure: its inputs are records of phases.
#ifndef COORDINATOR_CONDUCT_DATA_BROKEN_FILES_H_
#define COORDINATOR_CONDUCT_DATA_BROKEN_FILES_H_

#include <cstdint>
#include <set>

#include "coordinator/plan/layout.h"
#include "coordinator/plan/files_of_owner.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// One object per run. Files are broken after a lane failed on them, or a worker was lost while it wrote them. Lanes sit
// out phases that need them until the files have been removed or created again. Trees of metadata operations are in the
// TreeLedger instead.
class BrokenFiles {
 public:
  // `plan` and `layout` must outlive it.
  BrokenFiles(const v1::Plan& plan, const Layout& layout) : plan_(plan), layout_(layout) {}

  bool Contains(const FilesOfOwner& files) const { return files_.contains(files); }

  // The shared files of these targets have been removed, with what was broken in them.
  void ForgetShared(const std::set<uint32_t>& targets);
  // Records a worker that takes no part in the run: its own files exist nowhere.
  void NoteAbsent(uint32_t worker);
  // Records a phase, however it ended.
  void Note(const v1::PhaseRecord& record);

 private:
  const v1::Plan& plan_;
  const Layout& layout_;
  std::set<FilesOfOwner> files_;
};

}  // namespace iobench

#endif  // COORDINATOR_CONDUCT_DATA_BROKEN_FILES_H_
