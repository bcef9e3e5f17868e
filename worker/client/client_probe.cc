#include "worker/client/client_probe.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/host_identity.h"
#include "common/net/nfs_url.h"
#include "common/open_file_limit.h"
#include "common/proc_file.h"
#include "common/process/cgroup_limits.h"
#include "common/process/thread_limit.h"
#include "common/process/usable_memory.h"
#include "common/status_util.h"
#include "common/text/file_kind.h"
#include "common/text/utf8.h"
#include "common/unique_fd.h"
#include "common/version.h"
#include "worker/client/binding.h"
#include "worker/client/client_settings.h"
#include "worker/client/mountstats.h"
#include "worker/client/nfs_probe.h"
#include "worker/client/processor_caches.h"
#include "worker/data_directory/claimant.h"
#include "worker/data_directory/data_directory.h"
#include "worker/engine/io_engine.h"
#include "worker/rights/worker_rights.h"
#include "worker/storage/local_directory.h"
#include "worker/storage/mounts.h"
#include "worker/storage/open_target.h"

namespace iobench {
namespace {

constexpr uint32_t kDefaultBlockBytes = 512;

// Without a kernel boot id, hosts are distinguished by name.
std::string ClientId() {
  const std::string boot_id = BootId();
  return boot_id.empty() ? HostName() : boot_id;
}

struct Costs {
  double clock_read_ns;
  double loop_ns;
};

const Costs& MeasuredCosts() {
  static const Costs costs = [] {
    const double clock_read_ns = MeasureClockReadNs(ChosenTickSource());
    return Costs{clock_read_ns, MeasureLoopNs(ChosenTickSource(), clock_read_ns)};
  }();
  return costs;
}

std::optional<uint32_t> BlockSizeIn(const std::string& directory) {
  const std::optional<std::string> text = ReadWholeFile(directory + "/queue/logical_block_size");
  uint32_t bytes = 0;
  if (!text || !absl::SimpleAtoi(*text, &bytes) || bytes == 0) return std::nullopt;
  return bytes;
}

// A partition has no queue of its own; its disk (the parent directory) has.
uint32_t LogicalBlockBytes(int fd, dev_t device) {
#ifdef STATX_DIOALIGN
  struct statx facts {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &facts) == 0 && (facts.stx_mask & STATX_DIOALIGN) != 0 &&
      facts.stx_dio_offset_align != 0) {
    return facts.stx_dio_offset_align;
  }
#else
  (void)fd;
#endif
  const std::string directory = absl::StrCat("/sys/dev/block/", major(device), ":", minor(device));
  if (const auto bytes = BlockSizeIn(directory)) return *bytes;
  return BlockSizeIn(directory + "/..").value_or(kDefaultBlockBytes);
}

// A server under a loopback name is a different one on each host.
bool IsLoopbackSource(std::string_view source) {
  const absl::string_view text(source.data(), source.size());
  return absl::StartsWith(text, "localhost:") || absl::StartsWith(text, "127.") ||
         absl::StartsWith(text, "[::1]") || absl::StartsWith(text, "::1:") ||
         absl::StartsWith(text, "//localhost/") || absl::StartsWith(text, "//127.");
}

// Says what is there in place of a directory.
absl::Status NoDirectory(const std::string& path) {
  const auto there = RightsOfThisWorker().paths.Open(absl::StrCat("look at ", path), path, O_PATH);
  struct stat facts {};
  if (!there.ok() || ::fstat(there->get(), &facts) != 0) {  // a part of the path before its last one
    return absl::InvalidArgumentError(absl::StrCat(path, " is not a directory: give --path an existing directory"));
  }
  const char* const what_to_do =
      S_ISBLK(facts.st_mode)
          ? "raw devices are not supported, since a run creates, locks and removes files: make a file system on it, mount "
            "that, and give --path a directory in it"
          : "give --path an existing directory";
  return absl::InvalidArgumentError(
      absl::StrCat(path, " is not a directory, but ", std::string(KindOfFile(facts.st_mode)), ": ", what_to_do));
}

// Opens a target, because this mounts it if it is mounted on demand.
absl::StatusOr<UniqueFd> OpenToLook(const std::string& path) {
  auto fd = RightsOfThisWorker().paths.Open(absl::StrCat("look at ", path), path, O_PATH | O_DIRECTORY);
  const int error = ErrnoOf(fd.status());
  if (error == ENOENT) {
    return ErrnoStatus(absl::StrCat(path, " does not exist: create it or choose another --path"), error);
  }
  if (error == ENOTDIR) return NoDirectory(path);
  return fd;
}

absl::Status CheckUsable(int fd, const std::string& path) {
  if (::faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) == 0) return absl::OkStatus();
  const int error = errno;
  if (error == EROFS) return ErrnoStatus(absl::StrCat(path, " is mounted read-only"), error);
  // An NFS server that exports read-only answers ACCESS as if rights were missing. Only a call that changes something gets
  // its EROFS; this one sets the mode that the directory has.
  struct stat facts {};
  const bool is_refused = error == EACCES && ::fstat(fd, &facts) == 0 && ::fchmodat(fd, ".", facts.st_mode & 07777, 0) != 0;
  if (is_refused && errno == EROFS) return ErrnoStatus(absl::StrCat(path, " is read-only on its server"), EROFS);
  return ErrnoStatus(absl::StrCat(path, " is not writable"), error);
}

