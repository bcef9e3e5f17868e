#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "common/model/engine.h"

namespace iobench {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("engines are found by name, and an unknown name is told what there is") {
  std::set<std::string_view> names;
  for (const EngineSpec& engine : Engines()) {
    CHECK(FindEngine(engine.name).value() == &engine);
    CHECK(names.insert(engine.name).second);
    CHECK_FALSE(engine.calls.empty());
  }
  CHECK(EngineUsesFiles("posix"));
  CHECK_FALSE(EngineUsesFiles("null"));
  CHECK_FALSE(EngineUsesFiles("floppy"));
  CHECK_THAT(std::string(FindEngine("floppy").status().message()), Contains("posix") && Contains("null"));
}

TEST_CASE("every operation has an engine where the user asked for none") {
  for (const OperationSpec& operation : Operations()) {
    const auto engine = EngineFor(operation, "posix");
    REQUIRE(engine.ok());
    CHECK((*engine)->calls.Has(operation.call));
    CHECK((*engine)->uses_files);
    CHECK(EngineFor(operation, "null").value()->name == "null");
  }
}

TEST_CASE("an unknown engine for an operation is bad input") {
  CHECK(absl::IsInvalidArgument(EngineFor(Operations()[0], "floppy").status()));
}

}  // namespace
}  // namespace iobench
