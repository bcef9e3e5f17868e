// The console text of one phase: the headline, what makes it doubtful, and in full detail the figures that explain it.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/model/data_content.h"
#include "common/model/op.h"
#include "common/model/operation.h"
#include "common/model/phase_shape.h"
#include "common/model/phase_files.h"
#include "common/model/plan_traits.h"
#include "common/text/display_text.h"
#include "common/text/mark_codes.h"
#include "common/text/units.h"
#include "coordinator/analysis/marks/marks.h"
#include "coordinator/report/console/console_data.h"
#include "coordinator/report/console/console_moved.h"
#include "coordinator/report/console/console_nfs.h"
#include "coordinator/report/console/console_page.h"
#include "coordinator/report/console/console_report.h"
#include "coordinator/report/console/console_servers.h"
#include "coordinator/report/console/console_sweep.h"
#include "coordinator/report/console/console_table.h"
#include "coordinator/report/console/console_tables.h"
#include "coordinator/report/console/console_verdict.h"
#include "coordinator/report/console/console_writes.h"
#include "coordinator/report/result_files.h"
#include "coordinator/report/tables/soak_round.h"
#include "coordinator/report/tables/steady_round.h"
#include "coordinator/report/text/column_unit.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

constexpr size_t kMaxSubjectsNamed = 3;
constexpr size_t kMaxMarksOfCode = 3;
constexpr int kMaxErrorsShown = 5;
constexpr int kMaxTroubledRepetitions = 3;
constexpr double kMinStragglerCost = 0.001;
// What a brief page says of stragglers and of the start: lower values do not affect how the headline is read.
constexpr double kNotableStragglerCost = 0.01;
constexpr double kNotableSkewPercent = 1;
// Fewer flush calls have no percentiles worth a line of a brief page.
constexpr uint64_t kManyCalls = 100;
constexpr uint64_t kMaxSmallFileBytes = 1_MiB;

// True if every lane failed, sat out, or belonged to a lost worker.
bool NothingMeasured(const v1::PhaseReport& phase) {
  return phase.lane_count() == 0 && phase.ops() == 0 &&
         phase.lanes_failed() + phase.lanes_sat_out() + phase.workers_lost() > 0;
}

double Number(uint64_t value) {
  return static_cast<double>(value);
}

// Returns "p50 97.8 us", "p95 164 us" and "p99 214 us"; nothing if no op was timed.
std::vector<std::string> BriefLatency(const v1::Latency& latency) {
  if (latency.count() == 0) return {};
  return {absl::StrCat("p50 ", PercentileText(latency, "p50", latency.p50())),
          absl::StrCat("p95 ", PercentileText(latency, "p95", latency.p95())),
          absl::StrCat("p99 ", PercentileText(latency, "p99", latency.p99()))};
}

// `latency`: what follows the rates, on one line.
void PrintHeadline(const v1::RunReport& report, const v1::PhaseReport& phase,
                 const std::vector<std::string>& latency, ConsolePage& page) {
  const v1::Headline& headline = phase.headline();
  std::string title = PhaseTitle(report, phase);
  // Aligns the figure with those of the paragraphs below.
  const size_t title_columns = ConsolePage::kTextColumn - ConsolePage::kGapColumns;
  title.append(title_columns - std::min(title_columns, DisplayColumns(title)), ' ');
  const double other_rate = phase.headline_in_ops() ? headline.bytes_per_s() : headline.ops_per_s();
  const bool both = std::isfinite(other_rate) && (!phase.metadata() || other_rate > 0);
  std::vector<ConsolePage::Piece> pieces = {
      {title, Tone::kStrong},
      {RateText(phase.headline_in_ops(), headline.bytes_per_s(), headline.ops_per_s()), Tone::kStrong},
      {absl::StrCat(headline.name(), " (", headline.region(), ")")},
      {both ? RateText(!phase.headline_in_ops(), headline.bytes_per_s(), headline.ops_per_s()) : ""}};
  if (!latency.empty()) pieces.push_back({absl::StrJoin(latency, std::string(ConsolePage::kGapColumns, ' '))});
  page.Line(pieces);
}

// In full detail, also shows what to try, and a second limit.
void PrintLimit(const v1::PhaseReport& phase, Detail detail, ConsolePage& page) {
  if (!phase.limited_by().empty()) page.Labelled("limited by", Printable(phase.limited_by()), Tone::kStrong);
  if (detail == Detail::kBrief) return;
  for (int i = 0; i < phase.limits_size(); ++i) {
    const v1::Limit& limit = phase.limits(i);
    if (i > 0) page.Labelled("also by", Printable(limit.evidence()), Tone::kStrong);
    page.Labelled("", absl::StrCat("try: ", Printable(limit.advice()), " (", Printable(limit.source()), ")"),
                  Tone::kQuiet);
  }
}

