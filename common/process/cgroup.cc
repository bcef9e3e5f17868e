#include "common/process/cgroup.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/proc_file.h"

namespace iobench {
namespace {

// A mounted hierarchy of control groups.
struct Hierarchy {
  std::string mount_point;
  std::string root;  // the group that is mounted there
  bool is_v2 = false;
};

bool Lists(const std::string& words, const std::string& word) {
  const std::vector<std::string> listed = absl::StrSplit(words, ',');
  return std::find(listed.begin(), listed.end(), word) != listed.end();
}

std::vector<std::string> LinesOf(const std::string& file) {
  return absl::StrSplit(ReadWholeFile(file).value_or(""), '\n', absl::SkipEmpty());
}

// "30 25 0:26 /docker/1f /sys/fs/cgroup/pids ro,nosuid shared:9 - cgroup cgroup rw,pids". v1 has a hierarchy for the
// controller if v2 does not have it.
std::optional<Hierarchy> HierarchyOf(const std::string& controller, const std::vector<std::string>& mountinfo) {
  std::optional<Hierarchy> v2;
  for (const std::string& line : mountinfo) {
    const std::pair<std::string, std::string> halves = absl::StrSplit(line, absl::MaxSplits(" - ", 1));
    const std::vector<std::string> mount = absl::StrSplit(halves.first, ' ');
    const std::vector<std::string> source = absl::StrSplit(halves.second, ' ');
    if (mount.size() < 5 || source.size() < 3) continue;
    if (source[0] == "cgroup" && Lists(source[2], controller)) return Hierarchy{mount[4], mount[3], false};
    if (source[0] == "cgroup2" && !v2.has_value()) v2 = Hierarchy{mount[4], mount[3], true};
  }
  return v2;
}

// "12:pids:/system.slice/bench.service", or "0::/…" of v2.
std::optional<std::string> GroupIn(const Hierarchy& hierarchy, const std::string& controller,
                                   const std::vector<std::string>& groups) {
  for (const std::string& line : groups) {
    const std::vector<std::string> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() < 3) continue;
    if (hierarchy.is_v2 ? fields[0] == "0" : Lists(fields[1], controller)) return fields[2];
  }
  return std::nullopt;
}

}  // namespace

CgroupsHere::CgroupsHere(const std::string& root)
    : root_(root),
      mountinfo_(LinesOf(absl::StrCat(root, "/proc/self/mountinfo"))),
      groups_(LinesOf(absl::StrCat(root, "/proc/self/cgroup"))) {}

std::vector<Cgroup> CgroupsHere::Of(const std::string& controller) const {
  const std::optional<Hierarchy> hierarchy = HierarchyOf(controller, mountinfo_);
  if (!hierarchy.has_value()) return {};
  const std::optional<std::string> group = GroupIn(*hierarchy, controller, groups_);
  if (!group.has_value()) return {};
  // Without a namespace for groups, a container names its group as its host does, but has only that group mounted.
  absl::string_view below = *group;
  if (hierarchy->root != "/") absl::ConsumePrefix(&below, hierarchy->root);
  std::string path(absl::StripSuffix(below, "/"));
  const std::string mount_point = absl::StrCat(root_, hierarchy->mount_point);
  while (!path.empty() && ::access(absl::StrCat(mount_point, path).c_str(), F_OK) != 0) {
    path.resize(path.rfind('/'));
  }
  std::vector<Cgroup> groups;
  while (true) {
    groups.push_back({absl::StrCat(mount_point, path), path.empty() ? "/" : path});
    if (path.empty()) return groups;
    path.resize(path.rfind('/'));
  }
}

std::vector<Cgroup> CgroupsOfThisProcess(const std::string& controller, const std::string& root) {
  return CgroupsHere(root).Of(controller);
}

}  // namespace iobench
