// The console text of one phase: the headline, how to interpret it, then secondary figures.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/model/op.h"
#include "common/model/operation.h"
#include "common/model/phase_shape.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/report/console/console_data.h"
#include "coordinator/report/console/console_page.h"
#include "coordinator/report/console/console_report.h"
#include "coordinator/report/console/console_sweep.h"
#include "coordinator/report/console/console_tables.h"
#include "coordinator/report/console/console_writes.h"
#include "coordinator/report/result_files.h"
#include "coordinator/report/text/column_unit.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

constexpr size_t kMaxSubjectsNamed = 3;
constexpr size_t kMaxMarksOfCode = 3;
constexpr int kMaxErrorsShown = 5;
constexpr double kMinStragglerCost = 0.001;
constexpr uint64_t kMaxSmallFileBytes = 1_MiB;

// True if every lane failed, sat out, or belonged to a lost worker.
bool NothingMeasured(const v1::PhaseReport& phase) {
  return phase.lane_count() == 0 && phase.ops() == 0 &&
         phase.lanes_failed() + phase.lanes_sat_out() + phase.workers_lost() > 0;
}

double Number(uint64_t value) {
  return static_cast<double>(value);
}

void PutHeadline(const v1::RunReport& report, const v1::PhaseReport& phase, ConsolePage& page) {
  const v1::Headline& headline = phase.headline();
  std::string title = PhaseTitle(report, phase);
  // Aligns the figure with those of the paragraphs below.
  const size_t title_columns = ConsolePage::kTextColumn - ConsolePage::kGapColumns;
  title.append(title_columns - std::min(title_columns, DisplayColumns(title)), ' ');
  const double other_rate = phase.metadata() ? headline.bytes_per_s() : headline.ops_per_s();
  const bool both = std::isfinite(other_rate) && (!phase.metadata() || other_rate > 0);
  page.Line({{title, Tone::kStrong},
             {RateText(phase.metadata(), headline.bytes_per_s(), headline.ops_per_s()), Tone::kStrong},
             {absl::StrCat(headline.name(), " (", headline.region(), ")")},
             {both ? RateText(!phase.metadata(), headline.bytes_per_s(), headline.ops_per_s()) : ""}});
}

void PutMarks(const v1::PhaseReport& phase, ConsolePage& page) {
  std::map<std::string, size_t> shown_of_code;
  std::map<std::string, size_t> left_out_of_code;  // clients and lanes, or paragraphs of the whole phase
  for (const GroupedMark& mark : MarksOf(phase)) {
    // Texts that contain a file or a time differ between clients.
    if (++shown_of_code[mark.code] > kMaxMarksOfCode) {
      left_out_of_code[mark.code] += std::max<size_t>(1, mark.subjects.size());
      continue;
    }
    std::string text = mark.code;
    for (size_t i = 0; i < mark.subjects.size() && i < kMaxSubjectsNamed; ++i) {
      absl::StrAppend(&text, i == 0 ? " on " : ", ", mark.subjects[i]);
    }
    if (mark.subjects.size() > kMaxSubjectsNamed) {
      absl::StrAppend(&text, " and ", mark.subjects.size() - kMaxSubjectsNamed, " more");
    }
    page.Labelled("! mark", absl::StrCat(text, ": ", mark.text), Tone::kWarning);
  }
  for (const auto& [code, count] : left_out_of_code) {
    page.Labelled("! mark", absl::StrCat(code, " on ", count, " more; all are in ", kResultJson),
                  Tone::kWarning);
  }
}

// Errors, including lost workers, come directly below the headline, because totals exclude them.
void PutErrors(const v1::PhaseReport& phase, ConsolePage& page) {
  if (phase.interrupted())
    page.Labelled("interrupted", "the figures cover what was done until then", Tone::kError);
  std::string label = "errors";
  for (int i = 0; i < phase.errors_size() && i < kMaxErrorsShown; ++i) {
    page.Labelled(label, ErrorText(phase.errors(i)), Tone::kError);
    label.clear();
  }
  if (phase.errors_size() > kMaxErrorsShown) {
    page.Labelled("", absl::StrCat("and ", phase.errors_size() - kMaxErrorsShown, " more in ", kResultJson),
                  Tone::kError);
  }
}

