// What the layouts of Bonnie's texts cannot say.
#ifndef COORDINATOR_REPORT_BONNIE_BONNIE_NOTES_H_
#define COORDINATOR_REPORT_BONNIE_BONNIE_NOTES_H_

#include <string>
#include <vector>

#include "coordinator/report/bonnie/bonnie_run.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns lines of at most 80 columns: who measured, the notes of the format, marks, phases that are missing.
std::string BonnieNotes(const v1::RunReport& report, const BonnieRun& run, std::vector<std::string> of_format);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_BONNIE_BONNIE_NOTES_H_
