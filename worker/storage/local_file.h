// An open file on a mounted file system.
#ifndef WORKER_STORAGE_LOCAL_FILE_H_
#define WORKER_STORAGE_LOCAL_FILE_H_

#include <sys/stat.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/unique_fd.h"
#include "worker/storage/directory.h"

namespace iobench {

NodeFacts FactsFrom(const struct stat& facts);

class LocalFile final : public File {
 public:
  // Opens a regular file with openat(2). `path` is for messages. FailedPrecondition: not a regular file, or a symbolic
  // link if `flags` has O_NOFOLLOW.
  static absl::StatusOr<std::unique_ptr<File>> Open(int directory_fd, const std::string& name, int flags,
                                                    std::string path);

  LocalFile(std::string path, UniqueFd fd) : File(std::move(path)), fd_(std::move(fd)) {}

  absl::StatusOr<NodeFacts> Facts() override;
  absl::StatusOr<size_t> ReadAt(uint64_t offset, std::span<std::byte> into) override;
  absl::Status WriteAt(uint64_t offset, std::span<const std::byte> data) override;
  absl::Status Sync() override;
  absl::StatusOr<bool> HasHole(uint64_t begin, uint64_t end) override;
  absl::Status Allocate(uint64_t offset, uint64_t bytes) override;
  void ExpectScatteredReads() override;
  absl::Status ForgetPages() override;
  absl::StatusOr<uint64_t> ResidentBytes(uint64_t begin, uint64_t end) override;

 private:
  absl::StatusOr<uint64_t> CountResidentBytes(uint64_t begin, uint64_t end) const;

  const UniqueFd fd_;
};

}  // namespace iobench

#endif  // WORKER_STORAGE_LOCAL_FILE_H_
