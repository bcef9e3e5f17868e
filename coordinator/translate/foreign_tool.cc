#include "coordinator/translate/foreign_tool.h"

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"

namespace iobench {
namespace {

bool IsWordOf(std::string_view words, std::string_view word) {
  for (const std::string& each : std::vector<std::string>(absl::StrSplit(std::string(words), ' '))) {
    if (each == word) return true;
  }
  return false;
}

}  // namespace

std::span<const ForeignTool> ForeignTools() {
  static const ForeignTool tools[] = {kFioTool,    kIorTool,       kMdtestTool, kElbenchoTool,
                                      kBonnieTool, kSmallfileTool, kIozoneTool, kVdbenchTool};
  return tools;
}

const ForeignTool* FindForeignTool(std::string_view program) {
  program.remove_prefix(program.rfind('/') + 1);  // npos + 1 is 0
  if (program.ends_with(".py")) program.remove_suffix(3);
  const std::string name = absl::AsciiStrToLower(std::string(program));
  for (const ForeignTool& tool : ForeignTools()) {
    if (IsWordOf(tool.called, name)) return &tool;
  }
  return nullptr;
}

const ForeignOption* FindForeignOption(const ForeignTool& tool, std::string_view name) {
  for (const ForeignOption& option : tool.options) {
    if (IsWordOf(option.names, name)) return &option;
  }
  return nullptr;
}

}  // namespace iobench
