#include "coordinator/preflight/file_clocks.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "common/text/units.h"
#include "common/time.h"

namespace iobench {
namespace {

// Clients whose differences from each other are so many times smaller than that from the server agree.
constexpr double kAgreement = 4;

}  // namespace

double FileClocks::worst_s() const {
  return std::max(from_filesystem_s, between_clients_s);
}

int64_t StepOfWholeSecondsNs(std::span<const ClockSight> sights) {
  int64_t step_ns = 2 * kNanosPerSecond;
  for (const ClockSight& sight : sights) {
    if (sight.modified_ns % kNanosPerSecond != 0) return 0;
    if (sight.modified_ns % step_ns != 0) step_ns = kNanosPerSecond;
  }
  return step_ns;
}

FileClocks CompareClocks(std::span<const ClockSight> sights, int64_t step_ns) {
  FileClocks clocks;
  double min_high_s = INFINITY, max_low_s = -INFINITY, min_ahead_s = INFINITY, max_ahead_s = -INFINITY;
  for (const ClockSight& sight : sights) {
    // Positive: the client's clock is ahead of the file system's.
    const double low_s = SecondsFrom(sight.begin_wall_ns - sight.modified_ns - step_ns);
    const double high_s = SecondsFrom(sight.end_wall_ns - sight.modified_ns);
    const double ahead_s = low_s > 0 ? low_s : high_s < 0 ? high_s : 0;
    clocks.clients.push_back({.client = sight.client, .ahead_s = ahead_s});
    clocks.from_filesystem_s = std::max(clocks.from_filesystem_s, std::fabs(ahead_s));
    max_low_s = std::max(max_low_s, low_s);
    min_high_s = std::min(min_high_s, high_s);
    min_ahead_s = std::min(min_ahead_s, ahead_s);
    max_ahead_s = std::max(max_ahead_s, ahead_s);
  }
  clocks.between_clients_s = std::max(0.0, max_low_s - min_high_s);
  const double least_s = min_ahead_s > 0 ? min_ahead_s : max_ahead_s < 0 ? -max_ahead_s : 0;
  if (sights.size() > 1 && least_s >= kClockWarningS && least_s > kAgreement * clocks.between_clients_s) {
    clocks.server_ahead_s = min_ahead_s > 0 ? -clocks.from_filesystem_s : clocks.from_filesystem_s;
  }
  return clocks;
}

std::vector<std::string> Lines(const FileClocks& clocks) {
  std::vector<std::string> lines;
  for (const FileClocks::OfClient& each : clocks.clients) {
    if (std::fabs(each.ahead_s) < kClockWarningS) continue;
    lines.push_back(absl::StrCat(each.client, ": its clock is ", FormatSeconds(std::fabs(each.ahead_s)),
                                 each.ahead_s > 0 ? " ahead of" : " behind", " the file system's"));
  }
  return lines;
}

std::string Summary(const FileClocks& clocks) {
  if (!clocks.server_ahead_s) return absl::StrCat("clocks differ by up to ", FormatSeconds(clocks.worst_s()));
  return absl::StrCat("the server's clock is ", FormatSeconds(std::fabs(*clocks.server_ahead_s)),
                      *clocks.server_ahead_s > 0 ? " ahead of" : " behind", " those of all ",
                      clocks.clients.size(), " clients, which agree within ",
                      FormatSeconds(std::max(clocks.between_clients_s, 0.001)));
}

std::string Advice(const FileClocks& clocks) {
  return clocks.server_ahead_s ? "set the server's clock: let it use the clients' time service (chrony, ntpd)"
                               : "let clients and server use one time service (chrony, ntpd)";
}

}  // namespace iobench
