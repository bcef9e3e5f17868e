// Whether the server can tell the clients apart. A Linux client introduces itself to an NFSv4.1 server as "Linux
// NFSv4.1 HOST", or "Linux NFSv4.1 ID/HOST" (fs/nfs/nfs4proc.c, nfs4_init_uniform_client_string). A server takes a
// second client with the same words for the first one, booted again, and drops all that it has open or locked
// (RFC 8881, 18.35.4), over and over. NFSv4.0 adds the client's address, NFSv3 has no such state.
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/text/display_text.h"
#include "coordinator/validate/checks/checks.h"

namespace iobench {
namespace {

// The version of an NFSv4 mount whose servers know a client by its words alone: "4.1", "4.2"; empty: it is none.
std::string SessionVersionOf(const v1::TargetFacts& seen) {
  if (!seen.filesystem().starts_with("nfs")) return "";
  for (const absl::string_view option : absl::StrSplit(seen.mount_options(), ',')) {
    if (option == "vers=4.1" || option == "vers=4.2") return std::string(option.substr(5));
  }
  return "";
}

std::string UniqueIdOf(const v1::WorkerFacts& facts) {
  const auto id = facts.settings().find("nfs.nfs4_unique_id");
  return id == facts.settings().end() ? "" : id->second;
}

}  // namespace

absl::Status CheckClientIdentity(CheckContext& context, Outcome& outcome) {
  std::map<std::string, std::vector<uint32_t>> known_as;  // worker of each client
  for (const uint32_t worker : context.one_of_each) {
    const std::string version = SessionVersionOf(context.SeenBy(worker));
    if (version.empty()) continue;
    const std::string id = UniqueIdOf(context.files.cluster().members()[worker].facts);
    known_as[absl::StrCat("Linux NFSv", version, " ", id, id.empty() ? "" : "/", context.HostOf(worker))]
        .push_back(worker);
  }
  if (known_as.empty()) {
    outcome.Skip("no client has it mounted with NFSv4.1 or 4.2, whose servers know clients by their names");
    return absl::OkStatus();
  }
  for (const auto& [words, workers] : known_as) {
    if (workers.size() < 2) continue;
    std::vector<std::string> clients;
    for (const uint32_t worker : workers) clients.push_back(context.NameOf(worker));
    outcome.Evidence(
        absl::StrCat(absl::StrJoin(clients, ", "), ": the server knows each as \"", Printable(words), "\""));
  }
  if (outcome.evidence_count() == 0) {
    outcome.Pass("the server can tell the clients apart: no two have one host name and nfs4_unique_id");
    return absl::OkStatus();
  }
  outcome.Fail(
      "clients with the same host name are one client to the server, which drops the locks and open files of one for "
      "the other",
      "give each client a host name of its own, or the nfs module of each its own nfs4_unique_id (containers: "
      "/sys/fs/nfs/net/nfs_client/identifier), and mount again");
  context.causes.insert("client-identity");
  return absl::OkStatus();
}

}  // namespace iobench
