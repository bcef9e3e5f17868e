#include "coordinator/report/text/csv_text.h"

namespace iobench {

std::string CsvText(std::string_view value) {
  const bool quoted = value.find_first_of(",\"\r\n") != std::string_view::npos ||
                      (!value.empty() && (value.front() == ' ' || value.back() == ' '));
  if (!quoted) return std::string(value);
  std::string result = "\"";
  for (const char c : value) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

std::string CsvTitles(std::span<const CsvColumn> columns) {
  std::string line;
  for (const CsvColumn& column : columns) {
    if (!line.empty()) line += ',';
    line += column.name;
  }
  return line + '\n';
}

}  // namespace iobench
