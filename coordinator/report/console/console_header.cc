// The header of the report: the run, its clients and targets, and the settings.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/model/data_content.h"
#include "common/model/operation.h"
#include "common/model/phase_files.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_traits.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/report/console/console_data.h"
#include "coordinator/report/console/console_nfs.h"
#include "coordinator/report/console/console_page.h"
#include "coordinator/report/console/console_report.h"
#include "coordinator/report/console/console_sweep.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

constexpr int kMaxClientsListed = 4;
constexpr size_t kMaxTargetsListed = 16;

// Clients with the same view of a target share a line.
struct SeenTarget {
  const v1::TargetReport* target;
  int client_count;
};

std::vector<SeenTarget> DistinctTargets(const v1::RunReport& report) {
  std::vector<SeenTarget> seen;
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, size_t> index_of;
  for (const auto& client : report.clients()) {
    for (const auto& target : client.targets()) {
      const auto [found, is_new] =
          index_of.emplace(std::tuple(std::string_view(target.path()), std::string_view(target.filesystem()),
                                      std::string_view(target.mount_source())),
                           seen.size());
      if (is_new) seen.push_back({&target, 0});
      ++seen[found->second].client_count;
    }
  }
  return seen;
}

// Returns the mount options that affect speed; result.json has all of them.
std::string NotableOptions(const std::string& options) {
  constexpr absl::string_view kQuiet[] = {
      "rw",         "relatime",   "namlen=",    "clientaddr=", "addr=",
      "mountaddr=", "mountvers=", "mountport=", "mountproto=", "local_lock="};
  std::vector<absl::string_view> telling;
  for (const absl::string_view option : absl::StrSplit(options, ',')) {
    const bool quiet = std::any_of(std::begin(kQuiet), std::end(kQuiet), [option](absl::string_view name) {
      return absl::EndsWith(name, "=") ? absl::StartsWith(option, name) : option == name;
    });
    if (!quiet) telling.push_back(option);
  }
  return Printable(absl::StrJoin(telling, ", "));
}

void PrintTargets(const v1::RunReport& report, ConsolePage& page) {
  std::string label = "target";
  const std::vector<SeenTarget> seen = DistinctTargets(report);
  for (const auto& [target, client_count] : std::span(seen).first(std::min(seen.size(), kMaxTargetsListed))) {
    std::string text = Printable(target->path());
    if (!target->filesystem().empty()) absl::StrAppend(&text, "   ", Printable(target->filesystem()));
    if (!target->mount_source().empty()) absl::StrAppend(&text, " from ", Printable(target->mount_source()));
    if (client_count < report.clients_size())
      absl::StrAppend(&text, "   on ", Counted(client_count, "client"));
    page.Labelled(label, text, Tone::kStrong);
    label.clear();
    const bool is_nfs = target->filesystem().compare(0, 3, "nfs") == 0;
    if (is_nfs && !target->mount_options().empty()) {
      page.Labelled("", NotableOptions(target->mount_options()), Tone::kQuiet);
    }
  }
  if (seen.size() > kMaxTargetsListed) {
    page.Labelled("", absl::StrCat("and ", seen.size() - kMaxTargetsListed, " more, which result.json lists"),
                  Tone::kQuiet);
  }
  if (!seen.empty()) return;
  for (const auto& target : report.run().plan().targets()) {
    page.Labelled(label, Printable(target.path()), Tone::kStrong);
    label.clear();
  }
}

// Returns "64 KiB", or "64 KiB, 4 KiB (zipf:1.1)" if phases differ.
std::string RecordSizes(const v1::Plan& plan) {
  std::vector<std::string> sizes;
  for (const auto& phase : plan.phases()) {
    for (const auto& assignment : phase.assignments()) {
      if (IsMetadata(assignment.operation())) continue;
      std::string size =
          absl::StrCat(RecordSizesText(assignment.operation()), Printable(AccessText(assignment.operation())));
      if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) sizes.push_back(std::move(size));
    }
  }
  return absl::StrJoin(sizes, ", ");
}

// Describes the trees of the metadata operations, each once.
std::string TreesText(const v1::Plan& plan) {
  std::vector<std::string> trees;
  for (const auto& phase : plan.phases()) {
    for (const auto& assignment : phase.assignments()) {
      if (!IsMetadata(assignment.operation())) continue;
      std::string tree = TreeText(assignment.operation().name(), assignment.operation().tree());
      if (std::find(trees.begin(), trees.end(), tree) == trees.end()) trees.push_back(std::move(tree));
    }
  }
  return absl::StrJoin(trees, "; ");
}

