// Finds the mount of a path, from /proc/self/mountinfo.
#ifndef WORKER_STORAGE_MOUNTS_H_
#define WORKER_STORAGE_MOUNTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace iobench {

// One line of mountinfo, with the escapes of its paths replaced.
struct Mount {
  uint64_t id = 0;
  std::string root;  // the visible part of the file system: "/", or less in a bind mount
  std::string mount_point;
  std::string filesystem;  // "nfs4", "ext4", "fuse.glusterfs" …
  std::string source;      // "server:/export", "/dev/sda1"
  std::string options;     // mount options, then file system options: "rw,noatime,vers=4.2,…"
};

// Parses the text of mountinfo. Skips lines that do not match the format.
std::vector<Mount> ParseMountinfo(std::string_view text);

// Returns the mount that contains `path`, which must be absolute and free of symbolic links: the longest mount point
// that is a prefix, and the newest of those. Null: none.
const Mount* MountOfPath(const std::vector<Mount>& mounts, std::string_view path);

// Returns the mount of an open file or directory, by the mount id that the kernel reports, or by `path` if it reports
// none. MountIn looks for it in the text of mountinfo, MountOf in this process's own. nullopt: no line covers it, as in
// a chroot whose root is no mount point, or /proc is not available.
std::optional<Mount> MountIn(std::string_view mountinfo, int fd, const std::string& path);
std::optional<Mount> MountOf(int fd, const std::string& path);

// Returns the result of MountIn. If no line covers the file, returns what the kernel reports without mountinfo: the
// type of its file system ("type 0x1234" if we have no name for it) and, if local, the device number as its source. The
// rest is empty.
Mount FileSystemOf(std::string_view mountinfo, int fd, const std::string& path);

// True for file systems that several hosts can share. Their mount source identifies them.
bool IsNetworkFilesystem(std::string_view filesystem);
// True for tmpfs and the like, whose files exist in memory only.
bool IsMemoryFilesystem(std::string_view filesystem);
bool IsNfs(std::string_view filesystem);

// True if data written to this mount stays in memory: in the file system itself or in the one that an overlay writes
// to.
bool KeepsDataInMemory(const Mount& mount);
// Returns the directory that an overlay writes to, from its mount options. Empty: the overlay is read-only.
std::string UpperDirectoryOf(std::string_view options);

// Replaces escapes such as "\040", with which the kernel writes spaces in these files.
std::string UnescapeMountField(std::string_view field);

}  // namespace iobench

#endif  // WORKER_STORAGE_MOUNTS_H_
