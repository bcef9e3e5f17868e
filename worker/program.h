// Another program of the system, run to its end.
#ifndef WORKER_PROGRAM_H_
#define WORKER_PROGRAM_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace iobench {

// `arguments`: its name, which is looked for in PATH, and what it is given; it reads nothing. Blocks; signals that this
// process gets meanwhile do not end the wait. Not OK: it could not be started (the errno's status), or it ended
// otherwise than well (Internal), with the first of what it said on either output, as one line.
absl::Status RunProgram(std::vector<std::string> arguments);

}  // namespace iobench

#endif  // WORKER_PROGRAM_H_
