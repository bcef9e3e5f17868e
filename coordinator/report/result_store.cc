#include "coordinator/report/result_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/small_file.h"
#include "common/status_util.h"
#include "coordinator/report/atomic_file.h"
#include "coordinator/report/phases_csv.h"
#include "coordinator/report/report_writer.h"

namespace iobench {
namespace {

namespace fs = std::filesystem;

// A raw file is a plain protobuf message with one unknown field at the end. `protoc --decode` can read it as it is, and
// truncation is detected, which protobuf itself does not do if a message ends between two fields. The field has number
// 536870911 (the highest) and 24 bytes:
//   "IOBRUN01" or "IOBPHS01" | length of the message | FNV-1a of the message, both 64 bits, little-endian.
// For a phase it has 32 bytes with "IOBPHS02": the number of its run follows and is part of the checksum, so that a
// file copied from another run is detected. Earlier versions wrote "IOBPHS01".
constexpr std::string_view kRunKind = "IOBRUN01";
constexpr std::string_view kPhaseKind = "IOBPHS02";
constexpr std::string_view kPhaseKindWithoutRun = "IOBPHS01";
constexpr std::string_view kSealTag("\xfa\xff\xff\xff\x0f\x18", 6);
constexpr std::string_view kSealTagWithRun("\xfa\xff\xff\xff\x0f\x20", 6);
constexpr size_t kSealBytes = 6 + 24;
constexpr size_t kSealBytesWithRun = 6 + 32;
constexpr int64_t kMinBetweenSavesNs = kNanosPerSecond;
constexpr int64_t kSaveShare = 20;  // saving a report takes at most 1/20 of the time
constexpr ptrdiff_t kMaxSynced = 64;
constexpr uint64_t kLongestFileBytes =
    (uint64_t{1} << 31) + kSealBytesWithRun;  // the max. length of a message

// Continues a hash over the bytes that follow those with `hash`.
uint64_t Fnv1a(std::string_view bytes, uint64_t hash = 0xcbf29ce484222325) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string LittleEndian(uint64_t value) {
  std::string result;
  for (int shift = 0; shift < 64; shift += 8) result += static_cast<char>(value >> shift & 0xff);
  return result;
}

uint64_t FromLittleEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// `run_number`: appended to a phase's record, if known.
std::string Seal(std::string_view kind, std::string_view message, std::optional<uint64_t> run_number) {
  const std::string run = run_number.has_value() ? LittleEndian(*run_number) : "";
  std::string seal(run_number.has_value() ? kSealTagWithRun : kSealTag);
  const uint64_t checksum = Fnv1a(run, Fnv1a(message));
  seal.append(kind).append(LittleEndian(message.size())).append(LittleEndian(checksum)).append(run);
  return seal;
}

absl::Status SaveSealed(const std::string& path, std::string_view kind, std::optional<uint64_t> run_number,
                        const google::protobuf::Message& message, Durable durable) {
  std::string bytes;
  if (!message.SerializeToString(&bytes)) {
    return absl::InternalError(absl::StrCat(path, ": the record is over 2 GiB and cannot be saved"));
  }
  return WriteFileAtomically(
      path,
      [&](std::ostream& out) {
        out << bytes << Seal(kind, bytes, run_number);
        return absl::OkStatus();
      },
      durable);
}

// The seal at the end of a file; `bytes` is 0 if there is none.
struct FoundSeal {
  size_t bytes = 0;
  std::string_view kind;
  std::optional<uint64_t> run_number;
};
FoundSeal SealOf(std::string_view file) {
  FoundSeal found;
  for (const auto& [bytes, tag] :
       {std::pair{kSealBytesWithRun, kSealTagWithRun}, std::pair{kSealBytes, kSealTag}}) {
    if (file.size() < bytes || file.substr(file.size() - bytes, tag.size()) != tag) continue;
    found.bytes = bytes;
    found.kind = file.substr(file.size() - bytes + tag.size(), kRunKind.size());
    if (bytes == kSealBytesWithRun) found.run_number = FromLittleEndian(file.substr(file.size() - 8));
    break;
  }
  return found;
}

// `kinds`: the kinds that are accepted. Returns the run's number if the seal has it.
absl::StatusOr<std::optional<uint64_t>> LoadSealed(const std::string& path,
                                                   std::initializer_list<std::string_view> kinds,
                                                   google::protobuf::Message& message) {
  IOBENCH_ASSIGN_OR_RETURN(const std::string file, ReadSmallFile("saved result", path, kLongestFileBytes));
  const FoundSeal seal = SealOf(file);
  if (seal.bytes == 0) {
    return absl::DataLossError(
        absl::StrCat(path, ": truncated, or not a cluster-iobench file (", file.size(),
                     " bytes, no seal at the end); restore it from a complete copy of the run"));
  }
  if (std::find(kinds.begin(), kinds.end(), seal.kind) == kinds.end()) {
    return absl::DataLossError(
        absl::StrCat(path, ": holds another kind of record, or comes from a newer version"));
  }
  const std::string_view content = std::string_view(file).substr(0, file.size() - seal.bytes);
  if (std::string_view(file).substr(content.size()) != Seal(seal.kind, content, seal.run_number)) {
    return absl::DataLossError(absl::StrCat(path, ": damaged, its checksum does not match"));
  }
  if (!message.ParseFromArray(content.data(), static_cast<int>(content.size()))) {
    return absl::DataLossError(
        absl::StrCat(path, ": whole, but its record cannot be read (a name that is not UTF-8?)"));
  }
  return seal.run_number;
}

std::string RunPath(const std::string& directory) {
  return directory + "/raw/run.pb";
}
std::string PhasePath(const std::string& directory, uint32_t index) {
  return absl::StrFormat("%s/raw/phase-%03u.pb", directory, index);
}

bool IsPhaseFile(const std::string& name) {
  return name.starts_with("phase-") && name.ends_with(".pb") && name.size() >= 12 &&
         std::all_of(name.begin() + 6, name.end() - 3, [](unsigned char c) { return std::isdigit(c) != 0; });
}

uint32_t IndexOf(const std::string& phase_path) {
  return static_cast<uint32_t>(
      std::strtoul(phase_path.c_str() + phase_path.rfind("phase-") + 6, nullptr, 10));
}

// Returns raw/phase-NNN.pb in the order of their numbers.
std::vector<std::string> PhaseFiles(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(directory + "/raw", error), end; !error && entry != end;
       entry.increment(error)) {
    if (IsPhaseFile(entry->path().filename())) names.push_back(entry->path().filename());
  }
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;  // phase-999 before phase-1000
  });
  for (std::string& name : names) name = absl::StrCat(directory, "/raw/", name);
  return names;
}

