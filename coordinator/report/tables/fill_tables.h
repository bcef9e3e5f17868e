// The functions that fill the tables of table_list.cc, each from one group of the report. They return an empty table if
// the report has nothing for it.
#ifndef COORDINATOR_REPORT_TABLES_FILL_TABLES_H_
#define COORDINATOR_REPORT_TABLES_FILL_TABLES_H_

#include "coordinator/report/tables/table.h"

namespace iobench {

// environment_tables.cc
Table ClientsTable(const v1::RunReport& report);
Table MountsTable(const v1::RunReport& report);  // clients with the same mount share a row
Table DifferencesTable(const v1::RunReport& report);
Table FilesTable(const v1::RunReport& report);

// phase_tables.cc
Table FiguresTable(const v1::RunReport& report, const v1::PhaseReport& phase);
Table FirstPassTable(const v1::RunReport& report, const v1::PhaseReport& phase);
Table RateChangesTable(const v1::RunReport& report, const v1::PhaseReport& phase);
Table PartsTable(const v1::RunReport& report, const v1::PhaseReport& phase);
Table OpenLoopTable(const v1::RunReport& report, const v1::PhaseReport& phase);
Table PathsTable(const v1::RunReport& report, const v1::PhaseReport& phase);
Table MpiIoTable(const v1::RunReport& report, const v1::PhaseReport& phase);
Table StorageTargetsTable(const v1::RunReport& report, const v1::PhaseReport& phase);
Table ServersTable(const v1::RunReport& report, const v1::PhaseReport& phase);
Table ReadsTable(const v1::RunReport& report, const v1::PhaseReport& phase);
Table FlushCallsTable(const v1::RunReport& report, const v1::PhaseReport& phase);
Table NfsTable(const v1::RunReport& report, const v1::PhaseReport& phase);
Table TransportTable(const v1::RunReport& report, const v1::PhaseReport& phase);
Table MarksTable(const v1::RunReport& report, const v1::PhaseReport& phase);
Table ErrorsTable(const v1::RunReport& report, const v1::PhaseReport& phase);

// run_tables.cc
Table PerClientTable(const v1::RunReport& report);
Table InterferenceTable(const v1::RunReport& report);
Table LayersTable(const v1::RunReport& report);
Table RepetitionsTable(const v1::RunReport& report);
Table CriteriaTable(const v1::RunReport& report);
Table ScoreTable(const v1::RunReport& report);

// sweep_tables.cc
Table EachPathTable(const v1::RunReport& report);
Table WorkerScalingTable(const v1::RunReport& report);
Table SurfacesTable(const v1::RunReport& report);

// soak_tables.cc
Table SoakTable(const v1::RunReport& report);  // what was found, in lines
Table SoakTotalsTable(const v1::RunReport& report);
Table SoakTrendsTable(const v1::RunReport& report);
Table SoakClientsTable(const v1::RunReport& report);
Table SoakRoundsTable(const v1::RunReport& report);
Table SoakFailedOpsTable(const v1::RunReport& report);
Table SoakFullnessTable(const v1::RunReport& report);

// steady_tables.cc
Table SteadyTable(const v1::RunReport& report);
Table SteadyRoundsTable(const v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TABLES_FILL_TABLES_H_
