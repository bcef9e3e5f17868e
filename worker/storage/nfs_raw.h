// Hides the differences between libnfs versions in raw NFSv3 calls. Only for .cc files that use NfsConnection.
//
// From version 6.0 on (LIBNFS_API_V2), a call is a "task": it returns its request or null, where older versions return
// 0 or -1, and a READ gets the destination buffer. Older versions return the data in the reply, from which it is
// copied.
#ifndef WORKER_STORAGE_NFS_RAW_H_
#define WORKER_STORAGE_NFS_RAW_H_

#include <nfsc/libnfs.h>
// These two require libnfs.h first.
#include <nfsc/libnfs-raw-nfs.h>
#include <nfsc/libnfs-raw.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "worker/storage/nfs_connection.h"

// Calls rpc_nfs3_NAME for NfsConnection::RawCall: IOBENCH_NFS3(lookup, rpc, done, &args, self). Not for READ.
#ifdef LIBNFS_API_V2
#define IOBENCH_NFS3(name, rpc, done, args, self) (rpc_nfs3_##name##_task(rpc, done, args, self) != nullptr)
#else
#define IOBENCH_NFS3(name, rpc, done, args, self) (rpc_nfs3_##name##_async(rpc, done, args, self) == 0)
#endif

namespace iobench {

// Returns a view. The handle must stay valid until the call has been started, which copies it.
inline nfs_fh3 Nfs3Handle(const NfsHandle& handle) {
  nfs_fh3 view{};
  view.data.data_len = handle.size;
  view.data.data_val = const_cast<char*>(handle.bytes.data());
  return view;
}

// Returns false if the handle is longer than NFSv3 allows.
inline bool CopyHandle(const nfs_fh3& from, NfsHandle& to) {
  if (from.data.data_len > to.bytes.size()) return false;
  to.size = from.data.data_len;
  std::memcpy(to.bytes.data(), from.data.data_val, to.size);
  return true;
}

// Starts a READ of args.count bytes; returns false if it could not be queued. The data is in `into` after FinishRead3 at
// the latest; `into` must stay valid until then.
inline bool BeginRead3(rpc_context* rpc, rpc_cb done, READ3args& args, [[maybe_unused]] std::byte* into,
                       void* self) {
#ifdef LIBNFS_API_V2
  return rpc_nfs3_read_task(rpc, done, into, args.count, &args, self) != nullptr;
#else
  return rpc_nfs3_read_async(rpc, done, &args, self) == 0;
#endif
}

// Returns the number of bytes received, at most `most`, and ensures that they are in `into`.
inline uint32_t FinishRead3(const READ3resok& answer, [[maybe_unused]] std::byte* into, uint32_t most) {
#ifdef LIBNFS_API_V2
  return std::min<uint32_t>(answer.count, most);
#else
  const uint32_t bytes = std::min<uint32_t>({answer.count, answer.data.data_len, most});
  std::memcpy(into, answer.data.data_val, bytes);
  return bytes;
#endif
}

}  // namespace iobench

#endif  // WORKER_STORAGE_NFS_RAW_H_