absl::Status LoadPhase(const std::string& path, uint64_t run_number, v1::PhaseRecord& phase) {
  IOBENCH_ASSIGN_OR_RETURN(const std::optional<uint64_t> sealed_run,
                           LoadSealed(path, {kPhaseKind, kPhaseKindWithoutRun}, phase));
  constexpr char kTakeIt[] = "; restore it from a complete copy of this run";
  if (sealed_run.has_value() && *sealed_run != run_number) {
    return absl::DataLossError(absl::StrCat(path, ": belongs to another run", kTakeIt));
  }
  if (phase.index() != IndexOf(path)) {
    return absl::DataLossError(absl::StrCat(path, ": belongs to another phase, number ", phase.index(), kTakeIt));
  }
  return absl::OkStatus();
}

// Returns whether a file with such a general name is ours; a result of another program must survive --force.
bool IsOurs(const std::string& path) {
  const auto text = ReadSmallFile("result", path, kLongestFileBytes);
  if (!text.ok()) return false;  // a FIFO, a device or a directory: not written by us
  const std::string_view head = std::string_view(*text).substr(0, 512);
  return path.ends_with(".csv") ? head.starts_with("run_id,started_at,phase_index,")
                                : head.find("\"schema\": \"cluster-iobench result") != std::string_view::npos;
}

