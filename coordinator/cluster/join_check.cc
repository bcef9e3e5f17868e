#include "coordinator/cluster/join_check.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/host_name.h"

namespace iobench {
namespace {

constexpr size_t kMaxWordBytes = 128;   // versions, clocks, boot ids
constexpr size_t kMaxLineBytes = 1024;  // what the kernel reports about itself
constexpr size_t kMaxPathBytes = 4096;
constexpr size_t kMaxSettings = 64;
constexpr uint32_t kMaxProcessors = 65'536;  // Linux has at most 8,192
constexpr uint64_t kMaxMemoryBytes = uint64_t{1} << 56;
constexpr int64_t kMaxPid = int64_t{1} << 31;
constexpr double kMaxCostNs = 1e9;
constexpr int kMaxNfsVersions = 16;
constexpr int kMaxExports = 100;  // a sampler sends no more (worker/sampler/nfs_server_setup.cc)

absl::Status CheckText(const char* what, const std::string& text, size_t max_bytes) {
  if (text.size() > max_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("its ", what, " has ", text.size(), " bytes, and at most ", max_bytes, " are possible"));
  }
  const bool has_control = std::any_of(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
  if (!has_control) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("its ", what, " has control characters"));
}

absl::Status CheckSettings(const google::protobuf::Map<std::string, std::string>& settings) {
  if (settings.size() > kMaxSettings) {
    return absl::InvalidArgumentError(absl::StrCat("it has ", settings.size(), " settings"));
  }
  for (const auto& [name, value] : settings) {
    IOBENCH_RETURN_IF_ERROR(CheckText("name of a setting", name, kMaxWordBytes));
    IOBENCH_RETURN_IF_ERROR(CheckText("setting", value, kMaxLineBytes));
  }
  return absl::OkStatus();
}

absl::Status CheckNumber(const char* what, double value, double max) {
  if (std::isfinite(value) && value >= 0 && value <= max) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("its ", what, " cannot be ", value));
}

absl::Status CheckNfsServer(const v1::NfsServerSetup& setup) {
  if (setup.versions_size() > kMaxNfsVersions || setup.exports_size() > kMaxExports) {
    return absl::InvalidArgumentError(absl::StrCat("its NFS server has ", setup.versions_size(), " versions and ",
                                                   setup.exports_size(), " exports"));
  }
  for (const std::string& version : setup.versions())
    IOBENCH_RETURN_IF_ERROR(CheckText("NFS version", version, kMaxWordBytes));
  for (const v1::NfsExport& exported : setup.exports()) {
    IOBENCH_RETURN_IF_ERROR(CheckText("export", exported.path(), kMaxPathBytes));
    for (const std::string* const text : {&exported.clients(), &exported.options(), &exported.filesystem()})
      IOBENCH_RETURN_IF_ERROR(CheckText("export", *text, kMaxLineBytes));
    IOBENCH_RETURN_IF_ERROR(CheckText("export", exported.device(), kMaxPathBytes));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckFacts(const v1::WorkerFacts& facts, const std::string& version, uint32_t worker_count) {
  // A host need not have a name.
  const absl::Status possible = facts.host().empty() ? absl::OkStatus() : CheckHostName(facts.host());
  if (!possible.ok()) return absl::InvalidArgumentError(absl::StrCat("its host name ", possible.message()));
  IOBENCH_RETURN_IF_ERROR(CheckText("version", facts.program_version(), kMaxWordBytes));
  if (facts.program_version() != version) {
    return absl::FailedPreconditionError(absl::StrCat(
        "worker on ", facts.host(), " is version ", facts.program_version(), ", the coordinator is ", version,
        " (after the + comes a fingerprint of the sources): install the same cluster-iobench on both"));
  }
  IOBENCH_RETURN_IF_ERROR(CheckText("boot id", facts.boot_id(), kMaxWordBytes));
  IOBENCH_RETURN_IF_ERROR(CheckText("clock", facts.clock(), kMaxWordBytes));
  IOBENCH_RETURN_IF_ERROR(CheckText("kernel", facts.kernel(), kMaxLineBytes));
  IOBENCH_RETURN_IF_ERROR(CheckText("path", facts.path(), kMaxPathBytes));
  if (facts.processor_mask().size() > kMaxProcessors / 8) {
    return absl::InvalidArgumentError(
        absl::StrCat("its processor mask has ", facts.processor_mask().size(), " bytes"));
  }
  IOBENCH_RETURN_IF_ERROR(CheckNumber("number of processors", facts.processors(), kMaxProcessors));
  IOBENCH_RETURN_IF_ERROR(
      CheckNumber("memory", static_cast<double>(facts.memory_bytes()), static_cast<double>(kMaxMemoryBytes)));
  IOBENCH_RETURN_IF_ERROR(CheckNumber("memory of its host", static_cast<double>(facts.host_memory_bytes()),
                                      static_cast<double>(kMaxMemoryBytes)));
  IOBENCH_RETURN_IF_ERROR(CheckNumber("processors of its host", facts.host_processors(), kMaxProcessors));
  IOBENCH_RETURN_IF_ERROR(CheckNumber("CPU quota", facts.cpu_quota_processors(), kMaxProcessors));
  IOBENCH_RETURN_IF_ERROR(
      CheckNumber("process id", static_cast<double>(facts.pid()), static_cast<double>(kMaxPid)));
  IOBENCH_RETURN_IF_ERROR(CheckNumber("cost of reading its clock", facts.clock_read_ns(), kMaxCostNs));
  IOBENCH_RETURN_IF_ERROR(CheckNumber("cost of an op", facts.loop_ns(), kMaxCostNs));
  IOBENCH_RETURN_IF_ERROR(CheckSettings(facts.settings()));
  IOBENCH_RETURN_IF_ERROR(CheckNfsServer(facts.nfs_server()));
  if (facts.client_list_position() > worker_count) {
    return absl::InvalidArgumentError(absl::StrCat("its position in the client list is ",
                                                   facts.client_list_position(), ", but the run has ",
                                                   worker_count, worker_count == 1 ? " worker" : " workers"));
  }
  return absl::OkStatus();
}

}  // namespace iobench
