// Compares the clocks of clients with the clock of a file system, which stamps new files. Pure.
#ifndef COORDINATOR_PREFLIGHT_FILE_CLOCKS_H_
#define COORDINATOR_PREFLIGHT_FILE_CLOCKS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace iobench {

// A smaller difference is not worth a word.
inline constexpr double kClockWarningS = 0.1;

// A client has created a file between two readings of its own clock (CLOCK_REALTIME).
struct ClockSight {
  std::string client;  // for display
  int64_t begin_wall_ns = 0, end_wall_ns = 0;
  int64_t modified_ns = 0;  // of the file
};

// Differences that are certain: a client that was slow to create its file is known to a wide interval.
struct FileClocks {
  struct OfClient {
    std::string client;
    double ahead_s = 0;  // of the file system's clock; negative: behind it; 0: nothing is certain
  };
  std::vector<OfClient> clients;  // in the order of the sights
  double from_filesystem_s = 0;   // the largest difference between a client and the file system
  double between_clients_s = 0;   // the largest between two clients
  // The clients agree with each other far better than with the file system: its server's clock is wrong. By how much it
  // is ahead (negative: behind).
  std::optional<double> server_ahead_s;

  double worst_s() const;
};
// `step_ns`: how much later than its timestamp says a file may have been made; see StepOfWholeSecondsNs.
FileClocks CompareClocks(std::span<const ClockSight> sights, int64_t step_ns);

// If timestamps are whole seconds: one second, or two if all are even. Otherwise 0: steps of a kernel's tick do not matter
// here.
int64_t StepOfWholeSecondsNs(std::span<const ClockSight> sights);

// "c01: its clock is 2 s ahead of the file system's", for each client of which that is certain.
std::vector<std::string> Lines(const FileClocks& clocks);
// "the server's clock is 1 h ahead of those of all 3 clients, which agree within 10 ms", or "clocks differ by up to 2 s".
std::string Summary(const FileClocks& clocks);
std::string Advice(const FileClocks& clocks);

}  // namespace iobench

#endif  // COORDINATOR_PREFLIGHT_FILE_CLOCKS_H_
