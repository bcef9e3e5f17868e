// Reads the settings of a client and its mounts that limit their speed and may differ between hosts unnoticed:
// read-ahead, RPC slots, governor, link, striping. docs/definitions.md ("Settings of the clients") lists the names.
#ifndef WORKER_CLIENT_CLIENT_SETTINGS_H_
#define WORKER_CLIENT_CLIENT_SETTINGS_H_

#include <sys/types.h>

#include <map>
#include <string>

#include "worker/storage/mounts.h"

namespace iobench {

// Name → value as the system shows it, one line each. A setting that the system does not show is absent.
using Settings = std::map<std::string, std::string>;

// Returns the settings of the host. `root`: a directory with proc and sys below it; empty: this system's own.
Settings ClientSettings(const std::string& root = "");

// Returns the names of the libraries that the dynamic linker has loaded before all others, because LD_PRELOAD or
// /etc/ld.so.preload names them: "libpil4dfs.so". They may replace functions of the C library. Empty: there are none.
std::string PreloadedLibraries(const std::string& root = "");

// Returns the settings of the mount that a directory is on. `fd`: the directory (O_PATH suffices); `device`: its
// st_dev. Blocks only for file systems that keep the striping in extended attributes (Lustre, CephFS, GlusterFS), as
// long as a stat would. For these, a value that the file system refuses is "not available".
Settings MountSettings(const Mount& mount, int fd, dev_t device, const std::string& root = "");

}  // namespace iobench

#endif  // WORKER_CLIENT_CLIENT_SETTINGS_H_
