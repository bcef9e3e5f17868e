// What a soak found (--soak): its lines and tables.

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/text/phase_name.h"
#include "common/text/units.h"
#include "coordinator/report/tables/fill_tables.h"
#include "coordinator/report/tables/soak_round.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

std::string Count(uint64_t count) {
  return FormatCount(static_cast<double>(count));
}

std::string SectorsText(const v1::SoakLoss& loss) {
  std::vector<std::string> kinds;
  for (const auto& [count, what] : {std::pair{loss.lost(), " lost (zeros)"},
                                    {loss.stale(), " stale"},
                                    {loss.torn(), " torn"},
                                    {loss.wrong(), " wrong"}}) {
    if (count > 0) kinds.push_back(absl::StrCat(FormatCount(static_cast<double>(count)), what));
  }
  return absl::StrJoin(kinds, ", ");
}

std::string LossText(const v1::SoakLoss& loss) {
  const std::string verified =
      absl::StrCat("of ", Counted(static_cast<int64_t>(loss.verified_sectors()), "sector"));
  const std::string sectors = SectorsText(loss);
  std::string text = !sectors.empty() ? absl::StrCat(sectors, " ", verified)
                     : loss.verified_sectors() == 0
                         ? "not known: nothing was verified"
                         : absl::StrCat("none in the data ", verified, " that were read");
  if (loss.missing_bytes() > 0) {
    text = absl::StrCat(FormatBytes(static_cast<double>(loss.missing_bytes())), " of files that were missing or too short",
                        sectors.empty() ? "" : absl::StrCat("; ", text));
  }
  if (loss.short_reads() > 0) {
    absl::StrAppend(&text, "; ", Counted(static_cast<int64_t>(loss.short_reads()), "read"),
                    " got fewer bytes than had been written");
  }
  if (loss.undetermined() > 0) {
    absl::StrAppend(
        &text, "; of ", Count(loss.undetermined()),
        " it is not known which write they should hold, because some failed, were cut short, or left "
        "records out");
  }
  if (!loss.has_first()) return text;
  return absl::StrCat(text, "; the first in ", NameInRun(loss.first_phase(), loss.first_round() - 1, 0, /*in_rounds=*/true),
                      loss.first_client().empty() ? "" : absl::StrCat(" on ", loss.first_client()), ": ",
                      loss.first().file(), " at offset ", loss.first().offset(), ", expected ",
                      loss.first().expected(), ", found ", loss.first().found());
}

std::string FailedText(const google::protobuf::RepeatedPtrField<v1::FailedOps>& all) {
  std::vector<std::string> texts;
  for (const v1::FailedOps& failed : all) {
    texts.push_back(absl::StrCat(failed.operation(), " ", failed.error(), " ",
                                 FormatCount(static_cast<double>(failed.count()))));
  }
  return texts.empty() ? "0" : absl::StrJoin(texts, ", ");
}

// "2026-11-25T10:00:02Z"
std::string ToSecond(const std::string& iso8601) {
  const size_t point = iso8601.find('.');
  if (iso8601.empty()) return "-";
  return point == std::string::npos ? iso8601 : absl::StrCat(iso8601.substr(0, point), "Z");
}

// What failed; "0": nothing did.
TableCell FailedCell(const google::protobuf::RepeatedPtrField<v1::FailedOps>& failed, bool any) {
  return CellIf(any, FailedText(failed));
}

bool SomethingIsLost(const v1::SoakLoss& loss) {
  return loss.lost() + loss.stale() + loss.torn() + loss.wrong() + loss.short_reads() + loss.missing_bytes() > 0;
}

}  // namespace

const v1::SoakRound* RoundOf(const v1::PhaseReport& phase, const v1::SoakReport& soak) {
  const int index = static_cast<int>(phase.repetition());  // unless phases are missing
  if (index < soak.rounds_size() && soak.rounds(index).round() == phase.repetition() + 1)
    return &soak.rounds(index);
  for (const v1::SoakRound& round : soak.rounds()) {
    if (round.round() == phase.repetition() + 1) return &round;
  }
  return nullptr;
}

