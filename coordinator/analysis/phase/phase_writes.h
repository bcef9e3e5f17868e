// What happened to a phase's buffered writes: how much arrived at the server or device, and whether the headline's time
// includes that.
#ifndef COORDINATOR_ANALYSIS_PHASE_PHASE_WRITES_H_
#define COORDINATOR_ANALYSIS_PHASE_PHASE_WRITES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "coordinator/analysis/phase/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// The writes of one client in the timed regions, including warm-up. Excludes lanes that bypass its memory (direct,
// synchronous), and file systems in memory, which data never leaves.
struct ClientWrites {
  uint64_t written_bytes = 0;
  std::optional<uint64_t> reached_bytes;  // how much of them arrived; nullopt: unknown from its counters
  bool more_may_follow = false;           // some may still have been in transit when the counters were read
};

struct PhaseWrites {
  std::vector<std::optional<ClientWrites>> clients;  // index = client of the roster; nullopt: no buffered writes
  bool flushed = false;  // the headline's time includes flushing all data out of the clients' memory
};

PhaseWrites PhaseWritesOf(const PhaseView& view);

// Fills written_bytes and reached_bytes of the phase and its clients. REQUIRES: view.writes is set and the clients are
// filled.
void FillWrites(const PhaseView& view, v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_PHASE_WRITES_H_
