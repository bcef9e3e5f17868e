// Messages for people who watch the program: one line each on standard error, "cluster-iobench: warning: …". They are
// only informative; the outcome of a run is in its report and its exit code.
//
// Only log.cc includes spdlog, because its templates double the compile time of a folder. Callable from any thread.
#ifndef COMMON_TEXT_LOG_H_
#define COMMON_TEXT_LOG_H_

#include "absl/strings/string_view.h"

namespace iobench {

// Sends messages to standard error in the format above. Call it once, at the start of the program; until then, messages
// have spdlog's own format.
void LogToStandardError();

// `line` may contain external names: characters that are not safe to print are replaced (Printable in display_text.h).
void LogWarning(absl::string_view line);
void LogError(absl::string_view line);

}  // namespace iobench

#endif  // COMMON_TEXT_LOG_H_
