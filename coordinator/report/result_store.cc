#include "coordinator/report/result_store.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/file_kind.h"
#include "coordinator/files/files.h"
#include "coordinator/report/atomic_file.h"
#include "coordinator/report/file_head.h"
#include "coordinator/report/raw_files.h"
#include "coordinator/report/table_files.h"

namespace iobench {
namespace {

constexpr int64_t kMinBetweenSavesNs = kNanosPerSecond;
constexpr int64_t kSaveShare = 20;  // saving a report takes at most 1/20 of the time
constexpr ptrdiff_t kMaxSynced = 64;

// Where results cannot be, another directory can be named.
absl::Status WithAnotherPlace(const absl::Status& made) {
  constexpr int kOfThePlace[] = {EACCES, EPERM, EROFS, ENOTDIR, ENOSPC, EDQUOT, ENAMETOOLONG};
  const int error = ErrnoOf(made);
  if (std::find(std::begin(kOfThePlace), std::end(kOfThePlace), error) == std::end(kOfThePlace)) return made;
  return absl::Status(made.code(),
                      absl::StrCat(std::string(made.message()), ": name a directory for the results with --out DIR"));
}

std::string PathOf(const std::string& directory, const ResultFile& file) {
  return absl::StrCat(directory, "/", file.main_file);
}

// Returns whether a file with such a general name is ours; a result of another program must survive --force.
bool IsOurs(const std::string& path, const ReportFormat& format) {
  const std::optional<std::string> head = FileHead(path);
  return head.has_value() && format.is_ours(*head);
}

// Returns the files of other programs, or damaged ones, in the places of reports.
std::vector<std::string> NotOurs(const std::string& directory) {
  std::vector<std::string> paths;
  for (const ResultFile& file : ResultFiles()) {
    const std::string path = PathOf(directory, file);
    if (file.format != nullptr && files::Stat(path, files::Links::kShow).has_value() && !IsOurs(path, *file.format))
      paths.push_back(path);
  }
  return paths;
}

// `continues`: raw files stay, and reports that are replaced as a whole.
absl::Status RemoveEarlierResult(const std::string& directory, bool continues) {
  std::vector<std::string> paths;
  for (const ResultFile& file : ResultFiles()) {
    if (continues && (file.format == nullptr || !file.format->grows())) continue;
    paths.push_back(PathOf(directory, file));
  }
  if (!continues) {
    for (std::string& path : RawPhasePaths(directory)) paths.push_back(std::move(path));
  }
  paths.push_back(ReportCachePath(directory));
  const std::vector<std::string> tables = TablePaths(directory);
  paths.insert(paths.end(), tables.begin(), tables.end() - 1);  // the directory may hold other files
  for (const std::string& path : paths) {
    if (files::Remove(path) != 0 && errno != ENOENT)
      return ErrnoStatus(absl::StrCat("remove ", path), errno);
  }
  return absl::OkStatus();
}

// Protobuf skips unknown fields, but a figure may then lack something that changes it.
bool HasUnknownFields(const v1::RunRecord& run) {
  return !run.GetReflection()->GetUnknownFields(run).empty();
}

}  // namespace

bool HoldsResult(const std::string& directory) {
  const std::span<const ResultFile> files = ResultFiles();
  return std::any_of(files.begin(), files.end(),
                     [&](const ResultFile& file) { return files::Exists(PathOf(directory, file)); }) ||
         !RawPhasePaths(directory).empty();
}

absl::StatusOr<ResultStore> ResultStore::Create(const std::string& directory, EarlierResult earlier,
                                                std::function<int64_t()> now_ns,
                                                std::shared_ptr<ResultLock> lock) {
  if (directory.empty()) return absl::InvalidArgumentError("--out needs the name of a directory");
  if (const absl::Status made = files::MakeDirectories(directory); !made.ok())
    return earlier == EarlierResult::kContinue ? made : WithAnotherPlace(made);
  if (lock == nullptr) {
    const auto if_out_of_sight = earlier == EarlierResult::kReplace ? ResultLock::IfOutOfSight::kAccept
                                                                    : ResultLock::IfOutOfSight::kRefuse;
    IOBENCH_ASSIGN_OR_RETURN(lock, ResultLock::Take(directory, if_out_of_sight));
  }
  ResultStore store(directory, std::move(now_ns), std::move(lock));
  store.earlier_ = earlier;
  store.has_earlier_ = HoldsResult(directory);
  if (store.has_earlier_ && earlier == EarlierResult::kRefuse) {
    return absl::AlreadyExistsError(absl::StrCat(
        directory, " already holds a result; choose another directory with --out, or replace it with --force"));
  }
  if (const std::vector<std::string> foreign = NotOurs(directory); !foreign.empty() && earlier != EarlierResult::kContinue) {
    return absl::AlreadyExistsError(absl::StrCat(
        foreign.front(), " is not a cluster-iobench result and is left alone; choose another directory with --out"));
  }
  IOBENCH_RETURN_IF_ERROR(files::MakeDirectories(RawDirectory(directory)));
  return store;
}

// A report of the run that goes on is computed anew, whatever has become of its file.
absl::Status ResultStore::RemoveEarlier() {
  if (!has_earlier_) return absl::OkStatus();
  const bool continues = earlier_ == EarlierResult::kContinue;
  for (const std::string& path : NotOurs(directory_)) {
    if (continues) IOBENCH_RETURN_IF_ERROR(PutAside(path));
  }
  IOBENCH_RETURN_IF_ERROR(RemoveEarlierResult(directory_, continues));
  has_earlier_ = false;
  return absl::OkStatus();
}

absl::StatusOr<v1::FileDigest> ResultStore::SaveRun(const v1::RunRecord& run) const {
  return SaveRawRun(directory_, run);
}

absl::StatusOr<v1::FileDigest> ResultStore::SavePhase(const v1::PhaseRecord& phase, uint64_t run_number) {
  std::string path = RawPhasePath(directory_, phase.index());
  IOBENCH_ASSIGN_OR_RETURN(v1::FileDigest digest, SaveRawPhase(path, run_number, phase));
  not_synced_.push_back(std::move(path));
  return digest;
}

absl::Status ResultStore::RemovePhase(uint32_t index) const {
  const std::string path = RawPhasePath(directory_, index);
  const std::optional<struct stat> there = files::Stat(path, files::Links::kShow);
  if (there.has_value() && S_ISDIR(there->st_mode)) return PutAside(path);
  if (files::Remove(path) == 0 || errno == ENOENT) return absl::OkStatus();
  return ErrnoStatus(absl::StrCat("remove ", path), errno);
}

absl::Status ResultStore::OpenReports() {
  for (const ResultFile& file : ResultFiles()) {
    const auto is_open = [&](const OpenReport& open) { return open.file == &file; };
    if (file.format == nullptr || std::any_of(open_.begin(), open_.end(), is_open)) continue;
    const std::string path = PathOf(directory_, file);
    absl::StatusOr<AppendFile> phases =
        file.format->grows() ? AppendFile::Create(path) : AppendFile::CreateNameless(path + ".phases");
    if (!phases.ok()) return phases.status();
    open_.push_back({&file, *std::move(phases)});
    if (file.format->write_titles == nullptr) continue;
    IOBENCH_RETURN_IF_ERROR(open_.back().phases.Append(file.format->write_titles));
  }
  return absl::OkStatus();
}

absl::Status ResultStore::AddPhase(const v1::RunReport& report, const v1::PhaseReport& phase) {
  IOBENCH_RETURN_IF_ERROR(OpenReports());
  for (OpenReport& open : open_) {
    const PlaceInList place = open.has_phases ? PlaceInList::kLater : PlaceInList::kFirst;
    IOBENCH_RETURN_IF_ERROR(open.phases.Append(
        [&](std::ostream& out) { return open.file->format->write_phase(report, phase, place, out); }));
    open.has_phases = true;
  }
  return absl::OkStatus();
}

bool ResultStore::IsDue() const {
  if (!saved_any_phase_) return true;
  return now_ns_() - saved_at_ns_ >= std::max(kMinBetweenSavesNs, kSaveShare * save_took_ns_);
}

absl::Status ResultStore::SaveReport(const v1::RunReport& report) {
  const int64_t begin_ns = now_ns_();
  IOBENCH_RETURN_IF_ERROR(OpenReports());
  IOBENCH_RETURN_IF_ERROR(SyncPhases());
  for (const OpenReport& open : open_) {
    if (open.file->format->grows()) IOBENCH_RETURN_IF_ERROR(open.phases.Sync());
  }
  for (const OpenReport& open : open_) {
    if (open.file->format->grows()) continue;
    const WrittenPhases phases = {.any = open.has_phases,
                                  .copy_to = [&open](std::ostream& out) { return open.phases.CopyTo(out); }};
    IOBENCH_RETURN_IF_ERROR(WriteFileAtomically(PathOf(directory_, *open.file), [&](std::ostream& out) {
      return open.file->format->write_around(report, phases, out);
    }));
    saved_any_phase_ = open.has_phases;
  }
  saved_at_ns_ = now_ns_();
  save_took_ns_ = saved_at_ns_ - begin_ns;
  return absl::OkStatus();
}

// Starts writing all files to disk before waiting for the first: 0.1 ms per file on ext4, where one after the other
// took 5 ms each. With other writers it may still take 2 ms, so for very short phases only the newest files are waited
// for; the others reach the disk on their own, on Linux within half a minute.
absl::Status ResultStore::SyncPhases() {
  if (not_synced_.empty()) return absl::OkStatus();
  if (std::ssize(not_synced_) > kMaxSynced)
    not_synced_.erase(not_synced_.begin(), not_synced_.end() - kMaxSynced);
  for (const bool wait : {false, true}) {
    for (const std::string& path : not_synced_) {
      const files::HeldFile file = files::Open(path, O_RDONLY | O_CLOEXEC);
      if (!file.valid()) return ErrnoStatus(absl::StrCat("open ", path), errno);
      const int failed = wait ? files::Sync(file) : files::BeginSync(file);
      if (wait && failed != 0) return ErrnoStatus(absl::StrCat("fsync ", path), errno);
    }
  }
  not_synced_.clear();
  return SyncDirectory(RawDirectory(directory_));
}

absl::StatusOr<SavedRun> SavedRun::Open(const std::string& directory) {
  if (!files::IsDirectory(directory)) {
    IOBENCH_RETURN_IF_ERROR(files::UnansweredCall(directory, errno));
    const std::optional<struct stat> there = files::Stat(directory);
    return absl::NotFoundError(absl::StrCat(
        directory, there.has_value() ? absl::StrCat(" is ", std::string(KindOfFile(there->st_mode)), ", not a directory")
                                     : ": no such directory",
        "; give the directory that --out named"));
  }
  if (!files::Exists(RawRunPath(directory))) {
    if (errno != ENOENT && errno != ENOTDIR) return ErrnoStatus(RawRunPath(directory), errno);
    return absl::NotFoundError(absl::StrCat(directory, " holds no saved run (", kRawRun,
                                            " is missing); give the directory that --out named"));
  }
  SavedRun saved;
  saved.directory_ = directory;
  IOBENCH_ASSIGN_OR_RETURN(saved.run_, LoadRawRun(directory, &saved.digests_.emplace_back()));
  saved.files_ = RawPhasePaths(directory);
  if (HasUnknownFields(saved.run_)) {
    saved.warnings_.push_back(absl::StrCat(RawRunPath(directory), ": written by a newer version (",
                                           saved.run_.program_version(),
                                           "), whose additions are unknown here"));
  }
  return saved;
}

void SavedRun::Select(uint32_t begin, uint32_t end) {
  std::erase_if(files_, [&](const std::string& path) {
    return IndexOfRawPhase(path) < begin || IndexOfRawPhase(path) >= end;
  });
  expected_index_ = begin;
  end_index_ = end;
}

void SavedRun::SetRun(const v1::RunRecord& run) {
  run_ = run;
  digests_.front() = DigestOfRawRun(directory_, run);
}

absl::Status SavedRun::Load(size_t position, v1::PhaseRecord& phase, v1::FileDigest* digest) const {
  return LoadRawPhase(files_[position], run_.run_number(), phase, digest);
}

void SavedRun::Note(size_t position, const absl::StatusOr<v1::FileDigest>& read) {
  const std::string& path = files_[position];
  for (; expected_index_ < IndexOfRawPhase(path); ++expected_index_) RecordMissing(expected_index_, "missing");
  if (read.ok()) {
    digests_.push_back(*read);
  } else {
    std::string problem(read.status().message());
    const std::string subject = path + ": ";
    if (problem.starts_with(subject)) problem.erase(0, subject.size());
    RecordMissing(expected_index_, problem);
  }
  ++expected_index_;
}

void SavedRun::RecordEnd() {
  const uint32_t end = std::min(run_.phase_count(), end_index_);
  for (; expected_index_ < end; ++expected_index_) RecordMissing(expected_index_, "missing");
}

void SavedRun::RecordMissing(uint32_t index, const std::string& problem) {
  v1::MissingPhase& missing = missing_phases_.emplace_back();
  missing.set_index(index);
  const auto planned = static_cast<uint32_t>(run_.plan().phases_size());
  if (planned > 0) {
    missing.set_repetition(index / planned);
    missing.set_name(run_.plan().phases(static_cast<int>(index % planned)).name());
  }
  const std::string path = RawPhasePath(directory_, index);
  missing.set_file(absl::StrCat("raw/", path.substr(path.rfind('/') + 1)));
  missing.set_problem(problem);
  warnings_.push_back(absl::StrCat(path, ": ", problem, " (phase ", index + 1,
                                   missing.name().empty() ? "" : absl::StrCat(", ", missing.name()), ")"));
}

}  // namespace iobench
