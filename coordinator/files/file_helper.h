// The processes that make calls on files. A process with a thread that waits for a hung mount, or with a file open on one,
// cannot end: exit closes the file, which waits too, and kill -9 does not help. So the coordinator has neither.
#ifndef COORDINATOR_FILES_FILE_HELPER_H_
#define COORDINATOR_FILES_FILE_HELPER_H_

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <string>

#include "coordinator/files/file_request.h"

namespace iobench {

// From now on, helpers make the calls, with the rights, limits and current directory that this process has now. Before, and
// where no process can be started, the calls are made in this process. REQUIRES: this process has one thread.
void StartFileHelpers();
// Waits a little until the helpers have ended. One that hangs ends when its call returns. Afterwards, calls are made in this
// process again. REQUIRES: no file is open.
void EndFileHelpers();

class FileHelper;

struct HelpedAnswer {
  FileAnswer answer;
  std::shared_ptr<FileHelper> helper;  // who has made the call; null: this process
};
// Makes a call on `path`, or on a descriptor for it (`helper`: the process that has it, or null), by a helper of the mount that
// `path` is on, and waits as FilePatience says. Where one hangs that was given up, the next waits for it first, and both
// together no longer than one.
HelpedAnswer CallPatiently(FileRequest request, const std::string& path, std::shared_ptr<FileHelper> helper);

}  // namespace iobench

#endif  // COORDINATOR_FILES_FILE_HELPER_H_
