// A validation as a web page: the message as its JSON has it, which web/src/validate.js reads.
#include <sstream>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "coordinator/report/json_text.h"
#include "coordinator/report/page/page_data.h"
#include "coordinator/report/page/page_writer.h"
#include "coordinator/report/validate/validate_formats.h"

namespace iobench {

absl::Status WriteValidatePage(const v1::ValidateReport& report, const ConsoleStyle&, std::ostream& out) {
  std::ostringstream text;
  IOBENCH_RETURN_IF_ERROR(WriteJsonText(report, text));
  return WritePageOf(PackForPage(absl::StrCat("{\"validation\":", text.str(), "}"), ""), out);
}

}  // namespace iobench
