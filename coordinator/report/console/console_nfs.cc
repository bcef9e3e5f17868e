#include "coordinator/report/console/console_nfs.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/display_text.h"
#include "common/text/number_words.h"
#include "common/text/units.h"
#include "coordinator/report/console/console_report.h"
#include "coordinator/report/result_files.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

constexpr int kMaxKindsShown = 8;
constexpr int kMaxDifferencesBrief = 4;
constexpr int kMaxDifferencesFull = 40;
constexpr int kMaxClientsNamed = 4;

std::string Rpcs(uint64_t count) {
  return absl::StrCat(FormatCount(static_cast<double>(count)), count == 1 ? " RPC" : " RPCs");
}

std::string Ms(double ms) {
  return std::isfinite(ms) ? FormatSeconds(ms * 1e-3) : "-";
}

std::string Times(double number) {
  return FormatSignificant(number, 3);
}

// The mean latency of the ops that a kind of request serves; empty: there are none.
std::string OwnLatency(const v1::PhaseReport& phase, const std::string& kind) {
  const auto found = phase.by_kind().find(kind == "READ" ? "read" : kind == "WRITE" ? "write" : "");
  if (found == phase.by_kind().end() || found->second.latency_us().count() == 0) return "";
  return absl::StrCat("our ", found->first, phase.has_open_loop() ? " response" : "", " mean ", Microseconds(found->second.latency_us().mean()));
}

void PrintKinds(const v1::PhaseReport& phase, ConsolePage& page) {
  std::vector<std::pair<std::string, const v1::NfsKindReport*>> kinds;
  for (const auto& [name, kind] : phase.nfs_rpc().kinds()) kinds.emplace_back(name, &kind);
  std::sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
    return a.second->rpcs() != b.second->rpcs() ? a.second->rpcs() > b.second->rpcs() : a.first < b.first;
  });
  for (size_t i = 0; i < kinds.size() && i < kMaxKindsShown; ++i) {
    const auto& [name, kind] = kinds[i];
    std::vector<std::string> figures = {
        absl::StrCat(Printable(name), " ", FormatCount(static_cast<double>(kind->rpcs()))),
        absl::StrCat(Times(kind->rpcs_per_op()), " per op"), absl::StrCat("queue ", Ms(kind->queue_ms())),
        absl::StrCat("round trip ", Ms(kind->round_trip_ms())),
        absl::StrCat("execute ", Ms(kind->execute_ms()))};
    if (std::string own = OwnLatency(phase, name); !own.empty()) figures.push_back(std::move(own));
    if (kind->errors() > 0) figures.push_back(Counted(static_cast<int64_t>(kind->errors()), "error"));
    page.Figures("", figures, Tone::kQuiet);
  }
}

// "900 KiB per READ (rsize 1 MiB)"
void AddSize(const char* kind, double bytes_per_rpc, bool has_limit, const char* option, uint64_t limit,
             std::vector<std::string>& figures) {
  if (!std::isfinite(bytes_per_rpc)) return;
  std::string text = absl::StrCat(FormatBytes(bytes_per_rpc), " per ", kind);
  if (has_limit) absl::StrAppend(&text, " (", option, " ", FormatBytes(static_cast<double>(limit)), ")");
  figures.push_back(std::move(text));
}

void PrintRpcSizes(const v1::NfsRpcReport& rpc, ConsolePage& page) {
  std::vector<std::string> figures;
  AddSize("READ", rpc.read_bytes_per_rpc(), rpc.has_rsize_bytes(), "rsize", rpc.rsize_bytes(), figures);
  AddSize("WRITE", rpc.write_bytes_per_rpc(), rpc.has_wsize_bytes(), "wsize", rpc.wsize_bytes(), figures);
  if (std::isfinite(rpc.commits_per_write())) {
    figures.push_back(absl::StrCat(Times(rpc.commits_per_write()), " COMMIT per WRITE"));
  }
  if (std::isfinite(rpc.rpcs_per_op())) {
    figures.push_back(absl::StrCat(Times(rpc.rpcs_per_op()), " RPCs of all kinds per op"));
  }
  if (!figures.empty()) page.Figures("", figures, Tone::kQuiet);
}

