#include "coordinator/live/live_page.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/model/phase_files.h"
#include "common/text/display_text.h"
#include "common/text/phase_name.h"
#include "common/text/units.h"
#include "coordinator/report/console/progress_line.h"
#include "coordinator/report/text/column_unit.h"
#include "coordinator/report/text/console_words.h"
#include "coordinator/report/text/text_table.h"

namespace iobench {
namespace {

constexpr size_t kMaxHistory = 1000;
constexpr size_t kMaxMessages = 50;
constexpr size_t kMaxMessageRows = 4;
constexpr size_t kMaxPhaseColumns = 24;
constexpr double kSilentSeconds = 3;  // polls are answered in milliseconds

std::string PadTo(std::string text, size_t columns) {
  const size_t used = DisplayColumns(text);
  if (used < columns) text.append(columns - used, ' ');
  return text;
}

ProgressSample ProgressOf(const LiveSample& sample) {
  ProgressSample progress;
  progress.bytes = sample.cluster.bytes;
  progress.total_bytes = sample.total_bytes;
  progress.metadata = sample.metadata;
  progress.ops = sample.cluster.ops;
  progress.total_ops = sample.total_ops;
  progress.total_s = sample.time_limit_s;
  progress.elapsed_s = sample.elapsed_s;
  return progress;
}

// A bar of `columns` characters.
std::string Bar(double share, size_t columns, bool utf8) {
  const auto full = static_cast<size_t>(std::lround(share * static_cast<double>(columns)));
  std::string bar;
  for (size_t i = 0; i < columns; ++i) bar += i < full ? (utf8 ? "█" : "#") : (utf8 ? "░" : ".");
  return bar;
}

double RateOfRow(const LiveRow& row, bool metadata) {
  return metadata ? row.ops_per_s : row.bytes_per_s;
}

// "   p50 450 us   p99 1.5 ms   max 9 ms", or nothing if no op ended.
std::string LatencyText(const LiveLatency& latency) {
  if (std::isnan(latency.p50_us)) return "";
  return absl::StrCat("   p50 ", FormatSeconds(latency.p50_us / 1e6), "   p99 ",
                      FormatSeconds(latency.p99_us / 1e6), "   max ", FormatSeconds(latency.max_us / 1e6));
}

std::string StateOf(const LiveRow& row, double elapsed_s) {
  std::string state;
  if (row.workers_lost > 0) state = absl::StrCat(Counted(row.workers_lost, "worker"), " lost");
  if (elapsed_s - row.at_s > kSilentSeconds && row.lanes_running > 0) {
    absl::StrAppend(&state, state.empty() ? "" : ", ", "no answer for ",
                    FormatSeconds(std::floor(elapsed_s - row.at_s)));
  }
  return state;
}

}  // namespace

std::string Sparkline(const std::deque<double>& values, size_t columns, bool utf8) {
  static constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr const char* kAscii[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
  const size_t first = values.size() - std::min(values.size(), columns);
  double highest = 0;
  for (size_t i = first; i < values.size(); ++i) {
    if (std::isfinite(values[i])) highest = std::max(highest, values[i]);
  }
  std::string line;
  for (size_t i = first; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      line += ' ';
      continue;
    }
    const auto level =
        highest > 0 ? static_cast<size_t>(std::ceil(std::max(0.0, values[i]) / highest * 8)) : size_t{0};
    const size_t block = std::clamp<size_t>(level, 1, 8) - 1;
    line += utf8 ? kBlocks[block] : kAscii[block];
  }
  return line;
}

void LivePage::RunStarts(const v1::RunReport& report) {
  const v1::RunInfo& run = report.run();
  title_ =
      absl::StrCat("cluster-iobench   ", Printable(run.id()), "   ", Counted(report.clients_size(), "client"),
                   ", ", Counted(run.worker_count(), "worker"), ", ", Counted(run.lane_count(), "lane"),
                   run.label().empty() ? "" : "   ", Printable(run.label()));
  phases_.clear();
  const v1::Plan& plan = run.plan();
  for (uint32_t repetition = 0; repetition < plan.repetitions(); ++repetition) {
    for (const v1::Phase& phase : plan.phases()) {
      phases_.push_back(
          {.name = Printable(NameInRun(phase.name(), repetition, plan.repetitions(), RunsInRounds(plan)))});
    }
  }
}

LivePage::PhaseRow& LivePage::RowOf(uint32_t index) {
  if (index >= phases_.size()) phases_.resize(index + 1);
  return phases_[index];
}

void LivePage::PhasePrepares(const PhaseProgress& progress) {
  history_.clear();
  shown_clients_.clear();
  sample_ = rates_.PhasePrepares(progress);
  PhaseRow& row = RowOf(sample_.index);
  row.name = Printable(progress.name);
  row.state = PhaseRow::State::kPreparing;
}

void LivePage::PhaseMoves(const PhaseProgress& progress) {
  Note(rates_.PhaseMoves(progress));
  RowOf(sample_.index).state = PhaseRow::State::kRunning;
}

void LivePage::Note(const LiveSample& sample) {
  sample_ = sample;
  history_.push_back(RateOfRow(sample.cluster, sample.metadata));
  if (history_.size() > kMaxHistory) history_.pop_front();
  const std::vector<LiveRow> before = std::exchange(shown_clients_, sample.clients);
  for (size_t i = 0; i < shown_clients_.size(); ++i) {
    LiveRow& row = shown_clients_[i];
    if (!std::isnan(row.bytes_per_s) || i >= before.size() || before[i].client != row.client) continue;
    row.bytes_per_s = before[i].bytes_per_s;
    row.ops_per_s = before[i].ops_per_s;
    row.latency = before[i].latency;
  }
}

void LivePage::PhaseEnds(const v1::PhaseReport& phase) {
  sample_ = rates_.PhaseEnds(phase);
  PhaseRow& row = RowOf(phase.index());
  row.state = PhaseRow::State::kEnded;
  const v1::Latency& latency = phase.latency_us();
  row.figures =
      RateText(phase.headline_in_ops(), phase.headline().bytes_per_s(), phase.headline().ops_per_s());
  if (latency.count() > 0) {
    absl::StrAppend(&row.figures, "   p50 ", PercentileText(latency, "p50", latency.p50()), "   p99 ",
                    PercentileText(latency, "p99", latency.p99()));
  }
  std::vector<std::string> codes;
  for (const GroupedMark& mark : MarksOf(phase)) {
    if (std::find(codes.begin(), codes.end(), mark.code) == codes.end()) codes.push_back(mark.code);
    AddMessage(absl::StrCat(row.name, ": ", mark.code, ": ", mark.text), Tone::kWarning);
  }
  for (const v1::ErrorReport& error : phase.errors()) {
    AddMessage(absl::StrCat(row.name, ": ", ErrorText(error)), Tone::kError);
  }
  row.marks = absl::StrJoin(codes, " ");
  row.tone = !phase.errors().empty() ? Tone::kError : codes.empty() ? Tone::kPlain : Tone::kWarning;
}

void LivePage::AddMessage(const std::string& text, Tone tone) {
  messages_.push_back({Printable(text), tone});
  if (messages_.size() > kMaxMessages) messages_.pop_front();
}

void LivePage::Scroll(int64_t lines) {
  const auto position = static_cast<int64_t>(scroll_) + lines;
  scroll_ = static_cast<size_t>(std::max<int64_t>(0, position));
}

// The current phase: name and rates, progress, sparkline.
std::vector<PageLine> LivePage::Now(const PageSize& size) const {
  if (sample_.phase_count == 0) return {{"the workers are being prepared", Tone::kQuiet}};
  const LiveRow& all = sample_.cluster;
  const PhaseRow* row = sample_.index < phases_.size() ? &phases_[sample_.index] : nullptr;
  const bool prepares = row != nullptr && row->state == PhaseRow::State::kPreparing;
  const bool ended = row != nullptr && row->state == PhaseRow::State::kEnded;
  std::string text =
      absl::StrCat(sample_.index + 1, "/", sample_.phase_count, " ",
                   Shortened(row != nullptr ? row->name : Printable(sample_.phase), kMaxPhaseColumns));
  if (prepares) {
    absl::StrAppend(&text, "   preparing files and data");
  } else if (ended) {
    absl::StrAppend(&text, "   ended");
  } else {
    if (!sample_.metadata) absl::StrAppend(&text, "   ", FormatBytesPerSecond(all.bytes_per_s));
    absl::StrAppend(&text, "   ", OpsPerSecond(all.ops_per_s), "   ", all.lanes_running, " of ",
                    all.lane_count, all.lane_count == 1 ? " lane" : " lanes", LatencyText(all.latency));
  }
  std::vector<PageLine> lines = {{text, Tone::kStrong}};
  if (all.workers_lost > 0) {
    lines.push_back({absl::StrCat(Counted(all.workers_lost, "worker"), " lost"), Tone::kError});
  }
  const double share = ended ? 1 : ShareDone(ProgressOf(sample_));
  const double left_s = ended ? NAN : SecondsLeft(ProgressOf(sample_));
  std::string bar;
  if (!prepares && !std::isnan(share)) {
    const std::string after =
        absl::StrCat("  ", std::floor(100 * share), " %", std::isnan(left_s) ? "" : "   ",
                     std::isnan(left_s) ? "" : LeftText(left_s));
    const size_t taken = DisplayColumns(after);
    bar = absl::StrCat(
        Bar(share, size.columns > taken + 10 ? std::min<size_t>(60, size.columns - taken) : 10, size.utf8),
        after);
  }
  lines.push_back({bar});
  double highest = 0;
  for (const double rate : history_) highest = std::isfinite(rate) ? std::max(highest, rate) : highest;
  const std::string scale =
      history_.empty() ? "" : absl::StrCat("  max ", RateText(sample_.metadata, highest, highest));
  const size_t room = size.columns - std::min(size.columns, DisplayColumns(scale));
  lines.push_back({absl::StrCat(Sparkline(history_, room, size.utf8), scale)});
  return lines;
}

// `rows` phases around the current one.
std::vector<PageLine> LivePage::Phases(size_t rows, size_t columns) const {
  std::vector<PageLine> lines;
  const size_t count = std::min(rows, phases_.size());
  const size_t current = std::min<size_t>(sample_.index, phases_.empty() ? 0 : phases_.size() - 1);
  const size_t last_first = phases_.size() - count;
  const size_t first = std::min(last_first, current >= count / 2 ? current - count / 2 : 0);
  size_t name_columns = 5;
  for (size_t i = first; i < first + count; ++i) {
    name_columns = std::max(name_columns, std::min(kMaxPhaseColumns, DisplayColumns(phases_[i].name)));
  }
  for (size_t i = first; i < first + count; ++i) {
    const PhaseRow& row = phases_[i];
    std::string text = absl::StrCat(i == current ? "> " : "  ",
                                    PadTo(CutAtEnd(row.name, kMaxPhaseColumns), name_columns), "  ");
    Tone tone = Tone::kQuiet;
    switch (row.state) {
      case PhaseRow::State::kToCome:
        text += "to come";
        break;
      case PhaseRow::State::kPreparing:
        text += "preparing";
        tone = Tone::kStrong;
        break;
      case PhaseRow::State::kRunning:
        text += "running";
        tone = Tone::kStrong;
        break;
      case PhaseRow::State::kEnded:
        absl::StrAppend(&text, row.figures, row.marks.empty() ? "" : "   ! ", row.marks);
        tone = row.tone;
        break;
    }
    lines.push_back({CutAtEnd(text, columns), tone});
  }
  return lines;
}

std::vector<PageLine> LivePage::Clients(size_t rows, size_t columns) {
  if (shown_clients_.empty() || rows < 2) return {};
  std::vector<const LiveRow*> order;
  std::vector<double> rates, latencies_s;
  for (const LiveRow& row : shown_clients_) {
    order.push_back(&row);
    rates.push_back(row.bytes_per_s);
    for (const double value_us : {row.latency.p50_us, row.latency.p99_us, row.latency.max_us}) {
      latencies_s.push_back(value_us / 1e6);
    }
  }
  // Unknown rates come first: nobody knows what these clients do.
  const auto key = [this](const LiveRow* row) {
    const double rate = RateOfRow(*row, sample_.metadata);
    return std::isnan(rate) ? -1.0 : rate;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&key](const LiveRow* a, const LiveRow* b) { return key(a) < key(b); });
  const size_t shown = std::min(order.size(), rows - 1);
  scroll_ = std::min(scroll_, order.size() - shown);
  const ColumnUnit rate_unit = ColumnUnit::OfBytesPerSecond(rates),
                   latency_unit = ColumnUnit::OfSeconds(latencies_s);
  std::vector<TextTable::Column> titles = {
      {absl::StrCat("clients ", scroll_ + 1, "-", scroll_ + shown, " of ", order.size(), ", slow first"),
       TextTable::Align::kLeft}};
  if (!sample_.metadata) titles.push_back({std::string(rate_unit.name())});
  const std::string in_unit = absl::StrCat(" ", std::string(latency_unit.name()));
  titles.insert(titles.end(), {{"ops/s"},
                               {"p50" + in_unit, TextTable::Align::kRight, true},
                               {"p99" + in_unit, TextTable::Align::kRight, true},
                               {"max" + in_unit, TextTable::Align::kRight, true},
                               {"lanes", TextTable::Align::kRight, true},
                               {"", TextTable::Align::kLeft}});
  TextTable table(std::move(titles));
  for (size_t i = scroll_; i < scroll_ + shown; ++i) {
    const LiveRow& row = *order[i];
    std::vector<std::string> cells = {Printable(row.client)};
    if (!sample_.metadata) cells.push_back(rate_unit.Text(row.bytes_per_s));
    cells.insert(cells.end(),
                 {FormatCount(row.ops_per_s), latency_unit.Text(row.latency.p50_us / 1e6),
                  latency_unit.Text(row.latency.p99_us / 1e6), latency_unit.Text(row.latency.max_us / 1e6),
                  absl::StrCat(row.lanes_running, "/", row.lane_count), StateOf(row, sample_.elapsed_s)});
    table.AddRow(std::move(cells));
  }
  std::vector<PageLine> lines;
  const std::vector<std::string> text = table.Lines(columns);
  for (size_t i = 0; i < text.size() && i < rows; ++i) {
    const bool troubled =
        i > 0 && i - 1 < shown && !StateOf(*order[scroll_ + i - 1], sample_.elapsed_s).empty();
    lines.push_back({text[i], i == 0 ? Tone::kQuiet : troubled ? Tone::kWarning : Tone::kPlain});
  }
  return lines;
}

