#include "coordinator/report/result_store.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/small_file.h"
#include "common/status_util.h"
#include "coordinator/report/atomic_file.h"
#include "coordinator/report/report_writer.h"

namespace iobench {
namespace {

namespace fs = std::filesystem;

// A raw file is a plain protobuf message with one unknown field behind it, so that `protoc --decode` reads it as it
// is, while we see a file that was cut off: protobuf by itself takes a message that ends between two fields for a
// whole one. The field: number 536870911 (the highest there is), 24 bytes:
//   "IOBRUN01" or "IOBPHS01" | length of the message | FNV-1a of the message, both 64 bits, little endian.
// Of a phase 32 bytes, "IOBPHS02": behind them the number of its run, which the checksum takes in, so that a file that
// was copied from another run is seen. Earlier versions wrote "IOBPHS01".
constexpr std::string_view kRunKind = "IOBRUN01";
constexpr std::string_view kPhaseKind = "IOBPHS02";
constexpr std::string_view kPhaseKindWithoutRun = "IOBPHS01";
constexpr std::string_view kSealTag("\xfa\xff\xff\xff\x0f\x18", 6);
constexpr std::string_view kSealTagWithRun("\xfa\xff\xff\xff\x0f\x20", 6);
constexpr size_t kSealBytes = 6 + 24;
constexpr size_t kSealBytesWithRun = 6 + 32;
constexpr uint64_t kLongestFileBytes =
    (uint64_t{1} << 31) + kSealBytesWithRun;  // as long as a message can be

// Of what stands behind bytes that hash to `hash`.
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

// `run_number`: behind a phase's record, where it is known.
std::string Seal(std::string_view kind, std::string_view message, std::optional<uint64_t> run_number) {
  const std::string run = run_number.has_value() ? LittleEndian(*run_number) : "";
  std::string seal(run_number.has_value() ? kSealTagWithRun : kSealTag);
  const uint64_t checksum = Fnv1a(run, Fnv1a(message));
  seal.append(kind).append(LittleEndian(message.size())).append(LittleEndian(checksum)).append(run);
  return seal;
}

absl::Status SaveSealed(const std::string& path, std::string_view kind, std::optional<uint64_t> run_number,
                        const google::protobuf::Message& message) {
  std::string bytes;
  if (!message.SerializeToString(&bytes)) {
    return absl::InternalError(absl::StrCat(path, ": the record is over 2 GiB and cannot be saved"));
  }
  return WriteFileAtomically(path, [&](std::ostream& out) {
    out << bytes << Seal(kind, bytes, run_number);
    return absl::OkStatus();
  });
}

// What stands at the end of a file; `bytes` is 0 where that is no seal.
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

// `kinds`: those that it may be. The run's number where the seal has it.
absl::StatusOr<std::optional<uint64_t>> LoadSealed(const std::string& path,
                                                   std::initializer_list<std::string_view> kinds,
                                                   google::protobuf::Message& message) {
  IOBENCH_ASSIGN_OR_RETURN(const std::string file, ReadSmallFile("saved result", path, kLongestFileBytes));
  const FoundSeal seal = SealOf(file);
  if (seal.bytes == 0) {
    return absl::DataLossError(
        absl::StrCat(path, ": cut off, or not a file of cluster-iobench (", file.size(),
                     " bytes, no seal at the end); take it from a complete copy of the run"));
  }
  if (std::find(kinds.begin(), kinds.end(), seal.kind) == kinds.end()) {
    return absl::DataLossError(
        absl::StrCat(path, ": holds another kind of record, or is of a newer program"));
  }
  const std::string_view content = std::string_view(file).substr(0, file.size() - seal.bytes);
  if (std::string_view(file).substr(content.size()) != Seal(seal.kind, content, seal.run_number)) {
    return absl::DataLossError(absl::StrCat(path, ": damaged, its checksum does not fit"));
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

// raw/phase-NNN.pb in the order of their numbers.
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
  constexpr char kTakeIt[] = "; take it from a complete copy of this run";
  if (sealed_run.has_value() && *sealed_run != run_number) {
    return absl::DataLossError(absl::StrCat(path, ": is of another run", kTakeIt));
  }
  if (phase.index() != IndexOf(path)) {
    return absl::DataLossError(absl::StrCat(path, ": is of another phase, number ", phase.index(), kTakeIt));
  }
  return absl::OkStatus();
}

// Whether a file with such a general name is ours; a result of some other program must survive --force.
bool IsOurs(const std::string& path) {
  const auto text = ReadSmallFile("result", path, kLongestFileBytes);
  if (!text.ok()) return false;  // a FIFO, a device, a directory: nothing that we would have written
  const std::string_view head = std::string_view(*text).substr(0, 512);
  return path.ends_with(".csv") ? head.starts_with("run_id,started_at,phase_index,")
                                : head.find("\"schema\": \"cluster-iobench result") != std::string_view::npos;
}

absl::Status RemoveEarlierResult(const std::string& directory) {
  std::vector<std::string> paths = {directory + "/result.json", directory + "/result.csv"};
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::exists(path, error) && !IsOurs(path)) {
      return absl::AlreadyExistsError(absl::StrCat(
          path,
          " is not a result of cluster-iobench and is left alone; choose another directory with --out"));
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
         fs::exists(RunPath(directory), error) || !PhaseFiles(directory).empty();
}

}  // namespace

absl::StatusOr<ResultStore> ResultStore::Create(const std::string& directory, bool force) {
  if (directory.empty()) return absl::InvalidArgumentError("--out: the name of a directory is missing");
  if (HoldsResult(directory)) {
    if (!force) {
      return absl::AlreadyExistsError(absl::StrCat(
          directory,
          " holds a result already; choose another directory with --out, or replace it with --force"));
    }
    IOBENCH_RETURN_IF_ERROR(RemoveEarlierResult(directory));
  }
  std::error_code error;
  fs::create_directories(directory + "/raw", error);
  if (error) return ErrnoStatus(absl::StrCat("create directory ", directory, "/raw"), error.value());
  return ResultStore(directory);
}

absl::Status ResultStore::SaveRun(const v1::RunRecord& run) const {
  return SaveSealed(RunPath(directory_), kRunKind, std::nullopt, run);
}

absl::Status ResultStore::SavePhase(const v1::PhaseRecord& phase, uint64_t run_number) const {
  return SaveSealed(PhasePath(directory_, phase.index()), kPhaseKind, run_number, phase);
}

absl::Status ResultStore::SaveReport(const v1::RunReport& report) const {
  IOBENCH_RETURN_IF_ERROR(WriteFileAtomically(
      directory_ + "/result.json", [&](std::ostream& out) { return MakeJsonWriter()->Write(report, out); }));
  return WriteFileAtomically(directory_ + "/result.csv",
                             [&](std::ostream& out) { return MakeCsvWriter()->Write(report, out); });
}

absl::StatusOr<SavedRun> LoadRun(const std::string& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    return absl::NotFoundError(absl::StrCat(directory, ": no such directory; give the one that --out named"));
  }
  if (!fs::exists(RunPath(directory), error)) {
    return absl::NotFoundError(absl::StrCat(directory, " holds no saved run (raw/run.pb is missing)"));
  }
  SavedRun saved;
  IOBENCH_RETURN_IF_ERROR(LoadSealed(RunPath(directory), {kRunKind}, saved.run).status());
  uint32_t expected_index = 0;
  for (const std::string& path : PhaseFiles(directory)) {
    for (; expected_index < IndexOf(path); ++expected_index) {
      saved.warnings.push_back(absl::StrCat(PhasePath(directory, expected_index), ": missing"));
    }
    ++expected_index;
    v1::PhaseRecord phase;
    const absl::Status loaded = LoadPhase(path, saved.run.run_number(), phase);
    if (loaded.ok()) {
      saved.phases.push_back(std::move(phase));
    } else {
      saved.warnings.emplace_back(loaded.message());
    }
  }
  return saved;
}

}  // namespace iobench
