// Comparisons and histories as a web page: the message, with the sentences that all formats share (web/src/compare.js
// and history.js read both).
#include <sstream>
#include <string>

#include "common/status_util.h"
#include "coordinator/report/compare/compare_formats.h"
#include "coordinator/report/compare/compare_words.h"
#include "coordinator/report/json_text.h"
#include "coordinator/report/page/page_data.h"
#include "coordinator/report/page/page_writer.h"
#include "nlohmann/json.hpp"

namespace iobench {
namespace {

using nlohmann::json;

template <typename List, typename Text>
json Texts(const List& list, const Text& text_of) {
  json texts = json::array();
  for (const auto& item : list) texts.push_back(text_of(item));
  return texts;
}

// What both kinds of pages need: the names of runs and phases, and how the runs differ.
template <typename Report>
json CommonWords(const Report& report, const PhaseLabels& labels) {
  json letters = json::array();
  for (int i = 0; i < report.runs_size(); ++i) letters.push_back(RunLetter(static_cast<uint32_t>(i)));
  return {{"letters", letters},
          {"labels", Texts(report.phases(), [&](const auto& phase) { return labels.Of(phase.phase()); })},
          {"unlike", report.like_plans() ? "" : UnlikeSentence()}};
}

template <typename Report>
absl::Status WriteComparedPage(const char* kind, const Report& report, const json& words, std::ostream& out) {
  std::ostringstream text;
  IOBENCH_RETURN_IF_ERROR(WriteJsonText(report, text));
  const std::string shown = words.dump(-1, ' ', false, json::error_handler_t::replace);
  return WritePageOf(
      PackForPage("{\"" + std::string(kind) + "\":" + text.str() + ",\"words\":" + shown + "}", ""), out);
}

}  // namespace

absl::Status WriteComparisonPage(const v1::CompareReport& report, const ConsoleStyle&, std::ostream& out) {
  const PhaseLabels labels = LabelsOf(report);
  json words = CommonWords(report, labels);
  words["verdicts"] =
      Texts(report.counts(), [&](const auto& count) { return VerdictSentence(count, report.margin_percent()); });
  words["phase_verdicts"] = Texts(
      report.phases(), [&](const auto& phase) { return PhaseVerdictText(phase, report.margin_percent()); });
  words["marks"] = Texts(report.phases(), MarksText);
  words["maps"] = Texts(report.maps(), [&](const auto& map) { return MapTitle(report, map); });
  words["unmatched"] =
      Texts(report.unmatched(), [&](const auto& phase) { return UnmatchedSentence(phase, labels); });
  words["repetitions"] =
      Texts(report.repetitions(), [&](const auto& series) { return labels.Of(series.phase()); });
  words["notes"] = NotesOn(report);
  words["gate"] = report.has_gate() ? GateSentence(report.gate(), "the baseline") : "";
  return WriteComparedPage("comparison", report, words, out);
}

absl::Status WriteHistoryPage(const v1::HistoryReport& report, const ConsoleStyle&, std::ostream& out) {
  json words = CommonWords(report, LabelsOf(report));
  words["trends"] = Texts(report.phases(), [&](const auto& phase) {
    return TrendSentence(phase.trend(), report.margin_percent());
  });
  words["changes"] = Texts(report.phases(), [&](const auto& phase) {
    return Texts(phase.changes(), [&](const auto& change) { return ChangeSentence(report, phase, change); });
  });
  words["gate"] = report.has_gate() ? GateSentence(report.gate(), "the level before the newest change") : "";
  return WriteComparedPage("history", report, words, out);
}

}  // namespace iobench
