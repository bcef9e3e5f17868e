// The directory for what lasts only as long as the program: $TMPDIR, or /tmp.
#ifndef COMMON_PROCESS_TEMPORARY_DIRECTORY_H_
#define COMMON_PROCESS_TEMPORARY_DIRECTORY_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace iobench {

struct TemporaryParent {
  std::string path;
  bool too_long = false;  // $TMPDIR has more than the characters allowed, so this is /tmp

  // The status of an errno for `file`, made there, that says what to do about it: which TMPDIR to set.
  absl::Status Error(const std::string& file, int errno_value) const;
};

// `max_bytes`: the longest $TMPDIR that fits, as for a socket's path.
TemporaryParent TemporaryParentHere(size_t max_bytes = SIZE_MAX);

// Makes a new directory NAME-XXXXXX there, for this user alone, and returns its path. Errors of TemporaryParent::Error.
absl::StatusOr<std::string> MakeTemporaryDirectory(const TemporaryParent& parent, const std::string& name);

}  // namespace iobench

#endif  // COMMON_PROCESS_TEMPORARY_DIRECTORY_H_
