// A validation for people: one line per check, and what to do below those that failed; then the facts.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/report/console/console_page.h"
#include "coordinator/report/flush_report.h"
#include "coordinator/report/text/console_words.h"
#include "coordinator/report/text/text_table.h"
#include "coordinator/report/validate/validate_formats.h"

namespace iobench {
namespace {

bool NeedsAttention(const v1::ValidateCheck& check) {
  return check.verdict() == "fail" || check.verdict() == "warn" || check.verdict() == "known";
}

// Failures stand out also without color.
std::string VerdictWord(const v1::ValidateCheck& check) {
  return check.verdict() == "fail" ? "FAIL" : check.verdict();
}

std::string HeadOf(const v1::ValidateReport& report) {
  uint32_t workers = 0;
  for (const v1::ValidateClient& client : report.clients()) workers += client.workers();
  const int clients = report.clients_size();
  const bool has_others = std::any_of(
      report.clients().begin(), report.clients().end(), [&report](const v1::ValidateClient& client) {
        return !client.mount_source().empty() && client.mount_source() != report.mount_source();
      });
  return absl::StrCat("validate ", Printable(report.path()), ": ",
                      report.filesystem().empty() ? "" : absl::StrCat(Printable(report.filesystem()), " "),
                      report.mount_source().empty() ? ""
                                                    : absl::StrCat("from ", Printable(report.mount_source()),
                                                                   has_others ? " and others " : " "),
                      "on ", clients, clients == 1 ? " client" : " clients",
                      workers > static_cast<uint32_t>(clients) ? absl::StrCat(", ", workers, " workers") : "",
                      report.whole() ? ", whole set" : ", quick set");
}

// "14 passed, 1 failed, 2 skipped in 31 s"
std::string CountsOf(const v1::ValidateReport& report) {
  static constexpr std::pair<const char*, const char*> kWords[] = {
      {"pass", "passed"}, {"fail", "failed"},       {"warn", "with warnings"},
      {"known", "known"}, {"follows", "following"}, {"skipped", "skipped"}};
  std::string text;
  for (const auto& [verdict, word] : kWords) {
    const auto count = report.counts().find(verdict);
    if (count == report.counts().end() || count->second == 0) continue;
    absl::StrAppend(&text, text.empty() ? "" : ", ", count->second, " ", word);
  }
  return absl::StrCat(text.empty() ? "no check ran" : text, " in ", FormatSeconds(report.duration_s()));
}

}  // namespace

absl::Status WriteValidateText(const v1::ValidateReport& report, const ConsoleStyle& style,
                               std::ostream& out) {
  using Align = TextTable::Align;
  TextTable table(
      {{"", Align::kLeft}, {"check", Align::kLeft}, {"what was found -> what to do", Align::kLeft}});
  for (const v1::ValidateCheck& check : report.checks()) {
    table.AddRow({VerdictWord(check), check.name(), Printable(check.found())});
    if (!check.waiver().empty()) {
      const char* const how =
          check.verdict() == "known" ? "known: " : "passes now, although --waive names it: ";
      table.AddRow({"", "", absl::StrCat(how, Printable(check.waiver()))});
    }
    if (!NeedsAttention(check)) continue;
    for (const std::string& line : check.evidence())
      table.AddRow({"", "", absl::StrCat("- ", Printable(line))});
    if (!check.advice().empty()) table.AddRow({"", "", absl::StrCat("-> ", Printable(check.advice()))});
  }
  TextTable facts({{"fact of the file system", Align::kLeft},
                   {"answer -> what programs must know", Align::kLeft},
                   {"decided by", Align::kLeft}});
  for (const v1::ValidateFact& fact : report.facts()) {
    const std::string clients = absl::StrJoin(fact.clients(), ", ");
    facts.AddRow({Printable(fact.title()),
                  absl::StrCat(Printable(fact.answer()),
                               clients.empty() ? "" : absl::StrCat(" (", Printable(clients), ")")),
                  Printable(fact.decided_by())});
    if (!fact.advice().empty()) facts.AddRow({"", absl::StrCat("-> ", Printable(fact.advice())), ""});
  }
  ConsolePage page(style);
  const bool failed = report.counts().contains("fail");
  page.Line({{HeadOf(report), Tone::kStrong}});
  page.Table(table);
  if (report.facts_size() > 0) page.Table(facts);
  for (const v1::ServerFacts& server : report.servers()) {
    page.Labelled("server", absl::StrCat(Printable(server.host()), ": ", Printable(server.kernel()),
                                         server.has_nfs() ? ", " : "",
                                         server.has_nfs() ? NfsServerText(server.nfs()) : ""));
    for (const v1::NfsExport& exported : server.nfs().exports()) page.Labelled("", NfsExportText(exported));
  }
  page.Line({{CountsOf(report), failed ? Tone::kError : Tone::kStrong}});
  out << page.Take();
  return Flush(out, "text");
}

}  // namespace iobench
