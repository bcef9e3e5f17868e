#include "coordinator/report/iozone/iozone_table.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/text/display_text.h"
#include "coordinator/report/iozone/iozone_figures.h"

namespace iobench {
namespace {

constexpr int kFileWidth = 16, kRecordWidth = 8;

IozoneTable& TableFor(const v1::PhaseReport& phase, std::vector<IozoneTable>& tables) {
  const auto found = std::find_if(tables.begin(), tables.end(), [&](const IozoneTable& table) {
    return table.repetition == phase.repetition() && table.target == phase.target();
  });
  if (found != tables.end()) return *found;
  IozoneTable& added = tables.emplace_back();
  added.repetition = phase.repetition();
  added.target = phase.target();
  return added;
}

void AddTo(std::vector<IozoneRow>& rows, size_t column, const v1::PhaseReport& phase) {
  for (IozoneRow& row : rows) {
    if (row.file_bytes != phase.bytes_per_lane() || row.record_bytes != phase.record_bytes()) continue;
    if (row.phases[column] != nullptr) continue;
    row.phases[column] = &phase;
    return;
  }
  IozoneRow& added = rows.emplace_back();
  added.file_bytes = phase.bytes_per_lane();
  added.record_bytes = phase.record_bytes();
  added.phases[column] = &phase;
}

bool HasColumnFrom(size_t first, size_t end, const v1::RunReport& report) {
  return std::any_of(report.phases().begin(), report.phases().end(), [&](const v1::PhaseReport& phase) {
    const size_t number = IozoneTestNumber(phase.operation());
    return number >= first && number < end;
  });
}

// The columns of -E appear only if they are needed, since programs count the others.
size_t ColumnCount(const v1::RunReport& report) {
  if (HasColumnFrom(kPositionalColumns, kAllColumns, report)) return kAllColumns;
  if (HasColumnFrom(kUsualColumns, kPositionalColumns, report)) return kPositionalColumns;
  return kUsualColumns;
}

// IOzone shows second passes that -+n leaves out as 0.
bool IsLeftOut(const v1::RunReport& report, const IozoneRow& row, size_t column) {
  const IozoneTest& test = IozoneTests()[column];
  if (*test.first_pass == '\0' || row.phases[IozoneTestNumber(test.first_pass)] == nullptr) return false;
  const auto& planned = report.run().plan().phases();
  return std::none_of(planned.begin(), planned.end(), [&](const v1::Phase& phase) {
    return phase.assignments_size() > 0 && phase.assignments(0).operation().name() == test.operation;
  });
}

void AppendAligned(std::string_view text, int width, std::string& out) {
  const auto columns = static_cast<size_t>(width);
  const size_t blanks = text.size() < columns ? columns - text.size() : text.empty() ? 0 : 1;
  out.append(blanks, ' ');
  out += text;
}

std::string Heading(size_t column_count) {
  std::string above(kFileWidth + kRecordWidth, ' ');
  std::string below = absl::StrFormat("%*s%*s", kFileWidth, "kB", kRecordWidth, "reclen");
  for (const IozoneTest& test : IozoneTests().first(column_count)) {
    absl::StrAppendFormat(&above, "%*s", test.column.heading_width, test.column.above);
    absl::StrAppendFormat(&below, "%*s", test.column.heading_width, test.column.below);
  }
  return absl::StrCat(above, "\n", below, "\n");
}

// A block of -R: its title, the record sizes, and a line per file size that ends with the largest record that fits.
class ExcelBlock {
 public:
  void Add(const IozoneRow& row, std::string value) {
    records_.insert(row.record_bytes);
    for (Line& line : lines_) {
      if (line.file_bytes != row.file_bytes || line.values.contains(row.record_bytes)) continue;
      line.values.emplace(row.record_bytes, std::move(value));
      return;
    }
    lines_.push_back({row.file_bytes, {}});
    lines_.back().values.emplace(row.record_bytes, std::move(value));
  }

