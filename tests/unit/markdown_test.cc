// The document to hand over. tests/cluster/test_acceptance.py reads it with a Markdown library.
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "catch2/catch.hpp"
#include "coordinator/report/markdown/markdown_text.h"
#include "coordinator/report/markdown/markdown_writer.h"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

std::string Written(const v1::RunReport& report) {
  std::ostringstream out;
  REQUIRE(WriteMarkdown(report, out).ok());
  return out.str();
}

TEST_CASE("the document of the golden report") {
  v1::RunReport report = GoldenReport();
  report.mutable_run()->set_label("Acceptance of storage 7 | <first> half");
  report.mutable_run()->set_program_sha256(std::string(64, 'a'));
  report.mutable_run()->set_plan_sha256(std::string(64, 'b'));
  v1::FileDigest& file = *report.add_files();
  file.set_name("raw/phase-000.pb");
  file.set_bytes(12345);
  file.set_sha256(std::string(64, 'c'));
  v1::CriterionReport& met = *report.add_criteria();
  met.set_criterion("write>=50MiB/s");
  met.set_phase("write");
  met.set_measured(62914560);
  met.set_limit(52428800);
  met.set_unit("B/s");
  met.set_met(true);
  v1::CriterionReport& undecided = *report.add_criteria();
  undecided.set_criterion("read:p99<=1ms");
  undecided.set_phase("read");
  undecided.set_measured(900);
  undecided.set_limit(1000);
  undecided.set_unit("us");
  undecided.set_problem("it is marked cached");
  CheckGolden("report.md", Written(report));
}

TEST_CASE("a report without anything is a document without empty tables") {
  const std::string text = Written(v1::RunReport());
  CHECK(absl::StrContains(text, "Not judged"));
  CHECK(absl::StrContains(text, "No phase was measured"));
  CHECK_FALSE(absl::StrContains(text, "| :--"));
}

TEST_CASE("each client alone and the servers have chapters of their own") {
  v1::RunReport report = GoldenReport();
  v1::PerClientReport& phase = *report.add_per_client();
  phase.set_phase("write");
  phase.set_sum_alone(150 << 20);
  phase.set_together(75 << 20);
  phase.set_scaling(0.5);
  phase.set_fairness(0.9);
  v1::PerClientRow& row = *phase.add_clients();
  row.set_client("slow|one");
  row.set_alone(50 << 20);
  row.set_of_others(0.5);
  row.set_outlier(true);
  row.set_together(40 << 20);
  report.mutable_run()->add_servers()->set_host("filer");
  v1::ServerReport& server = *report.mutable_phases(0)->add_servers();
  server.set_host("filer");
  server.set_cpu_busy(0.25);
  v1::ServerDisk& disk = *server.add_disks();
  disk.set_name("sda");
  disk.set_busy(0.97);
  disk.set_write_bytes_per_s(64 << 20);
  server.mutable_nfsd()->set_threads(8);
  server.mutable_nfsd()->set_busy_threads(7.5);
  report.mutable_phases(1)->add_servers()->set_problem("nothing was sampled");
  const std::string text = Written(report);
  CHECK(absl::StrContains(text, "| slow\\|one | 50 MiB/s | **50 %** | 40 MiB/s |"));
  CHECK(absl::StrContains(text, "| all | 150 MiB/s |  | 75 MiB/s |"));
  CHECK(absl::StrContains(
      text, "scaling: 50 % of the sum of each alone; slowest client 90 % of the mean while all work"));
  CHECK(absl::StrContains(text, "| filer | 25 % | sda | 97 % | 0 B/s | 64 MiB/s |"));
  CHECK(absl::StrContains(text, "7.5 of 8"));
  CHECK(absl::StrContains(text, "nothing was sampled"));
}

TEST_CASE("the parts of a mix have a chapter, with what they were asked for") {
  v1::RunReport report = GoldenReport();
  CHECK_FALSE(absl::StrContains(Written(report), "## Parts"));
  v1::PartReport& reads = *report.mutable_phases(0)->add_parts();
  reads.set_name("random-read|8 KiB");
  reads.set_worker_count(3);
  reads.set_bytes(1 << 30);
  reads.set_ops_per_s(810);
  reads.set_bytes_per_s(8 << 20);
  reads.mutable_latency_us()->set_count(1000);
  reads.mutable_latency_us()->set_p50(250);
  reads.mutable_latency_us()->set_p99(9000);
  reads.mutable_latency_us()->add_unsure("p99");
  v1::OpenLoopReport& loop = *reads.mutable_open_loop();
  loop.set_asked_ops_per_s(800);
  loop.mutable_service_us()->set_count(1000);
  loop.mutable_service_us()->set_p50(100);
  report.mutable_phases(0)->add_parts()->set_name("stat");
  const std::string text = Written(report);
  CHECK(absl::StrContains(text, "| random-read\\|8 KiB | 3 | 800 | 810 | 8 MiB/s | 250 us | ~9 ms |"));
  CHECK(absl::StrContains(text, "| stat | 0 |  | 0 |  | - | - |"));
}

TEST_CASE("no name ends a cell, begins another or becomes markup") {
  CHECK(MarkdownText("a|b") == "a\\|b");
  CHECK(MarkdownText("<script>&amp;") == "\\<script\\>\\&amp;");
  CHECK(MarkdownText("x\ny\x1b[31m`*_~") == "x?y?\\[31m\\`\\*\\_\\~");
  CHECK(MarkdownText("http://www.example") == "http\\://www\\.example");
  CHECK(MarkdownText("back\\|slash") == "back\\\\\\|slash");
}

TEST_CASE("every row of a table has as many cells as its title") {
  v1::RunReport report = GoldenReport();
  for (v1::ClientReport& client : *report.mutable_clients()) client.set_host("a|b||c\\|<td>\n|");
  size_t columns = 0;
  for (const auto& line : absl::StrSplit(Written(report), '\n')) {
    const std::string row(line);
    if (!row.starts_with("|")) {
      columns = 0;
      continue;
    }
    size_t bars = 0;
    for (size_t i = 0; i < row.size(); ++i) {
      if (row[i] == '\\') {
        ++i;  // escaped
      } else if (row[i] == '|') {
        ++bars;
      }
    }
    if (columns == 0) columns = bars;
    INFO(row);
    CHECK(bars == columns);
  }
}

TEST_CASE("code shows backticks and cannot be left by them") {
  CHECK(CodeBlock("a ``` b") == "````text\na ``` b\n````\n");
  CHECK(CodeBlock("plain\x1b\nline") == "```text\nplain?\nline\n```\n");
}

}  // namespace
}  // namespace iobench
