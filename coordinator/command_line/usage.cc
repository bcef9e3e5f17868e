#include "coordinator/command_line/usage.h"

#include "absl/strings/str_cat.h"
#include "common/model/plan_traits.h"
#include "common/text/terminal_width.h"
#include "coordinator/command_line/examples.h"

namespace iobench {

std::string ShortUsage(size_t columns) {
  const auto paragraph = [columns](const std::string& text) { return Hanging("", 0, text, columns); };
  return absl::StrCat(
      paragraph("cluster-iobench: measure what a shared file system can do, from many clients at once"), "\n",
      paragraph("Nothing was measured or written: name a directory to test in."), "\n", ExamplesText("run", columns), "\n",
      paragraph(absl::StrCat("Test data go to DIR/", kDataDirectoryName,
                             " and are removed at the end. Results stay in ./cluster-iobench.out/TIME, or in the directory "
                             "given with --out.")),
      "\n",
      paragraph("cluster-iobench run --help lists the most used options, run --help all every one, --help iozone IOzone's "
                "letters, --help the other commands."));
}

}  // namespace iobench
