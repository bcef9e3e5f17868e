#include "worker/engine/mpiio_engine.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/memory/own_lines.h"
#include "common/mpi_io/mpi_hints.h"
#include "common/mpi_io/mpi_session_files.h"
#include "common/proc_file.h"
#include "common/status_util.h"
#include "worker/loop/timed_loop.h"

namespace iobench {
namespace {

struct MpiFile {
  void* file = nullptr;
  uint64_t extent_offset_bytes = 0;
  uint64_t used_until = 0;  // offset after the last byte of an op that was reported as done
};

int AccessOf(const OpenMode& mode) {
  const int access = mode.write ? O_RDWR : O_RDONLY;
  return mode.create ? access | O_CREAT : access;
}

// MPI resolves the path again: it must lead to the directory that this phase holds open, and to no link in it.
absl::Status CheckPath(const FileSet& files, size_t index) {
  const LaneFile& file = files.files[index];
  if (file.is_users()) return absl::OkStatus();
  struct stat held{}, named{}, entry{};
  if (::fstat(files.directory_fd, &held) != 0 || ::stat(files.directory.c_str(), &named) != 0)
    return ErrnoStatus(files.directory, errno);
  if (held.st_dev != named.st_dev || held.st_ino != named.st_ino) {
    return absl::FailedPreconditionError(
        absl::StrCat(files.directory, " is another directory than that of this run: it was replaced"));
  }
  if (::fstatat(files.directory_fd, file.name.c_str(), &entry, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(entry.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat(files.PathOf(index), " is a symbolic link, which this run has not made"));
  }
  return absl::OkStatus();
}

// The hints of an open, in the form of MpiFiles::open. REQUIRES: the texts are valid (ParseMpiHint).
class HintWords {
 public:
  explicit HintWords(const v1::MpiIo& mpi_io) {
    for (const std::string& text : mpi_io.hints()) {
      if (const auto hint = ParseMpiHint(text); hint.ok()) {
        words_.emplace_back(hint->first);
        words_.emplace_back(hint->second);
      }
    }
    for (const std::string& word : words_) pointers_.push_back(word.c_str());
    pointers_.push_back(nullptr);
  }
  const char* const* data() const { return pointers_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<const char*> pointers_;
};

// What system calls of this thread have moved so far, messages over sockets included.
struct Called {
  uint64_t read = 0, written = 0;
};

std::optional<Called> CalledBytes() {
  const std::optional<std::string> text = ReadWholeFile("/proc/thread-self/io");
  Called called;
  if (!text || std::sscanf(text->c_str(), "rchar: %" SCNu64 "\nwchar: %" SCNu64, &called.read, &called.written) != 2) {
    return std::nullopt;
  }
  return called;
}

// Open MPI has several components for MPI-IO, and says nowhere which one is at work.
std::string LibraryText() {
  const char* const asked = std::getenv("OMPI_MCA_io");
  return asked == nullptr ? MpiLibraryName() : absl::StrCat(MpiLibraryName(), ", io ", asked);
}

struct MpiOp {
  const MpiFiles& mpi;
  MpiFile* files;
  const FileSet& set;
  Payload* payload;
  std::byte* read_buffer;
  RanksTogether* together;  // null: the lane is alone
  bool viewed;
  int* error;  // MPI's, of the last call

  int64_t operator()(const Op& op) const {
    MpiFile& file = files[op.object];
    const uint64_t at = viewed ? set.files[op.object].interleave.InLane(op.offset) : file.extent_offset_bytes + op.offset;
    if (together != nullptr) together->BeginCall();
    size_t moved = 0;
    *error = op.kind == OpKind::kRead
                 ? mpi.read_at(file.file, together != nullptr, at, read_buffer, op.length, &moved)
                 : mpi.write_at(file.file, together != nullptr, at, payload->Next(op), op.length, &moved);
    if (*error != 0) return -mpi.errno_of(*error);
    file.used_until = std::max(file.used_until, file.extent_offset_bytes + op.offset + op.length);
    return static_cast<int64_t>(moved);
  }
};

template <typename Clock>
class MpiIoEngine final : public IoEngine {
 public:
  explicit MpiIoEngine(const EngineOptions& options) : options_(options), mpi_(TheMpiFiles()) {
    facts_.set_library(LibraryText());
    facts_.set_collective(options.together != nullptr);
    facts_.set_view(options.mpi_io.view());
    if (options.together != nullptr) facts_.set_ranks(static_cast<uint64_t>(mpi_.rank_count()));
  }
  ~MpiIoEngine() override { Close().IgnoreError(); }

  std::unique_ptr<OpStream> OrderOf(std::unique_ptr<OpStream> stream) override {
    if (options_.together == nullptr) return stream;
    return std::make_unique<OpsTogether>(std::move(stream), *options_.together);
  }

  absl::Status MeetOthers(const FileSet& files) override {
    if (options_.together == nullptr) return absl::OkStatus();
    // Now, because afterwards the others would wait for this rank.
    if (absl::Status path = CheckPath(files, 0); !path.ok()) {
      options_.together->Decline();
      return path;
    }
    return options_.together->Meet();
  }

  absl::Status Open(const FileSet& files, const OpenMode& mode) override {
    IOBENCH_RETURN_IF_ERROR(Close());
    set_ = &files;
    const bool together = options_.together != nullptr && !opened_together_;
    opened_together_ |= together;
    for (size_t i = 0; i < files.files.size(); ++i) {
      const absl::Status opened = OpenOne(i, mode, together);
      if (opened.ok()) continue;
      Close().IgnoreError();
      return opened;
    }
    if (facts_.hints().empty() && !files_.empty()) ReadHints();
    calls_before_ = CalledBytes();
    return absl::OkStatus();
  }

  LoopEnd Run(LaneContext& lane) override {
    short_file_ = absl::OkStatus();
    const LoopEnd end = RunLoop<Clock>(
        lane, MpiOp{mpi_, files_.data(), *set_, lane.payload, lane.read_buffer, Together(), options_.mpi_io.view(), &error_});
    RecordCalls(lane);
    failed_ = end.reason == LoopEnd::Reason::kFailed;
    if (failed_) return end;
    return IsWhole() ? end : ShortEnd(lane);
  }

  std::optional<FailedOp> Explain(const LoopEnd& end) const override {
    const std::string path = set_->PathOf(end.failed_op.object);
    if (!short_file_.ok()) return FailedOp{short_file_, path};
    if (error_ == 0) return std::nullopt;
    const uint64_t offset = set_->files[end.failed_op.object].extent_offset_bytes + end.failed_op.offset;
    return FailedOp{MpiIoStatus(mpi_, error_, absl::StrCat(NameOf(end.failed_op.kind), " ", path, " at offset ", offset)), path};
  }

  absl::Status Flush() override {
    absl::Status first_error;
    for (size_t i = 0; i < files_.size(); ++i) first_error.Update(FlushFile(static_cast<uint32_t>(i), OpKind::kFsync));
    return first_error;
  }

  absl::Status FlushFile(uint32_t object, OpKind) override {
    RanksTogether* const together = Together();
    if (together != nullptr) IOBENCH_RETURN_IF_ERROR(together->BeforeFlush());
    const int error = Timed(timer(), OpKind::kFsync,
                            [&] { return together != nullptr ? together->Flush() : mpi_.sync(files_[object].file); });
    return MpiIoStatus(mpi_, error, absl::StrCat("flush ", set_->PathOf(object)));
  }

  absl::Status Close() override {
    absl::Status first_error;
    RanksTogether* const together = Together();
    // With --max-errors, Run would have been called again.
    if (together != nullptr && failed_) together->GiveUp();
    if (together != nullptr) first_error.Update(together->BeforeClose());
    for (size_t i = 0; i < files_.size(); ++i) {
      const int error = Timed(timer(), OpKind::kClose,
                              [&] { return together != nullptr ? together->Close() : mpi_.close(files_[i].file); });
      first_error.Update(MpiIoStatus(mpi_, error, absl::StrCat("close ", set_->PathOf(i))));
    }
    files_.clear();
    return first_error;
  }

  std::optional<v1::MpiIoFacts> mpi_io_facts() const override { return facts_; }

 private:
  // Null unless the open file is one that the ranks have opened together.
  RanksTogether* Together() const {
    return options_.together != nullptr && options_.together->has_file() ? options_.together.get() : nullptr;
  }

  absl::Status OpenOne(size_t index, const OpenMode& mode, bool together) {
    const LaneFile& file = set_->files[index];
    const std::string path = set_->PathOf(index);
    if (!together) IOBENCH_RETURN_IF_ERROR(CheckPath(*set_, index));
    MpiFile opened{.extent_offset_bytes = file.extent_offset_bytes};
    const HintWords hints(options_.mpi_io);
    IOBENCH_RETURN_IF_ERROR(MpiIoStatus(
        mpi_, mpi_.open(path.c_str(), AccessOf(mode), together, hints.data(), &opened.file), absl::StrCat("open ", path)));
    files_.push_back(opened);
    if (together) options_.together->Begin(opened.file);
    if (!options_.mpi_io.view()) return absl::OkStatus();
    const uint64_t block = std::max<uint64_t>(1, file.interleave.block_bytes);
    return MpiIoStatus(mpi_, mpi_.set_view(opened.file, file.extent_offset_bytes, block, file.interleave.count),
                       absl::StrCat("set the view of ", path));
  }

  void ReadHints() {
    std::array<char, 4096> text;
    if (mpi_.hints(files_.front().file, text.data(), text.size()) != 0) return;
    for (const absl::string_view line : absl::StrSplit(absl::string_view(text.data()), '\n', absl::SkipEmpty())) {
      facts_.add_hints(std::string(line));
    }
  }

  void RecordCalls(const LaneContext& lane) {
    const std::optional<Called> after = CalledBytes();
    if (!after || !calls_before_) return;
    facts_.set_called_bytes(lane.recorder.expects_only(OpKind::kRead) ? after->read - calls_before_->read
                                                                     : after->written - calls_before_->written);
  }

  // Another rank may have moved this one's bytes, and its client may tell this one late.
  bool IsWhole() {
    if (Together() != nullptr) return true;
    for (size_t i = 0; i < files_.size(); ++i) {
      uint64_t bytes = 0;
      if (files_[i].used_until == 0 || mpi_.size(files_[i].file, &bytes) != 0 || bytes >= files_[i].used_until) continue;
      short_index_ = i;
      short_bytes_ = bytes;
      return false;
    }
    return true;
  }

  LoopEnd ShortEnd(LaneContext& lane) {
    MpiFile& file = files_[short_index_];
    const Op lost{.kind = lane.recorder.expects_only(OpKind::kRead) ? OpKind::kRead : OpKind::kWrite,
                  .object = static_cast<uint32_t>(short_index_)};
    short_file_ = absl::DataLossError(absl::StrCat(
        set_->PathOf(short_index_), " ends at ", short_bytes_, ", although MPI has reported all calls up to ", file.used_until,
        " as done: is the file system full, or was the file cut short?"));
    file.used_until = 0;  // said once
    lane.failed_ops.Note(lost, 0);
    return {.reason = LoopEnd::Reason::kFailed, .failed_op = lost};
  }

  const EngineOptions options_;
  const MpiFiles& mpi_;
  const FileSet* set_ = nullptr;
  std::vector<MpiFile, OwnLinesAllocator<MpiFile>> files_;
  bool opened_together_ = false;
  bool failed_ = false;  // the last Run
  int error_ = 0;
  size_t short_index_ = 0;
  uint64_t short_bytes_ = 0;
  absl::Status short_file_;
  std::optional<Called> calls_before_;
  v1::MpiIoFacts facts_;
};

}  // namespace

std::unique_ptr<IoEngine> MakeMpiIoEngine(const EngineOptions& options) {
  return MakeForTicks<MpiIoEngine>(options);
}

}  // namespace iobench
