#include "common/model/advice.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace iobench {
namespace {

struct Word {
  std::string_view word;
  int advice;
};

constexpr Word kFileWords[] = {
    {"normal", POSIX_FADV_NORMAL},   {"sequential", POSIX_FADV_SEQUENTIAL}, {"random", POSIX_FADV_RANDOM},
    {"noreuse", POSIX_FADV_NOREUSE}, {"willneed", POSIX_FADV_WILLNEED},
};

constexpr Word kMapWords[] = {
    {"normal", MADV_NORMAL},     {"random", MADV_RANDOM},     {"sequential", MADV_SEQUENTIAL},
    {"dontneed", MADV_DONTNEED}, {"willneed", MADV_WILLNEED},
};

absl::StatusOr<int> Find(std::string_view word, const char* what, std::span<const Word> words) {
  std::string known;
  for (const Word& each : words) {
    if (each.word == word) return each.advice;
    absl::StrAppend(&known, known.empty() ? "" : ", ", std::string(each.word));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown advice \"", std::string(word), "\" on ", what, "; there are: ", known));
}

}  // namespace

absl::StatusOr<int> FileAdvice(std::string_view word) {
  return Find(word, "files (--fadvise)", kFileWords);
}

absl::StatusOr<int> MapAdvice(std::string_view word) {
  return Find(word, "mapped files (-+A)", kMapWords);
}

}  // namespace iobench
