// How the kernel's NFS server of this host is set up.
#ifndef WORKER_SAMPLER_NFS_SERVER_SETUP_H_
#define WORKER_SAMPLER_NFS_SERVER_SETUP_H_

#include <optional>
#include <string>

#include "iobench/v1/result.pb.h"

namespace iobench {

// Reads what the server says of itself below /proc/fs/nfsd, its exports (of exportfs, and of the kernel), and where
// these are stored. `root`: precedes all paths; a test has a directory of its own there. What the kernel does not say is
// absent. nullopt: no NFS server of the kernel, or its file system is not mounted. May block as long as the exported
// file system does; file systems of the network are not asked.
std::optional<v1::NfsServerSetup> ReadNfsServerSetup(const std::string& root = "");

}  // namespace iobench

#endif  // WORKER_SAMPLER_NFS_SERVER_SETUP_H_
