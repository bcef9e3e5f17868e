#include "worker/storage/directory.h"

#include "absl/strings/str_cat.h"
#include "common/status_util.h"

namespace iobench {

absl::StatusOr<Unstored> File::UnstoredIn(uint64_t, uint64_t, WrittenBy) {
  return absl::UnimplementedError(absl::StrCat(path(), ": nothing tells what is stored"));
}

absl::StatusOr<uint64_t> File::ResidentBytes(uint64_t, uint64_t) {
  return absl::UnimplementedError("not supported here");
}

std::string Directory::PathOf(std::string_view name) const {
  return absl::StrCat(path_, "/", std::string(name));
}

absl::StatusOr<std::string> ReadSmallFile(const Directory& directory, const std::string& name,
                                          size_t max_bytes) {
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, directory.OpenFile(name, OpenFor::kReading));
  std::string text(max_bytes, '\0');
  IOBENCH_ASSIGN_OR_RETURN(const size_t size, file->ReadAt(0, std::as_writable_bytes(std::span(text))));
  text.resize(size);
  return text;
}

absl::Status WriteNewFile(const Directory& directory, const std::string& name, std::string_view text) {
  absl::Status written;
  {
    IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<File> file,
                             directory.OpenFile(name, OpenFor::kWritingNew));
    written = file->WriteAt(0, std::as_bytes(std::span(text)));
    if (written.ok()) written = file->Sync();
  }
  if (!written.ok()) directory.Remove(name).IgnoreError();
  return written;
}

}  // namespace iobench
