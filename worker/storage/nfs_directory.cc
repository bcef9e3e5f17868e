#include "worker/storage/nfs_directory.h"

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "worker/storage/nfs_file.h"
#include "worker/storage/nfs_raw.h"
#include "worker/storage/told_space.h"

// Starts an NFSv3 call for NfsConnection::RawCall; see IOBENCH_NFS3.
#define IOBENCH_BEGIN(name, args) \
  [&](rpc_context* rpc, auto done, void* self) { return IOBENCH_NFS3(name, rpc, done, &(args), self); }

namespace iobench {
namespace {

constexpr count3 kListingBytes = 64 << 10;

// For RawCall: passes the reply to `take` if the call succeeded.
template <typename Answer, typename Take>
auto OnOk(Take take) {
  return [take](void* result) {
    const Answer& answer = *static_cast<Answer*>(result);
    if (answer.status == NFS3_OK) take(answer);
    return static_cast<int>(answer.status);
  };
}
template <typename Answer>
auto OnOk() {
  return OnOk<Answer>([](const Answer&) {});
}

diropargs3 NameIn(const NfsHandle& directory, const std::string& name) {
  diropargs3 args{};
  args.dir = Nfs3Handle(directory);
  args.name = const_cast<char*>(name.c_str());
  return args;
}

NodeFacts FactsFrom(const fattr3& facts) {
  const NodeKind kind = facts.type == NF3REG   ? NodeKind::kFile
                        : facts.type == NF3DIR ? NodeKind::kDirectory
                        : facts.type == NF3LNK ? NodeKind::kSymlink
                                               : NodeKind::kOther;
  return {.kind = kind, .bytes = facts.size, .allocated_bytes = facts.used, .link_count = facts.nlink,
          .number = facts.fileid};
}

absl::StatusOr<fattr3> GetFacts(NfsConnection& connection, const NfsHandle& handle, const std::string& path) {
  GETATTR3args args{};
  args.object = Nfs3Handle(handle);
  fattr3 facts{};
  IOBENCH_RETURN_IF_ERROR(connection.RawCall(absl::StrCat("look at ", path), IOBENCH_BEGIN(getattr, args),
                                             OnOk<GETATTR3res>([&facts](const GETATTR3res& answer) {
                                               facts = answer.GETATTR3res_u.resok.obj_attributes;
                                             })));
  return facts;
}

struct Node {
  NfsHandle handle;
  NodeFacts facts;
};

absl::StatusOr<Node> LookUp(NfsConnection& connection, const NfsHandle& directory, const std::string& name,
                            const std::string& path) {
  LOOKUP3args args{.what = NameIn(directory, name)};
  Node node;
  bool fits = true;
  std::optional<fattr3> facts;
  IOBENCH_RETURN_IF_ERROR(connection.RawCall(absl::StrCat("look at ", path), IOBENCH_BEGIN(lookup, args),
                                             OnOk<LOOKUP3res>([&](const LOOKUP3res& answer) {
                                               const LOOKUP3resok& found = answer.LOOKUP3res_u.resok;
                                               fits = CopyHandle(found.object, node.handle);
                                               if (found.obj_attributes.attributes_follow)
                                                 facts = found.obj_attributes.post_op_attr_u.attributes;
                                             })));
  if (!fits) return absl::InternalError(absl::StrCat(path, ": its handle is longer than NFSv3 allows"));
  if (!facts) {
    IOBENCH_ASSIGN_OR_RETURN(facts, GetFacts(connection, node.handle, path));
  }
  node.facts = FactsFrom(*facts);
  return node;
}

class NfsDataFile final : public File {
 public:
  NfsDataFile(std::string path, std::shared_ptr<NfsConnection> connection, std::unique_ptr<NfsFile> file)
      : File(std::move(path)), connection_(std::move(connection)), file_(std::move(file)) {}

  absl::StatusOr<NodeFacts> Facts() override {
    IOBENCH_ASSIGN_OR_RETURN(const fattr3 facts, GetFacts(*connection_, file_->handle(), path()));
    return FactsFrom(facts);
  }

  absl::StatusOr<size_t> ReadAt(uint64_t offset, std::span<std::byte> into) override {
    const absl::StatusOr<uint64_t> bytes = file_->Read(offset, into);
    if (!bytes.ok()) return Annotate(bytes.status(), absl::StrCat("read ", path()));
    return static_cast<size_t>(*bytes);
  }

  absl::Status WriteAt(uint64_t offset, std::span<const std::byte> data) override {
    return Annotate(file_->Write(offset, data), absl::StrCat("write ", path()));
  }

  absl::Status Sync() override { return Annotate(file_->Commit(), absl::StrCat("commit ", path())); }