// When the throughput changed its level, beside the headline, which is a mean of the levels.
void PrintChanges(const v1::PhaseReport& phase, ConsolePage& page) {
  for (const v1::RateChange& change : phase.changes()) {
    const bool falls = change.after_per_s() < change.before_per_s();
    page.Labelled(falls ? "rate fell" : "rate rose",
                  absl::StrCat("from ", LevelText(phase, change.before_per_s()), " to ",
                               LevelText(phase, change.after_per_s()), " after ", MovedUntilText(change), ": ",
                               change.cause().empty() ? "unknown cause" : Printable(change.cause())),
                  Tone::kStrong);
  }
}

void PrintMarks(const v1::PhaseReport& phase, ConsolePage& page) {
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

// Their texts are said once for the whole run (console_verdict.h).
void PrintBriefMarks(const v1::RunReport& report, const v1::PhaseReport& phase, ConsolePage& page) {
  if (IsOfOnePhase(report.run().plan())) return PrintMarks(phase, page);
  if (const std::string codes = MarkCodesText(phase); !codes.empty()) page.Labelled("! marks", codes, Tone::kWarning);
}

// Errors, including lost workers, come directly below the headline, because totals exclude them.
void PrintErrors(const v1::PhaseReport& phase, ConsolePage& page) {
  if (phase.interrupted())
    page.Labelled("interrupted", "the figures cover what was done until then", Tone::kError);
  std::string label = "errors";
  for (const std::string& text : ErrorTexts(phase.errors(), kMaxErrorsShown)) {
    page.Labelled(label, text, Tone::kError);
    label.clear();
  }
}

// The text for a phase without a figure.
void PrintNothing(const v1::RunReport& report, const v1::PhaseReport& phase, Detail detail, ConsolePage& page) {
  std::vector<std::string> why;
  if (phase.workers_lost() > 0) why.push_back(absl::StrCat(Counted(phase.workers_lost(), "worker"), " lost"));
  if (phase.lanes_failed() > 0) why.push_back(absl::StrCat(Counted(phase.lanes_failed(), "lane"), " failed"));
  if (phase.lanes_sat_out() > 0)
    why.push_back(absl::StrCat(Counted(phase.lanes_sat_out(), "lane"), " sat out"));
  page.Line({{PhaseTitle(report, phase), Tone::kStrong},
             {absl::StrCat("nothing was measured: ", absl::StrJoin(why, ", ")), Tone::kError}});
  PrintErrors(phase, page);
  detail == Detail::kFull ? PrintMarks(phase, page) : PrintBriefMarks(report, phase, page);
}

// Writing small files mostly consists of creating them, which this phase did before its timed region.
void PrintUntimedCreates(const v1::RunReport& report, const v1::PhaseReport& phase, ConsolePage& page) {
  const v1::Phase* planned = PlannedPhase(report.run().plan(), phase);
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

void PrintWindows(const v1::PhaseReport& phase, ConsolePage& page) {
  const v1::Throughput& rates =
      phase.headline_in_ops() ? phase.throughput_ops_per_s() : phase.throughput_bytes_per_s();
  std::vector<std::string> figures;
  const auto add = [&](const char* name, double rate) {
    if (phase.headline().name() == name) return;
    figures.push_back(absl::StrCat(name, " ", RateText(phase.headline_in_ops(), rate, rate)));
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
  if (wall.uncertain_percent() > 0) {
    absl::StrAppend(&text, phase.headline_in_ops() ? "; ops within " : "; bytes within ",
                    Percent(wall.uncertain_percent()));
  }
  // A lower cost is noise, or that of a full figure above the stonewalled one; for a single lane it is its close.
  if (LaneCount(phase) > 1 && phase.straggler_cost() >= kMinStragglerCost) {
    absl::StrAppend(&text, "; stragglers cost ", Percent(100 * phase.straggler_cost()));
  }
  page.Labelled("stonewall", text, Tone::kQuiet);
}

// Adds the mean over the lanes and, below it, the slowest lane for each region.
void PrintRegions(const v1::PhaseReport& phase, bool several_lanes, ConsolePage& page) {
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

void PrintStart(const v1::PhaseReport& phase, ConsolePage& page) {
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
          absl::StrCat("p95 ", PercentileText(latency, "p95", latency.p95())),
          absl::StrCat("p99 ", PercentileText(latency, "p99", latency.p99())),
          absl::StrCat("p99.9 ", PercentileText(latency, "p99_9", latency.p99_9())),
          absl::StrCat("max ", Microseconds(latency.max()))};
}

// The ops of a phase by kind, or its flush calls, in the order of OpKind.
std::vector<std::pair<std::string, v1::KindReport>> KindsAmong(const v1::PhaseReport& phase, bool calls) {
  std::vector<std::pair<std::string, v1::KindReport>> kinds;
  for (int i = 0; i < kOpKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    const auto found = phase.by_kind().find(NameOf(kind));
    if (found != phase.by_kind().end() && kFlushCalls.Has(kind) == calls)
      kinds.emplace_back(found->first, found->second);
  }
  return kinds;
}

// Kinds of ops, if there are several; otherwise the figures of the only one are those of the phase.
std::vector<std::pair<std::string, v1::KindReport>> KindsOfSeveral(const v1::PhaseReport& phase) {
  auto kinds = KindsAmong(phase, /*calls=*/false);
  if (kinds.size() < 2) kinds.clear();
  return kinds;
}

std::vector<std::pair<std::string, v1::KindReport>> CallsOf(const v1::PhaseReport& phase) {
  return KindsAmong(phase, /*calls=*/true);
}

// Under the flush calls that waited for them.
void PrintCommits(const v1::PhaseReport& phase, ConsolePage& page) {
  const v1::NfsKindReport* const commits = CommitsIn(phase.nfs_rpc());
  if (commits == nullptr) return;
  page.Figures("", {absl::StrCat(kKernelCommit, ": ", Counted(static_cast<int64_t>(commits->rpcs()), "request")),
                    absl::StrCat("mean ", Microseconds(commits->execute_ms() * 1e3)),
                    absl::StrCat("of it queue ", Microseconds(commits->queue_ms() * 1e3)),
                    absl::StrCat("round trip ", Microseconds(commits->round_trip_ms() * 1e3))},
               Tone::kQuiet);
}

void PrintLatency(const v1::PhaseReport& phase, ConsolePage& page) {
  if (phase.latency_us().count() == 0) return;
  page.Figures("latency", LatencyFigures(phase.latency_us()));
  for (const auto& [kind, of_kind] : KindsOfSeveral(phase)) {
    std::vector<std::string> figures = LatencyFigures(of_kind.latency_us());
    figures.insert(figures.begin(), OpsPerSecond(of_kind.ops_per_s()));
    if (!phase.metadata()) {  // the unit of the headline comes first
      figures.insert(figures.begin() + (phase.headline_in_ops() ? 1 : 0),
                     FormatBytesPerSecond(of_kind.bytes_per_s()));
    }
    page.Figures(phase.metadata() ? kind : absl::StrCat(kind, "s"), figures);
  }
  const auto calls = CallsOf(phase);
  for (const auto& [call, of_call] : calls) {
    std::vector<std::string> figures = LatencyFigures(of_call.latency_us());
    figures.insert(figures.begin(), Counted(static_cast<int64_t>(of_call.ops()), "call"));
    page.Figures(call, figures);
  }
  if (!calls.empty()) PrintCommits(phase, page);
}

// ", all in huge pages": how much of the buffers is there.
std::string ShareText(uint64_t bytes, uint64_t all_bytes, const char* where) {
  const std::string share = bytes == 0           ? "none"
                            : bytes == all_bytes ? "all"
                                                 : FormatBytes(static_cast<double>(bytes)) + " of them";
  return absl::StrCat(", ", share, " ", where);
}

// "; buffers 16 MiB, all in huge pages"; empty: the phase has no large buffers.
std::string BuffersText(const v1::BufferPages& buffers) {
  if (buffers.bytes() == 0) return "";
  std::string text = absl::StrCat("; buffers ", FormatBytes(static_cast<double>(buffers.bytes())));
  if (buffers.has_huge_page_bytes()) text += ShareText(buffers.huge_page_bytes(), buffers.bytes(), "in huge pages");
  if (buffers.has_local_bytes()) text += ShareText(buffers.local_bytes(), buffers.bytes(), "on their lanes' NUMA nodes");
  return text;
}

// The hints are in the other formats: there are many, most of them defaults.
void PrintMpiIo(const v1::PhaseReport& phase, ConsolePage& page) {
  if (!phase.has_mpi_io()) return;
  page.Labelled("MPI-IO", absl::StrCat(MpiIoText(phase.mpi_io()), " (", Printable(phase.mpi_io().library()), ")"));
}

void PrintTool(const v1::PhaseReport& phase, ConsolePage& page) {
  const v1::ToolReport& tool = phase.tool();
  if (!phase.has_tool() || !std::isfinite(tool.share_percent())) return;
  std::string text = absl::StrCat("took ", Percent(tool.share_percent()), " of the lanes' time; loop ",
                                  FormatSeconds(tool.ns_per_op() * 1e-9), " per op");
  // Both are measured at different times: a disturbed clock read may exceed the loop that contains it.
  if (tool.clock_read_ns() > 0 && tool.clock_read_ns() <= tool.ns_per_op()) {
    absl::StrAppend(&text, "; one clock read ", FormatSeconds(tool.clock_read_ns() * 1e-9));
  }
  absl::StrAppend(&text, " (", Printable(tool.clock()), ")", BuffersText(phase.buffers()));
  page.Labelled("tool", text, Tone::kQuiet);
}

// The line that a brief page has in place of the lines about windows, lanes and the stonewall.
void PrintStragglers(const v1::PhaseReport& phase, ConsolePage& page) {
  if (LaneCount(phase) < 2) return;
  // A full headline counts until the last lane ended.
  if (phase.headline().name() != "full" && phase.straggler_cost() >= kNotableStragglerCost) {
    const v1::Throughput& rates =
        phase.headline_in_ops() ? phase.throughput_ops_per_s() : phase.throughput_bytes_per_s();
    page.Labelled("stragglers",
                  absl::StrCat("until the last lane ended: ",
                               RateText(phase.headline_in_ops(), rates.full(), rates.full()), ", ",
                               Percent(100 * phase.straggler_cost()), " less"),
                  Tone::kWarning);
  }
  PrintSlowLanes(phase, page);
}

void PrintBriefKinds(const v1::PhaseReport& phase, ConsolePage& page) {
  for (const auto& [kind, of_kind] : KindsOfSeveral(phase)) {
    std::vector<std::string> figures = BriefLatency(of_kind.latency_us());
    figures.insert(figures.begin(), OpsPerSecond(of_kind.ops_per_s()));
    if (!phase.metadata()) {  // the unit of the headline comes first
      figures.insert(figures.begin() + (phase.headline_in_ops() ? 1 : 0),
                     FormatBytesPerSecond(of_kind.bytes_per_s()));
    }
    page.Figures(phase.metadata() ? kind : absl::StrCat(kind, "s"), figures);
  }
  bool any = false;
  for (const auto& [call, of_call] : CallsOf(phase)) {
    if (of_call.ops() < kManyCalls) continue;
    std::vector<std::string> figures = BriefLatency(of_call.latency_us());
    figures.insert(figures.begin(), Counted(static_cast<int64_t>(of_call.ops()), "call"));
    page.Figures(call, figures);
    any = true;
  }
  if (any) PrintCommits(phase, page);
}

// What a reader needs to trust or doubt the headline. Each line has a reason to be there, except for the amount and the
// time, with which anyone can check the rate.
void PrintBrief(const v1::RunReport& report, const v1::PhaseReport& phase, ConsolePage& page) {
  PrintHeadline(report, phase, BriefLatency(phase.latency_us()), page);
  PrintErrors(phase, page);
  PrintChanges(phase, page);
  PrintBriefMarks(report, phase, page);
  PrintLimit(phase, Detail::kBrief, page);
  PrintAmount(report, phase, page);
  PrintFirstPass(phase, page);
  PrintBriefKinds(phase, page);
  PrintReached(phase, Detail::kBrief, page);
  PrintReadSources(phase, Detail::kBrief, page);
  PrintFullness(report, phase, Detail::kBrief, page);
  PrintCold(phase, page);
  PrintMpiIo(phase, page);
  PrintNfs(phase, Detail::kBrief, page);
  PrintServers(phase, Detail::kBrief, page);
  PrintUntimedCreates(report, phase, page);
  PrintVerified(phase, page);
  PrintOpenLoop(phase, page);
  PrintTableOfPhase("parts", report, phase, page);
  PrintTableOfPhase("paths", report, phase, page);
  PrintTableOfPhase("storage-targets", report, phase, page);
  if (phase.asked_ops_per_s() > 0 || phase.pause_s() > 0) PrintBetween(phase, page);
  PrintStragglers(phase, page);
  if (phase.start().skew_percent() > kNotableSkewPercent && !HasMark(phase, mark_code::kSkewedStart)) {
    PrintStart(phase, page);
  }
  PrintClientRange(phase, page);
}

void PrintFull(const v1::RunReport& report, const v1::PhaseReport& phase, ConsolePage& page) {
  const bool several_lanes = LaneCount(phase) > 1;
  PrintHeadline(report, phase, {}, page);
  PrintErrors(phase, page);
  PrintChanges(phase, page);
  PrintMarks(phase, page);
  PrintLimit(phase, Detail::kFull, page);
  PrintMoved(report, phase, page);
  PrintFirstPass(phase, page);
  PrintPasses(phase, page);
  PrintReached(phase, Detail::kFull, page);
  PrintReadSources(phase, Detail::kFull, page);
  PrintFullness(report, phase, Detail::kFull, page);
  PrintCold(phase, page);
  PrintMpiIo(phase, page);
  PrintUntimedCreates(report, phase, page);
  PrintVerified(phase, page);
  PrintWindows(phase, page);
  PrintRegions(phase, several_lanes, page);
  PrintLatency(phase, page);
  PrintNfs(phase, Detail::kFull, page);
  PrintServers(phase, Detail::kFull, page);
  if (several_lanes) PrintStart(phase, page);
  PrintOpenLoop(phase, page);
  PrintTableOfPhase("parts", report, phase, page);
  PrintTableOfPhase("paths", report, phase, page);
  PrintTableOfPhase("storage-targets", report, phase, page);
  PrintBetween(phase, page);
  PrintTool(phase, page);
  PrintLanes(phase, page);
  PrintSlowLanes(phase, page);
  WriteOutClients(phase, page);
}

// Returns the line about the round that ends with this phase; it may have any length. Empty after other phases.
std::string RoundTextAfter(const v1::RunReport& report, const v1::PhaseReport& phase) {
  const int phases = report.run().plan().phases_size();
  const bool is_last = phases > 0 && static_cast<int>(phase.index()) % phases == phases - 1;
  if (report.has_steady()) {
    if (!is_last || phase.repetition() >= report.steady().rounds()) return {};
    return Printable(SteadyRoundLine(report.steady(), report.run().plan().until_steady(), phase.repetition() + 1)) + "\n";
  }
  const v1::SoakRound* const round = RoundOf(phase, report.soak());
  if (round == nullptr || !(is_last || phase.interrupted())) return {};
  return Printable(RoundLine(*round, report.soak())) + "\n";
}

bool SomethingWentWrong(const v1::PhaseReport& phase) {
  return !phase.errors().empty() || phase.interrupted() || FoundBadData(phase.verify()) ||
         NothingMeasured(phase);
}

// Of repetitions in which the same goes wrong, the first few show it; the verdict counts them all.
bool IsNewTrouble(const v1::RunReport& report, const v1::PhaseReport& phase) {
  if (!SomethingWentWrong(phase)) return false;
  const auto before = std::count_if(report.phases().begin(), report.phases().end(), [&](const v1::PhaseReport& other) {
    return other.index() < phase.index() && other.name() == phase.name() && !other.not_whole().empty();
  });
  return before < kMaxTroubledRepetitions;
}

}  // namespace

Pages PagesFor(const v1::Plan& plan) {
  if (RunsInRounds(plan)) return Pages::kRounds;
  if (IsLongSweep(plan)) return Pages::kOfTrouble;
  return plan.repetitions() > 1 ? Pages::kRepeated : Pages::kAll;
}

std::string ConsolePhase(const v1::RunReport& report, const v1::PhaseReport& phase, const ConsoleStyle& style,
                         Pages pages) {
  if (pages == Pages::kOfTrouble && !SomethingWentWrong(phase)) return {};
  if (pages == Pages::kRepeated && style.detail == Detail::kBrief && !IsNewTrouble(report, phase)) return {};
  ConsolePage page(style);
  if (pages == Pages::kRounds && style.detail == Detail::kBrief) {
    PrintErrors(phase, page);
    return page.Take() + RoundTextAfter(report, phase);
  }
  page.Blank();
  if (NothingMeasured(phase)) {
    PrintNothing(report, phase, style.detail, page);
  } else if (style.detail == Detail::kFull) {
    PrintFull(report, phase, page);
  } else {
    PrintBrief(report, phase, page);
  }
  return page.Take() + (pages == Pages::kRounds ? RoundTextAfter(report, phase) : "");
}

}  // namespace iobench
