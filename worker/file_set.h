// The files a lane works on, and how they are opened.
#ifndef WORKER_FILE_SET_H_
#define WORKER_FILE_SET_H_

#include <cstdint>
#include <string>
#include <vector>

namespace iobench {

// One object of a lane: a file, or the lane's extent of a shared one. Op offsets count from extent_offset_bytes.
struct LaneFile {
  std::string name;  // below the directory; absolute: a file of the user's, which is only read
  uint64_t extent_offset_bytes = 0;  // 0 unless shared
  uint64_t bytes = 0;
  // Interleaved: the records of the file are taken in turns, and every turns-th of them is this lane's.
  uint64_t turns = 1;
  uint32_t record_bytes = 0;  // `bytes` are a multiple of it; 0 unless interleaved

  bool is_interleaved() const { return turns > 1; }
  // Behind the last byte of the lane.
  uint64_t end() const { return extent_offset_bytes + (bytes - record_bytes) * turns + record_bytes; }
  bool is_users() const { return name.starts_with('/'); }
};

// `directory_fd` (PATH/cluster-iobench.data, O_PATH or O_DIRECTORY) belongs to the phase runner and outlives every
// user; -1 where the target is a URL. `directory` is its path, for messages.
struct FileSet {
  int directory_fd = -1;
  std::string directory;
  std::vector<LaneFile> files;
  bool shared = false;

  std::string PathOf(size_t index) const {
    return files[index].is_users() ? files[index].name : directory + "/" + files[index].name;
  }
};

// What open(2) gets. Nothing is truncated at open: new files are made by the phase runner's create step.
struct OpenMode {
  bool read = false;
  bool write = false;
  bool create = false;  // O_CREAT, mode 0640
  bool direct = false;  // O_DIRECT
  bool sync = false;    // O_SYNC
  bool dsync = false;   // O_DSYNC
  bool rsync = false;   // O_RSYNC | O_SYNC, also where only read
};

}  // namespace iobench

#endif  // WORKER_FILE_SET_H_
