// Finds where the clients of a run are not alike: mounts, settings, hardware.
#ifndef COORDINATOR_ANALYSIS_CLIENT_DIFFERENCES_H_
#define COORDINATOR_ANALYSIS_CLIENT_DIFFERENCES_H_

#include "iobench/v1/result.pb.h"

namespace iobench {

// Fills `differences` from the clients: what belongs to mounts first, then settings, then hardware. The usual value is
// that of most clients, or of the first one if several values are equally frequent; each other value is a difference.
// What is specific to each client on every cluster (its addresses, the name of its interface) is left out. "not
// available": the client does not report it, or has no such setting.
void FillDifferences(v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_CLIENT_DIFFERENCES_H_
