#include "worker/client/processor_caches.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/worker_harness.h"

namespace iobench {
namespace {

// Describes a cache as sysfs does.
void AddCache(const std::string& directory, int index, const char* level, const char* type,
              const char* size) {
  const std::filesystem::path cache = directory + "/index" + std::to_string(index);
  std::filesystem::create_directories(cache);
  std::ofstream(cache / "level") << level << '\n';
  std::ofstream(cache / "type") << type << '\n';
  std::ofstream(cache / "size") << size << '\n';
}

TEST_CASE("the caches of levels 2 and 3 are found among those that sysfs lists") {
  const TempDir directory;
  AddCache(directory.path(), 0, "1", "Data", "48K");
  AddCache(directory.path(), 1, "1", "Instruction", "32K");
  AddCache(directory.path(), 2, "2", "Unified", "2048K");
  AddCache(directory.path(), 3, "3", "Unified", "266240K");
  const ProcessorCaches caches = CachesIn(directory.path());
  CHECK(caches.l2_bytes == uint64_t{2048} * 1024);
  CHECK(caches.l3_bytes == uint64_t{266240} * 1024);
}

TEST_CASE("a cache for instructions is not one for data, whatever its level") {
  const TempDir directory;
  AddCache(directory.path(), 0, "2", "Data", "256K");
  AddCache(directory.path(), 1, "2", "Instruction", "1024K");
  CHECK(CachesIn(directory.path()).l2_bytes == uint64_t{256} * 1024);
}

TEST_CASE("a cache whose size is missing or unreadable is unknown") {
  const TempDir directory;
  AddCache(directory.path(), 0, "2", "Unified", "");
  AddCache(directory.path(), 1, "3", "Unified", "lots");
  CHECK(CachesIn(directory.path()).l2_bytes == 0);
  CHECK(CachesIn(directory.path()).l3_bytes == 0);
  CHECK(CachesIn(directory.path() + "/nothing").l3_bytes == 0);
}

}  // namespace
}  // namespace iobench
