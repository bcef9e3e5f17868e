// In place of the other files, if libxlsxwriter was missing when the build was configured.
#include "coordinator/report/workbook/workbook_writer.h"

namespace iobench {

absl::Status WorkbookIsBuilt() {
  return absl::FailedPreconditionError(
      "this build has no workbook: install libxlsxwriter-dev, run cmake and build again");
}

absl::Status WriteWorkbook(const v1::RunReport&, std::ostream&) {
  return WorkbookIsBuilt();
}

}  // namespace iobench
