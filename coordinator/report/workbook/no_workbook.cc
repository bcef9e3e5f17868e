// In place of the other files, if libxlsxwriter was missing when the build was configured, or has no archive for the
// self-contained program.
#include "common/process/self_contained.h"
#include "coordinator/report/workbook/workbook_writer.h"

namespace iobench {

absl::Status WorkbookIsBuilt() {
  return absl::FailedPreconditionError(
      IsSelfContained() ? "the self-contained program writes no workbooks: use --format csv, or `report DIR --format workbook` "
                          "with the program of the Debian package or one that was built from source"
                        : "this build has no workbook: install libxlsxwriter-dev, run cmake and build again");
}

absl::Status WriteWorkbook(const v1::RunReport&, std::ostream&) {
  return WorkbookIsBuilt();
}

}  // namespace iobench
