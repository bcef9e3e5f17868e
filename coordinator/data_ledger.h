// Which generations the sectors of each lane's files carry, from phase to phase, for DataContent.verify. Pure: fed with
// phases and their records.
//
// A generation is a number: each phase that writes takes the next one, and so does what a phase prepares because it
// needs data that nobody has written. After a phase that wrote every record of a lane's files, every sector has
// exactly its generation; after one that was cut short, or that writes some records only, a sector may have it or an
// earlier one.
#ifndef COORDINATOR_DATA_LEDGER_H_
#define COORDINATOR_DATA_LEDGER_H_

#include <cstdint>
#include <map>
#include <set>

#include "coordinator/layout.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// How sectors lie in this plan's records: 512, or the record where it is no multiple of 512 or
// where the lanes' records take turns. REQUIRES: a checked plan.
uint32_t SectorUnitBytes(const v1::Plan& plan);

class DataLedger {
 public:
  // `plan` and `layout` must outlive it. `run_id` goes into what the run writes.
  DataLedger(const v1::Plan& plan, const Layout& layout, uint64_t run_id);

  // The run works on kept data: it goes on where they end, and writes under their run's id and with their seed.
  void TakeOver(const v1::Manifest& kept);

  // A phase begins: gives it its generations. Once a phase, before Fill.
  void Begin(const v1::Phase& phase);
  // The phase reads data that nobody has written yet, so that they are written to prepare it. REQUIRES: Begin.
  bool prepares_data() const { return prepares_data_; }
  // What a worker has to know about data in this phase. REQUIRES: prepare.lanes.
  void Fill(v1::Prepare& prepare) const;
  // It has ended, by whatever: takes down what it did.
  void Note(const v1::PhaseRecord& record);

  // What the data directory holds now.
  void Describe(v1::Manifest& manifest) const;

 private:
  struct State {
    uint32_t low = 0;  // 0: nothing has been written
    uint32_t high = 0;
    uint64_t lane_bytes = 0;
  };
  State StateOf(uint32_t owner) const;
  void NoteLane(const v1::LanePlan& lane, const v1::LaneResult* result, const v1::Operation& operation,
                uint64_t lane_bytes);

  const v1::Plan& plan_;
  const Layout& layout_;
  v1::DataContent data_;  // what the files hold
  uint64_t run_id_;
  uint64_t seed_;  // of the data
  uint32_t unit_bytes_;
  State usual_;  // of owners that are not in the map
  std::map<uint32_t, State> states_;
  uint32_t newest_ = 0;

  // The phase's.
  uint32_t generation_ = 0;
  uint32_t prefill_generation_ = 0;
  bool prepares_data_ = false;
  std::set<uint32_t> written_;  // owners whose files it writes
};

}  // namespace iobench

#endif  // COORDINATOR_DATA_LEDGER_H_
