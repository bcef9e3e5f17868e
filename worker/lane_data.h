// What a lane's data are in a phase and how they are checked, from what the Prepare request says.
#ifndef WORKER_LANE_DATA_H_
#define WORKER_LANE_DATA_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/control.pb.h"
#include "worker/data/data_checker.h"
#include "worker/file_set.h"
#include "worker/payload.h"
#include "worker/phase_spec.h"

namespace iobench {

// Borrows both. Metadata operations make plain data and check none.
class LaneData {
 public:
  LaneData(const PhaseSpec& spec, const v1::LanePlan& plan);

  bool makes_records() const { return verifies_ || dedupes_; }  // each op's data are made before it
  bool varies() const {                                         // not constant
    return spec_.data.kind() != v1::DataContent::ZERO && spec_.data.kind() != v1::DataContent::PATTERN;
  }
  bool checks() const { return verifies_ || is_pattern_; }  // what is read is looked at

  // How much is written at once to prepare files: whole records where data are made record by record.
  uint32_t prefill_bytes() const;

  // Ready for the prefill.
  absl::StatusOr<Payload> MakePayload() const;
  // Ready for the ops.
  absl::Status ReadyForOps(Payload& payload) const;

  // `prefilled`: this lane has just written some of the files. REQUIRES: checks().
  std::unique_ptr<DataChecker> MakeChecker(bool prefilled) const;

 private:
  absl::Status MakeRecordsOf(uint32_t generation, Payload& payload) const;

  const PhaseSpec& spec_;
  const v1::LanePlan& plan_;
  bool verifies_ = false;
  bool dedupes_ = false;
  bool is_pattern_ = false;  // and checked
};

// Files by their path and offsets as they are in them, in what a checker found.
void NamePlaces(const FileSet& files, v1::VerifyResult& result);

}  // namespace iobench

#endif  // WORKER_LANE_DATA_H_