// Returns "64 MiB", or "64 KiB to 512 MiB" if phases have different sizes.
std::string SizesPerLane(const v1::Plan& plan) {
  uint64_t least = UINT64_MAX, most = 0;
  for (const auto& phase : plan.phases()) {
    if (phase.assignments().empty() || IsMetadata(phase)) continue;
    const uint64_t bytes = ShapeOf(plan, phase).files.bytes_per_lane();
    least = std::min(least, bytes);
    most = std::max(most, bytes);
  }
  const std::string text = FormatBytes(static_cast<double>(most));
  return least < most ? absl::StrCat(FormatBytes(static_cast<double>(least)), " to ", text) : text;
}

// Uses the phase with the largest total.
double BytesOfAllFiles(const v1::RunInfo& run) {
  uint64_t most = 0;
  for (const auto& phase : run.plan().phases()) {
    if (phase.assignments().empty() || IsMetadata(phase)) continue;
    most = std::max(most, FileBytesOf(run.plan(), phase, run.worker_count()));
  }
  return static_cast<double>(most);
}

// Returns the names of phases in which a worker's lanes share files, with the operations that do if others of the phase
// do not; empty if there is none.
std::string PhasesOnFirstLaneFiles(const v1::Plan& plan) {
  std::vector<std::string> names;
  for (const auto& phase : plan.phases()) {
    v1::Phase sharing;
    for (const auto& assignment : phase.assignments()) {
      if (assignment.operation().first_lane_files()) *sharing.add_assignments() = assignment;
    }
    if (sharing.assignments().empty()) continue;
    std::string name = Printable(PhaseName(phase));
    if (sharing.assignments_size() < phase.assignments_size()) {
      absl::StrAppend(&name, " (only ", Printable(OperationNames(sharing)), ")");
    }
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return absl::StrJoin(names, ", ");
}

std::string FilesText(const v1::RunReport& report) {
  const v1::FileLayout& files = report.run().plan().files();
  const std::string records = RecordSizes(report.run().plan());
  if (GrowsFiles(report.run().plan())) {
    return absl::StrCat("one per lane, as large as it could write in the time; records of ", records);
  }
  std::string text = absl::StrCat(SizesPerLane(report.run().plan()), " per lane");
  if (!files.existing_files().empty()) {
    absl::StrAppend(&text, " of existing files (only read)");
  } else if (files.shared_file()) {
    absl::StrAppend(&text, " in one shared file per target");
  } else if (files.files_per_lane() > 1) {
    absl::StrAppend(&text, " in ", files.files_per_lane(), " files");
  }
  if (files.existing_files().empty()) {
    absl::StrAppend(&text, ", ", FormatBytes(BytesOfAllFiles(report.run())), " in all");
  }
  if (const std::string sharing = PhasesOnFirstLaneFiles(report.run().plan()); !sharing.empty()) {
    absl::StrAppend(&text, "; in ", sharing, ", all lanes of a worker use the file of its first");
  }
  if (files.memory_percent() > 0 && report.clients_size() > 0) {
    const auto& clients = report.clients();
    const auto smallest = std::min_element(clients.begin(), clients.end(),
                                           [](const v1::ClientReport& a, const v1::ClientReport& b) {
                                             return a.memory_bytes() < b.memory_bytes();
                                           });
    absl::StrAppend(&text, ": per client ", files.memory_percent(), " % of the memory of ",
                    Shortened(Printable(smallest->host()), 40),
                    clients.size() > 1 ? ", the smallest client (" : " (",
                    FormatBytes(static_cast<double>(smallest->memory_bytes())), ") or more, in every phase");
  }
  if (!records.empty()) absl::StrAppend(&text, "; records of ", records);
  return text;
}

bool MovesData(const v1::Plan& plan) {
  for (const auto& phase : plan.phases()) {
    for (const auto& assignment : phase.assignments()) {
      if (!MovesNothing(assignment.operation())) return true;
    }
  }
  return false;
}

// Returns "over 4 of Lustre's targets, 1 MiB on each in turn".
std::string StripeText(const v1::Stripe& stripe) {
  std::string text = stripe.count() < 0    ? std::string("over all OSTs")
                     : stripe.count() == 0 ? std::string("over the file system's default number of OSTs")
                                           : absl::StrCat("over ", stripe.count(), " OSTs");
  if (stripe.bytes() > 0) {
    absl::StrAppend(&text, ", ", FormatBytes(static_cast<double>(stripe.bytes())), " on each in turn");
  }
  return text;
}

// Empty if no phase loops over its data.
std::string PassesText(const v1::Plan& plan) {
  const auto flushes = [](const v1::Phase& phase) { return phase.region().flush_passes(); };
  if (std::none_of(plan.phases().begin(), plan.phases().end(), flushes)) return {};
  if (GrowsFiles(plan)) return "writes are flushed again and again, in the timed region; a rewrite starts over at the end";
  return "--time overwrites the files with new data: each pass is flushed before the next, in the timed region";
}

std::string DataText(const v1::Plan& plan) {
  if (!MovesData(plan)) {
    const auto simulates = [](const v1::Assignment& part) { return part.operation().engine() == "sim"; };
    const bool simulated = std::any_of(plan.phases().begin(), plan.phases().end(), [&](const v1::Phase& phase) {
      return std::any_of(phase.assignments().begin(), phase.assignments().end(), simulates);
    });
    return simulated ? "none: the sim engine waits as a simulated storage would"
                     : "none: the null engine does no I/O, this measures the tool itself";
  }
  if (!plan.files().existing_files().empty())
    return "the contents of your files; they are only read, never removed";
  const char* const ends = plan.keep_data() ? "kept at the end (-w), until `cluster-iobench clean` removes them"
                                            : "removed at the end";
  std::string text = absl::StrCat(DescribeData(plan), "; ", ends);
  if (plan.has_stripe()) absl::StrAppend(&text, "; ", StripeText(plan.stripe()));
  return text;
}

// True if the data are not what a run writes and removes by default.
bool DataIsNotable(const v1::Plan& plan) {
  const v1::DataContent& data = plan.data();
  return !MovesData(plan) || !plan.files().existing_files().empty() || plan.keep_data() || data.verify() ||
         IsMadeOnce(data) || data.compress_percent() > 0 || data.dedupe_percent() > 0 || plan.has_stripe();
}

std::string Where(const v1::RunReport& report) {
  const v1::RunInfo& run = report.run();
  std::string text =
      absl::StrCat(Printable(run.transport()), ": ", Counted(report.clients_size(), "client"), ", ",
                   Counted(run.worker_count(), "worker"), ", ", Counted(run.lane_count(), "lane"));
  if (!run.coordinator_host().empty()) {
    absl::StrAppend(&text, "; coordinator on ", Shortened(Printable(run.coordinator_host()), 40));
  }
  return text;
}

void PrintServerFacts(const v1::RunInfo& run, ConsolePage& page) {
  std::string label = "sampled";
  for (const v1::ServerFacts& server : run.servers()) {
    page.Labelled(label, absl::StrCat(Shortened(Printable(server.host()), 40), ": ",
                                      Counted(server.processors(), "processor"), ", ",
                                      FormatBytes(static_cast<double>(server.memory_bytes())), " of memory, ",
                                      Shortened(Printable(server.kernel()), 40)));
    label.clear();
    if (!server.has_nfs()) continue;
    page.Labelled(label, NfsServerText(server.nfs()));
    for (const v1::NfsExport& exported : server.nfs().exports()) page.Labelled(label, NfsExportText(exported));
  }
}

// Figures of a cluster without some of its clients must not be taken for those of all.
void PrintLeftOut(const v1::RunInfo& run, ConsolePage& page) {
  std::string label = "left out";
  for (const v1::LeftOutClient& client : run.left_out()) {
    const std::string name = client.client().empty() ? "a client" : Shortened(Printable(client.client()), 40);
    page.Labelled(label, absl::StrCat(name, ": ", Printable(absl::StrJoin(client.problems(), "; "))),
                  Tone::kError);
    label.clear();
  }
}

// "2 of 64 processors, the time of 0.5 by its CPU quota"
std::string ProcessorsText(const v1::ClientReport& client) {
  std::string text = Counted(client.processors(), "processor");
  if (client.host_processors() > client.processors()) {
    text = absl::StrCat(client.processors(), " of ", Counted(client.host_processors(), "processor"));
  }
  if (client.has_cpu_quota_processors()) {
    absl::StrAppend(&text, " (CPU quota: ", FormatCount(client.cpu_quota_processors()), ")");
  }
  return text;
}

// "512 MiB of 64 GiB (cgroup limit)"
std::string MemoryText(const v1::ClientReport& client) {
  const std::string own = FormatBytes(static_cast<double>(client.memory_bytes()));
  if (client.host_memory_bytes() <= client.memory_bytes()) return own;
  return absl::StrCat(own, " of ", FormatBytes(static_cast<double>(client.host_memory_bytes())), " (cgroup limit)");
}

std::string ClientText(const v1::ClientReport& client) {
  std::string text =
      absl::StrCat(Shortened(Printable(client.host()), 40), ": ", ProcessorsText(client), ", ", MemoryText(client));
  if (!client.kernel().empty()) absl::StrAppend(&text, ", kernel ", Printable(client.kernel()));
  absl::StrAppend(&text, ", clock ", Printable(client.clock()));
  if (!client.same_clock() && std::isfinite(client.clock_error_ns()))
    absl::StrAppend(&text, " +-", FormatSeconds(client.clock_error_ns() * 1e-9));
  return text;
}

// Returns "2026-11-23T03:00:00Z with phase 3; it was interrupted".
std::string ResumedText(const v1::Resumption& resumption) {
  std::string text = absl::StrCat(Printable(resumption.resumed_at()), " with phase ",
                                  resumption.first_phase() + 1, "; ", Printable(resumption.ended_by()));
  std::vector<std::string> again;
  for (const uint32_t phase : resumption.measured_again()) again.push_back(absl::StrCat(phase + 1));
  if (!again.empty())
    absl::StrAppend(&text, "; measured again for want of whole results: phase ", absl::StrJoin(again, ", "));
  for (const std::string& client : resumption.without())
    absl::StrAppend(&text, "; from then on without ", Printable(client));
  for (const std::string& difference : resumption.differences())
    absl::StrAppend(&text, "; ", Printable(difference));
  return text;
}

// "write, read and 3 more, each 5 times": the phases, and how often each runs.
std::string PhasesMeasured(const v1::Plan& plan) {
  constexpr size_t kMaxNamed = 8;
  std::vector<std::string> names;
  for (const v1::Phase& phase : plan.phases()) {
    std::string name = Printable(OperationNames(phase));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  const size_t shown = std::min(names.size(), kMaxNamed);
  std::string text = absl::StrJoin(names.begin(), names.begin() + static_cast<ptrdiff_t>(shown), ", ");
  if (shown < names.size()) absl::StrAppend(&text, " and ", names.size() - shown, " more");
  if (plan.phases_size() > static_cast<int>(names.size()))
    absl::StrAppend(&text, ", in ", Counted(plan.phases_size(), "phase"));
  if (plan.soak_s() > 0) return absl::StrCat(text, ", in rounds for ", FormatSeconds(plan.soak_s()));
  if (plan.has_until_steady())
    return absl::StrCat(text, ", in rounds until steady, at most ", FormatCount(plan.until_steady().max_rounds()));
  if (plan.repetitions() > 1)
    absl::StrAppend(&text, ", each ", FormatCount(plan.repetitions()), " times");
  if (IsLongSweep(plan)) absl::StrAppend(&text, ": a sweep, shown as tables");
  return text;
}

}  // namespace

std::string ConsoleHeader(const v1::RunReport& report, const ConsoleStyle& style) {
  const v1::RunInfo& run = report.run();
  ConsolePage page(style);
  page.Line({{absl::StrCat("cluster-iobench ", Printable(run.program_version())), Tone::kStrong},
             {absl::StrCat("run ", Printable(run.id())), Tone::kStrong},
             {Printable(run.started_at()), Tone::kQuiet}});
  if (!run.label().empty()) page.Labelled("label", Printable(run.label()), Tone::kStrong);
  PrintTargets(report, page);
  page.Labelled("measured", PhasesMeasured(run.plan()), Tone::kStrong);
  if (WorksOnData(run.plan())) page.Labelled("files", FilesText(report));
  if (const std::string trees = TreesText(run.plan()); !trees.empty()) page.Labelled("trees", trees);
  const bool full = style.detail == Detail::kFull;
  if (full || DataIsNotable(run.plan())) page.Labelled("data", DataText(run.plan()));
  if (const std::string passes = PassesText(run.plan()); !passes.empty()) page.Labelled("passes", passes);
  page.Labelled("where", Where(report));
  PrintServerFacts(run, page);
  PrintLeftOut(run, page);
  std::string label = "clients";
  const bool lists_clients = full && report.clients_size() <= kMaxClientsListed;
  for (int i = 0; lists_clients && i < report.clients_size(); ++i) {
    page.Labelled(label, ClientText(report.clients(i)), Tone::kQuiet);
    label.clear();
  }
  PrintDifferences(report, style.detail, page);
  for (const v1::Resumption& resumption : run.resumptions())
    page.Labelled("resumed", ResumedText(resumption));
  page.Labelled("command", Printable(run.command()));
  return page.Take();
}

}  // namespace iobench
