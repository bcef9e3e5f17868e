#include "common/text/log.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "common/text/display_text.h"
#include "common/text/terminal_width.h"
#include "spdlog/sinks/stdout_color_sinks.h"
#include "spdlog/spdlog.h"

namespace iobench {
namespace {

// The line as it is written after `before`, which the pattern adds.
std::string LineAfter(std::string_view before, absl::string_view line) {
  const std::string text = absl::StrCat(std::string(before), Printable({line.data(), line.size()}));
  return LinesFor(STDERR_FILENO, text).substr(before.size());
}

}  // namespace

void LogToStandardError() {
  spdlog::set_default_logger(spdlog::stderr_color_mt("cluster-iobench"));
  spdlog::set_pattern("cluster-iobench: %l: %v");
}

void LogWarning(absl::string_view line) {
  spdlog::warn("{}", LineAfter("cluster-iobench: warning: ", line));
}

void LogError(absl::string_view line) {
  spdlog::error("{}", LineAfter("cluster-iobench: error: ", line));
}

}  // namespace iobench
