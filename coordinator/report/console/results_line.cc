#include "coordinator/report/console/results_line.h"

#include <cerrno>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/display_text.h"
#include "common/text/shell_word.h"
#include "coordinator/files/files.h"
#include "coordinator/report/result_files.h"

namespace iobench {

std::string ResultsLine(const std::string& directory, const absl::Status& saved,
                        const std::vector<std::string>& documents) {
  const std::string name = Printable(directory);
  const std::string again = absl::StrCat("; all details: `cluster-iobench report ",
                                         Printable(ShellWord(directory)), " --verbose`");
  std::vector<std::string> names, there, missing;
  for (const std::string& document : documents) {
    if (files::Exists(absl::StrCat(directory, "/", document))) names.push_back(document);
  }
  if (files::IsDirectory(absl::StrCat(directory, "/tables"))) names.push_back("tables/");
  for (const ResultFile& file : ResultFiles()) {
    const std::string path = absl::StrCat(directory, "/", file.main_file);
    names.push_back(file.name);
    (files::Exists(path) ? there : missing).push_back(file.name);
  }
  if (saved.ok()) return absl::StrCat("results: ", name, "/", absl::StrJoin(names, ", "), again);
  std::string text =
      absl::StrCat("results are incomplete: ", Printable(std::string(saved.message())), "; ", name);
  if (there.empty() && !files::UnansweredCall(directory, errno).ok())
    return absl::StrCat(text, " holds what was saved before it stopped answering");
  if (there.empty()) return absl::StrCat(text, " holds nothing of this run");
  absl::StrAppend(&text, " holds what could be saved (", absl::StrJoin(there, ", "), ")");
  if (!missing.empty()) absl::StrAppend(&text, ", and no ", absl::StrJoin(missing, ", "));
  return there.back() == kRawFiles ? absl::StrCat(text, again) : text;
}

}  // namespace iobench
