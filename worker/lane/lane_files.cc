#include "worker/lane/lane_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/utf8.h"
#include "worker/data_directory/data_directory.h"
#include "worker/storage/file_layout.h"
#include "worker/storage/local_directory.h"

namespace iobench {
namespace {

// The existing state of one lane file.
struct Found {
  bool exists = false;
  uint64_t file_bytes = 0;
  bool sparse = false;  // shared file: parts of the lane's extent or records have not been written
};

absl::StatusOr<std::unique_ptr<File>> OpenOurs(const Directory& directory, const std::string& name,
                                               OpenFor use) {
  auto file = directory.OpenFile(name, use);
  if (absl::IsFailedPrecondition(file.status())) {
    return absl::FailedPreconditionError(
        absl::StrCat(file.status().message(), ", which is not ours: remove it"));
  }
  if (!file.ok()) return file;
  IOBENCH_ASSIGN_OR_RETURN(const NodeFacts facts, (*file)->Facts());
  if (facts.link_count <= 1) return file;
  return absl::FailedPreconditionError(absl::StrCat(
      (*file)->path(), " has another name elsewhere (a hard link), so it is not ours: remove it"));
}

absl::StatusOr<std::unique_ptr<File>> OpenToRead(const Directory& directory, const LaneFile& file) {
  return file.is_users() ? OpenUsersFile(file.name) : OpenOurs(directory, file.name, OpenFor::kReading);
}

bool AreZeros(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

// Returns whether these bytes of the file are zeros or missing. Nothing else is read, so that nothing else is cached.
absl::StatusOr<bool> IsEmptyAt(File& opened, uint64_t offset, uint64_t bytes) {
  opened.ExpectScatteredReads();
  std::vector<std::byte> data(bytes);
  IOBENCH_ASSIGN_OR_RETURN(const size_t size, opened.ReadAt(offset, data));
  return size < data.size() || AreZeros(data);
}

// The write of `bytes` bytes by which a prefill continues after the first `done` bytes of the lane.
Op PieceAt(const LaneFile& file, size_t index, uint64_t done, uint64_t bytes) {
  return {.kind = OpKind::kWrite,
          .object = static_cast<uint32_t>(index),
          .offset = file.interleave.InFile(done),
          .length = static_cast<uint32_t>(std::min(bytes, file.bytes - done))};
}

// Returns the last record of an interleaved lane that a prefill does not fill with zeros; nullopt: its data are zeros.
std::optional<Op> LastRecordWithData(const LaneFile& file, size_t index, Payload& payload) {
  // Compressible data end each block with zeros. The records' positions within blocks repeat after this many records.
  const uint64_t positions = file.record_bytes < Payload::kBlockBytes ? Payload::kBlockBytes : 1;
  const uint64_t record_count = file.bytes / file.record_bytes;
  for (uint64_t back = 1; back <= std::min(positions, record_count); ++back) {
    const Op record = PieceAt(file, index, (record_count - back) * file.record_bytes, file.record_bytes);
    payload.Prepare(record);
    if (!AreZeros(std::span<const std::byte>(payload.Next(record), record.length))) return record;
  }
  return std::nullopt;
}

// Records of other lanes, which write at the same time, lie between those of an interleaved lane. So neither the file's
// length nor its blocks, which may be larger than records, show what this lane has written; the last record shows it,
// because a prefill writes it last. Only data that are zeros anyway are looked for by blocks.
absl::StatusOr<bool> LacksRecords(File& opened, const LaneFile& file, size_t index, Payload& payload) {
  if (const std::optional<Op> record = LastRecordWithData(file, index, payload); record.has_value()) {
    return IsEmptyAt(opened, file.extent_offset_bytes + record->offset, record->length);
  }
  IOBENCH_ASSIGN_OR_RETURN(const Holes holes, opened.HolesIn(file.end() - file.record_bytes, file.end()));
  return holes != Holes::kNone;
}

// A shared file has its full length as soon as its last extent is written. If it only has fewer blocks than bytes, the
// end of the extent decides, because a prefill writes it last; zeros there are written again.
absl::StatusOr<bool> HasUnwrittenPart(File& opened, const LaneFile& file) {
  IOBENCH_ASSIGN_OR_RETURN(const Holes holes, opened.HolesIn(file.extent_offset_bytes, file.end()));
  if (holes != Holes::kUnknown) return holes == Holes::kSome;
  const uint64_t tail_bytes = std::min<uint64_t>(file.bytes, Payload::kBlockBytes);
  return IsEmptyAt(opened, file.end() - tail_bytes, tail_bytes);
}

// `payload` holds the data of a prefill; null: whether the file is sparse does not matter.
absl::StatusOr<Found> Find(const Directory& directory, const FileSet& files, size_t index, Payload* payload) {
  const LaneFile& file = files.files[index];
  // Opened, so that an NFS client asks the server for the current length.
  auto opened = OpenToRead(directory, file);
  if (absl::IsNotFound(opened.status())) return Found{};
  if (!opened.ok()) return opened.status();
  IOBENCH_ASSIGN_OR_RETURN(const NodeFacts facts, (*opened)->Facts());
  Found found{.exists = true, .file_bytes = facts.bytes};
  if (payload == nullptr) return found;
  if (file.is_interleaved()) {
    IOBENCH_ASSIGN_OR_RETURN(found.sparse, LacksRecords(**opened, file, index, *payload));
  } else if (files.shared) {
    IOBENCH_ASSIGN_OR_RETURN(found.sparse, HasUnwrittenPart(**opened, file));
  }
  return found;
}

bool IsWhole(const Found& found, const LaneFile& file) {
  return found.exists && found.file_bytes >= file.end() && !found.sparse;
}

absl::StatusOr<uint64_t> FillFile(const Directory& directory, const FileSet& files, size_t index,
                                  Payload& payload, const StopCell& quit, uint32_t piece_bytes) {
  const LaneFile& file = files.files[index];
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<File> opened,
                           OpenOurs(directory, file.name, OpenFor::kWriting));
  if (file.is_interleaved()) piece_bytes = file.record_bytes;
  uint64_t done = 0;
  while (done < file.bytes) {
    if (quit.stop.load(std::memory_order_relaxed)) return absl::CancelledError("stopped while writing data");
    const Op op = PieceAt(file, index, done, piece_bytes);
    payload.Prepare(op);
    const std::span<const std::byte> data(payload.Next(op), op.length);
    IOBENCH_RETURN_IF_ERROR(opened->WriteAt(file.extent_offset_bytes + op.offset, data));
    done += op.length;
  }
  IOBENCH_RETURN_IF_ERROR(opened->Sync());
  return done;
}

absl::Status Allocate(File& opened, const LaneFile& file) {
  absl::Status allocated = opened.Allocate(file.extent_offset_bytes, file.end() - file.extent_offset_bytes);
  if (!absl::IsUnimplemented(allocated)) return allocated;
  return absl::UnimplementedError(absl::StrCat(allocated.message(), "; leave --preallocate out"));
}

// Creates a new, empty file in place of an existing one.
absl::StatusOr<std::unique_ptr<File>> MakeAnew(const Directory& directory, const std::string& name) {
  const absl::Status removed = directory.Remove(name);
  if (!removed.ok() && !absl::IsNotFound(removed)) return removed;
  return directory.OpenFile(name, OpenFor::kWritingNew);
}

}  // namespace

absl::Status LaneDirectory::Use(absl::FunctionRef<absl::Status(const Directory&)> step) {
  if (shared_ != nullptr) return step(*shared_);
  if (own_ == nullptr) {
    auto opened = OpenClaimedDirectory(target_, claim_);
    if (IsHeldByAnother(opened.status())) lost_claim_ = opened.status();
    if (!opened.ok()) return opened.status();
    own_ = *std::move(opened);
  }
  return step(*own_);
}

absl::Status CreateFiles(const Directory& directory, const FileSet& files, FileBlocks blocks, OldFiles old) {
  const bool keeps = files.shared || old == OldFiles::kKept;
  for (const LaneFile& file : files.files) {
    IOBENCH_ASSIGN_OR_RETURN(
        const std::unique_ptr<File> opened,
        keeps ? OpenOurs(directory, file.name, OpenFor::kWriting) : MakeAnew(directory, file.name));
    if (blocks == FileBlocks::kPreallocated) IOBENCH_RETURN_IF_ERROR(Allocate(*opened, file));
  }
  return absl::OkStatus();
}

absl::Status CheckDataExist(const Directory& directory, const FileSet& files) {
  for (size_t i = 0; i < files.files.size(); ++i) {
    const LaneFile& file = files.files[i];
    IOBENCH_ASSIGN_OR_RETURN(const Found found, Find(directory, files, i, /*payload=*/nullptr));
    if (found.exists && found.file_bytes >= file.end()) continue;
    const std::string what =
        found.exists ? absl::StrCat("has ", found.file_bytes, " bytes, this run reads ", file.end())
                     : "is missing";
    if (file.is_users()) return absl::FailedPreconditionError(absl::StrCat(files.PathOf(i), " ", what));
    return absl::FailedPreconditionError(absl::StrCat("the kept data are incomplete: ", files.PathOf(i), " ",
                                                      what, "; write new data with -i 0 -w"));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> Prefill(const Directory& directory, const FileSet& files, Payload& payload,
                                 const StopCell& quit, uint32_t piece_bytes) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < files.files.size(); ++i) {
    IOBENCH_ASSIGN_OR_RETURN(const Found found, Find(directory, files, i, &payload));
    if (IsWhole(found, files.files[i])) continue;
    IOBENCH_ASSIGN_OR_RETURN(const uint64_t filled,
                             FillFile(directory, files, i, payload, quit, piece_bytes));
    bytes += filled;
  }
  return bytes;
}

FileSet FirstBytesOf(const FileSet& files, uint64_t lane_bytes) {
  FileSet first = files;
  if (lane_bytes == 0) return first;
  first.files.clear();
  for (const LaneFile& file : files.files) {
    if (lane_bytes == 0) break;
    LaneFile& part = first.files.emplace_back(file);
    part.bytes = std::min(file.bytes, lane_bytes);
    lane_bytes -= part.bytes;
  }
  return first;
}

absl::StatusOr<LostBytes> FindLostBytes(const Directory& directory, const FileSet& files,
                                        uint64_t written_bytes) {
  LostBytes lost;
  if (written_bytes == 0) return lost;
  const FileSet written = FirstBytesOf(files, written_bytes);
  for (size_t i = 0; i < written.files.size(); ++i) {
    const LaneFile& file = written.files[i];
    IOBENCH_ASSIGN_OR_RETURN(const Found found, Find(directory, written, i, /*payload=*/nullptr));
    if (found.exists && found.file_bytes >= file.end()) continue;
    const uint64_t begin = std::max(found.file_bytes, file.extent_offset_bytes);
    if (lost.bytes == 0) {
      lost.file_index = i;
      lost.exists = found.exists;
      lost.offset = begin;
      lost.end = file.end();
    }
    // Of interleaved records, about one of so many bytes is this lane's.
    lost.bytes += std::clamp<uint64_t>((file.end() - begin) / file.interleave.count, 1, file.bytes);
  }
  return lost;
}

absl::StatusOr<std::optional<ReplacedFile>> FindReplaced(const Directory& directory, const FileSet& files,
                                                         const SeenIn& phase) {
  constexpr size_t kMostFiles = 64;  // of a lane; each costs a call and an entry
  if (phase.run_id == 0 || files.files.size() > kMostFiles) return std::nullopt;
  IOBENCH_ASSIGN_OR_RETURN(const DirectoryIdentity identity, directory.Identity());
  if (identity.number == 0) return std::nullopt;
  std::optional<ReplacedFile> replaced;
  for (size_t i = 0; i < files.files.size(); ++i) {
    if (files.files[i].is_users()) continue;
    const auto facts = directory.Look(files.files[i].name);
    if (!facts.ok()) continue;  // whatever is wrong with it shows when it is used
    const std::optional<uint64_t> before = FilesSeenHere().Note(phase, files.PathOf(i), facts->number);
    if (before.has_value() && *before != facts->number && !replaced) replaced = ReplacedFile{i, *before, *facts};
  }
  return replaced;
}

absl::Status FlushFiles(const Directory& directory, const FileSet& files, const StopCell& quit) {
  // So that a slow device does not keep the lane for long after `quit`, and a fast one is kept busy.
  constexpr uint64_t kPieceBytes = 16 << 20;
  using WriteBack = File::WriteBack;
  const auto quits = [&quit] { return quit.stop.load(std::memory_order_relaxed); };
  for (const LaneFile& file : files.files) {
    if (quits()) return absl::OkStatus();
    IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<File> opened, OpenToRead(directory, file));
    IOBENCH_ASSIGN_OR_RETURN(const NodeFacts facts, opened->Facts());
    const uint64_t end = std::min(file.end(), facts.bytes);
    for (uint64_t at = file.extent_offset_bytes; at < end; at += kPieceBytes) {
      if (quits()) return absl::OkStatus();
      IOBENCH_RETURN_IF_ERROR(opened->WriteBackPart(WriteBack::kBegin, at, kPieceBytes));
      if (at >= file.extent_offset_bytes + kPieceBytes)
        IOBENCH_RETURN_IF_ERROR(opened->WriteBackPart(WriteBack::kWait, at - kPieceBytes, kPieceBytes));
    }
    if (quits()) return absl::OkStatus();
    IOBENCH_RETURN_IF_ERROR(opened->Sync());
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> ResidentBytes(const Directory& directory, const FileSet& files) {
  uint64_t resident = 0;
  for (const LaneFile& file : files.files) {
    // Records of other lanes lie between those of an interleaved lane.
    if (file.is_interleaved()) return absl::UnimplementedError("unknown for interleaved records");
    IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<File> opened, OpenToRead(directory, file));
    IOBENCH_ASSIGN_OR_RETURN(const uint64_t in_file,
                             opened->ResidentBytes(file.extent_offset_bytes, file.end()));
    resident += in_file;
  }
  return resident;
}

absl::StatusOr<Unstored> UnstoredIn(const Directory& directory, const FileSet& files) {
  Unstored all;
  for (const LaneFile& file : files.files) {
    // Records of other lanes, which may be missing, lie between those of an interleaved lane.
    if (file.is_interleaved()) return absl::UnimplementedError("unknown for interleaved records");
    IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<File> opened, OpenToRead(directory, file));
    const WrittenBy writer = file.is_users() ? WrittenBy::kUser : WrittenBy::kUs;
    IOBENCH_ASSIGN_OR_RETURN(const Unstored in_file,
                             opened->UnstoredIn(file.extent_offset_bytes, file.end(), writer));
    all.hole_bytes += in_file.hole_bytes;
    all.compressed_bytes += in_file.compressed_bytes;
  }
  return all;
}

