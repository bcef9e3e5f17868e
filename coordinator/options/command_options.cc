#include "coordinator/options/command_options.h"

#include <type_traits>

namespace iobench {

std::string UserOf(const Command& command) {
  return std::visit(
      [](const auto& each) -> std::string {
        using Options = std::decay_t<decltype(each)>;
        if constexpr (std::is_base_of_v<JobOptions, Options>) return each.cluster.user;
        if constexpr (std::is_base_of_v<ProtectionOptions, Options>) return each.user;
        return "";
      },
      command);
}

}  // namespace iobench
