// The phases and steps that follow from options together: suites, soaks, rests, sizes and engines.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/text/units.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/plan_for.h"

namespace iobench {
namespace {

using Catch::Contains;

TEST_CASE("a rate may be in bytes per second, which are ops of a record") {
  const auto arrivals = [](const std::string& words) {
    return PlanFor(words)->phases(0).assignments(0).operation().arrivals();
  };
  CHECK(arrivals("-i 1 -r 64k --rate 50MiB/s").ops_per_s() == 800);
  CHECK(arrivals("-i 1 -r 4k --lane-rate 8k/s..16k/s").ops_per_s() == 2);
  CHECK(arrivals("-i 1 -r 4k --lane-rate 8k/s..16k/s").end_ops_per_s() == 4);
  CHECK_THAT(ErrorOf("-i 1 --rate 50MiB"), Contains("--rate") && Contains("50MiB"));
  CHECK_THAT(ErrorOf("-i 1 --rate fast/s"), Contains("50MiB/s"));
  CHECK_THAT(ErrorOf("--op create --rate 1m/s"), Contains("ops per second"));
  CHECK_THAT(ErrorOf("-i 12 --rate 1m/s"), Contains("several records"));
  CHECK_THAT(ErrorOf("--mix home-directories --rate 1m/s"), Contains("ops per second"));
}

TEST_CASE("a depth takes an engine that has a queue") {
  const auto engine = [](const std::string& words, int place = 0) {
    const auto plan = PlanFor(words);
    return plan.ok() ? plan->phases(place).assignments(0).operation().engine() : std::string(plan.status().message());
  };
  CHECK(engine("-i 0 --depth 8") == "uring");
  CHECK(engine("-i 0 --depth 1") == "posix");
  CHECK(engine("-i 0 --depth 8 --engine posix-aio") == "posix-aio");
  CHECK(engine("-i 0 --op create --depth 8", 2) == "metadata");
  CHECK_THAT(ErrorOf("-i 0 --depth 8 --engine posix"), Contains("--depth 8") && Contains("engine posix"));
  CHECK_THAT(ErrorOf("--op create --depth 8"), Contains("--depth"));
}

TEST_CASE("every phase of the smoke suite lasts long enough for a figure") {
  const auto plan = PlanFor("--suite smoke");
  REQUIRE(plan.ok());
  REQUIRE(plan->phases_size() > 0);
  for (const v1::Phase& phase : plan->phases()) {
    INFO(phase.name());
    CHECK(phase.stop().time_s() + phase.stop().deadline_s() >= 2);
  }
}

TEST_CASE("--time takes the place of a suite's deadline, and the reverse") {
  const auto etcd = PlanFor("--suite etcd --time 7");
  REQUIRE(etcd.ok());
  CHECK(etcd->phases(0).stop().time_s() == 7);
  CHECK_FALSE(etcd->phases(0).stop().deadline_s() > 0);
  CHECK(PlanFor("--suite etcd --deadline 7")->phases(0).stop().deadline_s() == 7);
  CHECK(PlanFor("--suite etcd")->phases(0).stop().deadline_s() == 120);
}

TEST_CASE("a suite says that a step which cannot be is its own") {
  CHECK_THAT(ErrorOf("--suite smoke --engine libnfs --path nfs://server/export"),
             Contains("drop_caches") && Contains("suite smoke") && Contains("--print-plan"));
}

TEST_CASE("a size below a suite's record says so") {
  CHECK_THAT(ErrorOf("--suite bonnie -s 1"),
             Contains("-s (--size) of 1 KiB") && Contains("one record of phase") && Contains("8 KiB"));
}

TEST_CASE("a list of strides is one phase for each, of stride-read only") {
  CHECK(PhasesOf("-i 1 -+n -i 5 -j 4,8 -j 16") == std::vector<std::string>{"read", "stride-read, stride 4",
                                                                           "stride-read, stride 8",
                                                                           "stride-read, stride 16"});
  const auto plan = PlanFor("-i 5 -j 4,8");
  REQUIRE(plan.ok());
  CHECK(plan->phases(1).assignments(0).operation().stride_records() == 8);
  CHECK(PhasesOf("-i 5 -j 4") == std::vector<std::string>{"stride-read"});
  CHECK_THAT(ErrorOf("-i 1 -j 4,8"), Contains("stride-read"));
  CHECK_THAT(ErrorOf("--suite smoke -j 4,8"), Contains("give one stride"));
}

TEST_CASE("-f and -F say in which directories data go, not which files") {
  CHECK(PlanFor("-f /data/file")->targets(0).path() == "/data");
  const auto spread = PlanFor("-F /a/1 /b/2 /a/3 -i 1");
  REQUIRE(spread.ok());
  REQUIRE(spread->targets_size() == 2);
  CHECK(spread->targets(1).path() == "/b");
  CHECK_THAT(ErrorOf("-F /a/1 /b/2 /c/3 /d/4 /e/5"), Contains("5 directories") && Contains("4"));
}

TEST_CASE("rests come before all phases but the first, remounts and dropped caches where they belong") {
  const auto plan = PlanFor("-+n -i 0 -i 1 -+q 1.5 -U /mnt/x --drop-caches");
  REQUIRE(plan.ok());
  REQUIRE(plan->phases(0).before_size() == 2);
  CHECK(plan->phases(0).before(0).rest().not_first());
  CHECK(plan->phases(0).before(1).remount().mount_point() == "/mnt/x");
  REQUIRE(plan->phases(1).before_size() == 3);
  CHECK(plan->phases(1).before(0).rest().seconds() == 1.5);
  CHECK(plan->phases(1).before(1).has_remount());
  CHECK(plan->phases(1).before(2).has_drop_caches());
}

TEST_CASE("--server-path names a directory of the servers, and the plan says so") {
  const auto plan = PlanFor("-i 0 --server-path /export");
  REQUIRE(plan.ok());
  CHECK(plan->server_path() == "/export");
  CHECK_THAT(ErrorOf("--existing /a/f -i 1 --server-path /export"), Contains("files of their own"));
}

TEST_CASE("--fill fills before the first phase, and only what has room") {
  const auto plan = PlanFor("-+n -i 0 -i 1 -s 1m --fill 80");
  REQUIRE(plan.ok());
  REQUIRE(plan->phases(0).before_size() == 1);
  CHECK(plan->phases(0).before(0).fill().percent() == 80);
  CHECK(plan->phases(1).before_size() == 0);
  CHECK_THAT(ErrorOf("-i 0 --fill 100"), Contains("--fill"));
  CHECK_THAT(ErrorOf("-i 0 --fill 0"), Contains("--fill"));
  CHECK_THAT(ErrorOf("-i 0 --fill 7.5"), Contains("--fill"));
  CHECK_THAT(ErrorOf("-i 0 --engine null --fill 80"), Contains("--fill") && Contains("leave it out"));
}

TEST_CASE("-s takes a share of memory, which is the workers' to know") {
  CHECK(PlanFor("-i 0 -s 2xram")->files().memory_percent() == 200);
  CHECK(PlanFor("-i 0 -s 150%")->files().memory_percent() == 150);
  CHECK(PlanFor("-i 0 -s 0.5xRAM")->files().memory_percent() == 50);
  CHECK(PlanFor("-i 0 -s 2xram -r 1m")->files().bytes_per_lane() % 1_MiB == 0);
  CHECK(PlanFor("-i 0 -s 4m")->files().memory_percent() == 0);
  for (const char* const wrong :
       {"-i 0 -s 0%", "-i 0 -s xram", "-i 0 -s 2ram", "-i 0 -s 99999%", "-i 0 -s 2xram,1g", "-a -s 2xram",
        "--suite smoke -s 2xram", "-i 0 -+k -s 2xram"}) {
    INFO(wrong);
    CHECK_THAT(ErrorOf(wrong), Contains("-s (--size)"));
  }
}

TEST_CASE("a rest may be shorter than any clock can tell") {
  const auto plan = PlanFor("-i 0 -i 1 -s 1m -+q 1e-320");
  REQUIRE(plan.ok());
  CHECK(plan->phases(1).before(0).rest().seconds() < 1e-300);
}

TEST_CASE("-+k shares the size out over the lanes of all workers, in whole records") {
  CHECK(PlanFor("-+k -s 1m -r 4k -t 2 -i 0")->files().bytes_per_lane() ==
        128_KiB);  // 4 workers, 2 lanes each
  CHECK(PlanFor("-+k -s 100k -r 4k -t 2 -i 0")->files().bytes_per_lane() == 12_KiB);
  CHECK_THAT(ErrorOf("-+k -s 16k -r 4k -t 2 -i 0"), Contains("-+k") && Contains("8 lanes"));
  // 4 records of 2^62 bytes, one for each file of a lane, are 2^64.
  CHECK_THAT(ErrorOf("-+k -s 8388607t -r 4194304t --files-per-lane 4 -i 0"), Contains("-+k"));
}

TEST_CASE("what changes only reports, and what is always so here, changes no plan") {
  const auto plain = PlanFor("-i 0 -i 1 -s 1m");
  for (const char* words : {"-i 0 -i 1 -s 1m -R", "-i 0 -i 1 -s 1m -M -O -C", "-i 0 -i 1 -s 1m -+u -T",
                            "-i 0 -i 1 -s 1m -N", "-i 0 -i 1 -s 1m -+z -+T", "-i 0 -i 1 -s 1m -E"}) {
    INFO(words);
    const auto plan = PlanFor(words);
    REQUIRE(plan.ok());
    CHECK(plan->SerializeAsString() == plain->SerializeAsString());
  }
}

TEST_CASE("-A is -a -z -i 0 -i 1, with limits of its own, and no other operation") {
  CHECK(PhasesOf("-A -g 64m") == PhasesOf("-a -z -i 0 -i 1 -g 64m"));
  CHECK(PhasesOf("-A -g 64k").size() > 4);
  CHECK(PhasesOf("-A -y 64k -q 64k -z") == PhasesOf("-a -z -i 0 -i 1 -y 64k -q 64k"));
  CHECK_THAT(ErrorOf("-A -i 2"), Contains("-A (--auto-read-write)") && Contains("-i (--op)"));
  CHECK_THAT(ErrorOf("-A -t 2"), Contains("-a (--auto)") && Contains("-t (--lanes)"));
}

TEST_CASE("--soak repeats the phases of a plan with their own times and steps") {
  const TempDir directory;
  directory.Write("plan.yaml",
                  "files: {bytes_per_lane: 64k}\n"
                  "phases:\n"
                  "- stop: {time_s: 5}\n"
                  "  assignments: [{operation: {name: read, record_bytes: 4k}}]\n");
  const auto plan = PlanFor(absl::StrCat("--soak 8h --plan ", directory / "plan.yaml"));
  REQUIRE(plan.ok());
  CHECK(plan->soak_s() == 28800);
  CHECK(plan->data().verify());
  CHECK(plan->phases(0).stop().time_s() == 5);
  CHECK(plan->phases(0).before().empty());
}

TEST_CASE("a load without an operation is refused") {
  const TempDir directory;
  directory.Write("load.yaml", "phases: [{name: idle}]\n");
  const std::string load = absl::StrCat(" --background ", directory / "load.yaml");
  for (const char* const words : {"", "-i 1", "--time 1", "-i 1 -s 1m", "-i 1 --stop-at-stonewall"}) {
    INFO(words);
    CHECK_THAT(ErrorOf(words + load), Contains("phase idle: it has no assignments"));
  }
}

TEST_CASE("a load that the engine cannot do is refused although no operation was named") {
  CHECK_THAT(ErrorOf("--time 1 --engine uring --background stat"),
             Contains("phase stat") && Contains("engine uring cannot do stat"));
}

TEST_CASE("with an engine, tests that it cannot do are left out unless they were asked for") {
  for (const std::string& name : PhasesOf("-a -n 64k -g 64k -y 64k -q 64k -B")) CHECK(name != "fwrite");
  CHECK_THAT(ErrorOf("-i 6 -B"), Contains("mmap") && Contains("fwrite"));
}

TEST_CASE("a suite's usual values are replaced, what a phase says for itself stays") {
  const auto plan = PlanFor("--suite bonnie -s 100m -r 16k -t 3 --items 50 -I");
  REQUIRE(plan.ok());
  CHECK(plan->files().bytes_per_lane() == 100_MiB);
  CHECK(plan->lanes_per_worker() == 3);
  CHECK(plan->phases(0).files().bytes_per_lane() == 3_MiB);  // characters
  CHECK(plan->phases(0).lanes_per_worker() == 1);
  CHECK(plan->phases(1).assignments(0).operation().record_bytes() == 16_KiB);
  CHECK(plan->phases(1).assignments(0).operation().direct());
  CHECK_FALSE(plan->phases(0).assignments(0).operation().direct());  // stdio knows no O_DIRECT
  CHECK(plan->phases(6).assignments(0).operation().tree().items_per_lane() == 50);
  CHECK_THAT(plan->notes(0), Contains("smaller than twice"));
  CHECK_THAT(ErrorOf("--suite bonnie -i 0"), Contains("-i (--op)") && Contains("--suite"));
  CHECK_THAT(ErrorOf("--suite nowhere"), Contains("nowhere") && Contains("bonnie"));
  CHECK_THAT(ErrorOf("--suite metadata -I"),
             Contains("-I (--direct)") && Contains("no operation of this suite"));
}

TEST_CASE("a suite without a size gets twice the memory, in which only lanes with files count") {
  const auto plan = PlanFor("--suite bonnie");
  REQUIRE(plan.ok());
  CHECK(plan->files().bytes_per_lane() == 2_GiB);  // of 1 GiB
  CHECK(plan->notes().empty());
}

TEST_CASE("every suite is a plan that can be run") {
  for (const char* name : {"bonnie", "etcd", "io500-like", "iozone-auto", "iozone-nfs", "metadata", "smoke"}) {
    INFO(ErrorOf(absl::StrCat("--suite ", name)));
    CHECK(PlanFor(absl::StrCat("--suite ", name)).ok());
  }
  CHECK(PhasesOf("--suite iozone-auto -g 64k -y 64k -i 1") == std::vector<std::string>{"read", "reread"});
}

TEST_CASE("a flag that is off keeps a suite's from being added") {
  GivenOptions given, suite;
  REQUIRE(given.Add("direct", "no").ok());
  REQUIRE(suite.Add("direct").ok());
  REQUIRE(suite.Add("fsync-in-timing").ok());
  given.AddMissing(suite);
  CHECK_FALSE(given.Has("direct"));
  CHECK(given.Has("fsync-in-timing"));
}

}  // namespace
}  // namespace iobench
