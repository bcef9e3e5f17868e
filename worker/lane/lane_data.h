// Determines how a lane's data is generated and checked in a phase, based on the Prepare request.
#ifndef WORKER_LANE_LANE_DATA_H_
#define WORKER_LANE_LANE_DATA_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/model/data_content.h"
#include "iobench/v1/control.pb.h"
#include "worker/data/data_checker.h"
#include "worker/data/payload.h"
#include "worker/data/written_records.h"
#include "worker/loop/file_set.h"
#include "worker/prepare/phase_spec.h"

namespace iobench {

// Borrows `spec` and `plan`, which must outlive it. Metadata operations write plain data and check none.
class LaneData {
 public:
  LaneData(const PhaseSpec& spec, const v1::LanePlan& plan);

  // True if a RecordMaker generates the data of each op before it.
  bool makes_records() const { return verifies_ || dedupes_; }
  // False for data that exists from the start (--data zero, --data same, -V).
  bool varies() const { return !IsMadeOnce(spec_.data); }
  // True if data that is read gets checked (--verify, -V).
  bool checks() const { return verifies_ || is_pattern_; }

  // The size of the writes that prepare files: whole records if data is generated per record.
  uint32_t prefill_bytes() const;

  // Returns a payload for the prefill, large enough for the timed ops too. ResourceExhausted: not enough memory.
  absl::StatusOr<Payload> MakePayload() const;
  // Switches the payload to the data of the timed ops, with their generation number, made before each op.
  // ResourceExhausted: not enough memory.
  absl::Status ReadyForOps(Payload& payload) const;

  // `prefilled_bytes`: how much of its files this lane has just written. REQUIRES: checks().
  std::unique_ptr<DataChecker> MakeChecker(uint64_t prefilled_bytes) const;

 private:
  enum class For { kPrefill, kOps };
  absl::Status MakeRecords(For what, Payload& payload) const;
  // Null: unknown, or too many.
  std::shared_ptr<const WrittenRecords> RecordsOf(const v1::WrittenPass& pass) const;

  const PhaseSpec& spec_;
  const v1::LanePlan& plan_;
  bool verifies_ = false;
  bool dedupes_ = false;
  bool is_pattern_ = false;  // constant data that is checked
};

// Replaces the file indices and offsets in a checker's result by paths and offsets within the files.
void NamePlaces(const FileSet& files, v1::VerifyResult& result);

}  // namespace iobench

#endif  // WORKER_LANE_LANE_DATA_H_