void DescribeMount(int fd, const std::string& path, const struct stat& facts, const std::string& boot_id,
                   v1::TargetFacts& target) {
  const Mount mount = FileSystemOf(ReadWholeFile("/proc/self/mountinfo").value_or(""), fd, path);
  target.set_filesystem(mount.filesystem);
  target.set_mount_source(AsUtf8(mount.source));
  target.set_mount_options(AsUtf8(mount.options));
  target.set_mount_point(AsUtf8(mount.mount_point));
  target.set_network(IsNetworkFilesystem(mount.filesystem));
  if (IsNfs(mount.filesystem)) {
    const auto mounts = ParseMountstats(ReadWholeFile("/proc/self/mountstats").value_or(""));
    if (const NfsMountCounters* const counters = FindNfsMount(mounts, mount.mount_point)) {
      for (std::string& name : ConnectionNames(*counters, mount.options)) target.add_connections(std::move(name));
    }
  }
  target.set_memory(KeepsDataInMemory(mount));
  target.set_device(facts.st_dev);
  // Without a source, as in a chroot, nothing shows that another host has the same file system.
  if (!target.network() || target.mount_source().empty()) {
    target.set_filesystem_id(absl::StrCat(major(facts.st_dev), ":", minor(facts.st_dev)));
    target.set_boot_id(boot_id);
  } else {
    target.set_filesystem_id(target.mount_source());
    if (IsLoopbackSource(target.mount_source())) target.set_boot_id(boot_id);
  }
  if (const absl::StatusOr<v1::Space> space = SpaceAt(fd, path); space.ok()) {
    *target.mutable_space() = *space;
    if (space->total_bytes() > 0) target.set_free_bytes(space->available_bytes());
  }
  target.set_logical_block_bytes(LogicalBlockBytes(fd, facts.st_dev));
  for (const auto& [name, value] : MountSettings(mount, fd, facts.st_dev)) {
    (*target.mutable_settings())[name] = value;
  }
}

}  // namespace

