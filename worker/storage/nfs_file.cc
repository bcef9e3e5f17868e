#include "worker/storage/nfs_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/status_util.h"
#include "worker/storage/nfs_raw.h"
#include "worker/storage/nfs_status.h"

namespace iobench {
namespace {

constexpr size_t kTransfersOfOne = 8;

void Fail(NfsTransfer& transfer, int errno_value, int nfs_status = 0) {
  transfer.errno_value = errno_value;
  transfer.nfs_status = nfs_status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<NfsFile>> NfsFile::Open(NfsConnection& connection, const NfsHandle& directory,
                                                       const std::string& name, const NfsOpen& how) {
  std::unique_ptr<NfsFile> file(new NfsFile(connection, name));
  absl::Status status;
  if (!(how.create && how.exclusive)) {
    status = file->LookUp(directory);
    if (status.ok()) {
      IOBENCH_RETURN_IF_ERROR(file->CheckAccess(how));
      return file;
    }
    if (!absl::IsNotFound(status) || !how.create) return status;
  }
  status = file->Create(directory);
  // Another client created it first.
  if (absl::IsAlreadyExists(status) && !how.exclusive) status = file->LookUp(directory);
  if (!status.ok()) return status;
  return file;
}

absl::Status NfsFile::LookUp(const NfsHandle& directory) {
  LOOKUP3args args{};
  args.what.dir = Nfs3Handle(directory);
  args.what.name = const_cast<char*>(name_.c_str());
  std::optional<fattr3> facts;
  bool fits = true;
  IOBENCH_RETURN_IF_ERROR(connection_.RawCall(
      absl::StrCat("LOOKUP ", name_),
      [&](rpc_context* rpc, auto done, void* self) { return IOBENCH_NFS3(lookup, rpc, done, &args, self); },
      [&](void* result) {
        const LOOKUP3res& answer = *static_cast<LOOKUP3res*>(result);
        if (answer.status != NFS3_OK) return static_cast<int>(answer.status);
        const LOOKUP3resok& found = answer.LOOKUP3res_u.resok;
        fits = CopyHandle(found.object, handle_);
        if (found.obj_attributes.attributes_follow) facts = found.obj_attributes.post_op_attr_u.attributes;
        return 0;
      }));
  if (!fits) return absl::InternalError(absl::StrCat(name_, ": its handle is longer than NFSv3 allows"));
  if (!facts) {
    GETATTR3args which{};
    which.object = Nfs3Handle(handle_);
    IOBENCH_RETURN_IF_ERROR(connection_.RawCall(
        absl::StrCat("GETATTR ", name_),
        [&](rpc_context* rpc, auto done, void* self) {
          return IOBENCH_NFS3(getattr, rpc, done, &which, self);
        },
        [&](void* result) {
          const GETATTR3res& answer = *static_cast<GETATTR3res*>(result);
          if (answer.status == NFS3_OK) facts = answer.GETATTR3res_u.resok.obj_attributes;
          return static_cast<int>(answer.status);
        }));
  }
  if (facts->type != NF3REG) {
    return absl::FailedPreconditionError(
        absl::StrCat(name_, facts->type == NF3LNK ? " is a symbolic link" : " is not a regular file"));
  }
  bytes_at_open_ = facts->size;
  return absl::OkStatus();
}

absl::Status NfsFile::Create(const NfsHandle& directory) {
  CREATE3args args{};
  args.where.dir = Nfs3Handle(directory);
  args.where.name = const_cast<char*>(name_.c_str());
  args.how.mode = GUARDED;
  sattr3& attributes = args.how.createhow3_u.g_obj_attributes;
  attributes.mode.set_it = 1;
  attributes.mode.set_mode3_u.mode = 0640;
  bool has_handle = false;
  IOBENCH_RETURN_IF_ERROR(connection_.RawCall(
      absl::StrCat("CREATE ", name_),
      [&](rpc_context* rpc, auto done, void* self) { return IOBENCH_NFS3(create, rpc, done, &args, self); },
      [&](void* result) {
        const CREATE3res& answer = *static_cast<CREATE3res*>(result);
        if (answer.status != NFS3_OK) return static_cast<int>(answer.status);
        const post_op_fh3& made = answer.CREATE3res_u.resok.obj;
        has_handle = made.handle_follows && CopyHandle(made.post_op_fh3_u.handle, handle_);
        return 0;
      }));
  bytes_at_open_ = 0;
  return has_handle ? absl::OkStatus() : LookUp(directory);
}

absl::Status NfsFile::CheckAccess(const NfsOpen& how) {
  ACCESS3args args{};
  args.object = Nfs3Handle(handle_);
  if (how.read) args.access |= ACCESS3_READ;
  if (how.write) args.access |= ACCESS3_MODIFY | ACCESS3_EXTEND;
  u_int granted = 0;
  const std::string what = absl::StrCat("ACCESS ", name_);
  IOBENCH_RETURN_IF_ERROR(connection_.RawCall(
      what,
      [&](rpc_context* rpc, auto done, void* self) { return IOBENCH_NFS3(access, rpc, done, &args, self); },
      [&](void* result) {
        const ACCESS3res& answer = *static_cast<ACCESS3res*>(result);
        if (answer.status == NFS3_OK) granted = answer.ACCESS3res_u.resok.access;
        return static_cast<int>(answer.status);
      }));
  if ((granted & args.access) == args.access) return absl::OkStatus();
  return ErrnoStatus(absl::StrCat(what, how.write ? " for writing" : " for reading"), EACCES);
}

absl::StatusOr<uint64_t> NfsFile::Read(uint64_t offset, std::span<std::byte> into) {
  return Move(offset, into.data(), into.size(), /*is_write=*/false, NfsStability::kUnstable);
}

absl::Status NfsFile::Write(uint64_t offset, std::span<const std::byte> from, NfsStability stability) {
  return Move(offset, const_cast<std::byte*>(from.data()), from.size(), /*is_write=*/true, stability)
      .status();
}

absl::StatusOr<uint64_t> NfsFile::Move(uint64_t offset, std::byte* data, uint64_t bytes, bool is_write,
                                       NfsStability stability) {
  const uint32_t max_bytes = is_write ? connection_.write_max_bytes() : connection_.read_max_bytes();
  const uint64_t piece_count = (bytes + max_bytes - 1) / max_bytes;
  struct Flight {
    size_t in_flight = 0;
    const NfsTransfer* failed = nullptr;
    uint64_t end = UINT64_MAX;  // end of the file, if a read reached it
  } flight;
  std::vector<NfsTransfer> transfers(std::min<uint64_t>(piece_count, kTransfersOfOne));
  std::vector<NfsTransfer*> idle;
  idle.reserve(transfers.size());
  for (NfsTransfer& transfer : transfers) idle.push_back(&transfer);
  struct Owner {
    Flight& flight;
    std::vector<NfsTransfer*>& idle;
  } owner{flight, idle};
  const auto done = [](NfsTransfer& transfer) {
    Owner& its = *static_cast<Owner*>(transfer.owner);
    --its.flight.in_flight;
    if (transfer.errno_value != 0) {
      if (its.flight.failed == nullptr) its.flight.failed = &transfer;
      return;
    }
    if (transfer.moved < transfer.length) {
      its.flight.end = std::min(its.flight.end, transfer.offset + transfer.moved);
    }
    its.idle.push_back(&transfer);
  };
  uint64_t begun = 0;
  for (;;) {
    while (begun < bytes && !idle.empty() && flight.failed == nullptr && flight.end == UINT64_MAX) {
      NfsTransfer& transfer = *idle.back();
      transfer = {.offset = offset + begun,
                  .data = data + begun,
                  .length = static_cast<uint32_t>(std::min<uint64_t>(max_bytes, bytes - begun)),
                  .done = done,
                  .owner = &owner,
                  .retries_later = true};
      if (!(is_write ? BeginWrite(transfer, stability) : BeginRead(transfer))) {
        flight.failed = &transfer;
        break;
      }
      idle.pop_back();
      ++flight.in_flight;
      begun += transfer.length;
    }
    if (flight.in_flight == 0) break;
    // If the connection is lost, nothing is in flight any more.
    connection_.Turn(/*wait=*/true).IgnoreError();
  }
  if (!connection_.lost().ok()) return connection_.lost();
  if (restarted_) return RestartedError();
  if (flight.failed != nullptr) {
    const NfsTransfer& failed = *flight.failed;
    std::string what =
        absl::StrCat(is_write ? "WRITE " : "READ ", name_, " at offset ", failed.offset + failed.moved);
    if (failed.nfs_status != 0) absl::StrAppend(&what, ": ", NfsStatusName(failed.nfs_status));
    return ErrnoStatus(what, failed.errno_value);
  }
  return std::min(bytes, flight.end - std::min(flight.end, offset));
}

absl::Status NfsFile::Commit() {
  if (restarted_) return RestartedError();
  if (!needs_commit_) return absl::OkStatus();
  COMMIT3args args{};  // offset 0, count 0: the whole file
  args.file = Nfs3Handle(handle_);
  bool same = true;
  IOBENCH_RETURN_IF_ERROR(connection_.RawCommit(
      absl::StrCat("COMMIT ", name_),
      [&](rpc_context* rpc, auto done, void* self) { return IOBENCH_NFS3(commit, rpc, done, &args, self); },
      [&](void* result) {
        const COMMIT3res& answer = *static_cast<COMMIT3res*>(result);
        if (answer.status == NFS3_OK) same = IsSameServer(answer.COMMIT3res_u.resok.verf);
        return static_cast<int>(answer.status);
      }));
  if (!same) return RestartedError();
  needs_commit_ = false;
  return absl::OkStatus();
}

bool NfsFile::BeginRead(NfsTransfer& transfer) {
  transfer.file = this;
  transfer.is_write = false;
  transfer.moved = 0;
  transfer.retries = 0;
  Fail(transfer, 0);
  return Send(transfer);
}

bool NfsFile::BeginWrite(NfsTransfer& transfer, NfsStability stability) {
  transfer.file = this;
  transfer.is_write = true;
  transfer.stability = stability;
  transfer.moved = 0;
  transfer.retries = 0;
  Fail(transfer, 0);
  return Send(transfer);
}

bool NfsFile::Send(NfsTransfer& transfer) {
  rpc_context* const rpc = connection_.rpc();
  if (rpc == nullptr) {
    Fail(transfer, ECONNRESET);
    return false;
  }
  bool sent = false;
  const uint32_t length = transfer.length - transfer.moved;
  if (transfer.is_write) {
    WRITE3args args{};
    args.file = Nfs3Handle(handle_);
    args.offset = transfer.offset + transfer.moved;
    args.count = length;
    args.stable = static_cast<stable_how>(transfer.stability);
    args.data.data_len = length;
    args.data.data_val = reinterpret_cast<char*>(transfer.data + transfer.moved);
    sent = IOBENCH_NFS3(write, rpc, OnWrite, &args, &transfer);
  } else {
    READ3args args{};
    args.file = Nfs3Handle(handle_);
    args.offset = transfer.offset + transfer.moved;
    args.count = length;
    sent = BeginRead3(rpc, OnRead, args, transfer.data + transfer.moved, &transfer);
  }
  if (!sent) Fail(transfer, ENOMEM);
  return sent;
}

void NfsFile::OnRead(rpc_context*, int status, void* result, void* self) {
  NfsTransfer& transfer = *static_cast<NfsTransfer*>(self);
  if (status != RPC_STATUS_SUCCESS) {
    Fail(transfer, ECONNRESET);
    return transfer.done(transfer);
  }
  const READ3res& answer = *static_cast<READ3res*>(result);
  if (answer.status != NFS3_OK) return EndWith(transfer, answer.status);
  const READ3resok& read = answer.READ3res_u.resok;
  const uint32_t moved = FinishRead3(read, transfer.data + transfer.moved, transfer.length - transfer.moved);
  Proceed(transfer, moved, read.eof != 0);
}

void NfsFile::OnWrite(rpc_context*, int status, void* result, void* self) {
  NfsTransfer& transfer = *static_cast<NfsTransfer*>(self);
  NfsFile& file = *transfer.file;
  if (status != RPC_STATUS_SUCCESS) {
    Fail(transfer, ECONNRESET);
    return transfer.done(transfer);
  }
  const WRITE3res& answer = *static_cast<WRITE3res*>(result);
  if (answer.status != NFS3_OK) return EndWith(transfer, answer.status);
  const WRITE3resok& written = answer.WRITE3res_u.resok;
  const bool same = file.IsSameServer(written.verf);
  if (written.committed == UNSTABLE) {
    if (!file.needs_commit_) std::memcpy(file.verifier_.data(), written.verf, file.verifier_.size());
    file.needs_commit_ = true;
  }
  // A server that writes nothing without an error would be called forever.
  if (!same || written.count == 0) {
    Fail(transfer, EIO);
    return transfer.done(transfer);
  }
  Proceed(transfer, std::min<uint32_t>(written.count, transfer.length - transfer.moved), /*at_end=*/false);
}

// The server has refused or deferred the call.
void NfsFile::EndWith(NfsTransfer& transfer, int nfs_status) {
  if (nfs_status == NFS3ERR_JUKEBOX && transfer.retries_later && RetryLater(transfer)) return;
  Fail(transfer, ErrnoOfNfs(nfs_status), nfs_status);
  transfer.done(transfer);
}

bool NfsFile::RetryLater(NfsTransfer& transfer) {
  NfsConnection& connection = transfer.file->connection_;
  const int64_t now_ns = MonotonicNowNs();
  if (transfer.retries == 0) transfer.give_up_ns = now_ns + NanosFrom(connection.patience().reply_s);
  if (now_ns >= transfer.give_up_ns) return false;
  const int64_t again_ns = std::min(now_ns + RetryDelayNs(transfer.retries), transfer.give_up_ns);
  ++transfer.retries;
  connection.RecordDeferred(again_ns - now_ns);
  connection.CallAt(
      again_ns,
      [](void* self) {
        NfsTransfer& later = *static_cast<NfsTransfer*>(self);
        if (!later.file->Send(later)) later.done(later);
      },
      &transfer);
  return true;
}

void NfsFile::Proceed(NfsTransfer& transfer, uint32_t moved, bool at_end) {
  transfer.moved += moved;
  if (transfer.moved == transfer.length || at_end || moved == 0) return transfer.done(transfer);
  if (!transfer.file->Send(transfer)) transfer.done(transfer);
}

bool NfsFile::IsSameServer(const char* verifier) {
  if (needs_commit_ && std::memcmp(verifier_.data(), verifier, verifier_.size()) != 0) restarted_ = true;
  return !restarted_;
}

absl::Status NfsFile::RestartedError() const {
  return absl::DataLossError(absl::StrCat("NFS server ", connection_.server(),
                                          " has restarted (its write verifier changed) before ", name_,
                                          " was committed: written data may be lost"));
}

}  // namespace iobench
