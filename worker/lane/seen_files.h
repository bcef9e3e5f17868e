// Which file each name of a run's data was in its newest phase, so that one that another process has put in its place is
// noticed.
#ifndef WORKER_LANE_SEEN_FILES_H_
#define WORKER_LANE_SEEN_FILES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "common/mutex.h"

namespace iobench {

// A phase of a run.
struct SeenIn {
  uint64_t run_id = 0;
  uint64_t phase_index = 0;
};

// Usable from any thread. Keeps what was noted in one run, the newest.
class SeenFiles {
 public:
  // Notes that in this phase `path` is the file with this number (inode number or fileid), and returns its number in the
  // phase before. nullopt: that is unknown, because no lane of this process used the file then; if another worker did, it
  // may have made it anew.
  std::optional<uint64_t> Note(const SeenIn& phase, const std::string& path, uint64_t number);

 private:
  struct Seen {
    uint64_t phase_index = 0;
    uint64_t number = 0;
    std::optional<uint64_t> before = {};  // in the phase before
  };
  Mutex mutex_;
  uint64_t run_id_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, Seen> files_ ABSL_GUARDED_BY(mutex_);
};

// The files of all lanes of this process.
SeenFiles& FilesSeenHere();

}  // namespace iobench

#endif  // WORKER_LANE_SEEN_FILES_H_