// The text for a phase without a figure.
void PutNothing(const v1::RunReport& report, const v1::PhaseReport& phase, ConsolePage& page) {
  std::vector<std::string> why;
  if (phase.workers_lost() > 0) why.push_back(absl::StrCat(Counted(phase.workers_lost(), "worker"), " lost"));
  if (phase.lanes_failed() > 0) why.push_back(absl::StrCat(Counted(phase.lanes_failed(), "lane"), " failed"));
  if (phase.lanes_sat_out() > 0)
    why.push_back(absl::StrCat(Counted(phase.lanes_sat_out(), "lane"), " sat out"));
  page.Line({{PhaseTitle(report, phase), Tone::kStrong},
             {absl::StrCat("nothing was measured: ", absl::StrJoin(why, ", ")), Tone::kError}});
  PutErrors(phase, page);
  PutMarks(phase, page);
}

double Between(uint64_t more, uint64_t less) {
  return Number(more - std::min(more, less));
}

// Returns the time in which the headline's bytes were moved, or the phase's time if it counts nothing.
double HeadlineSeconds(const v1::PhaseReport& phase) {
  const double counted = Number(phase.metadata() ? phase.measured_ops() : phase.measured_bytes());
  const double rate = phase.metadata() ? phase.headline().ops_per_s() : phase.headline().bytes_per_s();
  return counted > 0 && std::isfinite(rate) && rate > 0 ? counted / rate : phase.duration_s();
}

const v1::Phase* PlannedPhase(const v1::RunReport& report, const v1::PhaseReport& phase) {
  const v1::Plan& plan = report.run().plan();
  if (plan.phases().empty()) return nullptr;
  return &plan.phases(static_cast<int>(phase.index() % static_cast<uint32_t>(plan.phases_size())));
}

// Returns when the uncounted bytes were moved, relative to the headline's time.
const char* WhenNotCounted(const v1::RunReport& report, const v1::PhaseReport& phase) {
  const v1::Phase* planned = PlannedPhase(report, phase);
  if (planned != nullptr && planned->stop().warmup_s() > 0)
    return "before (warm-up) or after it, not counted";
  const std::string& kind = phase.stonewall().kind();
  return kind == "flushed" || kind == "closed" ? "after it, untimed" : "after it, not counted";
}

// Returns "15 MiB in 250 ms, and 1 MiB after it, untimed".
std::string CountedText(const v1::RunReport& report, const v1::PhaseReport& phase, const std::string& counted,
                        const std::string& rest) {
  const bool has_counted = (phase.metadata() ? phase.measured_ops() : phase.measured_bytes()) > 0;
  const bool has_rest =
      phase.metadata() ? phase.ops() > phase.measured_ops() : phase.bytes() > phase.measured_bytes();
  std::string text = has_counted ? absl::StrCat(counted, " in ", FormatSeconds(HeadlineSeconds(phase)))
                                 : std::string("nothing within the headline's time");
  if (has_rest) absl::StrAppend(&text, ", and ", rest, " ", WhenNotCounted(report, phase));
  return text;
}

// Returns "10,000 ops in 1.2 s, and 300 after it, untimed; on 2,500 items per lane".
std::string CallsText(const v1::RunReport& report, const v1::PhaseReport& phase) {
  std::string text =
      CountedText(report, phase, absl::StrCat(FormatCount(Number(phase.measured_ops())), " ops"),
                  FormatCount(Between(phase.ops(), phase.measured_ops())));
  if (phase.has_tree()) {
    absl::StrAppend(&text, "; on ", FormatCount(Number(phase.tree().items_per_lane())), " items per lane",
                    phase.tree().random_order() ? ", in random order" : "");
  }
  if (phase.has_found_items()) {
    absl::StrAppend(&text, "; ", FormatCount(Number(phase.found_items())), " found");
    const v1::Find& wanted = phase.tree().find();
    if (!wanted.name().empty()) absl::StrAppend(&text, ", named ", Printable(wanted.name()));
    if (wanted.bytes() > 0) absl::StrAppend(&text, ", of ", wanted.bytes(), " bytes");
  }
  if (phase.bytes() > 0) absl::StrAppend(&text, "; ", FormatBytes(Number(phase.bytes())), " of data in all");
  return text;
}

