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
  // Only operations that write to the files that they open (TreeEffect::writes_data).
  kWritingData,
  kNone,
};

// What happens to an option that is given for a whole suite, in a phase whose engine cannot do it.
enum class InSuite {
  // The plan is refused.
  kRefused,
  // Only the phases that can do it get the option.
  kSkipsPhase,
};

// One row of the table: a field of v1::Operation, the feature that it demands, and what to say about it. Rows are
// constants; the texts are valid until the program ends.
struct EngineDemand {
  // Path of the field below v1::Operation, as in plans: "mmap.advice".
  std::string_view field;
  // The same for messages, with the letter of the option: "-+A (mmap.advice)".
  std::string_view option;
  EngineFeature feature;
  // Returns true if the operation sets the field and thus makes the demand.
  bool (*asked)(const v1::Operation& operation);
  MetadataMeets metadata = MetadataMeets::kAll;
  InSuite in_suite = InSuite::kRefused;
};

// All demands, in the order in which they are checked.
std::span<const EngineDemand> EngineDemands();

// True if the engine can do for this operation what the demand asks, whether or not the operation asks for it.
// REQUIRES: the engine runs the operation (EngineFor).
bool Meets(const EngineSpec& engine, const OperationSpec& operation, const EngineDemand& demand);

}  // namespace iobench

#endif  // COMMON_MODEL_ENGINE_DEMAND_H_
