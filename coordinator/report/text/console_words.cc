#include "coordinator/report/text/console_words.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/model/metadata_operation.h"
#include "common/model/phase_files.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/phase_name.h"
#include "common/text/units.h"

namespace iobench {
namespace {

constexpr size_t kHostColumns = 40;  // of a name within a sentence

bool IsOfWholePhase(const v1::Mark& mark) {
  return mark.subject().empty() || mark.subject() == "phase";
}

// Combines marks with the same text without comparing each with all others, since a run may have thousands.
class MarkGroups {
 public:
  void Add(const v1::Mark& mark, const std::string& subject) {
    const std::string code = Printable(mark.code()), text = Printable(mark.text());
    const auto [known, is_new] = number_of_.try_emplace({code, text, subject.empty()}, groups_.size());
    if (is_new) groups_.push_back({code, text, {}});
    if (subject.empty()) return;
    std::string shown = Shortened(Printable(subject), kHostColumns);
    if (named_.insert({known->second, shown}).second) {
      groups_[known->second].subjects.push_back(std::move(shown));
    }
  }
  std::vector<GroupedMark> Take() { return std::move(groups_); }

 private:
  std::vector<GroupedMark> groups_;
  std::map<std::tuple<std::string, std::string, bool>, size_t>
      number_of_;  // by code and text, for the whole phase
  std::set<std::pair<size_t, std::string>> named_;
};

}  // namespace

std::string Percent(double percent) {
  if (!std::isfinite(percent)) return "-";
  const double magnitude = std::fabs(percent);
  if (magnitude > 0 && magnitude < 0.001) return percent > 0 ? "< 0.001 %" : "0 %";
  std::string text = absl::StrFormat("%.*f",
                                     magnitude >= 99.95 || magnitude == 0 ? 0
                                     : magnitude < 0.1                    ? 3
                                                                          : 1,
                                     percent);
  if (text.find('.') != std::string::npos) text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " %";
}

std::string Microseconds(double us) {
  return FormatSeconds(us * 1e-6);
}

bool IsUnsure(const v1::Latency& latency, std::string_view percentile) {
  return std::find(latency.unsure().begin(), latency.unsure().end(), percentile) != latency.unsure().end();
}

std::string PercentileText(const v1::Latency& latency, std::string_view percentile, double us) {
  if (latency.count() == 0) return "-";
  return absl::StrCat(IsUnsure(latency, percentile) ? "~" : "", Microseconds(us));
}

std::string OpsPerSecond(double rate) {
  return std::isfinite(rate) ? absl::StrCat(FormatCount(rate), " ops/s") : "-";
}

std::string RateText(bool in_ops, double bytes_per_s, double ops_per_s) {
  return in_ops ? OpsPerSecond(ops_per_s) : FormatBytesPerSecond(bytes_per_s);
}

std::vector<RecordShare> RecordSharesOf(const v1::RunReport& report, const v1::PhaseReport& phase) {
  const v1::Phase* const planned = PlannedPhase(report.run().plan(), phase);
  // Those of the first assignment, as the phase's record_bytes.
  return planned == nullptr || planned->assignments().empty() ? std::vector<RecordShare>()
                                                             : RecordSharesOf(planned->assignments(0).operation());
}

std::string RecordSizesText(const v1::RunReport& report, const v1::PhaseReport& phase) {
  const std::vector<RecordShare> shares = RecordSharesOf(report, phase);
  return shares.empty() ? FormatBytes(static_cast<double>(phase.record_bytes())) : RecordShareText(shares);
}

std::string ItemsText(const std::string& operation, const v1::Tree& tree) {
  std::string word(ItemsWordOf(operation));
  if (tree.items_per_lane() == 1) word.pop_back();  // its plural is regular
  return absl::StrCat(FormatCount(static_cast<double>(tree.items_per_lane())), " ", word,
                      HasItemsPerLane(operation) ? " per lane" : ", the same for all lanes");
}

std::string TreeText(const std::string& operation, const v1::Tree& tree) {
  std::string text = ItemsText(operation, tree);
  if (tree.depth() > 0) {
    absl::StrAppend(&text, " in ", tree.shared_directory() ? "one shared tree" : "a tree", " of depth ",
                    tree.depth(), ", ", tree.branching(), " directories in each");
  } else if (tree.shared_directory()) {
    absl::StrAppend(&text, " in one shared directory");
  }
  if (!tree.sizes().empty()) {
    absl::StrAppend(&text, ", file sizes ", Printable(tree.sizes()), ", up to ",
                    FormatBytes(static_cast<double>(tree.file_bytes())));
  } else if (tree.file_bytes() > 0) {
    absl::StrAppend(&text, ", files of ",
                    tree.random_sizes()
                        ? absl::StrCat(FormatBytes(static_cast<double>(tree.min_file_bytes())), " to ")
                        : std::string(),
                    FormatBytes(static_cast<double>(tree.file_bytes())));
  }
  if (tree.random_order()) absl::StrAppend(&text, ", in random order");
  return text;
}

std::string MpiIoText(const v1::MpiIoFacts& facts) {
  std::string text = "each lane alone";
  if (facts.collective()) {
    const auto& aggregators = facts.aggregator_workers();
    text = absl::StrCat("collective, ", Counted(static_cast<int64_t>(facts.ranks()), "rank"), ", ",
                        aggregators.empty() ? "aggregators unknown" : Counted(aggregators.size(), "aggregator"));
  }
  return facts.view() ? text + ", through views" : text;
}

std::string PhaseTitle(const v1::RunReport& report, const v1::PhaseReport& phase) {
  std::string text = PhaseNameAlone(report, phase);
  if (!phase.name().empty() && !absl::StartsWith(phase.name(), phase.operation()))
    absl::StrAppend(&text, " (", Printable(phase.operation()), ")");
  if (!phase.first_pass().headline().empty()) absl::StrAppend(&text, ", ", Printable(phase.first_pass().headline()));
  return text;
}

std::string NameOfAll(const v1::PhaseReport& phase) {
  return Printable(phase.name().empty() ? phase.operation() : phase.name());
}

std::string PhaseNameAlone(const v1::RunReport& report, const v1::PhaseReport& phase) {
  return NameInRun(NameOfAll(phase), phase.repetition(), report.run().plan().repetitions(),
                   RunsInRounds(report.run().plan()));
}

std::string LaneName(std::string_view host, int64_t worker, int64_t lane) {
  std::string name = Shortened(Printable(host), kHostColumns);
  if (worker >= 0) absl::StrAppend(&name, name.empty() ? "" : " ", "worker ", worker);
  if (lane >= 0) absl::StrAppend(&name, name.empty() ? "" : " ", "lane ", lane);
  return name;
}

const v1::NfsKindReport* CommitsIn(const v1::NfsRpcReport& rpc) {
  const auto found = rpc.kinds().find("COMMIT");
  return found != rpc.kinds().end() && found->second.rpcs() > 0 ? &found->second : nullptr;
}

std::string MissingPhaseText(const v1::RunReport& report, const v1::MissingPhase& phase) {
  const v1::Plan& plan = report.run().plan();
  const std::string name = phase.name().empty()
                               ? ""
                               : absl::StrCat(", ", NameInRun(phase.name(), phase.repetition(),
                                                              plan.repetitions(), RunsInRounds(plan)));
  return Printable(
      absl::StrCat("phase ", phase.index() + 1, name, ": ", phase.file(), ": ", phase.problem()));
}

namespace {

std::string ErrorTextOf(const v1::ErrorReport& error, std::string text) {
  const std::string message = Printable(error.message());
  // Messages usually contain the file themselves.
  if (!error.file().empty() && error.message().find(error.file()) == std::string::npos) {
    absl::StrAppend(&text, text.empty() ? "" : ": ", Printable(error.operation()),
                    error.operation().empty() ? "" : " ", Printable(error.file()));
    // The message of an op's error contains the offset too. 0: not about an op, such as a lost connection.
    if (error.offset() != 0) absl::StrAppend(&text, " at ", FormatBytes(static_cast<double>(error.offset())));
  }
  absl::StrAppend(&text, text.empty() ? "" : ": ", message);
  if (error.errno_value() != 0 && error.message().find(ErrnoName(error.errno_value())) == std::string::npos) {
    absl::StrAppend(&text, " (", ErrnoName(error.errno_value()), ")");
  }
  return text;
}

}  // namespace

std::string ErrorText(const v1::ErrorReport& error) {
  return ErrorTextOf(error, LaneName(error.client(), error.worker(), error.lane()));
}

std::vector<std::string> ErrorTexts(const google::protobuf::RepeatedPtrField<v1::ErrorReport>& errors, size_t max_texts) {
  struct Alike {
    const v1::ErrorReport* first;
    size_t count;
  };
  std::vector<Alike> kinds;
  std::map<std::tuple<std::string, std::string, uint64_t, std::string>, size_t> kind_of;
  for (const v1::ErrorReport& error : errors) {
    const auto [at, is_new] =
        kind_of.try_emplace({error.operation(), error.file(), error.offset(), error.message()}, kinds.size());
    if (is_new) kinds.push_back({&error, 0});
    ++kinds[at->second].count;
  }
  std::vector<std::string> texts;
  size_t told = 0;
  for (const Alike& kind : kinds) {
    if (texts.size() == max_texts) break;
    std::string name = LaneName(kind.first->client(), kind.first->worker(), kind.first->lane());
    if (kind.count > 1) absl::StrAppend(&name, name.empty() ? "" : " ", "and ", kind.count - 1, " more");
    texts.push_back(ErrorTextOf(*kind.first, std::move(name)));
    told += kind.count;
  }
  const size_t all = static_cast<size_t>(errors.size());
  if (told < all) texts.push_back(absl::StrCat("and ", all - told, " more in result.json"));
  return texts;
}

std::vector<ReadPart> ReadPartsOf(const v1::ReadSources& sources) {
  const bool is_split = sources.has_server_memory_bytes() && sources.has_server_disk_bytes();
  std::vector<ReadPart> parts = {{"server", is_split ? 0 : sources.server_bytes()},
                                 {"server's memory", is_split ? sources.server_memory_bytes() : 0},
                                 {"server's disk", is_split ? sources.server_disk_bytes() : 0},
                                 {"disk", sources.disk_bytes()},
                                 {"client's memory", sources.cache_bytes()},
                                 {"holes", sources.hole_bytes()},
                                 {"not known", sources.unknown_bytes()}};
  std::erase_if(parts, [](const ReadPart& part) { return part.bytes == 0; });
  return parts;
}

std::string ReadPartsText(const v1::ReadSources& sources) {
  std::vector<std::string> texts;
  for (const ReadPart& part : ReadPartsOf(sources)) {
    const auto bytes = static_cast<double>(part.bytes);
    texts.push_back(absl::StrCat(std::string(part.source), " ", FormatBytes(bytes), " (",
                                 Percent(100 * bytes / static_cast<double>(sources.asked_bytes())), ")"));
  }
  return absl::StrJoin(texts, ", ");
}

std::string NfsServerText(const v1::NfsServerSetup& setup) {
  std::string text = absl::StrCat("kernel NFS server: ", setup.versions_size() == 1 ? "version " : "versions ",
                                  Printable(absl::StrJoin(setup.versions(), ", ")), ", ", setup.threads(),
                                  setup.threads() == 1 ? " thread" : " threads");
  if (setup.has_lease_s()) absl::StrAppend(&text, ", lease ", setup.lease_s(), " s");
  if (setup.has_grace_s()) absl::StrAppend(&text, ", grace ", setup.grace_s(), " s");
  if (setup.in_grace()) absl::StrAppend(&text, " (now)");
  if (setup.has_max_block_bytes())
    absl::StrAppend(&text, ", blocks up to ", FormatBytes(static_cast<double>(setup.max_block_bytes())));
  return text;
}

std::string NfsExportText(const v1::NfsExport& exported) {
  std::string text = absl::StrCat("exports ", Printable(exported.path()), " to ", Printable(exported.clients()), " (",
                                  Printable(exported.options()), ")");
  if (exported.filesystem().empty()) return text;
  absl::StrAppend(&text, " from ", Printable(exported.filesystem()));
  if (!exported.device().empty()) absl::StrAppend(&text, " on ", Printable(exported.device()));
  if (exported.block_bytes() > 0) absl::StrAppend(&text, ", blocks of ", FormatBytes(exported.block_bytes()));
  return text;
}

std::vector<GroupedMark> MarksOf(const v1::PhaseReport& phase) {
  MarkGroups groups;
  for (const auto& mark : phase.marks()) groups.Add(mark, IsOfWholePhase(mark) ? "" : mark.subject());
  for (const auto& client : phase.clients()) {
    for (const auto& mark : client.marks()) {
      groups.Add(mark, IsOfWholePhase(mark) ? client.host() : mark.subject());
    }
  }
  return groups.Take();
}

}  // namespace iobench
