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
  // How much of them arrived at the server or device. nullopt: the client's counters do not cover all of its lanes.
  std::optional<uint64_t> reached_bytes;
  // Some may still have been in transit when the counters were read, because no step at the end of the timed regions
  // waits for them. A shortfall then proves nothing.
  bool more_may_follow = false;
};

struct PhaseWrites {
  std::vector<std::optional<ClientWrites>>
      clients;  // index = client of the roster; nullopt: no buffered writes
  // The headline's time includes flushing all data out of the clients' memory: it includes an fsync, flushes among the
  // writes that leave at most 5 % of the bytes (--fsync-every, bursts), or a close that waits for the server. Under an NFSv4 write delegation a close does not wait, so there 95 % of the bytes must be
  // found in the counters.
  bool flushed = false;
};

// Reads the counters of the record: mountstats for NFS, /proc/self/io for local file systems. A process that writes to
// both is charged for both, so then nothing is known of the local ones. Does not use view.writes.
PhaseWrites PhaseWritesOf(const PhaseView& view);

// Returns what all lanes wrote in their timed regions, warm-up included, whether through the clients' memory or past it;
// 0 for engines that move nothing.
double AllWrittenBytesOf(const PhaseView& view);

// Fills written_bytes and reached_bytes of the phase and its clients. REQUIRES: view.writes is set and the clients are
// filled.
void FillWrites(const PhaseView& view, v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_PHASE_WRITES_H_
