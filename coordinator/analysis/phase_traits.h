// What the plan says about one phase, decided once.
#ifndef COORDINATOR_ANALYSIS_PHASE_TRAITS_H_
#define COORDINATOR_ANALYSIS_PHASE_TRAITS_H_

#include <cstdint>
#include <string>

#include "iobench/v1/plan.pb.h"

namespace iobench {

struct PhaseTraits {
  std::string name;       // the phase's, else its operations'
  std::string operation;  // "random-read"; several assignments: "read+write"
  std::string title;      // "random read"
  std::string engine;
  uint64_t record_bytes = 0;  // of the first assignment
  bool reads = false;
  bool writes = false;
  bool metadata = false;          // calls on names: the figure is ops/s
  bool metadata_repeats = false;  // and they could go round for a time
  bool needs_items = false;       // works on names that were there before
  bool finds = false;             // every operation looks for items
  v1::Tree tree;                  // of the first metadata operation
  bool null_engine = false;       // every assignment: nothing touches a file
  bool unmounted = false;  // every assignment: a client of our own that keeps nothing in the client's memory
  bool buffered_writes =
      false;                  // some writes that neither bypass nor flush memory (unmounted: the server's) by
                              // themselves
  bool direct_reads = false;  // all reads bypass the client's memory
  bool rotated = false;
  bool drops_caches = false;
  bool flush_in_region = false;  // a flush of buffered writes belongs to the timed region
  double warmup_s = 0;
  double deadline_s = 0;                                // 0: none
  v1::Stonewall stonewall = v1::STONEWALL_RETROACTIVE;  // never UNSPECIFIED
  std::string stonewall_name;                           // "retroactive", "flushed", "stop", "none"
  std::string headline_name;                            // "stonewalled", "full"
  std::string headline_region;                          // "ops", "open+ops+fsync+close" …

  // The headline counts up to the first lane's end, read off the timelines (else: whole timed regions).
  bool headline_is_retroactive() const {
    return stonewall == v1::STONEWALL_RETROACTIVE || stonewall == v1::STONEWALL_STOP;
  }
  bool headline_fsyncs = false;  // the headline's region holds the fsync …
  bool headline_closes = false;  // … the close
};

// A client of our own moves its bytes, which keeps nothing in the client's memory.
bool IsUnmounted(const v1::Operation& operation);

PhaseTraits TraitsOf(const v1::Phase& phase);

// The assignment that a worker follows: the first that selects it. Null: it sits out.
const v1::Assignment* AssignmentOf(const v1::Phase& phase, uint32_t worker);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_TRAITS_H_
