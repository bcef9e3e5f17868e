#include "common/process/temporary_directory.h"

#include <cerrno>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"

namespace iobench {

absl::Status TemporaryParent::Error(const std::string& file, int errno_value) const {
  const absl::Status status = ErrnoStatus(absl::StrCat("cannot create ", file), errno_value);
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), ": set TMPDIR to a directory that can be written",
                                   too_long ? ", with a shorter name than the present TMPDIR has" : ""));
}

TemporaryParent TemporaryParentHere(size_t max_bytes) {
  const char* const asked = getenv("TMPDIR");
  if (asked == nullptr || *asked == '\0') return {"/tmp"};
  const std::string path = asked;
  return path.size() > max_bytes ? TemporaryParent{"/tmp", true} : TemporaryParent{path};
}

absl::StatusOr<std::string> MakeTemporaryDirectory(const TemporaryParent& parent, const std::string& name) {
  std::string path = absl::StrCat(parent.path, "/", name, "-XXXXXX");
  if (mkdtemp(path.data()) == nullptr) return parent.Error(path, errno);
  return path;
}

}  // namespace iobench
