#include "nlohmann/json.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>
#include <sstream>
#include <string>

#include "catch2/catch.hpp"
#include "coordinator/report/report_format.h"
#include "coordinator/report/text/number_text.h"
#include "google/protobuf/descriptor.h"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

using nlohmann::ordered_json;

std::string JsonText(const v1::RunReport& report) {
  std::ostringstream out;
  REQUIRE(WriteReport(kJsonFormat, report, out).ok());
  return out.str();
}

ordered_json Parsed(const v1::RunReport& report) {
  return ordered_json::parse(JsonText(report));
}

TEST_CASE("the JSON of the fixed result is as it was looked at") {
  CheckGolden("result.json", JsonText(GoldenReport()));
}

TEST_CASE("64-bit integers are JSON numbers, to the last digit") {
  v1::RunReport report;
  report.add_clients()->set_memory_bytes(std::numeric_limits<uint64_t>::max());
  CHECK(JsonText(report).find("\"memory_bytes\": 18446744073709551615,") != std::string::npos);
  CHECK(Parsed(report)["clients"][0]["memory_bytes"].is_number_unsigned());
}

TEST_CASE("a double that is not finite is null") {
  v1::RunReport report;
  v1::Throughput& rates = *report.add_phases()->mutable_throughput_bytes_per_s();
  rates.set_full(NAN);
  rates.set_parent(INFINITY);
  rates.set_children(-INFINITY);
  rates.set_stonewalled(0.1);
  const ordered_json json = Parsed(report)["phases"][0]["throughput_bytes_per_s"];
  CHECK(json["full"].is_null());
  CHECK(json["parent"].is_null());
  CHECK(json["children"].is_null());
  CHECK(json["stonewalled"] == 0.1);
  CHECK(json["all_active"] == 0.0);
}

TEST_CASE("errno is called errno") {
  v1::RunReport report;
  report.add_phases()->add_errors()->set_errno_value(28);
  const ordered_json error = Parsed(report)["phases"][0]["errors"][0];
  CHECK(error["errno"] == 28);
  CHECK(!error.contains("errno_value"));
}

TEST_CASE("defaults are written, messages and optional fields that are not set are left out") {
  v1::RunReport report;
  report.add_phases()->add_clients()->mutable_host_delta()->set_nic_drops(0);
  const ordered_json json = Parsed(report);
  CHECK(json["schema"] == "");
  CHECK(json["clients"].is_array());
  CHECK(!json.contains("run"));
  CHECK(json["phases"][0]["interrupted"] == false);
  CHECK(json["phases"][0]["by_kind"].is_object());
  const ordered_json& delta = json["phases"][0]["clients"][0]["host_delta"];
  CHECK(delta["nic_drops"] == 0);
  CHECK(!delta.contains("nic_rx_bytes"));
}

TEST_CASE("the exit code of a run that has not ended is null") {
  v1::RunReport report;
  report.mutable_run();
  CHECK(Parsed(report)["run"]["exit_code"].is_null());
  report.mutable_run()->set_exit_code(0);
  CHECK(Parsed(report)["run"]["exit_code"] == 0);
}

TEST_CASE("maps are objects in the order of their keys, enums are names, a step says what it is") {
  v1::RunReport report;
  v1::PhaseReport& phase = *report.add_phases();
  (*phase.mutable_by_kind())["write"].set_ops(1);
  (*phase.mutable_by_kind())["read"].set_ops(2);
  auto& nfs = *phase.add_clients()->mutable_host_delta()->mutable_nfs();
  nfs[10].set_app_read_bytes(1);
  nfs[2].set_app_read_bytes(2);
  v1::Phase& planned = *report.mutable_run()->mutable_plan()->add_phases();
  planned.set_stonewall(v1::STONEWALL_FLUSHED);
  planned.add_before()->mutable_drop_caches();
  const ordered_json json = Parsed(report);
  CHECK(json["phases"][0]["by_kind"].begin().key() == "read");
  const ordered_json& targets = json["phases"][0]["clients"][0]["host_delta"]["nfs"];
  CHECK(targets.begin().key() == "2");
  CHECK(targets["10"]["app_read_bytes"] == 1);
  CHECK(json["run"]["plan"]["phases"][0]["stonewall"] == "STONEWALL_FLUSHED");
  CHECK(json["run"]["plan"]["phases"][0]["before"][0].contains("drop_caches"));
}

