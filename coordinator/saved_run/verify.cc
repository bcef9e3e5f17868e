#include "coordinator/saved_run/verify.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/digest/sha256.h"
#include "common/small_file.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/unique_fd.h"
#include "coordinator/report/raw_files.h"
#include "coordinator/report/result_files.h"
#include "coordinator/report/result_store.h"
#include "coordinator/saved_run/whole_report.h"
#include "nlohmann/json.hpp"

namespace iobench {
namespace {

using Json = nlohmann::json;

constexpr size_t kPieceBytes = size_t{1} << 18;

// The lines of the output.
class Checks {
 public:
  explicit Checks(std::ostream& out) : out_(out) {}
  void Pass(const std::string& what) { Put("ok", what); }
  void Fail(const std::string& what) {
    Put("FAILED", what);
    passed_ = false;
  }
  void Note(const std::string& what) { Put("note", what); }
  bool passed() const { return passed_; }

 private:
  void Put(std::string word, const std::string& what) {
    word.resize(8, ' ');
    out_ << word << Printable(what) << '\n';
  }
  std::ostream& out_;
  bool passed_ = true;
};

// A text at a place of a JSON document, which may be of any shape; empty: there is none.
std::string TextAt(const Json& document, const char* pointer) {
  const Json::json_pointer place(pointer);
  return document.contains(place) && document.at(place).is_string() ? document.at(place).get<std::string>()
                                                                    : "";
}

// Returns where two documents differ first, such as "phases/3/headline/bytes_per_s"; empty: nowhere.
std::string FirstDifference(const Json& saved, const Json& computed, const std::string& place) {
  const auto below = [&place](const std::string& name) {
    return place.empty() ? name : absl::StrCat(place, "/", name);
  };
  if (saved.is_object() && computed.is_object()) {
    for (const auto& [name, value] : computed.items()) {
      if (!saved.contains(name)) return below(name);
      std::string found = FirstDifference(saved.at(name), value, below(name));
      if (!found.empty()) return found;
    }
    for (const auto& [name, value] : saved.items()) {
      if (!computed.contains(name)) return below(name);
    }
    return {};
  }
  if (saved.is_array() && computed.is_array()) {
    for (size_t i = 0; i < std::min(saved.size(), computed.size()); ++i) {
      std::string found = FirstDifference(saved[i], computed[i], below(std::to_string(i)));
      if (!found.empty()) return found;
    }
    return saved.size() == computed.size() ? ""
                                           : below(std::to_string(std::min(saved.size(), computed.size())));
  }
  return saved == computed ? "" : place.empty() ? "the whole document" : place;
}

// Returns the line in which a file first differs from `computed`; empty: in none. Reads the file piece by piece: the
// lanes of a long run take gigabytes.
absl::StatusOr<std::string> LineOfFirstDifference(const std::string& path, std::string_view computed) {
  const std::string name = absl::StrCat("result ", path);
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(name, errno);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return ErrnoStatus(name, errno);
  if (!S_ISREG(facts.st_mode)) return absl::InvalidArgumentError(absl::StrCat(name, ": not a regular file"));
  std::string piece(kPieceBytes, '\0');
  for (size_t equal_bytes = 0;;) {
    const ssize_t moved = ::read(file.get(), piece.data(), piece.size());
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return ErrnoStatus(name, errno);
    const std::string_view saved(piece.data(), static_cast<size_t>(moved));
    const std::string_view expected = computed.substr(equal_bytes, saved.size());
    const auto [end, unused] = std::mismatch(saved.begin(), saved.end(), expected.begin(), expected.end());
    equal_bytes += static_cast<size_t>(end - saved.begin());
    if (!saved.empty() && end == saved.end()) continue;
    if (saved.empty() && equal_bytes == computed.size()) return "";
    const std::string_view equal = computed.substr(0, equal_bytes);
    return absl::StrCat("line ", 1 + std::count(equal.begin(), equal.end(), '\n'));
  }
}

// Checks the raw files as they are against the hashes that the run noted.
void CheckRawFiles(const std::string& directory, const Json& result, Checks& checks) {
  std::unordered_map<std::string, const Json*> noted;
  if (result.contains("files") && result.at("files").is_array()) {
    for (const Json& file : result.at("files")) {
      if (file.is_object()) noted.emplace(TextAt(file, "/name"), &file);
    }
  }
  if (noted.empty()) {
    return checks.Fail(
        "raw files: result.json has no hashes of them; it is from an earlier version, or was changed");
  }
  std::vector<std::string> paths = RawPhasePaths(directory);
  paths.insert(paths.begin(), RawRunPath(directory));
  size_t matching = 0;
  for (const std::string& path : paths) {
    const std::string name = absl::StrCat("raw/", path.substr(path.rfind('/') + 1));
    const auto found = noted.find(name);
    if (found == noted.end()) {
      checks.Fail(absl::StrCat(name, ": not in result.json"));
      continue;
    }
    const absl::StatusOr<std::string> sha256 = Sha256OfFile(path);
    if (!sha256.ok()) {
      checks.Fail(std::string(sha256.status().message()));
    } else if (*sha256 != TextAt(*found->second, "/sha256")) {
      checks.Fail(
          absl::StrCat(name, ": its SHA-256 is not the one in result.json: one of the two was changed"));
    } else {
      ++matching;
    }
    noted.erase(found);
  }
  for (const auto& [name, file] : noted)
    checks.Fail(absl::StrCat(name, ": missing, but result.json has its hash"));
  if (matching == paths.size() && noted.empty())
    checks.Pass(absl::StrCat("raw files: all ", matching, " have the SHA-256 in result.json"));
}

void CheckPlan(const v1::RunReport& report, const Json& result, Checks& checks) {
  if (TextAt(result, "/run/plan_sha256") == report.run().plan_sha256()) {
    checks.Pass(absl::StrCat("plan: SHA-256 ", report.run().plan_sha256()));
  } else {
    checks.Fail("plan: its SHA-256 in raw/run.pb is not the one in result.json: one of the two was changed");
  }
}

void NoteProgram(const v1::RunReport& report, Checks& checks) {
  const std::string& of_run = report.run().program_sha256();
  if (of_run.empty()) {
    checks.Note("program: the run did not note its hash (it did not finish, or is from an earlier version)");
  } else if (of_run == Sha256OfProgram()) {
    checks.Pass(absl::StrCat("program: this one, SHA-256 ", of_run));
  } else {
    checks.Note(absl::StrCat("program: another one ran, version ", report.run().program_version(),
                             ", SHA-256 ", of_run, "; this one may compute figures in another way"));
  }
}

// Checks the files that are computed from raw data against what the raw data give now.
void CheckFigures(const std::string& directory, const v1::RunReport& report, const Json& result,
                  Checks& checks) {
  for (const ResultFile& file : ResultFiles()) {
    if (file.format == nullptr) continue;
    std::ostringstream computed;
    const absl::Status written = WriteReport(*file.format, report, computed);
    if (!written.ok()) {
      checks.Fail(absl::StrCat(file.name, ": ", std::string(written.message())));
      continue;
    }
    const std::string text = std::move(computed).str();
    std::string difference;
    if (std::string_view(file.name) == kResultJson) {
      difference = FirstDifference(result, Json::parse(text, nullptr, /*allow_exceptions=*/false), "");
    } else {
      const auto line = LineOfFirstDifference(absl::StrCat(directory, "/", file.name), text);
      if (!line.ok()) {
        checks.Fail(std::string(line.status().message()));
        continue;
      }
      difference = *line;
    }
    if (difference.empty()) {
      checks.Pass(absl::StrCat(file.name, ": equals what the raw files give"));
    } else {
      checks.Fail(absl::StrCat(file.name, ": differs from what the raw files give, first at ", difference));
    }
  }
}

}  // namespace

absl::StatusOr<bool> VerifySavedRun(const std::string& directory, std::ostream& out) {
  IOBENCH_ASSIGN_OR_RETURN(SavedRun saved, SavedRun::Open(directory));
  Checks checks(out);
  const auto text = ReadSmallFile("result", absl::StrCat(directory, "/", kResultJson), kLongestResultBytes);
  if (!text.ok()) {
    checks.Fail(std::string(text.status().message()));
    return false;
  }
  const Json result = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!result.is_object()) {
    checks.Fail(absl::StrCat(kResultJson, ": truncated, or not JSON"));
    return false;
  }
  const v1::RunReport report = WholeReport(saved, {.min_cached_bytes = UINT64_MAX});
  if (!saved.run().finished())
    checks.Fail("run: it did not finish, so the files that are computed may lack its last phases");
  CheckRawFiles(directory, result, checks);
  for (const std::string& warning : saved.warnings()) checks.Fail(warning);
  CheckPlan(report, result, checks);
  NoteProgram(report, checks);
  CheckFigures(directory, report, result, checks);
  return checks.passed();
}

}  // namespace iobench
