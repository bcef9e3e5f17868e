// What samplers saw of a phase: figures over its timed part, and series on its time axis. docs/definitions.md,
// "Servers".
#ifndef COORDINATOR_ANALYSIS_PHASE_SERVER_FIGURES_H_
#define COORDINATOR_ANALYSIS_PHASE_SERVER_FIGURES_H_

#include <optional>
#include <string>

#include "coordinator/analysis/phase/phase_view.h"
#include "coordinator/analysis/phase/window.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Sets report.servers: one entry for each record of a sampler, over the time from the phase's start to the end of its
// last timed region. An interval that is partly outside this time counts in proportion, as if its counts were spread
// evenly.
void FillServers(const PhaseView& view, v1::PhaseReport& report);

// Sets report.charts.servers: the intervals as they were sampled, in seconds after `axis.begin`. Those outside the axis
// are left out.
void FillServerSeries(const PhaseView& view, const Window& axis, v1::PhaseReport& report);

// Returns what a report says of the host of a sampler.
v1::ServerFacts ServerFactsOf(const v1::WorkerFacts& sampler);

// Returns the figures of one record. `times`: nullopt if no lane ran. Pure.
v1::ServerReport ServerReportOf(const v1::ServerRecord& record, const std::string& host,
                                const std::optional<Window>& times);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_SERVER_FIGURES_H_