absl::Status RemoveEarlierResult(const std::string& directory) {
  std::vector<std::string> paths = {directory + "/result.json", directory + "/result.csv",
                                    directory + "/phases.csv"};
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::exists(path, error) && !IsOurs(path)) {
      return absl::AlreadyExistsError(absl::StrCat(
          path,
          " is not a cluster-iobench result and is left alone; choose another directory with --out"));
    }
  }
  paths.push_back(RunPath(directory));
  for (std::string& path : PhaseFiles(directory)) paths.push_back(std::move(path));
  for (const std::string& path : paths) {
    if (::remove(path.c_str()) != 0 && errno != ENOENT)
      return ErrnoStatus(absl::StrCat("remove ", path), errno);
  }
  return absl::OkStatus();
}

bool HoldsResult(const std::string& directory) {
  std::error_code error;
  return fs::exists(directory + "/result.json", error) || fs::exists(directory + "/result.csv", error) ||
         fs::exists(directory + "/phases.csv", error) || fs::exists(RunPath(directory), error) ||
         !PhaseFiles(directory).empty();
}

}  // namespace

absl::StatusOr<ResultStore> ResultStore::Create(const std::string& directory, bool force,
                                                std::function<int64_t()> now_ns) {
  if (directory.empty()) return absl::InvalidArgumentError("--out needs the name of a directory");
  if (HoldsResult(directory)) {
    if (!force) {
      return absl::AlreadyExistsError(absl::StrCat(
          directory,
          " already holds a result; choose another directory with --out, or replace it with --force"));
    }
    IOBENCH_RETURN_IF_ERROR(RemoveEarlierResult(directory));
  }
  std::error_code error;
  fs::create_directories(directory + "/raw", error);
  if (error) return ErrnoStatus(absl::StrCat("create directory ", directory, "/raw"), error.value());
  return ResultStore(directory, std::move(now_ns));
}

absl::Status ResultStore::SaveRun(const v1::RunRecord& run) const {
  return SaveSealed(RunPath(directory_), kRunKind, std::nullopt, run, Durable::kNow);
}

absl::Status ResultStore::SavePhase(const v1::PhaseRecord& phase, uint64_t run_number) {
  std::string path = PhasePath(directory_, phase.index());
  IOBENCH_RETURN_IF_ERROR(SaveSealed(path, kPhaseKind, run_number, phase, Durable::kLater));
  not_synced_.push_back(std::move(path));
  return absl::OkStatus();
}

absl::Status ResultStore::OpenLists() {
  if (!json_phases_.has_value()) {
    IOBENCH_ASSIGN_OR_RETURN(json_phases_, AppendFile::CreateNameless(directory_ + "/result.json.phases"));
  }
  if (!csv_.has_value()) {
    IOBENCH_ASSIGN_OR_RETURN(csv_, AppendFile::Create(directory_ + "/result.csv"));
    IOBENCH_RETURN_IF_ERROR(csv_->Append([](std::ostream& out) { return WriteCsvTitles(out); }));
  }
  if (phases_csv_.has_value()) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(phases_csv_, AppendFile::Create(directory_ + "/phases.csv"));
  return phases_csv_->Append([](std::ostream& out) { return WritePhasesCsvTitles(out); });
}

absl::Status ResultStore::AddPhase(const v1::RunReport& report, const v1::PhaseReport& phase) {
  IOBENCH_RETURN_IF_ERROR(OpenLists());
  const bool is_first = json_phases_->bytes() == 0;
  IOBENCH_RETURN_IF_ERROR(
      json_phases_->Append([&](std::ostream& out) { return WriteJsonPhase(phase, is_first, out); }));
  IOBENCH_RETURN_IF_ERROR(
      csv_->Append([&](std::ostream& out) { return WriteCsvRows(report, phase, out); }));
  return phases_csv_->Append([&](std::ostream& out) { return WritePhasesCsvRow(report, phase, out); });
}

