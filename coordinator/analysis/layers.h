// What the servers' disks, the network and the clients reach in the same phase (--server-path). Pure.
// docs/definitions.md, "Layers".
#ifndef COORDINATOR_ANALYSIS_LAYERS_H_
#define COORDINATOR_ANALYSIS_LAYERS_H_

#include "iobench/v1/result.pb.h"

namespace iobench {

// Clients that reach this share of a layer have all that it gives: two measurements may differ by the rest.
inline constexpr double kReachesLayer = 0.8;

// Fills report.layers with one entry for each phase that servers do too; all rates are NaN. REQUIRES: report.run() has
// the plan.
void BeginLayers(v1::RunReport& report);

// Adds what a phase, which must not be a brief, says of its layers. Nothing for other phases, nor for one that was
// interrupted, or that lost a worker or a lane.
void UpdateLayers(const v1::PhaseReport& phase, v1::RunReport& report);

// Sets the shares and the narrowest layer from the rates and problems of the rows.
void JudgeLayers(v1::LayersReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_LAYERS_H_
