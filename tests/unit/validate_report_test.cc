// Validations in every format: a report made here, whose lines can be worked out by hand, and a fixed message.
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "coordinator/report/page/page_writer.h"
#include "coordinator/report/validate/validate_formats.h"
#include "tests/unit/console_text.h"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

v1::ValidateReport GoldenValidation() {
  v1::ValidateReport report;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(FileText(GoldenPath("validate.textproto")), &report));
  return report;
}

// A report of /mnt/nfs whose checks are added one by one.
class Validation {
 public:
  Validation() {
    report_.set_started_at("2026-03-01T10:15:00Z");
    report_.set_duration_s(31);
    report_.set_path("/mnt/nfs");
  }

  Validation& SeenBy(const std::string& host, uint32_t workers = 1) {
    report_.set_filesystem("nfs4");
    report_.set_mount_source("server:/export");
    v1::ValidateClient& client = *report_.add_clients();
    client.set_host(host);
    client.set_workers(workers);
    client.set_mount_options("rw,hard");
    return *this;
  }
  v1::ValidateCheck& Finds(const std::string& verdict, const std::string& name, const std::string& found) {
    v1::ValidateCheck& check = *report_.add_checks();
    check.set_name(name);
    check.set_verdict(verdict);
    check.set_found(found);
    check.set_duration_s(2);
    ++(*report_.mutable_counts())[verdict];
    return check;
  }
  v1::ValidateReport& report() { return report_; }

 private:
  v1::ValidateReport report_;
};

std::string Written(const char* format, const v1::ValidateReport& report, const ConsoleStyle& style = {}) {
  std::ostringstream out;
  REQUIRE((*ValidateFormatNamed(format))->write(report, style, out).ok());
  return out.str();
}

// The lines between the titles of the table and the counts.
std::vector<std::string> TextOfChecks(Validation& validation) {
  std::vector<std::string> lines = LinesOf(Written("text", validation.report()));
  REQUIRE(lines.size() >= 3);
  return {lines.begin() + 2, lines.end() - 1};
}

std::string LastLine(Validation& validation) {
  return LinesOf(Written("text", validation.report())).back();
}

using Lines = std::vector<std::string>;

TEST_CASE("the fixed validation is as it was looked at, in every format") {
  const auto [format, file] = GENERATE(table<const char*, const char*>(
      {{"text", "validate.txt"}, {"json", "validate.json"}, {"junit", "validate.junit.xml"}}));
  CheckGolden(file, Written(format, GoldenValidation()));
}

TEST_CASE("the first line of a validation says what was looked at, from where, and how thoroughly") {
  Validation one;
  CHECK(LinesOf(Written("text", one.SeenBy("c01").report()))[0] ==
        "validate /mnt/nfs: nfs4 from server:/export on 1 client, quick set");
  one.SeenBy("c02", 3).report().set_whole(true);
  CHECK(LinesOf(Written("text", one.report()))[0] ==
        "validate /mnt/nfs: nfs4 from server:/export on 2 clients, 4 workers, whole set");
  Validation unknown;
  CHECK(LinesOf(Written("text", unknown.report()))[0] == "validate /mnt/nfs: on 0 clients, quick set");
}

TEST_CASE("a check that passes is one line, whatever its evidence") {
  Validation validation;
  validation.Finds("pass", "mounts", "alike everywhere").add_evidence("c01, c02");
  CHECK(TextOfChecks(validation) == Lines{"  pass  mounts  alike everywhere"});
}

TEST_CASE("a failure stands out, with its evidence and what to do") {
  Validation validation;
  v1::ValidateCheck& check = validation.Finds("fail", "locks", "2 clients held one lock");
  check.add_evidence("c01 and c02: 3 of 40 times");
  check.add_evidence("c01 and c03: once");
  check.set_advice("mount without nolock");
  CHECK(TextOfChecks(validation) ==
        Lines{"  FAIL  locks  2 clients held one lock", "               - c01 and c02: 3 of 40 times",
              "               - c01 and c03: once", "               -> mount without nolock"});
}

