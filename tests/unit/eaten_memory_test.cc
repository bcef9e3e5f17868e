#include "worker/client/eaten_memory.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "common/proc_file.h"
#include "common/text/units.h"

namespace iobench {
namespace {

// From the second number in this process's statm, which counts pages.
[[maybe_unused]] uint64_t OwnResidentBytes() {
  const std::string statm = ReadWholeFile("/proc/self/statm").value_or("");
  return std::stoull(statm.substr(statm.find(' '))) * static_cast<uint64_t>(::getpagesize());
}

constexpr uint64_t kTotal = 100_GiB, kAvailable = 80_GiB;

TEST_CASE("a percentage is of all memory, in whole pages") {
  const auto bytes = EatenMemory::BytesToEat(50, kTotal, kAvailable, 0);
  REQUIRE(bytes.ok());
  CHECK(*bytes == 50_GiB / 4_KiB * 4_KiB);
}

TEST_CASE("no more is taken than is available, allowed or sensible") {
  const auto code = [](uint32_t percent, uint64_t max_bytes) {
    return EatenMemory::BytesToEat(percent, kTotal, kAvailable, max_bytes).status().code();
  };
  CHECK(code(79, 0) == absl::StatusCode::kOk);
  CHECK(code(80, 0) == absl::StatusCode::kResourceExhausted);
  CHECK(code(10, 10_GiB) == absl::StatusCode::kOk);
  CHECK(code(11, 10_GiB) == absl::StatusCode::kPermissionDenied);
  CHECK(code(0, 0) == absl::StatusCode::kInvalidArgument);
  CHECK(code(96, 0) == absl::StatusCode::kInvalidArgument);
  CHECK(EatenMemory::BytesToEat(50, 0, 0, 0).status().code() == absl::StatusCode::kUnavailable);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their mlock() does nothing
TEST_CASE("memory is resident while it is held, and given back once") {
  const uint64_t before = OwnResidentBytes();
  uint64_t bytes = 0;
  {
    auto eaten = EatenMemory::Eat(1);
    REQUIRE(eaten.ok());
    bytes = eaten->bytes();
    CHECK_THAT(eaten->ToText(), Catch::Contains(" of "));
    CHECK(OwnResidentBytes() >= before + bytes / 10 * 9);
    const EatenMemory moved = *std::move(eaten);
    CHECK(OwnResidentBytes() >= before + bytes / 10 * 9);
  }
  CHECK(OwnResidentBytes() < before + bytes / 2);
}
#endif

}  // namespace
}  // namespace iobench
