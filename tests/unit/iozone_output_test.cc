// Which runs behave as IOzone does, and what of their options is IOzone's own.
#include "coordinator/options/iozone_output.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace iobench {
namespace {

GivenOptions Given(const std::vector<OptionName>& flags) {
  GivenOptions given;
  for (const OptionName flag : flags) REQUIRE(given.Add(flag).ok());
  return given;
}

constexpr ProgramStart kAtTerminal, kIntoPipe{.stdout_is_terminal = false}, kByName{.by_iozones_name = true};

TEST_CASE("a run behaves as IOzone by the program's name, or with -R where no user looks on") {
  CHECK(BehavesAsIozone(AsIozone::kUnsaid, Given({}), false, kByName));
  CHECK(BehavesAsIozone(AsIozone::kUnsaid, Given({"excel"}), false, kIntoPipe));
  CHECK_FALSE(BehavesAsIozone(AsIozone::kUnsaid, Given({}), false, kIntoPipe));
  CHECK_FALSE(BehavesAsIozone(AsIozone::kUnsaid, Given({"excel"}), false, kAtTerminal));
}

TEST_CASE("what the user asks for counts more than how the program was started") {
  CHECK(BehavesAsIozone(AsIozone::kYes, Given({}), false, kAtTerminal));
  CHECK(BehavesAsIozone(AsIozone::kYes, Given({}), /*names_format=*/true, kAtTerminal));  // refused later
  CHECK_FALSE(BehavesAsIozone(AsIozone::kNo, Given({"excel"}), false, kByName));
  CHECK_FALSE(BehavesAsIozone(AsIozone::kNo, Given({"excel"}), false, kIntoPipe));
  CHECK_FALSE(BehavesAsIozone(AsIozone::kUnsaid, Given({"excel"}), /*names_format=*/true, kIntoPipe));
  CHECK_FALSE(BehavesAsIozone(AsIozone::kUnsaid, Given({}), /*names_format=*/true, kByName));
}

TEST_CASE("IOzone's name may have a directory before it, and nothing else") {
  CHECK(IsIozonesName("iozone"));
  CHECK(IsIozonesName("/opt/bin/iozone"));
  CHECK(IsIozonesName("./iozone"));
  for (const char* other : {"", "cluster-iobench", "/iozone/cluster-iobench", "iozone3", "myiozone"})
    CHECK_FALSE(IsIozonesName(other));
}

TEST_CASE("options mean what they mean in IOzone, and those without effect are noted") {
  GivenOptions given = Given({"mmap-sync"});
  REQUIRE(given.Add("min-lanes", "3").ok());
  REQUIRE(given.Add("processor-cache", "2048").ok());
  REQUIRE(given.Add("cache-line", "64").ok());
  const IozonesOwn own = TakeIozonesOwn(/*has_workbook=*/true, given);
  CHECK(given.Has("excel"));
  CHECK(given.Number("max-lanes", 0) == 3);
  CHECK_FALSE(given.Has("mmap-sync"));
  CHECK_FALSE(given.Has("processor-cache"));
  REQUIRE(own.notes.size() == 1);
  CHECK_THAT(own.notes[0], Catch::Contains("-G has no effect without -B"));
  AddIozonesDefaults(own, /*lists_clients=*/false, given);
  CHECK(given.Number("processor-cache", 0) == 2 << 20);
  CHECK(given.Number("cache-line", 0) == 64);

  GivenOptions used = Given({"mmap", "mmap-sync", "purge-processor-cache"});
  REQUIRE(used.Add("processor-cache", "512").ok());
  CHECK(TakeIozonesOwn(/*has_workbook=*/false, used).notes.empty());
  CHECK(used.Has("mmap-sync"));
  CHECK(used.Has("processor-cache"));
  CHECK_FALSE(used.Has("excel"));
}

TEST_CASE("IOzone's defaults stand where the line names nothing else") {
  GivenOptions table;
  AddIozonesDefaults({}, /*lists_clients=*/false, table);
  CHECK(table.Texts("op") == std::vector<std::string>{"0", "1", "2", "3", "4", "5", "6", "7"});
  CHECK(table.Number("size", 0) == 512 << 10);
  CHECK(table.Number("record", 0) == 4 << 10);
  CHECK(table.Number("lanes", 0) == 1);

  GivenOptions throughput;
  REQUIRE(throughput.Add("lanes", "2").ok());
  REQUIRE(throughput.Add("size", "16m").ok());
  CHECK(IsThroughputMode(throughput));
  AddIozonesDefaults({}, /*lists_clients=*/false, throughput);
  CHECK(throughput.Texts("op") == std::vector<std::string>{"0", "1", "backward-read", "stride-read", "2",
                                                           "random-mix", "pwrite", "pread", "fwrite",
                                                           "fread"});
  CHECK(throughput.Numbers("size") == std::vector<uint64_t>{16 << 20});
  CHECK(throughput.Numbers("lanes") == std::vector<uint64_t>{2});

  GivenOptions mapped = Given({"mmap"});
  AddIozonesDefaults({}, /*lists_clients=*/true, mapped);
  CHECK(mapped.Texts("op") == std::vector<std::string>{"0", "1", "2", "3", "4", "5"});
  CHECK_FALSE(mapped.Has("lanes"));

  GivenOptions automatic = Given({"auto"});
  AddIozonesDefaults({}, /*lists_clients=*/false, automatic);
  CHECK(automatic.size() == 1);
  GivenOptions suite;
  REQUIRE(suite.Add("suite", "smoke").ok());
  AddIozonesDefaults({}, /*lists_clients=*/false, suite);
  CHECK(suite.size() == 1);
}

}  // namespace
}  // namespace iobench