  std::string Text(const std::string& title, const char* missing) const {
    std::string text = absl::StrCat("\"", title, "\"\n      ");
    for (const uint64_t bytes : records_) absl::StrAppend(&text, "  \"", KilobytesText(bytes), "\"");
    text += '\n';
    for (const Line& line : lines_) {
      absl::StrAppend(&text, "\"", KilobytesText(line.file_bytes), "\"  ");
      for (const uint64_t bytes : records_) {
        if (bytes > line.file_bytes) break;
        const auto value = line.values.find(bytes);
        absl::StrAppend(&text, " ", value == line.values.end() ? missing : value->second, " ");
      }
      text += '\n';
    }
    return text + '\n';
  }

 private:
  struct Line {
    uint64_t file_bytes = 0;
    std::map<uint64_t, std::string> values;  // by record size
  };
  std::set<uint64_t> records_;
  std::vector<Line> lines_;
};

std::string BlocksOf(const IozoneTable& table, const std::string& title_end, const char* missing,
                     absl::FunctionRef<std::string(const v1::PhaseReport&)> value_of) {
  std::string text;
  for (size_t column = 0; column < kAllColumns; ++column) {
    ExcelBlock block;
    bool any = false;
    for (const IozoneRow& row : table.rows) {
      if (row.phases[column] == nullptr) continue;
      any = true;
      const std::string value = value_of(*row.phases[column]);
      block.Add(row, value.empty() ? missing : value);
    }
    if (any) text += block.Text(absl::StrCat(IozoneTests()[column].excel, title_end), missing);
  }
  return text;
}

}  // namespace

std::vector<IozoneTable> IozoneTablesOf(const v1::RunReport& report) {
  std::vector<IozoneTable> tables;
  for (const v1::PhaseReport& phase : report.phases()) {
    IozoneTable& table = TableFor(phase, tables);
    const size_t column = IozoneTestNumber(phase.operation());
    if (column < kAllColumns) {
      AddTo(table.rows, column, phase);
    } else {
      table.others.push_back(&phase);
    }
  }
  return tables;
}

std::string TableTitle(const v1::RunReport& report, const IozoneTable& table) {
  std::string title;
  if (!table.target.empty()) absl::StrAppend(&title, "\n\tPath: ", Printable(table.target), "\n");
  const uint32_t repetitions = report.run().plan().repetitions();
  if (repetitions > 1) {
    absl::StrAppend(&title, "\n\tRepetition ", table.repetition + 1, " of ", repetitions, "\n");
  }
  return title;
}

std::string TableText(const v1::RunReport& report, const IozoneTable& table) {
  const size_t column_count = ColumnCount(report);
  std::string text = Heading(column_count);
  for (const IozoneRow& row : table.rows) {
    AppendAligned(KilobytesText(row.file_bytes), kFileWidth, text);
    AppendAligned(KilobytesText(row.record_bytes), kRecordWidth, text);
    for (size_t column = 0; column < column_count; ++column) {
      const v1::PhaseReport* const phase = row.phases[column];
      const std::string value = phase != nullptr                 ? TableValue(report.run().iozone(), *phase)
                                : IsLeftOut(report, row, column) ? "0"
                                                                 : "";
      AppendAligned(value, IozoneTests()[column].column.width, text);
    }
    text += '\n';
  }
  return text;
}

std::string ExcelText(const v1::RunReport& report, const IozoneTable& table) {
  return BlocksOf(table, " report", "0",
                  [&](const v1::PhaseReport& phase) { return TableValue(report.run().iozone(), phase); });
}

std::string CpuExcelText(const IozoneTable& table) {
  return BlocksOf(
      table, " CPU utilization report (Zero values should be ignored)", "  0.00",
      [](const v1::PhaseReport& phase) { return absl::StrFormat("%6.2f", IozoneCpuOf(phase).percent); });
}

}  // namespace iobench
