#include "coordinator/report/text/layers_table.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

std::string ShareText(double share) {
  return std::isfinite(share) ? Percent(100 * share) : "-";
}

}  // namespace

const std::vector<std::string>& LayersColumns() {
  static const std::vector<std::string> columns = {"rate", "of the layer below", "clients reach",
                                                   "servers' disks"};
  return columns;
}

std::vector<std::vector<std::string>> LayersCells(const v1::LayersReport& report) {
  std::vector<std::vector<std::string>> rows;
  for (const v1::LayerRow& row : report.rows()) {
    const double disk = row.disk_bytes_per_s();
    rows.push_back({row.layer(), RateText(report.in_ops(), row.rate(), row.rate()), ShareText(row.of_below()),
                    ShareText(row.reached()), std::isfinite(disk) ? RateText(false, disk, disk) : ""});
  }
  rows.front()[2].clear();  // there is none below
  rows.back()[3].clear();   // they are the clients
  return rows;
}

std::vector<std::pair<std::string, std::string>> LayersRemarks(const v1::LayersReport& report) {
  std::vector<std::pair<std::string, std::string>> remarks;
  for (const v1::LayerRow& row : report.rows()) {
    std::string text = row.remark();
    if (!row.problem().empty()) {
      absl::StrAppend(&text, text.empty() ? "" : "; ", "not comparable: ", row.problem());
    }
    if (!text.empty()) remarks.emplace_back(row.layer(), text);
  }
  remarks.emplace_back("narrowest", report.narrowest_text());
  return remarks;
}

}  // namespace iobench
