// A capacity measurement for people: the answers first, then what they come from.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/text/display_text.h"
#include "common/text/number_words.h"
#include "common/text/units.h"
#include "coordinator/report/capacity/capacity_formats.h"
#include "coordinator/report/console/console_page.h"
#include "coordinator/report/flush_report.h"
#include "coordinator/report/text/text_table.h"

namespace iobench {
namespace {

using Align = TextTable::Align;

std::string RateOf(double ops_per_s) {
  if (!std::isfinite(ops_per_s)) return "-";
  return FormatCount(ops_per_s);
}

std::string OpsRate(double ops_per_s) {
  return absl::StrCat(RateOf(ops_per_s), " ops/s");
}

std::string WithBytes(double ops_per_s, double bytes_per_s) {
  return bytes_per_s > 0 ? absl::StrCat(OpsRate(ops_per_s), " (", FormatBytesPerSecond(bytes_per_s), ")")
                         : OpsRate(ops_per_s);
}

std::string TimeOf(double us) {
  return FormatSeconds(us * 1e-6);
}

std::string Percent(double share) {
  return std::isfinite(share) ? absl::StrFormat("%.0f %%", std::round(100 * share) + 0.0) : "";
}

std::string NameOf(const v1::CapacityReport& report) {
  return absl::StrCat("capacity ", Printable(report.path()), ": ", Counted(report.client_count(), "client"),
                      ", ", Counted(report.worker_count(), "worker"), ", up to ",
                      Counted(report.lanes_per_worker(), "lane"), " each");
}

std::string HeadroomText(const v1::CapacityReport& report) {
  const v1::LoadAnswer& load = report.load();
  if (load.factor() >= 1) {
    return absl::StrFormat("%s can grow by a factor of %s: %s is %s, of which %s is unused",
                           OpsRate(load.ops_per_s()), FormatSignificant(load.factor(), 3), load.limit_is(),
                           OpsRate(load.limit_per_s()), Percent(load.unused_share()));
  }
  if (load.limit_per_s() > 0) {
    return absl::StrFormat("none: %s is over %s, %s", OpsRate(load.ops_per_s()), load.limit_is(),
                           OpsRate(load.limit_per_s()));
  }
  return absl::StrCat("none: no load is known to meet ", report.slo().slo());
}

void AddAnswers(const v1::CapacityReport& report, ConsolePage& page) {
  if (!report.has_max()) page.Labelled("highest", "unknown: it was not measured", Tone::kWarning);
  if (report.has_max()) {
    const v1::CapacityMax& max = report.max();
    page.Labelled("highest", absl::StrCat(WithBytes(max.ops_per_s(), max.bytes_per_s()), " with ",
                                          Counted(max.clients(), "client"), " and ",
                                          Counted(max.lanes(), "lane"), " in total"));
    if (max.times_mix() > 0)
      page.Labelled("", absl::StrCat(FormatSignificant(max.times_mix(), 3), " times the load of the mix"));
    for (const std::string& limit : max.limited_by())
      page.Labelled("", absl::StrCat("limited by ", Printable(limit)));
    for (const std::string& advice : max.advice())
      if (!advice.empty()) page.Labelled("", absl::StrCat("-> ", Printable(advice)), Tone::kQuiet);
    if (max.limited_by().empty()) page.Labelled("", "the limit is unknown (see docs/explain.md)");
    if (std::isfinite(max.saturation_lanes())) {
      page.Labelled("", absl::StrFormat("with more than %.0f lanes, ops queue",
                                        std::max(1.0, std::floor(max.saturation_lanes()))));
    }
  }
  if (report.has_slo()) {
    page.Labelled("SLO", report.slo().text(),
                  report.slo().max_ops_per_s() > 0 ? Tone::kStrong : Tone::kWarning);
    if (report.slo().max_times_mix() > 0)
      page.Labelled("", absl::StrCat(FormatSignificant(report.slo().max_times_mix(), 3), " times the load of the mix"));
    if (report.slo().max_bytes_per_s() > 0)
      page.Labelled("", FormatBytesPerSecond(report.slo().max_bytes_per_s()));
  }
  if (report.has_load()) {
    const v1::LoadAnswer& load = report.load();
    page.Labelled("headroom", HeadroomText(report), load.factor() >= 1 ? Tone::kPlain : Tone::kWarning);
    if (std::isfinite(load.mean_us()))
      page.Labelled("", absl::StrCat("mean response time at that load: ", TimeOf(load.mean_us())));
  }
  if (report.has_knee()) {
    const v1::CurveKnee& knee = report.knee();
    page.Labelled("knee",
                  absl::StrCat(OpsRate(knee.ops_per_s()), " at ", TimeOf(knee.mean_us()),
                               ": the highest ratio of throughput to response time",
                               knee.broad() ? "; the curve bends gradually, so this is a rough value" : ""));
  }
  for (const v1::CapacityAnswer& answer : report.answers())
    page.Labelled("what if", absl::StrCat(Printable(answer.question()), ": ", Printable(answer.answer())));
}

// `digits`: significant ones.
std::string FigureText(const v1::UslFigure& figure, int digits) {
  const auto text = [digits](double value) { return FormatSignificant(value, digits); };
  if (!std::isfinite(figure.high()))
    return absl::StrCat(text(figure.value()), " (", text(figure.low()), " or more)");
  return absl::StrCat(text(figure.value()), " (", text(figure.low()), " to ", text(figure.high()), ")");
}

void AddLaw(const v1::Scaling& scaling, ConsolePage& page) {
  if (scaling.plateau_n() > 0) {
    page.Labelled("plateau", absl::StrCat("from ", scaling.plateau_n(), " ",
                                          scaling.plateau_n() == 1 ? scaling.over().substr(0, scaling.over().size() - 1)
                                                                   : scaling.over(),
                                          " on, the repetitions show no gain from more"));
  }
  if (!scaling.has_usl()) return page.Labelled("law", absl::StrCat("none: ", scaling.usl_refused()));
  const v1::UslReport& law = scaling.usl();
  const std::string& over = scaling.over();  // "lanes"
  page.Labelled("law",
                absl::StrCat("one ", over.substr(0, over.size() - 1), " alone gives ",
                             FigureText(law.lambda(), 4), " ops/s; contention ", FigureText(law.sigma(), 3),
                             ", crosstalk ", FigureText(law.kappa(), 2), "; 95 % intervals"));
  if (law.has_n_star()) {
    page.Labelled("", absl::StrCat("peak at ", FigureText(law.n_star(), 3), " ", scaling.over(), ": ",
                                   FigureText(law.x_max(), 4), " ops/s"));
  } else {
    page.Labelled("",
                  absl::StrFormat("no peak is shown up to %.0f %s, twice the most measured; more of them may find it",
                                  2 * law.largest_n(), scaling.over()));
  }
  for (const std::string& warning : scaling.warnings()) page.Labelled("", warning, Tone::kWarning);
}

// A single client has no fairness.
void AddScaling(const v1::Scaling& scaling, ConsolePage& page) {
  const bool fairness =
      std::any_of(scaling.levels().begin(), scaling.levels().end(),
                  [](const v1::ScalingLevel& level) { return std::isfinite(level.fairness()); });
  std::vector<TextTable::Column> columns = {{scaling.over(), Align::kRight},
                                            {"ops/s"},
                                            {"from"},
                                            {"to"},
                                            {"rate"},
                                            {"mean"},
                                            {"p99"},
                                            {"per added"}};
  if (fairness) columns.push_back({"fairness", Align::kRight, true});
  columns.push_back({"marks", Align::kLeft});
  TextTable table(columns);
  for (const v1::ScalingLevel& level : scaling.levels()) {
    std::vector<std::string> cells = {
        FormatCount(level.n()),
        RateOf(level.median_ops_per_s()),
        RateOf(level.low_ops_per_s()),
        RateOf(level.high_ops_per_s()),
        level.bytes_per_s() > 0 ? FormatBytesPerSecond(level.bytes_per_s()) : "",
        TimeOf(level.mean_us()),
        TimeOf(level.p99_us()),
        Percent(level.efficiency())};
    if (fairness)
      cells.push_back(std::isfinite(level.fairness()) ? absl::StrFormat("%.2f", level.fairness()) : "");
    cells.push_back(absl::StrJoin(level.marks(), ", "));
    table.AddRow(std::move(cells));
  }
  page.Blank();
  page.Line({{absl::StrCat("Scaling over ", scaling.over(), " (closed loop)"), Tone::kStrong}});
  page.Table(table);
  AddLaw(scaling, page);
}

void AddCurve(const v1::CapacityReport& report, ConsolePage& page) {
  TextTable table({{"of highest"},
                   {"offered"},
                   {"achieved"},
                   {"completed"},
                   {"mean"},
                   {"from"},
                   {"to"},
                   {"p50"},
                   {"p99"},
                   {"marks", Align::kLeft}});
  for (const v1::CurvePoint& point : report.curve()) {
    table.AddRow(
        {Percent(point.share_of_max()), RateOf(point.offered_per_s()), RateOf(point.achieved_per_s()),
         std::isfinite(point.done_percent()) ? absl::StrFormat("%.1f %%", point.done_percent()) : "-",
         TimeOf(point.mean_us()), TimeOf(point.mean_low_us()), TimeOf(point.mean_high_us()),
         TimeOf(point.p50_us()), TimeOf(point.p99_us()), absl::StrJoin(point.marks(), ", ")});
  }
  page.Blank();
  page.Line({{"Load curve in ops/s (open loop; response times include queueing)", Tone::kStrong}});
  page.Table(table);
  if (report.has_overall_response()) {
    page.Labelled("overall",
                  absl::StrCat("response time ", TimeOf(report.overall_response().trapezoid_us()),
                               " (area under the curve / highest throughput; not a SPEC result), mean ",
                               TimeOf(report.overall_response().mean_over_range_us()), " over the range"));
  }
}

void AddProbes(const v1::SloAnswer& slo, ConsolePage& page) {
  TextTable table({{"ops/s"},
                   {"for", Align::kLeft},
                   {"measured"},
                   {"response"},
                   {"verdict", Align::kLeft},
                   {"why", Align::kLeft}});
  for (const v1::SloStep& step : slo.probes()) {
    table.AddRow({RateOf(step.offered_per_s()), step.purpose(), FormatSeconds(step.seconds()),
                  TimeOf(step.figure_us()), step.verdict(), step.reason()});
  }
  page.Blank();
  page.Line({{absl::StrCat("Search for the highest load with ", slo.slo()), Tone::kStrong}});
  page.Table(table);
}

}  // namespace

absl::Status WriteCapacityText(std::span<const v1::CapacityReport> reports, const ConsoleStyle& style,
                               std::ostream& out) {
  for (const v1::CapacityReport& report : reports) {
    ConsolePage page(style);
    if (&report != &reports.front()) page.Blank();
    page.Line({{NameOf(report), Tone::kStrong}});
    if (reports.size() > 1)
      page.Labelled("run", absl::StrCat(Printable(report.name()), ", ", report.started_at()));
    page.Labelled("workload", Printable(report.workload()));
    AddAnswers(report, page);
    for (const std::string& warning : report.warnings())
      page.Labelled("warning", Printable(warning), Tone::kWarning);
    for (const v1::Scaling& scaling : report.scalings()) AddScaling(scaling, page);
    if (!report.curve().empty()) AddCurve(report, page);
    if (!report.slo().probes().empty()) AddProbes(report.slo(), page);
    page.Blank();
    page.Line({{absl::StrCat(report.complete() ? "" : "incomplete: ", Counted(report.phase_count(), "phase"),
                             " in ", FormatSeconds(report.duration_s())),
                report.complete() ? Tone::kQuiet : Tone::kError}});
    out << page.Take();
  }
  return Flush(out, "text");
}

}  // namespace iobench
