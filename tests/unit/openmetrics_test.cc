// OpenMetrics text: escaping, families, and which figures have samples.
#include <limits>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "catch2/catch.hpp"
#include "coordinator/report/openmetrics/metric_text.h"
#include "coordinator/report/openmetrics/openmetrics_writer.h"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

using Catch::Contains;

std::string MetricsOf(const v1::RunReport& report) {
  std::ostringstream out;
  REQUIRE(WriteOpenMetrics(report, out).ok());
  return out.str();
}

TEST_CASE("labels escape what the format escapes, and control characters are made printable") {
  CHECK(MetricLabel("client", "node01") == R"(client="node01")");
  CHECK(MetricLabel("client", "a\"b\\c\nd") == R"(client="a\"b\\c\nd")");
  CHECK(MetricLabel("client", "\n") == R"(client="\n")");
  CHECK(MetricLabel("client", "\x1b[31m") == R"(client="?[31m")");
  CHECK(MetricLabel("client", "") == R"(client="")");
}

TEST_CASE("a family has its type, unit and help before its samples, and an unknown value has none") {
  std::ostringstream out;
  MetricWriter writer(out);
  writer.Begin({"a_seconds", "gauge", "seconds", "How \"long\""});
  writer.Add("x=\"1\"", 0.1);
  writer.Add("x=\"2\"", std::numeric_limits<double>::quiet_NaN());
  writer.Begin({"b", "info", "", "What"});
  writer.Add("", 1, "_info");
  writer.End();
  CHECK(out.str() ==
        "# TYPE a_seconds gauge\n# UNIT a_seconds seconds\n# HELP a_seconds How \\\"long\\\"\n"
        "a_seconds{x=\"1\"} 0.1\n"
        "# TYPE b info\n# HELP b What\nb_info 1\n# EOF\n");
}

TEST_CASE("times are in seconds with the digits of the message") {
  v1::RunReport report;
  report.mutable_run()->set_id("r");
  v1::PhaseReport& phase = *report.add_phases();
  phase.set_name("write");
  phase.mutable_latency_us()->set_count(3);
  phase.mutable_latency_us()->set_p50(123.457);
  phase.mutable_headline()->set_bytes_per_s(1048576);
  const std::string text = MetricsOf(report);
  constexpr char kLabels[] =
      R"({run="r",phase_index="0",repetition="0",phase="write",operation="",record_bytes="0")";
  CHECK_THAT(text, Contains(std::string("\niobench_phase_latency_seconds") + kLabels +
                            R"(,quantile="0.5"} 0.000123457)" + "\n"));
  CHECK_THAT(text, Contains(std::string("\niobench_phase_latency_seconds_count") + kLabels + "} 3\n"));
  CHECK_THAT(text, Contains(std::string("\niobench_phase_bytes_per_second") + kLabels + "} 1048576\n"));
}

TEST_CASE("an operation on names that moves no data has ops per second, but no bytes per second") {
  v1::RunReport report;
  v1::PhaseReport& phase = *report.add_phases();
  phase.set_metadata(true);
  phase.mutable_headline()->set_ops_per_s(500);
  const std::string text = MetricsOf(report);
  CHECK_THAT(text, Contains("\niobench_phase_ops_per_second{"));
  CHECK_THAT(text, !Contains("\niobench_phase_bytes_per_second{"));
}

TEST_CASE("where a phase's bytes came from has a sample for each source, as far as it is known") {
  v1::RunReport report;
  v1::ReadSources& sources = *report.add_phases()->mutable_read_sources();
  sources.set_asked_bytes(30);
  sources.set_server_bytes(20);
  sources.set_cache_bytes(10);
  CHECK_THAT(MetricsOf(report), Contains("source=\"server\"} 20\n") && Contains("source=\"client's memory\"} 10\n"));
  sources.set_server_memory_bytes(5);
  sources.set_server_disk_bytes(15);
  CHECK_THAT(MetricsOf(report), Contains("source=\"server's memory\"} 5\n") && !Contains("source=\"server\"}"));
}

TEST_CASE("flush calls have summaries of their own, by phase and by client") {
  v1::RunReport report;
  v1::PhaseReport& phase = *report.add_phases();
  CHECK_THAT(MetricsOf(report), !Contains("flush_call"));
  (*phase.mutable_by_kind())["write"].mutable_latency_us()->set_count(9);
  CHECK_THAT(MetricsOf(report), !Contains("flush_call"));
  v1::Latency& fsync = *(*phase.mutable_by_kind())["fsync"].mutable_latency_us();
  fsync.set_count(3);
  fsync.set_p99_99(2500);
  v1::ClientPhaseReport& client = *phase.add_clients();
  client.set_host("c01");
  (*client.mutable_call_latency_us())["fsync"] = fsync;
  const std::string text = MetricsOf(report);
  CHECK_THAT(text, Contains("\n# TYPE iobench_phase_flush_call_seconds summary\n"));
  CHECK_THAT(text, Contains("record_bytes=\"0\",call=\"fsync\",quantile=\"0.9999\"} 0.0025\n"));
  CHECK_THAT(text, Contains(",client=\"c01\",call=\"fsync\",quantile=\"0.9999\"} 0.0025\n"));
  CHECK_THAT(text, Contains(",client=\"c01\",call=\"fsync\"} 3\n"));
  CHECK_THAT(text, !Contains("call=\"write\""));
}

TEST_CASE("a mark that several lanes have in common is one sample") {
  v1::RunReport report;
  for (int i = 0; i < 2; ++i) {
    v1::Mark& mark = *report.mutable_phases()->Add()->add_marks();
    mark.set_code("stalled");
    mark.set_subject("node01");
  }
  *report.mutable_phases(0)->add_marks() = report.phases(1).marks(0);
  const std::string text = MetricsOf(report);
  size_t count = 0;
  for (size_t at = 0; (at = text.find("\niobench_phase_mark{", at)) != std::string::npos; ++at) ++count;
  CHECK(count == 2);  // one for each phase
}

TEST_CASE("the score, scaling and paths side by side have metrics where the run has them") {
  CHECK_THAT(MetricsOf(GoldenReport()), !Contains("iobench_run_score") && !Contains("_ratio{run=\"x\""));
  v1::RunReport report;
  report.mutable_run()->set_id("x");
  report.mutable_score()->set_value(12.5);
  v1::WorkerScalingReport& scaling = *report.add_worker_scaling();
  scaling.set_operation("write");
  v1::WorkerScalingPoint& point = *scaling.add_points();
  point.set_worker_count(4);
  point.set_scaling(0.5);
  v1::EachPathReport& paths = *report.mutable_each_path();
  for (const char* const path : {"/a", "/b"}) paths.add_paths(path);
  v1::EachPathRow& row = *paths.add_rows();
  row.set_phase("read");
  row.add_cells()->set_of_first(1);
  row.add_cells()->set_of_first(0.75);
  const std::string text = MetricsOf(report);
  CHECK_THAT(text, Contains("\niobench_run_score{run=\"x\"} 12.5\n"));
  CHECK_THAT(text, Contains("\niobench_run_score_valid{run=\"x\"} 0\n"));
  CHECK_THAT(text, Contains("operation=\"write\",path=\"\",bytes_per_lane=\"0\",record_bytes=\"0\",workers=\"4\"} 0.5\n"));
  CHECK_THAT(text, Contains("phase=\"read\",path=\"/b\"} 0.75\n"));
}

TEST_CASE("the text ends with the line that shows that it is whole") {
  CHECK(absl::EndsWith(MetricsOf(GoldenReport()), "\n# EOF\n"));
  CHECK(absl::EndsWith(MetricsOf(v1::RunReport()), "\n# EOF\n"));
}

}  // namespace
}  // namespace iobench
