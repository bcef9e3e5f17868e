#include "coordinator/options/shipped_files.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/status_util.h"
#include "common/text/near_names.h"
#include "common/text/units.h"
#include "coordinator/files/files.h"

namespace iobench {
namespace {

namespace fs = std::filesystem;

constexpr char kShippedExtension[] = ".yaml";
constexpr uint64_t kMaxShippedBytes = 1_MiB;

std::string FirstCommentOf(const fs::path& file, const ShippedKind& kind) {
  const auto text = files::ReadWhole(std::string(kind.word), file.string(), kMaxShippedBytes);
  if (!text.ok()) return std::string(text.status().message());
  return std::string(absl::StripPrefix(absl::string_view(*text).substr(0, text->find('\n')), "# "));
}

}  // namespace

absl::StatusOr<std::string> ShippedDirectory(const ShippedKind& kind) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  std::vector<fs::path> candidates;
  if (!error) {
    candidates.push_back(program.parent_path().parent_path() / "share" / "cluster-iobench" / kind.directory);
  }
  candidates.push_back(fs::path(IOBENCH_SOURCE_DEPLOY) / kind.directory);
  for (const fs::path& candidate : candidates) {
    if (fs::is_directory(candidate, error)) return candidate.string();
  }
  const auto append = [](std::string* text, const fs::path& path) { text->append(path.string()); };
  return absl::NotFoundError(absl::StrCat("the ", std::string(kind.words), " are not installed: there is no ",
                                          absl::StrJoin(candidates, " and no ", append)));
}

absl::StatusOr<std::vector<std::string>> ShippedNames(const ShippedKind& kind) {
  IOBENCH_ASSIGN_OR_RETURN(const std::string directory, ShippedDirectory(kind));
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() == kShippedExtension) names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool IsYamlFile(const std::string& word) {
  return absl::StrContains(word, "/") || absl::EndsWith(word, ".yaml") || absl::EndsWith(word, ".yml");
}

absl::StatusOr<std::string> ShippedFile(const ShippedKind& kind, const std::string& name) {
  IOBENCH_ASSIGN_OR_RETURN(const std::string directory, ShippedDirectory(kind));
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, ShippedNames(kind));
  if (std::find(names.begin(), names.end(), name) != names.end()) {
    return absl::StrCat(directory, "/", name, kShippedExtension);
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  return absl::NotFoundError(absl::StrCat("there is no ", std::string(kind.word), " \"", name,
                                          "\"; there are: ", absl::StrJoin(names, ", "),
                                          DidYouMean(name, known)));
}

absl::StatusOr<std::string> ShippedList(const ShippedKind& kind, const std::string& title) {
  IOBENCH_ASSIGN_OR_RETURN(const std::string directory, ShippedDirectory(kind));
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, ShippedNames(kind));
  std::string text = absl::StrCat(title, " in ", directory, ":\n");
  for (const std::string& name : names) {
    const fs::path file = fs::path(directory) / absl::StrCat(name, kShippedExtension);
    absl::StrAppendFormat(&text, "  %-16s %s\n", name, FirstCommentOf(file, kind));
  }
  return text;
}

}  // namespace iobench
