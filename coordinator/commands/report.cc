#include "coordinator/commands/report.h"

#include <malloc.h>
#include <unistd.h>

#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "coordinator/analysis/report_builder.h"
#include "coordinator/process/fitted_stream.h"
#include "coordinator/report/atomic_file.h"
#include "coordinator/report/capacity/capacity_formats.h"
#include "coordinator/report/capacity/saved_capacity.h"
#include "coordinator/report/console/console_report.h"
#include "coordinator/report/document/document.h"
#include "coordinator/report/result_store.h"
#include "coordinator/live/display.h"
#include "coordinator/process/failure.h"
#include "coordinator/saved_run/finished_phases.h"
#include "coordinator/saved_run/redact.h"
#include "coordinator/saved_run/run_names.h"
#include "coordinator/saved_run/verify.h"
#include "coordinator/saved_run/whole_report.h"

namespace iobench {
namespace {

// The answer first, then the phases: of these, only the text and few at a time are in memory.
void ShowRun(SavedRun& saved, const ConsoleStyle& style, std::ostream& out) {
  ReportBuilder report(saved.run());
  FinishedPhases finished(saved, {.digests = false});
  const v1::FinishedPhase* const newest = finished.Newest();
  if (newest != nullptr) {
    report.BeginWithClocksOf(*newest);
  } else {
    report.Begin(nullptr);
  }
  out << ConsoleHeader(report.report(), style) << std::flush;
  const Pages pages = PagesFor(report.report().run().plan());  // checking it for each phase takes long
  std::string phases;
  while (std::optional<v1::FinishedPhase> next = finished.Next()) {
    const v1::PhaseReport phase = report.Add(*std::move(next));
    phases += ConsolePhase(report.report(), phase, style, pages);
  }
  report.UpdateTotals();
  for (const std::string& warning : saved.warnings()) PrintError(warning);
  report.RecordMissing(saved.missing_phases(), saved.warnings());
  out << ConsoleFooter(report.report(), style) << phases << std::flush;
}

absl::Status ShowRedacted(SavedRun& saved, const ConsoleStyle& style, std::ostream& out) {
  v1::RunReport report = WholeReport(saved, {.digests = false});
  for (const std::string& warning : saved.warnings()) PrintError(warning);
  Redact(saved.run(), report);
  return WriteConsole(report, style, out);
}

// What the run's phases were measured for, where that was their capacity; nullopt: otherwise. Its sentences name hosts and
// paths, which are not replaced.
std::optional<v1::CapacityReport> CapacityIn(const ReportCommand& options) {
  if (options.redact || !HasSavedCapacity(options.directory)) return std::nullopt;
  absl::StatusOr<v1::CapacityReport> capacity = ReadSavedCapacity(options.directory);
  if (capacity.ok()) return *std::move(capacity);
  PrintError(std::string(capacity.status().message()));
  return std::nullopt;
}

// The console's report: the answers of a capacity measurement before its phases.
absl::Status ShowSaved(const ReportCommand& options, SavedRun& saved, const ConsoleStyle& style, std::ostream& out) {
  if (options.redact) return ShowRedacted(saved, style, out);
  if (const std::optional<v1::CapacityReport> capacity = CapacityIn(options); capacity.has_value()) {
    const v1::CapacityReport* const one = &*capacity;
    IOBENCH_RETURN_IF_ERROR(WriteCapacityText({one, 1}, style, out));
    out << '\n';
  }
  ShowRun(saved, style, out);
  return absl::OkStatus();
}

int PrintOnConsole(const ReportCommand& options, SavedRun& saved) {
  const FittedStream fitted(std::cout, STDOUT_FILENO);
  const absl::Status written = ShowSaved(options, saved, StyleOf(Stdout::kOurs, options.verbose), std::cout);
  if (!written.ok() && !absl::IsDataLoss(written)) return Fail(written, kExitUsage);
  return saved.warnings().empty() ? kExitOk : kExitIo;
}

// Writes the console's report into the file of --output.
int WriteConsoleFile(const ReportCommand& options, SavedRun& saved) {
  const ConsoleStyle style{.detail = options.verbose ? Detail::kFull : Detail::kBrief};
  const absl::Status written = WriteFileAtomically(
      options.output, [&](std::ostream& out) { return ShowSaved(options, saved, style, out); });
  if (!written.ok()) return Fail(written, kExitIo);
  std::cout << "wrote " << options.output << std::endl;
  return saved.warnings().empty() ? kExitOk : kExitIo;
}

int Verify(const std::string& directory) {
  const FittedStream fitted(std::cout, STDOUT_FILENO);
  const absl::StatusOr<bool> passed = VerifySavedRun(directory, std::cout);
  if (!passed.ok()) return Fail(passed.status(), absl::IsNotFound(passed.status()) ? kExitUsage : kExitIo);
  return *passed ? kExitOk : kExitIo;
}

// The page of a capacity measurement in place of that of its phases.
int WriteCapacityPageOf(const v1::CapacityReport& capacity, const Document& page, const ReportCommand& options) {
  const std::string path =
      options.output.empty() ? absl::StrCat(options.directory, "/", page.file_name) : options.output;
  if (const absl::Status writable = CheckOutputFile(path, options.replace); !writable.ok()) return Fail(writable, kExitUsage);
  const v1::CapacityReport* const one = &capacity;
  const absl::Status written = WriteFileAtomically(path, [&](std::ostream& out) {
    return (*CapacityFormatNamed(page.name))->write({one, 1}, ConsoleStyle(), out);
  });
  if (!written.ok()) return Fail(written, kExitIo);
  std::cout << "wrote " << path << std::endl;
  return kExitOk;
}

// A format that has nothing to say of this run is the wrong one.
int ExitOfUnwritten(const absl::Status& written) {
  return absl::IsFailedPrecondition(written) ? kExitUsage : kExitIo;
}

int WriteAs(const Document& document, const ReportCommand& options, SavedRun& saved) {
  const bool prints = options.output.empty() && document.content == Document::Content::kText;
  const std::string path =
      options.output.empty() ? absl::StrCat(options.directory, "/", document.file_name) : options.output;
  const absl::Status writable = prints ? absl::OkStatus() : CheckOutputFile(path, options.replace);
  if (!writable.ok()) return Fail(writable, kExitUsage);
  v1::RunReport report =
      WholeReport(saved, {.charts = document.shows_charts ? Charts::kFilledIn : Charts::kLeftOut});
  if (options.redact) Redact(saved.run(), report);
  for (const std::string& warning : saved.warnings()) PrintError(warning);
  const int exit_code = saved.warnings().empty() ? kExitOk : kExitIo;
  if (prints) {
    const absl::Status written = document.write(report, std::cout);
    // Lost output is reported at the end of the program.
    if (!written.ok() && !absl::IsDataLoss(written)) return Fail(written, ExitOfUnwritten(written));
    return exit_code;
  }
  const absl::Status written = SaveDocument(document, report, path, options.replace);
  if (!written.ok()) return Fail(written, ExitOfUnwritten(written));
  std::cout << "wrote " << path << std::endl;
  return exit_code;
}

// Returns the exit code, provided that standard output can be written.
int Print(const ReportCommand& options) {
  if (options.verify) return Verify(options.directory);
  const bool console_file = options.format.empty() && !options.output.empty();
  if (console_file) {
    const absl::Status writable = CheckOutputFile(options.output, options.replace);
    if (!writable.ok()) return Fail(writable, kExitUsage);
  }
  absl::StatusOr<SavedRun> saved = SavedRun::Open(options.directory);
  if (!saved.ok()) return Fail(saved.status(), kExitUsage);
  if (console_file) return WriteConsoleFile(options, *saved);
  if (options.format.empty()) return PrintOnConsole(options, *saved);
  const absl::StatusOr<const Document*> document = DocumentNamed(options.format);
  if (!document.ok()) return Fail(document.status(), kExitUsage);
  if (options.format == "html") {
    if (const auto capacity = CapacityIn(options); capacity.has_value())
      return WriteCapacityPageOf(*capacity, **document, options);
  }
  return WriteAs(**document, options, *saved);
}

}  // namespace

int PrintSavedRun(const ReportCommand& asked) {
  ReportCommand options = asked;
  const std::vector<std::string> words(asked.directory.empty() ? 0 : 1, asked.directory);
  const absl::StatusOr<std::vector<std::string>> runs = RunsNamed(words, 1);
  if (!runs.ok()) return Fail(runs.status(), kExitUsage);
  options.directory = runs->back();
  // Every phase of a run needs the same memory again. Keeping it, in one pool for all threads, halves the page faults
  // of a large run.
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  // Also judges the line "wrote FILE". A closed pipe (`| head`) is no failure; this tells it from a full disk.
  return ExitOfPrinting(Print(options), kExitIo);
}

}  // namespace iobench
