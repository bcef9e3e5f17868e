// result.csv: one row per phase, client and lane, with the phase's figures repeated in each row, so that pandas and R
// read it without options. phases.csv and clients.csv: one row per phase, or per phase and client, with only its own
// figures, so that they can be summed.
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coordinator/report/csv_columns.h"
#include "coordinator/report/flush_report.h"
#include "coordinator/report/report_format.h"
#include "coordinator/report/text/csv_text.h"

namespace iobench {
namespace {

// The cells of a phase are the same in all of its rows. Rendered once: with a mark for each of thousands of clients,
// the time for the cell of its marks would grow with the square of the lanes.
class RowWriter {
 public:
  RowWriter(CsvFigures columns, const v1::RunReport& report, const v1::PhaseReport& phase)
      : columns_(std::move(columns)) {
    for (const CsvFigure* column : columns_) {
      of_phase_.push_back(column->of == CsvFigure::Of::kPhase ? column->value({report, phase})
                                                              : std::string());
    }
  }

  void Write(const CsvRow& row, std::ostream& out) const {
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) out << ',';
      if (columns_[i]->of == CsvFigure::Of::kPhase) {
        out << of_phase_[i];
      } else {
        out << columns_[i]->value(row);
      }
    }
    out << '\n';
  }

 private:
  const CsvFigures columns_;
  std::vector<std::string> of_phase_;  // index = column; empty for a lane's
};

bool IsOurCsv(std::string_view head) {
  return head.starts_with("run_id,started_at,phase_index,");
}

absl::Status WriteLanesTitles(std::ostream& out) {
  out << CsvTitles(LanesCsvColumns());
  return Flush(out, "CSV");
}

absl::Status WriteLanesOfPhase(const v1::RunReport& report, const v1::PhaseReport& phase, PlaceInList,
                               std::ostream& out) {
  const RowWriter rows(LaneFigures(), report, phase);
  for (const auto& client : phase.clients()) {
    for (const auto& worker : client.workers()) {
      for (const auto& lane : worker.lanes()) {
        rows.Write({report, phase, &client, &worker, &lane}, out);
      }
      if (worker.lanes().empty()) rows.Write({report, phase, &client, &worker, nullptr}, out);
    }
  }
  return Flush(out, "CSV");
}

absl::Status WriteClientsTitles(std::ostream& out) {
  out << CsvTitles(ClientsCsvColumns());
  return Flush(out, "CSV");
}

absl::Status WriteClientsOfPhase(const v1::RunReport& report, const v1::PhaseReport& phase, PlaceInList,
                                 std::ostream& out) {
  const RowWriter rows(ClientFigures(), report, phase);
  for (const auto& client : phase.clients()) rows.Write({report, phase, &client}, out);
  return Flush(out, "CSV");
}

absl::Status WritePhasesTitles(std::ostream& out) {
  out << CsvTitles(PhasesCsvColumns());
  return Flush(out, "CSV");
}

absl::Status WritePhaseRow(const v1::RunReport& report, const v1::PhaseReport& phase, PlaceInList,
                           std::ostream& out) {
  RowWriter(PhaseFigures(), report, phase).Write({report, phase}, out);
  return Flush(out, "CSV");
}

// Nothing else is known of the phase.
absl::Status WriteMissing(const CsvFigures& columns, const v1::RunReport& report,
                          const v1::MissingPhase& missing, std::ostream& out) {
  for (const CsvFigure* column : columns) {
    if (column != columns.front()) out << ',';
    if (column->about.name == "run_id") out << CsvText(report.run().id());
    if (column->about.name == "phase_index") out << missing.index();
    if (column->about.name == "repetition") out << missing.repetition();
    if (column->about.name == "phase") out << CsvText(missing.name());
    if (column->about.name == "state") out << "missing";
    if (column->about.name == "not_whole") out << CsvText(missing.problem());
  }
  out << '\n';
  return Flush(out, "CSV");
}

absl::Status WriteMissingLanes(const v1::RunReport& report, const v1::MissingPhase& missing,
                               std::ostream& out) {
  return WriteMissing(LaneFigures(), report, missing, out);
}

absl::Status WriteMissingClients(const v1::RunReport& report, const v1::MissingPhase& missing,
                                 std::ostream& out) {
  return WriteMissing(ClientFigures(), report, missing, out);
}

absl::Status WriteMissingPhase(const v1::RunReport& report, const v1::MissingPhase& missing,
                               std::ostream& out) {
  return WriteMissing(PhaseFigures(), report, missing, out);
}

}  // namespace

const ReportFormat kLanesCsvFormat = {.is_ours = IsOurCsv,
                                      .write_titles = WriteLanesTitles,
                                      .write_phase = WriteLanesOfPhase,
                                      .write_around = nullptr,
                                      .write_missing = WriteMissingLanes};
const ReportFormat kClientsCsvFormat = {.is_ours = IsOurCsv,
                                        .write_titles = WriteClientsTitles,
                                        .write_phase = WriteClientsOfPhase,
                                        .write_around = nullptr,
                                        .write_missing = WriteMissingClients};
const ReportFormat kPhasesCsvFormat = {.is_ours = IsOurCsv,
                                       .write_titles = WritePhasesTitles,
                                       .write_phase = WritePhaseRow,
                                       .write_around = nullptr,
                                       .write_missing = WriteMissingPhase};

}  // namespace iobench
