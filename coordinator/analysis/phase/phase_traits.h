// Properties of one phase that follow from the plan, determined once.
#ifndef COORDINATOR_ANALYSIS_PHASE_PHASE_TRAITS_H_
#define COORDINATOR_ANALYSIS_PHASE_PHASE_TRAITS_H_

#include <cstdint>
#include <string>

#include "iobench/v1/plan.pb.h"

namespace iobench {

struct PhaseTraits {
  std::string name;       // the phase's name, or else that of its operations
  std::string operation;  // "random-read"; several assignments: "read+write"
  std::string title;      // "random read"
  std::string engine;
  uint64_t record_bytes = 0;  // of the first assignment
  bool reads = false;
  bool writes = false;
  bool metadata = false;          // metadata operations: the figure is ops/s
  bool metadata_repeats = false;  // metadata operations that could loop for a time
  bool needs_items = false;       // metadata operations on existing items
  bool finds = false;             // every operation is find
  v1::Tree tree;                  // of the first metadata operation
  bool null_engine = false;       // every assignment: no files are touched
  bool unmounted = false;  // every assignment: a client of our own, which caches nothing in the client's memory
  bool buffered_writes =
      false;                  // some writes neither bypass nor flush memory (unmounted: the server's) by themselves
  bool direct_reads = false;  // all reads bypass the client's memory
  bool rotated = false;
  bool drops_caches = false;
  bool flush_in_region = false;  // a flush of buffered writes is part of the timed region
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
  bool headline_fsyncs = false;  // the headline's region includes the fsync …
  bool headline_closes = false;  // … and the close
};

PhaseTraits TraitsOf(const v1::Phase& phase);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_PHASE_TRAITS_H_
