// A command line or a YAML file becomes a complete, checked plan.
#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "common/text/units.h"
#include "coordinator/options/iozone_letters.h"
#include "coordinator/plan/background.h"
#include "coordinator/plan/phase_list.h"
#include "coordinator/plan/plan_builder.h"
#include "coordinator/plan/plan_check.h"
#include "coordinator/plan/plan_yaml.h"
#include "coordinator/plan/server_phases.h"
#include "tests/support/command_words.h"

namespace iobench {
namespace {

using Catch::Contains;

absl::StatusOr<v1::Plan> PlanFor(const std::vector<std::string>& arguments) {
  auto line = JobFrom(arguments);
  if (!line.ok()) return line.status();
  auto plan = BuildPlan(line->given, {});
  if (!plan.ok()) return plan;
  if (absl::Status status = CheckPlan(*plan); !status.ok()) return status;
  return plan;
}

std::vector<std::string> PhasesOf(const v1::Plan& plan) {
  std::vector<std::string> names;
  for (const v1::Phase& phase : plan.phases()) names.push_back(phase.name());
  return names;
}

std::string ErrorOf(const std::vector<std::string>& arguments) {
  const auto plan = PlanFor(arguments);
  return plan.ok() ? "" : std::string(plan.status().message());
}

TEST_CASE("the main job becomes six phases with close and fsync where they belong") {
  const auto plan =
      PlanFor({"-i", "0", "-i", "1", "-i", "2", "-c", "-e", "-r", "64k", "-s", "4m", "--path", "/tmp"});
  REQUIRE(plan.ok());
  CHECK(PhasesOf(*plan) ==
        std::vector<std::string>{"write", "rewrite", "read", "reread", "random-read", "random-write"});
  CHECK(plan->files().bytes_per_lane() == 4_MiB);
  const v1::Phase& write = plan->phases(0);
  CHECK(write.assignments(0).operation().record_bytes() == 64_KiB);
  CHECK(write.region().close());
  CHECK(write.region().fsync());
  CHECK(write.stonewall() == v1::STONEWALL_FLUSHED);
  const v1::Phase& read = plan->phases(2);
  CHECK(read.region().close());
  CHECK_FALSE(read.region().fsync());  // nothing to flush
  CHECK(read.stonewall() == v1::STONEWALL_RETROACTIVE);
}

TEST_CASE("metadata operations are done once, however many sizes and records there are of files") {
  const auto plan =
      PlanFor({"--op", "create", "--op", "write", "--op", "unlink", "-s", "1m", "-s", "2m", "-r", "64k"});
  REQUIRE(plan.ok());
  CHECK(PhasesOf(*plan) == std::vector<std::string>{"create", "write 1m/64k", "unlink", "write 2m/64k"});
  const auto lanes =
      PlanFor({"--op", "create", "--op", "write", "-s", "1m", "-s", "2m", "-r", "64k", "-t", "1", "-t", "2"});
  REQUIRE(lanes.ok());
  std::vector<std::string> creates = PhasesOf(*lanes);
  std::erase_if(creates, [](const std::string& name) { return !name.starts_with("create"); });
  CHECK(creates == std::vector<std::string>{"create, 1 lane", "create, 2 lanes"});
}

TEST_CASE("letters cluster and a bare size is KiB, as in IOzone") {
  const auto plan = PlanFor({"-ce", "-i0", "-r64", "-s", "1024"});
  REQUIRE(plan.ok());
  CHECK(PhasesOf(*plan) == std::vector<std::string>{"write", "rewrite"});
  CHECK(plan->phases(0).region().close());
  CHECK(plan->phases(0).region().fsync());
  CHECK(plan->phases(0).assignments(0).operation().record_bytes() == 64_KiB);
  CHECK(plan->files().bytes_per_lane() == 1_MiB);
}

TEST_CASE("IOzone's plus options become long ones") {
  CHECK(*WithLongOptions({"-+n", "-+p", "70", "-+p30", "-+V", "-+D", "-i", "8"}) ==
        std::vector<std::string>{"--no-retest", "--mix-percent=70", "--mix-percent=30", "--shared-file",
                                 "--dsync", "-i", "8"});
  CHECK(*WithLongOptions({"--", "-+n"}) == std::vector<std::string>{"--", "-+n"});
  CHECK_THAT(std::string(WithLongOptions({"-+Z"}).status().message()),
             Contains("-+Z") && Contains("pattern:165"));
  CHECK_THAT(std::string(WithLongOptions({"-+?"}).status().message()), Contains("unknown"));
  CHECK_THAT(std::string(WithLongOptions({"-+p"}).status().message()), Contains("argument"));
}

TEST_CASE("-+n leaves retests of a number out, not what is asked for by name") {
  CHECK(PhasesOf(*PlanFor({"-+n", "-i", "0", "-i", "1"})) == std::vector<std::string>{"write", "read"});
  CHECK(PhasesOf(*PlanFor({"-+n", "--op", "reread"})) == std::vector<std::string>{"reread"});
}

TEST_CASE("passes are flushed where buffered writes go round and flushing belongs to the figure") {
  const auto flushes = [](std::initializer_list<std::string> options) {
    return PlanFor(options)->phases(0).region().flush_passes();
  };
  CHECK(flushes({"-i0", "-c", "--time", "3"}));
  CHECK(flushes({"-i0", "-e", "--time", "3"}));
  CHECK(flushes({"-i8", "-e", "--time", "3"}));
  CHECK_FALSE(flushes({"-i0", "-c", "-e", "-s", "1m"}));
  CHECK(flushes({"-i0", "--time", "3"}));
  CHECK_FALSE(flushes({"-i0", "-s", "1m", "--time", "3"}));
  CHECK_FALSE(flushes({"-i0", "-c", "-e", "-I", "--time", "3"}));
  CHECK_FALSE(flushes({"-i0", "-c", "-e", "-o", "--time", "3"}));
  CHECK_FALSE(flushes({"-i1", "-c", "-e", "--time", "3"}));
  CHECK_FALSE(flushes({"-i0", "-c", "-e", "--engine", "null", "--time", "3"}));
}

TEST_CASE("stonewall kinds follow from what is timed") {
  CHECK(PlanFor({"-i0", "-s", "64m"})->phases(0).stonewall() == v1::STONEWALL_RETROACTIVE);
  CHECK(PlanFor({"-i0", "-c"})->phases(0).stonewall() == v1::STONEWALL_FLUSHED);
  CHECK(PlanFor({"-i0", "-c", "-I"})->phases(0).stonewall() == v1::STONEWALL_RETROACTIVE);
  CHECK(PlanFor({"-i0", "-c", "-x"})->phases(0).stonewall() == v1::STONEWALL_NONE);
  CHECK(PlanFor({"-i0", "-c", "--stop-at-stonewall"})->phases(0).stonewall() == v1::STONEWALL_FLUSHED);
  CHECK(PlanFor({"-i1", "-c", "--stop-at-stonewall"})->phases(0).stonewall() == v1::STONEWALL_STOP);
}

TEST_CASE("the stonewall of a mix is flushed if any of its parts is, in whatever order") {
  for (const char* const parts : {"[{operation: {name: read}}, {operation: {name: write}}]",
                                  "[{operation: {name: write}}, {operation: {name: read}}]"}) {
    auto plan =
        ParsePlan(absl::StrCat("phases:\n  - {region: {fsync: true}, assignments: ", parts, "}\n"), "mix");
    REQUIRE(plan.ok());
    CompletePlan(*plan);
    CHECK(plan->phases(0).stonewall() == v1::STONEWALL_FLUSHED);
  }
}

TEST_CASE("rotation and dropped caches go with reads only") {
  const auto plan = PlanFor({"-i0", "-i1", "--rotate-clients", "--drop-caches"});
  CHECK_FALSE(plan->phases(0).assignments(0).operation().rotate_clients());
  CHECK(plan->phases(0).before().empty());
  CHECK(plan->phases(2).assignments(0).operation().rotate_clients());
  CHECK(plan->phases(2).before(0).has_drop_caches());
}

TEST_CASE("bad usage is one line that says what to do") {
  CHECK_THAT(ErrorOf({"-i", "rnd-read"}), Contains("random-read"));
  CHECK_THAT(ErrorOf({"-s", "0"}), Contains("size is 0"));
  CHECK_THAT(ErrorOf({"-r", "0"}), Contains("record size is 0"));
  CHECK_THAT(ErrorOf({"-r", "2m", "-s", "1m"}), Contains("larger than a file"));
  CHECK_THAT(ErrorOf({"-r", "1000b", "-s", "1m", "-I"}), Contains("512"));
  CHECK_THAT(ErrorOf({"-s", "12x"}), Contains("12x"));
  CHECK_THAT(ErrorOf({"--engine", "quantum"}), Contains("quantum") && Contains("posix"));
  CHECK_THAT(ErrorOf({"--wear-out"}), Contains("--deadline"));
  CHECK_THAT(ErrorOf({"--time", "5", "--deadline", "3"}), Contains("--deadline"));
  CHECK_THAT(ErrorOf({"--time", "5", "--warmup", "5"}), Contains("warm-up"));
  CHECK_THAT(ErrorOf({"--shared-file", "--files-per-lane", "2"}), Contains("--files-per-lane"));
  CHECK_THAT(ErrorOf({"-s", "1m", "--files-per-lane", "3"}), Contains("evenly"));
  CHECK_THAT(ErrorOf({"--spawn", "2", "--listen", ":1", "--workers", "2"}), Contains("--spawn"));
  CHECK_THAT(ErrorOf({"--listen", ":1"}), Contains("--workers"));
  CHECK_THAT(ErrorOf({"--transport", "grpc"}), Contains("--listen"));
  CHECK_THAT(ErrorOf({"--frobnicate"}), Contains("--frobnicate"));
  CHECK_THAT(ErrorOf({"-x", "--stop-at-stonewall"}),
             Contains("--no-stonewall") && Contains("--stop-at-stonewall"));
  CHECK_THAT(ErrorOf({"--plan", "p.yaml", "-r", "4k"}), Contains("--record") && Contains("--plan"));
  CHECK_THAT(ErrorOf({"--plan", "/does/not/exist.yaml"}), Contains("/does/not/exist.yaml"));
}

TEST_CASE("without anything given the run is small and local") {
  const auto plan = PlanFor({});
  REQUIRE(plan.ok());
  CHECK(plan->phases_size() == 6);
  CHECK(plan->files().bytes_per_lane() == 64_MiB);
  CHECK(plan->targets(0).path().front() == '/');
}

TEST_CASE("a printed plan loads to the same plan") {
  auto plan = PlanFor({"-i",
                       "0",
                       "-i",
                       "8",
                       "-+p",
                       "70",
                       "-c",
                       "--time",
                       "1.5",
                       "--drop-caches",
                       "--rotate-clients",
                       "-i1",
                       "--repeat",
                       "3",
                       "-w",
                       "--path",
                       "/tmp",
                       "--path",
                       "/var/tmp",
                       "--seed",
                       "18446744073709551615"});
  REQUIRE(plan.ok());
  auto loaded = ParsePlan(PlanToYaml(*plan), "printed");
  REQUIRE(loaded.ok());
  CHECK(loaded->SerializeAsString() == plan->SerializeAsString());
}

TEST_CASE("a seed is drawn where neither plan nor option gives one") {
  CHECK(ParsePlan("lanes_per_worker: 1\n", "p", 77)->seed() == 77);
  CHECK(ParsePlan("seed: 5\n", "p", 77)->seed() == 5);
  const auto seed_of = [](const std::vector<std::string>& arguments) {
    return BuildPlan(JobFrom(arguments)->given, {.drawn_seed = 77})->seed();
  };
  CHECK(seed_of({"-i0"}) == 77);
  CHECK(seed_of({"-i0", "--seed", "5"}) == 5);
  CHECK(seed_of({"--suite", "smoke"}) == 77);
}

TEST_CASE("a phase without a name has the names of all its operations") {
  auto plan = ParsePlan(
      "phases:\n- assignments:\n  - operation: {name: write}\n  - operation: {name: read}\n  - operation: {name: "
      "write}\n",
      "p");
  REQUIRE(plan.ok());
  CompletePlan(*plan);
  CHECK(plan->phases(0).name() == "write+read");
}

TEST_CASE("a plan is completed with every default") {
  auto plan = ParsePlan(
      "phases:\n- assignments:\n  - operation: {name: stride-read, record_bytes: 4k}\nfiles: "
      "{bytes_per_lane: 1m}\n",
      "p");
  REQUIRE(plan.ok());
  CompletePlan(*plan);
  REQUIRE(CheckPlan(*plan).ok());
  CHECK(plan->phases(0).name() == "stride-read");
  CHECK(plan->phases(0).assignments(0).operation().engine() == "posix");
  CHECK(plan->phases(0).assignments(0).operation().stride_records() == 17);
  CHECK(plan->repetitions() == 1);
  CHECK(plan->targets_size() == 1);
}

TEST_CASE("a wrong plan is refused with the place of the fault") {
  const auto error = [](const char* text) {
    return std::string(ParsePlan(text, "p.yaml").status().message());
  };
  CHECK_THAT(error("phases:\n- assignments:\n  - operation:\n      recrd_bytes: 4k\n"),
             Contains("p.yaml:4:7") && Contains("phases[0].assignments[0].operation") &&
                 Contains("recrd_bytes") && Contains("record_bytes"));
  CHECK_THAT(error("lanes_per_worker: many\n"), Contains("p.yaml:1:19") && Contains("many"));
  CHECK_THAT(error("lanes_per_worker: -1\n"), Contains("-1"));
  CHECK_THAT(error("lanes_per_worker: 99999999999\n"), Contains("too large"));
  CHECK_THAT(error("phases: 3\n"), Contains("list"));
  CHECK_THAT(error("keep_data: perhaps\n"), Contains("perhaps"));
  CHECK_THAT(error("phases:\n- stonewall: brick\n"), Contains("brick") && Contains("flushed"));
  CHECK_THAT(error("seed: 1\nseed: 2\n"), Contains("twice"));
  CHECK_THAT(error("a: [1\n"), Contains("not valid YAML"));
  CHECK_THAT(error("- 1\n"), Contains("mapping"));
}

TEST_CASE("mappings that are merged into each other without end are refused with their place") {
  for (const std::string text : {"files: &f\n  <<: *f\n", "&plan\nphases: []\n<<: *plan\n"}) {
    const auto plan = ParsePlan(text, "plan.yaml");
    CHECK(absl::IsInvalidArgument(plan.status()));
    CHECK_THAT(std::string(plan.status().message()), Contains("plan.yaml:") && Contains("alias"));
  }
  const auto merged = ParsePlan(
      "files: &f\n  bytes_per_lane: 1m\nphases:\n  - files: {<<: *f, files_per_lane: 2}\n", "plan.yaml");
  REQUIRE(merged.ok());
  CHECK(merged->phases(0).files().bytes_per_lane() == 1_MiB);
  CHECK(merged->phases(0).files().files_per_lane() == 2);
}

TEST_CASE("a number with a leading zero is decimal") {
  const auto plan = ParsePlan("repetitions: 010\nseed: 08\nphases: []\n", "plan.yaml");
  REQUIRE(plan.ok());
  CHECK(plan->repetitions() == 10);
  CHECK(plan->seed() == 8);
  CHECK_FALSE(ParsePlan("repetitions: 0x10\nphases: []\n", "plan.yaml").ok());
  CHECK_FALSE(ParsePlan("seed: 18446744073709551616\nphases: []\n", "plan.yaml").ok());
}

TEST_CASE("a field next to a merge key replaces the merged one as a whole") {
  const auto plan = ParsePlan(
      "phases:\n"
      "- &base\n"
      "  before: [{rest: {}}, {drop_caches: {verify: true}}]\n"
      "  stop: {time_s: 5, warmup_s: 1}\n"
      "- {<<: *base, before: [{remount: {}}], stop: {time_s: 9}}\n"
      "- {<<: *base, before: []}\n",
      "plan.yaml");
  REQUIRE(plan.ok());
  REQUIRE(plan->phases_size() == 3);
  CHECK(plan->phases(0).before_size() == 2);
  REQUIRE(plan->phases(1).before_size() == 1);
  CHECK(plan->phases(1).before(0).has_remount());
  CHECK(plan->phases(1).stop().time_s() == 9);
  CHECK(plan->phases(1).stop().warmup_s() == 0);
  CHECK(plan->phases(2).before().empty());
  CHECK(plan->phases(2).stop().time_s() == 5);
  CHECK(plan->phases(2).stop().warmup_s() == 1);
}

TEST_CASE("what all lanes have together stays within what sums of sizes can hold") {
  const auto plan = PlanFor({"-i", "0", "-s", "1048576t", "-r", "1g", "-t", "2"});  // 2 lanes of 2^60
  REQUIRE(plan.ok());
  CHECK(CheckForWorkers(*plan, 2).ok());
  const absl::Status too_much = CheckForWorkers(*plan, 3);
  CHECK(absl::IsInvalidArgument(too_much));
  CHECK_THAT(std::string(too_much.message()), Contains("6 lanes of 1 EiB"));
  // 8 lanes of 2^61 are 2^64, which is 0 in a sum of 64 bits.
  CHECK_FALSE(CheckForWorkers(*PlanFor({"-i", "0", "-s", "2097152t", "-r", "1g", "-t", "8"}), 1).ok());
  CHECK(CheckForWorkers(*PlanFor({"-i", "0", "-s", "2097152t", "-r", "1g", "-t", "8", "--engine", "null"}), 1)
            .ok());
  const auto trees = PlanFor({"--op", "create", "--items", "67108864", "--file-bytes", "1g", "-t", "64"});
  REQUIRE(trees.ok());
  CHECK(CheckForWorkers(*trees, 1).ok());
  CHECK_FALSE(CheckForWorkers(*trees, 2).ok());
}

TEST_CASE("--each-path does the whole list on each path, with names that tell them apart") {
  const auto plan = PlanFor({"--op", "write,read", "-r", "4k", "-s", "1m", "--path", "/a", "--path", "/b/",
                             "--each-path", "--rest", "1"});
  REQUIRE(plan.ok());
  CHECK(PhasesOf(*plan) ==
        std::vector<std::string>{"write on /a", "read on /a", "write on /b", "read on /b"});
  std::vector<uint32_t> targets;
  std::vector<int> steps;
  for (const v1::Phase& phase : plan->phases()) {
    targets.push_back(phase.only_target());
    steps.push_back(phase.before_size());
  }
  CHECK(targets == std::vector<uint32_t>{1, 1, 2, 2});
  CHECK(steps == std::vector<int>{1, 1, 1, 1});
  CHECK(plan->phases(0).before(0).rest().not_first());
}

TEST_CASE("--per-client is refused for a saved plan whose phases are those of some workers") {
  const std::vector<WorkersOfClient> clients = {{.name = "c01", .workers = {0}},
                                                {.name = "c02", .workers = {1}}};
  auto alone = PlanFor({"-i", "0", "--per-client"});
  REQUIRE(alone.ok());
  LetEachClientWorkAlone(clients, *alone);
  auto beside = PlanFor({"-i", "0", "--time", "1", "-s", "1m", "--background", "write@64k"});
  REQUIRE(beside.ok());
  REQUIRE(SetBesideBackground(clients, false, *beside).ok());
  auto served = PlanFor({"-i", "0"});
  REQUIRE(served.ok());
  AddServerPhases(2, 1, *served);
  for (v1::Plan* const plan : {&*alone, &*beside, &*served}) {
    CHECK(CheckPlan(*plan).ok());
    plan->set_per_client(true);
    CHECK(CheckPlan(*plan).message() == "the plan already divides its clients: leave out --per-client");
  }
}

TEST_CASE("--per-client does each phase by the workers of each client, and then by all") {
  auto built = PlanFor({"-i", "0", "--op", "stat", "--items", "10", "--rest", "1", "--per-client"});
  REQUIRE(built.ok());
  v1::Plan& plan = *built;
  CHECK(plan.per_client());
  const std::vector<WorkersOfClient> clients = {{"c01", {0, 2}}, {"c02", {1}}};
  LetEachClientWorkAlone(clients, plan);
  CHECK_FALSE(plan.per_client());
  const std::vector<std::string> expected = {"write on c01",   "write on c02",   "write",
                                             "rewrite on c01", "rewrite on c02", "rewrite",
                                             "stat on c01",    "stat on c02",    "stat"};
  CHECK(PhasesOf(plan) == expected);
  const v1::Phase& first = plan.phases(0);
  CHECK(first.alone().phase() == "write");
  CHECK(first.alone().client() == "c01");
  const auto& workers = first.assignments(0).who().workers();
  CHECK(std::vector<uint32_t>(workers.begin(), workers.end()) == std::vector<uint32_t>{0, 2});
  CHECK(first.assignments(0).operation().SerializeAsString() ==
        plan.phases(2).assignments(0).operation().SerializeAsString());
  CHECK_FALSE(plan.phases(2).has_alone());
  CHECK(plan.phases(2).assignments(0).who().workers().empty());
  CHECK(plan.phases(3).before(0).rest().seconds() == 1);
  // Only the first of the run goes without a rest, not all that are derived from the same phase.
  REQUIRE(plan.phases(1).before_size() == 1);
  CHECK(plan.phases(1).before(0).rest().seconds() == 1);
  CHECK(plan.phases(1).before(0).rest().not_first());
}

TEST_CASE("a phase that selects workers of one client stays as it is with --per-client") {
  auto built = PlanFor({"--op", "write", "--per-client"});
  REQUIRE(built.ok());
  v1::Plan& plan = *built;
  plan.mutable_phases(0)->mutable_assignments(0)->mutable_who()->add_workers(2);
  const std::vector<WorkersOfClient> clients = {{"c01", {0, 2}}, {"c02", {1}}};
  LetEachClientWorkAlone(clients, plan);
  REQUIRE(plan.phases_size() == 1);
  CHECK_FALSE(plan.phases(0).has_alone());
}

TEST_CASE("--each-path needs several different paths") {
  CHECK_THAT(ErrorOf({"-i", "0", "--each-path"}), Contains("give --path at least twice"));
  CHECK_THAT(ErrorOf({"-i", "0", "--path", "/a", "--path", "/a/", "--each-path"}),
             Contains("names /a twice"));
  CHECK_THAT(ErrorOf({"-i", "0", "--path", "/a", "--path", "/b", "--each-path", "-w"}), Contains("--keep"));
}

}  // namespace
}  // namespace iobench
