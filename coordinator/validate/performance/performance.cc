#include "coordinator/validate/performance/performance.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/analysis/marks/mark_table.h"
#include "coordinator/validate/checks/check_context.h"
#include "coordinator/validate/performance/findings.h"

namespace iobench {
namespace {

constexpr std::string_view kDataPhases[] = {"write", "read"};
constexpr std::string_view kMetadataPhases[] = {"create", "stat", "unlink"};

constexpr uint32_t kLanesPerWorker = 4;
constexpr uint64_t kPerformanceRecordBytes = 256_KiB;
constexpr uint64_t kItemsPerLane = 1000;
constexpr uint64_t kSmallFileBytes = 4_KiB;
constexpr double kSecondsAroundPhase = 0.7;  // preparation, clocks, and dropping caches
// Shorter phases depend too much on chance to fail a client.
constexpr double kShortestJudged_s = 1;

v1::Phase PhaseOf(std::string_view operation, double seconds) {
  v1::Phase phase;
  phase.set_name(std::string(operation));
  v1::Operation& what = *phase.add_assignments()->mutable_operation();
  what.set_name(std::string(operation));
  phase.mutable_stop()->set_deadline_s(seconds);
  return phase;
}

std::string AloneName(std::string_view phase, const std::string& client) {
  return absl::StrCat(std::string(phase), " on ", client);
}

// Whether a phase can be judged, and what makes its figures doubtful. Phases of a validation are brief; where that
// matters, it is judged by their length.
void CheckPhaseOf(const Performance& measured, const std::string& name, Outcome& outcome, Findings& findings) {
  if (const auto error = measured.errors.find(name); error != measured.errors.end()) {
    outcome.Evidence(absl::StrCat(name, ": ", error->second));
    findings.fails = true;
    findings.Advise("mend what failed, and measure again");
  }
  const v1::PhaseReport* const phase = measured.PhaseNamed(name);
  if (phase == nullptr) return;
  for (const v1::Mark& mark : phase->marks()) {
    const MarkMeans means = MeaningOf(mark.code());
    if (!SpoilsFigures(mark.code()) || means == MarkMeans::kBrief) continue;
    outcome.Evidence(absl::StrCat(name, " is marked ", mark.code(), ": ", mark.text()));
    findings.warns = true;
    findings.Advise(means == MarkMeans::kClientMemory
                        ? "let workers of root drop caches (worker --allow drop-caches), or measure with a larger --size"
                        : "do what the marks say, and measure again");
  }
}

// The range of what clients reached alone: "write 95.4 MiB/s to 101 MiB/s".
std::string RangeAlone(const v1::PerClientReport& clients) {
  double least = NAN, most = NAN;
  for (const v1::PerClientRow& row : clients.clients()) {
    least = std::fmin(least, row.alone());
    most = std::fmax(most, row.alone());
  }
  return absl::StrCat(clients.phase(), " ", RateWord(clients.in_ops(), least), " to ",
                      RateWord(clients.in_ops(), most));
}

// For how long the headline counts: until the first lane is done, if the others then go on alone. A phase that is long
// because one client began late says little about how clients share the server.
double SecondsCounted(const v1::PhaseReport& phase) {
  const double rate = phase.headline().bytes_per_s();
  if (phase.headline_in_ops() || phase.measured_bytes() == 0 || !(rate > 0)) return phase.duration_s();
  return std::fmin(phase.duration_s(), static_cast<double>(phase.measured_bytes()) / rate);
}

void FindOutliers(const Performance& measured, const v1::PerClientReport& clients,
                     const PerformanceLimits& limits, Outcome& outcome, Findings& findings) {
  for (const v1::PerClientRow& row : clients.clients()) {
    const std::string name = AloneName(clients.phase(), row.client());
    CheckPhaseOf(measured, name, outcome, findings);
    if (!std::isfinite(row.alone())) {
      outcome.Evidence(absl::StrCat(name, ": not measured"));
      findings.fails = true;
      continue;
    }
    outcome.Figure(FigureOf(clients.phase(), "alone", row.client()).c_str(), row.alone(),
                   clients.in_ops() ? "ops/s" : "B/s");
    if (!(row.of_others() < std::max(limits.outlier_warn, limits.outlier_fail))) continue;
    const v1::PhaseReport* const phase = measured.PhaseNamed(name);
    const bool is_short = phase != nullptr && SecondsCounted(*phase) < kShortestJudged_s;
    outcome.Evidence(absl::StrCat(row.client(), ": ", clients.phase(), " alone ",
                                  RateWord(clients.in_ops(), row.alone()), ", ", ShareWord(row.of_others()),
                                  " of the median of the others",
                                  is_short ? absl::StrCat(" (in only ", FormatSeconds(SecondsCounted(*phase)),
                                                          ", which is too short to tell)")
                                           : ""));
    if (is_short) {
      findings.warns = true;
      findings.Advise("measure longer, with a larger --size, before you look for a slow client");
      continue;
    }
    findings.Blame(row.client());
    (row.of_others() < limits.outlier_fail ? findings.fails : findings.warns) = true;
    findings.Advise(
        "compare that client's link speed and errors (ethtool), mount options, processors and other load with those "
        "of the others");
  }
}

void JudgeAlone(const Performance& measured, std::span<const std::string_view> phases,
                const PerformanceLimits& limits, Outcome& outcome) {
  Findings findings;
  std::vector<std::string> ranges;
  for (const std::string_view name : phases) {
    const v1::PerClientReport* const clients = measured.ClientsIn(name);
    if (clients == nullptr) continue;
    FindOutliers(measured, *clients, limits, outcome, findings);
    ranges.push_back(RangeAlone(*clients));
  }
  const std::string passed = absl::StrCat("each client alone: ", absl::StrJoin(ranges, ", "));
  findings.Conclude(passed,
                    findings.slow.empty()
                        ? passed
                        : absl::StrCat(absl::StrJoin(findings.slow, ", "),
                                       findings.slow.size() == 1 ? " is slower" : " are slower",
                                       " than the others; ", passed),
                    outcome);
}

// "write p99 1.2 ms, longest 40 ms"
std::string TailWord(const v1::PhaseReport& phase) {
  return absl::StrCat(phase.name(), " p99 ", FormatSeconds(phase.latency_us().p99() * 1e-6), ", longest ",
                      FormatSeconds(phase.latency_us().max() * 1e-6));
}

std::map<std::string, std::string> MountOptionsOf(const v1::TargetFacts& seen) {
  std::map<std::string, std::string> options;
  for (const absl::string_view option : absl::StrSplit(seen.mount_options(), ',', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> halves = absl::StrSplit(option, absl::MaxSplits('=', 1));
    options[halves.first] = halves.second.empty() ? "yes" : halves.second;
  }
  return options;
}

}  // namespace

std::span<const std::string_view> DataPhases() {
  return kDataPhases;
}

void UsePerformancePhases(const PhaseAmounts& amounts, v1::Plan& plan) {
  plan.clear_phases();
  plan.set_per_client(true);
  plan.set_lanes_per_worker(kLanesPerWorker);
  plan.mutable_files()->set_bytes_per_lane(
      std::max<uint64_t>(1, amounts.bytes / kLanesPerWorker / kPerformanceRecordBytes) *
      kPerformanceRecordBytes);
  v1::Phase& write = *plan.add_phases() = PhaseOf("write", 0);
  write.mutable_stop()->set_time_s(amounts.seconds);
  write.mutable_region()->set_fsync(true);
  write.mutable_region()->set_close(true);
  // Otherwise a pass would overwrite data that are still in memory.
  write.mutable_region()->set_flush_passes(true);
  v1::Phase& read = *plan.add_phases() = PhaseOf("read", amounts.seconds);
  read.add_before()->mutable_drop_caches()->set_verify(true);
  read.mutable_assignments(0)->mutable_operation()->set_rotate_clients(true);
  for (v1::Phase& phase : *plan.mutable_phases()) {
    phase.mutable_assignments(0)->mutable_operation()->set_record_bytes(kPerformanceRecordBytes);
  }
  for (const std::string_view name : kMetadataPhases) {
    v1::Phase& phase = *plan.add_phases() = PhaseOf(name, amounts.seconds);
    v1::Tree& tree = *phase.mutable_assignments(0)->mutable_operation()->mutable_tree();
    tree.set_items_per_lane(kItemsPerLane);
    tree.set_file_bytes(kSmallFileBytes);
    if (name != "stat") continue;
    phase.add_before()->mutable_drop_caches()->set_verify(true);
    phase.mutable_assignments(0)->mutable_operation()->set_rotate_clients(true);
  }
}

double SecondsOfPhases(const v1::Plan& plan) {
  double seconds = 0;
  for (const v1::Phase& phase : plan.phases()) {
    seconds += phase.stop().time_s() + phase.stop().deadline_s() + kSecondsAroundPhase;
  }
  return seconds;
}

const v1::PhaseReport* Performance::PhaseNamed(std::string_view name) const {
  for (const v1::PhaseReport& phase : report.phases()) {
    if (phase.name() == name) return &phase;
  }
  return nullptr;
}

const v1::PerClientReport* Performance::ClientsIn(std::string_view phase) const {
  for (const v1::PerClientReport& each : report.per_client()) {
    if (each.phase() == phase) return &each;
  }
  return nullptr;
}

PerformanceLimits WithExpectations(PerformanceLimits limits, const Expectations& expected) {
  if (const auto share = expected.LimitOf("outlier_min")) limits.outlier_warn = limits.outlier_fail = *share;
  if (const auto share = expected.LimitOf("fairness_min"))
    limits.fairness_warn = limits.fairness_fail = *share;
  if (const auto share = expected.LimitOf("network_min"))
    limits.network_warn = limits.tcp_warn = limits.network_fail = *share;
  if (const auto share = expected.LimitOf("scaling_min")) limits.scaling_fail = *share;
  return limits;
}

void JudgeClientRates(const Performance& measured, const PerformanceLimits& limits, Outcome& outcome) {
  JudgeAlone(measured, kDataPhases, limits, outcome);
}

void JudgeMetadataRates(const Performance& measured, const PerformanceLimits& limits, Outcome& outcome) {
  PerformanceLimits of_names = limits;
  of_names.outlier_warn = limits.metadata_warn;
  of_names.outlier_fail = limits.metadata_fail;
  std::vector<std::string> rates;
  Findings findings;
  for (const std::string_view name : kMetadataPhases) {
    CheckPhaseOf(measured, std::string(name), outcome, findings);
    const v1::PhaseReport* const phase = measured.PhaseNamed(name);
    if (phase == nullptr) continue;
    rates.push_back(absl::StrCat(std::string(name), " ", RateWord(true, HeadlineRate(*phase))));
    outcome.Figure(absl::StrCat(std::string(name), "_per_s").c_str(), HeadlineRate(*phase), "ops/s");
    if (const v1::PerClientReport* const clients = measured.ClientsIn(name); clients != nullptr) {
      FindOutliers(measured, *clients, of_names, outcome, findings);
    }
  }
  const std::string passed = absl::StrCat("all clients together: ", absl::StrJoin(rates, ", "));
  findings.Conclude(passed, passed, outcome);
}

void JudgeScaling(const Performance& measured, const PerformanceLimits& limits, Outcome& outcome) {
  Findings findings;
  std::vector<std::string> found;
  for (const std::string_view name : kDataPhases) {
    const v1::PerClientReport* const clients = measured.ClientsIn(name);
    if (clients == nullptr) continue;
    CheckPhaseOf(measured, std::string(name), outcome, findings);
    if (!std::isfinite(clients->together()) || !std::isfinite(clients->scaling())) {
      outcome.Evidence(absl::StrCat(std::string(name), ": not measured on all clients"));
      findings.fails = true;
      continue;
    }
    found.push_back(absl::StrCat(std::string(name), " ", RateWord(false, clients->together()), ", ",
                                 ShareWord(clients->scaling()), " of the sum of each alone, slowest client ",
                                 ShareWord(clients->fairness()), " of the mean"));
    outcome.Figure(absl::StrCat(std::string(name), "_scaling").c_str(), clients->scaling());
    outcome.Figure(absl::StrCat(std::string(name), "_fairness").c_str(), clients->fairness());
    const auto slowest =
        std::min_element(clients->clients().begin(), clients->clients().end(),
                         [](const auto& a, const auto& b) { return a.together() < b.together(); });
    const auto fastest_alone =
        std::max_element(clients->clients().begin(), clients->clients().end(),
                         [](const auto& a, const auto& b) { return a.alone() < b.alone(); });
    const v1::PhaseReport* const phase = measured.PhaseNamed(name);
    const bool is_short = phase != nullptr && SecondsCounted(*phase) < kShortestJudged_s;
    if (clients->fairness() < std::max(limits.fairness_warn, limits.fairness_fail)) {
      outcome.Evidence(absl::StrCat(slowest->client(), ": ", std::string(name), " ",
                                    RateWord(false, slowest->together()), " while all work, ",
                                    ShareWord(clients->fairness()), " of the mean of the clients"));
      (clients->fairness() < limits.fairness_fail && !is_short ? findings.fails : findings.warns) = true;
      findings.Advise("look for what that client shares with no other: switch port, link, server address");
    }
    if (clients->scaling() < limits.scaling_fail) {
      outcome.Evidence(absl::StrCat(std::string(name), ": all clients together reach ",
                                    ShareWord(clients->scaling()), " of the sum of each alone"));
      findings.fails = true;
      findings.Advise("look for what limits the server: its network, disks, and threads of nfsd");
    } else if (clients->together() < limits.outlier_warn * fastest_alone->alone()) {
      outcome.Evidence(absl::StrCat(std::string(name), ": all clients together are slower than ",
                                    fastest_alone->client(), " alone with ",
                                    RateWord(false, fastest_alone->alone())));
      findings.warns = true;
      findings.Advise(
          "look for congestion between clients and server (drops, pause frames), and for disks that seek");
    }
  }
  const std::string passed = absl::StrJoin(found, "; ");
  findings.Conclude(passed, passed, outcome);
}

void JudgeLatencies(const Performance& measured, const Expectations& expected, Outcome& outcome) {
  std::vector<std::string> tails;
  Findings findings;
  for (const v1::PhaseReport& phase : measured.report.phases()) {
    if (phase.latency_us().count() == 0) continue;
    const size_t end = phase.name().find(" on ");
    const std::string base = phase.name().substr(0, end);
    if (end == std::string::npos) {
      tails.push_back(TailWord(phase));
      outcome.Figure(absl::StrCat(base, "_p99").c_str(), phase.latency_us().p99() * 1e-6, "s");
      outcome.Figure(absl::StrCat(base, "_longest").c_str(), phase.latency_us().max() * 1e-6, "s");
    }
    const auto p99 = expected.LimitOf(absl::StrCat(base, "_p99_max"));
    const auto longest = expected.LimitOf(absl::StrCat(base, "_longest_max"));
    const bool misses = (p99 && phase.latency_us().p99() * 1e-6 > *p99) ||
                        (longest && phase.latency_us().max() * 1e-6 > *longest);
    if (!misses) continue;
    outcome.Evidence(TailWord(phase));
    findings.fails = true;
    findings.Advise("find out what the server is waiting for in that time: disks, flushes, its network");
  }
  if (tails.empty()) {
    outcome.Skip("no op was measured");
    return;
  }
  const std::string passed = absl::StrCat("of all clients: ", absl::StrJoin(tails, "; "));
  findings.Conclude(passed, absl::StrCat("longer than expected; ", passed), outcome);
}

FactsOfClient FactsOf(const std::string& client, const v1::WorkerFacts& worker, const v1::TargetFacts& seen) {
  FactsOfClient facts{.client = client, .values = MountOptionsOf(seen)};
  const auto set = [&facts](const char* name, const std::string& value) {
    if (!value.empty()) facts.values[name] = value;
  };
  // softerr differs from soft only in the error that programs get.
  if (facts.values.contains("softerr")) facts.values["soft"] = "yes";
  for (const auto& [name, value] : worker.settings()) facts.values[name] = value;
  for (const auto& [name, value] : seen.settings()) {
    if (name == "nic_mtu") {
      set("mtu", value);
    } else if (name == "nic_mbit_per_s") {
      set("nic_speed", absl::StrCat(value, " Mbit/s"));
    } else if (name == "read_ahead_kb") {
      set("read_ahead", absl::StrCat(value, "k"));
    } else {
      set(name.c_str(), value);
    }
  }
  // The kernel shows it only if it is not 1.
  if (seen.filesystem().starts_with("nfs")) facts.values.emplace("nconnect", "1");
  set("filesystem", seen.filesystem());
  set("source", seen.mount_source());
  set("kernel", std::string(absl::StripPrefix(worker.kernel(), "Linux ")));
  if (worker.processors() > 0) set("processors", absl::StrCat(worker.processors()));
  if (worker.memory_bytes() > 0) set("memory", absl::StrCat(worker.memory_bytes(), "b"));
  return facts;
}

}  // namespace iobench