uint32_t UsableProcessors() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (::sched_getaffinity(0, sizeof(usable), &usable) == 0) {
    return static_cast<uint32_t>(std::max(1, CPU_COUNT(&usable)));
  }
  // More processors than the set can hold.
  return static_cast<uint32_t>(std::max<long>(1, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

v1::WorkerFacts ProbeWorker(const WorkerOptions& options) {
  v1::WorkerFacts facts;
  facts.set_program_version(kProgramVersion);
  facts.set_host(options.host_override.empty() ? HostName() : options.host_override);
  facts.set_boot_id(options.boot_id_override.empty() ? ClientId() : options.boot_id_override);
  facts.set_pid(::getpid());
  struct stat pid_namespace {};
  if (::stat("/proc/self/ns/pid", &pid_namespace) == 0) facts.set_pid_namespace(pid_namespace.st_ino);
  facts.set_processors(UsableProcessors());
  facts.set_processor_mask(UsableProcessorMask());
  facts.set_host_processors(static_cast<uint32_t>(std::max<long>(0, ::sysconf(_SC_NPROCESSORS_ONLN))));
  for (const auto& [group, quota] : ReadCpuQuotas()) {
    if (!facts.has_cpu_quota_processors() || quota.processors < facts.cpu_quota_processors())
      facts.set_cpu_quota_processors(quota.processors);
  }
  const UsableMemory memory = MemoryOfThisProcess();
  facts.set_host_memory_bytes(memory.host_bytes);
  facts.set_memory_bytes(memory.bytes);
  facts.set_memory_group(memory.group);
  const ProcessorCaches caches = CachesOfThisHost();
  facts.set_l2_cache_bytes(caches.l2_bytes);
  facts.set_l3_cache_bytes(caches.l3_bytes);
  struct utsname kernel {};
  if (::uname(&kernel) == 0) facts.set_kernel(absl::StrCat(kernel.sysname, " ", kernel.release));
  for (const auto& [name, value] : ClientSettings()) (*facts.mutable_settings())[name] = value;
  facts.set_clock(NameOf(ChosenTickSource()));
  if (options.measure_costs) {
    facts.set_clock_read_ns(MeasuredCosts().clock_read_ns);
    facts.set_loop_ns(MeasuredCosts().loop_ns);
  }
  facts.set_client_list_position(options.client_list_position);
  facts.set_sampler(options.sampler);
  facts.set_server(options.server);
  facts.set_path(options.path);
  return facts;
}

v1::WorkerLimits LimitsOfThisWorker() {
  const WorkerRights& rights = RightsOfThisWorker();
  v1::WorkerLimits limits;
  if (const uint64_t files = OpenFileLimit(); files != UINT64_MAX) limits.set_open_files(files);
  rlimit file_size{};
  if (::getrlimit(RLIMIT_FSIZE, &file_size) == 0 && file_size.rlim_cur != RLIM_INFINITY) {
    limits.set_file_bytes(file_size.rlim_cur);
  }
  limits.set_available_memory_bytes(AvailableMemoryBytes());
  limits.set_max_memory_bytes(rights.max_memory_bytes);
  limits.set_max_lanes(rights.max_lanes);
  if (const ThreadLimit threads = ThreadLimitOfThisProcess(); threads.left != UINT64_MAX) {
    limits.set_threads_left(std::max<uint64_t>(threads.left, 1));
    limits.set_threads_limit(absl::StrCat(threads.name, ": ", threads.advice));
    limits.set_threads_shared_by(threads.shared_by);
  }
  if (const uint64_t left_bytes = AddressSpaceLeft(); left_bytes != UINT64_MAX) {
    limits.set_address_space_left_bytes(std::max<uint64_t>(left_bytes, 1));
  }
  return limits;
}

std::string DirectoryToWorkIn(const std::string& given) {
  if (IsNfsUrl(given)) return given;
  std::error_code ignored;
  const std::filesystem::path path = std::filesystem::absolute(given, ignored).lexically_normal();
  const bool ends_in_slash = !path.has_filename() && path != path.root_path();
  const std::filesystem::path directory = ends_in_slash ? path.parent_path() : path;
  if (std::filesystem::is_directory(directory, ignored)) return directory.string();
  const std::filesystem::path parent = directory.parent_path();
  return std::filesystem::is_directory(parent, ignored) ? parent.string() : directory.string();
}

v1::ExistingFile ProbeExistingFile(const std::string& path) {
  v1::ExistingFile file;
  const auto problem = [&](const absl::Status& status) {
    *file.mutable_problem() = ToProblem(status);
    file.mutable_problem()->set_file(path);
    return file;
  };
  const auto fd =
      RightsOfThisWorker().paths.Open(absl::StrCat("existing file ", path), path, O_RDONLY | O_NONBLOCK);
  if (!fd.ok()) return problem(fd.status());
  struct stat facts {};
  if (::fstat(fd->get(), &facts) != 0) return problem(ErrnoStatus(absl::StrCat("look at ", path), errno));
  if (!S_ISREG(facts.st_mode)) {
    return problem(
        absl::InvalidArgumentError(absl::StrCat("existing file ", path, " is not a regular file")));
  }
  file.set_bytes(static_cast<uint64_t>(facts.st_size));
  return file;
}

absl::Status DescribeData(const Directory& directory, v1::TargetFacts& target) {
  IOBENCH_ASSIGN_OR_RETURN(const DataDirectoryLook look, InspectDataIn(directory));
  if (look.manifest) {
    *target.mutable_manifest() = *look.manifest;
    target.set_owner(OwnerOf(*look.manifest));
    if (target.owner() == v1::TargetFacts::ALIVE) target.set_owner_pid(AlivePidOf(*look.manifest));
  }
  target.set_data_directory_number(look.number);
  IOBENCH_ASSIGN_OR_RETURN(const DirectoryIdentity identity, directory.Identity());
  target.set_directory_number(identity.number);
  target.set_directory_changed_ns(identity.changed_ns);
  target.set_foreign_data(look.foreign);
  return absl::OkStatus();
}

v1::TargetFacts ProbeTarget(const std::string& path, const std::string& boot_id) {
  if (IsNfsUrl(path)) return ProbeNfsTarget(path, boot_id);
  v1::TargetFacts target;
  const auto problem = [&](const absl::Status& status) {
    *target.mutable_problem() = ToProblem(status);
    target.mutable_problem()->set_file(path);
    return target;
  };
  const absl::StatusOr<UniqueFd> fd = OpenToLook(path);
  if (!fd.ok()) return problem(fd.status());
  struct stat facts {};
  if (::fstat(fd->get(), &facts) != 0) return problem(ErrnoStatus(absl::StrCat("look at ", path), errno));
  DescribeMount(fd->get(), path, facts, boot_id, target);
  if (const absl::Status usable = CheckUsable(fd->get(), path); !usable.ok()) return problem(usable);
  auto directory = OpenTarget(path);
  absl::Status status = directory.status();
  if (status.ok()) status = DescribeData(**directory, target);
  return status.ok() ? target : problem(status);
}

}  // namespace iobench
