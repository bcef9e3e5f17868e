#include "coordinator/report/text/soak_table.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/text/units.h"
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
  return absl::StrCat(text, "; the first in round ", loss.first_round(), ", ", loss.first_phase(),
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

// Of a trend over the time that was observed.
std::string ChangeText(double percent) {
  return std::isfinite(percent) ? absl::StrFormat("%+.3g %%", percent) : "-";
}

// "2026-11-25T10:00:02Z"
std::string ToSecond(const std::string& iso8601) {
  const size_t point = iso8601.find('.');
  if (iso8601.empty()) return "-";
  return point == std::string::npos ? iso8601 : absl::StrCat(iso8601.substr(0, point), "Z");
}

// What happened on any client.
struct Troubles {
  bool failed_ops = false, wrong_sectors = false, phases = false;
};
Troubles TroublesIn(const v1::SoakReport& soak) {
  Troubles any;
  for (const v1::SoakClient& client : soak.clients()) {
    any.failed_ops |= !client.failed_ops().empty();
    any.wrong_sectors |= client.wrong_sectors() > 0;
    any.phases |= client.phases_failed() + client.phases_lost() > 0;
  }
  return any;
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

std::vector<std::pair<std::string, std::string>> SoakTexts(const v1::SoakReport& soak) {
  std::vector<std::pair<std::string, std::string>> texts;
  texts.emplace_back(
      "rounds", absl::StrCat(Count(soak.complete_rounds()), " complete in ", FormatSeconds(soak.elapsed_s()),
                             ", asked for ", FormatSeconds(soak.asked_s())));
  texts.emplace_back("moved",
                     absl::StrCat(FormatBytes(static_cast<double>(soak.written_bytes())), " written, ",
                                  FormatBytes(static_cast<double>(soak.read_bytes())), " read"));
  texts.emplace_back("data loss", LossText(soak.loss()));
  texts.emplace_back("failed ops", FailedText(soak.failed_ops()));
  for (const v1::SoakFullness& seen : soak.fullness()) {
    texts.emplace_back("fullness", absl::StrCat(seen.path(), ": ", Percent(seen.first_percent()),
                                                " at first, ", Percent(seen.last_percent()),
                                                " at last, at most ", Percent(seen.max_percent())));
  }
  return texts;
}

const std::vector<std::string>& SoakTrendColumns() {
  static const std::vector<std::string> columns = {"rounds",   "median", "first quarter", "last quarter",
                                                   "over",   "change", "95 %", "trend"};
  return columns;
}

std::vector<std::vector<std::string>> SoakTrendCells(const v1::SoakReport& soak) {
  std::vector<std::vector<std::string>> rows;
  for (const v1::SoakTrend& trend : soak.trends()) {
    const auto rate = [&trend](double value) { return RateText(trend.in_ops(), value, value); };
    const bool has_interval = std::isfinite(trend.low_percent()) && std::isfinite(trend.high_percent());
    const std::string verdict = trend.verdict() == "steady"
                                    ? absl::StrCat("steady within ", Percent(trend.margin_percent()))
                                    : trend.verdict();
    rows.push_back(
        {trend.phase(), Count(trend.rounds()), rate(trend.median()), rate(trend.first_quarter()),
         rate(trend.last_quarter()), FormatSeconds(trend.observed_s()), ChangeText(trend.percent()),
         has_interval ? absl::StrCat(ChangeText(trend.low_percent()), " to ", ChangeText(trend.high_percent())) : "-",
         verdict});
  }
  return rows;
}

std::vector<std::string> SoakClientColumns(const v1::SoakReport& soak) {
  std::vector<std::string> columns = {"stalls", "stalled", "longest pause", "at", "in"};
  const Troubles any = TroublesIn(soak);
  if (any.failed_ops) columns.push_back("failed ops");
  if (any.wrong_sectors) columns.push_back("wrong sectors");
  if (any.phases) columns.push_back("phases failed or lost");
  return columns;
}

std::vector<std::vector<std::string>> SoakClientCells(const v1::SoakReport& soak) {
  const Troubles any = TroublesIn(soak);
  std::vector<std::vector<std::string>> rows;
  for (const v1::SoakClient& client : soak.clients()) {
    const v1::SoakPause& pause = client.longest();
    std::vector<std::string>& cells = rows.emplace_back();
    cells = {client.host(),
             Count(client.stalls()),
             FormatSeconds(client.stalled_s()),
             FormatSeconds(pause.seconds()),
             ToSecond(pause.at()),
             pause.phase().empty()
                 ? "-"
                 : absl::StrCat(pause.phase(), " ", pause.part(), ", round ", pause.round())};
    if (any.failed_ops) cells.push_back(FailedText(client.failed_ops()));
    if (any.wrong_sectors) cells.push_back(Count(client.wrong_sectors()));
    if (any.phases) cells.push_back(Count(client.phases_failed() + client.phases_lost()));
  }
  return rows;
}

}  // namespace iobench
