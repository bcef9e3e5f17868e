#include "coordinator/plan/later_needs.h"

#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "common/text/units.h"

namespace iobench {
namespace {

constexpr uint64_t kWhole = 1_MiB;

// Two workers on two clients, with two lanes of 1 MiB each. An operation may be followed by what limits it and its files:
// "read max_ops=2", "write lanes=1", "read bytes=64k", "read worker=1", "read rotated", "read shared", "read files=2".
v1::Phase PhaseFrom(const std::string& words) {
  v1::Phase phase;
  v1::Assignment& assignment = *phase.add_assignments();
  v1::Operation& operation = *assignment.mutable_operation();
  std::istringstream in(words);
  std::string word;
  in >> word;
  operation.set_name(word);
  const bool on_names = word == "create" || word == "stat";
  operation.set_engine(on_names ? "metadata" : "posix");
  if (on_names) operation.mutable_tree()->set_items_per_lane(100);
  operation.set_record_bytes(4096);
  phase.set_name(word);
  while (in >> word) {
    const std::string key = word.substr(0, word.find('='));
    const uint64_t value = key == word ? 0 : std::stoull(word.substr(key.size() + 1));
    if (key == "max_ops") phase.mutable_stop()->set_max_ops(value);
    if (key == "max_errors") phase.mutable_stop()->set_max_errors(value);
    if (key == "time") phase.mutable_stop()->set_time_s(static_cast<double>(value));
    if (key == "depth") operation.set_depth(static_cast<uint32_t>(value));
    if (key == "lanes") phase.set_lanes_per_worker(static_cast<uint32_t>(value));
    if (key == "bytes") phase.mutable_files()->set_bytes_per_lane(value);
    if (key == "files") phase.mutable_files()->set_files_per_lane(static_cast<uint32_t>(value));
    if (key == "shared") phase.mutable_files()->set_shared_file(true);
    if (key == "rotated") operation.set_rotate_clients(true);
    if (key == "kept") operation.set_keep_existing(true);
    if (key == "worker") assignment.mutable_who()->add_workers(static_cast<uint32_t>(value));
  }
  return phase;
}

v1::Plan PlanFrom(const std::vector<std::string>& phases) {
  v1::Plan plan;
  plan.set_lanes_per_worker(2);
  plan.mutable_files()->set_bytes_per_lane(kWhole);
  plan.mutable_files()->set_files_per_lane(1);
  plan.add_targets()->set_path("/mnt");
  for (const std::string& words : phases) *plan.add_phases() = PhaseFrom(words);
  return plan;
}

// The bytes that are needed of the files of lanes 0 to 3, in units of 4 KiB, and who needs them first: "256 256 0 0 read".
std::string NeededAfterFirst(const v1::Plan& plan, bool again = false) {
  const std::vector<uint32_t> clients = {0, 1};
  const Layout layout(plan, clients);
  const LaterNeeds needs = LaterNeedsOf(plan, layout, 0, again);
  const bool shared = ShapeOf(plan, plan.phases(0)).files.shared_file();
  std::string text;
  for (uint32_t owner = 0; owner < 4; ++owner) {
    text += std::to_string(needs.BytesOf({.target = 0, .shared = shared, .owner = owner}) / 4096) + " ";
  }
  return text + (needs.trees ? "trees " : "") + needs.first + (needs.nothing ? "nothing" : "");
}

TEST_CASE("of files that grow, later phases need only a little, and a later run all of their size") {
  v1::Plan plan = PlanFrom({"write time=1", "read time=1"});
  plan.mutable_files()->set_bytes_per_lane(64_MiB);
  CHECK(NeededAfterFirst(plan) == "16384 16384 16384 16384 read");
  plan.mutable_phases(0)->mutable_files()->set_bytes_per_lane(64_GiB);
  CHECK(NeededAfterFirst(plan) == "1024 1024 1024 1024 read");
  plan.set_keep_data(true);
  CHECK(NeededAfterFirst(plan) == "16384 16384 16384 16384 read");
}

TEST_CASE("of what a phase creates, only what later phases need is needed, until it is created anew") {
  struct Row {
    std::vector<std::string> phases;
    std::string needed;
  };
  const std::vector<Row> rows = {
      {{"write"}, "0 0 0 0 nothing"},
      {{"write", "write"}, "0 0 0 0 "},
      {{"write", "write", "read"}, "0 0 0 0 "},  // the second one creates what is read
      {{"write", "read"}, "256 256 256 256 read"},
      {{"write", "rewrite"}, "256 256 256 256 rewrite"},
      {{"write", "read time=1"}, "256 256 256 256 read"},
      {{"write", "read max_ops=3"}, "3 3 3 3 read"},
      {{"write", "read max_ops=3", "random-read max_ops=1"}, "256 256 256 256 read"},
      {{"write", "read max_ops=3 depth=8"}, "10 10 10 10 read"},
      {{"write", "read max_ops=3 max_errors=1"}, "256 256 256 256 read"},
      {{"write", "read max_ops=300"}, "256 256 256 256 read"},
      {{"write", "read bytes=65536"}, "16 16 16 16 read"},
      {{"write bytes=65536", "read"}, "16 16 16 16 read"},  // it never writes more
      {{"write", "read lanes=1"}, "256 0 256 0 read"},
      {{"write", "read worker=1"}, "0 0 256 256 read"},
      {{"write worker=0", "read rotated worker=1"}, "256 256 0 0 read"},
      {{"write", "write lanes=1", "read"}, "0 256 0 256 read"},
      {{"write", "write kept", "read"}, "0 0 0 0 "},
      {{"write", "read files=2 max_ops=3"}, "256 256 256 256 read"},  // its second file is not the lane's second half
      {{"write shared", "read"}, "0 0 0 0 "},                         // other files
      {{"write shared", "read shared"}, "256 256 256 256 read"},
      {{"write shared", "write shared lanes=1", "read shared"}, "0 0 0 0 "},  // the whole file is removed
      {{"create"}, "0 0 0 0 nothing"},
      {{"create", "read"}, "0 0 0 0 "},
      {{"create", "read", "stat"}, "0 0 0 0 trees stat"},
      {{"write", "stat"}, "0 0 0 0 "},
  };
  for (const Row& row : rows) {
    const v1::Plan plan = PlanFrom(row.phases);
    INFO(plan.ShortDebugString());
    CHECK(NeededAfterFirst(plan) == row.needed);
  }
}

TEST_CASE("phases that are run again need what those before them have created, and kept data are whole") {
  CHECK(NeededAfterFirst(PlanFrom({"write"}), /*again=*/true) == "0 0 0 0 ");
  CHECK(NeededAfterFirst(PlanFrom({"pwrite", "write"}), /*again=*/true) == "0 0 0 0 ");
  const v1::Plan mixed = PlanFrom({"write lanes=1", "rewrite max_ops=1"});
  CHECK(NeededAfterFirst(mixed, /*again=*/true) == "1 0 1 0 rewrite");
  // The second half of the plan needs what the first one leaves, also in the next repetition.
  v1::Plan backwards = PlanFrom({"read", "write"});
  const Layout layout(backwards, std::vector<uint32_t>{0, 1});
  CHECK(LaterNeedsOf(backwards, layout, 1, /*again=*/false).bytes.empty());
  CHECK(LaterNeedsOf(backwards, layout, 1, /*again=*/true).first == "read");

  v1::Plan kept = PlanFrom({"write", "read max_ops=1"});
  kept.set_keep_data(true);
  CHECK(NeededAfterFirst(kept) == "256 256 256 256 read");
  kept.mutable_phases()->RemoveLast();
  CHECK(NeededAfterFirst(kept) == "256 256 256 256 -w");
  *kept.add_phases() = PhaseFrom("write");
  CHECK(NeededAfterFirst(kept) == "0 0 0 0 ");
}

}  // namespace
}  // namespace iobench
