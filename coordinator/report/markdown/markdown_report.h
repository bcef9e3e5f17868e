// The chapters of the document that show what was measured, where, and how far to trust it.
#ifndef COORDINATOR_REPORT_MARKDOWN_MARKDOWN_REPORT_H_
#define COORDINATOR_REPORT_MARKDOWN_MARKDOWN_REPORT_H_

#include <ostream>

#include "iobench/v1/result.pb.h"

namespace iobench {

// Each writes a chapter with its title, or nothing if the report has nothing for it.

void WriteEnvironment(const v1::RunReport& report, std::ostream& out);  // clients, mounts, clocks, settings
void WriteFigures(const v1::RunReport& report, std::ostream& out);      // one row per phase
void WriteTargets(const v1::RunReport& report, std::ostream& out);      // --each-path: the paths side by side
void WritePerClient(const v1::RunReport& report,
                    std::ostream& out);  // --per-client: each alone, and together
void WriteInterference(const v1::RunReport& report,
                       std::ostream& out);  // --background: victims undisturbed, and beside each load
void WriteLayers(const v1::RunReport& report, std::ostream& out);   // --server-path: disk, network, clients
void WriteSoak(const v1::RunReport& report, std::ostream& out);     // --soak: what was found over all rounds
void WriteParts(const v1::RunReport& report, std::ostream& out);    // --mix: what each operation did
void WriteOpenLoops(const v1::RunReport& report, std::ostream& out);  // --rate: response, service and lag
void WritePathsOfPhases(const v1::RunReport& report, std::ostream& out);  // several --path at once: what each did
void WriteServers(const v1::RunReport& report, std::ostream& out);  // what samplers saw
void WriteReads(const v1::RunReport& report, std::ostream& out);    // where bytes came from
void WriteRepetitions(const v1::RunReport& report, std::ostream& out);  // medians and their intervals
void WriteMarks(const v1::RunReport& report, std::ostream& out);        // with what to do
void WriteErrors(const v1::RunReport& report, std::ostream& out);       // of the run, and of each phase

}  // namespace iobench

#endif  // COORDINATOR_REPORT_MARKDOWN_MARKDOWN_REPORT_H_