std::string RoundLine(const v1::SoakRound& round, const v1::SoakReport& soak) {
  std::vector<std::string> rates;
  for (int i = 0; i < round.rates_size() && i < soak.trends_size(); ++i) {
    rates.push_back(absl::StrCat(soak.trends(i).phase(), " ",
                                 RateText(soak.trends(i).in_ops(), round.rates(i), round.rates(i))));
  }
  std::string line =
      absl::StrCat("round ", round.round(), " at ", FormatSeconds(round.end_s()), ": ",
                   absl::StrJoin(rates, ", "), "; failed ops ", Count(round.failed_ops()), "; wrong sectors ",
                   Count(round.wrong_sectors()), "; longest pause ", FormatSeconds(round.longest_pause_s()));
  if (!round.longest_pause_client().empty()) absl::StrAppend(&line, " on ", round.longest_pause_client());
  if (round.lanes_failed() > 0)
    absl::StrAppend(&line, "; ", Counted(round.lanes_failed(), "lane"), " failed");
  if (round.workers_lost() > 0)
    absl::StrAppend(&line, "; ", Counted(round.workers_lost(), "worker"), " lost");
  if (round.interrupted()) absl::StrAppend(&line, "; interrupted");
  return line;
}

Table SoakTable(const v1::RunReport& report) {
  if (!report.has_soak()) return {};
  using Tone = TableNote::Tone;
  const v1::SoakReport& soak = report.soak();
  std::vector<TableNote> lines;
  lines.push_back({"rounds",
                   absl::StrCat(Count(soak.complete_rounds()), " complete in ", FormatSeconds(soak.elapsed_s()),
                                ", asked for ", FormatSeconds(soak.asked_s())),
                   Tone::kPlain});
  lines.push_back({"moved",
                   absl::StrCat(FormatBytes(static_cast<double>(soak.written_bytes())), " written, ",
                                FormatBytes(static_cast<double>(soak.read_bytes())), " read"),
                   Tone::kPlain});
  lines.push_back({"data loss", LossText(soak.loss()), SomethingIsLost(soak.loss()) ? Tone::kError : Tone::kPlain});
  lines.push_back(
      {"failed ops", FailedText(soak.failed_ops()), soak.failed_ops().empty() ? Tone::kPlain : Tone::kError});
  for (const v1::SoakFullness& seen : soak.fullness()) {
    lines.push_back({"fullness",
                     absl::StrCat(seen.path(), ": ", Percent(seen.first_percent()), " at first, ",
                                  Percent(seen.last_percent()), " at last, at most ", Percent(seen.max_percent())),
                     Tone::kPlain});
  }
  return {.columns = {}, .parts = {{.name = {}, .rows = {}, .totals = {}, .notes = std::move(lines)}}};
}

Table SoakTotalsTable(const v1::RunReport& report) {
  if (!report.has_soak()) return {};
  const v1::SoakReport& soak = report.soak();
  const v1::SoakLoss& loss = soak.loss();
  const auto count = [](const char* id) { return TableColumn{.id = id, .title = id, .unit = TableUnit::kCount}; };
  return {.columns = {{.id = "asked_s", .title = "asked for", .unit = TableUnit::kSeconds},
                      {.id = "elapsed_s", .title = "elapsed", .unit = TableUnit::kSeconds},
                      {.id = "complete_rounds", .title = "complete rounds", .unit = TableUnit::kCount},
                      {.id = "read_bytes", .title = "read", .unit = TableUnit::kBytes},
                      {.id = "written_bytes", .title = "written", .unit = TableUnit::kBytes},
                      {.id = "verified_sectors", .title = "verified sectors", .unit = TableUnit::kCount},
                      count("lost"), count("stale"), count("torn"), count("wrong"), count("undetermined"),
                      {.id = "short_reads", .title = "short reads", .unit = TableUnit::kCount},
                      {.id = "missing_bytes", .title = "missing", .unit = TableUnit::kBytes}},
          .parts = {{.name = {},
                     .rows = {{soak.asked_s(), soak.elapsed_s(), soak.complete_rounds(), soak.read_bytes(),
                               soak.written_bytes(), loss.verified_sectors(), loss.lost(), loss.stale(), loss.torn(),
                               loss.wrong(), loss.undetermined(), loss.short_reads(), loss.missing_bytes()}}}}};
}

