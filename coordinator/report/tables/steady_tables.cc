// Whether a run in rounds became steady (--until steady): its line for each round, and its tables.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/text/units.h"
#include "coordinator/report/tables/fill_tables.h"
#include "coordinator/report/tables/steady_round.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

using Unit = TableUnit;

// "write range 27.1 % (limit 20 %), slope -12.3 % (limit 10 %)"; empty: it is steady.
std::string WhyNotSteady(const v1::SteadyRow& row, const v1::Steady& asked) {
  if (row.steady()) return {};
  if (std::isnan(row.range_percent())) return absl::StrCat(row.name(), " has a round without a figure");
  std::vector<std::string> over;
  if (row.range_percent() > asked.range_percent())
    over.push_back(absl::StrFormat("range %.1f %% (limit %g %%)", row.range_percent(), asked.range_percent()));
  if (std::max(row.slope_percent(), -row.slope_percent()) > asked.slope_percent())
    over.push_back(absl::StrFormat("slope %+.1f %% (limit %g %%)", row.slope_percent(), asked.slope_percent()));
  return absl::StrCat(row.name(), " ", absl::StrJoin(over, ", "));
}

std::string WhatIsNotSteady(const v1::SteadyReport& steady, const v1::Steady& asked) {
  std::vector<std::string> reasons;
  for (const v1::SteadyRow& row : steady.rows()) {
    if (std::string why = WhyNotSteady(row, asked); !why.empty()) reasons.push_back(std::move(why));
  }
  return absl::StrJoin(reasons, "; ");
}

std::string WindowText(const v1::SteadyReport& steady) {
  return absl::StrCat("rounds ", steady.rows(0).first_round(), " to ", steady.rounds());
}

}  // namespace

std::string SteadyRoundLine(const v1::SteadyReport& steady, const v1::Steady& asked, uint32_t round) {
  std::vector<std::string> rates;
  for (const v1::SteadyRow& row : steady.rows()) {
    if (row.rounds_size() < static_cast<int>(round)) continue;
    const double rate = row.rounds(static_cast<int>(round) - 1);
    rates.push_back(absl::StrCat(row.name(), " ", RateText(row.in_ops(), rate, rate)));
  }
  std::string verdict = round < asked.window_rounds()
                            ? absl::StrCat(asked.window_rounds(), " rounds are needed")
                        : steady.steady() ? "steady"
                                          : absl::StrCat("not steady: ", WhatIsNotSteady(steady, asked));
  return absl::StrCat("round ", round, " of at most ", asked.max_rounds(), ": ", absl::StrJoin(rates, ", "), "; ", verdict);
}

Table SteadyTable(const v1::RunReport& report) {
  if (report.steady().rows().empty()) return {};
  using Tone = TableNote::Tone;
  const v1::SteadyReport& steady = report.steady();
  const v1::Steady& asked = report.run().plan().until_steady();
  const auto percent = [](const char* id, const char* title) { return ColumnOf(id, title, Unit::kPercent); };
  Table table = {.columns = {LeftColumn("phase", "phase"),
                             {.id = "unit", .title = "unit", .unit = Unit::kRateUnit, .readers = Readers::kMachines},
                             ColumnOf("mean", "mean", Unit::kRate),
                             {.id = "first_round", .title = "from round", .unit = Unit::kCount, .readers = Readers::kMachines},
                             {.id = "last_round", .title = "to round", .unit = Unit::kCount, .readers = Readers::kMachines},
                             percent("range_percent", "range"),
                             {.id = "slope_percent", .title = "slope", .unit = Unit::kChange},
                             LeftColumn("state", "state")},
                 .parts = {{}}};
  for (const v1::SteadyRow& row : steady.rows()) {
    table.parts[0].rows.push_back({row.name(), RateUnit(row.in_ops()), Rate(row.mean(), row.in_ops()).Strong(),
                                   row.first_round(), steady.rounds(), row.range_percent(), row.slope_percent(),
                                   row.steady() ? "steady" : "not steady"});
  }
  const std::string limits =
      absl::StrFormat("within %g %% of the mean, slope up to %g %%", asked.range_percent(), asked.slope_percent());
  std::vector<TableNote>& notes = table.parts[0].notes;
  if (steady.steady()) {
    notes.push_back({"steady", absl::StrCat("in ", WindowText(steady), ": ", limits), Tone::kPlain});
  } else if (steady.rounds() < asked.window_rounds()) {
    notes.push_back({"not steady",
                     absl::StrCat("only ", Counted(steady.rounds(), "round"), ", of which ", asked.window_rounds(),
                                  " are needed"),
                     Tone::kError});
  } else {
    notes.push_back({"not steady",
                     absl::StrCat("after ", Counted(steady.rounds(), "round"), ": ", WhatIsNotSteady(steady, asked),
                                  "; the means are of ", WindowText(steady)),
                     Tone::kError});
  }
  return table;
}

Table SteadyRoundsTable(const v1::RunReport& report) {
  if (report.steady().rows().empty() || report.steady().rounds() == 0) return {};
  Table table = {.columns = {LeftColumn("phase", "phase"), ColumnOf("round", "round", Unit::kCount),
                             {.id = "unit", .title = "unit", .unit = Unit::kRateUnit, .readers = Readers::kMachines},
                             ColumnOf("rate", "rate", Unit::kRate), LeftColumn("in_window", "in the window")},
                 .parts = {{}}};
  for (const v1::SteadyRow& row : report.steady().rows()) {
    for (int i = 0; i < row.rounds_size(); ++i) {
      table.parts[0].rows.push_back({row.name(), i + 1, RateUnit(row.in_ops()), Rate(row.rounds(i), row.in_ops()),
                                     static_cast<uint32_t>(i + 1) >= row.first_round() ? "yes" : "no"});
    }
  }
  return table;
}

}  // namespace iobench
