// NFSv3 by this process itself, over libnfs: no mount, no kernel client, no page cache. --engine libnfs.
#ifndef WORKER_ENGINE_LIBNFS_ENGINE_H_
#define WORKER_ENGINE_LIBNFS_ENGINE_H_

#include <memory>

#include "worker/engine/io_engine.h"

namespace iobench {

// One TCP connection a lane (NfsConnection), made by MakeReady to the URL in options.directory, and made anew by Open
// where the server has closed it meanwhile. MakeReady, Open, Run and Close on one thread. What each part is on
// the wire:
//
//   open   of each file LOOKUP and ACCESS; CREATE where it is made. One after the other.
//   op     one READ or WRITE. One that is longer than the server's rtmax or wtmax is split, its pieces are all in
//          flight together, and it ends with its last; an answer with less than was asked for is followed by a call
//          for the rest. Writes are UNSTABLE; with mode.sync (or rsync) FILE_SYNC, with dsync DATA_SYNC.
//   fsync  of each file that has writes which were answered UNSTABLE since its last COMMIT: one COMMIT of the whole
//          file, one after the other. Of others nothing: they are on the server's disk.
//   close  the same COMMIT, where it is still due, as close() of the kernel's client; NFSv3 has nothing else to close.
//          So after an fsync a close sends nothing, and takes no time.
//
// There is no cache: every read is the server's, and nothing is read ahead or written behind. Reads are copied once,
// from libnfs's answer (from 6.0 on they come in place); writes once, into its request; and it allocates for every
// call, which we do not.
//
// A server that is silent for 60 s while ops are in flight (600 s while it commits; the URL's timeo says otherwise) or
// closes the connection fails the op and so the lane; Explain says how. A change of the write verifier does too: see
// NfsFile.
std::unique_ptr<IoEngine> MakeLibnfsEngine(const EngineOptions& options);

}  // namespace iobench

#endif  // WORKER_ENGINE_LIBNFS_ENGINE_H_
