// In a run of thousands of phases, what a phase costs does not depend on how many came before it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/unit/conductor_run.h"

namespace iobench {
namespace {

// What this process has written by now, by the kernel's count.
struct Written {
  uint64_t bytes = 0, calls = 0;
};
Written WrittenByNow() {
  Written written;
  std::ifstream file("/proc/self/io");
  std::string key;
  for (uint64_t value = 0; file >> key >> value;) {
    if (key == "wchar:") written.bytes = value;
    if (key == "syscw:") written.calls = value;
  }
  return written;
}

uint64_t MedianOf(std::vector<uint64_t> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

TEST_CASE("phase 2,000 of a run writes as much as phase 200 did") {
  constexpr uint32_t kPhases = 2000;
  char directory[] = "/tmp/long_run_test.XXXXXX";
  REQUIRE(::mkdtemp(directory) != nullptr);
  Run run;
  run.hosts = {Facts("a1")};
  run.in_process = true;
  run.out_directory = std::string(directory) + "/out";
  run.plan = EmptyPhases(kPhases, 1);
  std::vector<uint64_t> bytes, calls;
  Written before;
  run.on_phase = [&](const v1::PhaseReport&) {
    const Written now = WrittenByNow();
    bytes.push_back(now.bytes - before.bytes);
    calls.push_back(now.calls - before.calls);
    before = now;
  };
  REQUIRE(run.Go() == kExitOk);
  REQUIRE(bytes.size() == kPhases);
  // The median, because once a second a phase also saves result.json.
  const auto of_phases = [](const std::vector<uint64_t>& values, uint32_t first) {
    return MedianOf({values.begin() + first, values.begin() + first + 100});
  };
  const uint64_t early_bytes = of_phases(bytes, 100), late_bytes = of_phases(bytes, kPhases - 100);
  INFO("bytes written per phase: " << early_bytes << ", later " << late_bytes);
  CHECK(late_bytes <= early_bytes + early_bytes / 20);  // numbers have one more digit
  CHECK(of_phases(calls, kPhases - 100) == of_phases(calls, 100));
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace iobench
