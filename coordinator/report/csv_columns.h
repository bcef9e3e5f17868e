// The columns of result.csv, clients.csv and phases.csv: what each is called and means, and its cell of a row.
#ifndef COORDINATOR_REPORT_CSV_COLUMNS_H_
#define COORDINATOR_REPORT_CSV_COLUMNS_H_

#include <string>
#include <vector>

#include "coordinator/report/text/csv_text.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// What a row is about.
struct CsvRow {
  const v1::RunReport& report;
  const v1::PhaseReport& phase;
  const v1::ClientPhaseReport* client = nullptr;  // null, as is worker, for rows of phases.csv
  const v1::WorkerPhaseReport* worker = nullptr;  // null for those of clients.csv
  const v1::LanePhaseReport* lane = nullptr;      // null: a lost worker that sent nothing about its lanes
};

struct CsvFigure {
  // kPhase: the same in all rows of a phase. kBoth: the lane's in result.csv, the phase's in phases.csv.
  enum class Of { kPhase, kLane, kBoth };
  CsvColumn about;
  Of of;
  std::string (*value)(const CsvRow&);
};
using CsvFigures = std::vector<const CsvFigure*>;

// In the order of the file.
CsvFigures LaneFigures();    // result.csv
CsvFigures ClientFigures();  // clients.csv
CsvFigures PhaseFigures();   // phases.csv: those that describe the phase are as in result.csv, and first

// The same for those who need no cells.
std::vector<CsvColumn> LanesCsvColumns();
std::vector<CsvColumn> ClientsCsvColumns();
std::vector<CsvColumn> PhasesCsvColumns();

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CSV_COLUMNS_H_
