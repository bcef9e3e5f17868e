#include "coordinator/report/iozone/iozone_time.h"

#include <cmath>
#include <cstdlib>
#include <ctime>

namespace iobench {

std::string CtimeText(const std::string& iso8601, double seconds) {
  std::tm parts{};
  const char* const end = strptime(iso8601.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (end == nullptr || !std::isfinite(seconds)) return "unknown";
  const double fraction = *end == '.' ? std::strtod(end, nullptr) : 0;
  const std::time_t time = timegm(&parts) + static_cast<std::time_t>(std::floor(seconds + fraction));
  std::tm shown{};
  char text[64];
  if (gmtime_r(&time, &shown) == nullptr ||
      std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &shown) == 0)
    return "unknown";
  return text;
}

}  // namespace iobench
