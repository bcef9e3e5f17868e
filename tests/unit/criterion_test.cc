// What --require accepts.
#include "common/model/criterion.h"

#include <string>

#include "absl/strings/match.h"
#include "catch2/catch.hpp"

namespace iobench {
namespace {

using Figure = Criterion::Figure;

Criterion Parsed(const std::string& text) {
  const absl::StatusOr<Criterion> criterion = ParseCriterion(text);
  INFO(text << ": " << criterion.status());
  REQUIRE(criterion.ok());
  return *criterion;
}

TEST_CASE("a criterion without a figure is about the headline that its unit tells") {
  const Criterion write = Parsed("write>=900MiB/s");
  CHECK(write.phases == "write");
  CHECK(write.figure == Figure::kBytesPerSecond);
  CHECK(write.bound == Criterion::Bound::kMin);
  CHECK(write.limit == 900.0 * 1024 * 1024);
  CHECK(Parsed("write >= 1.5 GB/s").limit == 1.5e9);
  CHECK(Parsed("create>=5kops/s").limit == 5000);
  CHECK(Parsed("create>=5kops/s").figure == Figure::kOpsPerSecond);
  CHECK(Parsed("read<=10GiB/s").bound == Criterion::Bound::kMax);
}

TEST_CASE("latencies are in microseconds, jain and cov plain numbers, marks a count") {
  const Criterion p99 = Parsed("random-read:p99<=10ms");
  CHECK(p99.phases == "random-read");
  CHECK(p99.figure == Figure::kP99);
  CHECK(p99.limit == Approx(10'000));
  CHECK(Parsed("x:p99.99<=2s").figure == Figure::kP99_99);
  CHECK(Parsed("read:jain>=0.9").limit == 0.9);
  const Criterion marks = Parsed("*:marks=none");
  CHECK(marks.phases == "*");
  CHECK(marks.figure == Figure::kMarks);
  CHECK(marks.bound == Criterion::Bound::kMax);
  CHECK(marks.limit == 0);
}

TEST_CASE("names of phases may hold what the syntax uses") {
  CHECK(Parsed("write 64k/4k, 3 lanes>=1GiB/s").phases == "write 64k/4k, 3 lanes");
  CHECK(Parsed("night: big>=small>=1GiB/s").phases == "night: big>=small");
  CHECK(Parsed("night:p99:p99<=1ms").phases == "night:p99");
}

TEST_CASE("the name of a flush call before a latency makes it one of that call") {
  CHECK(Parsed("append-log:fdatasync:p99<=10ms").phases == "append-log");
  CHECK(Parsed("append-log:fdatasync:p99<=10ms").call == OpKind::kFdatasync);
  CHECK(Parsed("fsync:p99<=10ms").phases == "*");
  CHECK(Parsed("fsync:p99<=10ms").call == OpKind::kFsync);
  CHECK(Parsed("* : close : max<=1s").call == OpKind::kClose);
  CHECK(Parsed("sync-file-range:mean<=1s").call == OpKind::kSyncFileRange);
  // Ops are the operation's; other figures have nothing to do with calls.
  CHECK(Parsed("write:p99<=1s").phases == "write");
  CHECK_FALSE(Parsed("write:p99<=1s").call.has_value());
  CHECK(Parsed("fsync:jain>=0.9").phases == "fsync");
  CHECK_FALSE(Parsed("fsync>=1MiB/s").call.has_value());
  CHECK_FALSE(Parsed("night-fsync:p99<=1s").call.has_value());
}

TEST_CASE("a figure alone is one of all phases") {
  CHECK(Parsed("p90<=40ms").phases == "*");
  CHECK(Parsed("p90<=40ms").figure == Criterion::Figure::kP90);
  CHECK(Parsed("p90<=40ms").limit == Approx(40'000));
  CHECK(Parsed("read:p95<=40ms").figure == Criterion::Figure::kP95);
  CHECK(Parsed(" jain >= 0.9").phases == "*");
  CHECK(Parsed("marks=none").figure == Criterion::Figure::kMarks);
  CHECK(Parsed("max:mean<=1ms").phases == "max");
}

TEST_CASE("what is no criterion is refused with the syntax") {
  for (const std::string text :
       {"", "write", "write>900MiB/s", "write>=", "write>=900", "write>=900MiB", "write>=-1MiB/s",
        "write>=1e9B/s", "write>=nanB/s", ">=900MiB/s", ":p99<=1ms", "write:p99<=10", "write:p99<=10MiB/s",
        "read:jain>=0.9ms", "read:marks<=1", "read=none", "read:p99=none", "write==1MiB/s",
        "write>=1..5MiB/s"}) {
    INFO(text);
    const absl::Status status = ParseCriterion(text).status();
    CHECK(absl::IsInvalidArgument(status));
    CHECK(absl::StrContains(status.message(), "write>=900MiB/s"));
    CHECK(absl::StrContains(status.message(), "\"" + text + "\""));
  }
}

TEST_CASE("a criterion is for phases by their name or operation, and * leaves out those without its figure") {
  v1::Phase sweep, create;
  sweep.set_name("write 64k/4k");
  sweep.add_assignments()->mutable_operation()->set_name("write");
  create.set_name("create");
  create.add_assignments()->mutable_operation()->set_name("create");
  CHECK(AppliesTo(Parsed("write>=1MiB/s"), sweep));
  CHECK(AppliesTo(Parsed("write 64k/4k>=1MiB/s"), sweep));
  CHECK_FALSE(AppliesTo(Parsed("write 64k>=1MiB/s"), sweep));
  CHECK(AppliesTo(Parsed("*>=1MiB/s"), sweep));
  CHECK_FALSE(AppliesTo(Parsed("*>=1MiB/s"), create));
  CHECK(AppliesTo(Parsed("*>=1ops/s"), create));
  CHECK_FALSE(AppliesTo(Parsed("*>=1ops/s"), v1::Phase()));
}

TEST_CASE("a phase of several operations has criteria by its name or all of them, not by one of them") {
  v1::Phase night;
  night.set_name("night");
  for (const char* const name : {"create", "write", "create"}) {
    night.add_assignments()->mutable_operation()->set_name(name);
  }
  CHECK(AppliesTo(Parsed("night>=1MiB/s"), night));
  CHECK(AppliesTo(Parsed("create+write>=1MiB/s"), night));
  for (const char* const part : {"create:p99<=1s", "write>=1MiB/s"}) {
    INFO(part);
    CHECK_FALSE(AppliesTo(Parsed(part), night));
    CHECK(NamesPart(Parsed(part), night));
  }
  for (const char* const other : {"night>=1MiB/s", "read>=1MiB/s", "*:marks=none"}) {
    CHECK_FALSE(NamesPart(Parsed(other), night));
  }
  // Writes have bytes, whichever operation comes first.
  CHECK(AppliesTo(Parsed("*>=1MiB/s"), night));
  night.mutable_assignments(1)->mutable_operation()->set_name("create");
  CHECK_FALSE(AppliesTo(Parsed("*>=1MiB/s"), night));
  CHECK(AppliesTo(Parsed("create>=1ops/s"), night));  // all its workers do it
  CHECK_FALSE(NamesPart(Parsed("create>=1ops/s"), night));
}

}  // namespace
}  // namespace iobench