TEST_CASE("names with quotes, control characters or bytes that are not UTF-8 are valid JSON") {
  v1::RunReport report;
  report.add_clients()->set_host("a\"b\\c\n\033\303\266");
  report.add_clients()->set_host("\xff!");
  const ordered_json json = Parsed(report);
  CHECK(json["clients"][0]["host"] == "a\"b\\c\n\033\303\266");
  CHECK(json["clients"][1]["host"] == "\xef\xbf\xbd!");
}

TEST_CASE("every figure reads back as the number it was") {
  for (const double value :
       {0.0, -0.0, 1.0, 0.1, -12.5, 1e-6, 1.0000000000000002e-6, 9.99e-7, 1e16, 1.2345678901234567e16, 1e17,
        1e300, std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest(),
        std::numeric_limits<double>::min(), std::numeric_limits<double>::denorm_min()}) {
    std::string text;
    AppendShortest(value, text);
    INFO(text);
    CHECK(std::strtod(text.c_str(), nullptr) == value);
    v1::RunReport report;
    report.add_clients()->set_clock_read_ns(value);
    const ordered_json read = Parsed(report)["clients"][0]["clock_read_ns"];
    CHECK(read.is_number_float());
    CHECK(read == value);
  }
}

TEST_CASE("figures of a usual size are written without an exponent") {
  std::string text;
  AppendShortest(0.00001, text);
  text += ' ';
  AppendShortest(123456789012.0, text);
  CHECK(text == "0.00001 123456789012");
}

// The schema is written by hand; this checks it against the message.
void CheckSchemaOf(const google::protobuf::Descriptor& type, const ordered_json& schema,
                   std::set<std::string>& seen) {
  if (!seen.insert(type.full_name()).second) return;
  INFO(type.full_name());
  REQUIRE(schema["$defs"].contains(type.name()));
  const ordered_json& definition = schema["$defs"][type.name()];
  CHECK(definition["additionalProperties"] == false);
  std::set<std::string> names, required;
  for (int i = 0; i < type.field_count(); ++i) {
    const auto& field = *type.field(i);
    if (field.message_type() == v1::PhaseCharts::descriptor()) continue;  // not in result.json
    const std::string name = field.has_json_name() ? field.json_name() : field.name();
    names.insert(name);
    if (!field.has_presence()) required.insert(name);
    if (field.is_map()) {
      if (const auto* value = field.message_type()->map_value()->message_type())
        CheckSchemaOf(*value, schema, seen);
    } else if (field.message_type() != nullptr) {
      CheckSchemaOf(*field.message_type(), schema, seen);
    }
  }
  std::set<std::string> schema_names, schema_required;
  for (const auto& [name, unused] : definition["properties"].items()) schema_names.insert(name);
  if (definition.contains("required")) schema_required = definition["required"].get<std::set<std::string>>();
  CHECK(schema_names == names);
  for (const std::string& name : required) {
    INFO(name);
    CHECK(schema_required.count(name) == 1);
  }
}

TEST_CASE("the schema knows every field of the message, and no other") {
  const ordered_json schema = ordered_json::parse(FileText(SourcePath("docs/result.schema.json")));
  std::set<std::string> seen;
  CheckSchemaOf(*v1::RunReport::descriptor(), schema, seen);
  CHECK(schema["$defs"].contains("RunReport"));
}

}  // namespace
}  // namespace iobench
