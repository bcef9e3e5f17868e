// An operation with an option that its engine would ignore is refused, and both are named.
#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "common/text/units.h"
#include "coordinator/plan/plan_check.h"

namespace iobench {
namespace {

using Catch::Contains;

v1::Plan PlanOf(const std::string& operation, const std::string& engine,
                const std::function<void(v1::Operation&)>& change = {}) {
  v1::Plan plan;
  plan.mutable_files()->set_bytes_per_lane(1_MiB);
  v1::Operation& only = *plan.add_phases()->add_assignments()->mutable_operation();
  only.set_name(operation);
  if (!engine.empty()) only.set_engine(engine);
  only.set_record_bytes(4_KiB);
  if (change) change(only);
  CompletePlan(plan);
  return plan;
}

std::string ErrorOf(const std::string& operation, const std::string& engine,
                    const std::function<void(v1::Operation&)>& change = {}) {
  return std::string(CheckPlan(PlanOf(operation, engine, change)).message());
}

TEST_CASE("an operation gets the engine of its calls where the user has not asked for another") {
  for (const char* operation : {"fwrite", "refread", "putc", "getc"}) {
    const v1::Plan plan = PlanOf(operation, "");
    CHECK(CheckPlan(plan).ok());
    CHECK(plan.phases(0).assignments(0).operation().engine() == "stdio");
  }
  for (const char* operation : {"pwritev", "repreadv", "update", "seeks", "sequential-mix"}) {
    const v1::Plan plan = PlanOf(operation, "");
    CHECK(CheckPlan(plan).ok());
    CHECK(plan.phases(0).assignments(0).operation().engine() == "posix");
  }
  CHECK_THAT(ErrorOf("fwrite", "mmap"), Contains("mmap") && Contains("fwrite"));
  CHECK_THAT(ErrorOf("read", "stdio"), Contains("stdio") && Contains("read"));
  CHECK(ErrorOf("preadv", "mmap").empty());
  CHECK(ErrorOf("update", "mmap").empty());
}

TEST_CASE("an option that an engine would ignore is refused with both names") {
  using Change = std::function<void(v1::Operation&)>;
  struct Row {
    const char* option;
    Change change;
    const char* can;     // engines that take it
    const char* cannot;  // and those that do not
  };
  const Row rows[] = {
      {"-I (direct)", [](v1::Operation& o) { o.set_direct(true); }, "posix", "mmap"},
      {"-o (sync)", [](v1::Operation& o) { o.set_sync(true); }, "posix", "mmap"},
      {"-+D (dsync)", [](v1::Operation& o) { o.set_dsync(true); }, "posix", "mmap"},
      {"-+r (rsync)", [](v1::Operation& o) { o.set_rsync(true); }, "posix", "mmap"},
      {"-W (file_lock)", [](v1::Operation& o) { o.set_file_lock(true); }, "posix mmap", "null"},
      {"-+l (record_locks)", [](v1::Operation& o) { o.set_record_locks(true); }, "posix mmap", "null"},
      {"-K (jitter_every)", [](v1::Operation& o) { o.set_jitter_every(100); }, "posix", "mmap null"},
      {"--fadvise", [](v1::Operation& o) { o.set_fadvise("random"); }, "posix mmap", "null"},
      {"-D (mmap.sync async)", [](v1::Operation& o) { o.mutable_mmap()->set_sync(v1::Mmap::ASYNC); }, "mmap",
       "posix null"},
      {"-G (mmap.sync sync)", [](v1::Operation& o) { o.mutable_mmap()->set_sync(v1::Mmap::SYNC); }, "mmap",
       "posix null"},
      {"-+A (mmap.advice)", [](v1::Operation& o) { o.mutable_mmap()->set_advice("random"); }, "mmap",
       "posix"},
      {"-Z (mmap.mix_file_io)", [](v1::Operation& o) { o.mutable_mmap()->set_mix_file_io(true); }, "mmap",
       "posix"},
  };
  for (const Row& row : rows) {
    for (const std::string engine : {"posix", "mmap", "null"}) {
      INFO(row.option << " with " << engine);
      if (std::string(row.can).find(engine) != std::string::npos)
        CHECK(ErrorOf("read", engine, row.change).empty());
      if (std::string(row.cannot).find(engine) == std::string::npos) continue;
      CHECK_THAT(ErrorOf("read", engine, row.change), Contains(row.option) && Contains("engine " + engine));
    }
  }
  CHECK_THAT(ErrorOf("fread", "posix", [](v1::Operation& o) { o.set_direct(true); }),
             Contains("-I (direct)") && Contains("engine stdio"));
  CHECK(ErrorOf("fread", "posix", [](v1::Operation& o) { o.set_file_lock(true); }).empty());
  CHECK_THAT(ErrorOf("fread", "posix", [](v1::Operation& o) { o.set_record_locks(true); }),
             Contains("-+l (record_locks)") && Contains("engine stdio"));
}

TEST_CASE("unknown words of advice list the known ones") {
  CHECK_THAT(ErrorOf("read", "posix", [](v1::Operation& o) { o.set_fadvise("hurry"); }),
             Contains("hurry") && Contains("normal, sequential, random, noreuse, willneed"));
  CHECK_THAT(ErrorOf("read", "mmap", [](v1::Operation& o) { o.mutable_mmap()->set_advice("hurry"); }),
             Contains("hurry") && Contains("normal, random, sequential, dontneed, willneed"));
}

TEST_CASE("options that exclude each other or have nothing to work on are refused") {
  CHECK_THAT(ErrorOf("read", "posix",
                     [](v1::Operation& o) {
                       o.set_file_lock(true);
                       o.set_record_locks(true);
                     }),
             Contains("-W (file_lock)") && Contains("-+l (record_locks)"));
  CHECK_THAT(ErrorOf("rewrite", "posix", [](v1::Operation& o) { o.set_jitter_every(100); }),
             Contains("-K (jitter_every)") && Contains("rewrite"));
  CHECK_THAT(ErrorOf("read", "posix", [](v1::Operation& o) { o.set_preallocate(true); }),
             Contains("--preallocate") && Contains("read"));
  CHECK(ErrorOf("pwritev", "posix", [](v1::Operation& o) { o.set_preallocate(true); }).empty());
  CHECK_THAT(ErrorOf("write", "null", [](v1::Operation& o) { o.set_preallocate(true); }),
             Contains("--preallocate") && Contains("null"));
  CHECK_THAT(ErrorOf("update", "posix", [](v1::Operation& o) { o.set_mix_by_lane(true); }),
             Contains("mix_by_lane") && Contains("update"));
}

TEST_CASE("a mix that nobody divides is half and half, Bonnie's seeks one in ten") {
  const auto percent = [](const char* name) {
    return PlanOf(name, "").phases(0).assignments(0).operation().read_percent();
  };
  CHECK(percent("random-mix") == 50);
  CHECK(percent("sequential-mix") == 50);
  CHECK(percent("seeks") == 90);
}

TEST_CASE("what is written through to the disk needs no stop for its flush") {
  const auto stonewall = [](const std::function<void(v1::Operation&)>& change) {
    v1::Plan plan = PlanOf("write", "posix", change);
    plan.mutable_phases(0)->mutable_region()->set_close(true);
    return DefaultStonewall(plan.phases(0).assignments(0).operation(), plan.phases(0).region());
  };
  CHECK(stonewall({}) == v1::STONEWALL_FLUSHED);
  CHECK(stonewall([](v1::Operation& o) { o.set_rsync(true); }) == v1::STONEWALL_RETROACTIVE);
}

}  // namespace
}  // namespace iobench
