#include "coordinator/report/console/results_line.h"

#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/display_text.h"

namespace iobench {

std::string ResultsLine(const std::string& directory, const absl::Status& saved) {
  const std::string name = Printable(directory);
  const std::string again = absl::StrCat("; print again with `cluster-iobench report ", name, "`");
  if (saved.ok()) return absl::StrCat("results: ", name, "/result.json, phases.csv, result.csv, raw/", again);
  const struct {
    const char* file;
    const char* shown;
  } kParts[] = {{"result.json", "result.json"},
                {"phases.csv", "phases.csv"},
                {"result.csv", "result.csv"},
                {"raw/run.pb", "raw/"}};
  std::vector<std::string> there, missing;
  std::error_code error;
  for (const auto& [file, shown] : kParts) {
    (std::filesystem::exists(absl::StrCat(directory, "/", file), error) ? there : missing)
        .emplace_back(shown);
  }
  std::string text =
      absl::StrCat("results are incomplete: ", Printable(std::string(saved.message())), "; ", name);
  if (there.empty()) return absl::StrCat(text, " holds nothing of this run");
  absl::StrAppend(&text, " holds what could be saved (", absl::StrJoin(there, ", "), ")");
  if (!missing.empty()) absl::StrAppend(&text, ", and no ", absl::StrJoin(missing, ", "));
  return there.back() == "raw/" ? absl::StrCat(text, again) : text;
}

}  // namespace iobench
