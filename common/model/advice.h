// Maps the advice words of --fadvise and -+A to the kernel's constants.
#ifndef COMMON_MODEL_ADVICE_H_
#define COMMON_MODEL_ADVICE_H_

#include <string_view>

#include "absl/status/statusor.h"

namespace iobench {

// Both return InvalidArgument if the word is unknown; the message lists the valid words. The empty word, which means
// "no advice" in plans, is unknown too: callers skip it.
//
// Returns the POSIX_FADV_… constant for posix_fadvise(). No word stands for POSIX_FADV_DONTNEED; --drop-caches does
// that.
absl::StatusOr<int> FileAdvice(std::string_view word);
// Returns the MADV_… constant for madvise().
absl::StatusOr<int> MapAdvice(std::string_view word);

}  // namespace iobench

#endif  // COMMON_MODEL_ADVICE_H_
