#include "worker/metadata/metadata_engine.h"

#include <sys/stat.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "worker/metadata/item_calls.h"
#include "worker/metadata/tree_walk.h"
#include "worker/timed_loop.h"
#include "worker/unique_fd.h"

namespace iobench {
namespace {

template <typename Clock>
class MetadataEngine final : public IoEngine {
 public:
  MetadataEngine(const EngineOptions&, const MetadataWork& work) : work_(work) {}

  absl::Status MakeReady(LaneContext&) override {
    if (work_.reads_data()) read_buffer_.resize(std::min(work_.file_bytes(), kLargestPieceBytes));
    if (Does(OpKind::kReaddir)) listing_.resize(kListingBytes);
    if (Does(OpKind::kFind))
      walk_.emplace(work_.names, work_.file_names(), work_.tree.find(), work_.item_count);
    if (Does(OpKind::kSetXattr) || Does(OpKind::kGetXattr)) {
      // Differs from phase to phase, so that setting it changes something.
      xattr_value_.assign(work_.tree.xattr_bytes(), static_cast<std::byte>('a' + work_.phase % 26));
    }
    return absl::OkStatus();
  }

  absl::Status Open(const FileSet& files, const OpenMode& mode) override {
    IOBENCH_RETURN_IF_ERROR(Close());
    root_path_ = files.PathOf(0);
    flags_ = (mode.sync ? O_SYNC : 0) | (mode.dsync ? O_DSYNC : 0);
    root_ = UniqueFd(::openat(files.directory_fd, files.files[0].name.c_str(),
                              O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!root_.valid()) return ErrnoStatus(absl::StrCat("open directory ", root_path_), errno);
    // Another client may have changed the names since this one looked at them. An NFS client asks the server about a
    // directory when it is opened; otherwise it would go on believing what it remembers for up to acdirmax (60 s).
    for (uint32_t i = 0; i < work_.names.directory_count(); ++i) {
      const std::string path = work_.names.PathOfDirectory(i);
      const UniqueFd directory(
          ::openat(root_.get(), path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!directory.valid()) {
        return ErrnoStatus(absl::StrCat("open directory ", root_path_, "/", path), errno);
      }
    }
    return absl::OkStatus();
  }

  LoopEnd Run(LaneContext& lane) override {
    const int root = root_.get();
    PathWriter files(work_.names, work_.file_names());
    if (work_.operation->kinds.Has(OpKind::kAppend)) return RunMix(lane, files);
    if (Does(OpKind::kMkdir)) {
      return RunLoop<Clock>(lane, [root, leaves = Names(NameKind::kLeaf)](const Op& op) mutable {
        return item::Mkdir(root, leaves.Of(op.object, op.offset));
      });
    }
    if (Does(OpKind::kRmdir)) {
      return RunLoop<Clock>(lane, [root, leaves = Names(NameKind::kLeaf)](const Op& op) mutable {
        return item::Rmdir(root, leaves.Of(op.object, op.offset));
      });
    }
    if (Does(OpKind::kCreate)) {
      return RunLoop<Clock>(
          lane, [this, root, files, flags = flags_ | O_EXCL, data = lane.payload](const Op& op) mutable {
            return item::Create(root, files.Of(op.object, op.offset), flags, work_.DataBeginOf(op.offset),
                                op.length, data);
          });
    }
    if (Does(OpKind::kOpenClose)) {
      return RunLoop<Clock>(lane, [root, files, buffer = read_buffer_.data()](const Op& op) mutable {
        return item::OpenClose(root, files.Of(op.object, op.offset), op.length, buffer);
      });
    }
    if (Does(OpKind::kStat)) {
      return RunLoop<Clock>(lane, [root, files](const Op& op) mutable {
        struct stat facts;
        return item::Stat(root, files.Of(op.object, op.offset), &facts);
      });
    }
    if (Does(OpKind::kUnlink)) {
      return RunLoop<Clock>(lane, [root, files](const Op& op) mutable {
        return item::Unlink(root, files.Of(op.object, op.offset));
      });
    }
    if (Does(OpKind::kReaddir)) return RunReaddir(lane);
    if (Does(OpKind::kFind)) {
      // What comes next is the directory's to say; the stream says how many there are in it.
      return RunLoop<Clock>(lane,
                            [root, &walk = *walk_](const Op& op) { return walk.Next(root, op.object); });
    }
    if (Does(OpKind::kSetXattr) || Does(OpKind::kGetXattr)) return RunXattr(lane);
    if (Does(OpKind::kChmod)) {
      // The mode differs from that of the pass before, and from that of new files.
      return RunLoop<Clock>(
          lane, [root, files, &pass = lane.pass, phase = work_.phase](const Op& op) mutable {
            return item::Chmod(root, files.Of(op.object, op.offset), (pass + phase) % 2 == 0 ? 0600 : 0660);
          });
    }
    return RunTwoNames(lane, files);
  }

  absl::Status Flush() override {
    if (!work_.writes_data() || !root_.valid()) return absl::OkStatus();
    if (::syncfs(root_.get()) == 0) return absl::OkStatus();
    return ErrnoStatus(absl::StrCat("syncfs ", root_path_), errno);
  }

  absl::Status Close() override {
    if (!root_.valid()) return absl::OkStatus();
    if (::close(root_.Release()) == 0) return absl::OkStatus();
    return ErrnoStatus(absl::StrCat("close ", root_path_), errno);
  }

  uint64_t found_items() const override { return walk_ ? walk_->found_items() : 0; }

  std::optional<FailedOp> Explain(const LoopEnd& end) const override {
    const Op& op = end.failed_op;
    FailedOp failed;
    failed.file = absl::StrCat(root_path_, "/", PathOf(op));
    const std::string what = absl::StrCat(NameOf(op.kind), " ", failed.file);
    const bool of_xattr = op.kind == OpKind::kSetXattr || op.kind == OpKind::kGetXattr;
    if (end.errno_value == ENODATA && (op.kind == OpKind::kReaddir || op.kind == OpKind::kFind)) {
      failed.status = absl::DataLossError(absl::StrCat(
          what, ": the listing names ", walk_ ? walk_->seen_in_directory() : names_listed_,
          " of this lane's ", walk_ ? walk_->expected_in_directory() : names_expected_, " items"));
    } else if (op.kind == OpKind::kGetXattr && end.errno_value == ERANGE) {
      failed.status = absl::DataLossError(absl::StrCat(what, ": the value has another size than was set"));
    } else if (of_xattr && end.errno_value == EOPNOTSUPP) {
      failed.status = absl::FailedPreconditionError(
          absl::StrCat(what,
                       ": this file system keeps no extended attributes of users (EOPNOTSUPP): leave "
                       "set-xattr and get-xattr out"));
    } else if (end.errno_value != 0) {
      failed.status = ErrnoStatus(what, end.errno_value);
    } else {
      failed.status = absl::DataLossError(
          absl::StrCat(what, ": short transfer, ", end.transferred, " of ", op.length, " bytes",
                       op.kind == OpKind::kOpenClose ? "; the file is shorter than it was made"
                                                     : "; is the file system full?"));
    }
    return failed;
  }

 private:
  bool Does(OpKind kind) const { return work_.operation->kinds.Has(kind); }
  PathWriter Names(NameKind kind) const { return PathWriter(work_.names, kind); }

  NameKind NamesOf(OpKind kind) const {
    switch (kind) {
      case OpKind::kMkdir:
      case OpKind::kRmdir:
        return NameKind::kLeaf;
      case OpKind::kLink:
        return NameKind::kLink;
      case OpKind::kSymlink:
        return NameKind::kSymlink;
      default:
        return work_.file_names();
    }
  }
  std::string PathOf(const Op& op) const {
    if (op.kind == OpKind::kReaddir) return work_.names.PathOfDirectory(op.object);
    if (op.kind == OpKind::kFind) return walk_->place();
    return work_.names.PathOf(NamesOf(op.kind), op.offset);
  }

  LoopEnd RunMix(LaneContext& lane, PathWriter files) {
    return RunLoop<Clock>(lane, [this, root = root_.get(), files, data = lane.payload,
                                 buffer = read_buffer_.data()](const Op& op) mutable {
      const char* const path = files.Of(op.object, op.offset);
      switch (op.kind) {
        case OpKind::kOpenClose:
          return item::OpenClose(root, path, op.length, buffer);
        case OpKind::kAppend:
          return item::Append(root, path, flags_, work_.DataBeginOf(op.offset), op.length, data);
        case OpKind::kUnlink:
          return item::Unlink(root, path);
        default:
          return item::Create(root, path, flags_ | O_EXCL, work_.DataBeginOf(op.offset), op.length, data);
      }
    });
  }

  // rename, link and symlink: from where the files are to another name.
  LoopEnd RunTwoNames(LaneContext& lane, PathWriter files) {
    const int root = root_.get();
    if (Does(OpKind::kRename)) {
      return RunLoop<Clock>(
          lane, [root, files, others = Names(work_.other_file_names())](const Op& op) mutable {
            return item::Rename(root, files.Of(op.object, op.offset), others.Of(op.object, op.offset));
          });
    }
    if (Does(OpKind::kLink)) {
      return RunLoop<Clock>(lane, [root, files, links = Names(NameKind::kLink)](const Op& op) mutable {
        return item::Link(root, files.Of(op.object, op.offset), links.Of(op.object, op.offset));
      });
    }
    // The target stands in the same directory: without a path it holds wherever the tree is.
    const size_t name_bytes = work_.names.PrefixOf(work_.file_names()).size() + 8;
    return RunLoop<Clock>(
        lane, [root, files, links = Names(NameKind::kSymlink), name_bytes](const Op& op) mutable {
          const std::string_view file = files.Of(op.object, op.offset);
          return item::Symlink(root, file.data() + file.size() - name_bytes, links.Of(op.object, op.offset));
        });
  }

  LoopEnd RunXattr(LaneContext& lane) {
    const bool sets = Does(OpKind::kSetXattr);
    // There is no setxattrat() before Linux 6.13; this way no directory above the tree is looked up by name.
    PathWriter files(work_.names, work_.file_names(), absl::StrCat("/proc/self/fd/", root_.get(), "/"));
    const auto bytes = static_cast<uint32_t>(xattr_value_.size());
    return RunLoop<Clock>(lane, [files, sets, bytes, value = xattr_value_.data()](const Op& op) mutable {
      const char* const path = files.Of(op.object, op.offset);
      if (sets) return item::SetXattr(path, value, bytes);
      const int64_t found_bytes = item::GetXattr(path, value, bytes);
      if (found_bytes < 0) return found_bytes;
      return found_bytes == bytes ? int64_t{0} : -int64_t{ERANGE};
    });
  }

  LoopEnd RunReaddir(LaneContext& lane) {
    std::vector<std::string> paths;  // readdir has an op per directory: few enough to be kept
    for (uint32_t i = 0; i < work_.names.directory_count(); ++i) {
      paths.push_back(work_.names.PathOfDirectory(i));
    }
    return RunLoop<Clock>(lane, [this, &paths](const Op& op) {
      const int64_t fd = item::Call(SYS_openat, root_.get(), paths[op.object].c_str(),
                                    O_RDONLY | O_DIRECTORY | item::kOpenFlags, 0);
      if (fd < 0) return fd;
      uint64_t name_count = 0;
      int64_t listed = 0;
      while ((listed = item::Call(SYS_getdents64, static_cast<int>(fd), listing_.data(), kListingBytes)) >
             0) {
        for (int64_t at = 0; at < listed; ++name_count) {
          at += reinterpret_cast<const DirectoryEntry*>(listing_.data() + at)->record_bytes;
        }
      }
      if (listed == 0) listed = CheckListing(op.object, name_count);
      return item::CloseAfter(static_cast<int>(fd), listed);
    });
  }

  // In a shared directory there are names of other lanes too: at least ours must be there.
  int64_t CheckListing(uint32_t directory, uint64_t name_count) {
    constexpr uint64_t kDots = 2;
    const uint64_t expected = work_.names.ItemsIn(directory, work_.item_count);
    if (name_count >= expected + kDots) [[likely]]
      return 0;
    names_listed_ = name_count - std::min(name_count, kDots);
    names_expected_ = expected;
    return -ENODATA;
  }

  MetadataWork work_;
  UniqueFd root_;
  std::string root_path_;
  int flags_ = 0;
  std::vector<std::byte> read_buffer_, listing_, xattr_value_;
  uint64_t names_listed_ = 0, names_expected_ = 0;  // of a listing that was too short
  std::optional<TreeWalk> walk_;                    // of find
};

}  // namespace

std::unique_ptr<IoEngine> MakeMetadataEngine(const EngineOptions& options, const MetadataWork& work) {
  if (options.ticks == TickSource::kTsc) return std::make_unique<MetadataEngine<TscClock>>(options, work);
  return std::make_unique<MetadataEngine<MonotonicClock>>(options, work);
}

}  // namespace iobench
