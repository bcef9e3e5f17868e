// What a phase requires from one lane: its files, its part of the operation, and what follows from both.
#ifndef WORKER_LANE_LANE_WORK_H_
#define WORKER_LANE_LANE_WORK_H_

#include <optional>
#include <string>

#include "common/model/op.h"
#include "iobench/v1/control.pb.h"
#include "worker/lane/lane_data.h"
#include "worker/lane/lane_files.h"
#include "worker/loop/file_set.h"
#include "worker/metadata/metadata_work.h"
#include "worker/pattern/op_stream.h"
#include "worker/prepare/phase_spec.h"
#include "worker/storage/directory.h"

namespace iobench {

// Constant after the constructor, so that any thread may read it.
struct LaneWork {
  // `phase` must outlive it. `directory` holds the files of all lanes of the target; null: no files are used, or
  // `lane_target` is a URL.
  LaneWork(const PhaseSpec& phase, const v1::LanePlan& lane, const std::string& lane_target,
           const Directory* directory);
  LaneWork(const LaneWork&) = delete;
  LaneWork& operator=(const LaneWork&) = delete;

  const PhaseSpec& spec;
  const v1::LanePlan plan;
  const LaneData data;
  const std::string target;                    // path or URL; empty if no files are used
  const std::optional<MetadataWork> metadata;  // of a metadata operation, whose only file is its tree
  const FileSet files;

  // What this lane does, which in a mix by lane is only a part of the operation.
  bool reads() const;
  bool writes() const;
  // creates_files: the lane starts with new, empty files. needs_data: it uses existing data, which is prefilled if
  // missing.
  bool creates_files() const;
  bool needs_data() const;
  bool data_must_exist() const;  // user's files, or files that only all lanes together can write
  // It needs data that neither must exist nor were all written by earlier phases of the run.
  bool may_prefill() const;
  OpKinds kinds() const;
  // The flush calls that it makes in its timed region, and that have latencies of their own.
  OpKinds flush_calls() const;
  bool flushes_between_ops() const {  // --fsync-every
    return spec.uses_files && writes() && !metadata && spec.between.flush_every_ops() > 0;
  }
  // --time: the lane begins another pass until the time is over. Between passes it then flushes what it wrote, or drops
  // the cached pages of what it read.
  bool loops() const { return spec.stop.time_s() > 0; }
  bool flushes_passes() const { return spec.region.flush_passes() && writes(); }
  bool forgets_passes() const { return spec.drops_caches && reads() && spec.uses_files && !metadata; }
  // True if no op of a pass may begin before those of the pass before have ended: of two writes of one record in flight,
  // nobody knows which one the storage keeps, but readers expect that of the later pass.
  bool separates_passes() const;
  // The part of its files that must exist before the ops.
  FileSet NeededFiles() const { return FirstBytesOf(files, spec.needed_bytes); }
  // True if written data may still be in memory when the timed region has ended, and something follows that it could
  // disturb, so that Settle flushes it.
  bool leaves_unflushed_data() const;
  // True if the lane writes data, in its ops or in the prefill. The null engine accesses no data.
  bool needs_payload() const;
  bool needs_read_buffer() const { return spec.uses_files && reads(); }
  // True for long ops, unless the engine generates their data in its own buffers: those of a queue, or of -m.
  bool makes_data_before_ops() const;
  // True if a pass may write a place more than once.
  bool repeats_places() const;
  bool writes_trace() const { return !spec.trace.write_file().empty(); }
  bool logs_ops() const { return spec.trace.offset_latency(); }

  // Return the settings of the phase, completed with what differs between lanes: number, mix, whether it reads and
  // writes.
  StreamShape Shape() const;
  OpenMode Mode() const;
  std::string FirstFile() const;  // with its path; empty if no files are used
  std::string TraceFile() const { return TraceFileOf(spec.trace, plan); }
  std::string OpLogFile() const;  // OpLogPath
};

}  // namespace iobench

#endif  // WORKER_LANE_LANE_WORK_H_
