// Lists of hosts (--hosts, @FILE) and IOzone's client lists (-+m): refused with a reason that can be printed, or a list
// of hosts, none of which the remote shell takes for an option.
#include "coordinator/launch/host_list.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/model/plan_targets.h"
#include "common/text/utf8.h"
#include "coordinator/launch/client_list.h"
#include "tests/fuzz/fuzz_target.h"

using namespace iobench;

namespace {

void CheckRefusal(const absl::Status& status) {
  Require(absl::IsInvalidArgument(status), "a bad list is InvalidArgument, not " + status.ToString());
  Require(!status.message().empty() && IsUtf8(std::string(status.message())), "a refusal can be printed");
}

void CheckHost(const std::string& host) {
  Require(!host.empty() && host[0] != '-' && IsUtf8(host), "\"" + host + "\" is a host");
  for (const char c : host) Require(static_cast<unsigned char>(c) > ' ', "a host has no blanks: " + host);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text = TextOf(data, size);
  for (const bool is_file : {false, true}) {
    const absl::StatusOr<std::vector<HostEntry>> hosts = ParseHostList(text, "--hosts", is_file);
    if (!hosts.ok()) {
      CheckRefusal(hosts.status());
      continue;
    }
    const uint32_t workers = WorkersOn(*hosts);
    Require(workers > 0 && workers <= kMaxListedWorkers, "a list has 1 to 100,000 workers");
    for (const HostEntry& entry : *hosts) {
      CheckHost(entry.host);
      Require(entry.slots > 0 && entry.port < 65536, entry.ToText() + " has slots and a port");
    }
  }
  const absl::StatusOr<std::vector<ClientEntry>> clients = ParseClientList(text, "clients");
  if (!clients.ok()) {
    CheckRefusal(clients.status());
    return 0;
  }
  std::vector<std::string> paths;
  for (const ClientEntry& entry : *clients) {
    CheckHost(entry.client);
    Require(!entry.program.empty() && !entry.tested_path().empty(), "a client has a program and a path");
    paths.push_back(entry.tested_path());
  }
  Require(!TargetsOf(paths).empty(), "a list has targets");
  return 0;
}
