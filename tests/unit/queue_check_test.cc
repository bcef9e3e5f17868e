#include "coordinator/plan/check/queue_check.h"

#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "common/text/units.h"
#include "coordinator/plan/plan_check.h"

namespace iobench {
namespace {

using Catch::Contains;

// `depth`: 0: not given.
v1::Plan PlanOf(const std::string& engine, uint32_t depth,
                const std::function<void(v1::Operation&)>& change = {}) {
  v1::Plan plan;
  plan.mutable_files()->set_bytes_per_lane(1_MiB);
  v1::Operation& only = *plan.add_phases()->add_assignments()->mutable_operation();
  only.set_name("read");
  only.set_engine(engine);
  only.set_record_bytes(4_KiB);
  if (depth > 0) only.set_depth(depth);
  if (change) change(only);
  CompletePlan(plan);
  return plan;
}

std::string ErrorOf(const std::string& engine, uint32_t depth,
                    const std::function<void(v1::Operation&)>& change = {}) {
  return std::string(CheckPlan(PlanOf(engine, depth, change)).message());
}

TEST_CASE("a depth is for engines with a queue, and up to 4096") {
  for (const char* engine : {"uring", "posix-aio"}) {
    CHECK(ErrorOf(engine, 1).empty());
    CHECK(ErrorOf(engine, 4096).empty());
    CHECK_THAT(ErrorOf(engine, 4097), Contains("4097") && Contains("4096"));
  }
  CHECK(ErrorOf("posix", 0).empty());
  CHECK(ErrorOf("posix", 1).empty());
  CHECK_THAT(ErrorOf("posix", 2),
             Contains("--depth 2") && Contains("engine posix ") && Contains("posix-aio, uring"));
}

TEST_CASE("a depth that is not given is written out as 1 where there is a queue") {
  CHECK(PlanOf("uring", 0).phases(0).assignments(0).operation().depth() == 1);
  CHECK(PlanOf("uring", 8).phases(0).assignments(0).operation().depth() == 8);
  CHECK(PlanOf("posix", 0).phases(0).assignments(0).operation().depth() == 0);
}

TEST_CASE("what lies between one op and the next needs one op at a time") {
  using Change = std::function<void(v1::Operation&)>;
  const std::pair<const char*, Change> rows[] = {
      {"-J", [](v1::Operation& o) { o.mutable_between()->set_think_ms(1); }},
      {"-p", [](v1::Operation& o) { o.mutable_between()->set_purge_processor_cache(true); }},
      {"-+O", [](v1::Operation& o) { o.mutable_between()->set_ops_per_s(100); }},
      {"-+b", [](v1::Operation& o) { o.mutable_between()->set_burst_bytes(1_MiB); }},
      {"-X", [](v1::Operation& o) { o.mutable_trace()->set_write_file("/tmp/trace"); }},
      {"-Y", [](v1::Operation& o) { o.mutable_trace()->set_read_file("/tmp/trace"); }},
      {"-Q", [](v1::Operation& o) { o.mutable_trace()->set_offset_latency(true); }},
  };
  for (const auto& [option, change] : rows) {
    INFO(option);
    CHECK_THAT(ErrorOf("uring", 8, change), Contains(option) && Contains("--depth 8"));
    CHECK(ErrorOf("uring", 1, change).empty());
  }
}

TEST_CASE("only posix-aio copies") {
  const auto copies = [](v1::Operation& o) { o.set_copy(true); };
  CHECK(ErrorOf("posix-aio", 4, copies).empty());
  CHECK_THAT(ErrorOf("uring", 4, copies), Contains("-H") && Contains("uring"));
  CHECK_THAT(ErrorOf("posix", 0, copies), Contains("-H") && Contains("posix"));
}

}  // namespace
}  // namespace iobench
