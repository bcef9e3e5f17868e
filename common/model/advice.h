// Maps the advice words of --fadvise and -+A to the kernel's constants.
#ifndef COMMON_MODEL_ADVICE_H_
#define COMMON_MODEL_ADVICE_H_

#include <string_view>

#include "absl/status/statusor.h"

namespace iobench {

// InvalidArgument: the word is unknown; the message lists the valid words.
absl::StatusOr<int> FileAdvice(std::string_view word);  // returns POSIX_FADV_… for posix_fadvise
absl::StatusOr<int> MapAdvice(std::string_view word);   // returns MADV_… for madvise

}  // namespace iobench

#endif  // COMMON_MODEL_ADVICE_H_