std::string RecordsText(const v1::PhaseReport& phase) {
  const std::string record = FormatBytes(Number(phase.record_bytes()));
  const auto spec = FindOperation(phase.operation());
  if (!spec.ok() || (*spec)->call != Call::kVector) return absl::StrCat("records of ", record);
  return absl::StrCat("up to ", kMaxRecordsPerVector, " records of ", record, " per op");
}

std::string BytesText(const v1::RunReport& report, const v1::PhaseReport& phase) {
  const std::string text = CountedText(report, phase, FormatBytes(Number(phase.measured_bytes())),
                                       FormatBytes(Between(phase.bytes(), phase.measured_bytes())));
  return absl::StrCat(text, "; ", RecordsText(phase));
}

void PutMoved(const v1::RunReport& report, const v1::PhaseReport& phase, ConsolePage& page) {
  std::string text = phase.metadata() ? CallsText(report, phase) : BytesText(report, phase);
  if (phase.rotated()) {
    absl::StrAppend(
        &text, phase.metadata() ? "; items of the next client" : "; files of the next client",
        phase.lanes_on_own_client() == 0
            ? ""
            : absl::StrCat(" (", Counted(phase.lanes_on_own_client(), "lane"), " on its own client's)"));
  }
  page.Labelled(phase.metadata() ? "done" : "moved", text);
  std::string before;
  for (const auto& step : phase.steps()) {
    const std::string& name = step.name();
    if (name == "open" || name == kFlushPassesStep || name == kDropPassesStep)
      continue;  // these have their own lines
    absl::StrAppend(&before, before.empty() ? "" : "; ", Printable(step.name()), " ",
                    FormatSeconds(step.seconds()));
    if (step.bytes() > 0) absl::StrAppend(&before, ", ", FormatBytes(Number(step.bytes())));
    if (!step.outcome().empty()) absl::StrAppend(&before, " (", Printable(step.outcome()), ")");
  }
  if (!before.empty()) page.Labelled("before", before, Tone::kQuiet);
}

// Writing small files mostly consists of creating them, which this phase did before its timed region.
void PutUntimedCreates(const v1::RunReport& report, const v1::PhaseReport& phase, ConsolePage& page) {
  const v1::Phase* planned = PlannedPhase(report, phase);
  const auto spec = FindOperation(phase.operation());
  if (planned == nullptr || !spec.ok() || !(*spec)->creates_files || phase.engine() == "null") return;
  const v1::FileLayout files = ShapeOf(report.run().plan(), *planned).files;
  const uint64_t count = files.files_per_lane();
  if (count < 2 || files.bytes_per_lane() / count > kMaxSmallFileBytes) return;
  page.Labelled("untimed",
                absl::StrCat("the ", FormatCount(Number(count)),
                             " files of each lane were created before the "
                             "clock started; `--op create --items ",
                             count, " --file-bytes ", ShortSize(files.bytes_per_lane() / count),
                             "` times their creation too"),
                Tone::kWarning);
}

void PutNfs(const v1::PhaseReport& phase, ConsolePage& page) {
  if (!phase.has_nfs_rpc()) return;
  const v1::NfsRpcReport& rpc = phase.nfs_rpc();
  if (rpc.rpcs() == 0) {
    page.Labelled("nfs", "no READ, WRITE or COMMIT was sent to a server", Tone::kQuiet);
    return;
  }
  std::vector<std::string> figures = {
      absl::StrCat(FormatCount(Number(rpc.rpcs())), rpc.rpcs() == 1 ? " RPC" : " RPCs",
                   " (READ, WRITE, COMMIT)"),
      absl::StrCat("queue ", FormatSeconds(rpc.queue_ms() * 1e-3)),
      absl::StrCat("round trip ", FormatSeconds(rpc.round_trip_ms() * 1e-3)),
      Counted(static_cast<int64_t>(rpc.retransmissions()), "retransmission")};
  if (rpc.major_timeouts() > 0) {
    figures.push_back(Counted(static_cast<int64_t>(rpc.major_timeouts()), "major timeout"));
  }
  page.Figures("nfs", figures);
}