TEST_CASE("a known failure has the reason of its waiver before the evidence") {
  Validation validation;
  v1::ValidateCheck& check = validation.Finds("known", "locks", "2 clients held one lock");
  check.set_waiver("nolock until June (OPS-13)");
  check.add_evidence("c01 and c02");
  CHECK(TextOfChecks(validation) == Lines{"  known  locks  2 clients held one lock",
                                          "                known: nolock until June (OPS-13)",
                                          "                - c01 and c02"});
}

TEST_CASE("a waiver that is no longer needed is pointed out") {
  Validation validation;
  validation.Finds("pass", "locks", "each lock had one holder").set_waiver("OPS-13");
  CHECK(TextOfChecks(validation) == Lines{"  pass  locks  each lock had one holder",
                                          "               passes now, although --waive names it: OPS-13"});
}

TEST_CASE("a skipped check says why, and nothing else") {
  Validation validation;
  validation.Finds("skipped", "durability", "needs --fault-hook CMD");
  CHECK(TextOfChecks(validation) == Lines{"  skipped  durability  needs --fault-hook CMD"});
}

TEST_CASE("verdicts and names of all checks are aligned") {
  Validation validation;
  validation.Finds("pass", "mounts", "alike");
  validation.Finds("skipped", "lock-reclaim", "needs 2 clients");
  validation.Finds("warn", "clocks", "2 s apart").set_advice("run chronyd");
  CHECK(TextOfChecks(validation) ==
        Lines{"  pass     mounts        alike", "  skipped  lock-reclaim  needs 2 clients",
              "  warn     clocks        2 s apart", "                         -> run chronyd"});
}

TEST_CASE("the last line counts the verdicts in a fixed order, without those that did not occur") {
  Validation validation;
  CHECK(LastLine(validation) == "no check ran in 31 s");
  validation.Finds("skipped", "a", "");
  validation.Finds("pass", "b", "");
  validation.Finds("pass", "c", "");
  CHECK(LastLine(validation) == "2 passed, 1 skipped in 31 s");
  validation.Finds("known", "d", "");
  validation.Finds("warn", "e", "");
  validation.Finds("fail", "f", "");
  CHECK(LastLine(validation) == "2 passed, 1 failed, 1 with warnings, 1 known, 1 skipped in 31 s");
  validation.Finds("follows", "g", "").set_follows_from("f");
  CHECK(LastLine(validation) ==
        "2 passed, 1 failed, 1 with warnings, 1 known, 1 following, 1 skipped in 31 s");
}

TEST_CASE("color is in the counts of a failed validation, and words are there without it") {
  Validation validation;
  validation.Finds("fail", "locks", "broken");
  ConsoleStyle style;
  style.color = true;
  CHECK(Contains(Written("text", validation.report(), style), "\033[31m1 failed in 31 s\033[0m"));
  CHECK(!Contains(Written("text", validation.report()), "\033"));
}

TEST_CASE("the JUnit suite of a validation counts failures and what was skipped or known") {
  Validation validation;
  validation.Finds("pass", "a", "well");
  validation.Finds("warn", "b", "slow");
  validation.Finds("fail", "c", "broken");
  validation.Finds("fail", "d", "broken too");
  validation.Finds("skipped", "e", "needs 2 clients");
  validation.Finds("known", "f", "broken for long").set_waiver("OPS-13");
  validation.Finds("follows", "g", "see d").set_follows_from("d");
  const std::string text = Written("junit", validation.report());
  CHECK(Contains(
      text,
      "<testsuite name=\"validate /mnt/nfs\" tests=\"7\" failures=\"2\" errors=\"0\" skipped=\"3\" time=\"14\" "
      "timestamp=\"2026-03-01T10:15:00\" hostname=\"localhost\">\n"));
  CHECK(Contains(text, "<skipped message=\"needs 2 clients\"/>"));
  CHECK(Contains(text, "<skipped message=\"known: OPS-13: broken for long\"/>"));
  CHECK(Contains(text, "<skipped message=\"follows from d: see d\"/>"));
}

TEST_CASE("a failure in JUnit has its evidence and advice, one per line") {
  Validation validation;
  v1::ValidateCheck& check = validation.Finds("fail", "locks", "broken");
  check.add_evidence("c01 and c02");
  check.set_advice("mount without nolock");
  CHECK(Contains(Written("junit", validation.report()),
                 "    <testcase name=\"locks\" classname=\"validate\" time=\"2\">\n"
                 "      <failure type=\"wrong\" message=\"broken\">broken\nc01 and c02\n"
                 "what to do: mount without nolock</failure>\n"
                 "    </testcase>\n"));
}