Table SoakTrendsTable(const v1::RunReport& report) {
  if (!report.has_soak()) return {};
  const auto rate = [](const char* id, const char* title) {
    return TableColumn{.id = id, .title = title, .unit = TableUnit::kRate};
  };
  Table table = {.columns = {{.id = "phase", .title = "phase", .left = true},
                             {.id = "rounds", .title = "rounds", .unit = TableUnit::kCount},
                             {.id = "unit", .title = "unit", .unit = TableUnit::kRateUnit, .readers = Readers::kMachines},
                             rate("median", "median"), rate("first_quarter", "first quarter"),
                             rate("last_quarter", "last quarter"),
                             {.id = "observed_s", .title = "over", .unit = TableUnit::kSeconds},
                             {.id = "percent", .title = "change", .unit = TableUnit::kChange},
                             {.id = "percent", .title = "95 %", .unit = TableUnit::kChange, .range = true},
                             {.id = "verdict_text", .title = "trend", .readers = Readers::kPeople},
                             {.id = "verdict", .title = "trend", .readers = Readers::kMachines},
                             {.id = "margin_percent", .title = "margin", .unit = TableUnit::kPercent,
                              .readers = Readers::kMachines}},
                 .parts = {{}}};
  for (const v1::SoakTrend& trend : report.soak().trends()) {
    const bool in_ops = trend.in_ops();
    table.parts[0].rows.push_back(
        {trend.phase(), trend.rounds(), RateUnit(in_ops), Rate(trend.median(), in_ops),
         Rate(trend.first_quarter(), in_ops), Rate(trend.last_quarter(), in_ops), trend.observed_s(), trend.percent(),
         RangeOf(trend.low_percent(), trend.high_percent()),
         trend.verdict() == "steady" ? absl::StrCat("steady within ", Percent(trend.margin_percent())) : trend.verdict(),
         trend.verdict(), trend.margin_percent()});
  }
  return table;
}

Table SoakClientsTable(const v1::RunReport& report) {
  if (!report.has_soak()) return {};
  bool failed_ops = false, wrong_sectors = false, phases = false;  // of any client
  for (const v1::SoakClient& client : report.soak().clients()) {
    failed_ops |= !client.failed_ops().empty();
    wrong_sectors |= client.wrong_sectors() > 0;
    phases |= client.phases_failed() + client.phases_lost() > 0;
  }
  Table table = {
      .columns = {{.id = "client", .title = "client", .left = true},
                  {.id = "stalls", .title = "stalls", .unit = TableUnit::kCount},
                  {.id = "stalled_s", .title = "stalled", .unit = TableUnit::kSeconds},
                  {.id = "longest_pause_s", .title = "longest pause", .unit = TableUnit::kSeconds},
                  {.id = "longest_pause_at", .title = "at", .unit = TableUnit::kTime},
                  {.id = "longest_pause_in", .title = "in"},
                  {.id = "failed_ops", .title = "failed ops"},
                  {.id = "wrong_sectors", .title = "wrong sectors", .unit = TableUnit::kCount},
                  {.id = "phases_failed_or_lost", .title = "phases failed or lost", .unit = TableUnit::kCount}},
      .parts = {{}}};
  for (const v1::SoakClient& client : report.soak().clients()) {
    const v1::SoakPause& pause = client.longest();
    table.parts[0].rows.push_back(
        {client.host(), client.stalls(), client.stalled_s(), pause.seconds(), ToSecond(pause.at()),
         pause.phase().empty() ? "-" : absl::StrCat(NameInRun(pause.phase(), pause.round() - 1, 0, /*in_rounds=*/true), ", ", pause.part()),
         FailedCell(client.failed_ops(), failed_ops), CellIf(wrong_sectors, client.wrong_sectors()),
         CellIf(phases, client.phases_failed() + client.phases_lost())});
  }
  return table;
}

