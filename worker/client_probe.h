// What a worker can say of its client and of the targets, before anything is moved.
#ifndef WORKER_CLIENT_PROBE_H_
#define WORKER_CLIENT_PROBE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/result.pb.h"
#include "worker/storage/directory.h"
#include "worker/worker_service.h"

namespace iobench {

// Host, processors this process may use, memory, clock and costs. The costs take some milliseconds, once per process.
v1::WorkerFacts ProbeWorker(const WorkerOptions& options);

// What is at the target, a directory or a URL: whether it can be used (`problem`), its file system, whose data are
// there. Blocks as long as the file system does; changes nothing. `boot_id` makes local file systems of different
// clients differ.
v1::TargetFacts ProbeTarget(const std::string& path, const std::string& boot_id);

// Which directory a target is, and whose data are in it. Changes nothing.
absl::Status DescribeData(const Directory& directory, v1::TargetFacts& target);

// A file of the user's that shall be read: its size, or why it cannot be. Opened, and closed again.
v1::ExistingFile ProbeExistingFile(const std::string& path);

// The directory that a user means who names it, or a file in it as IOzone's lists of clients do, whether there is
// such a file or not; absolute. What does not exist either way is given back as it is, and so is a URL: ProbeTarget
// looks at it.
std::string DirectoryToWorkIn(const std::string& given);

// Processors that this process may run on, at least 1.
uint32_t UsableProcessors();

}  // namespace iobench

#endif  // WORKER_CLIENT_PROBE_H_
