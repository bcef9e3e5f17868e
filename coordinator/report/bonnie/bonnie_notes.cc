#include "coordinator/report/bonnie/bonnie_notes.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

constexpr size_t kWidthColumns = 80;

void AddNote(const std::string& note, std::vector<std::string>& lines) {
  for (std::string& line : Wrapped(note, kWidthColumns - 2)) {
    lines.push_back((lines.empty() ? "" : "  ") + line);
  }
}

// Returns a line for each mark, with the phases that have it.
std::vector<std::string> MarkNotes(const BonnieRun& run) {
  std::vector<std::pair<std::string, std::vector<std::string>>> phases_of_mark;  // in order of appearance
  const auto add = [&](const std::string& code, const std::string& phase) {
    auto known = std::find_if(phases_of_mark.begin(), phases_of_mark.end(),
                              [&](const auto& other) { return other.first == code; });
    if (known == phases_of_mark.end()) known = phases_of_mark.insert(known, {code, {}});
    if (known->second.empty() || known->second.back() != phase) known->second.push_back(phase);
  };
  for (const v1::PhaseReport* phase : run.phases) {
    if (phase == nullptr) continue;
    for (const GroupedMark& mark : MarksOf(*phase)) add(mark.code, Printable(phase->name()));
    if (!phase->not_whole().empty())
      add(absl::StrCat("not whole (", Printable(phase->not_whole()), ")"), Printable(phase->name()));
  }
  std::vector<std::string> notes;
  for (const auto& [code, phases] : phases_of_mark) {
    notes.push_back(absl::StrCat("Mark ", code, ": ", absl::StrJoin(phases, ", "), "."));
  }
  return notes;
}

}  // namespace

std::string BonnieNotes(const v1::RunReport& report, const BonnieRun& run, std::vector<std::string> of_format) {
  std::vector<std::string> notes = {absl::StrCat(
      "Measured by cluster-iobench ", Printable(report.run().program_version()), ", run ",
      Printable(report.run().id()), ": ", Counted(report.clients_size(), "client"), ", ",
      Counted(report.run().worker_count(), "worker"),
      report.run().worker_count() > 1 ? " at once. Sizes and numbers are those of one worker." : ".")};
  for (std::string& note : of_format) notes.push_back(std::move(note));
  for (const std::string& note : MarkNotes(run)) notes.push_back(note);
  for (const v1::MissingPhase& missing : report.run().missing_phases())
    notes.push_back(absl::StrCat("Not in this report: ", MissingPhaseText(report, missing), "."));
  std::string text;
  for (const std::string& note : notes) {
    std::vector<std::string> lines;
    AddNote(note, lines);
    absl::StrAppend(&text, absl::StrJoin(lines, "\n"), "\n");
  }
  return text;
}

}  // namespace iobench
