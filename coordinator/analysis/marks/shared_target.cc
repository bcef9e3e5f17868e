#include "coordinator/analysis/marks/shared_target.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/roster/filesystem.h"

namespace iobench {
namespace {

constexpr size_t kMaxNames = 3;  // of clients that see the same, listed by name
constexpr size_t kMaxGroups = 4;

// Types of local disks and memory, whatever their sources are called. For other types that are not known network file
// systems, it is unknown whether they are shared: many use FUSE.
constexpr std::array<std::string_view, 17> kOwnTypes = {
    "ext2",     "ext3", "ext4",  "xfs",   "btrfs", "zfs",   "f2fs",    "jfs",     "bcachefs",
    "reiserfs", "vfat", "exfat", "ntfs3", "tmpfs", "ramfs", "overlay", "devtmpfs"};

bool IsOwnType(const v1::TargetFacts& target) {
  return std::find(kOwnTypes.begin(), kOwnTypes.end(), target.filesystem()) != kOwnTypes.end();
}

// Maps versions of a protocol, and clients in kernel and user space, to one name.
std::string_view FamilyOf(std::string_view filesystem) {
  if (filesystem.starts_with("nfs")) return "nfs";
  if (filesystem == "cifs" || filesystem == "smb3" || filesystem == "smbfs") return "smb";
  for (const std::string_view family : {"ceph", "glusterfs", "beegfs"}) {
    if (filesystem.starts_with(family)) return family;
    if (filesystem.starts_with("fuse.") && filesystem.substr(5).starts_with(family)) return family;
  }
  return filesystem;
}

// Returns the part of a source after the names of its servers: "/export" for "server:/export" and "mgs1:mgs2:/export",
// "share" for "//server/share".
std::string_view PlaceOf(std::string_view source) {
  if (source.starts_with("//")) {
    const size_t slash = source.find('/', 2);
    return slash == std::string_view::npos ? "" : source.substr(slash + 1);
  }
  const size_t colon = source.rfind(':');
  return colon == std::string_view::npos ? source : source.substr(colon + 1);
}

// Returns the target's path on its server: if "server:/" is mounted at /mnt, then /mnt/a is what "server:/a" has at its
// root.
std::string PlaceOnServer(const TargetSight& sight) {
  std::string place(PlaceOf(sight.target.mount_source()));
  while (place.ends_with('/')) place.pop_back();
  std::string_view path = sight.path;
  if (const std::string& mount_point = sight.target.mount_point();
      !mount_point.empty() && path.starts_with(mount_point)) {
    path.remove_prefix(mount_point.size());
    while (path.starts_with('/')) path.remove_prefix(1);
    while (path.ends_with('/')) path.remove_suffix(1);
    if (!path.empty()) absl::StrAppend(&place, "/", std::string(path));
  }
  return place;
}

std::string Seen(const TargetSight& sight) {
  const v1::TargetFacts& target = sight.target;
  const std::string type = target.filesystem().empty() ? "a file system" : target.filesystem();
  if (target.network()) {
    return absl::StrCat(type, " ", target.mount_source(), IsOfOneHost(target) ? " on itself" : "");
  }
  return absl::StrCat(IsOwnType(target) ? "its own " : "", type, " (", target.mount_source(),
                      target.mount_point().empty() ? "" : absl::StrCat(", mounted at ", target.mount_point()),
                      ")");
}

std::string WhoSeesWhat(std::span<const TargetSight> sights) {
  struct Group {
    std::string seen;
    std::vector<std::string> first_clients;
    std::set<std::string_view> clients;
  };
  std::vector<Group> groups;  // in the order of the first member of each
  std::map<std::string, size_t> group_of;
  for (const TargetSight& sight : sights) {
    const auto [found, is_new] = group_of.emplace(Seen(sight), groups.size());
    if (is_new) groups.push_back({.seen = found->first, .first_clients = {}, .clients = {}});
    Group& group = groups[found->second];
    if (!group.clients.insert(sight.client).second) continue;
    if (group.first_clients.size() < kMaxNames) group.first_clients.push_back(sight.client);
  }
  std::vector<std::string> texts;
  for (const Group& group : groups) {
    const size_t more = group.clients.size() - group.first_clients.size();
    const std::string others = more > 0 ? absl::StrCat(" and ", more, " more") : std::string();
    texts.push_back(absl::StrCat(absl::StrJoin(group.first_clients, ", "), others, ": ", group.seen));
  }
  if (texts.size() > kMaxGroups) {
    const size_t more = texts.size() - kMaxGroups;
    texts.resize(kMaxGroups);
    texts.push_back(absl::StrCat("and ", more, " more kinds"));
  }
  return absl::StrJoin(texts, "; ");
}

}  // namespace

Sharing SharingOf(const TargetSight& a, const TargetSight& b) {
  const v1::TargetFacts &here = a.target, &there = b.target;
  if (FilesystemOf(here) == FilesystemOf(there)) return Sharing::kSame;
  if (here.network() != there.network()) return Sharing::kDifferent;
  if (!here.network()) {
    const bool unknown = !IsOwnType(here) && here.filesystem() == there.filesystem() &&
                         here.mount_source() == there.mount_source();
    return unknown ? Sharing::kPerhaps : Sharing::kDifferent;
  }
  const std::string_view family = FamilyOf(here.filesystem());
  if (family != FamilyOf(there.filesystem())) return Sharing::kDifferent;
  // The server assigns a directory's number and its time of change.
  const bool numbered = family == "nfs" && here.directory_number() != 0 && there.directory_number() != 0;
  if (numbered && here.directory_number() != there.directory_number()) return Sharing::kDifferent;
  if (numbered && here.directory_changed_ns() == there.directory_changed_ns()) return Sharing::kSame;
  if (IsOfOneHost(here) || IsOfOneHost(there)) return Sharing::kDifferent;
  return PlaceOnServer(a) == PlaceOnServer(b) ? Sharing::kPerhaps : Sharing::kDifferent;
}

TargetSharing SharingAmong(std::span<const TargetSight> sights) {
  TargetSharing result;
  std::map<FilesystemId, const TargetSight*> filesystems;
  for (const TargetSight& sight : sights) filesystems.emplace(FilesystemOf(sight.target), &sight);
  for (const auto& [id, sight] : filesystems) {
    const Sharing sharing = SharingOf(sights.front(), *sight);
    result.sharing = std::max(result.sharing, sharing);
    if (sharing != Sharing::kSame || id == FilesystemOf(sights.front().target)) ++result.filesystem_count;
  }
  if (result.sharing != Sharing::kSame) result.who_sees_what = WhoSeesWhat(sights);
  return result;
}

}  // namespace iobench
