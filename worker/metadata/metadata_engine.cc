#include "worker/metadata/metadata_engine.h"

#include <sys/stat.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/model/metadata_operation.h"
#include "common/status_util.h"
#include "common/process/interrupter.h"
#include "common/unique_fd.h"
#include "worker/loop/timed_loop.h"
#include "worker/metadata/item_calls.h"
#include "worker/metadata/item_places.h"
#include "worker/metadata/lock_turns.h"
#include "worker/metadata/tree_walk.h"
#include "worker/rights/worker_rights.h"

namespace iobench {
namespace {

template <typename Clock>
class MetadataEngine final : public IoEngine {
 public:
  MetadataEngine(const EngineOptions& options, const MetadataWork& work)
      : work_(work),
        calls_{.of_libc = options.libc_calls, .confined = !RightsOfThisWorker().paths.are_all()},
        chmod_(item::ChooseChmod(calls_.confined)) {}

  absl::Status MakeReady(LaneContext&) override {
    if (work_.reads_data()) read_buffer_.resize(std::min(work_.file_bytes(), kLargestPieceBytes));
    const MetadataSpec& spec = MetadataSpecOf(*work_.operation);
    if (spec.names == OpNames::kDirectories) listing_.resize(kListingBytes);
    if (spec.finds_items || spec.removes_tree) {
      walk_.emplace(work_.names, work_.file_names(), work_.tree.find(), work_.item_count, calls_);
    }
    if (spec.removes_tree) {
      for (uint32_t i = 0; i < work_.names.directory_count(); ++i) directory_paths_.push_back(work_.names.PathOfDirectory(i));
    }
    if (spec.uses_xattrs) xattr_value_.resize(work_.tree.xattr_bytes());
    return absl::OkStatus();
  }

