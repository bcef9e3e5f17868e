#include "worker/client/client_settings.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/proc_file.h"
#include "worker/client/host_counters.h"
#include "worker/client/mountstats.h"
#include "worker/client/server_route.h"
#include "worker/storage/file_layout.h"

namespace iobench {
namespace {

constexpr char kNotAvailable[] = "not available";
constexpr size_t kMaxValueBytes = 200;

struct SettingFile {
  const char* name;
  const char* file;
};

constexpr SettingFile kClientFiles[] = {
    {"sunrpc.tcp_slot_table_entries", "/proc/sys/sunrpc/tcp_slot_table_entries"},
    {"sunrpc.tcp_max_slot_table_entries", "/proc/sys/sunrpc/tcp_max_slot_table_entries"},
    {"sunrpc.udp_slot_table_entries", "/proc/sys/sunrpc/udp_slot_table_entries"},
    {"sunrpc.rdma_slot_table_entries", "/proc/sys/sunrpc/rdma_slot_table_entries"},
    {"nfs.max_session_slots", "/sys/module/nfs/parameters/max_session_slots"},
    {"nfs.nfs4_disable_idmapping", "/sys/module/nfs/parameters/nfs4_disable_idmapping"},
    {"vm.dirty_ratio", "/proc/sys/vm/dirty_ratio"},
    {"vm.dirty_bytes", "/proc/sys/vm/dirty_bytes"},
    {"vm.dirty_background_ratio", "/proc/sys/vm/dirty_background_ratio"},
    {"vm.dirty_background_bytes", "/proc/sys/vm/dirty_background_bytes"},
    {"net.core.rmem_max", "/proc/sys/net/core/rmem_max"},
    {"net.core.wmem_max", "/proc/sys/net/core/wmem_max"},
    {"net.ipv4.tcp_rmem", "/proc/sys/net/ipv4/tcp_rmem"},
    {"net.ipv4.tcp_wmem", "/proc/sys/net/ipv4/tcp_wmem"},
    {"net.ipv4.tcp_congestion_control", "/proc/sys/net/ipv4/tcp_congestion_control"},
};

// The modules of NFS clients, in the order in which they build on each other.
constexpr const char* kModules[] = {"sunrpc",
                                    "auth_rpcgss",
                                    "rpcsec_gss_krb5",
                                    "rpcrdma",
                                    "nfs",
                                    "nfsv3",
                                    "nfsv4",
                                    "fscache",
                                    "nfs_layout_nfsv41_files",
                                    "nfs_layout_flexfiles",
                                    "blocklayoutdriver"};

// Returns one printable line, without blanks at its ends and with single ones between its words; empty: nothing is
// left.
std::string OneLine(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = ' ';
  }
  absl::RemoveExtraAsciiWhitespace(&line);
  line.resize(std::min(line.size(), kMaxValueBytes));
  return line;
}

std::optional<std::string> ValueIn(const std::string& file) {
  const std::optional<std::string> text = ReadWholeFile(file);
  if (!text) return std::nullopt;
  std::string value = OneLine(*text);
  return value.empty() ? std::nullopt : std::optional<std::string>(std::move(value));
}

// The governors of all processors, each once: "performance", or "performance, powersave".
std::string Governors(const std::string& root) {
  std::set<std::string> governors;
  std::error_code ignored;
  for (const auto& policy :
       std::filesystem::directory_iterator(root + "/sys/devices/system/cpu/cpufreq", ignored)) {
    if (const auto governor = ValueIn(policy.path().string() + "/scaling_governor"))
      governors.insert(*governor);
  }
  return absl::StrJoin(governors, ", ");
}

// The bdi of NFS, FUSE and other mounts without a disk has the number of the mount's device; that of a partition
// belongs to the disk, one directory up.
std::optional<std::string> ReadAheadKib(dev_t device, const std::string& root) {
  const std::string number = absl::StrCat(major(device), ":", minor(device));
  for (const std::string& file : {absl::StrCat("/sys/class/bdi/", number, "/read_ahead_kb"),
                                  absl::StrCat("/sys/dev/block/", number, "/queue/read_ahead_kb"),
                                  absl::StrCat("/sys/dev/block/", number, "/../queue/read_ahead_kb")}) {
    if (auto value = ValueIn(root + file)) return value;
  }
  return std::nullopt;
}

// What makes this host's NFSv4 clients differ from those of others with its name: that of its network namespace, or the
// module's. nullopt: the name alone does.
std::optional<std::string> Nfs4UniqueId(const std::string& root) {
  const auto own = ValueIn(root + "/sys/fs/nfs/net/nfs_client/identifier");
  if (own && *own != "(null)") return own;
  return ValueIn(root + "/sys/module/nfs/parameters/nfs4_unique_id");
}

void AddNic(const Mount& mount, const std::string& root, Settings& settings) {
  const std::optional<std::string> nic = InterfaceTo(ServerAddressOf(mount));
  if (!nic) return;
  settings["nic"] = OneLine(*nic);
  if (const auto mtu = ValueIn(absl::StrCat(root, "/sys/class/net/", *nic, "/mtu")))
    settings["nic_mtu"] = *mtu;
  if (const auto speed = FactsOfNic(*nic).link_bytes_per_s) {
    settings["nic_mbit_per_s"] = absl::StrCat(*speed * 8 / 1'000'000);
  }
}

void AddNfs(const Mount& mount, const std::string& root, Settings& settings) {
  const std::vector<NfsMountCounters> mounts =
      ParseMountstats(ReadWholeFile(root + "/proc/self/mountstats").value_or(""));
  const NfsMountCounters* const counters = FindNfsMount(mounts, mount.mount_point);
  if (counters == nullptr) return;
  if (!counters->pnfs.empty()) settings["pnfs"] = OneLine(counters->pnfs);
  if (counters->lease_s) settings["lease_time"] = absl::StrCat(*counters->lease_s);
  if (!counters->connections.empty()) settings["connections"] = absl::StrCat(counters->connections.size());
}

void AddStriping(const Mount& mount, int fd, Settings& settings) {
  const auto add = [&settings](const char* name, const std::string& value) {
    settings[name] = value.empty() ? kNotAvailable : value;
  };
  const std::string& type = mount.filesystem;
  if (type == "lustre") {
    add("stripe", OneLine(LustreStriping(AttributeOf(fd, "lustre.lov").value_or(""))));
  } else if (type == "ceph" || absl::StartsWith(type, "fuse.ceph")) {
    // A directory without a layout of its own has that of the one above it, down from the root's.
    add("ceph.dir.layout", OneLine(AttributeOf(fd, "ceph.dir.layout").value_or("")));
  } else if (absl::EndsWith(type, "glusterfs")) {
    add("bricks", GlusterBricks(AttributeOf(fd, "trusted.glusterfs.pathinfo").value_or("")));
  } else if (absl::StartsWith(type, "beegfs")) {
    add("stripe", "");
  }
}

}  // namespace

