// The one place that parses YAML: plans, mixes, expectations, waivers.
#ifndef COORDINATOR_YAML_READ_YAML_H_
#define COORDINATOR_YAML_READ_YAML_H_

#include <cstddef>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "yaml-cpp/yaml.h"

namespace iobench {

// Of a document, with each alias counted as all that it stands for: a few lines of aliases of aliases could stand for
// more nodes than any memory holds. The largest plan that CheckPlan accepts has fewer.
inline constexpr size_t kMaxYamlNodes = 1'000'000;

// Calls `read` with the root of the first document and returns its status. InvalidArgument, with file, line and column: the
// text is not YAML; `read` asked a node for what it is not; more than kMaxYamlNodes nodes, or an alias within what it
// stands for, in which case `read` is not called. ResourceExhausted: not enough memory.
absl::Status ReadYaml(const std::string& text, const std::string& file_name,
                      const std::function<absl::Status(const YAML::Node& root)>& read);

}  // namespace iobench

#endif  // COORDINATOR_YAML_READ_YAML_H_