// The newest messages that fit.
std::vector<PageLine> LivePage::Messages(size_t rows, size_t columns) const {
  std::vector<PageLine> lines;
  const size_t count = std::min(rows, messages_.size());
  for (size_t i = messages_.size() - count; i < messages_.size(); ++i) {
    lines.push_back({CutAtEnd(absl::StrCat("! ", messages_[i].text), columns), messages_[i].tone});
  }
  return lines;
}

std::vector<PageLine> LivePage::Draw(const PageSize& size, double run_s) {
  std::vector<PageLine> lines;
  const auto add = [&lines](std::vector<PageLine> more) {
    for (PageLine& line : more) lines.push_back(std::move(line));
  };
  const std::string keys = interrupted_
                               ? "ending: the results so far are collected; Ctrl-C again ends at once"
                               : "q or Ctrl-C: end the run   up, down, PgUp, PgDn: scroll the clients";
  lines.push_back({absl::StrCat(title_, "   ", FormatSeconds(std::floor(run_s))), Tone::kQuiet});
  add(Now(size));
  const size_t fixed = lines.size() + 1;  // with the keys
  const size_t rest = size.rows > fixed ? size.rows - fixed : 0;
  const size_t messages = std::min({kMaxMessageRows, messages_.size(), rest / 4});
  const size_t free_rows = rest - messages;
  const size_t phases = std::min(phases_.size(), std::max<size_t>(1, free_rows / 3));
  if (free_rows > 2) {
    lines.push_back({});
    add(Phases(phases, size.columns));
    lines.push_back({});
    const size_t used = phases + 2;
    if (free_rows > used) add(Clients(free_rows - used, size.columns));
  }
  while (lines.size() + messages + 1 < size.rows) lines.push_back({});
  add(Messages(messages, size.columns));
  lines.push_back({keys, Tone::kQuiet});
  if (lines.size() > size.rows) lines.resize(size.rows);
  for (PageLine& line : lines) line.text = CutAtEnd(line.text, size.columns);
  return lines;
}

}  // namespace iobench
