// Properties of one phase that follow from the plan, determined once.
#ifndef COORDINATOR_ANALYSIS_PHASE_PHASE_TRAITS_H_
#define COORDINATOR_ANALYSIS_PHASE_PHASE_TRAITS_H_

#include <cstdint>
#include <string>

#include "iobench/v1/plan.pb.h"

namespace iobench {

// A value; it does not borrow the phase. If a phase has several assignments, the comments say which of them must have a
// trait; without a comment, any one is enough.
struct PhaseTraits {
  std::string name;       // the phase's name, or else that of its operations
  std::string operation;  // "random-read"; several assignments: "read+write"
  std::string title;      // "random read"
  std::string engine;
  uint64_t record_bytes = 0;  // of the first assignment
  bool reads = false;
  bool writes = false;
  // Every operation is a metadata operation.
  bool metadata = false;
  // Every operation has its figure in ops/s instead of bytes/s.
  bool headline_in_ops = false;
  // Every operation is a metadata operation that can do the same items again and so can loop for a time (--time).
  bool metadata_repeats = false;
  // Some metadata operation works on items that must exist before.
  bool needs_items = false;
  bool finds = false;  // every operation is find
  v1::Tree tree;       // of the first metadata operation
  // Every assignment uses the null engine: no files are touched.
  bool null_engine = false;
  // Some use collective MPI-IO, whose lanes keep a processor busy while they wait for each other.
  bool waits_busily = false;
  // Every assignment uses a client of our own (libnfs), which caches nothing in the client's memory.
  bool unmounted = false;
  // Some writes neither bypass nor flush the client's memory by themselves; if unmounted, the server's memory.
  bool buffered_writes = false;
  // Every operation writes new files, from their beginning.
  bool writes_new_files = false;
  // With --time, each pass over the lanes' records ends with a flush.
  bool flushes_passes = false;
  bool rotated = false;
  bool drops_caches = false;
  // A flush of buffered writes (fsync or close) is part of the timed region.
  bool flush_in_region = false;
  double warmup_s = 0;
  double deadline_s = 0;                                // 0: none
  v1::Stonewall stonewall = v1::STONEWALL_RETROACTIVE;  // never UNSPECIFIED
  std::string stonewall_name;                           // "retroactive", "flushed", "stop", "none"
  std::string headline_name;                            // "stonewalled", "full"
  std::string headline_region;                          // "ops", "open+ops+fsync+close" …

  // True if the headline counts up to the end of the first lane, read from the timelines; false: it counts whole timed
  // regions.
  bool headline_is_retroactive() const {
    return stonewall == v1::STONEWALL_RETROACTIVE || stonewall == v1::STONEWALL_STOP;
  }
  // The headline's region includes the fsync of writes, or the close.
  bool headline_fsyncs = false;
  bool headline_closes = false;
};

// Pure. An operation that this version does not know, as in a record of a later one, is taken to read and write.
PhaseTraits TraitsOf(const v1::Phase& phase);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_PHASE_TRAITS_H_
