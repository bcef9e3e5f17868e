#include "coordinator/saved_run/verify.h"

#include <algorithm>
#include <cstdint>
#include <istream>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/digest/sha256.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "coordinator/files/files.h"
#include "coordinator/report/raw_files.h"
#include "coordinator/report/result_files.h"
#include "coordinator/report/result_store.h"
#include "coordinator/report/table_files.h"
#include "coordinator/report/tables/table_csv.h"
#include "coordinator/saved_run/file_comparison.h"
#include "coordinator/saved_run/whole_report.h"
#include "nlohmann/json.hpp"

namespace iobench {
namespace {

using Json = nlohmann::json;

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

// The hashes that result.json has.
struct NotedHashes {
  std::string plan_sha256;                                      // empty: none
  std::unordered_map<std::string, std::string> sha256_of_file;  // by name, such as "raw/run.pb"
};

// Takes the hashes out of result.json, of any shape, while it is parsed. A tree of the whole would take many times the
// memory of its text.
class HashFinder final : public Json::json_sax_t {
 public:
  const NotedHashes& hashes() const { return hashes_; }
  bool is_object() const { return is_object_; }

  bool start_object(size_t) override {
    is_object_ |= open_.empty();
    open_ += '{';
    if (IsFile()) file_name_ = file_sha256_ = "";
    return true;
  }
  bool end_object() override {
    if (IsFile()) hashes_.sha256_of_file.emplace(file_name_, file_sha256_);
    open_.pop_back();
    return true;
  }
  bool start_array(size_t) override {
    open_ += '[';
    return true;
  }
  bool end_array() override {
    open_.pop_back();
    return true;
  }
  bool key(std::string& name) override {
    (open_.size() == 1 ? section_ : key_) = name;
    return true;
  }
  bool string(std::string& value) override {
    if (open_ == "{{" && section_ == "run" && key_ == "plan_sha256") hashes_.plan_sha256 = value;
    if (IsFile() && key_ == "name") file_name_ = value;
    if (IsFile() && key_ == "sha256") file_sha256_ = value;
    return true;
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(Json::number_integer_t) override { return true; }
  bool number_unsigned(Json::number_unsigned_t) override { return true; }
  bool number_float(Json::number_float_t, const std::string&) override { return true; }
  bool binary(Json::binary_t&) override { return true; }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  // Whether the parser is directly in an element of the list `files`.
  bool IsFile() const { return open_ == "{[{" && section_ == "files"; }

  NotedHashes hashes_;
  bool is_object_ = false;
  std::string open_;                     // the brackets around the parser's place
  std::string section_;                  // the last key of the document itself …
  std::string key_;                      // … and the last one below it
  std::string file_name_, file_sha256_;  // of an element of `files`
};

absl::StatusOr<NotedHashes> HashesIn(const std::string& path) {
  IOBENCH_ASSIGN_OR_RETURN(const auto reader, PieceReader::Open(path));
  std::istream in(reader.get());
  HashFinder finder;
  const bool is_json = Json::sax_parse(in, &finder);
  IOBENCH_RETURN_IF_ERROR(reader->status());
  if (!is_json || !finder.is_object())
    return absl::DataLossError(absl::StrCat(kResultJson, ": truncated, or not JSON"));
  return finder.hashes();
}

// Returns the place at which result.json, whose layout does not matter, first differs from what the report gives;
// empty: nowhere. Reads all of it, so it is for a file of which some line differs.
absl::StatusOr<std::string> PlaceOfFirstDifference(const std::string& path, const ReportFormat& format,
                                                   const v1::RunReport& report) {
  Json saved;
  {
    IOBENCH_ASSIGN_OR_RETURN(const std::string text, files::ReadWhole("result", path, kLongestResultBytes));
    if (text.find('\0') != std::string::npos) return "a zero byte";  // the parser takes it for the end
    saved = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  }
  std::ostringstream computed;
  IOBENCH_RETURN_IF_ERROR(Annotate(WriteReport(format, report, computed), absl::StrCat("result ", path)));
  return FirstDifference(saved, Json::parse(std::move(computed).str(), nullptr, /*allow_exceptions=*/false),
                         "");
}

// Checks the raw files as they are against the hashes that the run noted.
void CheckRawFiles(const std::string& directory, const NotedHashes& hashes, Checks& checks) {
  std::unordered_map<std::string, std::string> noted = hashes.sha256_of_file;
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
    } else if (*sha256 != found->second) {
      checks.Fail(
          absl::StrCat(name, ": its SHA-256 is not the one in result.json: one of the two was changed"));
    } else {
      ++matching;
    }
    noted.erase(found);
  }
  for (const auto& [name, unused] : noted)
    checks.Fail(absl::StrCat(name, ": missing, but result.json has its hash"));
  if (matching == paths.size() && noted.empty())
    checks.Pass(absl::StrCat("raw files: all ", matching, " have the SHA-256 in result.json"));
}

void CheckPlan(const v1::RunReport& report, const NotedHashes& hashes, Checks& checks) {
  if (hashes.plan_sha256 == report.run().plan_sha256()) {
    checks.Pass(absl::StrCat("plan: SHA-256 ", report.run().plan_sha256()));
  } else {
    checks.Fail("plan: its SHA-256 in raw/run.pb is not the one in result.json: one of the two was changed");
  }
}

void CheckProgram(const v1::RunReport& report, Checks& checks) {
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
void CheckFigures(const std::string& directory, const v1::RunReport& report, Checks& checks) {
  for (const ResultFile& file : ResultFiles()) {
    if (file.format == nullptr) continue;
    const std::string path = absl::StrCat(directory, "/", file.name);
    absl::StatusOr<std::string> difference = LineOfFirstDifference(
        path, [&](std::ostream& out) { return WriteReport(*file.format, report, out); });
    if (difference.ok() && !difference->empty() && std::string_view(file.name) == kResultJson)
      difference = PlaceOfFirstDifference(path, *file.format, report);
    if (!difference.ok()) {
      checks.Fail(std::string(difference.status().message()));
    } else if (difference->empty()) {
      checks.Pass(absl::StrCat(file.name, ": equals what the raw files give"));
    } else {
      checks.Fail(absl::StrCat(file.name, ": differs from what the raw files give, first at ", *difference));
    }
  }
}

// The same for the tables, which a run of an earlier version, or one that was killed, does not have.
void CheckTables(const std::string& directory, const v1::RunReport& report, Checks& checks) {
  if (!files::Exists(absl::StrCat(directory, "/tables"))) return checks.Note("tables/: there are none");
  size_t equal = 0, count = 0;
  const absl::Status each = ForEachTableFile(report, [&](const std::string& name, const Table& table) {
    const auto difference = LineOfFirstDifference(absl::StrCat(directory, "/", name), [&](std::ostream& out) {
      PrintTableCsv(table, out);
      return absl::OkStatus();
    });
    ++count;
    if (!difference.ok()) {
      checks.Fail(std::string(difference.status().message()));
    } else if (!difference->empty()) {
      checks.Fail(absl::StrCat(name, ": differs from what the raw files give, first at ", *difference));
    } else {
      ++equal;
    }
    return absl::OkStatus();
  });
  if (each.ok() && equal == count) checks.Pass(absl::StrCat("tables/: all ", count, " equal what the raw files give"));
}

}  // namespace

absl::StatusOr<bool> VerifySavedRun(const std::string& directory, std::ostream& out) {
  IOBENCH_ASSIGN_OR_RETURN(SavedRun saved, SavedRun::Open(directory));
  Checks checks(out);
  const absl::StatusOr<NotedHashes> hashes = HashesIn(absl::StrCat(directory, "/", kResultJson));
  if (!hashes.ok()) {
    checks.Fail(std::string(hashes.status().message()));
    return false;
  }
  const v1::RunReport report = WholeReport(saved, {.min_cached_bytes = UINT64_MAX});
  if (!saved.run().finished())
    checks.Fail("run: it did not finish, so the files that are computed may lack its last phases");
  CheckRawFiles(directory, *hashes, checks);
  for (const std::string& warning : saved.warnings()) checks.Fail(warning);
  CheckPlan(report, *hashes, checks);
  CheckProgram(report, checks);
  CheckFigures(directory, report, checks);
  CheckTables(directory, report, checks);
  return checks.passed();
}

}  // namespace iobench
