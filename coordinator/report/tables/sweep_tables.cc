// Tables of phases that differ in one thing only: the path, the workers, sizes and records.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/units.h"
#include "coordinator/report/tables/fill_tables.h"
#include "coordinator/report/text/path_words.h"

namespace iobench {
namespace {

using Unit = TableUnit;

TableColumn UnitColumn() {
  return {.id = "unit", .title = "unit", .unit = Unit::kRateUnit, .left = true};
}

// "write 1m/64k on /mnt/a": what the points or cells have in common.
std::string NameOf(const std::string& operation, const std::string& shape, const std::string& target) {
  return absl::StrCat(operation, shape.empty() ? "" : " ", shape, target.empty() ? "" : " on ", target);
}

}  // namespace

Table EachPathTable(const v1::RunReport& report) {
  const v1::EachPathReport& each_path = report.each_path();
  if (each_path.rows().empty()) return {};
  Table table = {.columns = {{.id = "phase", .title = "phase", .left = true}, UnitColumn()}, .parts = {{}}};
  for (int i = 0; i < each_path.paths_size(); ++i) {
    const std::string number = absl::StrCat("path", i + 1, "_");
    const std::string& path = each_path.paths(i);
    table.columns.push_back({.id = number + "rate", .title = path, .unit = Unit::kRate});
    if (i == 0) continue;
    table.columns.push_back({.id = number + "of_first", .title = "of first", .unit = Unit::kShare});
    table.columns.push_back({.id = number + "shown", .title = "shown (95 %)", .left = true});
  }
  for (const v1::EachPathRow& row : each_path.rows()) {
    TableRow& cells = table.parts[0].rows.emplace_back(TableRow{row.phase(), RateUnit(row.in_ops())});
    for (int i = 0; i < each_path.paths_size(); ++i) {
      const v1::EachPathCell& cell = i < row.cells_size() ? row.cells(i) : v1::EachPathCell::default_instance();
      cells.push_back(Rate(cell.rate(), row.in_ops()));
      if (i == 0) continue;
      cells.push_back(cell.of_first());
      cells.push_back(VerdictText(cell));
    }
  }
  if (!each_path.doubt().empty()) table.parts[0].notes.push_back({"beware", each_path.doubt(), TableNote::Tone::kWarning});
  return table;
}

Table WorkerScalingTable(const v1::RunReport& report) {
  Table table = {.columns = {{.id = "workers", .title = "workers", .unit = Unit::kCount},
                             {.id = "clients", .title = "clients", .unit = Unit::kCount},
                             {.id = "lanes", .title = "lanes", .unit = Unit::kCount},
                             UnitColumn(),
                             {.id = "rate", .title = "rate", .unit = Unit::kRate},
                             {.id = "rate_per_client", .title = "per client", .unit = Unit::kRate},
                             {.id = "scaling", .title = "scaling", .unit = Unit::kShare}},
                 .parts = {},
                 .parts_are = "phase",
                 .joined = true};
  for (const v1::WorkerScalingReport& each : report.worker_scaling()) {
    const std::string shape =
        each.metadata() ? "" : absl::StrCat(ShortSize(each.bytes_per_lane()), "/", ShortSize(each.record_bytes()));
    TablePart& part = table.parts.emplace_back(TablePart{NameOf(each.operation(), shape, each.target()), {}});
    for (const v1::WorkerScalingPoint& point : each.points()) {
      part.rows.push_back({point.worker_count(), point.client_count(), point.lane_count(), RateUnit(each.in_ops()),
                           Rate(point.rate(), each.in_ops()), Rate(point.rate_per_client(), each.in_ops()),
                           point.scaling()});
    }
  }
  return table;
}

Table SurfacesTable(const v1::RunReport& report) {
  Table table = {.columns = {{.id = "lanes", .title = "lanes", .unit = Unit::kCount},
                             {.id = "bytes_per_lane", .title = "file size", .unit = Unit::kBytes},
                             {.id = "record_bytes", .title = "record", .unit = Unit::kBytes},
                             UnitColumn(),
                             {.id = "rate", .title = "rate", .unit = Unit::kRate},
                             {.id = "interval", .title = "interval", .unit = Unit::kRate, .range = true},
                             {.id = "repetitions", .title = "repetitions", .unit = Unit::kCount},
                             {.id = "marks", .title = "marks", .left = true}},
                 .parts = {},
                 .parts_are = "operation",
                 .joined = true};
  for (const v1::SurfaceReport& surface : report.surfaces()) {
    TablePart& part = table.parts.emplace_back(TablePart{NameOf(surface.operation(), "", surface.target()), {}});
    for (const v1::SurfaceCell& cell : surface.cells()) {
      part.rows.push_back({surface.lane_count(), cell.bytes_per_lane(), cell.record_bytes(), RateUnit(surface.in_ops()),
                           Rate(cell.rate(), surface.in_ops()),
                           CellIf(cell.count() > 1, RateRange(cell.low(), cell.high(), surface.in_ops())), cell.count(),
                           absl::StrJoin(cell.marks(), " ")});
    }
  }
  return table;
}

}  // namespace iobench
