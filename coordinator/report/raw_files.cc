#include "coordinator/report/raw_files.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/digest/sha256.h"
#include "common/digest/xxh3.h"
#include "common/status_util.h"
#include "coordinator/files/files.h"
#include "coordinator/report/atomic_file.h"
#include "coordinator/report/result_files.h"

namespace iobench {
namespace {

// A raw file is a plain protobuf message with one unknown field at the end. `protoc --decode` can read it as it is, and
// truncation is detected, which protobuf itself does not do if a message ends between two fields. The field has number
// 536870911 (the highest) and 24 bytes:
//   "IOBRUN01" or "IOBPHS01" | length of the message | FNV-1a of the message, both 64 bits, little-endian.
// For a phase it has 32 bytes with "IOBPHS03": the number of its run follows and is part of the checksum, so that a
// file copied from another run is detected. The checksum is XXH3 with that number as seed, because FNV-1a takes 0.8 s
// for 1,000 clients x 8 lanes x 20 phases, and XXH3 a tenth of that. Earlier versions wrote "IOBPHS02", with FNV-1a of
// the message and the number, and "IOBPHS01".
constexpr std::string_view kRunKind = "IOBRUN01";
constexpr std::string_view kPhaseKind = "IOBPHS03";
constexpr std::string_view kPhaseKindWithFnv = "IOBPHS02";
constexpr std::string_view kPhaseKindWithoutRun = "IOBPHS01";
constexpr std::string_view kSealTag("\xfa\xff\xff\xff\x0f\x18", 6);
constexpr std::string_view kSealTagWithRun("\xfa\xff\xff\xff\x0f\x20", 6);
constexpr size_t kSealBytes = 6 + 24;
constexpr size_t kSealBytesWithRun = 6 + 32;
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
  const uint64_t checksum =
      kind == kPhaseKind ? Xxh3Of(message, run_number.value_or(0)) : Fnv1a(run, Fnv1a(message));
  seal.append(kind).append(LittleEndian(message.size())).append(LittleEndian(checksum)).append(run);
  return seal;
}

// `path`: of a raw file, which reports name relative to the result directory.
v1::FileDigest DigestOf(const std::string& path, std::string_view bytes, std::string_view seal) {
  v1::FileDigest digest;
  digest.set_name(absl::StrCat("raw/", path.substr(path.rfind('/') + 1)));
  digest.set_bytes(bytes.size() + seal.size());
  digest.set_sha256(Sha256Of({bytes, seal}));
  return digest;
}

absl::StatusOr<v1::FileDigest> SaveSealed(const std::string& path, std::string_view kind,
                                          std::optional<uint64_t> run_number,
                                          const google::protobuf::Message& message, Durable durable) {
  std::string bytes;
  if (!message.SerializeToString(&bytes)) {
    return absl::InternalError(absl::StrCat(path, ": the record is over 2 GiB and cannot be saved"));
  }
  const std::string seal = Seal(kind, bytes, run_number);
  IOBENCH_RETURN_IF_ERROR(WriteFileAtomically(
      path,
      [&](std::ostream& out) {
        out << bytes << seal;
        return absl::OkStatus();
      },
      durable));
  return DigestOf(path, bytes, seal);
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
                                                   google::protobuf::Message& message,
                                                   v1::FileDigest* digest) {
  IOBENCH_ASSIGN_OR_RETURN(const std::string file, files::ReadWhole("saved result", path, kLongestResultBytes));
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
  if (digest != nullptr) *digest = DigestOf(path, file, "");
  return seal.run_number;
}

bool IsPhaseFile(const std::string& name) {
  return name.starts_with("phase-") && name.ends_with(".pb") && name.size() >= 12 &&
         std::all_of(name.begin() + 6, name.end() - 3, [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

std::string RawDirectory(const std::string& directory) {
  return absl::StrCat(directory, "/raw");
}

std::string RawRunPath(const std::string& directory) {
  return absl::StrCat(directory, "/", kRawRun);
}

std::string RawPhasePath(const std::string& directory, uint32_t index) {
  return absl::StrFormat("%s/raw/phase-%03u.pb", directory, index);
}

uint32_t IndexOfRawPhase(const std::string& path) {
  return static_cast<uint32_t>(std::strtoul(path.c_str() + path.rfind("phase-") + 6, nullptr, 10));
}

std::string ReportCachePath(const std::string& directory) {
  return absl::StrCat(directory, "/raw/report.cache");
}

std::vector<std::string> RawPhasePaths(const std::string& directory) {
  std::vector<std::string> names;
  for (std::string& name : files::NamesIn(RawDirectory(directory))) {
    if (IsPhaseFile(name)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;  // phase-999 before phase-1000
  });
  for (std::string& name : names) name = absl::StrCat(directory, "/raw/", name);
  return names;
}

absl::StatusOr<v1::FileDigest> SaveRawRun(const std::string& directory, const v1::RunRecord& run) {
  return SaveSealed(RawRunPath(directory), kRunKind, std::nullopt, run, Durable::kNow);
}

v1::FileDigest DigestOfRawRun(const std::string& directory, const v1::RunRecord& run) {
  const std::string bytes = run.SerializeAsString();
  return DigestOf(RawRunPath(directory), bytes, Seal(kRunKind, bytes, std::nullopt));
}

absl::StatusOr<v1::FileDigest> SaveRawPhase(const std::string& path, uint64_t run_number,
                                            const v1::PhaseRecord& phase) {
  return SaveSealed(path, kPhaseKind, run_number, phase, Durable::kLater);
}

absl::StatusOr<v1::RunRecord> LoadRawRun(const std::string& directory, v1::FileDigest* digest) {
  v1::RunRecord run;
  IOBENCH_RETURN_IF_ERROR(LoadSealed(RawRunPath(directory), {kRunKind}, run, digest).status());
  return run;
}

absl::Status LoadRawPhase(const std::string& path, uint64_t run_number, v1::PhaseRecord& phase,
                          v1::FileDigest* digest) {
  IOBENCH_ASSIGN_OR_RETURN(
      const std::optional<uint64_t> sealed_run,
      LoadSealed(path, {kPhaseKind, kPhaseKindWithFnv, kPhaseKindWithoutRun}, phase, digest));
  constexpr char kTakeIt[] = "; restore it from a complete copy of this run";
  if (sealed_run.has_value() && *sealed_run != run_number) {
    return absl::DataLossError(absl::StrCat(path, ": belongs to another run", kTakeIt));
  }
  if (phase.index() != IndexOfRawPhase(path)) {
    return absl::DataLossError(
        absl::StrCat(path, ": belongs to another phase, number ", phase.index(), kTakeIt));
  }
  return absl::OkStatus();
}

}  // namespace iobench
