// An open file on a mounted file system.
#ifndef WORKER_STORAGE_LOCAL_FILE_H_
#define WORKER_STORAGE_LOCAL_FILE_H_

#include <sys/stat.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/unique_fd.h"
#include "worker/storage/directory.h"

namespace iobench {

// Converts the result of a stat call. allocated_bytes comes from st_blocks, which counts 512 bytes each.
NodeFacts FactsFrom(const struct stat& facts);

// A descriptor of a regular file. All calls pass their own offset, and continue after signals and short transfers.
// Comments below only add to the contract of File.
class LocalFile final : public File {
 public:
  // Opens a regular file with openat(2); a new one has mode 0640. `path` is for messages. Does not wait for a FIFO.
  // FailedPrecondition: not a regular file, or a symbolic link if `flags` has O_NOFOLLOW. Otherwise the status of the
  // errno.
  static absl::StatusOr<std::unique_ptr<File>> Open(int directory_fd, const std::string& name, int flags,
                                                    std::string path);
  // Takes over a descriptor. FailedPrecondition: not of a regular file.
  static absl::StatusOr<std::unique_ptr<File>> From(UniqueFd fd, std::string path);

  LocalFile(std::string path, UniqueFd fd) : File(std::move(path)), fd_(std::move(fd)) {}

  absl::StatusOr<NodeFacts> Facts() override;
  absl::StatusOr<size_t> ReadAt(uint64_t offset, std::span<std::byte> into) override;
  absl::Status WriteAt(uint64_t offset, std::span<const std::byte> data) override;
  absl::Status Sync() override;
  absl::Status WriteBackPart(WriteBack part, uint64_t offset, uint64_t bytes) override;
  // Asks with SEEK_HOLE. NFS before 4.2 reports no holes, so on NFS the number of allocated blocks is compared too.
  absl::StatusOr<Holes> HolesIn(uint64_t begin, uint64_t end) override;
  // Asks the file's extents (extents.h). NFS before 4.2 reports no holes, so there a file with fewer blocks than bytes
  // counts as compressed. Nothing is asked about our own files on NFS: it would flush them, and servers may tell late
  // which blocks a new file has.
  absl::StatusOr<Unstored> UnstoredIn(uint64_t begin, uint64_t end, WrittenBy writer) override;
  std::vector<std::string> StorageTargets(uint64_t begin, uint64_t end) override;
  // Calls fallocate(2), never posix_fallocate(3), which would write data where the file system cannot allocate.
  absl::Status Allocate(uint64_t offset, uint64_t bytes) override;
  void ExpectScatteredReads() override;
  absl::Status ForgetPages() override;
  // Maps the file and asks mincore(2), which loads no page. If an NFS file has any, reads one byte, so that the client
  // drops pages that another client has made obsolete, and asks again. Unimplemented: the user neither owns
  // the file nor may write it, so the kernel hides which pages are in memory.
  absl::StatusOr<uint64_t> ResidentBytes(uint64_t begin, uint64_t end) override;

 private:
  absl::StatusOr<uint64_t> CountResidentBytes(uint64_t begin, uint64_t end) const;

  const UniqueFd fd_;
};

}  // namespace iobench

#endif  // WORKER_STORAGE_LOCAL_FILE_H_