  absl::Status Open(const FileSet& files, const OpenMode& mode) override {
    IOBENCH_RETURN_IF_ERROR(Close());
    root_path_ = files.PathOf(0);
    flags_ = (mode.sync ? O_SYNC : 0) | (mode.dsync ? O_DSYNC : 0);
    root_ = UniqueFd(::openat(files.directory_fd, files.files[0].name.c_str(),
                              O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!root_.valid()) return ErrnoStatus(absl::StrCat("open directory ", root_path_), errno);
    // Another client may have changed the names since this one read them. An NFS client revalidates a directory when it
    // is opened; otherwise it would use its cache for up to acdirmax (60 s).
    for (uint32_t i = 0; i < work_.names.directory_count(); ++i) {
      const std::string path = work_.names.PathOfDirectory(i);
      const int64_t directory = calls_.OpenDirectory(root_.get(), path.c_str());
      if (directory < 0)
        return ErrnoStatus(absl::StrCat("open directory ", root_path_, "/", path),
                           static_cast<int>(-directory));
      ::close(static_cast<int>(directory));
    }
    return MetadataSpecOf(*work_.operation).names == OpNames::kLockFile ? OpenLockFile() : absl::OkStatus();
  }

  LoopEnd Run(LaneContext& lane) override {
    const MetadataSpec& spec = MetadataSpecOf(*work_.operation);
    if (spec.effect.moves) return RunMove(lane);
    if (spec.removes_tree) return RunRemoveTree(lane);
    if (!spec.cycle.empty()) return RunCycle(lane);
    const OpKind kind = spec.kind;
    for (const Runner& runner : kRunners) {
      if (runner.kind == kind) return (this->*runner.run)(lane);
    }
    assert(false);  // an operation with a row but without a function
    return {.reason = LoopEnd::Reason::kFailed, .errno_value = ENOSYS};
  }

  absl::Status Flush() override {
    if (!work_.writes_data() || !root_.valid()) return absl::OkStatus();
    if (::syncfs(root_.get()) == 0) return absl::OkStatus();
    return ErrnoStatus(absl::StrCat("syncfs ", root_path_), errno);
  }

  absl::Status Close() override {
    lock_file_ = UniqueFd();
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
    const MetadataSpec& spec = MetadataSpecOf(*work_.operation);
    if (end.errno_value == ENODATA && (spec.names == OpNames::kDirectories || walk_)) {
      failed.status = absl::DataLossError(absl::StrCat(
          what, ": the listing names ", walk_ ? walk_->seen_in_directory() : names_listed_,
          " of this lane's ", walk_ ? walk_->expected_in_directory() : names_expected_, " items"));
    } else if (op.kind == OpKind::kLock && end.errno_value == EBADMSG) {
      failed.status = absl::DataLossError(absl::StrCat(
          what, ": its counts do not add up: two lanes had the lock at once, or one did not see what the one before it had "
          "written. Is the target mounted with local locks (nolock, local_lock)?"));
    } else if (op.kind == OpKind::kGetXattr && end.errno_value == ERANGE) {
      failed.status =
          absl::DataLossError(absl::StrCat(what, ": the value has another size than the one set"));
    } else if (end.errno_value == EOPNOTSUPP && spec.effect.uses_contents) {
      failed.status = absl::FailedPreconditionError(
          absl::StrCat(what, ": this file system does not support it (EOPNOTSUPP): leave out ", std::string(spec.name)));
    } else if (op.kind == OpKind::kClone && (end.errno_value == EOPNOTSUPP || end.errno_value == EXDEV ||
                                             end.errno_value == EINVAL || end.errno_value == ENOTTY)) {
      failed.status = absl::FailedPreconditionError(
          absl::StrCat(what, ": this file system cannot clone files (", ErrnoName(end.errno_value),
                       "): XFS with reflink, btrfs, and NFSv4.2 over these can; leave out clone"));
    } else if (spec.uses_xattrs && end.errno_value == EOPNOTSUPP) {
      failed.status = absl::FailedPreconditionError(
          absl::StrCat(what,
                       ": this file system does not support user extended attributes (EOPNOTSUPP): leave out "
                       "set-xattr and get-xattr"));
    } else if (end.errno_value != 0) {
      failed.status = ErrnoStatus(what, end.errno_value);
    } else {
      failed.status = absl::DataLossError(
          absl::StrCat(what, ": short transfer, ", end.transferred, " of ", op.length, " bytes",
                       op.kind == OpKind::kOpenClose ? "; the file is shorter than when it was created"
                                                     : "; is the file system full?"));
    }
    return failed;
  }

 private:
  ItemPlaces Names(NameKind kind) const {
    return ItemPlaces(work_.names, kind, root_.get(), calls_.confined);
  }
  ItemPlaces Files() const { return Names(work_.file_names()); }

  std::string PathOf(const Op& op) const {
    switch (MetadataSpecOf(*work_.operation).names) {
      case OpNames::kDirectories:
        return work_.names.PathOfDirectory(op.object);
      case OpNames::kFoundItems:
        return op.kind == OpKind::kRmdir ? PathOfRemoved(op) : walk_->place();
      case OpNames::kLockFile:
        return work_.names.LockName(work_.phase);
      case OpNames::kLeaves:
        return work_.names.PathOf(NameKind::kLeaf, op.offset);
      case OpNames::kLinks:
        return work_.names.PathOf(NameKind::kLink, op.offset);
      case OpNames::kSymlinks:
        return work_.names.PathOf(NameKind::kSymlink, op.offset);
      case OpNames::kFiles:
        break;
    }
    return work_.names.PathOf(work_.file_names(), op.offset);
  }

  int64_t OpenToLock() const {
    return item::OpenToLock(calls_, root_.get(), work_.names.LockName(work_.phase).c_str());
  }
  absl::Status OpenLockFile() {
    const int64_t fd = OpenToLock();
    if (fd < 0)
      return ErrnoStatus(absl::StrCat("open ", root_path_, "/", work_.names.LockName(work_.phase)), static_cast<int>(-fd));
    lock_file_ = UniqueFd(static_cast<int>(fd));
    return absl::OkStatus();
  }

  // The path from the root of a directory that remove-tree removes.
  std::string PathOfRemoved(const Op& op) const {
    const std::string& lowest = directory_paths_[op.object];
    size_t end = 0;
    for (uint64_t level = 0; level < op.offset && end != std::string::npos; ++level) end = lowest.find('/', level == 0 ? 0 : end + 1);
    return lowest.substr(0, end);
  }

  // ---- one function for each operation without a cycle: kRunners says which

  LoopEnd RunMkdir(LaneContext& lane) {
    return RunLoop<Clock>(lane, [leaves = Names(NameKind::kLeaf)](const Op& op) mutable {
      return leaves.At(op.object, op.offset, item::Mkdir);
    });
  }

  LoopEnd RunRmdir(LaneContext& lane) {
    return RunLoop<Clock>(lane, [leaves = Names(NameKind::kLeaf)](const Op& op) mutable {
      return leaves.At(op.object, op.offset, item::Rmdir);
    });
  }

  LoopEnd RunCreate(LaneContext& lane) {
    return RunLoop<Clock>(
        lane, [this, files = Files(), flags = flags_ | O_EXCL, data = lane.payload](const Op& op) mutable {
          return files.At(op.object, op.offset, [&](int fd, const char* path) {
            return item::Create(calls_, fd, path, flags, work_.DataBeginOf(op.offset), op.length, data);
          });
        });
  }

  LoopEnd RunOpenClose(LaneContext& lane) {
    return RunLoop<Clock>(lane, [this, files = Files(), buffer = read_buffer_.data()](const Op& op) mutable {
      return files.At(op.object, op.offset, [&](int fd, const char* path) {
        return item::OpenClose(calls_, fd, path, op.length, buffer);
      });
    });
  }

  LoopEnd RunStat(LaneContext& lane) {
    return RunLoop<Clock>(lane, [files = Files()](const Op& op) mutable {
      return files.At(op.object, op.offset, [](int fd, const char* path) {
        struct stat facts;
        return item::Stat(fd, path, &facts);
      });
    });
  }

  LoopEnd RunUnlink(LaneContext& lane) {
    return RunLoop<Clock>(lane, [files = Files()](const Op& op) mutable {
      return files.At(op.object, op.offset, [](int fd, const char* path) { return item::Unlink(fd, path); });
    });
  }

  // The directory's listing determines the next item; the stream only determines how many a directory has.
  LoopEnd RunFind(LaneContext& lane) {
    return RunLoop<Clock>(
        lane, [root = root_.get(), &walk = *walk_](const Op& op) { return walk.Next(root, op.object); });
  }

  // As `rm -r`: lists each directory and unlinks what the listing names. An item that the listing skipped, because others
  // were removed from it, is in the next one.
  LoopEnd RunRemoveTree(LaneContext& lane) {
    uint32_t directory = UINT32_MAX;
    uint64_t seen_before = 0;  // in the directory's listings before the present one
    return RunLoop<Clock>(lane, [this, root = root_.get(), &walk = *walk_, &directory, &seen_before](const Op& op) {
      if (op.kind == OpKind::kRmdir) return RemoveDirectory(op);
      if (std::exchange(directory, op.object) != op.object) seen_before = 0;
      for (;;) {
        const int64_t removed =
            walk.Next(root, op.object, [](int fd, const char* name) { return item::Unlink(fd, name); });
        const uint64_t seen = walk.seen_in_directory();
        if (removed != -ENODATA || seen == seen_before) return removed;
        seen_before = seen;
        if (const int64_t listed = walk.ListAgain(); listed < 0) return listed;
      }
    });
  }

  // A worker with roots must not follow a link in the place of a directory above.
  int64_t RemoveDirectory(const Op& op) {
    const std::string path = PathOfRemoved(op);
    const size_t slash = path.rfind('/');
    if (!calls_.confined || slash == std::string::npos) return item::Rmdir(root_.get(), path.c_str());
    const int64_t parent = calls_.OpenDirectory(root_.get(), path.substr(0, slash).c_str());
    if (parent < 0) return parent;
    return calls_.CloseAfter(static_cast<int>(parent), item::Rmdir(static_cast<int>(parent), path.c_str() + slash + 1));
  }

  // Lanes wait for each other, so that only the end of the phase may end a wait.
  LoopEnd RunLock(LaneContext& lane) {
    constexpr int64_t kLookEveryNs = 20'000'000;
    const auto failed = [](int64_t error) {
      return LoopEnd{.reason = LoopEnd::Reason::kFailed,
                     .errno_value = static_cast<int>(-error),
                     .failed_op = {.kind = OpKind::kLock}};
    };
    const auto interrupter =
        Interrupter::Create([&lane] { return OverWhileWaiting(lane, Clock::Now()).has_value(); }, kLookEveryNs);
    if (!interrupter.ok()) return failed(-int64_t{ErrnoOf(interrupter.status())});
    LockTurns turns(lock_file_.get(), work_.lane, lane.between);
    lane.between = &turns;
    const LoopEnd end = RunLoop<Clock>(lane, [&](const Op&) { return turns.Wait(**interrupter); });
    lane.between = turns.next();
    if (end.reason == LoopEnd::Reason::kFailed) return end;
    const int64_t fresh = OpenToLock();
    const int64_t checked = fresh < 0 ? fresh : turns.CheckAtEnd(UniqueFd(static_cast<int>(fresh)).get());
    if (checked == 0) return end;
    RecordFailedOp(lane, {.kind = OpKind::kLock}, checked, Clock::Now());
    return failed(checked);
  }

  // The mode differs from that of the pass before, and from that of new files.
  LoopEnd RunChmod(LaneContext& lane) {
    return RunLoop<Clock>(
        lane, [how = chmod_, files = Files(), &pass = lane.pass, phase = work_.phase](const Op& op) mutable {
          return files.At(op.object, op.offset, [&](int fd, const char* path) {
            return item::Chmod(how, fd, path, (pass + phase) % 2 == 0 ? 0600 : 0660);
          });
        });
  }

  // To its present owner, which needs no rights; the server is asked all the same.
  LoopEnd RunChown(LaneContext& lane) {
    return RunLoop<Clock>(lane, [files = Files(), user = ::geteuid(), group = ::getegid()](const Op& op) mutable {
      return files.At(op.object, op.offset,
                      [&](int fd, const char* path) { return item::Chown(fd, path, user, group); });
    });
  }

  LoopEnd RunUtimes(LaneContext& lane) {
    return RunLoop<Clock>(lane, [files = Files()](const Op& op) mutable {
      return files.At(op.object, op.offset, item::SetTimes);
    });
  }

  LoopEnd RunReadlink(LaneContext& lane) {
    return RunLoop<Clock>(lane, [links = Names(NameKind::kSymlink)](const Op& op) mutable {
      return links.At(op.object, op.offset, [](int fd, const char* path) {
        char target[256];  // more than the longest name of an item
        return item::ReadLink(fd, path, target, sizeof target);
      });
    });
  }

  LoopEnd RunAppend(LaneContext& lane) {
    return RunLoop<Clock>(lane, [this, files = Files(), data = lane.payload](const Op& op) mutable {
      return files.At(op.object, op.offset, [&](int fd, const char* path) {
        return item::Append(calls_, fd, path, flags_, work_.DataBeginOf(op.offset), op.length, data);
      });
    });
  }

  LoopEnd RunZeroRange(LaneContext& lane) {
    return RunLoop<Clock>(lane, [this, files = Files()](const Op& op) mutable {
      return files.At(op.object, op.offset, [&](int fd, const char* path) {
        return item::Allocate(calls_, fd, path, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, work_.sizes.Of(op.offset));
      });
    });
  }

  LoopEnd RunSeekHole(LaneContext& lane) {
    return RunLoop<Clock>(lane, [this, files = Files()](const Op& op) mutable {
      return files.At(op.object, op.offset, [&](int fd, const char* path) { return item::SeekHole(calls_, fd, path); });
    });
  }

  // Both names are in the same directory, so a confined worker holds it twice.
  LoopEnd RunRename(LaneContext& lane) { return RunPairs(lane, work_.other_file_names(), item::Rename); }

  // An item that leaves its own directory goes to the next one, under its other name; otherwise it comes back.
  LoopEnd RunMove(LaneContext& lane) {
    return RunLoop<Clock>(lane, [&tree = work_.names, files = Files(),
                                 moved = Names(work_.other_file_names())](const Op& op) mutable {
      const uint32_t own = tree.DirectoryOf(op.offset);
      return files.At(own, op.offset, [&](int fd, const char* path) {
        return moved.At(tree.NextDirectory(own), op.offset, [&](int other_fd, const char* other) {
          return op.object == own ? item::Rename(fd, path, other_fd, other) : item::Rename(other_fd, other, fd, path);
        });
      });
    });
  }

  LoopEnd RunLink(LaneContext& lane) { return RunPairs(lane, NameKind::kLink, item::Link); }

  // The target is in the same directory: without a path it is valid wherever the tree is.
  LoopEnd RunSymlink(LaneContext& lane) {
    const size_t name_bytes = work_.names.PrefixOf(work_.file_names()).size() + 8;
    return RunPairs(lane, NameKind::kSymlink, [name_bytes](int, const char* file, int fd, const char* link) {
      return item::Symlink(fd, file + std::strlen(file) - name_bytes, link);
    });
  }

  // Calls `call` with the file of each op and its other name.
  template <typename Call>
  LoopEnd RunPairs(LaneContext& lane, NameKind other, Call call) {
    return RunLoop<Clock>(lane, [files = Files(), others = Names(other), call](const Op& op) mutable {
      return files.At(op.object, op.offset, [&](int from_fd, const char* from) {
        return others.At(op.object, op.offset,
                         [&](int to_fd, const char* to) { return call(from_fd, from, to_fd, to); });
      });
    });
  }

  // There is no setxattrat() before Linux 6.13.
  ItemPlaces FilesBelowProc() const {
    return ItemPlaces(work_.names, work_.file_names(), root_.get(), calls_.confined,
                      ItemPlaces::Style::kByProc);
  }

  // A file system may write nothing if the value stays the same, as ext4 does. So the letter differs from phase
  // to phase, and its case from pass to pass. There is no p, which PrepareTree sets.
  void FillXattrValue(uint64_t pass) {
    static constexpr std::string_view kLower = "abcdefghijklmnoqrstuvwxyz";
    static constexpr std::string_view kUpper = "ABCDEFGHIJKLMNOQRSTUVWXYZ";
    const char letter = (pass % 2 == 0 ? kLower : kUpper)[work_.phase % kLower.size()];
    std::fill(xattr_value_.begin(), xattr_value_.end(), static_cast<std::byte>(letter));
  }

  LoopEnd RunSetXattr(LaneContext& lane) {
    FillXattrValue(lane.pass);
    return RunLoop<Clock>(lane, [this, files = FilesBelowProc(), &pass = lane.pass, filled_pass = lane.pass,
                                 bytes = static_cast<uint32_t>(xattr_value_.size()),
                                 value = xattr_value_.data()](const Op& op) mutable {
      if (pass != filled_pass) [[unlikely]] {
        filled_pass = pass;
        FillXattrValue(pass);
      }
      return files.At(op.object, op.offset,
                      [&](int, const char* path) { return item::SetXattr(path, value, bytes); });
    });
  }

  LoopEnd RunGetXattr(LaneContext& lane) {
    const auto bytes = static_cast<uint32_t>(xattr_value_.size());
    return RunLoop<Clock>(
        lane, [files = FilesBelowProc(), bytes, value = xattr_value_.data()](const Op& op) mutable {
          const int64_t found_bytes = files.At(op.object, op.offset, [&](int, const char* path) {
            return item::GetXattr(path, value, bytes);
          });
          if (found_bytes < 0) return found_bytes;
          return found_bytes == bytes ? int64_t{0} : -int64_t{ERANGE};
        });
  }

  // A cycle with a rename makes files under their other names, as programs do that replace a file.
  NameKind created_names() const {
    return MetadataSpecOf(*work_.operation).kinds().Has(OpKind::kRename) ? work_.other_file_names()
                                                                         : work_.file_names();
  }

  LoopEnd RunCycle(LaneContext& lane) {
    const int create_flags = flags_ | (MetadataSpecOf(*work_.operation).creates_exclusively ? O_EXCL : 0);
    return RunLoop<Clock>(lane, [this, files = Files(), created = Names(created_names()), create_flags,
                                 data = lane.payload](const Op& op) mutable {
      const auto on_file = [&](auto call) { return files.At(op.object, op.offset, call); };
      const auto into_new = [&](auto call) {
        return on_file([&](int from_fd, const char* from) {
          return created.At(op.object, op.offset, [&](int to_fd, const char* to) {
            return item::IntoNew(calls_, from_fd, from, to_fd, to, flags_, call);
          });
        });
      };
      const auto allocate = [&](int mode) {
        return on_file([&](int fd, const char* path) {
          return item::Allocate(calls_, fd, path, mode, work_.sizes.Of(op.offset));
        });
      };
      switch (op.kind) {
        case OpKind::kCreate:
          return created.At(op.object, op.offset, [&](int fd, const char* path) {
            return item::Create(calls_, fd, path, create_flags, work_.DataBeginOf(op.offset), op.length, data);
          });
        case OpKind::kOpenClose:
          return on_file([&](int fd, const char* path) {
            return item::OpenClose(calls_, fd, path, op.length, read_buffer_.data());
          });
        case OpKind::kAppend:
          return on_file([&](int fd, const char* path) {
            return item::Append(calls_, fd, path, flags_, work_.DataBeginOf(op.offset), op.length, data);
          });
        case OpKind::kUnlink:
          return on_file([](int fd, const char* path) { return item::Unlink(fd, path); });
        case OpKind::kTruncate:
          return on_file([this](int fd, const char* path) { return item::Resize(calls_, fd, path, 0); });
        case OpKind::kExtend:
          return on_file([&](int fd, const char* path) {
            return item::Resize(calls_, fd, path, work_.sizes.Of(op.offset));
          });
        case OpKind::kPunchHole:
          return allocate(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE);
        case OpKind::kAllocate:
          return allocate(0);  // Linux's NFS client has no ALLOCATE that keeps the size
        case OpKind::kCopy:
          return into_new([&](int source, int target) {
            return item::CopyByBuffer(calls_, source, target, op.length, read_buffer_.data());
          });
        case OpKind::kCopyRange:
          return into_new([&](int source, int target) { return item::CopyRange(source, target, op.length); });
        case OpKind::kClone:
          return into_new(item::CloneInto);
        default:
          assert(op.kind == OpKind::kRename);
          return on_file([&](int fd, const char* path) {
            return created.At(op.object, op.offset, [&](int from_fd, const char* from) {
              return item::Rename(from_fd, from, fd, path);
            });
          });
      }
    });
  }

  LoopEnd RunReaddir(LaneContext& lane) {
    return RunListing(lane, [](int, const DirectoryEntry&) { return int64_t{0}; });
  }

  // As `ls -l`: the attributes of every name that the listing has. In a shared directory, a name may be gone by then.
  LoopEnd RunListLong(LaneContext& lane) {
    return RunListing(lane, [](int directory, const DirectoryEntry& entry) {
      struct stat facts;
      const int64_t looked = item::Stat(directory, entry.name, &facts);
      return looked == -ENOENT ? 0 : looked;
    });
  }

  // Lists each directory to its end, and calls `look` with its descriptor and each entry.
  template <typename Look>
  LoopEnd RunListing(LaneContext& lane, Look look) {
    std::vector<std::string> paths;  // one op per directory, so these are few
    for (uint32_t i = 0; i < work_.names.directory_count(); ++i) {
      paths.push_back(work_.names.PathOfDirectory(i));
    }
    return RunLoop<Clock>(lane, [this, &paths, look](const Op& op) {
      const int64_t opened = calls_.OpenDirectory(root_.get(), paths[op.object].c_str());
      if (opened < 0) return opened;
      const int fd = static_cast<int>(opened);
      uint64_t name_count = 0;
      int64_t listed = 0, looked = 0;
      while (looked >= 0 && (listed = calls_.List(fd, listing_.data(), kListingBytes)) > 0) {
        for (int64_t at = 0; at < listed && looked >= 0; ++name_count) {
          const auto& entry = *reinterpret_cast<const DirectoryEntry*>(listing_.data() + at);
            looked = look(fd, entry);
          at += entry.record_bytes;
        }
      }
      if (listed == 0) listed = CheckListing(op.object, name_count);
      return calls_.CloseAfter(fd, looked < 0 ? looked : listed);
    });
  }

  // A shared directory also contains other lanes' names; ours must be there at least.
  int64_t CheckListing(uint32_t directory, uint64_t name_count) {
    constexpr uint64_t kDots = 2;
    const uint64_t expected = work_.names.ItemsIn(directory, work_.item_count);
    if (name_count >= expected + kDots) [[likely]]
      return 0;
    names_listed_ = name_count - std::min(name_count, kDots);
    names_expected_ = expected;
    return -ENODATA;
  }

  struct Runner {
    OpKind kind;
    LoopEnd (MetadataEngine::*run)(LaneContext&);
  };
  static constexpr Runner kRunners[] = {
      {OpKind::kMkdir, &MetadataEngine::RunMkdir},         {OpKind::kCreate, &MetadataEngine::RunCreate},
      {OpKind::kOpenClose, &MetadataEngine::RunOpenClose}, {OpKind::kStat, &MetadataEngine::RunStat},
      {OpKind::kReaddir, &MetadataEngine::RunReaddir},     {OpKind::kFind, &MetadataEngine::RunFind},
      {OpKind::kRename, &MetadataEngine::RunRename},       {OpKind::kLink, &MetadataEngine::RunLink},
      {OpKind::kSymlink, &MetadataEngine::RunSymlink},     {OpKind::kSetXattr, &MetadataEngine::RunSetXattr},
      {OpKind::kGetXattr, &MetadataEngine::RunGetXattr},   {OpKind::kChmod, &MetadataEngine::RunChmod},
      {OpKind::kUnlink, &MetadataEngine::RunUnlink},       {OpKind::kRmdir, &MetadataEngine::RunRmdir},
      {OpKind::kChown, &MetadataEngine::RunChown},         {OpKind::kUtimes, &MetadataEngine::RunUtimes},
      {OpKind::kReadlink, &MetadataEngine::RunReadlink},   {OpKind::kListLong, &MetadataEngine::RunListLong},
      {OpKind::kAppend, &MetadataEngine::RunAppend},       {OpKind::kZeroRange, &MetadataEngine::RunZeroRange},
      {OpKind::kSeekHole, &MetadataEngine::RunSeekHole},   {OpKind::kLock, &MetadataEngine::RunLock},
  };

  MetadataWork work_;
  const item::Calls calls_;
  const item::ChmodCall chmod_;
  UniqueFd root_;
  UniqueFd lock_file_;  // for lock
  std::string root_path_;
  int flags_ = 0;
  std::vector<std::byte> read_buffer_, listing_, xattr_value_;
  uint64_t names_listed_ = 0, names_expected_ = 0;  // of a listing that was too short
  std::optional<TreeWalk> walk_;                    // for find and remove-tree
  std::vector<std::string> directory_paths_;        // for remove-tree, of the lowest level
};

}  // namespace

std::unique_ptr<IoEngine> MakeMetadataEngine(const EngineOptions& options, const MetadataWork& work) {
  if (options.ticks == TickSource::kTsc) return std::make_unique<MetadataEngine<TscClock>>(options, work);
  return std::make_unique<MetadataEngine<MonotonicClock>>(options, work);
}

}  // namespace iobench
