#include "coordinator/report/console/console_servers.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

// Rates below this are noise of the server's own housekeeping.
constexpr double kNotableBytesPerS = 1024;
constexpr double kNotableBusy = 0.005;
// How much busier than the mean a processor must be to be named.
constexpr double kNotableImbalance = 0.05;

// "112 MiB/s in, 1.2 MiB/s out": what is worth naming. Empty: nothing.
std::string TwoRates(double first, const char* first_word, double second, const char* second_word) {
  std::string text;
  if (first >= kNotableBytesPerS) absl::StrAppend(&text, FormatBytesPerSecond(first), " ", first_word);
  if (second < kNotableBytesPerS) return text;
  absl::StrAppend(&text, text.empty() ? "" : ", ", FormatBytesPerSecond(second), " ", second_word);
  return text;
}

std::string ProcessorText(const v1::ServerReport& server) {
  std::string text = absl::StrCat("CPU ", Percent(100 * server.cpu_busy()));
  if (server.busiest_processor() > server.cpu_busy() + kNotableImbalance) {
    absl::StrAppend(&text, " (busiest processor ", Percent(100 * server.busiest_processor()), ")");
  }
  return text;
}

std::string DiskText(const v1::ServerDisk& disk) {
  std::string text = absl::StrCat("disk ", Printable(disk.name()), " ", Percent(100 * disk.busy()), " busy");
  const std::string rates = TwoRates(disk.read_bytes_per_s(), "read", disk.write_bytes_per_s(), "written");
  return rates.empty() ? text : absl::StrCat(text, ", ", rates);
}

std::string NicText(const v1::ServerNic& nic) {
  const std::string rates = TwoRates(nic.receive_bytes_per_s(), "in", nic.send_bytes_per_s(), "out");
  std::string text = absl::StrCat("network ", Printable(nic.name()), " ", rates.empty() ? "idle" : rates);
  if (nic.link_bytes_per_s() == 0) return text;
  return absl::StrCat(text, " (", Percent(100 * LinkShare(nic)), " of its link)");
}

std::vector<std::string> NfsdTexts(const v1::ServerNfsd& nfsd) {
  std::vector<std::string> texts;
  if (nfsd.has_busy_threads()) {
    texts.push_back(absl::StrFormat("nfsd %.1f of %d threads busy, max %d", nfsd.busy_threads(),
                                    nfsd.threads(), nfsd.busy_threads_max()));
  }
  texts.push_back(absl::StrCat(FormatCount(nfsd.rpcs_per_s()), " RPCs/s"));
  const std::string rates = TwoRates(nfsd.read_bytes_per_s(), "sent", nfsd.write_bytes_per_s(), "received");
  if (!rates.empty()) texts.push_back(absl::StrCat("NFS data ", rates));
  return texts;
}

void PrintServer(const v1::ServerReport& server, Detail detail, ConsolePage& page) {
  std::vector<std::string> figures = {Printable(server.host())};
  if (server.has_cpu_busy()) figures.push_back(ProcessorText(server));
  if (!server.disks().empty() && server.disks(0).busy() >= kNotableBusy) {
    figures.push_back(DiskText(server.disks(0)));
  }
  if (!server.nics().empty()) figures.push_back(NicText(server.nics(0)));
  if (server.has_nfsd()) {
    for (std::string& text : NfsdTexts(server.nfsd())) figures.push_back(std::move(text));
  }
  page.Figures("server", figures);
  if (!server.problem().empty()) {
    page.Labelled("", absl::StrCat("sampler: ", Printable(server.problem())), Tone::kWarning);
  }
  if (detail == Detail::kBrief) return;
  std::vector<std::string> others;
  for (int i = 1; i < server.disks_size(); ++i) others.push_back(DiskText(server.disks(i)));
  for (int i = 1; i < server.nics_size(); ++i) others.push_back(NicText(server.nics(i)));
  if (!others.empty()) page.Figures("", others, Tone::kQuiet);
}

}  // namespace

void PrintServers(const v1::PhaseReport& phase, Detail detail, ConsolePage& page) {
  for (const v1::ServerReport& server : phase.servers()) PrintServer(server, detail, page);
}

}  // namespace iobench
