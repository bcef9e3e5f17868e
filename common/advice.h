// The words of --fadvise and of -+A, and what the kernel calls them.
#ifndef COMMON_ADVICE_H_
#define COMMON_ADVICE_H_

#include <string_view>

#include "absl/status/statusor.h"

namespace iobench {

// InvalidArgument lists the words.
absl::StatusOr<int> FileAdvice(std::string_view word);  // POSIX_FADV_…: of posix_fadvise
absl::StatusOr<int> MapAdvice(std::string_view word);   // MADV_…: of madvise

}  // namespace iobench

#endif  // COMMON_ADVICE_H_
