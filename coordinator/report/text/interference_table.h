// What victims reach undisturbed and beside each load (--background), as the cells of a table.
#ifndef COORDINATOR_REPORT_TEXT_INTERFERENCE_TABLE_H_
#define COORDINATOR_REPORT_TEXT_INTERFERENCE_TABLE_H_

#include <string>
#include <vector>

#include "iobench/v1/result.pb.h"

namespace iobench {

// The titles of the columns after the first one, which has the phase's name.
const std::vector<std::string>& InterferenceColumns();

// Returns a row for each row of the report, in its order. Names are as the user typed them: not printable yet.
std::vector<std::vector<std::string>> InterferenceCells(const v1::InterferenceReport& report);

// Returns "2 clients; each load by 2 others", and a warning if all are workers of one client.
std::string VictimsText(const v1::InterferenceReport& report);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TEXT_INTERFERENCE_TABLE_H_
