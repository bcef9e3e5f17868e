// The fields are those of bon_csv2html(1). Bonnie++ 2.00a itself leaves the chunk size empty and writes the number of
// directories into the field of the chunk size for small files; here both are where the manual says.
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/display_text.h"
#include "coordinator/report/bonnie/bonnie_cells.h"
#include "coordinator/report/bonnie/bonnie_report.h"
#include "coordinator/report/bonnie/bonnie_run.h"
#include "coordinator/report/flush_report.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

struct CsvLayout {
  const char* format_version;
  const char* bonnie_version;
  bool has_seek_counts;  // the numbers of seeks and of seekers
};

// Bonnie++'s own tools accept only lines that begin with 1.98, as those of 2.00a do.
constexpr CsvLayout k200a = {"1.98", "2.00a", true};
constexpr CsvLayout k196 = {"1.96", "1.96", false};

// Bonnie++'s tools split at every comma, know no quotes, and copy names into HTML as they are.
std::string CsvName(const std::string& name) {
  std::string text = Printable(name);
  for (char& c : text) {
    if (std::string_view(",\"'<>&").find(c) != std::string_view::npos) c = '_';
  }
  return text;
}

std::string NonZero(uint64_t value) {
  return value > 0 ? absl::StrCat(value) : "";
}

std::string CsvLine(const v1::RunReport& report, const BonnieRun& run, const BonnieMachine& machine,
                    const CsvLayout& layout) {
  std::vector<std::string> fields = {layout.format_version,
                                     layout.bonnie_version,
                                     CsvName(machine.name),
                                     absl::StrCat(machine.worker_count),
                                     absl::StrCat(report.run().plan().seed()),
                                     BonnieSize(run.file_bytes),
                                     run.chunk_bytes > 0 ? ShortSize(run.chunk_bytes) : ""};
  if (layout.has_seek_counts) {
    fields.push_back(NonZero(run.seek_count));
    fields.push_back(NonZero(run.seeker_count));
  }
  const auto add_rates = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      fields.push_back(BonnieRate(machine, static_cast<BonnieTest>(i)));
      fields.push_back(BonnieCpu(machine.figures[i]));
    }
  };
  add_rates(0, kBonnieDataTestCount);
  fields.insert(fields.end(),
                {BonnieItems(run.item_count), NonZero(run.max_item_bytes), NonZero(run.min_item_bytes),
                 NonZero(run.directory_count), ""});  // files are written in one call: no chunk size
  add_rates(kBonnieDataTestCount, kBonnieTestCount);
  for (const BonnieFigure& figure : machine.figures) fields.push_back(BonnieLatency(figure));
  return absl::StrJoin(fields, ",");
}

absl::Status WriteLines(const v1::RunReport& report, const CsvLayout& layout, std::ostream& out) {
  const auto runs = BonnieRunsOf(report);
  if (!runs.ok()) return runs.status();
  for (const BonnieRun& run : *runs) {
    for (const BonnieMachine& machine : run.machines) out << CsvLine(report, run, machine, layout) << '\n';
  }
  return Flush(out, "Bonnie++ CSV");
}

}  // namespace

absl::Status WriteBonnieCsv(const v1::RunReport& report, std::ostream& out) {
  return WriteLines(report, k200a, out);
}

absl::Status WriteBonnieCsv196(const v1::RunReport& report, std::ostream& out) {
  return WriteLines(report, k196, out);
}

}  // namespace iobench
