// IOzone's list of clients (-+m FILE): a line a worker, "client directory program [path]".
#ifndef COORDINATOR_CLIENT_LIST_H_
#define COORDINATOR_CLIENT_LIST_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

struct ClientEntry {
  std::string client;     // as the remote shell knows it; the same one on several lines: several workers
  std::string directory;  // where its worker is started
  std::string program;    // cluster-iobench there, or the directory that it is in
  std::string path;       // the fourth field: what it tests; empty: `directory`

  const std::string& tested_path() const { return path.empty() ? directory : path; }
};

// Fields are separated by blanks; a line that begins with # is a comment. InvalidArgument with file, line number and
// what to do: a blank line, fewer than three fields or more than four, a client that a remote shell would take for an
// option, no client at all.
absl::StatusOr<std::vector<ClientEntry>> ParseClientList(const std::string& text,
                                                         const std::string& file_name);
absl::StatusOr<std::vector<ClientEntry>> LoadClientList(const std::string& file);

// The first `count` of them; 0: all. InvalidArgument: there are not so many.
absl::StatusOr<std::vector<ClientEntry>> FirstClients(std::vector<ClientEntry> clients, uint32_t count,
                                                      const std::string& file);

// One target for each path, with the workers that use it where they differ. Worker i has paths[i].
std::vector<v1::Target> TargetsOf(std::span<const std::string> paths);

}  // namespace iobench

#endif  // COORDINATOR_CLIENT_LIST_H_
