// Tracks which generations the sectors of each lane's files have, from phase to phase, for DataContent.verify. Pure:
// its inputs are phases and their records.
//
// A generation is a number. Each phase that writes gets a new one, and so does the preparation of a phase that needs
// data which nobody has written. If the phase loops (--time), each pass over a lane's records has the next one. After a
// pass that wrote every record of a lane's files, all their sectors have its generation. If the lane ended within a
// pass that writes each record once, the records that this pass had reached have its generation, and the others that of
// the pass before. After a phase whose passes write only some records, or that failed, a sector may have its or an
// earlier generation.
#ifndef COORDINATOR_CONDUCT_DATA_DATA_LEDGER_H_
#define COORDINATOR_CONDUCT_DATA_DATA_LEDGER_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "common/model/phase_shape.h"
#include "coordinator/plan/layout.h"
#include "coordinator/plan/files_of_owner.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns the sector unit of this plan's records: 512 bytes, or the record size if it is not a multiple of 512 or if
// the lanes' records alternate in a file. REQUIRES: a checked plan.
uint32_t SectorUnitBytes(const v1::Plan& plan);

// One object per run. Call TakeOver first if the run uses kept data; then, for each phase, ForgetShared if its shared
// files are removed, Begin, Fill for each worker and Note; at last Describe. What is known of a lane's own files says
// nothing about its part of a shared file, and the reverse. Phases with other numbers of files per lane use some of the
// same files, but perhaps not all. Without sectors to verify (HasSectors), workers get no generations.
class DataLedger {
 public:
  // `plan` and `layout` must outlive it. `run_id` goes into the data that the run writes.
  DataLedger(const v1::Plan& plan, const Layout& layout, uint64_t run_id);

  // The run uses kept data: continues with their generations, and writes with their run id and seed.
  void TakeOver(const v1::Manifest& kept);

  // The shared files of these targets have been removed, with what all lanes had written into them.
  void ForgetShared(const std::set<uint32_t>& targets);

  // Returns how much every lane has written of the files that this phase uses, from the beginning; 0: some lane has written
  // nothing. REQUIRES: no phase is between Begin and Note.
  uint64_t BytesWrittenFor(const v1::Phase& phase) const;

  // Starts a phase, which must stay as it is until Note, and assigns its generations. Call it once per phase, before Fill.
  void Begin(const v1::Phase& phase);
  // True if the phase reads data that nobody has written, so that it must be prepared. REQUIRES: Begin.
  bool prepares_data() const { return phase_.prepares_data; }
  // Adds what a worker must know about the data in this phase. REQUIRES: prepare.lanes are those of Layout::LanesOf, for
  // prepare.operation.
  void Fill(v1::Prepare& prepare) const;
  // Records what the phase did, however it ended. A lane without a result may have written anything from none to all of
  // its records. REQUIRES: Begin with the same phase.
  void Note(const v1::PhaseRecord& record);

  // Sets data, and for data with sectors the generations and the sector unit, to the current contents of the data
  // directory. The manifest has one range of generations for all lanes; where lanes differ, verification of kept data
  // accepts the whole range.
  void Describe(v1::Manifest& manifest) const;

 private:
  // What the sectors of a lane's files hold: a generation from `low` to `high`. Equal, or with `last_pass`: it is known
  // exactly.
  struct State {
    uint32_t low = 0;  // 0: nothing has been written
    uint32_t high = 0;
    uint64_t lane_bytes = 0;  // how much of the files has been written, from the beginning
    bool unacknowledged =
        false;  // some writes failed, so that there may also be zeros or parts of several generations
    // The records that this pass wrote have `high`, all others `low`.
    std::optional<v1::WrittenPass> last_pass = {};

    bool is_exact() const { return low > 0 && !unacknowledged && (low == high || last_pass); }
  };
  // The files in one layout. Layouts divide a lane's bytes over more or fewer files, and have the first of these in
  // common. In a shared file, they give a lane other places. A size or a number of lanes that moves these places needs
  // no member here: coordinator/plan/check/files_check.cc refuses both in a phase with --verify.
  struct Files {
    FilesOfOwner of_owner;
    uint32_t files_per_lane = 0;
    bool interleaved = false;
    uint64_t block_bytes = 0;  // 0: one record

    auto operator<=>(const Files&) const = default;
  };
  // What a lane wrote in the current phase.
  struct Writer {
    const v1::LanePlan& lane;
    const v1::LaneResult* result;  // null: unknown
    const v1::Operation& operation;
    uint32_t phase_index;
  };
  static Files FilesIn(const v1::LanePlan& lane, const PhaseShape& shape);
  State StateOf(const Files& files) const;
  State DefaultOf(const Files& files) const;
  // The newest generation that a lane can have written in the current phase, whose passes have at least this many ops.
  uint32_t NewestPossible(uint64_t ops_per_pass) const;
  // Applies what the lane wrote to the state of its files.
  void RecordWritten(const Writer& writer, bool is_new, bool any_failed, State& state);
  // Adds to the manifest what each lane's files hold, if that is known exactly and differs between lanes.
  void DescribeLanes(v1::Manifest& manifest) const;
  // True if an operation that needs the first so many bytes of each lane has some of them prepared.
  static bool LacksData(const State& state, uint64_t needed_bytes) {
    return needed_bytes > 0 && (state.low == 0 || state.lane_bytes < needed_bytes);
  }
  void RecordLane(const Writer& writer);
  struct Change {
    uint32_t generation = 0;  // the newest that has been written
    bool any_failed = false;
    bool replaced = false;  // the files may be new, and then have …
    uint64_t file_bytes = 0;
  };
  void RecordInOtherLayouts(const Files& files, const Change& change);
  struct CurrentPhase {
    const v1::Phase* planned = nullptr;
    PhaseShape shape;
    double time_s = 0;  // for which it loops; 0: it does not
    // That its first pass writes, and that its preparation writes before it.
    uint32_t generation = 0;
    uint32_t prefill_generation = 0;
    bool prepares_data = false;
    std::map<uint32_t, size_t> writers;  // owners whose files it writes, with the number of lanes that do
  };

  const v1::Plan& plan_;
  const Layout& layout_;
  v1::DataContent data_;  // contents of the files
  uint64_t run_id_;
  uint64_t seed_;  // seed of the data
  uint32_t unit_bytes_;
  State default_;  // of files that are not in the map
  v1::Manifest kept_;  // the kept data that the run began with
  std::map<Files, State> states_;
  std::set<uint32_t> removed_shared_;  // targets whose shared file is no longer what default_ says
  uint32_t newest_ = 0;
  CurrentPhase phase_;
};

}  // namespace iobench

#endif  // COORDINATOR_CONDUCT_DATA_DATA_LEDGER_H_
