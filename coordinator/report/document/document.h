// Reports that are written as a whole, after the run: `run --format NAME` and `report DIR --format NAME`.
#ifndef COORDINATOR_REPORT_DOCUMENT_DOCUMENT_H_
#define COORDINATOR_REPORT_DOCUMENT_DOCUMENT_H_

#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// A format that renders a complete RunReport, with every phase and its charts, and computes nothing.
struct Document {
  // The kind of its contents. Unless a file is named, only text is printed, on standard output.
  enum class Content { kText, kBinary };
  // kAtEndOfRun: every run writes it into its result directory; kOnRequest: only with --format.
  enum class Written { kOnRequest, kAtEndOfRun };

  const char* name = "";       // for --format: "iozone"
  const char* file_name = "";  // in the result directory: "report.iozone.txt"
  const char* holds = "";  // one clause, which begins its cell in docs/reports.md and its line in the help
  Content content = Content::kText;
  Written written = Written::kOnRequest;
  bool shows_charts =
      false;  // PhaseReport.charts must be filled in, which takes as long as all other figures
  // It shows only phases of some operations, and refuses a run without any.
  bool shows_some = false;
  // Returns whether a file that begins with `head` (at most ReportFormat::kHeadBytes) was written by this program;
  // nullptr: nobody can tell. A run replaces another file only if it was asked for the document, and --force or --resume
  // was given.
  bool (*is_ours)(std::string_view head) = nullptr;
  // OK if this build can write it; otherwise FailedPrecondition, which says how to get a build that can. nullptr: every
  // build can.
  absl::Status (*is_built)() = nullptr;
  // Writes and flushes the document. DataLoss: not everything could be written. FailedPrecondition: the report does not
  // have what this format shows; the message says what is missing.
  absl::Status (*write)(const v1::RunReport& report, std::ostream& out) = nullptr;
};

// The table of documents, in the order of the help. A new one is a row here and a file with its function.
std::span<const Document> Documents();
// InvalidArgument: there is none of this name; the message lists all.
absl::StatusOr<const Document*> DocumentNamed(std::string_view name);
// Returns all names, separated by `separator`.
std::string DocumentNames(const char* separator);

// Writes a document to `path`, atomically. AlreadyExists: `path` exists and `replace` is false. Errors name the file.
absl::Status SaveDocument(const Document& document, const v1::RunReport& report, const std::string& path,
                          bool replace);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_DOCUMENT_DOCUMENT_H_
