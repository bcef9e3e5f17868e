#include "coordinator/saved_run/run_names.h"

#include <algorithm>
#include <filesystem>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "coordinator/files/files.h"
#include "coordinator/report/raw_files.h"

namespace iobench {
namespace {

namespace fs = std::filesystem;

bool IsRun(const std::string& directory) { return files::Exists(RawRunPath(directory)); }

std::string RunDirectoryOf(const std::string& word) {
  if (files::IsDirectory(word) || !files::Exists(word)) return word;
  for (fs::path holder = fs::path(word).parent_path();; holder = holder.parent_path()) {
    const std::string directory = holder.empty() ? "." : holder.string();
    if (IsRun(directory)) return directory;
    if (holder.filename() != "raw") return word;
  }
}

}  // namespace

absl::StatusOr<std::vector<std::string>> RunsNamed(const std::vector<std::string>& words, size_t count) {
  if (!words.empty()) {
    std::vector<std::string> directories;
    for (const std::string& word : words) directories.push_back(RunDirectoryOf(word));
    return directories;
  }
  if (IsRun(".")) return std::vector<std::string>{"."};
  std::vector<std::string> runs;
  for (const std::string& name : files::NamesIn(kResultsDirectory)) {
    std::string run = absl::StrCat(kResultsDirectory, "/", name);
    if (IsRun(run)) runs.push_back(std::move(run));
  }
  if (runs.empty()) {
    return absl::NotFoundError(absl::StrCat("there is no run in ./", kResultsDirectory, ": name the directory of one"));
  }
  std::sort(runs.begin(), runs.end());
  if (runs.size() > count) runs.erase(runs.begin(), runs.end() - static_cast<std::ptrdiff_t>(count));
  return runs;
}

}  // namespace iobench
