// Rates over file and record sizes, by lanes and workers: the tables of a sweep. Pure.
#ifndef COORDINATOR_ANALYSIS_ACROSS_SURFACES_H_
#define COORDINATOR_ANALYSIS_ACROSS_SURFACES_H_

#include <cstdint>

#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// What distinguishes the phases of a sweep over one operation.
struct SweepPlace {
  uint32_t workers = 0;  // 0: all workers of the run
  uint32_t lanes = 0;    // of each worker
  uint64_t bytes = 0;    // of each lane; 0 for metadata operations
  uint64_t record_bytes = 0;

  auto operator<=>(const SweepPlace&) const = default;
};
SweepPlace PlaceOf(const v1::Plan& plan, const v1::Phase& phase);

// True if all phases of the plan are the same operations with different sizes, records, or numbers of lanes or workers;
// with --each-path, on each path.
bool IsSweep(const v1::Plan& plan);

// True if the cells are a table over sizes or records. Phases with a size and a record of their own each, such as those
// of a suite, are none.
bool CoversSizes(const v1::SurfaceReport& surface);

// Sets report.surfaces, in the order of their first phases: all of a plan that is a sweep, otherwise those that cover
// sizes. Phases of one client, of the servers or beside a load are in none. Of phases in one place with different names,
// the last one counts. A repetition without ops has no rate. The phases may be briefs (coordinator/analysis/brief.h).
void UpdateSurfaces(v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_ACROSS_SURFACES_H_
