#include "coordinator/report/console/console_verdict.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/model/phase_files.h"
#include "common/text/display_text.h"
#include "coordinator/analysis/marks/mark_table.h"
#include "coordinator/report/text/console_words.h"
#include "coordinator/report/text/criterion_text.h"

namespace iobench {
namespace {

constexpr size_t kMaxNames = 4;
constexpr size_t kMaxSubjects = 3;

// The severities of SeverityOf, the worst first.
constexpr std::string_view kInvalid = "invalid", kDoubtful = "doubtful", kNote = "note";

// Counts by name, in the order of their first occurrence.
class Names {
 public:
  void Add(const std::string& name, size_t count = 1) {
    const auto [at, is_new] = index_of_.try_emplace(name, names_.size());
    if (is_new) names_.emplace_back(name, 0);
    names_[at->second].second += count;
  }
  const std::vector<std::pair<std::string, size_t>>& all() const { return names_; }
  size_t CountOf(const std::string& name) const {
    const auto at = index_of_.find(name);
    return at == index_of_.end() ? 0 : names_[at->second].second;
  }

 private:
  std::vector<std::pair<std::string, size_t>> names_;
  std::map<std::string, size_t> index_of_;
};

std::string Few(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kMaxNames);
  std::string text = absl::StrJoin(names.begin(), names.begin() + static_cast<ptrdiff_t>(shown), ", ");
  if (shown < names.size())
    absl::StrAppend(&text, " and ", FormatCount(static_cast<double>(names.size() - shown)), " more");
  return text;
}

// How often each phase was measured.
Names MeasuredIn(const v1::RunReport& report) {
  Names measured;
  for (const v1::PhaseReport& phase : report.phases()) measured.Add(NameOfAll(phase));
  return measured;
}

// "write (2 of 5), read"; "all phases" if there is nothing to tell apart.
std::string PhasesText(const Names& names, const Names& measured) {
  bool all = names.all().size() > 1 && names.all().size() == measured.all().size();
  std::vector<std::string> texts;
  for (const auto& [name, count] : names.all()) {
    const size_t of = measured.CountOf(name);
    all &= count == of;
    texts.push_back(of > 1 ? absl::StrCat(name, " (", FormatCount(static_cast<double>(count)), " of ",
                                          FormatCount(static_cast<double>(of)), ")")
                           : name);
  }
  return all ? "all phases" : Few(texts);
}

std::string_view SeverityOfPhase(const v1::PhaseReport& phase) {
  if (!phase.not_whole().empty()) return kInvalid;
  std::string_view worst;
  for (const GroupedMark& mark : MarksOf(phase)) {
    const std::string_view severity = SeverityOf(MeaningOf(mark.code));
    if (severity == kInvalid) return kInvalid;
    if (worst != kDoubtful) worst = severity;
  }
  return worst;
}

struct MarkOfRun {
  std::string_view severity;
  std::string code, text;
  bool texts_differ = false;
  Names phases;
};

std::vector<MarkOfRun> MarksOfRun(const v1::RunReport& report) {
  std::vector<MarkOfRun> marks;
  std::map<std::string, size_t> index_of;
  for (const v1::PhaseReport& phase : report.phases()) {
    std::set<std::string> counted;
    for (GroupedMark& mark : MarksOf(phase)) {
      const auto [at, is_new] = index_of.try_emplace(mark.code, marks.size());
      if (is_new) marks.push_back({SeverityOf(MeaningOf(mark.code)), mark.code, mark.text, false, {}});
      MarkOfRun& of_run = marks[at->second];
      of_run.texts_differ |= mark.text != of_run.text;
      if (counted.insert(mark.code).second) of_run.phases.Add(NameOfAll(phase));
    }
  }
  const auto rank = [](const MarkOfRun& mark) { return mark.severity == kInvalid ? 0 : mark.severity == kDoubtful ? 1 : 2; };
  std::stable_sort(marks.begin(), marks.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return marks;
}

}  // namespace

bool IsOfOnePhase(const v1::Plan& plan) {
  return plan.phases_size() == 1 && plan.repetitions() <= 1 && !RunsInRounds(plan);
}

void PrintVerdict(const v1::RunReport& report, ConsolePage& page) {
  const Names measured = MeasuredIn(report);
  Names invalid, doubtful, noted;
  for (const v1::PhaseReport& phase : report.phases()) {
    const std::string_view severity = SeverityOfPhase(phase);
    if (severity.empty()) continue;
    (severity == kInvalid ? invalid : severity == kDoubtful ? doubtful : noted).Add(NameOfAll(phase));
  }
  std::vector<std::string> texts;
  if (!report.run().finished()) texts.push_back("the run did not finish");
  std::string criteria = RunVerdictText(report);
  if (criteria.ends_with('.')) criteria.pop_back();
  if (!criteria.empty()) texts.push_back(std::move(criteria));
  const bool in_doubt = !invalid.all().empty() || !doubtful.all().empty();
  if (!invalid.all().empty()) texts.push_back(absl::StrCat("invalid: ", PhasesText(invalid, measured)));
  if (!doubtful.all().empty()) texts.push_back(absl::StrCat("doubtful: ", PhasesText(doubtful, measured)));
  if (!in_doubt && !noted.all().empty())
    texts.push_back(absl::StrCat("no figure is in doubt; notes on ", PhasesText(noted, measured)));
  if (!in_doubt && noted.all().empty() && !measured.all().empty()) texts.push_back("no figure has a mark");
  if (texts.empty()) return;
  const bool failed = !invalid.all().empty() || !report.run().finished() ||
                      std::any_of(report.criteria().begin(), report.criteria().end(),
                                  [](const v1::CriterionReport& each) { return !each.met(); });
  page.Labelled("verdict", absl::StrJoin(texts, "; "),
                failed ? Tone::kError : in_doubt ? Tone::kWarning : Tone::kStrong);
}

void PrintMarksOfRun(const v1::RunReport& report, ConsolePage& page) {
  const Names measured = MeasuredIn(report);
  for (const MarkOfRun& mark : MarksOfRun(report)) {
    const Tone tone = mark.severity == kInvalid ? Tone::kError : mark.severity == kDoubtful ? Tone::kWarning : Tone::kPlain;
    page.Labelled(mark.severity == kNote ? std::string(kNote) : absl::StrCat("! ", std::string(mark.severity)),
                  absl::StrCat(mark.code, " in ", PhasesText(mark.phases, measured),
                               mark.texts_differ ? "; for example: " : ": ", mark.text),
                  tone);
  }
}

std::string MarkCodesText(const v1::PhaseReport& phase) {
  std::vector<std::pair<std::string, std::vector<std::string>>> codes;
  for (const GroupedMark& mark : MarksOf(phase)) {
    auto known = std::find_if(codes.begin(), codes.end(), [&mark](const auto& each) { return each.first == mark.code; });
    if (known == codes.end()) known = codes.insert(codes.end(), {mark.code, {}});
    known->second.insert(known->second.end(), mark.subjects.begin(), mark.subjects.end());
  }
  std::vector<std::string> texts;
  for (const auto& [code, subjects] : codes) {
    const size_t shown = std::min(subjects.size(), kMaxSubjects);
    std::string text = code;
    if (shown > 0)
      absl::StrAppend(&text, " on ", absl::StrJoin(subjects.begin(), subjects.begin() + static_cast<ptrdiff_t>(shown), ", "));
    if (shown < subjects.size()) absl::StrAppend(&text, " and ", subjects.size() - shown, " more");
    texts.push_back(std::move(text));
  }
  return absl::StrJoin(texts, "; ");
}

}  // namespace iobench
