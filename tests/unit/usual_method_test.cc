// How a run measures if the user has said neither how much nor how.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "common/model/phase_files.h"
#include "common/text/units.h"
#include "tests/unit/plan_for.h"

namespace iobench {
namespace {

TEST_CASE("where nobody says how much, a run measures storage: files grow, writes are flushed, reads are cold") {
  const auto plan = PlanFor("-i 0 -i 1 --op create");
  CHECK(GrowsFiles(*plan));
  for (int place = 0; place < 4; ++place) {
    const v1::Phase& phase = plan->phases(place);
    INFO(phase.name());
    CHECK(phase.stop().time_s() == 3);
    const bool writes = place < 2;
    CHECK(phase.region().fsync() == writes);
    CHECK(phase.region().close() == writes);
    CHECK((phase.assignments(0).operation().between().burst_bytes() == 16_MiB) == writes);
    CHECK(phase.before_size() == (writes ? 0 : 1));
    if (!writes) CHECK(phase.before(0).drop_caches().verify());
  }
  CHECK(plan->phases(4).stop().time_s() == 0);  // names: --items says how many
  const auto opened = PlanFor("-i 0 --open-in-timing");
  CHECK((opened->phases(0).region().open() && opened->phases(0).region().fsync()));
}

TEST_CASE("a time changes the time of the usual method, and nothing else") {
  auto usual = PlanFor("-i 0 -i 1 -i 2 --seed 1");
  const auto longer = PlanFor("-i 0 -i 1 -i 2 --seed 1 --time 7");
  for (v1::Phase& phase : *usual->mutable_phases()) phase.mutable_stop()->set_time_s(7);
  CHECK(usual->DebugString() == longer->DebugString());
  const auto warm = PlanFor("-i 0 --warmup 2");
  CHECK(warm->phases(0).stop().time_s() == 5);
  CHECK(GrowsFiles(*warm));
}

TEST_CASE("the usual method leaves what the user asks for as it is") {
  const auto drops = [](const std::string& words) {
    const auto plan = PlanFor(words);
    return std::any_of(plan->phases().begin(), plan->phases().end(), [](const v1::Phase& phase) { return DropsCaches(phase); });
  };
  CHECK_FALSE(PlanFor("-i 0 -c")->phases(0).region().fsync());
  CHECK_FALSE(GrowsFiles(*PlanFor("-i 0 -c")));  // hours of writes may be left to flush
  CHECK_FALSE(PlanFor("-i 0 --fsync-in-timing=0")->phases(0).region().fsync());
  CHECK(GrowsFiles(*PlanFor("-i 0 -e")));
  CHECK(GrowsFiles(*PlanFor("-i 0 -I")));
  CHECK(GrowsFiles(*PlanFor("-i 0 --engine uring --depth 4 -I")));
  CHECK_FALSE(GrowsFiles(*PlanFor("-i 0 --engine uring --depth 4")));
  for (const char* const words : {"-i 0 -V 1 --shared-file", "-i 0 -B", "-i 0 --files-per-lane 2", "-i 0 -r 4k,8k", "-i 1"}) {
    INFO(words);
    CHECK_FALSE(GrowsFiles(*PlanFor(words)));
    CHECK(PlanFor(words)->phases(0).stop().time_s() == 3);
  }
  for (const char* const words : {"-i 0 -I", "-i 0 -o", "-i 0 --engine null"}) {
    INFO(words);
    CHECK_FALSE(PlanFor(words)->phases(0).region().fsync());
    CHECK(PlanFor(words)->phases(0).stop().time_s() == 3);
  }
  CHECK((drops("-i 1") && drops("-i 8") && drops("-i 1 --time 1")));
  for (const char* const words : {"-i 1 -I", "-i 1 --rotate-clients", "-i 1 --cold=0", "-i 1 --engine null", "-i 1 -s 1m",
                                  "--op create,stat"}) {
    INFO(words);
    CHECK_FALSE(drops(words));
  }
  for (const char* const words : {"-i 0 -s 64m", "-i 0 -a -g 64k", "-i 0 --deadline 5", "-i 0 --max-ops 7"}) {
    INFO(words);
    CHECK_FALSE(PlanFor(words)->phases(0).region().fsync());
    CHECK_FALSE(GrowsFiles(*PlanFor(words)));
    CHECK(PlanFor(words)->phases(0).stop().time_s() == 0);
  }
}

}  // namespace
}  // namespace iobench
