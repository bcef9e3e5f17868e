// Every option of `run` sets the right fields of the plan, and refuses what it conflicts with or lacks.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/model/plan_traits.h"
#include "common/text/units.h"
#include "coordinator/options/command_table.h"
#include "coordinator/options/iozone_letters.h"
#include "coordinator/options/iozone_output.h"
#include "coordinator/options/option.h"
#include "coordinator/options/option_rules.h"
#include "tests/support/command_words.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/plan_for.h"

namespace iobench {
namespace {

using Catch::Contains;

// The value of a field as people write it; enums by their short names.
std::string FieldOf(const google::protobuf::Message& root, const std::string& path) {
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Message* message = &root;
  const std::vector<std::string> names = absl::StrSplit(path, '.');
  for (size_t i = 0; i + 1 < names.size(); ++i) {
    const auto* field = message->GetDescriptor()->FindFieldByName(names[i]);
    REQUIRE(field != nullptr);
    message = &message->GetReflection()->GetMessage(*message, field);
  }
  const auto* field = message->GetDescriptor()->FindFieldByName(names.back());
  REQUIRE(field != nullptr);
  const auto& reflection = *message->GetReflection();
  if (field->is_repeated()) return absl::StrCat(reflection.FieldSize(*message, field), " values");
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(*message, field) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection.GetString(*message, field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return absl::StrCat(reflection.GetDouble(*message, field));
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrCat(reflection.GetInt32(*message, field));
    case FieldDescriptor::CPPTYPE_UINT32:
      return absl::StrCat(reflection.GetUInt32(*message, field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return absl::StrCat(reflection.GetUInt64(*message, field));
    case FieldDescriptor::CPPTYPE_ENUM:
      return reflection.GetEnum(*message, field)->name();
    default:
      return "?";
  }
}

// The fields of the first phase for roots "phase" and "operation", the plan's for the others.
std::string PlanField(const v1::Plan& plan, const std::string& path) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(path, absl::MaxSplits('.', 1));
  if (parts.first == "plan") return FieldOf(plan, parts.second);
  if (parts.first == "files") return FieldOf(plan.files(), parts.second);
  if (parts.first == "data") return FieldOf(plan.data(), parts.second);
  if (parts.first == "phase") return FieldOf(plan.phases(0), parts.second);
  return FieldOf(plan.phases(0).assignments(0).operation(), parts.second);
}

struct Case {
  std::string words;
  std::map<std::string, std::string> fields;
};

// A line for every option that fills fields, by its letter where it has one.
const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {"-i 0 --files-per-lane 4", {{"files.files_per_lane", "4"}}},
      {"-i 0 -+V", {{"files.shared_file", "true"}}},
      {"-i 0 -+V --interleaved --block 4m", {{"files.block_bytes", "4194304"}}},
      {"-i 0 -+V --interleaved", {{"files.interleaved", "true"}, {"files.shared_file", "true"}}},
      {"-i 2 --access zipf:1.1", {{"operation.access", "zipf:1.1"}}},
      {"-i 2 --burst-records 8", {{"operation.burst_records", "8"}}},
      {"-i 0 --engine mpiio -t 1 -+V --collective", {{"operation.mpi_io.collective", "true"}}},
      {"-i 0 --engine mpiio -+V --interleaved --mpi-view", {{"operation.mpi_io.view", "true"}}},
      {"--op create --file-sizes lognormal:13k/2.5",
       {{"operation.tree.sizes", "lognormal:13k/2.5"}, {"operation.tree.file_bytes", "1073741824"}}},
      {"--op create --file-sizes desktop --file-bytes 1m",
       {{"operation.tree.sizes", "desktop"}, {"operation.tree.file_bytes", "1048576"}}},
      {"-i 0 --fsync-every 8 --flush-call fdatasync",
       {{"operation.between.flush_every_ops", "8"}, {"operation.between.flush_call", "fdatasync"}}},
      {"-i 0 --fsync-every 8", {{"operation.between.flush_call", "fsync"}}},
      {"--op append-log",
       {{"operation.between.flush_every_ops", "1"}, {"operation.between.flush_call", "fdatasync"}}},
      {"--op append-log --fsync-every 0", {{"operation.between.flush_every_ops", "0"}}},
      {"-i 5 -j 23", {{"operation.stride_records", "23"}}},
      {"-i 5 -j 4,8", {{"operation.stride_records", "4"}}},
      {"-i 8 -+p 70", {{"operation.read_percent", "70"}, {"operation.mix_by_lane", "false"}}},
      {"-i 8 -+p 070", {{"operation.read_percent", "70"}}},  // not octal
      {"-i 8 --mix-by-lane", {{"operation.mix_by_lane", "true"}, {"operation.read_percent", "50"}}},
      {"-i 8 -+K 3", {{"operation.reader_lanes", "3"}, {"operation.mix_by_lane", "true"}}},
      {"-i 8 -+B -+F", {{"operation.name", "sequential-mix"}, {"operation.truncate", "true"}}},
      {"-i 0 -+N", {{"operation.keep_existing", "true"}}},
      {"-i 0 --engine null", {{"operation.engine", "null"}}},
      {"--seed 18446744073709551615", {{"plan.seed", "18446744073709551615"}}},
      {"-i 1 -c", {{"phase.region.close", "true"}}},
      {"-i 0 -e", {{"phase.region.fsync", "true"}}},
      {"-i 1 --open-in-timing", {{"phase.region.open", "true"}}},
      {"-i 0 -I", {{"operation.direct", "true"}}},
      {"-i 0 -o", {{"operation.sync", "true"}}},
      {"-i 0 -+D", {{"operation.dsync", "true"}}},
      {"-i 1 -+r", {{"operation.rsync", "true"}}},
      {"-i 0 -c -x", {{"phase.stonewall", "STONEWALL_NONE"}}},
      {"-i 1 --time 2.5", {{"phase.stop.time_s", "2.5"}}},
      {"-i 1 --time 2.5 --warmup 1", {{"phase.stop.warmup_s", "1"}}},
      {"-i 1 --deadline 3", {{"phase.stop.deadline_s", "3"}}},
      {"-i 1 --deadline 3 --wear-out", {{"phase.stop.wear_out", "true"}}},
      {"-i 2 --max-ops 8192", {{"phase.stop.max_ops", "8192"}}},
      {"--repeat 5", {{"plan.repetitions", "5"}}},
      {"--repeat 08", {{"plan.repetitions", "8"}}},
      {"-i 0 --soak 2h",
       {{"plan.soak_s", "7200"},
        {"data.verify", "true"},
        {"phase.stop.max_errors", "18446744073709551615"},
        {"phase.stop.time_s", "12"},  // two phases, 300 rounds
        {"phase.stop.whole_passes", "true"}}},
      {"--op write,read,reread -s 1m --soak 1.5min --max-errors 9",
       {{"plan.soak_s", "90"}, {"phase.stop.max_errors", "9"}, {"phase.stop.time_s", "1"}}},
      {"-i 0 --soak 7d --time 30",
       {{"plan.soak_s", "604800"}, {"phase.stop.time_s", "30"}, {"phase.stop.whole_passes", "true"}}},
      {"-i 0 -B", {{"operation.engine", "mmap"}, {"operation.mmap.sync", "NEVER"}}},
      {"-i 0 -D", {{"operation.engine", "mmap"}, {"operation.mmap.sync", "ASYNC"}}},
      {"-i 0 -B -G", {{"operation.engine", "mmap"}, {"operation.mmap.sync", "SYNC"}}},
      {"-i 0 -G -B", {{"operation.engine", "mmap"}, {"operation.mmap.sync", "SYNC"}}},
      {"-i 1 -B -+A 2", {{"operation.mmap.advice", "sequential"}}},
      {"-i 1 -D -+A willneed", {{"operation.mmap.advice", "willneed"}}},
      {"-i 0 -B -Z", {{"operation.mmap.mix_file_io", "true"}}},
      {"-i 0 --libc-calls", {{"operation.libc_calls", "true"}}},
      {"-i 0 -W", {{"operation.file_lock", "true"}}},
      {"-i 0 -+l", {{"operation.record_locks", "true"}}},
      {"-i 0 -+L", {{"operation.record_locks", "true"}, {"files.shared_file", "true"}}},
      {"-i 1 -K", {{"operation.jitter_every", "100"}}},
      {"-i 1 --jitter-every 7", {{"operation.jitter_every", "7"}}},
      {"-i 1 --fadvise random", {{"operation.fadvise", "random"}}},
      {"-i 0 --preallocate", {{"operation.preallocate", "true"}}},
      {"-i 0 -m", {{"operation.buffer_bytes", "16777216"}}},
      {"-i 1 --buffer-bytes 4m", {{"operation.buffer_bytes", "4194304"}}},
      {"-i 0 --stripe 4:1m", {{"plan.stripe.count", "4"}, {"plan.stripe.bytes", "1048576"}}},
      {"-i 0 --stripe -1", {{"plan.stripe.count", "-1"}, {"plan.stripe.bytes", "0"}}},
      {"-i 0 -Q", {{"operation.trace.offset_latency", "true"}, {"phase.stop.time_s", "0"}}},
      {"-i 1 -J 1.5", {{"operation.between.think_ms", "1.5"}}},
      {"-i 1 -J 1 -+J", {{"operation.between.think_in_throughput", "true"}}},
      {"-i 1 -p", {{"operation.between.purge_processor_cache", "true"}}},
      {"-i 1 -p -S 2048", {{"operation.between.processor_cache_bytes", "2097152"}}},
      {"-i 1 -p -L 64", {{"operation.between.processor_cache_line_bytes", "64"}}},
      {"-i 1 -+O 1000", {{"operation.between.ops_per_s", "1000"}}},
      {"-i 0 -+b 4m,20",
       {{"operation.between.burst_bytes", "4194304"}, {"operation.between.burst_pause_ms", "20"}}},
      {"-i 0 --data pattern:187", {{"data.kind", "PATTERN"}, {"data.pattern_byte", "187"}}},
      {"-i 0 --data zero", {{"data.kind", "ZERO"}}},
      {"-i 0 --data same", {{"data.kind", "SAME"}}},
      {"-i 0 -V 17", {{"data.kind", "PATTERN"}, {"data.pattern_byte", "17"}, {"data.verify", "true"}}},
      {"-i 0 -V 010", {{"data.pattern_byte", "10"}}},
      {"-i 0 -+d", {{"data.verify", "true"}}},
      {"-i 0 --compress 40", {{"data.compress_percent", "40"}}},
      {"-i 0 -+w 50", {{"data.dedupe_percent", "50"}}},
      {"-i 0 -+w 50 -+y 30", {{"data.dedupe_within_percent", "30"}}},
      {"-i 0 -+w 50 -+y 30 -+C 20", {{"data.dedupe_interior_percent", "20"}}},
      {"-i 0 -+w 50 -+S 7", {{"data.dedupe_seed", "7"}}},
      {"-i 0 -+w 50 -+W 3", {{"data.dedupe_lane_offset", "3"}}},
      {"--op create --items 500", {{"operation.tree.items_per_lane", "500"}}},
      {"--op create --tree-depth 2 --tree-branching 8",
       {{"operation.tree.depth", "2"}, {"operation.tree.branching", "8"}}},
      {"--op create --shared-directory", {{"operation.tree.shared_directory", "true"}}},
      {"--op create --file-bytes 3901", {{"operation.tree.file_bytes", "3901"}}},
      {"--op create --file-bytes 64k --min-file-bytes 1k",
       {{"operation.tree.file_bytes", "65536"},
        {"operation.tree.random_sizes", "true"},
        {"operation.tree.min_file_bytes", "1024"}}},
      {"--op find --find-name *01*", {{"operation.tree.find.name", "*01*"}}},
      {"--op find --find-bytes 3901", {{"operation.tree.find.bytes", "3901"}}},
      {"--op stat --random-order", {{"operation.tree.random_order", "true"}}},
      {"--op set-xattr --xattr-bytes 128", {{"operation.tree.xattr_bytes", "128"}}},
      {"-i 1 --rotate-clients", {{"operation.rotate_clients", "true"}}},
      {"-i 0 -w", {{"plan.keep_data", "true"}}},
  };
  return cases;
}
TEST_CASE("every option writes what it says into the plan") {
  for (const Case& each : Cases()) {
    INFO(each.words);
    const auto plan = PlanFor(each.words);
    INFO((plan.ok() ? "" : std::string(plan.status().message())));
    REQUIRE(plan.ok());
    for (const auto& [path, value] : each.fields) {
      INFO(path);
      CHECK(PlanField(*plan, path) == value);
    }
  }
}

TEST_CASE("an option's fields are fields of a plan, and it has a help line") {
  const v1::Plan plan;
  std::set<std::string> names, letters;
  for (const OptionSpec& option : kPlanOptions) {
    INFO(std::string(option.name));
    CHECK(names.insert(std::string(option.name)).second);
    if (!option.letter.empty()) CHECK(letters.insert(std::string(option.letter)).second);
    CHECK_FALSE(option.help.empty());
    CHECK(option.is_flag() == option.argument.empty());
    if (option.sets.empty()) continue;
    for (const auto& piece : absl::StrSplit(std::string(option.sets), ' ')) {
      const std::vector<std::string> sides = absl::StrSplit(piece, '=');
      const std::pair<std::string, std::string> parts = absl::StrSplit(sides[0], absl::MaxSplits('.', 1));
      INFO(sides[0]);
      static const std::map<std::string, const google::protobuf::Message*> roots = {
          {"plan", &v1::Plan::default_instance()},
          {"files", &v1::FileLayout::default_instance()},
          {"data", &v1::DataContent::default_instance()},
          {"phase", &v1::Phase::default_instance()},
          {"operation", &v1::Operation::default_instance()}};
      REQUIRE(roots.contains(parts.first));
      CHECK(FieldOf(*roots.at(parts.first), parts.second) != "?");
      CHECK((FieldOf(*roots.at(parts.first), parts.second) == "0 values") == option.adds);
    }
  }
}

TEST_CASE("a refused letter says why") {
  for (const RefusedLetter& letter : RefusedLetters()) {
    const std::string words =
        absl::StrCat("-i 0 -", std::string(letter.letter), letter.takes_argument ? " 3" : "");
    INFO(words);
    CHECK_THAT(ErrorOf(words),
               Contains(absl::StrCat("-", std::string(letter.letter))) && Contains(std::string(letter.why)));
  }
}

TEST_CASE("options that contradict each other are refused, and both are named") {
  const auto argument_of = [](const OptionSpec& option) -> std::string {
    if (option.is_flag()) return "";
    if (option.name == "data") return " zero";
    if (option.name == "burst") return " 4m,20";
    if (option.name == "bind") return " cores";
    return " 2";
  };
  for (const ForbiddenPair& pair : ForbiddenPairs()) {
    const OptionSpec& one = pair.one.spec();
    const OptionSpec& other = pair.other.spec();
    // Both options, each with the argument that it needs.
    const std::string words = absl::StrCat("--", std::string(one.name), argument_of(one), " --",
                                           std::string(other.name), argument_of(other));
    INFO(words);
    const std::string error = ErrorOf(words);
    CHECK_THAT(error, Contains(std::string(one.name)) && Contains(std::string(other.name)));
    CHECK(error.find('\n') == std::string::npos);
  }
}

TEST_CASE("IOzone's own contradictions are ours, too") {
  for (const char* words : {"-a -t 4", "-t 4 -g 1g -a", "-N -t 2", "-f x -F x y", "-f x -t 2", "-F x y -a",
                            "-B -k 4", "-B -H 4", "-D -k 4", "-H 4 -k 4", "-+d -+w 50", "-Y trace -a",
                            "-Y trace -j 3", "-Y trace -K", "-Y trace -V 3"}) {
    INFO(words);
    CHECK_THAT(ErrorOf(words), Contains("cannot be combined with"));
  }
}

TEST_CASE("a letter that needs another names it") {
  CHECK_THAT(ErrorOf("-i 0 -G"), Contains("-G (--mmap-sync)") && Contains("-B (--mmap)"));
  CHECK_THAT(ErrorOf("-i 0 -Z"), Contains("-Z") && Contains("-B") && Contains("-D"));
  CHECK_THAT(ErrorOf("-i 0 -+A 1"), Contains("-+A") && Contains("-B"));
  CHECK_THAT(ErrorOf("-n 1m"), Contains("-n") && Contains("-a"));
  CHECK_THAT(ErrorOf("-z"), Contains("-z") && Contains("-a"));
  CHECK_THAT(ErrorOf("-l 2"), Contains("-l") && Contains("-u"));
  CHECK_THAT(ErrorOf("-S 1024"), Contains("-S") && Contains("-p"));
  CHECK_THAT(ErrorOf("-+y 3"), Contains("-+y") && Contains("-+w"));
  CHECK_THAT(ErrorOf("-+J"), Contains("-+J") && Contains("-J"));
  CHECK_THAT(ErrorOf("-+E -i 1"), Contains("-+E") && Contains("-f") && Contains("-F"));
  CHECK_THAT(ErrorOf("-+V --block 4m"), Contains("--block") && Contains("--interleaved"));
  CHECK_THAT(ErrorOf("--interleaved"), Contains("--interleaved") && Contains("-+V"));
  CHECK_THAT(ErrorOf("-+B -i 0"), Contains("-+B") && Contains("-i 8"));
}

TEST_CASE("an option that no phase has a use for is an error, not silence") {
  CHECK_THAT(ErrorOf("-i 0 -+p 70"), Contains("-+p") && Contains("mix"));
  CHECK_THAT(ErrorOf("-i 0 -K"), Contains("-K") && Contains("reads"));
  CHECK_THAT(ErrorOf("-i 1 -+N"), Contains("-+N") && Contains("creates files"));
  CHECK_THAT(ErrorOf("-i 1 --items 5"), Contains("--items") && Contains("metadata operation"));
  CHECK_THAT(ErrorOf("-i 8 -+F"), Contains("-+F") && Contains("sequential-mix"));
  CHECK_THAT(ErrorOf("-i 0 -j 18"), Contains("-j (--stride)") && Contains("stride-read"));
  CHECK_THAT(ErrorOf("-i 0 -+n --drop-caches"), Contains("--drop-caches") && Contains("only reads"));
  CHECK_THAT(ErrorOf("--op create -s 1m"), Contains("-s (--size)") && Contains("--file-bytes"));
  CHECK_THAT(ErrorOf("--op create --op stat -r 4k"), Contains("-r (--record)") && Contains("metadata"));
  CHECK_THAT(ErrorOf("--suite metadata -s 1m"), Contains("-s (--size)") && Contains("metadata operations"));
  for (const char* const fits :
       {"--op create --op write -r 4k -s 1m", "-a -j 18", "-i 1 -e -c -r 4k -s 1m", "-i 0 -i 1 --drop-caches",
        "--op create --op stat --drop-caches", "--suite smoke -s 1m"}) {
    INFO(fits);
    CHECK(ErrorOf(fits).empty());
  }
}

TEST_CASE("an option takes one value, but for -F") {
  for (const char* const words : {"--path /a stray -i 0", "-i 0 stray", "--existing /a stray -i 1"}) {
    INFO(words);
    CHECK_THAT(ErrorOf(words), Contains("\"stray\" belongs to no option"));
  }
  CHECK(PlanFor("-F /a/1 /b/2 -i 0")->targets_size() == 2);
  CHECK(PlanFor("--path /a --path /b -i 0")->targets_size() == 2);
}

TEST_CASE("a time may have a unit") {
  const auto plan = PlanFor("-i 1 --time 1500ms --warmup 2e-1s -J 1s");
  CHECK(plan->phases(0).stop().time_s() == 1.5);
  CHECK(plan->phases(0).stop().warmup_s() == 0.2);
  CHECK(plan->phases(0).assignments(0).operation().between().think_ms() == 1000);
  CHECK(PlanFor("-i 0 -+b 4m,1s")->phases(0).assignments(0).operation().between().burst_pause_ms() == 1000);
  CHECK_THAT(ErrorOf("-i 1 --time 0.5ms"), Contains("\"0.5ms\"") && Contains("0.001") && Contains("seconds"));
  CHECK_THAT(ErrorOf("-i 1 --time 5q"), Contains("--time") && Contains("\"5q\""));
  CHECK_THAT(ErrorOf("-i 1 --join-timeout 5q"), Contains("--join-timeout") && Contains("\"5q\""));
}

TEST_CASE("-r with shares is one phase whose ops have several sizes; without, each size is a phase") {
  const auto plan = PlanFor("-i 0 -i 2 -r 4k:60,64k:30 -r 1m:10 -s 8m");
  REQUIRE(plan.ok());
  REQUIRE(plan->phases_size() == 4);
  for (const v1::Phase& phase : plan->phases()) {
    const v1::Operation& operation = phase.assignments(0).operation();
    CHECK(operation.record_bytes() == 1_MiB);
    CHECK(RecordSharesOf(operation) == std::vector<RecordShare>{{4_KiB, 60}, {64_KiB, 30}, {1_MiB, 10}});
    CHECK(RecordSizesText(operation) == "4 KiB 60 %, 64 KiB 30 %, 1 MiB 10 %");
    CHECK(MeanRecordBytes(operation) == 124 * 1024);
    CHECK(SmallestRecordBytes(operation) == 4096);
  }
  CHECK(PlanFor("-i 2 -r 64k:40,4k:60 -s 4m,8m")->phases(0).name() == "random-read 4m/4k-64k");
  const auto one = PlanFor("-i 0 -r 4k:100 -s 8m");
  REQUIRE(one.ok());
  CHECK(one->phases(0).assignments(0).operation().records().empty());
  CHECK(one->phases(0).assignments(0).operation().record_bytes() == 4096);
  // -i 0 with a metadata operation: its sizes are no records.
  CHECK(PlanFor("--op create --op write -r 4k:50,8k:50")->phases(0).assignments(0).operation().records().empty());
  const auto paced = PlanFor("-i 2 -r 4k:60,64k:30,1m:10 -s 8m --time 3 --rate 124MiB/s");
  REQUIRE(paced.ok());
  CHECK(paced->phases(0).assignments(0).operation().arrivals().ops_per_s() == Approx(1024));
}

TEST_CASE("each --mpi-hint is one hint more") {
  const auto plan = PlanFor("-i 0 -i 1 --engine mpiio --mpi-hint cb_nodes=4 --mpi-hint romio_ds_write=disable");
  REQUIRE(plan.ok());
  for (const v1::Phase& phase : plan->phases()) {
    const auto& hints = phase.assignments(0).operation().mpi_io().hints();
    CHECK(std::vector<std::string>(hints.begin(), hints.end()) ==
          std::vector<std::string>{"cb_nodes=4", "romio_ds_write=disable"});
  }
}

TEST_CASE("what MPI-IO cannot do is refused in a line that says what to change") {
  const std::string together = "--engine mpiio -+V -t 1 --collective ";
  for (const auto& [words, why] : std::vector<std::pair<std::string, std::string>>{
           {"-i 0 --collective", "--collective"},
           {"-i 0 --engine uring --mpi-hint cb_nodes=1", "--mpi-hint"},
           {"-i 0 --engine mpiio --mpi-hint cb_node=1", "did you mean cb_nodes?"},
           {"-i 0 --engine mpiio --mpi-hint cb_nodes", "KEY=VALUE"},
           {"-i 0 --engine mpiio -+V --mpi-view", "--interleaved"},
           {"-i 0 --engine mpiio -+V --interleaved --block 2g -s 4g --mpi-view", "below 2 GiB"},
           {"-i 0 --engine mpiio -t 1 --collective", "add --shared-file"},
           {"-i 0 --engine mpiio -+V -t 2 --collective", "use -t 1, and more ranks"},
           {"-i 8 " + together, "all ranks read or all write"},
           {"-i 0 --open-in-timing " + together, "leave --open-in-timing (region.open) out"},
           {"-i 0 --deadline 5 --wear-out " + together, "leave --wear-out (stop.wear_out) out"},
           {"-i 0 --per-client " + together, "--per-client"},
           {"-i 0 --engine mpiio -I", "-I (direct)"},
           {"-i 0 --engine mpiio -o", "-o (sync)"},
           {"--op create --collective --engine mpiio", "metadata"}}) {
    INFO(words);
    CHECK_THAT(ErrorOf(words), Contains(why));
  }
}

TEST_CASE("record sizes with shares that cannot be are refused in a line that says why") {
  for (const auto& [words, why] : std::vector<std::pair<std::string, std::string>>{
           {"-i 0 -r 4k:60,64k:30", "add up to 90, not to 100"},
           {"-i 0 -r 4k:60,64k", "1 of 2 sizes have a share"},
           {"-i 0 -r 4k:50,4096b:50", "4 KiB is there twice"},
           {"-i 0 -r 4k:", "has no share"},
           {"-i 0 -r 4k:0,8k:100", "no percentage above 0"},
           {"-i 0 -r 4k:x,8k:50", "no percentage above 0"},
           {"-i 0 -r 0:50,8k:50", "not between 1 byte and 1 GiB"},
           {"-i 0 -r 4k:50,2g:50 -s 4g", "not between 1 byte and 1 GiB"},
           {"-i 0 -r 4k:50,8m:50 -s 4m", "larger than a file of 4 MiB"},
           {"-i 0 -I -r 1000b:50,8k:50", "with -I the record size must be a multiple of 512 bytes, and 1000 is not"},
           {"-i 3 -r 4k:50,8k:50", "backward-read has one size"},
           {"-i 5 -r 4k:50,8k:50", "stride-read has one size"},
           {"-i 6 -r 4k:50,8k:50", "fwrite has one size"},
           {"-i 11 -r 4k:50,8k:50", "pwritev has one size"},
           {"-i 2 -r 4k:50,8k:50 --burst-records 4", "records in a row have one size"},
           {"-i 0 -r 4k:50,8k:50 -+V --interleaved", "--interleaved"},
           {"-i 0 -r 4k:50,8k:50 --dedupe 20", "--dedupe"},
           {"-i 0 -r 1000b:50,8k:50 --verify", "512 bytes"},
           {"-i 2 --burst-records 100000 -r 64k -s 4m", "from 1 to 64"},
           {"-i 1 --burst-records 4", "no operation in this run uses existing records in random order"}}) {
    INFO(words);
    const std::string error = ErrorOf(words);
    CHECK_THAT(error, Contains(why));
    CHECK(error.find('\n') == std::string::npos);
  }
}

TEST_CASE("bytes are bytes with a b, and a bare number that may be meant so is told of") {
  const auto notes = [](const std::string& words) {
    const auto plan = PlanFor(words);
    return plan.ok() ? std::vector<std::string>(plan->notes().begin(), plan->notes().end())
                     : std::vector<std::string>{std::string(plan.status().message())};
  };
  CHECK(notes("-i 0 -r 4096 -s 8m") ==
        std::vector<std::string>{"-r 4096 is 4 MiB: IOzone counts in KiB; for bytes write 4096b"});
  CHECK(notes("-i 0 -r 64,2048 -s 8192").size() == 2);
  CHECK(notes("-i 0 -r 1024 -s 4m").empty());
  CHECK(notes("-i 0 -r 4096b -s 4m").empty());
  const auto plan = PlanFor("-i 0 -r 512b -s 4096b -p -L 64b");
  CHECK(plan->files().bytes_per_lane() == 4096);
  CHECK(plan->phases(0).assignments(0).operation().record_bytes() == 512);
  CHECK(plan->phases(0).assignments(0).operation().between().processor_cache_line_bytes() == 64);
  CHECK(PlanFor("--op create --file-bytes 4096b")->phases(0).assignments(0).operation().tree().file_bytes() == 4096);
}

TEST_CASE("an engine may have the name that others have for it") {
  CHECK(PlanFor("-i 1 --engine io_uring")->phases(0).assignments(0).operation().engine() == "uring");
  CHECK(PlanFor("-i 6 --engine psync")->phases(0).assignments(0).operation().engine() == "stdio");
  CHECK_THAT(ErrorOf("-i 1 --engine urnig"), Contains("did you mean uring?") && Contains("posix, stdio"));
}

TEST_CASE("each option of a command is one, and each command has a struct") {
  for (const CommandSpec& command : Commands()) {
    std::set<std::string> names;
    const bool has_workload = ((kForRun | kForPreflight | kForCapacity) & command.command) != 0;
    for (const OptionSpec& option : kPlanOptions) {
      if (has_workload && (option.commands & command.command) != 0) names.insert(std::string(option.name));
    }
    for (const OptionSpec& option : CommandOptions()) {
      if ((option.commands & command.command) == 0) continue;
      INFO(std::string(command.name) << " " << std::string(option.name));
      CHECK(names.insert(std::string(option.name)).second);
      CHECK(option.field.of != nullptr);
      CHECK((option.group == OptionGroup::kHidden || !option.help.empty()));
    }
    const std::vector<std::string> words = absl::StrSplit(TextFrom({std::string(command.name), "--help"}), absl::ByAnyChar(" \n"));
    CHECK_THAT(absl::StrJoin(words, " "), Contains(std::string(command.help)));  // which may take several lines
  }
}

TEST_CASE("an empty argument is none") {
  for (const char* const option : {"--listen", "--out", "--path", "--client-list", "--transport", "-i"}) {
    INFO(option);
    const auto line = ParseCommandLine({"--op", "write", option, ""});
    CHECK(absl::IsInvalidArgument(line.status()));
  }
  CHECK_THAT(std::string(ParseCommandLine({"--out", ""}).status().message()),
             Contains("--out needs an argument"));
}

TEST_CASE("compare and history take several results, and what decides their verdicts") {
  const auto line = ParseCommandLine({"compare", "base", "other", "--pair", "by-name", "--level", "99", "--fail-under", "95",
                                      "--format", "junit", "--output", "x.xml", "--force"});
  REQUIRE(line.ok());
  const auto& compare = std::get<CompareCommand>(*line);
  CHECK(compare.directories == std::vector<std::string>{"base", "other"});
  CHECK(compare.pair == "by-name");
  CHECK(compare.level_percent == 99);
  CHECK(compare.fail_under_percent == 95);
  CHECK(compare.format == "junit");
  CHECK(compare.output == "x.xml");
  CHECK(compare.replace);
  const auto days = ParseCommandLine({"history", "days"});
  REQUIRE(days.ok());
  const auto& history = std::get<HistoryCommand>(*days);
  CHECK(history.level_percent == 95);
  CHECK(history.fail_under_percent == 0);
  CHECK(history.format == "text");
  for (const char* const level : {"49", "100", "much"})
    CHECK(!ParseCommandLine({"compare", "a", "b", "--level", level}).ok());
  CHECK(ParseCommandLine({"history"}).ok());
}

TEST_CASE("options for workers elsewhere need some") {
  const auto refusal = [](const std::vector<std::string>& words, const char* transport) {
    return std::string(CheckUsesOf(JobFrom(words)->cluster, transport).message());
  };
  CHECK_THAT(refusal({"--insecure"}, "local"), Contains("--insecure") && Contains("--listen"));
  CHECK_THAT(refusal({"--insecure", "--spawn", "2"}, "grpc"), Contains("--insecure"));
  CHECK_THAT(refusal({"--join-timeout", "600"}, "local"), Contains("--join-timeout") && Contains("--spawn"));
  CHECK(refusal({"--join-timeout", "600", "--spawn", "2"}, "grpc").empty());
  CHECK(refusal({"--insecure", "--join-timeout", "5"}, "mpi").empty());
  for (const char* option : {"--token-file", "--tls-cert", "--tls-key", "--tls-ca", "--tls-crl"}) {
    CHECK_THAT(refusal({option, "/x"}, "local"), Contains(option) && Contains("--listen"));
    CHECK(refusal({option, "/x", "--listen", ":9400", "--workers", "2"}, "grpc").empty());
  }
  CHECK(refusal({"--insecure", "--listen", ":9400", "--workers", "2"}, "grpc").empty());
  CHECK(refusal({"--lost-after", "5"}, "local").empty());
}

TEST_CASE("numbers of workers and lanes are decimal") {
  CHECK(JobFrom({"--op", "write", "--spawn", "010"})->cluster.spawn == 10);
  CHECK(JobFrom({"--op", "write", "--listen", ":9400", "--workers", "08"})->cluster.workers == 8);
  CHECK(std::get<SelftestCommand>(*ParseCommandLine({"selftest", "-t", "010"})).lanes == 10);
  CHECK_THAT(ErrorOf("-i 0 --spawn 0x10"), Contains("\"0x10\" is not a number from 1 to 1024"));
}

TEST_CASE("samplers that join by themselves are not for workers that are started") {
  const std::string of_hosts = ErrorOf("-i 0 --hosts a --listen :9400 --samplers 1");
  CHECK_THAT(of_hosts, Contains("--samplers") && Contains("--sampler-hosts LIST"));
  const std::string of_list = ErrorOf("-i 0 -+m clients --listen :9400 --samplers 1");
  CHECK_THAT(of_list, Contains("--samplers") && Contains("-+m (--client-list)"));
  CHECK(ErrorOf("-i 0 --workers 1 --listen :9400 --samplers 1").empty());
  CHECK(ErrorOf("-i 0 --hosts a --listen :9400 --sampler-hosts b").empty());
}

TEST_CASE("the network test has no phases to show, and scripts may pass --out to it as to any run") {
  CHECK_THAT(ErrorOf("-+t --spawn 2 --dry-run"), Contains("--dry-run") && Contains("-+t (--net-test)"));
  CHECK(ErrorOf("-+t --spawn 2 --out x").empty());
}

TEST_CASE("capacity refuses pauses that would change the load or the time") {
  CHECK_THAT(ErrorOf("capacity --path /x -+b 4m,20"), Contains("-+b (--burst)") && Contains("capacity"));
  CHECK_THAT(ErrorOf("capacity --path /x -+q 5"), Contains("-+q (--rest)") && Contains("capacity"));
  CHECK(ErrorOf("capacity --path /x").empty());
}

TEST_CASE("workers that are started without a certificate are not asked for one") {
  for (const char* const list : {"--hosts a", "-+m clients"}) {
    INFO(list);
    const std::string words = absl::StrCat("-i 0 --listen :9400 --tls-cert /c --tls-key /k ", list);
    CHECK_THAT(ErrorOf(words + " --tls-ca /x"), Contains("--tls-ca") && Contains("--workers N"));
    CHECK(ErrorOf(words).empty());
  }
}

TEST_CASE("what is wrong with an option points to the help of its command") {
  const auto advice = [](std::vector<std::string> arguments) {
    return std::string(ParseCommandLine(arguments).status().message());
  };
  const std::vector<std::pair<std::string, std::string>> without_argument = {
      {"preflight", "--spawn"}, {"validate", "--spawn"}, {"worker", "--join"},     {"report", "--format"},
      {"compare", "--format"},  {"history", "--format"}, {"selftest", "--phases"}, {"clean", "--hosts"}};
  for (const auto& [command, option] : without_argument) {
    INFO(command);
    const std::string said = advice({command, option});
    CHECK_THAT(said, Contains(absl::StrCat("`cluster-iobench ", command, " --help` lists its options")));
    CHECK_THAT(said, !Contains("run --help"));
  }
  for (const std::string& said : {advice({"run", "--spawn"}), advice({"--spawn"})}) {
    CHECK_THAT(said,
               Contains("`cluster-iobench --help` lists commands, `cluster-iobench run --help` options"));
  }
}

TEST_CASE("help shows arguments in one form") {
  for (const char* const command : {"run", "preflight", "validate", "worker", "report", "compare", "history",
                                    "capacity", "observe", "selftest", "clean"}) {
    const std::string help = TextFrom({command, "--help"});
    INFO(help);
    CHECK_THAT(help, Contains(absl::StrCat("\nUsage: cluster-iobench ", command, " [OPTIONS]")));
    for (const char* const not_ours : {" ... ", "DIR TEXT", "REQUIRED"})
      CHECK_THAT(help, !Contains(not_ours));
  }
  const std::string of_compare = TextFrom({"compare", "--help"});
  CHECK_THAT(of_compare, Contains("[OPTIONS] [DIR...]\n"));
  CHECK_THAT(of_compare, Contains("\n  DIR...    "));
  const std::string of_clean = TextFrom({"clean", "--help"});
  CHECK_THAT(of_clean, Contains("[OPTIONS] [DIR...]\n"));
  CHECK_THAT(of_clean, Contains("\n  DIR...    "));
  const std::string of_report = TextFrom({"report", "--help"});
  CHECK_THAT(of_report, Contains("[OPTIONS] [DIR]\n"));
  CHECK_THAT(of_report, Contains("\n  DIR    "));
  CHECK_THAT(TextFrom({"worker", "--help"}), Contains("\n  --join ADDR (required)  "));
  CHECK_THAT(TextFrom({"validate", "--help"}), Contains("\n  --only NAMES    "));
}

TEST_CASE("what --help is asked about is known, or an error") {
  CHECK_THAT(std::string(ParseCommandLine({"--help", "nosuch"}).status().message()), Contains("\"nosuch\""));
  CHECK_THAT(std::string(ParseCommandLine({"run", "-h", "nosuch"}).status().message()),
             Contains("\"nosuch\""));
  CHECK(TextFrom({"--help", "worker"}) == TextFrom({"worker", "--help"}));
  CHECK_THAT(TextFrom({"--help", "iozone"}), Contains("IOzone's letters"));
}

TEST_CASE("a pattern that no shell would read is refused") {
  for (const char* const wrong : {"[", "a[1-3", "x\\", "[]", "[!]", "[[:digit:]", "[\\]"}) {
    INFO(wrong);
    CHECK_THAT(ErrorOf(absl::StrCat("--op find --find-name ", wrong)), Contains("--find-name"));
  }
  for (const char* const right :
       {"*01*", "[ab]?", "[]]", "[!]a]", "\\[", "\\\\", "[[:digit:]]*", "]", "[\\]]"}) {
    INFO(right);
    CHECK(ErrorOf(absl::StrCat("--op find --find-name ", right)).empty());
  }
}

TEST_CASE("commas are for what would be repeated") {
  CHECK(PhasesOf("-i 0,1 -+n -r 4k,64k -s 1m -t 1,2") ==
        PhasesOf("-i 0 -i 1 -+n -r 4k -r 64k -s 1m -t 1 -t 2"));
  CHECK(PhasesOf("-i 0,1 -r 4k -s 1m,4m") == PhasesOf("-i 0 -i 1 -r 4k -s 1m -s 4m"));
  CHECK_THAT(ErrorOf("-r 4k,,64k"), Contains("-r (--record)") && Contains("\"\""));
  CHECK_THAT(ErrorOf("-i 1,77"), Contains("77"));
  CHECK_THAT(ErrorOf("-i 0 --files-per-lane 1,2"), Contains("1,2"));
}

TEST_CASE("criteria are texts of the plan, checked with it") {
  const auto plan = PlanFor("-i 0 --require write>=1MiB/s --require *:marks=none");
  REQUIRE(plan.ok());
  REQUIRE(plan->criteria_size() == 2);
  CHECK(plan->criteria(0) == "write>=1MiB/s");
  CHECK_THAT(ErrorOf("-i 0 --require read>=1MiB/s"), Contains("no phase \"read\""));
  CHECK_THAT(ErrorOf("-i 0 --require write"), Contains("write>=900MiB/s"));
}

TEST_CASE("a value that cannot be is one line that quotes it") {
  CHECK_THAT(ErrorOf("-i 0 -k 0"), Contains("-k (--aio)") && Contains("\"0\""));
  CHECK_THAT(ErrorOf("-t 0"), Contains("--lanes") && Contains("from 1 to 4096"));
  CHECK_THAT(ErrorOf("-t -3"), Contains("-3"));
  CHECK_THAT(ErrorOf("-V 256"), Contains("256"));
  CHECK_THAT(ErrorOf("-i 8 -+p 101"), Contains("101"));
  CHECK_THAT(ErrorOf("--time soon"), Contains("soon"));
  CHECK_THAT(ErrorOf("--time nan"), Contains("nan"));
  CHECK_THAT(ErrorOf("-i 1 --buffer-bytes 0"), Contains("--buffer-bytes") && Contains("\"0\""));
  CHECK_THAT(ErrorOf("-+b 4m"), Contains("4m") && Contains("4m,20"));
  CHECK_THAT(ErrorOf("--data pattern:300"), Contains("pattern:300"));
  CHECK_THAT(ErrorOf("-n 4q -a"), Contains("4q") && Contains("-n"));
  CHECK_THAT(ErrorOf("-k 3 -k 4"), Contains("-k") && Contains("twice"));
}

TEST_CASE("-+E reads the files of -f or -F and nothing else") {
  const auto plan = PlanFor("-+E -f /data/one -i 1 -i 3");
  REQUIRE(plan.ok());
  CHECK(plan->files().existing_files(0) == "/data/one");
  CHECK(plan->targets(0).path() == "/data");
  CHECK_FALSE(UsesFiles(*plan));  // it makes no files of its own
  CHECK(PlanFor("-t 2 -+E -F /data/one /data/two -i 1")->files().existing_files_size() == 2);
  CHECK(PhasesOf("--existing /data/one -i 2") == std::vector<std::string>{"random-read"});
  CHECK_THAT(ErrorOf("--existing /data/one -i 0"), Contains("--existing (-+E)") && Contains("write"));
  CHECK_THAT(ErrorOf("--existing /data/one -i 8"), Contains("--existing (-+E)") && Contains("random-mix"));
  CHECK_THAT(ErrorOf("--existing /data/one -i 1 -w"), Contains("--existing") && Contains("-w"));
}

TEST_CASE(
    "--cold drops caches as --drop-caches does, and has it verified; memory is eaten before the first phase") {
  const auto plan = PlanFor("-+n -i 0 -i 1 --cold --server-memory 64g --eat-memory 40");
  REQUIRE(plan.ok());
  CHECK(plan->server_memory_bytes() == 64_GiB);
  REQUIRE(plan->phases(0).before_size() == 1);
  CHECK(plan->phases(0).before(0).eat_memory().percent() == 40);
  REQUIRE(plan->phases(1).before_size() == 1);
  CHECK(plan->phases(1).before(0).drop_caches().verify());
  CHECK_FALSE(PlanFor("-+n -i 0 -i 1 --drop-caches")->phases(1).before(0).drop_caches().verify());
  CHECK(PlanFor("-+n -i 0 -i 1 --cold --drop-caches")->phases(1).before_size() == 1);
  CHECK_THAT(ErrorOf("-i 0 -+n --cold"), Contains("--cold") && Contains("only reads"));
  CHECK_THAT(ErrorOf("-i 0 -i 1 --server-memory 64g"), Contains("needs --cold"));
  CHECK_THAT(ErrorOf("-i 0 --eat-memory 96"), Contains("--eat-memory"));
}

TEST_CASE("each letter of IOzone's formats asks for its part of them, and without one nothing is asked for") {
  const auto output_of = [](const std::string& words) {
    const std::vector<std::string> arguments = absl::StrSplit(words, ' ', absl::SkipEmpty());
    return IozoneOutputOf(JobFrom(arguments)->given);
  };
  const std::map<std::string, std::string> field_of = {
      {"-R", "excel"},   {"-O", "ops_per_s"}, {"-N", "us_per_op"},   {"-C", "children"},
      {"-M", "machine"}, {"-+u", "cpu"},      {"-+z", "histograms"}, {"-+T", "log"},
      {"-T", "threads"}};
  for (const auto& [letter, asked] : field_of) {
    INFO(letter);
    const auto output = output_of("-i 0 " + letter);
    REQUIRE(output.has_value());
    for (const auto& [other, field] : field_of)
      CHECK(FieldOf(*output, field) == (field == asked ? "true" : "false"));
  }
  CHECK_FALSE(output_of("-i 0 -c").has_value());
  CHECK(output_of("-A")->auto_mode());
  CHECK(output_of("-A")->all_records());
  CHECK_FALSE(output_of("-a")->all_records());
  CHECK(output_of("-+n")->no_retest());
  const auto ranges = output_of("-a -y 8k -q 16k");
  CHECK(ranges->min_record_bytes() == 8_KiB);
  CHECK(ranges->max_record_bytes() == 16_KiB);
  const auto children = output_of("-l 2 -u 3");
  CHECK(children->min_lanes() == 2);
  CHECK(children->max_lanes() == 3);
  const auto sizes = output_of("-a -n 64k -g 1m -r 4k -r 8k");
  CHECK(sizes->min_file_bytes() == 64_KiB);
  CHECK(sizes->max_file_bytes() == 1_MiB);
  CHECK(sizes->record_bytes_size() == 2);
  CHECK(sizes->record_bytes(1) == 8_KiB);
  CHECK(output_of("-s 2m")->file_bytes(0) == 2_MiB);
  CHECK(ErrorOf("--plan x.yaml -i 0").find("cannot be combined with --plan") != std::string::npos);
  CHECK(ErrorOf("--plan x.yaml -R").find("cannot be combined with --plan") == std::string::npos);
}

TEST_CASE("a flag of the table is on or off as it is given, and nothing else") {
  for (const OptionSpec& option : kPlanOptions) {
    if (!option.is_flag()) continue;
    INFO(option.name);
    for (const char* const on : {"", "1", "true", "yes", "YES"}) {
      GivenOptions given;
      REQUIRE(given.Add(option, on).ok());
      CHECK(given.Has(OptionName(option)));
    }
    for (const char* const off : {"0", "false", "no", "False"}) {
      GivenOptions given;
      REQUIRE(given.Add(option, off).ok());
      CHECK_FALSE(given.Has(OptionName(option)));
      REQUIRE(given.Add(option, "yes").ok());
      CHECK(given.Has(OptionName(option)));  // the last one counts
    }
    for (const char* const neither : {"banana", "2", "-1", "on", " "}) {
      CHECK_FALSE(GivenOptions().Add(option, neither).ok());
    }
  }
}

}  // namespace
}  // namespace iobench
