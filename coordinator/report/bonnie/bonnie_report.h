// Report formats of Bonnie and Bonnie++. Sources: the layouts as Bonnie++ 2.00a and 1.96 print them, and the list of CSV fields in
// bon_csv2html(1). docs/reports.md says what differs on purpose.
#ifndef COORDINATOR_REPORT_BONNIE_BONNIE_REPORT_H_
#define COORDINATOR_REPORT_BONNIE_BONNIE_REPORT_H_

#include <ostream>

#include "absl/status/status.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Each writes and flushes one document. FailedPrecondition: no phase of the run is one of Bonnie++'s tests. DataLoss:
// not everything could be written.

// The text (bonnie_text.cc) of 2.00a in 80 columns, with notes on what its layout cannot say.
absl::Status WriteBonnieText(const v1::RunReport& report, std::ostream& out);
// The table (bonnie_1_text.cc) of the first Bonnie, by Tim Bray. FailedPrecondition also if only names were tested.
absl::Status WriteBonnie1Text(const v1::RunReport& report, std::ostream& out);
// The CSV (bonnie_csv.cc): a line for the whole run and, if there are several clients, one for each; the same again for each repetition.
absl::Status WriteBonnieCsv(const v1::RunReport& report, std::ostream& out);     // 2.00a: 50 fields
absl::Status WriteBonnieCsv196(const v1::RunReport& report, std::ostream& out);  // 1.96: 48 fields

}  // namespace iobench

#endif  // COORDINATOR_REPORT_BONNIE_BONNIE_REPORT_H_
