// The reports that a run writes after its end: those of --format, and those that every run writes.
#ifndef COORDINATOR_SAVED_RUN_RUN_DOCUMENTS_H_
#define COORDINATOR_SAVED_RUN_RUN_DOCUMENTS_H_

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/options/cluster_options.h"
#include "coordinator/report/document/document.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Checks, before anything is measured, whether the documents that the user asks for can be written. `iozone`: IOzone's
// options, if any was given. InvalidArgument, AlreadyExists, FailedPrecondition or an errno's code: this build lacks a
// format; no phase of the plan is one that a format shows; the file of -b exists (unless --force is given), is a directory or cannot be created; or the result directory
// holds no result, but a file that one of the documents would replace (unless --force is given).
absl::Status CheckDocuments(const ClusterOptions& options, const std::optional<v1::IozoneOutput>& iozone,
                            const v1::Plan& plan);
// Returns the file that -b FILE writes: FILE, with .xlsx in place of .xls and IOzone's .wks.
std::string WorkbookFileOf(const std::string& given);

// A value type. It reads the saved run again, because while a run lasts only briefs of its phases are in memory.
class RunDocuments {
 public:
  // `as_iozone`: what is printed in IOzone's format has no doubts, which are printed aside.
  // REQUIRES: CheckDocuments is OK for these arguments.
  explicit RunDocuments(const ClusterOptions& options,
                        const std::optional<v1::IozoneOutput>& iozone = std::nullopt, bool as_iozone = false);

  // True if a text format was asked for, which is printed in place of the console's report.
  bool replace_console() const { return replace_console_; }
  // Returns a line that names the file of -b, with its line break; empty without -b.
  std::string WorkbookLine() const;
  // Returns the names of the files that Write writes into the result directory, besides those of every result.
  std::vector<std::string> FileNames() const;
  // Writes the documents into the result directory (the workbook of -b to its own file) and prints texts on `out`. Also
  // does what IOzone's options ask for: -R prints its Excel text, unless a text format is printed; -+z and -+T write
  // files; with `as_iozone`, errors and marks, for which IOzone has no place, are printed on `aside`. Replaces files of an
  // earlier run, which the run itself has been allowed to replace (--force, --resume).
  // Tries all; returns the first error, which names the file. A text that `out` does not take is no error: check `out`.
  // `run`: as it has ended, of which the directory may not have the end yet.
  absl::Status Write(const std::string& directory, const v1::RunRecord& run, std::ostream& out,
                     std::ostream& aside) const;

 private:
  std::vector<const Document*> Wanted() const;  // those asked for, then those that every run writes

  std::vector<const Document*> asked_;  // in the order given
  bool replace_console_ = false;
  std::string workbook_given_, workbook_;  // -b: as given, and the file that is written; empty: none
  bool replace_workbook_ = false;
  bool replace_asked_ = false;  // --force, --resume: what is in the place of a document that was asked for
  bool resumes_ = false;  // --resume: what is in the place of any document was one of this run, and may be damaged
  v1::IozoneOutput iozone_;
  bool as_iozone_ = false;
};

}  // namespace iobench

#endif  // COORDINATOR_SAVED_RUN_RUN_DOCUMENTS_H_
