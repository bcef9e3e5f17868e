#include "coordinator/saved_run/run_documents.h"

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/own_files/own_file.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "coordinator/analysis/phase/phase_traits.h"
#include "coordinator/files/files.h"
#include "coordinator/report/atomic_file.h"
#include "coordinator/report/file_head.h"
#include "coordinator/report/iozone/iozone_files.h"
#include "coordinator/report/iozone/iozone_report.h"
#include "coordinator/report/result_files.h"
#include "coordinator/report/result_store.h"
#include "coordinator/report/table_files.h"
#include "coordinator/report/text/console_words.h"
#include "coordinator/report/workbook/workbook_writer.h"
#include "coordinator/saved_run/whole_report.h"

namespace iobench {
namespace {

// result.json and the CSV files are there already.
bool IsResultFile(const Document& document) {
  const auto files = ResultFiles();
  return std::any_of(files.begin(), files.end(), [&](const ResultFile& file) {
    return std::string_view(file.name) == document.file_name;
  });
}

// Creates and removes the file under the name that it has while it is written.
absl::Status CheckCreatable(const std::string& path) {
  const std::string partial = path + kPartialSuffix;
  files::Remove(partial);
  const absl::Status created = files::CreateNew(partial).status();
  if (created.ok()) files::Remove(partial);
  return created;
}

absl::Status CheckWorkbook(const std::string& path, bool replace) {
  if (files::IsDirectory(path))
    return absl::InvalidArgumentError(absl::StrCat("-b ", path, " is a directory: name a file"));
  if (files::Exists(path) && !replace) {
    return absl::AlreadyExistsError(
        absl::StrCat("-b ", path, " exists: name another file, or replace it with --force"));
  }
  return CheckCreatable(path);
}

// Whether nothing is in the document's place, or a file that this program wrote.
bool IsFree(const Document& document, const std::string& path) {
  const std::optional<struct stat> there = files::Stat(path, files::Links::kShow);
  if (!there.has_value()) return true;
  if (document.is_ours == nullptr || !S_ISREG(there->st_mode)) return false;
  const std::optional<std::string> head = FileHead(path);
  return head.has_value() && document.is_ours(*head);
}

// AlreadyExists: something that is not ours is in the document's place.
absl::Status CheckPlace(const Document& document, const std::string& path) {
  if (IsFree(document, path)) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat(path,
                   " is not a cluster-iobench report and is left alone: move it, then write the report with "
                   "`cluster-iobench report DIR --format ",
                   document.name, "`"));
}

// AlreadyExists: a document would replace a file of the user. In a directory that holds a result, files are those of an
// earlier run, and ResultStore asks for --force.
absl::Status CheckResultDirectory(const ClusterOptions& options, const v1::IozoneOutput& iozone) {
  if (options.out.empty() || options.force || !options.resume.empty() || HoldsResult(options.out))
    return absl::OkStatus();
  std::string found = FileNamedLikeIozones(iozone, options.out);
  for (const std::string& name : options.formats) {
    IOBENCH_ASSIGN_OR_RETURN(const Document* const document, DocumentNamed(name));
    if (!IsFree(*document, absl::StrCat(options.out, "/", document->file_name))) found = document->file_name;
  }
  for (const std::string& path : TablePaths(options.out)) {
    if (files::Exists(path) && !files::IsDirectory(path))
      found = path.substr(options.out.size() + 1);
  }
  if (found.empty()) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat(
      options.out, "/", found,
      " exists and does not belong to the result of an earlier run: choose another directory with "
      "--out, or replace the file with --force"));
}

// A reader that has exited (`| head`) is no failure, and the caller notices a full device.
absl::Status UnlessNotPrinted(const absl::Status& printed) {
  return absl::IsDataLoss(printed) ? absl::OkStatus() : printed;
}

// FailedPrecondition: a run of this plan has nothing that the document shows, as its `write` would say after the run.
absl::Status CheckHasWhatItShows(const Document& document, const v1::Plan& plan) {
  if (!document.shows_some) return absl::OkStatus();
  // What is known of the phases before they run.
  v1::RunReport report;
  *report.mutable_run()->mutable_plan() = plan;
  for (const v1::Phase& phase : plan.phases()) {
    const PhaseTraits traits = TraitsOf(phase);
    v1::PhaseReport& planned = *report.add_phases();
    planned.set_index(static_cast<uint32_t>(report.phases_size() - 1));
    planned.set_name(traits.name);
    planned.set_operation(traits.operation);
    planned.set_record_bytes(traits.record_bytes);
    planned.set_metadata(traits.metadata);
    if (traits.tree.items_per_lane() > 0) *planned.mutable_tree() = traits.tree;
    if (traits.reads) (*planned.mutable_by_kind())["read"];
    if (traits.writes) (*planned.mutable_by_kind())["write"];
  }
  std::ostringstream unused;
  const absl::Status written = document.write(report, unused);
  return absl::IsFailedPrecondition(written) ? written : absl::OkStatus();
}

