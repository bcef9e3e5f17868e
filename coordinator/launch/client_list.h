// IOzone's client list (-+m FILE): one line per worker, "client directory program [path]".
#ifndef COORDINATOR_LAUNCH_CLIENT_LIST_H_
#define COORDINATOR_LAUNCH_CLIENT_LIST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/launch/host_list.h"

namespace iobench {

// One line of the list: one worker.
struct ClientEntry {
  std::string client;     // host name for the remote shell; several lines with the same name: several workers
  std::string directory;  // where its worker is started
  std::string program;    // path of cluster-iobench there, or its directory
  std::string path;       // optional fourth field: the path to test; empty: `directory`

  const std::string& tested_path() const { return path.empty() ? directory : path; }
};

// Returns the host that the remote shell is told: a client may have a user ("user@node7"), but no port.
HostEntry HostOfClient(const ClientEntry& entry);

// Fields are separated by blanks; a field that begins with # begins a comment. InvalidArgument, whose message has one line for
// each fault, with file, line number and what to do: a blank line, fewer than three or more than four fields, a client
// whose name no host can have (CheckHostName), a line that is not UTF-8 or has control characters, or no clients.
// LoadClientList also fails if the file cannot be read or is larger than 16 MiB.
absl::StatusOr<std::vector<ClientEntry>> ParseClientList(const std::string& text,
                                                         const std::string& file_name);
absl::StatusOr<std::vector<ClientEntry>> LoadClientList(const std::string& file);

// Returns the first `count` clients; 0: all. InvalidArgument: there are fewer. `file`: the list's name, for the
// message.
absl::StatusOr<std::vector<ClientEntry>> FirstClients(std::vector<ClientEntry> clients, uint32_t count,
                                                      const std::string& file);

}  // namespace iobench

#endif  // COORDINATOR_LAUNCH_CLIENT_LIST_H_
