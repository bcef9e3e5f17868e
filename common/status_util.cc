#include "common/status_util.h"

#include <string.h>
#include <sys/resource.h>

#include <cerrno>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace iobench {
namespace {

constexpr char kErrnoPayload[] = "type.cluster-iobench/errno";

absl::StatusCode CodeOf(int errno_value) {
  switch (errno_value) {
    case ENOENT:
      return absl::StatusCode::kNotFound;
    case EACCES:
    case EPERM:
      return absl::StatusCode::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
      return absl::StatusCode::kResourceExhausted;
    case EEXIST:
      return absl::StatusCode::kAlreadyExists;
    case EINVAL:
      return absl::StatusCode::kInvalidArgument;
    case ERESTART:
      return absl::StatusCode::kCancelled;
    default:
      return absl::StatusCode::kInternal;
  }
}

void SetErrno(absl::Status& status, int errno_value) {
  if (errno_value != 0) status.SetPayload(kErrnoPayload, absl::Cord(absl::StrCat(errno_value)));
}

// Returns the length of the UTF-8 character at the start of `text`; 0: invalid.
size_t Utf8LengthOf(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, above U+10FFFF.
  if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F) ||
      (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F)) {
    return 0;
  }
  return length;
}

// A file name may contain any bytes, and one invalid proto3 string makes the whole message unreadable.
std::string WithoutInvalidUtf8(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8LengthOf(text);
    if (length == 0) {
      clean += '?';
      text.remove_prefix(1);
    } else {
      clean.append(text.substr(0, length));
      text.remove_prefix(length);
    }
  }
  return clean;
}

// No file system returns these two: the coordinator has given the call up (coordinator/files/file_patience.h). Otherwise, as
// strerror, but thread-safe.
const char* DescriptionOf(int errno_value) {
  if (errno_value == ETIME) return "the file system does not answer";
  if (errno_value == ERESTART) return "interrupted while the file system did not answer";
  const char* const description = strerrordesc_np(errno_value);
  return description == nullptr ? "unknown error" : description;
}

// By now, the soft limit has been raised to the hard limit.
std::string HowManyFiles() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return "";
  return absl::StrCat(": this process may have ", limit.rlim_cur,
                      " files open (ulimit -Hn); raise this limit, or use fewer lanes");
}

}  // namespace

absl::Status ErrnoStatus(std::string_view context, int errno_value) {
  absl::Status status(CodeOf(errno_value),
                      absl::StrCat(std::string(context), ": ", DescriptionOf(errno_value), " (",
                                   ErrnoName(errno_value), ")", errno_value == EMFILE ? HowManyFiles() : ""));
  SetErrno(status, errno_value);
  return status;
}

int ErrnoOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kErrnoPayload);
  int errno_value = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &errno_value)) return 0;
  return errno_value;
}

std::string ErrnoName(int errno_value) {
  const char* name = errno_value == 0 ? nullptr : strerrorname_np(errno_value);
  return name == nullptr ? absl::StrCat("errno ", errno_value) : name;
}

bool IsNotOffered(int errno_value) {
  // The Linux NFS client passes this number of the kernel on when a server answers NOTSUPP.
  constexpr int kNotSupportedByServer = 524;
  // EPERM and EMLINK are what vfat and others answer to links.
  return errno_value == EOPNOTSUPP || errno_value == ENOSYS || errno_value == EPERM ||
         errno_value == EMLINK || errno_value == kNotSupportedByServer;
}

absl::Status Annotate(const absl::Status& status, std::string_view context) {
  if (status.ok()) return status;
  absl::Status annotated(status.code(), absl::StrCat(std::string(context), ": ", status.message()));
  status.ForEachPayload([&annotated](absl::string_view type, const absl::Cord& payload) {
    annotated.SetPayload(type, payload);
  });
  return annotated;
}

v1::Problem ToProblem(const absl::Status& status) {
  v1::Problem problem;
  problem.set_code(static_cast<int>(status.code()));
  problem.set_message(WithoutInvalidUtf8(std::string(status.message())));
  problem.set_errno_value(ErrnoOf(status));
  return problem;
}

absl::Status ToStatus(const v1::Problem& problem) {
  if (problem.code() == 0) return absl::OkStatus();
  absl::Status status(static_cast<absl::StatusCode>(problem.code()), problem.message());
  SetErrno(status, problem.errno_value());
  return status;
}

}  // namespace iobench
