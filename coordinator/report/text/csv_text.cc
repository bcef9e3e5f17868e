#include "coordinator/report/text/csv_text.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"

namespace iobench {
namespace {

constexpr char kFormulaBegins[] = "=+-@\t\r";

// Spreadsheets compute a cell that begins so; text of a worker or of a file name is never meant to be computed.
bool IsFormula(std::string_view value) {
  if (value.size() < 2 || std::string_view(kFormulaBegins).find(value.front()) == std::string_view::npos) return false;
  double number = 0;
  return !absl::SimpleAtod(std::string(value), &number);
}

}  // namespace

std::string CsvText(std::string_view value) {
  std::string text = IsFormula(value) ? "'" : "";
  for (const char c : value) {
    const auto code = static_cast<unsigned char>(c);
    const bool is_control = (code < 0x20 && c != '\t' && c != '\r' && c != '\n') || code == 0x7f;
    if (is_control) {
      absl::StrAppendFormat(&text, "\\x%02x", code);
    } else {
      text += c;
    }
  }
  const bool quoted = text.find_first_of(",\"\t\r\n") != std::string::npos ||
                      (!text.empty() && (text.front() == ' ' || text.back() == ' '));
  if (!quoted) return text;
  std::string result = "\"";
  for (const char c : text) {
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
