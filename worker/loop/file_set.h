// The files that a lane works on, and the modes to open them.
#ifndef WORKER_LOOP_FILE_SET_H_
#define WORKER_LOOP_FILE_SET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "worker/pattern/interleaved.h"

namespace iobench {

// One object of a lane: a file, or the lane's extent of a shared file. Op offsets are relative to extent_offset_bytes.
struct LaneFile {
  // Relative to the directory of the set. An absolute path is a user's file (existing_files), which is only read.
  std::string name;
  // Where the lane's extent begins; 0 unless the file is shared.
  uint64_t extent_offset_bytes = 0;
  // Size of what the lane works on: the whole file, the extent, or all records of the lane if they are interleaved.
  uint64_t bytes = 0;
  // Interleaved: the lanes' blocks alternate; a block divides `bytes`.
  Interleave interleave = {};
  uint32_t record_bytes = 0;  // divides a block; 0 unless interleaved

  bool is_interleaved() const { return interleave.count > 1; }
  // The offset after the lane's last byte.
  uint64_t end() const {
    return extent_offset_bytes + (is_interleaved() ? interleave.InFile(bytes - record_bytes) + record_bytes : bytes);
  }
  bool is_users() const { return name.starts_with('/'); }
};

// The files of one lane in one phase. `directory_fd` (PATH/cluster-iobench.data, opened with O_PATH or O_DIRECTORY)
// belongs to the phase runner and outlives all users; -1: the target is a URL. `directory` is its path, for messages.
struct FileSet {
  int directory_fd = -1;
  std::string directory;
  std::vector<LaneFile> files;
  // All lanes of the target use one file, so nobody may truncate, remove or lock it as a whole.
  bool shared = false;

  // Returns the full path of a file for messages; files are opened relative to directory_fd.
  std::string PathOf(size_t index) const {
    return files[index].is_users() ? files[index].name : directory + "/" + files[index].name;
  }
};

// The flags for open(2). Opening never truncates; the phase runner's create step creates new files.
struct OpenMode {
  bool read = false;
  bool write = false;
  bool create = false;  // O_CREAT, mode 0640
  bool direct = false;  // O_DIRECT
  bool sync = false;    // O_SYNC
  bool dsync = false;   // O_DSYNC
  bool rsync = false;   // O_RSYNC | O_SYNC, even for reading only
};

}  // namespace iobench

#endif  // WORKER_LOOP_FILE_SET_H_
