// Engines are found by name, and each operation runs on an engine that can do it or is refused.
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "common/model/engine.h"
#include "common/model/engine_demand.h"
#include "google/protobuf/descriptor.h"

namespace iobench {
namespace {

using Catch::Contains;

bool CanDo(const EngineSpec& engine, const OperationSpec& operation) {
  return engine.calls.Has(operation.call) &&
         (!operation.kinds.Has(OpKind::kUpdate) || engine.features.Has(EngineFeature::kUpdate));
}

TEST_CASE("an engine is found by its own name only") {
  std::set<std::string_view> names;
  for (const EngineSpec& engine : Engines()) {
    INFO(engine.name);
    CHECK(names.insert(engine.name).second);
    REQUIRE(FindEngine(engine.name).ok());
    CHECK(*FindEngine(engine.name) == &engine);
    CHECK(EngineUsesFiles(engine.name) == engine.uses_files);
  }
}

TEST_CASE("a name that other tools use stands for the engine that we have") {
  CHECK(FindEngine("io_uring").value()->name == "uring");
  CHECK(FindEngine("psync").value()->name == "posix");
  CHECK(FindEngine("nfs").value()->name == "libnfs");
  CHECK(EngineUsesFiles("io_uring"));
}

TEST_CASE("an unknown engine is refused with the names of all engines") {
  const absl::Status refusal = FindEngine("floppy").status();
  CHECK(absl::IsNotFound(refusal));
  for (const EngineSpec& engine : Engines())
    CHECK_THAT(std::string(refusal.message()), Contains(std::string(engine.name)));
  CHECK_FALSE(EngineUsesFiles("floppy"));
  CHECK(absl::IsInvalidArgument(EngineFor(Operations()[0], "floppy").status()));
}

TEST_CASE("an operation runs on the engine that was asked for or is refused; only posix is replaced") {
  for (const OperationSpec& operation : Operations()) {
    for (const EngineSpec& engine : Engines()) {
      INFO(operation.name << " on " << engine.name);
      const auto chosen = EngineFor(operation, engine.name);
      if (CanDo(engine, operation)) {
        REQUIRE(chosen.ok());
        CHECK(*chosen == &engine);
      } else if (engine.name == "posix") {  // the default, so not necessarily the user's choice
        REQUIRE(chosen.ok());
        CHECK(CanDo(**chosen, operation));
        CHECK((*chosen)->uses_files);
      } else {
        REQUIRE(absl::IsInvalidArgument(chosen.status()));
        CHECK_THAT(std::string(chosen.status().message()),
                   Contains(std::string(engine.name)) && Contains(std::string(operation.name)));
      }
    }
  }
}

TEST_CASE("what an engine says of itself fits together") {
  for (const EngineSpec& engine : Engines()) {
    INFO(engine.name);
    CHECK_FALSE(engine.calls.empty());
    if (engine.mounted) CHECK(engine.uses_files);
    // Several ops in flight have neither an order nor one thread.
    if (engine.Can(EngineFeature::kQueue)) {
      CHECK_FALSE(engine.features.Has(EngineFeature::kUpdate));
      CHECK_FALSE(engine.features.Has(EngineFeature::kRecordLocks));
    }
    // MPI's threads are those of the process.
    if (engine.threads != CallThreads::kOwn || engine.Can(EngineFeature::kCopy)) {
      CHECK((engine.Can(EngineFeature::kQueue) || engine.Can(EngineFeature::kMpiIo)));
    }
    // These belong to a descriptor.
    for (const EngineFeature feature : {EngineFeature::kFileLock, EngineFeature::kRecordLocks,
                                        EngineFeature::kFileAdvice, EngineFeature::kMapping}) {
      if (engine.features.Has(feature)) CHECK(engine.mounted);
    }
  }
}

TEST_CASE("the engines with a feature are those that move data") {
  CHECK(EnginesWith(EngineFeature::kQueue) == "posix-aio, uring, libnfs");
  CHECK(EnginesWith(EngineFeature::kCopy) == "posix-aio");
  CHECK(EnginesWith(EngineFeature::kInterleaved) == "posix, mpiio");  // and null, which moves nothing
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
