// The directory that holds a lane's files, and all work on these files outside the timed region. Everything here runs
// on the lane's thread. Errors name the file. Symbolic links are never followed, except for files that the user names.
#ifndef WORKER_LANE_LANE_FILES_H_
#define WORKER_LANE_LANE_FILES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/control.pb.h"
#include "worker/lane/seen_files.h"
#include "worker/loop/file_set.h"
#include "worker/loop/lane_context.h"
#include "worker/storage/directory.h"

namespace iobench {

// The directory of all lanes of a target, or, if the target is a URL, a connection of the lane's own.
class LaneDirectory {
 public:
  // `shared` must outlive it; null: each use connects to `target`, unless a connection is open, and checks that the
  // data there belong to `claim`.
  LaneDirectory(const Directory* shared, std::string target, v1::DataClaim claim)
      : shared_(shared), target_(std::move(target)), claim_(std::move(claim)) {}

  // Calls `step` with the directory, after connecting if necessary, and returns its status. Connection errors are those
  // of OpenClaimedDirectory; if the data there belong to another run, the error is kept as lost_claim().
  absl::Status Use(absl::FunctionRef<absl::Status(const Directory&)> step);
  // Closes the connection of the lane's own, if any; the next Use connects again.
  void CloseOwn() {
    if (own_ != nullptr) deferred_ns_ += own_->deferred_ns();
    own_.reset();
  }
  // How long calls on connections that are now closed waited because the server asked to try again later.
  int64_t deferred_ns() const { return deferred_ns_; }

  // An error if the data turned out to be another run's. Other threads may read it while the lane's thread waits.
  const absl::Status& lost_claim() const { return lost_claim_; }

 private:
  const Directory* const shared_;
  const std::string target_;
  const v1::DataClaim claim_;
  std::unique_ptr<Directory> own_;
  int64_t deferred_ns_ = 0;
  absl::Status lost_claim_;
};

// The size of the prefill's writes, unless records are larger.
inline constexpr uint32_t kPrefillRecordBytes = 1 << 20;

enum class FileBlocks {
  kAllocatedByWrites,
  kPreallocated,  // the files have all blocks and their full size from the beginning
};
// What happens to files that exist already: -+N keeps them and overwrites them in place.
enum class OldFiles { kReplaced, kKept };

// Creates new, empty files, replacing those of an earlier phase, unless `old` keeps them as they are. A shared file
// is created only if it is missing, since the coordinator removes the old one once for all lanes. With kPreallocated,
// ResourceExhausted: not enough space; Unimplemented: the file system cannot do it.
absl::Status CreateFiles(const Directory& directory, const FileSet& files,
                         FileBlocks blocks = FileBlocks::kAllocatedByWrites,
                         OldFiles old = OldFiles::kReplaced);

// FailedPrecondition: a file is missing or incomplete; the message says which and how.
absl::Status CheckDataExist(const Directory& directory, const FileSet& files);

// Writes missing or short files and flushes them. It also writes the lane's extent of a shared file if that has a hole;
// if this is unknown, only if the extent ends with zeros. An interleaved lane writes only its own records, and only if
// the last of them is missing. Returns the number of bytes written. Cancelled: `quit` was set. FailedPrecondition: not
// a regular file.
//
// `piece_bytes`: size of each write, for which the payload must have been created.
absl::StatusOr<uint64_t> Prefill(const Directory& directory, const FileSet& files, Payload& payload,
                                 const StopCell& quit, uint32_t piece_bytes = kPrefillRecordBytes);

// Of the bytes that earlier phases of the run have written to the lane's files, those that are not there any more.
struct LostBytes {
  uint64_t bytes = 0;  // in all files; 0: nothing is lost
  // Of the first file that lacks some.
  size_t file_index = 0;
  bool exists = false;
  uint64_t offset = 0;  // where the lost bytes begin in it …
  uint64_t end = 0;     // … and end
};
// Compares the files with the first `written_bytes` of the lane, by their lengths.
absl::StatusOr<LostBytes> FindLostBytes(const Directory& directory, const FileSet& files,
                                        uint64_t written_bytes);

// Of the lane's files, the first that is another one than in the phase before, although nobody but the lanes that are known
// here may have made it anew.
struct ReplacedFile {
  size_t file_index = 0;
  uint64_t before = 0;  // its number (NodeFacts.number) in that phase
  NodeFacts now;
};
// Also remembers the files for the next phase. nullopt: there is none, or the file system does not keep numbers.
absl::StatusOr<std::optional<ReplacedFile>> FindReplaced(const Directory& directory, const FileSet& files,
                                                         const SeenIn& phase);

// The same files, but of each only what belongs to the first `lane_bytes` of the lane; 0: all.
FileSet FirstBytesOf(const FileSet& files, uint64_t lane_bytes);

// Flushes the lane's parts of the files, piece by piece, until `quit` is set. NotFound: a file is missing.
absl::Status FlushFiles(const Directory& directory, const FileSet& files, const StopCell& quit);

// Returns how many bytes of the lane's parts of the files are in this host's memory. Unimplemented: unknown.
absl::StatusOr<uint64_t> ResidentBytes(const Directory& directory, const FileSet& files);

// Sums up what the lane's parts of the files hold besides data that are stored as they are. Unimplemented: unknown.
absl::StatusOr<Unstored> UnstoredIn(const Directory& directory, const FileSet& files);

// Returns which storage targets hold the lane's parts of the files, if the file system says it of all of them: a part that is
// left out would have its rate counted for the others. Empty: it does not, or they are on more than kMaxPlaces targets in
// all, so that no target has a rate of its own.
inline constexpr size_t kMaxPlaces = 32;
std::vector<v1::FilePlace> PlacesOf(const Directory& directory, const FileSet& files);

// True if the directory itself has been removed since it was opened.
bool IsRemoved(int directory_fd);

// Drops this host's cached pages of the files, after flushing dirty ones. Missing files are not an error.
absl::Status ForgetPages(const Directory& directory, const FileSet& files);

}  // namespace iobench

#endif  // WORKER_LANE_LANE_FILES_H_