// Most formats of other tools have no place for the errors of a phase.
void PrintErrorsOf(const v1::RunReport& report, std::ostream& aside) {
  constexpr size_t kMostOfPhase = 3;
  for (const v1::PhaseReport& phase : report.phases()) {
    for (const std::string& text : ErrorTexts(phase.errors(), kMostOfPhase))
      aside << "cluster-iobench: " << Printable(phase.name()) << ": " << text << '\n';
  }
}

}  // namespace

std::string WorkbookFileOf(const std::string& given) {
  for (const char* const old : {".xls", ".wks"}) {
    if (absl::EndsWithIgnoreCase(given, old)) return given.substr(0, given.size() - 4) + ".xlsx";
  }
  return given;
}

absl::Status CheckDocuments(const ClusterOptions& options, const std::optional<v1::IozoneOutput>& iozone,
                            const v1::Plan& plan) {
  std::vector<std::string> formats = options.formats;
  if (!options.workbook.empty()) formats.push_back("workbook");
  for (const std::string& name : formats) {
    const Document& document = **DocumentNamed(name);
    if (document.is_built != nullptr) IOBENCH_RETURN_IF_ERROR(document.is_built());
    IOBENCH_RETURN_IF_ERROR(Annotate(CheckHasWhatItShows(document, plan), absl::StrCat("--format ", name)));
  }
  IOBENCH_RETURN_IF_ERROR(CheckResultDirectory(options, iozone.value_or(v1::IozoneOutput())));
  if (options.workbook.empty()) return absl::OkStatus();
  return CheckWorkbook(WorkbookFileOf(options.workbook), options.force);
}

RunDocuments::RunDocuments(const ClusterOptions& options, const std::optional<v1::IozoneOutput>& iozone,
                           bool as_iozone)
    : workbook_given_(options.workbook),
      workbook_(WorkbookFileOf(options.workbook)),
      replace_workbook_(options.force),
      replace_asked_(options.force || !options.resume.empty()),
      resumes_(!options.resume.empty()),
      iozone_(iozone.value_or(v1::IozoneOutput())),
      as_iozone_(as_iozone) {
  for (const std::string& name : options.formats) {
    const Document* const document = *DocumentNamed(name);
    if (std::find(asked_.begin(), asked_.end(), document) == asked_.end()) asked_.push_back(document);
    replace_console_ = replace_console_ || document->content == Document::Content::kText;
  }
}

std::string RunDocuments::WorkbookLine() const {
  if (workbook_.empty()) return "";
  return absl::StrCat("workbook: ", Printable(workbook_),
                      workbook_ == workbook_given_
                          ? ""
                          : absl::StrCat(" (its format is not that of ", Printable(workbook_given_), ")"),
                      "\n");
}

std::vector<const Document*> RunDocuments::Wanted() const {
  std::vector<const Document*> wanted = asked_;
  for (const Document& document : Documents()) {
    const bool is_asked = std::find(wanted.begin(), wanted.end(), &document) != wanted.end();
    if (document.written == Document::Written::kAtEndOfRun && !is_asked) wanted.push_back(&document);
  }
  return wanted;
}

std::vector<std::string> RunDocuments::FileNames() const {
  std::vector<std::string> names;
  for (const Document* document : Wanted()) {
    if (!IsResultFile(*document)) names.emplace_back(document->file_name);
  }
  return names;
}

absl::Status RunDocuments::Write(const std::string& directory, const v1::RunRecord& run, std::ostream& out,
                                 std::ostream& aside) const {
  const std::vector<const Document*> wanted = Wanted();
  const bool prints_excel = iozone_.excel() && !replace_console_;
  absl::StatusOr<SavedRun> saved = SavedRun::Open(directory);
  if (!saved.ok()) return saved.status();
  saved->SetRun(run);
  const bool show_charts = std::any_of(wanted.begin(), wanted.end(),
                                       [](const Document* document) { return document->shows_charts; });
  const v1::RunReport report =
      WholeReport(*saved, {.charts = show_charts ? Charts::kFilledIn : Charts::kLeftOut});
  if (replace_console_ && !as_iozone_) PrintErrorsOf(report, aside);
  absl::Status status = WriteIozoneFiles(report, directory);
  status.Update(WriteTableFiles(report, directory));
  if (prints_excel) status.Update(UnlessNotPrinted(WriteIozoneExcel(report, out)));
  if (as_iozone_) {
    status.Update(UnlessNotPrinted(WriteIozoneFigures(report, out)));
    aside << IozoneDoubts(report);
  }
  for (const Document* document : wanted) {
    const bool is_asked = std::find(asked_.begin(), asked_.end(), document) != asked_.end();
    if (is_asked && !as_iozone_ && document->content == Document::Content::kText)
      status.Update(UnlessNotPrinted(document->write(report, out)));
    if (IsResultFile(*document)) continue;
    const std::string path = absl::StrCat(directory, "/", document->file_name);
    absl::Status free = is_asked && replace_asked_ ? absl::OkStatus() : CheckPlace(*document, path);
    if (!free.ok() && resumes_) free = PutAside(path);
    status.Update(free.ok() ? SaveDocument(*document, report, path, /*replace=*/true) : free);
  }
  if (!workbook_.empty())
    status.Update(SaveDocument(**DocumentNamed("workbook"), report, workbook_, replace_workbook_));
  return status;
}

}  // namespace iobench
