#include "worker/demands.h"

#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/unit/worker_harness.h"

namespace iobench {
namespace {

TEST_CASE("a host has the engines of this build, and says which one it has not") {
  v1::Demands demands;
  for (const char* const engine : {"posix", "stdio", "metadata", "null"}) demands.add_engines(engine);
  CHECK(UnmetDemands(demands).empty());
  demands.add_engines("warp");
  const auto unmet = UnmetDemands(demands);
  REQUIRE(unmet.size() == 1);
  CHECK_THAT(std::string(unmet[0].message()), Catch::Contains("warp"));
}

TEST_CASE("a trace that is replayed is read to its end, against the lane's file") {
  const TempDir directory;
  directory.Write("trace", "0 4096\n61440 8192\n");
  v1::Demands demands;
  v1::ReplayedTrace& trace = *demands.add_replayed_traces();
  trace.set_file(directory.path() + "/trace");
  trace.set_file_bytes(69632);
  CHECK(UnmetDemands(demands).empty());
  trace.set_file_bytes(65536);
  REQUIRE(UnmetDemands(demands).size() == 1);
  CHECK_THAT(std::string(UnmetDemands(demands)[0].message()), Catch::Contains("trace:2: "));
  demands.add_replayed_traces()->set_file(directory.path() + "/none");
  CHECK(UnmetDemands(demands).size() == 2);
}

TEST_CASE("a trace can be made where its directory is and nothing of its name, and none is made") {
  const TempDir directory;
  v1::Demands demands;
  demands.add_new_files(directory.path() + "/t.0");
  CHECK(UnmetDemands(demands).empty());
  CHECK_FALSE(directory.Has("t.0"));
  demands.add_new_files(directory.path() + "/nowhere/t.1");
  directory.Write("t.2", "there");
  demands.add_new_files(directory.path() + "/t.2");
  demands.add_new_files(directory.path() + "/t.2/t.3");  // below a file
  const auto unmet = UnmetDemands(demands);
  REQUIRE(unmet.size() == 3);
  CHECK(absl::IsNotFound(unmet[0]));
  CHECK(absl::IsAlreadyExists(unmet[1]));
  CHECK_FALSE(unmet[2].ok());
}

TEST_CASE("a trace that is to be replaced may be there and nothing else of its name") {
  const TempDir directory;
  directory.Write("t.0", "0 4096 0.000\n");
  directory.Write("t.1", "mine");
  v1::Demands demands;
  demands.add_replaced_files(directory.path() + "/t.0");
  CHECK(UnmetDemands(demands).empty());
  demands.add_replaced_files(directory.path() + "/t.1");
  demands.add_replaced_files(directory.path() + "/t.2");
  const auto unmet = UnmetDemands(demands);
  REQUIRE(unmet.size() == 1);
  CHECK_THAT(std::string(unmet[0].message()), Catch::Contains("t.1 already exists"));
  CHECK(directory.Has("t.0"));
}

TEST_CASE("an offset and latency file may be there, but nothing else of its name") {
  const TempDir directory;
  directory.Write("wol.dat", "Offset in kBytes   Latency in microseconds  Transfer size in bytes\n");
  directory.Write("rol.dat", "mine");
  v1::Demands demands;
  demands.add_appended_files(directory.path() + "/wol.dat");
  demands.add_appended_files(directory.path() + "/rwol.dat");
  CHECK(UnmetDemands(demands).empty());
  CHECK_FALSE(directory.Has("rwol.dat"));
  demands.add_appended_files(directory.path() + "/rol.dat");
  REQUIRE(UnmetDemands(demands).size() == 1);
  CHECK(absl::IsAlreadyExists(UnmetDemands(demands)[0]));
}

TEST_CASE("a processor and a mount that are not there are told") {
  v1::Demands demands;
  demands.mutable_binding()->set_to(v1::Binding::CORES);
  CHECK(UnmetDemands(demands).empty());
  demands.mutable_binding()->set_first(1'000'000);
  demands.add_remounts("/no/mount/point");
  CHECK(UnmetDemands(demands).size() == 2);
}

}  // namespace
}  // namespace iobench
