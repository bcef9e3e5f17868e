// What the fields of an operation demand of its engine. Plan checks and refusals, and the choice of operations that a
// suite's options apply to, derive from one table; what each engine can do is in the engine table (engine.h). Pure.
#ifndef COMMON_MODEL_ENGINE_DEMAND_H_
#define COMMON_MODEL_ENGINE_DEMAND_H_

#include <span>
#include <string_view>

#include "common/model/engine.h"
#include "common/model/operation.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// The metadata operations that can meet a demand, if their engine can.
enum class MetadataMeets {
  kAll,
  kWritingData,  // those that write to files that they open
  kNone,
};

// What happens to an option for a whole suite in phases whose engine cannot do it.
enum class InSuite {
  kRefused,
  kSkipsPhase,  // the other phases get it
};

struct EngineDemand {
  std::string_view field;   // below v1::Operation: "mmap.advice"
  std::string_view option;  // for messages: "-+A (mmap.advice)"
  EngineFeature feature;
  bool (*asked)(const v1::Operation& operation);  // true if the operation has the demand
  MetadataMeets metadata = MetadataMeets::kAll;
  InSuite in_suite = InSuite::kRefused;
};

// All demands, in the order in which they are checked.
std::span<const EngineDemand> EngineDemands();

// True if the engine can do for this operation what the demand asks. REQUIRES: the engine runs the operation.
bool Meets(const EngineSpec& engine, const OperationSpec& operation, const EngineDemand& demand);

}  // namespace iobench

#endif  // COMMON_MODEL_ENGINE_DEMAND_H_