std::string PreloadedLibraries(const std::string& root) {
  const char* const of_environment = std::getenv("LD_PRELOAD");
  std::string text = of_environment == nullptr ? "" : of_environment;
  if (const auto file = ReadWholeFile(root + "/etc/ld.so.preload")) absl::StrAppend(&text, " ", *file);
  std::vector<std::string> names;
  for (const absl::string_view path : absl::StrSplit(text, absl::ByAnyChar(" :\t\n"), absl::SkipEmpty())) {
    names.push_back(OneLine(std::string(path.substr(path.rfind('/') + 1))));
  }
  return absl::StrJoin(names, ", ");
}

Settings ClientSettings(const std::string& root) {
  Settings settings;
  if (std::string preloaded = PreloadedLibraries(root); !preloaded.empty()) settings["preloaded"] = preloaded;
  for (const SettingFile& setting : kClientFiles) {
    const auto value = ValueIn(root + setting.file);
    // Of vm.dirty_ratio and vm.dirty_bytes, the one that is 0 has no effect.
    const bool idle = value == "0" && absl::StartsWith(setting.name, "vm.dirty_");
    if (value && !idle) settings[setting.name] = *value;
  }
  if (auto id = Nfs4UniqueId(root)) settings["nfs.nfs4_unique_id"] = *id;
  if (std::string governors = Governors(root); !governors.empty()) settings["cpu_governor"] = governors;
  std::vector<std::string> modules;
  for (const char* const module : kModules) {
    struct stat ignored {};
    if (::stat(absl::StrCat(root, "/sys/module/", module).c_str(), &ignored) == 0)
      modules.emplace_back(module);
  }
  if (!modules.empty()) settings["nfs_modules"] = absl::StrJoin(modules, ", ");
  return settings;
}

Settings MountSettings(const Mount& mount, int fd, dev_t device, const std::string& root) {
  Settings settings;
  if (const auto kib = ReadAheadKib(device, root)) settings["read_ahead_kb"] = *kib;
  if (IsNetworkFilesystem(mount.filesystem)) AddNic(mount, root, settings);
  if (IsNfs(mount.filesystem)) AddNfs(mount, root, settings);
  AddStriping(mount, fd, settings);
  if (IsNetworkFilesystem(mount.filesystem) && !mount.root.empty() && mount.root != "/") {
    settings["mount_root"] = OneLine(mount.root);
  }
  return settings;
}

}  // namespace iobench