TEST_CASE("markup in names, findings and mount options is escaped in JUnit") {
  Validation validation;
  validation.SeenBy("<c01>").report().mutable_clients(0)->set_mount_options("rw,\"x\"");
  validation.report().set_path("/mnt/<a>&b");
  validation.Finds("fail", "locks", "\"<b>\" & c").add_evidence("</failure>");
  validation.Finds("known", "mmap", "").set_waiver("<w>");
  const std::string text = Written("junit", validation.report());
  CHECK(Contains(text, "<testsuite name=\"validate /mnt/&lt;a&gt;&amp;b\""));
  CHECK(Contains(text, "<property name=\"client.&lt;c01&gt;\" value=\"rw,&quot;x&quot;\"/>"));
  CHECK(Contains(
      text,
      "message=\"&quot;&lt;b&gt;&quot; &amp; c\">&quot;&lt;b&gt;&quot; &amp; c\n&lt;/failure&gt;</failure>"));
  CHECK(Contains(text, "message=\"known: &lt;w&gt;: \""));
}

TEST_CASE("a figure of a validation that is not known is null in JSON") {
  Validation validation;
  v1::ValidateFigure& figure = *validation.Finds("warn", "visibility", "never seen").add_figures();
  figure.set_name("seen_after_max_s");
  figure.set_value(NAN);
  figure.set_unit("s");
  CHECK(Contains(Written("json", validation.report()),
                 "{\"name\": \"seen_after_max_s\", \"value\": null, \"unit\": \"s\"}"));
}

// The page is left out of programs that were built without Node.js.
bool IsLeftOut(const ValidateFormat& format) {
  return !kHasPage && format.name == std::string("html");
}

TEST_CASE("no host, finding or reason moves the cursor, in any format of a validation") {
  Validation validation;
  const std::string hostile =
      "a\033[2Jb\xe2\x80\xae"
      "c\nd";
  validation.SeenBy(hostile).report().set_path(hostile);
  for (const char* const verdict : {"pass", "fail", "warn", "skipped", "known"}) {
    v1::ValidateCheck& check = validation.Finds(verdict, "locks", hostile);
    check.add_evidence(hostile);
    check.set_advice(hostile);
    check.set_waiver(hostile);
  }
  for (const ValidateFormat& format : ValidateFormats()) {
    if (IsLeftOut(format)) continue;
    const std::string text = Written(format.name, validation.report());
    INFO(format.name);
    CHECK(!Contains(text, "\033"));
    if (format.name != std::string("json")) CHECK(!Contains(text, "\xe2\x80\xae"));
  }
  CHECK(Contains(Written("text", validation.report()), "a?[2Jb?c?d"));
}

TEST_CASE("a full device is an error in every format of a validation") {
  for (const ValidateFormat& format : ValidateFormats()) {
    if (IsLeftOut(format)) continue;
    std::ostringstream out;
    out.setstate(std::ios::badbit);
    INFO(format.name);
    CHECK(absl::IsDataLoss(format.write(GoldenValidation(), ConsoleStyle{}, out)));
  }
}

TEST_CASE("a format that validations do not have is refused with those they have") {
  CHECK(ValidateFormatNamed("pdf").status().message() ==
        "validations have no format \"pdf\": use text, json, junit, html");
}

TEST_CASE("a program without the page says how to get that of a validation, and writes nothing") {
  std::ostringstream out;
  const absl::Status status = (*ValidateFormatNamed("html"))->write(GoldenValidation(), ConsoleStyle{}, out);
  if (kHasPage) {
    CHECK(status.ok());
    CHECK(out.str().starts_with("<!doctype html>"));
    CHECK(Contains(out.str(), "</html>"));
  } else {
    CHECK(absl::IsFailedPrecondition(status));
    CHECK(Contains(std::string(status.message()), "Node.js"));
    CHECK(out.str().empty());
  }
}

}  // namespace
}  // namespace iobench
