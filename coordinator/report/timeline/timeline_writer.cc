#include "coordinator/report/timeline/timeline_writer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "coordinator/report/flush_report.h"
#include "coordinator/report/text/csv_text.h"
#include "coordinator/report/text/number_text.h"

namespace iobench {
namespace {

constexpr CsvColumn kTimelineColumns[] = {
    {"run_id", "", "id of the run", CsvColumn::Holds::kTexts},
    {"phase_index", "", "index of the phase within the run, from 0"},
    {"repetition", "", "repetition of the list of phases, from 0"},
    {"phase", "", "name of the phase", CsvColumn::Holds::kTexts},
    {"operation", "", "what the lanes did", CsvColumn::Holds::kTexts},
    {"scope", "", "all (the cluster), client, or missing (a phase without figures): select one before you add up", CsvColumn::Holds::kTexts},
    {"client", "", "the client; empty in rows with scope all", CsvColumn::Holds::kTexts},
    {"time_s", "s", "start of the slice, after the first op of the phase"},
    {"slice_s", "s", "length of the slice"},
    {"bytes_per_s", "bytes/s", "throughput in the slice; empty for metadata operations that move no data"},
    {"ops_per_s", "ops/s",
     "the same in ops; a client has only the unit of the headline: ops/s for metadata operations and seeks"},
};

// Whole nanoseconds: the sum of slices of 0.1 s is then 0.3 s, not 0.30000000000000004 s.
double BeginOf(int slice, double slice_s) {
  return static_cast<double>(std::llround(slice_s * 1e9) * slice) / 1e9;
}

// The series of clients are floats; as a double, 0.1f would be printed as 0.10000000149011612.
void AppendShortestFloat(float value, std::string& out) {
  char text[64];
  const auto plain = value == 0 || (std::fabs(value) >= 1e-6F && std::fabs(value) < 1e17F)
                         ? std::chars_format::fixed
                         : std::chars_format::scientific;
  out.append(text, std::to_chars(text, text + sizeof(text), value, plain).ptr);
}

// The rows of one phase. Its cells that are the same in all rows are made once.
class PhaseRows {
 public:
  PhaseRows(const v1::RunReport& report, const v1::PhaseReport& phase, std::ostream& out)
      : phase_(phase), charts_(phase.charts()), out_(out) {
    begin_ = CsvText(report.run().id()) + ',' + std::to_string(phase.index()) + ',' +
             std::to_string(phase.repetition()) + ',' + CsvText(phase.name()) + ',' +
             CsvText(phase.operation()) + ',';
  }

  void Write() {
    const int slices = std::max(charts_.bytes_per_s_size(), charts_.ops_per_s_size());
    for (int slice = 0; slice < slices; ++slice) {
      BeginRow("all,,", slice);
      if (HasData() && slice < charts_.bytes_per_s_size()) AppendNumber(charts_.bytes_per_s(slice));
      line_ += ',';
      if (slice < charts_.ops_per_s_size()) AppendNumber(charts_.ops_per_s(slice));
      EndRow();
    }
    for (int i = 0; i < std::min(charts_.clients_size(), phase_.clients_size()); ++i) {
      const std::string client = "client," + CsvText(phase_.clients(i).host()) + ',';
      const v1::ClientSeries& series = charts_.clients(i);
      for (int slice = 0; slice < series.per_s_size(); ++slice) {
        BeginRow(client, slice);
        if (phase_.headline_in_ops()) line_ += ',';
        if (std::isfinite(series.per_s(slice))) AppendShortestFloat(series.per_s(slice), line_);
        if (!phase_.headline_in_ops()) line_ += ',';
        EndRow();
      }
    }
  }

 private:
  bool HasData() const { return !phase_.metadata() || phase_.bytes() > 0; }

  void BeginRow(const std::string& who, int slice) {
    line_.assign(begin_).append(who);
    AppendShortest(BeginOf(slice, charts_.slice_s()), line_);
    line_ += ',';
    AppendShortest(charts_.slice_s(), line_);
    line_ += ',';
  }
  void AppendNumber(double value) {
    if (std::isfinite(value)) AppendShortest(value, line_);
  }
  void EndRow() {
    line_ += '\n';
    out_ << line_;
  }

  const v1::PhaseReport& phase_;
  const v1::PhaseCharts& charts_;
  std::ostream& out_;
  std::string begin_;
  std::string line_;  // reused from row to row
};

}  // namespace

std::span<const CsvColumn> TimelineCsvColumns() {
  return kTimelineColumns;
}

absl::Status WriteTimelineCsv(const v1::RunReport& report, std::ostream& out) {
  out << CsvTitles(kTimelineColumns);
  for (const v1::PhaseReport& phase : report.phases()) PhaseRows(report, phase, out).Write();
  for (const v1::MissingPhase& missing : report.run().missing_phases()) {
    out << CsvText(report.run().id()) << ',' << missing.index() << ',' << missing.repetition() << ','
        << CsvText(missing.name()) << ",,missing,,,,,\n";
  }
  return Flush(out, "CSV");
}

}  // namespace iobench
