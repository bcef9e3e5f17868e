// A run as fio's JSON.
#ifndef COORDINATOR_REPORT_FIO_FIO_JSON_H_
#define COORDINATOR_REPORT_FIO_FIO_JSON_H_

#include <ostream>

#include "absl/status/status.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Writes and flushes the document: a job for each phase that reads or writes records, with the fields that fio-plot and
// notebooks read, in fio's units. docs/reports.md says what differs. FailedPrecondition: no phase is such a job. DataLoss:
// not everything could be written.
absl::Status WriteFioJson(const v1::RunReport& report, std::ostream& out);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_FIO_FIO_JSON_H_
