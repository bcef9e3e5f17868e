// What disk, network and clients reach in the same phase (--server-path), as the cells of a table.
#ifndef COORDINATOR_REPORT_TEXT_LAYERS_TABLE_H_
#define COORDINATOR_REPORT_TEXT_LAYERS_TABLE_H_

#include <string>
#include <utility>
#include <vector>

#include "iobench/v1/result.pb.h"

namespace iobench {

// The titles of the columns after the first one, which has the phase's name.
const std::vector<std::string>& LayersColumns();

// Returns a row for each layer, from below.
std::vector<std::vector<std::string>> LayersCells(const v1::LayersReport& report);

// Returns lines that say what the rows cannot: where rates come from, and which cannot be compared. Each is a pair of
// layer and text.
std::vector<std::pair<std::string, std::string>> LayersRemarks(const v1::LayersReport& report);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TEXT_LAYERS_TABLE_H_