  // NFSv3 does not report holes, only the number of blocks.
  absl::StatusOr<Holes> HolesIn(uint64_t, uint64_t) override {
    IOBENCH_ASSIGN_OR_RETURN(const NodeFacts facts, Facts());
    return facts.allocated_bytes < facts.bytes ? Holes::kUnknown : Holes::kNone;
  }

  absl::Status Allocate(uint64_t, uint64_t) override {
    return absl::UnimplementedError(absl::StrCat("preallocate ", path(), ": NFSv3 cannot preallocate"));
  }

 private:
  const std::shared_ptr<NfsConnection> connection_;  // outlives the file
  const std::unique_ptr<NfsFile> file_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<NfsDirectory>> NfsDirectory::Open(const NfsUrl& url) {
  IOBENCH_ASSIGN_OR_RETURN(std::shared_ptr<NfsConnection> connection,
                           NfsConnection::Connect(url.ForLibnfs()));
  const NfsHandle handle = connection->directory();
  auto directory = std::make_unique<NfsDirectory>(url.ToText(), std::move(connection), handle);
  IOBENCH_ASSIGN_OR_RETURN(const fattr3 facts, GetFacts(*directory->connection_, handle, directory->path()));
  if (facts.type == NF3DIR) return directory;
  return absl::FailedPreconditionError(absl::StrCat(directory->path(), " is not a directory"));
}

absl::StatusOr<DirectoryIdentity> NfsDirectory::Identity() const {
  IOBENCH_ASSIGN_OR_RETURN(const fattr3 facts, GetFacts(*connection_, handle_, path()));
  return DirectoryIdentity{.number = facts.fileid,
                           .changed_ns = int64_t{facts.ctime.seconds} * 1'000'000'000 + facts.ctime.nseconds};
}

absl::StatusOr<v1::Space> NfsDirectory::Space() const {
  v1::Space space;
  FSSTAT3args which{};
  which.fsroot = Nfs3Handle(handle_);
  IOBENCH_RETURN_IF_ERROR(connection_->RawCall(absl::StrCat("space of ", path()),
                                               IOBENCH_BEGIN(fsstat, which),
                                               OnOk<FSSTAT3res>([&space](const FSSTAT3res& answer) {
                                                 const FSSTAT3resok& facts = answer.FSSTAT3res_u.resok;
                                                 space = SpaceOf({.total = facts.tbytes,
                                                                  .free = facts.fbytes,
                                                                  .available = facts.abytes,
                                                                  .total_items = facts.tfiles,
                                                                  .available_items = facts.afiles});
                                               })));
  return space;
}

absl::StatusOr<NfsFacts> NfsDirectory::ReadFilesystemFacts() const {
  NfsFacts facts{.read_max_bytes = connection_->read_max_bytes(),
                 .write_max_bytes = connection_->write_max_bytes()};
  IOBENCH_ASSIGN_OR_RETURN(const fattr3 attributes, GetFacts(*connection_, handle_, path()));
  facts.filesystem_number = attributes.fsid;
  IOBENCH_ASSIGN_OR_RETURN(facts.space, Space());
  ACCESS3args wanted{};
  wanted.object = Nfs3Handle(handle_);
  wanted.access = ACCESS3_LOOKUP | ACCESS3_MODIFY | ACCESS3_EXTEND;
  IOBENCH_RETURN_IF_ERROR(connection_->RawCall(
      absl::StrCat("access to ", path()), IOBENCH_BEGIN(access, wanted),
      OnOk<ACCESS3res>([&](const ACCESS3res& answer) {
        facts.may_make_files = (answer.ACCESS3res_u.resok.access & wanted.access) == wanted.access;
      })));
  return facts;
}

absl::StatusOr<std::vector<std::string>> NfsDirectory::Names() const {
  std::vector<std::string> names;
  READDIR3args args{};
  args.dir = Nfs3Handle(handle_);
  args.count = kListingBytes;
  bool ended = false;
  while (!ended) {
    const cookie3 from = args.cookie;
    IOBENCH_RETURN_IF_ERROR(connection_->RawCall(
        absl::StrCat("list ", path()), IOBENCH_BEGIN(readdir, args),
        OnOk<READDIR3res>([&](const READDIR3res& answer) {
          const READDIR3resok& listing = answer.READDIR3res_u.resok;
          std::memcpy(args.cookieverf, listing.cookieverf, sizeof(args.cookieverf));
          ended = listing.reply.eof != 0 || listing.reply.entries == nullptr;
          // Copied, because libnfs does not align decoded data.
          entry3 entry{};
          for (const entry3* next = listing.reply.entries; next != nullptr; next = entry.nextentry) {
            std::memcpy(&entry, next, sizeof(entry));
            args.cookie = entry.cookie;
            names.emplace_back(entry.name);
          }
        })));
    if (!ended && args.cookie == from) {
      return absl::InternalError(
          absl::StrCat("list ", path(), ": the server returns the same part again and again"));
    }
  }
  std::erase_if(names, [](const std::string& name) { return name == "." || name == ".."; });
  return names;
}

absl::StatusOr<NodeFacts> NfsDirectory::Look(const std::string& name) const {
  IOBENCH_ASSIGN_OR_RETURN(const Node node, LookUp(*connection_, handle_, name, PathOf(name)));
  return node.facts;
}

absl::StatusOr<std::unique_ptr<Directory>> NfsDirectory::OpenDirectory(const std::string& name) const {
  IOBENCH_ASSIGN_OR_RETURN(const Node node, LookUp(*connection_, handle_, name, PathOf(name)));
  if (node.facts.kind == NodeKind::kDirectory) {
    return std::make_unique<NfsDirectory>(PathOf(name), connection_, node.handle);
  }
  return absl::FailedPreconditionError(
      absl::StrCat(PathOf(name), " is not a directory (a symbolic link is not followed)"));
}

absl::Status NfsDirectory::MakeDirectory(const std::string& name) const {
  MKDIR3args args{};
  args.where = NameIn(handle_, name);
  args.attributes.mode.set_it = 1;
  args.attributes.mode.set_mode3_u.mode = 0755;
  return connection_->RawCall(absl::StrCat("create directory ", PathOf(name)), IOBENCH_BEGIN(mkdir, args),
                              OnOk<MKDIR3res>());
}

absl::Status NfsDirectory::RemoveDirectory(const std::string& name) const {
  RMDIR3args args{};
  args.object = NameIn(handle_, name);
  absl::Status removed = connection_->RawCall(absl::StrCat("remove directory ", PathOf(name)),
                                              IOBENCH_BEGIN(rmdir, args), OnOk<RMDIR3res>());
  if (ErrnoOf(removed) != ENOTEMPTY && ErrnoOf(removed) != EEXIST) return removed;
  return absl::FailedPreconditionError(absl::StrCat("directory ", PathOf(name), " is not empty"));
}

absl::StatusOr<std::unique_ptr<File>> NfsDirectory::OpenFile(const std::string& name, OpenFor use) const {
  const NfsOpen how{.read = use == OpenFor::kReading,
                    .write = use != OpenFor::kReading,
                    .create = use == OpenFor::kWriting || use == OpenFor::kWritingNew,
                    .exclusive = use == OpenFor::kWritingNew};
  auto file = NfsFile::Open(*connection_, handle_, name, how);
  if (file.ok()) return std::make_unique<NfsDataFile>(PathOf(name), connection_, *std::move(file));
  // Its message begins with only the name.
  if (absl::IsFailedPrecondition(file.status())) {
    return absl::FailedPreconditionError(absl::StrCat(path(), "/", file.status().message()));
  }
  return Annotate(file.status(), absl::StrCat(how.exclusive ? "create " : "open ", PathOf(name)));
}

absl::Status NfsDirectory::Remove(const std::string& name) const {
  REMOVE3args args{};
  args.object = NameIn(handle_, name);
  return connection_->RawCall(absl::StrCat("remove ", PathOf(name)), IOBENCH_BEGIN(remove, args),
                              OnOk<REMOVE3res>());
}

absl::Status NfsDirectory::Rename(const std::string& from, const std::string& to) const {
  RENAME3args args{};
  args.from = NameIn(handle_, from);
  args.to = NameIn(handle_, to);
  return connection_->RawCall(absl::StrCat("rename ", from, " to ", PathOf(to)), IOBENCH_BEGIN(rename, args),
                              OnOk<RENAME3res>());
}

absl::Status NfsDirectory::Link(const std::string& from, const std::string& to) const {
  IOBENCH_ASSIGN_OR_RETURN(const Node node, LookUp(*connection_, handle_, from, PathOf(from)));
  LINK3args args{};
  args.file = Nfs3Handle(node.handle);
  args.link = NameIn(handle_, to);
  absl::Status linked =
      connection_->RawCall(absl::StrCat("create ", PathOf(to)), IOBENCH_BEGIN(link, args), OnOk<LINK3res>());
  const int error = ErrnoOf(linked);
  if (error != EPERM && error != EOPNOTSUPP && error != EMLINK) return linked;
  return absl::UnimplementedError(absl::StrCat("link ", PathOf(to), ": no hard links on this file system"));
}

}  // namespace iobench