void PrintConnections(const v1::NfsRpcReport& rpc, ConsolePage& page) {
  if (rpc.connections() == 0) return;
  std::vector<std::string> figures = {Counted(rpc.connections(), "connection"),
                                      absl::StrCat(Times(rpc.in_flight()), " RPCs in flight"),
                                      absl::StrCat(Times(rpc.backlog()), " waiting for a slot")};
  if (rpc.has_max_slots()) figures.push_back(absl::StrCat("most slots in use ", rpc.max_slots()));
  if (std::isfinite(rpc.connection_cov())) {
    figures.push_back(
        absl::StrCat("sends vary by ", Percent(100 * rpc.connection_cov()), " between connections"));
  }
  page.Figures("", figures, Tone::kQuiet);
}

// What should not happen. Empty: it did not.
std::vector<std::string> Troubles(const v1::NfsRpcReport& rpc) {
  std::vector<std::string> troubles;
  const auto add = [&troubles](uint64_t count, const char* noun) {
    if (count > 0) troubles.push_back(Counted(static_cast<int64_t>(count), noun));
  };
  add(rpc.errors(), "error");
  add(rpc.delays(), "delay");
  add(rpc.short_reads(), "short READ");
  add(rpc.short_writes(), "short WRITE");
  add(rpc.reconnects(), "reconnect");
  add(rpc.bad_xids(), "unexpected reply");
  return troubles;
}

}  // namespace

void PrintNfs(const v1::PhaseReport& phase, Detail detail, ConsolePage& page) {
  if (!phase.has_nfs_rpc()) return;
  const v1::NfsRpcReport& rpc = phase.nfs_rpc();
  if (rpc.rpcs() == 0) {
    page.Labelled("nfs", "no READ, WRITE or COMMIT was sent to a server", Tone::kQuiet);
  } else {
    std::vector<std::string> figures = {
        absl::StrCat(Rpcs(rpc.rpcs()), " (READ, WRITE, COMMIT)"), absl::StrCat("queue ", Ms(rpc.queue_ms())),
        absl::StrCat("round trip ", Ms(rpc.round_trip_ms())),
        Counted(static_cast<int64_t>(rpc.retransmissions()), "retransmission")};
    if (rpc.major_timeouts() > 0) {
      figures.push_back(Counted(static_cast<int64_t>(rpc.major_timeouts()), "major timeout"));
    }
    page.Figures("nfs", figures);
  }
  if (detail == Detail::kBrief) return;
  PrintKinds(phase, page);
  PrintRpcSizes(rpc, page);
  PrintConnections(rpc, page);
  if (rpc.pnfs_reads() + rpc.pnfs_writes() > 0) {
    page.Figures(
        "",
        {absl::StrCat("pNFS: ", FormatCount(static_cast<double>(rpc.pnfs_reads())), " reads"),
         absl::StrCat(FormatCount(static_cast<double>(rpc.pnfs_writes())), " writes went to data servers")},
        Tone::kQuiet);
  }
  if (const std::vector<std::string> troubles = Troubles(rpc); !troubles.empty()) {
    page.Figures("", troubles, Tone::kWarning);
  }
}

void PrintDifferences(const v1::RunReport& report, Detail detail, ConsolePage& page) {
  const int most = detail == Detail::kBrief ? kMaxDifferencesBrief : kMaxDifferencesFull;
  std::string label = "differ";
  for (int i = 0; i < report.differences_size() && i < most; ++i) {
    const v1::ClientDifference& difference = report.differences(i);
    std::vector<std::string> names;
    for (int n = 0; n < difference.clients_size() && n < kMaxClientsNamed; ++n) {
      names.push_back(Printable(difference.clients(n)));
    }
    std::string clients = absl::StrJoin(names, ", ");
    if (difference.clients_size() > kMaxClientsNamed) {
      absl::StrAppend(&clients, " and ", difference.clients_size() - kMaxClientsNamed, " more");
    }
    page.Labelled(label,
                  absl::StrCat(Printable(difference.what()), " is ", Printable(difference.value()), " on ",
                               clients, ", ", Printable(difference.usual()), " on ",
                               Counted(difference.usual_clients(), "other client")),
                  Tone::kWarning);
    label.clear();
  }
  if (report.differences_size() > most) {
    page.Labelled("", absl::StrCat("and ", report.differences_size() - most, " more in ", kResultJson),
                  Tone::kWarning);
  }
}

}  // namespace iobench
