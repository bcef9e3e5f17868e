// The report as a document to hand over (report.md), for acceptance tests, in GitHub's flavour of Markdown.
#ifndef COORDINATOR_REPORT_MARKDOWN_MARKDOWN_WRITER_H_
#define COORDINATOR_REPORT_MARKDOWN_MARKDOWN_WRITER_H_

#include <ostream>

#include "absl/status/status.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Writes the verdict, the criteria as stated before the run, the environment, every phase's figures, repetitions, marks
// with what to do, errors, how to repeat the run, and the hashes of its files. External names are escaped. DataLoss:
// not everything could be written.
absl::Status WriteMarkdown(const v1::RunReport& report, std::ostream& out);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_MARKDOWN_MARKDOWN_WRITER_H_
