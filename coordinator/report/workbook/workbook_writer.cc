#include "coordinator/report/workbook/workbook_writer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "absl/cleanup/cleanup.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "coordinator/report/flush_report.h"
#include "coordinator/report/text/wall_time.h"
#include "coordinator/report/workbook/sheets.h"
#include "coordinator/report/workbook/surface_chart.h"
#include "coordinator/report/workbook/table_sheets.h"

namespace iobench {
namespace {

absl::StatusOr<std::string> ReadFromStart(int fd) {
  if (::lseek(fd, 0, SEEK_SET) != 0) return ErrnoStatus("read the workbook", errno);
  std::string contents;
  char piece[64 * 1024];
  while (true) {
    const ssize_t length = ::read(fd, piece, sizeof(piece));
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return ErrnoStatus("read the workbook", errno);
    if (length == 0) return contents;
    contents.append(piece, static_cast<size_t>(length));
  }
}

// The properties have no time of their own, so that equal reports give equal files.
void SetProperties(const v1::RunReport& report, lxw_workbook* workbook) {
  std::string title = absl::StrCat("cluster-iobench run ", Printable(report.run().id()));
  std::string comment = CutAtEnd(Printable(report.run().label()), 200);
  lxw_doc_properties properties{};
  properties.title = title.data();
  properties.comments = comment.data();
  properties.created = EpochMsOf(report.run().started_at()) / 1000;
  if (properties.created == 0) properties.created = 1;  // 0 means now
  workbook_set_properties(workbook, &properties);
}

}  // namespace

absl::Status WorkbookIsBuilt() {
  return absl::OkStatus();
}

absl::Status WriteWorkbook(const v1::RunReport& report, std::ostream& out) {
  // libxlsxwriter writes only to files that have a name.
  const int fd = ::memfd_create("workbook", MFD_CLOEXEC);
  if (fd < 0) return ErrnoStatus("create the workbook in memory", errno);
  const absl::Cleanup close_file = [fd] { ::close(fd); };
  lxw_workbook_options options{};
  options.use_zip64 = 0;
  lxw_workbook* workbook = workbook_new_opt(absl::StrCat("/proc/self/fd/", fd).c_str(), &options);
  if (workbook == nullptr) return absl::ResourceExhaustedError("no memory for the workbook");
  Book book(workbook);
  SetProperties(report, workbook);
  AddSummarySheet(report, book);
  AddSurfaceSheets(report, book);
  AddClientsSheet(report, book);
  AddPhaseSheets(report, book);
  AddTableSheets(report, book);
  AddFactsSheet(report, book);
  const lxw_error problem = workbook_close(workbook);  // also frees it
  if (problem != LXW_NO_ERROR) {
    return absl::DataLossError(absl::StrCat("the workbook could not be written: ", lxw_strerror(problem),
                                            " (its parts need space in the directory for temporary files)"));
  }
  auto contents = ReadFromStart(fd);
  if (contents.ok()) contents = WithSurfaceCharts(*std::move(contents), book.surface_charts());
  if (!contents.ok()) return contents.status();
  out.write(contents->data(), static_cast<std::streamsize>(contents->size()));
  return Flush(out, "workbook");
}

}  // namespace iobench
