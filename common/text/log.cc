#include "common/text/log.h"

#include "common/text/display_text.h"
#include "spdlog/sinks/stdout_color_sinks.h"
#include "spdlog/spdlog.h"

namespace iobench {

void LogToStandardError() {
  spdlog::set_default_logger(spdlog::stderr_color_mt("cluster-iobench"));
  spdlog::set_pattern("cluster-iobench: %l: %v");
}

void LogWarning(absl::string_view line) {
  spdlog::warn("{}", Printable({line.data(), line.size()}));
}

void LogError(absl::string_view line) {
  spdlog::error("{}", Printable({line.data(), line.size()}));
}

}  // namespace iobench
