#include "coordinator/report/console/console_data.h"

#include <catch2/catch.hpp>
#include <string>

namespace iobench {
namespace {

using Catch::Contains;

std::string Shown(void (*put)(const v1::PhaseReport&, ConsolePage&), const v1::PhaseReport& phase) {
  ConsolePage page(ConsoleStyle{});
  put(phase, page);
  return page.Take();
}

TEST_CASE("a phase without verification and without anything between ops has no line on them") {
  REQUIRE(Shown(PrintVerified, {}).empty());
  REQUIRE(Shown(PrintBetween, {}).empty());
}

TEST_CASE("what was verified is counted, and what failed is counted by kind") {
  v1::PhaseReport phase;
  phase.mutable_verify()->set_sectors(2048);
  REQUIRE_THAT(Shown(PrintVerified, phase), Contains("verified") && Contains("2,048 sectors, all as written"));
  phase.mutable_verify()->set_undetermined(1024);
  REQUIRE_THAT(Shown(PrintVerified, phase), Contains("for 1,024 it is unknown"));
  phase.mutable_verify()->set_mismatched(3);
  (*phase.mutable_verify()->mutable_counts())["zeros"] = 1;
  (*phase.mutable_verify()->mutable_counts())["stale"] = 2;
  REQUIRE_THAT(Shown(PrintVerified, phase),
               Contains("FAILED: 3 of 2,048 sectors are wrong (2 stale, 1 zeros)"));
}

TEST_CASE("pace, pauses and the time for data are told apart") {
  v1::PhaseReport phase;
  phase.set_asked_ops_per_s(100);
  phase.set_paced_ops_per_s(99);
  phase.set_between_s(8);
  REQUIRE_THAT(Shown(PrintBetween, phase),
               Contains("99 ops/s, target 100 ops/s") && Contains("8 s between ops"));
  REQUIRE_THAT(Shown(PrintBetween, phase), !Contains("pauses") && !Contains("checking"));
  phase.set_pause_s(5);
  phase.set_data_s(0.25);
  REQUIRE_THAT(Shown(PrintBetween, phase), Contains("pauses 5 s per lane") && Contains("data 250 ms per lane"));
}

TEST_CASE("the head says what is written") {
  v1::Plan plan;
  plan.set_seed(9);
  REQUIRE(DescribeData(plan) == "incompressible, differs by lane, block and phase (seed 9)");
  plan.mutable_data()->set_verify(true);
  REQUIRE_THAT(DescribeData(plan), Contains("each sector names its writer"));
  plan.mutable_data()->set_kind(v1::DataContent::PATTERN);
  plan.mutable_data()->set_pattern_byte(170);
  REQUIRE(DescribeData(plan) == "every byte 170, checked after each read");
  plan.mutable_data()->set_verify(false);
  REQUIRE(DescribeData(plan) == "every byte 170");
  plan.mutable_data()->set_kind(v1::DataContent::ZERO);
  REQUIRE(DescribeData(plan) == "zeros");
  plan.mutable_data()->set_kind(v1::DataContent::SAME);
  REQUIRE(DescribeData(plan) == "each lane writes one buffer again and again (seed 9)");
  plan.mutable_data()->set_compress_percent(60);
  REQUIRE_THAT(DescribeData(plan), Contains("60 % of each 4 KiB compresses away"));
  plan.mutable_data()->clear_compress_percent();
  plan.mutable_data()->set_kind(v1::DataContent::INCOMPRESSIBLE);
  plan.mutable_data()->set_compress_percent(60);
  plan.mutable_data()->set_dedupe_percent(40);
  plan.mutable_data()->set_dedupe_within_percent(30);
  REQUIRE_THAT(DescribeData(plan),
               Contains("60 % of each 4 KiB") && Contains("40 % of the records dedupable") &&
                   Contains("30 % equal to each other") && !Contains("within their file"));
}

}  // namespace
}  // namespace iobench
