// Which mount a path is on: /proc/self/mountinfo.
#ifndef WORKER_MOUNTS_H_
#define WORKER_MOUNTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace iobench {

struct Mount {
  uint64_t id = 0;
  std::string root;  // what of the file system is seen: "/", or less in a bind mount
  std::string mount_point;
  std::string filesystem;  // "nfs4", "ext4", "fuse.glusterfs" …
  std::string source;      // "server:/export", "/dev/sda1"
  std::string options;     // of the mount, then of the file system: "rw,noatime,vers=4.2,…"
};

// Lines that do not fit are left out. Pure.
std::vector<Mount> ParseMountinfo(std::string_view text);

// The mount that holds an absolute path without symbolic links: the longest mount point before it, the newest of
// those. Null: none.
const Mount* MountOfPath(const std::vector<Mount>& mounts, std::string_view path);

// The mount that an open file or directory is on, by the kernel's own number where it tells it, else by `path`.
// nullopt: /proc is not there.
std::optional<Mount> MountOf(int fd, const std::string& path);

// True for file systems that several hosts share: the mount source identifies them.
bool IsNetworkFilesystem(std::string_view filesystem);
bool IsMemoryFilesystem(std::string_view filesystem);
bool IsNfs(std::string_view filesystem);

// What is written to this mount stays in memory: the file system itself, or the one that an overlay writes to.
bool KeepsDataInMemory(const Mount& mount);
// The directory that an overlay writes to, by its mount options; empty: it is read-only.
std::string UpperDirectoryOf(std::string_view options);

// "\040" and its like, as the kernel writes spaces in these files.
std::string UnescapeMountField(std::string_view field);

// The whole of a file below /proc or /sys; nullopt where it cannot be read.
std::optional<std::string> ReadWholeFile(const std::string& path);

}  // namespace iobench

#endif  // WORKER_MOUNTS_H_
