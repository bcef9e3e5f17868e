// report.html: the web page of a run in one file, which needs no network. Its program and style are web/, bundled when
// this program is built; this folder adds the data.
#ifndef COORDINATOR_REPORT_PAGE_PAGE_WRITER_H_
#define COORDINATOR_REPORT_PAGE_PAGE_WRITER_H_

#include <ostream>
#include <string_view>

#include "absl/status/status.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// False: this program was built without Node.js, and WritePage fails.
#ifdef IOBENCH_HAS_PAGE
inline constexpr bool kHasPage = true;
#else
inline constexpr bool kHasPage = false;
#endif

// Returns whether a file that begins like this is a page that this program wrote.
bool IsOurPage(std::string_view head);

// Writes and flushes the page. DataLoss: not everything could be written. FailedPrecondition: !kHasPage.
absl::Status WritePage(const v1::RunReport& report, std::ostream& out);

// The same for data other than a run's: `data` is the result of PackForPage (page_data.h).
absl::Status WritePageOf(std::string_view data, std::ostream& out);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_PAGE_PAGE_WRITER_H_
