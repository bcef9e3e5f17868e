#include "coordinator/report/console/console_soak.h"

#include <string>
#include <utility>
#include <vector>

#include "common/text/display_text.h"
#include "coordinator/report/text/soak_table.h"
#include "coordinator/report/text/text_table.h"

namespace iobench {
namespace {

void PrintTable(const std::string& first, const std::vector<std::string>& titles,
              std::vector<std::vector<std::string>> rows, ConsolePage& page) {
  std::vector<TextTable::Column> columns = {{first, TextTable::Align::kLeft, false, true}};
  for (const std::string& title : titles) columns.push_back({title});
  TextTable table(columns);
  for (std::vector<std::string>& cells : rows) {
    for (std::string& cell : cells) cell = Printable(cell);
    table.AddRow(std::move(cells));
  }
  page.Table(table);
  page.Blank();
}

bool SomethingIsLost(const v1::SoakLoss& loss) {
  return loss.lost() + loss.stale() + loss.torn() + loss.wrong() + loss.short_reads() +
             loss.missing_bytes() >
         0;
}

}  // namespace

std::string RoundTextAfter(const v1::RunReport& report, const v1::PhaseReport& phase) {
  const int phases = report.run().plan().phases_size();
  const bool is_last = phases > 0 && static_cast<int>(phase.index()) % phases == phases - 1;
  const v1::SoakRound* const round = RoundOf(phase, report.soak());
  if (round == nullptr || !(is_last || phase.interrupted())) return {};
  return Printable(RoundLine(*round, report.soak())) + "\n";
}

void PrintSoak(const v1::RunReport& report, ConsolePage& page) {
  if (!report.has_soak()) return;
  const v1::SoakReport& soak = report.soak();
  page.Line({{"soak", Tone::kStrong}});
  for (const auto& [label, text] : SoakTexts(soak)) {
    const bool is_bad = (label == "data loss" && SomethingIsLost(soak.loss())) ||
                        (label == "failed ops" && !soak.failed_ops().empty());
    page.Labelled(label, Printable(text), is_bad ? Tone::kError : Tone::kPlain);
  }
  page.Blank();
  PrintTable("phase", SoakTrendColumns(), SoakTrendCells(soak), page);
  PrintTable("client", SoakClientColumns(soak), SoakClientCells(soak), page);
}

}  // namespace iobench