void PutWindows(const v1::PhaseReport& phase, ConsolePage& page) {
  const v1::Throughput& rates =
      phase.metadata() ? phase.throughput_ops_per_s() : phase.throughput_bytes_per_s();
  std::vector<std::string> figures;
  const auto add = [&](const char* name, double rate) {
    if (phase.headline().name() == name) return;
    figures.push_back(absl::StrCat(name, " ", RateText(phase.metadata(), rate, rate)));
  };
  add("full", rates.full());
  if (phase.stonewall().kind() != "none") add("stonewalled", rates.stonewalled());
  if (!std::isnan(rates.all_active())) add("all-active", rates.all_active());
  add("children", rates.children());
  add("parent", rates.parent());
  if (rates.deadline() > 0) add("deadline", rates.deadline());
  page.Figures("windows", figures, Tone::kQuiet);

  const v1::StonewallReport& wall = phase.stonewall();
  if (wall.kind().empty() || wall.kind() == "none") return;
  std::string text = absl::StrCat(wall.kind(), " at ", FormatSeconds(wall.at_s()));
  if (!wall.first_lane().empty()) absl::StrAppend(&text, " by ", Shortened(Printable(wall.first_lane()), 50));
  const double low = phase.metadata() ? wall.ops_low() : wall.bytes_low();
  const double high = phase.metadata() ? wall.ops_high() : wall.bytes_high();
  if (high > low) {
    absl::StrAppend(&text, phase.metadata() ? "; ops within " : "; bytes within ",
                    Percent(100 * (high - low) / high));
  }
  // A lower cost is noise, or that of a full figure above the stonewalled one; for a single lane it is its close.
  if (LaneCount(phase) > 1 && phase.straggler_cost() >= kMinStragglerCost) {
    absl::StrAppend(&text, "; stragglers cost ", Percent(100 * phase.straggler_cost()));
  }
  page.Labelled("stonewall", text, Tone::kQuiet);
}

// Adds the mean over the lanes and, below it, the slowest lane for each region.
void PutRegions(const v1::PhaseReport& phase, bool several_lanes, ConsolePage& page) {
  struct Region {
    const char* name;
    double mean, slowest;
  };
  const v1::RegionSeconds& mean = phase.regions_s();
  const v1::RegionSeconds& slowest = phase.regions_max_s();
  const Region regions[] = {{"open", mean.open(), slowest.open()},
                            {"ops", mean.ops(), slowest.ops()},
                            {"fsync", mean.fsync(), slowest.fsync()},
                            {"close", mean.close(), slowest.close()},
                            {"settle", mean.settle(), slowest.settle()}};
  std::vector<std::string> first, second;
  for (const Region& region : regions) {
    // Metadata ops open and close what they need themselves.
    if (phase.metadata() && region.name != std::string_view("ops") &&
        region.name != std::string_view("settle"))
      continue;
    const double both[] = {region.mean, several_lanes ? region.slowest : 0};
    const ColumnUnit unit = ColumnUnit::OfSeconds(both);  // the two lines are aligned
    const auto text_of = [&unit](double seconds) {
      const std::string number = unit.Text(seconds);
      return number == "0"   ? "0 s"
             : number == "-" ? number
                             : absl::StrCat(number, " ", std::string(unit.name()));
    };
    std::string above = text_of(region.mean);
    std::string below = text_of(region.slowest);
    const size_t width = std::max(above.size(), below.size());
    above.resize(width, ' ');
    below.resize(width, ' ');
    first.push_back(absl::StrCat(region.name, " ", above));
    second.push_back(absl::StrCat(std::string(std::string_view(region.name).size(), ' '), " ", below));
  }
  page.Figures("regions", first);
  if (several_lanes) page.Figures("slowest", second, Tone::kQuiet);
}

void PutStart(const v1::PhaseReport& phase, ConsolePage& page) {
  const v1::StartReport& start = phase.start();
  if (!std::isfinite(start.skew_us())) return;  // no lane began
  std::string text = absl::StrCat("skew ", Microseconds(start.skew_us()));
  if (start.skew_low_us() != start.skew_high_us()) {
    absl::StrAppend(&text, " (", Microseconds(start.skew_low_us()), " to ",
                    Microseconds(start.skew_high_us()), ")");
  }
  absl::StrAppend(&text, ", ", Percent(start.skew_percent()), " of the phase; first op ",
                  Microseconds(start.late_us()), " late");
  if (start.attempts() > 1) absl::StrAppend(&text, "; ", start.attempts(), " attempts");
  page.Labelled("start", text, Tone::kQuiet);
}