std::vector<v1::FilePlace> PlacesOf(const Directory& directory, const FileSet& files) {
  if (files.files.size() > kMaxPlaces) return {};
  std::vector<v1::FilePlace> places;
  size_t count = 0;
  for (size_t i = 0; i < files.files.size(); ++i) {
    const LaneFile& file = files.files[i];
    // Other file systems are not asked: to open a file may take a request to the server.
    if (!file.is_users() && !MayTellStorageTargets(directory.fd())) return {};
    const auto opened = OpenToRead(directory, file);
    if (!opened.ok()) return {};
    const std::vector<std::string> targets = (*opened)->StorageTargets(file.extent_offset_bytes, file.end());
    count += targets.size();
    if (targets.empty() || count > kMaxPlaces) return {};
    v1::FilePlace& place = places.emplace_back();
    place.set_file(AsUtf8(files.PathOf(i)));
    for (const std::string& target : targets) place.add_storage_targets(AsUtf8(target));
  }
  return places;
}

bool IsRemoved(int directory_fd) {
  struct stat facts {};
  if (directory_fd < 0) return false;
  return fstat(directory_fd, &facts) == 0 ? facts.st_nlink == 0 : errno == ESTALE;
}

absl::Status ForgetPages(const Directory& directory, const FileSet& files) {
  for (const LaneFile& file : files.files) {
    auto opened = OpenToRead(directory, file);
    if (absl::IsNotFound(opened.status())) continue;
    if (!opened.ok()) return opened.status();
    IOBENCH_RETURN_IF_ERROR((*opened)->ForgetPages());
  }
  return absl::OkStatus();
}

}  // namespace iobench
