// A run in the texts of IOR and mdtest, for programs that read their summaries.
#ifndef COORDINATOR_REPORT_IOR_IOR_REPORT_H_
#define COORDINATOR_REPORT_IOR_IOR_REPORT_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "coordinator/analysis/foreign/ior_figures.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Each writes and flushes one document. FailedPrecondition: the run has no phase that it shows. DataLoss: not everything
// could be written.

// IOR 4.0's text (ior_text.cc): options, a row per phase and repetition, and a row per phase over its repetitions.
absl::Status WriteIorText(const v1::RunReport& report, std::ostream& out);
// mdtest 3.3's text (mdtest_text.cc): a row per operation over its repetitions.
absl::Status WriteMdtestText(const v1::RunReport& report, std::ostream& out);

// When the last phase ended, as ctime() says it.
std::string EndOf(const v1::RunReport& report);
// What puts the figures of a phase in doubt, a line for each; IOR's warnings begin like them.
std::string WarningsOf(const RepeatedPhase& phase);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_IOR_IOR_REPORT_H_
