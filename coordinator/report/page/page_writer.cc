#include "coordinator/report/page/page_writer.h"

#include <string>
#include <string_view>

#include "coordinator/report/flush_report.h"
#include "coordinator/report/page/page_data.h"
#include "coordinator/report/page/page_shell.h"

namespace iobench {

bool IsOurPage(std::string_view head) {
  return head.find("<meta name=\"generator\" content=\"cluster-iobench\">") != std::string_view::npos;
}

absl::Status WritePageOf(std::string_view data, std::ostream& out) {
  const std::string_view shell = PageShell();
  const size_t place = shell.find(kDataPlace);
  if (place == std::string_view::npos) {
    return absl::FailedPreconditionError(
        "this program was built without the web page: build it again where Node.js and npm are installed");
  }
  out << shell.substr(0, place) << data << shell.substr(place + kDataPlace.size());
  return Flush(out, "HTML");
}

absl::Status WritePage(const v1::RunReport& report, std::ostream& out) {
  const absl::StatusOr<std::string> data = PageData(report);
  if (!data.ok()) return data.status();
  return WritePageOf(*data, out);
}

}  // namespace iobench