bool ResultStore::IsDue() const {
  if (!saved_any_phase_) return true;
  return now_ns_() - saved_at_ns_ >= std::max(kMinBetweenSavesNs, kSaveShare * save_took_ns_);
}

absl::Status ResultStore::SaveReport(const v1::RunReport& report) {
  const int64_t begin_ns = now_ns_();
  IOBENCH_RETURN_IF_ERROR(OpenLists());
  IOBENCH_RETURN_IF_ERROR(SyncPhases());
  IOBENCH_RETURN_IF_ERROR(csv_->Sync());
  IOBENCH_RETURN_IF_ERROR(phases_csv_->Sync());
  IOBENCH_RETURN_IF_ERROR(WriteFileAtomically(directory_ + "/result.json", [&](std::ostream& out) {
    return WriteJson(
        report, json_phases_->bytes() > 0, [this](std::ostream& list) { return json_phases_->CopyTo(list); },
        out);
  }));
  saved_at_ns_ = now_ns_();
  save_took_ns_ = saved_at_ns_ - begin_ns;
  saved_any_phase_ = json_phases_->bytes() > 0;
  return absl::OkStatus();
}

// Starts writing all files to disk before waiting for the first: 0.1 ms per file on ext4, where one after the other
// took 5 ms each. With other writers it may still take 2 ms, so for very short phases only the newest files are waited
// for; the others reach the disk on their own, on Linux within half a minute.
absl::Status ResultStore::SyncPhases() {
  if (not_synced_.empty()) return absl::OkStatus();
  if (std::ssize(not_synced_) > kMaxSynced) not_synced_.erase(not_synced_.begin(), not_synced_.end() - kMaxSynced);
  for (const bool wait : {false, true}) {
    for (const std::string& path : not_synced_) {
      const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
      if (fd < 0) return ErrnoStatus(absl::StrCat("open ", path), errno);
      const absl::Cleanup close_file = [fd] { ::close(fd); };
      const int failed = wait ? ::fsync(fd) : ::sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
      if (wait && failed != 0) return ErrnoStatus(absl::StrCat("fsync ", path), errno);
    }
  }
  not_synced_.clear();
  return SyncDirectory(directory_ + "/raw");
}

absl::StatusOr<SavedRun> SavedRun::Open(const std::string& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    return absl::NotFoundError(absl::StrCat(directory, ": no such directory; give the directory that --out named"));
  }
  if (!fs::exists(RunPath(directory), error)) {
    return absl::NotFoundError(absl::StrCat(directory, " holds no saved run (raw/run.pb is missing)"));
  }
  SavedRun saved;
  saved.directory_ = directory;
  IOBENCH_RETURN_IF_ERROR(LoadSealed(RunPath(directory), {kRunKind}, saved.run_).status());
  saved.files_ = PhaseFiles(directory);
  return saved;
}

std::optional<v1::PhaseRecord> SavedRun::Next() {
  while (next_ < files_.size()) {
    const std::string& path = files_[next_++];
    for (; expected_index_ < IndexOf(path); ++expected_index_) {
      warnings_.push_back(absl::StrCat(PhasePath(directory_, expected_index_), ": missing"));
    }
    ++expected_index_;
    v1::PhaseRecord phase;
    const absl::Status loaded = LoadPhase(path, run_.run_number(), phase);
    if (loaded.ok()) return phase;
    warnings_.emplace_back(loaded.message());
  }
  return std::nullopt;
}

std::optional<v1::PhaseRecord> SavedRun::Newest() const {
  for (size_t i = files_.size(); i-- > 0;) {
    v1::PhaseRecord phase;
    if (LoadPhase(files_[i], run_.run_number(), phase).ok()) return phase;
  }
  return std::nullopt;
}

}  // namespace iobench
