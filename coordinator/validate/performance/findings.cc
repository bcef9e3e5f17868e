#include "coordinator/validate/performance/findings.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/display_text.h"
#include "common/text/mark_codes.h"
#include "common/text/units.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/analysis/marks/mark_table.h"

namespace iobench {

void Findings::Blame(const std::string& client) {
  if (std::find(slow.begin(), slow.end(), client) == slow.end()) slow.push_back(client);
}
void Findings::Advise(const std::string& what) {
  if (std::find(advice.begin(), advice.end(), what) == advice.end()) advice.push_back(what);
}
void Findings::Conclude(std::string passed, std::string problem, Outcome& outcome) const {
  if (fails) {
    outcome.Fail(std::move(problem), absl::StrJoin(advice, "; "));
  } else if (warns) {
    outcome.Warn(std::move(problem), absl::StrJoin(advice, "; "));
  } else {
    outcome.Pass(std::move(passed));
  }
}

bool IsDoubtful(const v1::PhaseReport& phase) {
  return std::any_of(phase.marks().begin(), phase.marks().end(), [](const v1::Mark& mark) {
    const MarkMeans means = MeaningOf(mark.code());
    if (means == MarkMeans::kNotStorage) return true;
    // On memory_fs, memory is what stores the files.
    return means == MarkMeans::kClientMemory && mark.code() != mark_code::kMemoryFs;
  });
}

std::string RateWord(bool in_ops, double rate) {
  return in_ops ? absl::StrCat(FormatCount(rate), "/s") : FormatBytesPerSecond(rate);
}

std::string ShareWord(double share) {
  return std::isfinite(share) ? absl::StrCat(std::llround(100 * share), " %") : "-";
}

std::string FigureOf(const std::string& what, const std::string& how, const std::string& client) {
  std::string name = absl::StrCat(what, "_", how, "_", client);
  for (char& c : name)
    c = absl::ascii_isalnum(static_cast<unsigned char>(c))
            ? absl::ascii_tolower(static_cast<unsigned char>(c))
            : '_';
  return name;
}

}  // namespace iobench