std::vector<std::string> LatencyFigures(const v1::Latency& latency) {
  return {absl::StrCat("p50 ", PercentileText(latency, "p50", latency.p50())),
          absl::StrCat("p90 ", PercentileText(latency, "p90", latency.p90())),
          absl::StrCat("p99 ", PercentileText(latency, "p99", latency.p99())),
          absl::StrCat("p99.9 ", PercentileText(latency, "p99_9", latency.p99_9())),
          absl::StrCat("max ", Microseconds(latency.max()))};
}

void PutLatency(const v1::PhaseReport& phase, ConsolePage& page) {
  if (phase.latency_us().count() == 0) return;
  page.Figures("latency", LatencyFigures(phase.latency_us()));
  if (phase.by_kind_size() < 2) return;
  for (int i = 0; i < kOpKindCount; ++i) {
    const std::string kind = NameOf(static_cast<OpKind>(i));
    const auto found = phase.by_kind().find(kind);
    if (found == phase.by_kind().end()) continue;
    const v1::KindReport& of_kind = found->second;
    std::vector<std::string> figures = LatencyFigures(of_kind.latency_us());
    figures.insert(figures.begin(), OpsPerSecond(of_kind.ops_per_s()));
    if (!phase.metadata()) figures.insert(figures.begin(), FormatBytesPerSecond(of_kind.bytes_per_s()));
    page.Figures(phase.metadata() ? kind : absl::StrCat(kind, "s"), figures);
  }
}

void PutTool(const v1::PhaseReport& phase, ConsolePage& page) {
  const v1::ToolReport& tool = phase.tool();
  if (!phase.has_tool() || !std::isfinite(tool.share_percent())) return;
  std::string text = absl::StrCat("took ", Percent(tool.share_percent()), " of the lanes' time; loop ",
                                  FormatSeconds(tool.ns_per_op() * 1e-9), " per op");
  // Both are measured at different times: a disturbed clock read may exceed the loop that contains it.
  if (tool.clock_read_ns() > 0 && tool.clock_read_ns() <= tool.ns_per_op()) {
    absl::StrAppend(&text, "; one clock read ", FormatSeconds(tool.clock_read_ns() * 1e-9));
  }
  page.Labelled("tool", absl::StrCat(text, " (", Printable(tool.clock()), ")"), Tone::kQuiet);
}

bool SomethingWentWrong(const v1::PhaseReport& phase) {
  return !phase.errors().empty() || phase.interrupted() || phase.verify().mismatched() > 0 ||
         NothingMeasured(phase);
}

}  // namespace

Pages PagesFor(const v1::Plan& plan) {
  return IsLongSweep(plan) ? Pages::kOfTrouble : Pages::kAll;
}

std::string ConsolePhase(const v1::RunReport& report, const v1::PhaseReport& phase, const ConsoleStyle& style,
                         Pages pages) {
  if (pages == Pages::kOfTrouble && !SomethingWentWrong(phase)) return {};
  const bool several_lanes = LaneCount(phase) > 1;
  ConsolePage page(style);
  page.Blank();
  if (NothingMeasured(phase)) {
    PutNothing(report, phase, page);
    return page.Take();
  }
  PutHeadline(report, phase, page);
  PutErrors(phase, page);
  PutMarks(phase, page);
  PutMoved(report, phase, page);
  PutWritten(phase, page);
  PutUntimedCreates(report, phase, page);
  PutVerified(phase, page);
  PutWindows(phase, page);
  PutRegions(phase, several_lanes, page);
  PutLatency(phase, page);
  PutNfs(phase, page);
  if (several_lanes) PutStart(phase, page);
  PutBetween(phase, page);
  PutTool(phase, page);
  PutLanes(phase, page);
  PutClients(phase, page);
  return page.Take();
}

}  // namespace iobench