Table SoakRoundsTable(const v1::RunReport& report) {
  if (report.soak().rounds().empty()) return {};
  const auto count = [](const char* id, const char* title) {
    return TableColumn{.id = id, .title = title, .unit = TableUnit::kCount};
  };
  const v1::SoakReport& soak = report.soak();
  Table table = {.columns = {count("round", "round"),
                             {.id = "begin_s", .title = "begin", .unit = TableUnit::kSeconds},
                             {.id = "end_s", .title = "end", .unit = TableUnit::kSeconds},
                             {.id = "bytes", .title = "moved", .unit = TableUnit::kBytes},
                             count("failed_ops", "failed ops"), count("wrong_sectors", "wrong sectors"),
                             count("short_reads", "short reads"),
                             {.id = "longest_pause_s", .title = "longest pause", .unit = TableUnit::kSeconds},
                             {.id = "longest_pause_client", .title = "on"},
                             count("workers_lost", "workers lost"), count("lanes_failed", "lanes failed")},
                 .parts = {{}}};
  for (const v1::SoakTrend& trend : soak.trends()) {
    table.columns.push_back({.id = absl::StrCat(trend.phase(), trend.in_ops() ? "_ops_per_s" : "_bytes_per_s"),
                             .title = absl::StrCat(trend.phase(), trend.in_ops() ? ", ops/s" : ", bytes/s"),
                             .unit = trend.in_ops() ? TableUnit::kOpsPerSecond : TableUnit::kBytesPerSecond});
  }
  for (const v1::SoakRound& round : soak.rounds()) {
    TableRow row = {round.round(), round.begin_s(), round.end_s(), round.bytes(), round.failed_ops(),
                    round.wrong_sectors(), round.short_reads(), round.longest_pause_s(), round.longest_pause_client(),
                    round.workers_lost(), round.lanes_failed()};
    for (int i = 0; i < soak.trends_size(); ++i)
      row.push_back(i < round.rates_size() ? TableCell(round.rates(i)) : TableCell());
    table.parts[0].rows.push_back(std::move(row));
  }
  return table;
}

Table SoakFailedOpsTable(const v1::RunReport& report) {
  if (report.soak().failed_ops().empty()) return {};
  Table table = {.columns = {{.id = "operation", .title = "operation", .left = true},
                             {.id = "error", .title = "error", .left = true},
                             {.id = "count", .title = "count", .unit = TableUnit::kCount},
                             {.id = "lanes", .title = "lanes", .unit = TableUnit::kCount}},
                 .parts = {{}}};
  for (const v1::FailedOps& failed : report.soak().failed_ops())
    table.parts[0].rows.push_back({failed.operation(), failed.error(), failed.count(), failed.lanes()});
  return table;
}

Table SoakFullnessTable(const v1::RunReport& report) {
  if (report.soak().fullness().empty()) return {};
  Table table = {.columns = {{.id = "path", .title = "path", .left = true},
                             {.id = "first_percent", .title = "at first", .unit = TableUnit::kPercent},
                             {.id = "last_percent", .title = "at last", .unit = TableUnit::kPercent},
                             {.id = "max_percent", .title = "at most", .unit = TableUnit::kPercent}},
                 .parts = {{}}};
  for (const v1::SoakFullness& seen : report.soak().fullness())
    table.parts[0].rows.push_back({seen.path(), seen.first_percent(), seen.last_percent(), seen.max_percent()});
  return table;
}

}  // namespace iobench
