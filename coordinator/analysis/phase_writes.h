// What became of a phase's buffered writes: how much of them arrived at the server or device, and whether the headline's
// clock ran until they had.
#ifndef COORDINATOR_ANALYSIS_PHASE_WRITES_H_
#define COORDINATOR_ANALYSIS_PHASE_WRITES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "coordinator/analysis/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Of one client, in the timed regions, warm-up included. Lanes that write around its memory (direct, synchronous) are not
// in it, nor those on a file system that is memory, where there is nothing to arrive at.
struct ClientWrites {
  uint64_t written_bytes = 0;
  std::optional<uint64_t> reached_bytes;  // of them; nullopt: its counters do not tell
  bool more_may_follow = false;           // some were perhaps on their way when the counters were read
};

struct PhaseWrites {
  std::vector<std::optional<ClientWrites>> clients;  // by the roster's index; nullopt: no buffered writes
  bool flushed = false;  // the headline's clock ran until no byte was in a client's memory only
};

PhaseWrites PhaseWritesOf(const PhaseView& view);

// written_bytes and reached_bytes of the phase and its clients. REQUIRES: view.writes, and the clients are filled.
void FillWrites(const PhaseView& view, v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_WRITES_H_
