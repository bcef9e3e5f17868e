#include "coordinator/cluster/join_check.h"

#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <string>
#include <utility>

namespace iobench {
namespace {

using Catch::Contains;

v1::WorkerFacts Honest() {
  v1::WorkerFacts facts;
  facts.set_program_version("1.0+abc");
  facts.set_host("node07");
  facts.set_boot_id("5bd1a8a2-7e3c-4f8f-9a51-111111111111");
  facts.set_pid(4711);
  facts.set_processors(128);
  facts.set_memory_bytes(uint64_t{2} << 40);
  facts.set_kernel("Linux 6.1.0");
  facts.set_clock("tsc");
  facts.set_clock_read_ns(25);
  facts.set_loop_ns(18);
  facts.set_client_list_position(3);
  facts.set_path("/mnt/nfs");
  facts.set_processor_mask(std::string(16, '\xff'));
  return facts;
}

TEST_CASE("what an honest worker says of itself is believed") {
  CHECK(CheckFacts(Honest(), "1.0+abc", 3).ok());
  v1::WorkerFacts little;  // of a host that hides everything
  little.set_program_version("1.0+abc");
  little.set_host(std::string(255, 'h'));
  CHECK(CheckFacts(little, "1.0+abc", 1).ok());
}

TEST_CASE("another version is named with its host and the coordinator's version") {
  const absl::Status status = CheckFacts(Honest(), "1.1+def", 3);
  CHECK(absl::IsFailedPrecondition(status));
  CHECK_THAT(std::string(status.message()), Contains("node07") && Contains("1.0+abc") && Contains("1.1+def"));
}

TEST_CASE("each impossible claim of a worker is refused by its name and never repeated") {
  const std::pair<const char*, std::function<void(v1::WorkerFacts&)>> kClaims[] = {
      {"host name has 256 bytes", [](v1::WorkerFacts& facts) { facts.set_host(std::string(256, 'h')); }},
      {"host name has control", [](v1::WorkerFacts& facts) { facts.set_host("a\x1b[2Jb"); }},
      {"host name has control", [](v1::WorkerFacts& facts) { facts.set_host("a\nb"); }},
      {"version has 50000 bytes",
       [](v1::WorkerFacts& facts) { facts.set_program_version(std::string(50'000, 'v')); }},
      {"version has control", [](v1::WorkerFacts& facts) { facts.set_program_version("1.0\r"); }},
      {"boot id has control", [](v1::WorkerFacts& facts) { facts.set_boot_id("\x7f"); }},
      {"kernel has 1025 bytes", [](v1::WorkerFacts& facts) { facts.set_kernel(std::string(1025, 'k')); }},
      {"clock has 129 bytes", [](v1::WorkerFacts& facts) { facts.set_clock(std::string(129, 'c')); }},
      {"path has 4097 bytes", [](v1::WorkerFacts& facts) { facts.set_path(std::string(4097, 'p')); }},
      {"path has control", [](v1::WorkerFacts& facts) { facts.set_path(std::string("/mnt\0x", 6)); }},
      {"it has 65 settings",
       [](v1::WorkerFacts& facts) {
         for (int i = 0; i < 65; ++i) (*facts.mutable_settings())["s" + std::to_string(i)] = "1";
       }},
      {"setting has control", [](v1::WorkerFacts& facts) { (*facts.mutable_settings())["a"] = "\x1b[2J"; }},
      {"name of a setting has 129",
       [](v1::WorkerFacts& facts) { (*facts.mutable_settings())[std::string(129, 'n')] = "1"; }},
      {"processor mask has 8193",
       [](v1::WorkerFacts& facts) { facts.set_processor_mask(std::string(8193, 'm')); }},
      {"number of processors", [](v1::WorkerFacts& facts) { facts.set_processors(65'537); }},
      {"memory", [](v1::WorkerFacts& facts) { facts.set_memory_bytes(UINT64_MAX); }},
      {"process id", [](v1::WorkerFacts& facts) { facts.set_pid(-1); }},
      {"cost of reading its clock", [](v1::WorkerFacts& facts) { facts.set_clock_read_ns(-1); }},
      {"cost of an op",
       [](v1::WorkerFacts& facts) { facts.set_loop_ns(std::numeric_limits<double>::quiet_NaN()); }},
      {"position in the client list is 4", [](v1::WorkerFacts& facts) { facts.set_client_list_position(4); }},
  };
  for (const auto& [words, claim] : kClaims) {
    INFO(words);
    v1::WorkerFacts facts = Honest();
    claim(facts);
    const absl::Status status = CheckFacts(facts, "1.0+abc", 3);
    CHECK(absl::IsInvalidArgument(status));
    CHECK_THAT(std::string(status.message()), Contains(words));
    CHECK(status.message().size() < 150);
    CHECK(status.message().find('\x1b') == absl::string_view::npos);
  }
}

}  // namespace
}  // namespace iobench
