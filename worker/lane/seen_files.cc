#include "worker/lane/seen_files.h"

namespace iobench {

std::optional<uint64_t> SeenFiles::Note(const SeenIn& phase, const std::string& path, uint64_t number) {
  MutexLock lock(mutex_);
  if (phase.run_id != run_id_) files_.clear();
  run_id_ = phase.run_id;
  const auto [at, is_new] = files_.try_emplace(path, Seen{phase.phase_index, number});
  Seen& seen = at->second;
  if (is_new) return std::nullopt;
  // Several lanes may share a file, and a phase may be prepared again.
  if (seen.phase_index != phase.phase_index) {
    seen.before = seen.phase_index + 1 == phase.phase_index ? std::optional(seen.number) : std::nullopt;
    seen.phase_index = phase.phase_index;
  }
  seen.number = number;
  return seen.before;
}

SeenFiles& FilesSeenHere() {
  static SeenFiles files;
  return files;
}

}  // namespace iobench
