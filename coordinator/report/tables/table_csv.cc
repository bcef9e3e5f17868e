#include "coordinator/report/tables/table_csv.h"

#include <cmath>
#include <string>

#include "coordinator/report/text/csv_text.h"
#include "coordinator/report/text/number_text.h"

namespace iobench {

void PrintTableCsv(const Table& table, std::ostream& out) {
  const PlainTable plain = PlainOf(table);
  std::string line;
  const auto end_line = [&] {
    line.back() = '\n';  // in place of the last comma
    out << line;
    line.clear();
  };
  for (const PlainColumn& column : plain.columns) line += CsvText(column.id) + ",";
  end_line();
  for (const TableRow& row : plain.rows) {
    for (const TableCell& cell : row) {
      if (cell.is == TableCell::Is::kText) line += CsvText(cell.text);
      if (cell.is == TableCell::Is::kNumber && std::isfinite(cell.number)) AppendShortest(cell.number, line);
      line += ',';
    }
    end_line();
  }
}

}  // namespace iobench
