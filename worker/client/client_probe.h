// Determines facts about a worker's client and the targets before a run. Changes nothing.
#ifndef WORKER_CLIENT_CLIENT_PROBE_H_
#define WORKER_CLIENT_CLIENT_PROBE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/result.pb.h"
#include "worker/client/worker_options.h"
#include "worker/storage/directory.h"

namespace iobench {

// Returns host, usable processors, memory, clock and costs. Measuring the costs takes some milliseconds, once per
// process.
v1::WorkerFacts ProbeWorker(const WorkerOptions& options);

// Inspects a target, which is a directory or a URL: whether it is usable (`problem`), its file system, and the run that
// owns its data. May block as long as the file system does. Changes nothing. `boot_id` distinguishes local file systems
// of different clients.
v1::TargetFacts ProbeTarget(const std::string& path, const std::string& boot_id);

// Adds the identity of a target's directory and the run that owns the data in it. Changes nothing.
absl::Status DescribeData(const Directory& directory, v1::TargetFacts& target);

// Returns the size of a user's file that will be read, or why it cannot be read. Opens and closes it.
v1::ExistingFile ProbeExistingFile(const std::string& path);

// Returns what this process may use now: descriptors, file size, memory, lanes.
v1::WorkerLimits LimitsOfThisWorker();

// Returns the absolute path of the directory that the user means by naming either a directory or, as in IOzone's client
// lists, a file in it, which need not exist. If neither interpretation exists, or for a URL, returns `given` unchanged;
// ProbeTarget then checks it.
std::string DirectoryToWorkIn(const std::string& given);

// Returns the number of processors that this process may use, at least 1.
uint32_t UsableProcessors();

}  // namespace iobench

#endif  // WORKER_CLIENT_CLIENT_PROBE_H_
