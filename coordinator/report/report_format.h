// The formats of report files. Each renders the finished RunReport and computes nothing.
#ifndef COORDINATOR_REPORT_REPORT_FORMAT_H_
#define COORDINATOR_REPORT_REPORT_FORMAT_H_

#include <cstddef>
#include <functional>
#include <ostream>
#include <string_view>

#include "absl/status/status.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Whether a phase is the first that its file lists.
enum class PlaceInList { kFirst, kLater };

// The phases of a report, written by ReportFormat::write_phase one after the other.
struct WrittenPhases {
  bool any = false;
  std::function<absl::Status(std::ostream& out)> copy_to;
};

// How the program writes and recognises the files of one format. The phases are written one by one, so that a run with
// any number of phases can be saved as it proceeds, with one phase in memory at a time. All write functions flush
// `out`. DataLoss: not everything could be written.
struct ReportFormat {
  static constexpr size_t kHeadBytes = 512;
  // Returns whether a file that begins with `head` (at most kHeadBytes) was written by this program.
  bool (*is_ours)(std::string_view head);

  // Writes what comes before the first phase. nullptr: nothing does.
  absl::Status (*write_titles)(std::ostream& out);
  // Writes what a phase adds. `report`: the run that it belongs to; its own phases are not used.
  absl::Status (*write_phase)(const v1::RunReport& report, const v1::PhaseReport& phase, PlaceInList place,
                              std::ostream& out);
  // Writes the report around its phases; the report's own are not used. nullptr: there is nothing around them, so the
  // file can grow by one phase after the other.
  absl::Status (*write_around)(const v1::RunReport& report, const WrittenPhases& phases, std::ostream& out);

  // Writes the row of a phase that a saved run no longer has (RunInfo.missing_phases), after the others. nullptr:
  // write_around lists them.
  absl::Status (*write_missing)(const v1::RunReport& report, const v1::MissingPhase& phase,
                                std::ostream& out) = nullptr;

  bool grows() const { return write_around == nullptr; }
};

// Each is defined in the file that writes it.
extern const ReportFormat kJsonFormat;        // json_writer.cc: every figure
extern const ReportFormat kPhasesCsvFormat;   // csv_writer.cc: one row per phase
extern const ReportFormat kClientsCsvFormat;  // csv_writer.cc: one row per phase and client
extern const ReportFormat kLanesCsvFormat;    // csv_writer.cc: one row per phase, client and lane

// Writes a whole report.
absl::Status WriteReport(const ReportFormat& format, const v1::RunReport& report, std::ostream& out);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_REPORT_FORMAT_H_
