// What a result directory holds: the one list that the files are written, replaced and named by.
#ifndef COORDINATOR_REPORT_RESULT_FILES_H_
#define COORDINATOR_REPORT_RESULT_FILES_H_

#include <span>

#include "coordinator/report/report_format.h"

namespace iobench {

inline constexpr char kResultJson[] = "result.json";
inline constexpr char kPhasesCsv[] = "phases.csv";
inline constexpr char kClientsCsv[] = "clients.csv";
inline constexpr char kResultCsv[] = "result.csv";
inline constexpr char kRawFiles[] = "raw/";
inline constexpr char kRawRun[] = "raw/run.pb";

// A file, or a directory, of the result.
struct ResultFile {
  const char* name;            // as messages show it; ends in / for a directory
  const char* main_file;       // stands for it: if this file exists, the directory holds a result
  const char* holds;           // one clause, which begins its cell in docs/reports.md
  const ReportFormat* format;  // how ResultStore writes it; nullptr: raw data, which raw_files.h writes
};

// In the order in which messages name them; raw data comes last. A new report format is a row here and a file with its
// ReportFormat, declared in report_format.h. Only names that other code uses need a constant above.
std::span<const ResultFile> ResultFiles();

}  // namespace iobench

#endif  // COORDINATOR_REPORT_RESULT_FILES_H_
