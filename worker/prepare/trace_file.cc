#include "worker/prepare/trace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/small_file.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "worker/prepare/prepare_check.h"
#include "worker/rights/worker_rights.h"

namespace iobench {
namespace {

constexpr uint64_t kLongestOpBytes = 1_GiB;                           // the same as for a record
constexpr uint64_t kLongestTraceBytes = 32 * uint64_t{kMaxTraceOps};  // 2 GiB, in memory while it is parsed
constexpr double kLongestDelayMs = 3.6e6;
constexpr size_t kWriteAtOnceBytes = 1 << 20;
constexpr std::string_view kBlanks = " \t\r";

// Removes the next word from the line; empty if there is none.
std::string_view NextWord(std::string_view& line) {
  line.remove_prefix(std::min(line.size(), line.find_first_not_of(kBlanks)));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

template <typename Number>
std::optional<Number> NumberIn(std::string_view word) {
  Number number{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

absl::StatusOr<TraceOp> ParseLine(std::string_view line, uint64_t file_bytes) {
  const std::string_view offset_word = NextWord(line), size_word = NextWord(line),
                         delay_word = NextWord(line);
  if (size_word.empty() || !NextWord(line).empty()) {
    return absl::InvalidArgumentError("a line must be \"offset size\" or \"offset size delay_ms\"");
  }
  const std::optional<uint64_t> offset = NumberIn<uint64_t>(offset_word),
                                size = NumberIn<uint64_t>(size_word);
  if (!offset || !size) {
    return absl::InvalidArgumentError("offset and size must be whole numbers of bytes");
  }
  if (*size == 0 || *size > kLongestOpBytes) {
    return absl::InvalidArgumentError(absl::StrCat("a size of ", *size, " is not between 1 byte and 1 GiB"));
  }
  if (*offset > file_bytes || *size > file_bytes - *offset) {
    return absl::InvalidArgumentError(absl::StrCat(*size, " bytes at ", *offset,
                                                   " end past the lane's file of ", file_bytes,
                                                   " bytes: give a larger -s"));
  }
  const double delay_ms = delay_word.empty() ? 0 : NumberIn<double>(delay_word).value_or(-1);
  if (!(delay_ms >= 0) || delay_ms > kLongestDelayMs) {
    return absl::InvalidArgumentError("a delay must be a number of milliseconds from 0 to one hour");
  }
  return TraceOp{.offset = *offset,
                 .length = static_cast<uint32_t>(*size),
                 .delay_us = static_cast<uint32_t>(std::llround(delay_ms * 1e3))};
}

size_t LineCount(std::string_view text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
}

// `bytes`: the memory that reading the trace takes; `limit_bytes` 0: unlimited.
absl::Status CheckFits(const std::string& name, uint64_t bytes, uint64_t limit_bytes) {
  if (limit_bytes == 0 || bytes <= limit_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      name, " needs ", FormatBytes(static_cast<double>(bytes)),
      " of memory, but this worker may use at most ", FormatBytes(static_cast<double>(limit_bytes)),
      ": use a shorter trace; if the worker may use more, start it with --max-memory SIZE"));
}

absl::Status IsThere(const std::string& file) {
  return absl::AlreadyExistsError(
      absl::StrCat("trace ", file, " already exists and is not overwritten: remove it or choose another -X"));
}

std::string DirectoryOf(const std::string& file) {
  return file.substr(0, std::max<size_t>(1, file.rfind('/')));
}

// Where a trace is written.
struct Place {
  UniqueFd directory;
  std::string name;
};

absl::StatusOr<Place> PlaceOf(const std::string& file) {
  IOBENCH_RETURN_IF_ERROR(CheckAllowed(WorkerAction::kLogFiles));
  Place place;
  IOBENCH_ASSIGN_OR_RETURN(place.directory,
                           RightsOfThisWorker().paths.OpenParent(
                               absl::StrCat("trace ", file, " cannot be created"), file, place.name));
  return place;
}

// The user may have put another file there since the earlier part of the run, and a worker with limited rights must not
// let its coordinator replace just any file.
bool IsTrace(const Place& place) {
  const UniqueFd fd(::openat(place.directory.get(), place.name.c_str(),
                             O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat facts {};
  if (!fd.valid() || ::fstat(fd.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
  std::array<char, 128> head{};  // longer than any line that WriteTrace writes
  const ssize_t got = ::pread(fd.get(), head.data(), head.size(), 0);
  if (got < 0) return false;
  const std::string_view text(head.data(), static_cast<size_t>(got));
  return text.empty() || ParseLine(text.substr(0, text.find('\n')), UINT64_MAX).ok();
}

}  // namespace

absl::StatusOr<TraceOps> ParseTrace(std::string_view text, const std::string& file_name,
                                    uint64_t file_bytes) {
  TraceOps ops;
  const auto problem = [&](size_t line_number, absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("trace ", file_name, ":", line_number, ": ", what));
  };
  ops.reserve(std::min(LineCount(text), kMaxTraceOps));
  for (size_t line_number = 1; !text.empty(); ++line_number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with('#')) continue;
    const auto op = ParseLine(line, file_bytes);
    if (!op.ok()) return problem(line_number, op.status().message());
    if (ops.size() == kMaxTraceOps) {
      return problem(line_number, absl::StrCat("more ops than the ", kMaxTraceOps, " that fit into memory"));
    }
    ops.push_back(*op);
  }
  if (ops.empty())
    return absl::InvalidArgumentError(absl::StrCat("trace ", file_name, ": it contains no ops"));
  return ops;
}

absl::StatusOr<std::shared_ptr<const TraceOps>> LoadTrace(const std::string& file, uint64_t file_bytes) {
  const std::string name = absl::StrCat("trace ", file);
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd fd,
                           RightsOfThisWorker().paths.Open(name, file, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  const uint64_t limit_bytes = MemoryLimitBytes();
  struct stat facts {};
  if (::fstat(fd.get(), &facts) == 0 && static_cast<uint64_t>(facts.st_size) <= kLongestTraceBytes) {
    IOBENCH_RETURN_IF_ERROR(CheckFits(name, static_cast<uint64_t>(facts.st_size), limit_bytes));
  }
  IOBENCH_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(name, fd.get(), kLongestTraceBytes));
  const uint64_t ops_bytes = std::min(LineCount(text), kMaxTraceOps) * sizeof(TraceOp);
  IOBENCH_RETURN_IF_ERROR(CheckFits(name, text.size() + ops_bytes, limit_bytes));
  IOBENCH_ASSIGN_OR_RETURN(TraceOps ops, ParseTrace(text, file, file_bytes));
  return std::make_shared<const TraceOps>(std::move(ops));
}

absl::Status CheckNewTrace(const std::string& file, OldTrace old) {
  IOBENCH_ASSIGN_OR_RETURN(const Place place, PlaceOf(file));
  struct stat facts {};
  const bool exists = ::fstatat(place.directory.get(), place.name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && (old == OldTrace::kRefused || !IsTrace(place))) return IsThere(file);
  if (::faccessat(place.directory.get(), ".", W_OK | X_OK, AT_EACCESS) == 0) return absl::OkStatus();
  return ErrnoStatus(absl::StrCat("trace ", file, " cannot be created: directory ", DirectoryOf(file)),
                     errno);
}

absl::StatusOr<UniqueFd> OpenTraceForWriting(const std::string& file, OldTrace old) {
  IOBENCH_ASSIGN_OR_RETURN(const Place place, PlaceOf(file));
  if (old == OldTrace::kReplaced && IsTrace(place)) ::unlinkat(place.directory.get(), place.name.c_str(), 0);
  UniqueFd fd(::openat(place.directory.get(), place.name.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640));
  if (!fd.valid() && errno == EEXIST) return IsThere(file);
  if (!fd.valid()) return ErrnoStatus(absl::StrCat("trace ", file), errno);
  return fd;
}

void RemoveTrace(const std::string& file) {
  const auto place = PlaceOf(file);
  if (place.ok()) ::unlinkat(place->directory.get(), place->name.c_str(), 0);
}

absl::Status WriteTrace(int fd, const std::string& file, std::span<const TraceOp> ops) {
  std::string text;
  const auto write_out = [&]() -> absl::Status {
    for (size_t written = 0; written < text.size();) {
      const ssize_t moved = ::write(fd, text.data() + written, text.size() - written);
      if (moved < 0 && errno == EINTR) continue;
      if (moved < 0) return ErrnoStatus(absl::StrCat("trace ", file), errno);
      written += static_cast<size_t>(moved);
    }
    text.clear();
    return absl::OkStatus();
  };
  for (const TraceOp& op : ops) {
    absl::StrAppendFormat(&text, "%d %d %d.%03d\n", op.offset, op.length, op.delay_us / 1000,
                          op.delay_us % 1000);
    if (text.size() >= kWriteAtOnceBytes) IOBENCH_RETURN_IF_ERROR(write_out());
  }
  IOBENCH_RETURN_IF_ERROR(write_out());
  // An NFS client reports only now that there was no space for data that it had accepted.
  if (::fsync(fd) != 0) return ErrnoStatus(absl::StrCat("fsync of trace ", file), errno);
  return absl::OkStatus();
}

}  // namespace iobench
