#include "coordinator/report/text/interference_table.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {

const std::vector<std::string>& InterferenceColumns() {
  static const std::vector<std::string> columns = {"rate", "of undisturbed", "p50",
                                                   "p99",  "p99 factor",     "load itself"};
  return columns;
}

std::vector<std::vector<std::string>> InterferenceCells(const v1::InterferenceReport& report) {
  std::vector<std::vector<std::string>> rows;
  for (const v1::InterferenceRow& row : report.rows()) {
    const std::string rate = RateText(report.in_ops(), row.rate(), row.rate());
    const std::string p50 = Microseconds(row.p50_us()), p99 = Microseconds(row.p99_us());
    if (row.background().empty()) {
      rows.push_back({"undisturbed", rate, "", p50, p99, "", ""});
      continue;
    }
    rows.push_back({absl::StrCat("beside ", row.background()), rate, Percent(100 * row.of_undisturbed()), p50,
                    p99, std::isfinite(row.p99_factor()) ? absl::StrFormat("%.3gx", row.p99_factor()) : "-",
                    RateText(row.background_in_ops(), row.background_rate(), row.background_rate())});
  }
  return rows;
}

std::string VictimsText(const v1::InterferenceReport& report) {
  uint32_t others = 0;
  for (const v1::InterferenceRow& row : report.rows()) others = std::max(others, row.others());
  return absl::StrCat(Counted(report.victims(), report.by_worker() ? "worker" : "client"), "; each load by ",
                      others, others == 1 ? " other" : " others",
                      report.by_worker()
                          ? ". All are on one client, so they also share its processors, mount and network"
                          : "");
}

}  // namespace iobench
