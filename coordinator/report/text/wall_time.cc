#include "coordinator/report/text/wall_time.h"

#include "absl/time/time.h"

namespace iobench {

int64_t EpochMsOf(const std::string& iso8601) {
  absl::Time time;
  return absl::ParseTime(absl::RFC3339_full, iso8601, &time, nullptr) ? absl::ToUnixMillis(time) : 0;
}

}  // namespace iobench
