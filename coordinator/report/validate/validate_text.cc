// A validation for people: one line per check, and what to do below those that failed.
#include <string>

#include "absl/strings/str_cat.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/report/console/console_page.h"
#include "coordinator/report/flush_report.h"
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
  return absl::StrCat(
      "validate ", Printable(report.path()), ": ",
      report.filesystem().empty() ? "" : absl::StrCat(Printable(report.filesystem()), " "),
      report.mount_source().empty() ? "" : absl::StrCat("from ", Printable(report.mount_source()), " "),
      "on ", clients, clients == 1 ? " client" : " clients",
      workers > static_cast<uint32_t>(clients) ? absl::StrCat(", ", workers, " workers") : "",
      report.whole() ? ", whole set" : ", quick set");
}

// "14 passed, 1 failed, 2 skipped in 31 s"
std::string CountsOf(const v1::ValidateReport& report) {
  static constexpr std::pair<const char*, const char*> kWords[] = {{"pass", "passed"},
                                                                   {"fail", "failed"},
                                                                   {"warn", "with warnings"},
                                                                   {"known", "known"},
                                                                   {"skipped", "skipped"}};
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
  ConsolePage page(style);
  const bool failed = report.counts().contains("fail");
  page.Line({{HeadOf(report), Tone::kStrong}});
  page.Table(table);
  page.Line({{CountsOf(report), failed ? Tone::kError : Tone::kStrong}});
  out << page.Take();
  return Flush(out, "text");
}

}  // namespace iobench
