#include "coordinator/report/page/page_tables.h"

#include <cmath>
#include <iterator>
#include <vector>

#include "coordinator/report/tables/table_list.h"

namespace iobench {
namespace {

using nlohmann::json;

// In the order of TableUnit.
constexpr const char* kUnitNames[] = {"text",    "rate_unit",    "rate",         "bytes_per_s", "ops_per_s",
                                      "count",   "bytes",        "seconds",      "micros",      "millis",
                                      "percent", "change",       "share",        "factor",      "number",
                                      "text"};
static_assert(std::size(kUnitNames) == static_cast<size_t>(TableUnit::kTime) + 1);

json CellJson(const TableColumn& column, const TableCell& cell) {
  if (cell.is != TableCell::Is::kNumber && column.unit != TableUnit::kRateUnit && !cell.strong) return cell.text;
  json value = cell.text;
  if (cell.is == TableCell::Is::kNumber) value = std::isfinite(cell.number) ? json(cell.number) : json(nullptr);
  json result = {{"value", value}};
  if (column.range && cell.is == TableCell::Is::kNumber)
    result["to"] = std::isfinite(cell.to) ? json(cell.to) : json(nullptr);
  if (cell.in_ops) result["ops"] = true;
  if (cell.unsure) result["unsure"] = true;
  if (cell.strong) result["strong"] = true;
  return result.size() == 1 ? value : result;
}

json RowsJson(const Table& table, const std::vector<TableRow>& rows) {
  json result = json::array();
  for (const TableRow& row : rows) {
    json& cells = result.emplace_back(json::array());
    for (size_t i = 0; i < row.size(); ++i) cells.push_back(CellJson(table.columns[i], row[i]));
  }
  return result;
}

json PartJson(const Table& table, const TablePart& part) {
  json notes = json::array();
  for (const TableNote& note : part.notes) {
    if (!note.console_only) notes.push_back({note.label, note.text});
  }
  return {{"name", part.name}, {"phase", part.phase}, {"rows", RowsJson(table, part.rows)},
          {"totals", RowsJson(table, part.totals)}, {"notes", notes}};
}

}  // namespace

json PageTables(const v1::RunReport& report) {
  json tables = json::array();
  for (const auto& [source, table] : TablesOf(report, "page")) {
    json columns = json::array(), parts = json::array();
    for (const TableColumn& column : table.columns) {
      columns.push_back({{"title", column.title},
                         {"unit", kUnitNames[static_cast<size_t>(column.unit)]},
                         {"range", column.range},
                         {"machines", column.readers == Readers::kMachines}});
    }
    for (const TablePart& part : table.parts) parts.push_back(PartJson(table, part));
    tables.push_back({{"id", source->id},
                      {"title", source->chapter},
                      {"intro", source->intro},
                      {"columns", columns},
                      {"joined", table.joined},
                      {"parts", parts}});
  }
  return tables;
}

}  // namespace iobench
