#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "common/model/engine.h"
#include "common/model/engine_demand.h"
#include "google/protobuf/descriptor.h"

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

TEST_CASE("the engines with a feature are those that move data") {
  CHECK(EnginesWith(EngineFeature::kQueue) == "posix-aio, uring, libnfs");
  CHECK(EnginesWith(EngineFeature::kCopy) == "posix-aio");
  CHECK(EnginesWith(EngineFeature::kInterleaved) == "posix");  // and null, which moves nothing
}

TEST_CASE("a demand is a field of an operation, which no operation has by default and some engine meets") {
  const v1::Operation unset;
  for (const EngineDemand& demand : EngineDemands()) {
    INFO(std::string(demand.option));
    const google::protobuf::Descriptor* type = v1::Operation::descriptor();
    const std::string field(demand.field);
    const size_t dot = field.find('.');
    if (dot != std::string::npos) {
      REQUIRE(type->FindFieldByName(field.substr(0, dot)) != nullptr);
      type = type->FindFieldByName(field.substr(0, dot))->message_type();
    }
    CHECK(type->FindFieldByName(field.substr(dot == std::string::npos ? 0 : dot + 1)) != nullptr);
    CHECK_FALSE(demand.asked(unset));
    CHECK_FALSE(EnginesWith(demand.feature).empty());
  }
}

TEST_CASE("flushing writes is for operations that write") {
  const auto meets = [](const char* operation, const char* option) {
    const OperationSpec& spec = **FindOperation(operation);
    for (const EngineDemand& demand : EngineDemands()) {
      if (demand.field == option) return Meets(**EngineFor(spec, kDefaultEngine), spec, demand);
    }
    return false;
  };
  CHECK(meets("read", "sync"));
  CHECK(meets("read", "rsync"));
  CHECK(meets("create", "sync"));
  CHECK_FALSE(meets("create", "rsync"));
  CHECK_FALSE(meets("stat", "dsync"));
  CHECK(meets("fread", "sync"));
  CHECK_FALSE(meets("fread", "direct"));
}

}  // namespace
}  // namespace iobench
