#include "coordinator/plan/check/data_check.h"

#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <string>

#include "coordinator/plan/plan_check.h"

namespace iobench {
namespace {

using Catch::Contains;

v1::Plan PlanOf(std::initializer_list<uint32_t> records = {4096}) {
  v1::Plan plan;
  plan.mutable_files()->set_bytes_per_lane(1 << 20);
  for (const uint32_t record : records) {
    v1::Operation& operation = *plan.add_phases()->add_assignments()->mutable_operation();
    operation.set_name("write");
    operation.set_record_bytes(record);
  }
  CompletePlan(plan);
  return plan;
}

// Returns what CheckPlan says of the changed plan; empty: it is valid.
std::string Verdict(v1::Plan plan, const std::function<void(v1::Plan&)>& change) {
  change(plan);
  return std::string(CheckPlan(plan).message());
}
std::string OfData(const std::function<void(v1::DataContent&)>& change) {
  return Verdict(PlanOf(), [&](v1::Plan& plan) { change(*plan.mutable_data()); });
}
std::string OfBetween(const std::function<void(v1::Between&)>& change) {
  return Verdict(PlanOf(), [&](v1::Plan& plan) {
    change(*plan.mutable_phases(0)->mutable_assignments(0)->mutable_operation()->mutable_between());
  });
}

TEST_CASE("contents that go together are taken") {
  REQUIRE(OfData([](v1::DataContent&) {}).empty());
  REQUIRE(OfData([](v1::DataContent& data) { data.set_verify(true); }).empty());
  REQUIRE(OfData([](v1::DataContent& data) {
            data.set_kind(v1::DataContent::PATTERN);
            data.set_pattern_byte(255);
            data.set_verify(true);
          }).empty());
  REQUIRE(OfData([](v1::DataContent& data) {
            data.set_kind(v1::DataContent::SAME);
            data.set_compress_percent(50);
          }).empty());
  REQUIRE(OfData([](v1::DataContent& data) {
            data.set_compress_percent(60);
            data.set_dedupe_percent(50);
            data.set_dedupe_within_percent(10);
            data.set_dedupe_interior_percent(100);
          }).empty());
}

TEST_CASE("contents that make no sense together are refused by both names") {
  const auto refuses = [](const std::string& one, const std::string& other,
                          const std::function<void(v1::DataContent&)>& change) {
    const std::string message = OfData(change);
    REQUIRE_THAT(message, Contains(one) && Contains(other));
  };
  refuses("--data zero", "--compress", [](v1::DataContent& data) {
    data.set_kind(v1::DataContent::ZERO);
    data.set_compress_percent(10);
  });
  refuses("--data zero", "--verify", [](v1::DataContent& data) {
    data.set_kind(v1::DataContent::ZERO);
    data.set_verify(true);
  });
  refuses("--data same", "--verify", [](v1::DataContent& data) {
    data.set_kind(v1::DataContent::SAME);
    data.set_verify(true);
  });
  refuses("--data same", "--dedupe", [](v1::DataContent& data) {
    data.set_kind(v1::DataContent::SAME);
    data.set_dedupe_percent(10);
  });
  refuses("--data pattern:7", "--dedupe", [](v1::DataContent& data) {
    data.set_kind(v1::DataContent::PATTERN);
    data.set_pattern_byte(7);
    data.set_dedupe_percent(10);
  });
  refuses("--dedupe", "--verify", [](v1::DataContent& data) {
    data.set_dedupe_percent(10);
    data.set_verify(true);
  });
  refuses("--compress", "--verify", [](v1::DataContent& data) {
    data.set_compress_percent(91);
    data.set_verify(true);
  });
  refuses("-+y", "-+w", [](v1::DataContent& data) { data.set_dedupe_within_percent(10); });
  refuses("-+C", "-+y", [](v1::DataContent& data) {
    data.set_dedupe_percent(10);
    data.set_dedupe_interior_percent(10);
  });
  REQUIRE_THAT(OfData([](v1::DataContent& data) { data.set_compress_percent(101); }), Contains("101"));
  REQUIRE_THAT(OfData([](v1::DataContent& data) { data.set_pattern_byte(256); }), Contains("256"));
}

TEST_CASE("verified records are multiples of a sector or all the same") {
  const auto verdict = [](std::initializer_list<uint32_t> records) {
    return Verdict(PlanOf(records), [](v1::Plan& plan) { plan.mutable_data()->set_verify(true); });
  };
  REQUIRE(verdict({512, 4096, 65'536}).empty());
  REQUIRE(verdict({1000, 1000}).empty());
  REQUIRE_THAT(verdict({1000, 4096}), Contains("1000 and 4096"));
  REQUIRE_THAT(verdict({4096, 1000}), Contains("--verify") && Contains("512"));
  REQUIRE_THAT(verdict({1000, 700}), Contains("1000 and 700"));
}

TEST_CASE("what others wrote, and what cuts sectors, is not verified") {
  REQUIRE_THAT(Verdict(PlanOf(),
                       [](v1::Plan& plan) {
                         plan.mutable_data()->set_verify(true);
                         v1::Operation& operation =
                             *plan.mutable_phases(0)->mutable_assignments(0)->mutable_operation();
                         operation.set_name("read");
                         operation.mutable_trace()->set_read_file("trace");
                       }),
               Contains("--verify") && Contains("-Y"));
  v1::Plan plan = PlanOf();
  plan.mutable_data()->set_verify(true);
  plan.mutable_files()->add_existing_files("/data/file");
  REQUIRE_THAT(std::string(CheckData(plan).message()), Contains("--verify") && Contains("-+E"));
  v1::Plan null = PlanOf();
  null.mutable_data()->set_kind(v1::DataContent::PATTERN);
  null.mutable_data()->set_verify(true);
  REQUIRE(CheckData(null).ok());
  null.mutable_phases(0)->mutable_assignments(0)->mutable_operation()->set_engine("null");
  REQUIRE_THAT(std::string(CheckData(null).message()), Contains("--verify") && Contains("--engine null"));
}

TEST_CASE("times, paces and bursts are what they can be") {
  REQUIRE(OfBetween([](v1::Between& between) {
            between.set_think_ms(0.5);
            between.set_think_in_throughput(true);
            between.set_ops_per_s(123'456.5);
            between.set_burst_bytes(1);
          }).empty());
  REQUIRE_THAT(OfBetween([](v1::Between& between) { between.set_think_ms(-1); }), Contains("-J"));
  REQUIRE_THAT(OfBetween([](v1::Between& between) { between.set_ops_per_s(-1); }), Contains("-+O"));
  REQUIRE_THAT(OfBetween([](v1::Between& between) {
                 between.set_ops_per_s(std::numeric_limits<double>::quiet_NaN());
               }),
               Contains("-+O"));
  REQUIRE_THAT(OfBetween([](v1::Between& between) { between.set_burst_pause_ms(10); }), Contains("-+b"));
  REQUIRE_THAT(OfBetween([](v1::Between& between) { between.set_think_in_throughput(true); }),
               Contains("-+J") && Contains("-J"));
}

TEST_CASE("a purge has the size that IOzone's has unless another is given") {
  v1::Between between;
  CompleteBetween(between);
  REQUIRE(between.processor_cache_bytes() == 0);
  between.set_purge_processor_cache(true);
  CompleteBetween(between);
  REQUIRE(between.processor_cache_bytes() == 1 << 20);
  REQUIRE(between.processor_cache_line_bytes() == 32);
}

}  // namespace
}  // namespace iobench
