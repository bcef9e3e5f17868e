// The tables of other tools' options as text.
#ifndef COORDINATOR_TRANSLATE_FOREIGN_HELP_H_
#define COORDINATOR_TRANSLATE_FOREIGN_HELP_H_

#include <string>

#include "coordinator/translate/foreign_tool.h"

namespace iobench {

// Returns what `--help TOOL` prints. REQUIRES: the tool's table has rows.
std::string ForeignHelp(const ForeignTool& tool);

// Returns docs/coming-from.md.
std::string ComingFromDocument();

// "-r SIZE", "--engine uring": what an option becomes; empty: nothing.
std::string OursOf(const ForeignOption& option);

}  // namespace iobench

#endif  // COORDINATOR_TRANSLATE_FOREIGN_HELP_H_
