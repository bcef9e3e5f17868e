// The libnfs engine (--engine libnfs): NFSv3 in this process, without a mount, kernel client or page cache.
#ifndef WORKER_ENGINE_LIBNFS_ENGINE_H_
#define WORKER_ENGINE_LIBNFS_ENGINE_H_

#include <memory>

#include "worker/engine/io_engine.h"

namespace iobench {

// Each lane has one TCP connection (NfsConnection) to the URL in options.directory. MakeReady creates it; Open
// reconnects if the server has closed it since. Call MakeReady, Open, Run and Close on the same thread. The steps send
// these NFS calls:
//
//   open   LOOKUP and ACCESS for each file, and CREATE for a new one, one after the other.
//   op     One READ or WRITE. An op longer than the server's rtmax or wtmax is split into parts that are in flight at
//          the same time; it ends with the last of them. A short reply is followed by a call for the rest. Writes are
//          UNSTABLE by default, FILE_SYNC with mode.sync or mode.rsync, DATA_SYNC with mode.dsync.
//   fsync  One COMMIT of the whole file for each file with writes that were answered UNSTABLE since its last COMMIT,
//          one after the other. Nothing for other files, whose data is already on the server's disk.
//   close  The same COMMIT if it is still due, as close() in the kernel's client does; NFSv3 has no other close. After
//          an fsync, close therefore sends nothing and takes no time.
//
// There is no cache: every read goes to the server, without read-ahead or write-behind. Reads are copied once out of
// libnfs's reply (not with libnfs 6.0 and later, which reads in place); writes are copied once into its request. libnfs
// allocates memory for every call.
//
// Calls that the server defers (NFS3ERR_JUKEBOX) are retried for up to 60 s and counted in the lane's retried_ops: READ
// and WRITE as their ops, LOOKUP, GETATTR, ACCESS and CREATE as open-close, COMMIT as write. An op, and with it the
// lane, fails if the server closes the connection or stays silent for 60 s with ops in flight (600 s during a COMMIT;
// the URL's timeo changes both). Explain gives the reason. A changed write verifier is an error too: see NfsFile.
std::unique_ptr<IoEngine> MakeLibnfsEngine(const EngineOptions& options);

}  // namespace iobench

#endif  // WORKER_ENGINE_LIBNFS_ENGINE_H_
