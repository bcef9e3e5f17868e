#include "worker/storage/mounts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/proc_file.h"
#include "common/unique_fd.h"

namespace iobench {
namespace {

constexpr std::array<std::string_view, 30> kNetworkFilesystems = {"nfs",        "nfs4",
                                                                  "lustre",     "ceph",
                                                                  "fuse.ceph",  "fuse.ceph-fuse",
                                                                  "glusterfs",  "fuse.glusterfs",
                                                                  "beegfs",     "beegfs_nodev",
                                                                  "cifs",       "smb3",
                                                                  "smbfs",      "9p",
                                                                  "gpfs",       "afs",
                                                                  "kafs",       "orangefs",
                                                                  "pvfs2",      "panfs",
                                                                  "wekafs",     "fuse.sshfs",
                                                                  "fuse.dfuse", "fuse.juicefs",
                                                                  "fuse.s3fs",  "fuse.moosefs",
                                                                  "fuse.mfs",   "fuse.seaweedfs",
                                                                  "ocfs2",      "gfs2"};

// The magic numbers of statfs() (statfs(2), linux/magic.h). One number stands for ext2, ext3 and ext4, and one for all
// versions of NFS.
constexpr std::pair<uint32_t, std::string_view> kMagicNumbers[] = {
    {0x0000EF53, "ext4"},   {0x58465342, "xfs"},     {0x9123683E, "btrfs"}, {0x01021994, "tmpfs"},
    {0x858458F6, "ramfs"},  {0x794C7630, "overlay"}, {0x2FC12FC1, "zfs"},   {0xF2F52010, "f2fs"},
    {0x00006969, "nfs"},    {0x0BD00BD0, "lustre"},  {0x00C36400, "ceph"},  {0x47504653, "gpfs"},
    {0x19830326, "beegfs"}, {0xFF534D42, "cifs"},    {0xFE534D42, "smb3"},  {0x01021997, "9p"},
    {0x65735546, "fuse"},
};

std::string NameOfMagicNumber(uint32_t magic) {
  for (const auto& [number, name] : kMagicNumbers) {
    if (number == magic) return std::string(name);
  }
  return absl::StrCat("type 0x", absl::Hex(magic));
}

bool IsAtOrBelow(std::string_view path, std::string_view mount_point) {
  if (mount_point == "/") return true;
  if (!path.starts_with(mount_point)) return false;
  return path.size() == mount_point.size() || path[mount_point.size()] == '/';
}

bool IsOctal(char c) {
  return c >= '0' && c <= '7';
}

}  // namespace

std::string UnescapeMountField(std::string_view field) {
  std::string text;
  for (size_t i = 0; i < field.size(); ++i) {
    if (field[i] == '\\' && i + 3 < field.size() && IsOctal(field[i + 1]) && IsOctal(field[i + 2]) &&
        IsOctal(field[i + 3])) {
      text += static_cast<char>((field[i + 1] - '0') * 64 + (field[i + 2] - '0') * 8 + (field[i + 3] - '0'));
      i += 3;
    } else {
      text += field[i];
    }
  }
  return text;
}

// 36 35 98:0 /root /mount/point rw,noatime shared:1 master:2 - nfs4 server:/export rw,vers=4.2
std::vector<Mount> ParseMountinfo(std::string_view text) {
  std::vector<Mount> mounts;
  for (const absl::string_view line : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    const std::vector<std::string> fields = absl::StrSplit(line, ' ', absl::SkipEmpty());
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    const size_t after_dash = static_cast<size_t>(dash - fields.begin()) + 1;
    Mount mount;
    if (after_dash < 7 || fields.size() < after_dash + 2 || !absl::SimpleAtoi(fields[0], &mount.id)) continue;
    mount.root = UnescapeMountField(fields[3]);
    mount.mount_point = UnescapeMountField(fields[4]);
    mount.filesystem = UnescapeMountField(fields[after_dash]);
    mount.source = UnescapeMountField(fields[after_dash + 1]);
    mount.options = fields[5];
    if (fields.size() > after_dash + 2) absl::StrAppend(&mount.options, ",", fields[after_dash + 2]);
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

const Mount* MountOfPath(const std::vector<Mount>& mounts, std::string_view path) {
  const Mount* best = nullptr;
  for (const Mount& mount : mounts) {
    if (!IsAtOrBelow(path, mount.mount_point)) continue;
    if (best == nullptr || mount.mount_point.size() >= best->mount_point.size()) best = &mount;
  }
  return best;
}

std::optional<Mount> MountIn(std::string_view mountinfo, int fd, const std::string& path) {
  const std::vector<Mount> mounts = ParseMountinfo(mountinfo);
#ifdef STATX_MNT_ID
  struct statx facts {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &facts) == 0 && (facts.stx_mask & STATX_MNT_ID) != 0) {
    for (const Mount& mount : mounts) {
      if (mount.id == facts.stx_mnt_id) return mount;
    }
  }
#endif
  char resolved[PATH_MAX];
  if (::realpath(path.c_str(), resolved) == nullptr) return std::nullopt;
  const Mount* const mount = MountOfPath(mounts, resolved);
  return mount == nullptr ? std::nullopt : std::optional<Mount>(*mount);
}

std::optional<Mount> MountOf(int fd, const std::string& path) {
  const std::optional<std::string> text = ReadWholeFile("/proc/self/mountinfo");
  return text ? MountIn(*text, fd, path) : std::nullopt;
}

Mount FileSystemOf(std::string_view mountinfo, int fd, const std::string& path) {
  if (std::optional<Mount> mount = MountIn(mountinfo, fd, path)) return *std::move(mount);
  Mount unlisted;
  struct statfs filesystem {};
  struct stat facts {};
  if (::fstatfs(fd, &filesystem) != 0 || ::fstat(fd, &facts) != 0) return unlisted;
  unlisted.filesystem = NameOfMagicNumber(static_cast<uint32_t>(filesystem.f_type));
  // A device number means nothing to other hosts.
  if (!IsNetworkFilesystem(unlisted.filesystem)) {
    unlisted.source = absl::StrCat("device ", major(facts.st_dev), ":", minor(facts.st_dev));
  }
  return unlisted;
}

bool IsNetworkFilesystem(std::string_view filesystem) {
  return std::find(kNetworkFilesystems.begin(), kNetworkFilesystems.end(), filesystem) !=
         kNetworkFilesystems.end();
}

bool IsMemoryFilesystem(std::string_view filesystem) {
  return filesystem == "tmpfs" || filesystem == "ramfs";
}

bool IsNfs(std::string_view filesystem) {
  return filesystem == "nfs" || filesystem == "nfs4";
}

std::string UpperDirectoryOf(std::string_view options) {
  constexpr std::string_view kKey = "upperdir=";
  // A comma within a path is escaped with a backslash, which the kernel in turn writes as an octal number.
  const std::string text = UnescapeMountField(options);
  for (size_t begin = 0; begin < text.size();) {
    std::string field;
    size_t at = begin;
    for (; at < text.size() && text[at] != ','; ++at) {
      if (text[at] == '\\' && at + 1 < text.size()) ++at;
      field += text[at];
    }
    if (field.starts_with(kKey)) return field.substr(kKey.size());
    begin = at + 1;
  }
  return "";
}

bool KeepsDataInMemory(const Mount& mount) {
  if (mount.filesystem != "overlay") return IsMemoryFilesystem(mount.filesystem);
  // Asks the kernel, because the path is valid only where the overlay was mounted. If it is not visible here (in a
  // container), nothing is known; another mount at that path must not be used.
  const std::string upper = UpperDirectoryOf(mount.options);
  const UniqueFd fd(upper.starts_with('/') ? ::open(upper.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC) : -1);
  if (!fd.valid()) return false;
  const std::optional<Mount> below = MountOf(fd.get(), upper);
  return below && IsMemoryFilesystem(below->filesystem);
}

}  // namespace iobench
