// Every group of the report is a table that every format draws, or is named here with where it is instead.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "catch2/catch.hpp"
#include "coordinator/report/console/console_report.h"
#include "coordinator/report/markdown/markdown_text.h"
#include "coordinator/report/markdown/markdown_writer.h"
#include "coordinator/report/page/page_tables.h"
#include "coordinator/report/table_files.h"
#include "coordinator/report/tables/table_csv.h"
#include "coordinator/report/tables/table_list.h"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Groups that are no table, and where they are.
const std::map<std::string, std::string>& NoTables() {
  static const std::map<std::string, std::string> reasons = {
      {"run", "the head of every format"},
      {"notes", "sentences below the figures"},
      {"phases.headline", "the figures of a phase: table phases, phases.csv"},
      {"phases.throughput_bytes_per_s", "figures of a phase: phases.csv"},
      {"phases.throughput_ops_per_s", "figures of a phase: phases.csv"},
      {"phases.stonewall", "figures of a phase: phases.csv"},
      {"phases.start", "figures of a phase: phases.csv"},
      {"phases.regions_s", "figures of a phase: phases.csv"},
      {"phases.regions_max_s", "figures of a phase: phases.csv"},
      {"phases.latency_us", "figures of a phase: phases.csv"},
      {"phases.lanes_bytes_per_s", "figures of a phase: phases.csv"},
      {"phases.lanes_ops_per_s", "figures of a phase: phases.csv"},
      {"phases.tool", "figures of a phase: phases.csv"},
      {"phases.verify", "figures of a phase: phases.csv"},
      {"phases.tree", "what the plan says of a phase"},
      {"phases.stragglers", "lanes by name; result.csv has the figures of all"},
      {"phases.steps", "lines of the phase: what was done before it"},
      {"phases.clients", "one row per client and lane: result.csv"},
      {"phases.charts", "charts: timeline.csv, the page"},
      {"phases.failed_ops", "the text of the mark op_errors"},
      {"phases.retried_ops", "the text of a mark"},
      {"phases.buffers", "a part of the line tool"},
      {"phases.cold", "a line of the phase"},
      {"phases.fullness", "a line of the phase"},
      {"phases.limits", "limited_by of the table phases; a line of the phase"},
      {"soak.loss", "soak-totals"},
  };
  return reasons;
}

bool IsGroup(const FieldDescriptor& field) {
  return field.is_repeated() || field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

void AddGroups(const Descriptor& type, const std::string& before, std::vector<std::string>& groups) {
  for (int i = 0; i < type.field_count(); ++i) {
    if (IsGroup(*type.field(i))) groups.push_back(absl::StrCat(before, type.field(i)->name()));
  }
}

std::set<std::string> GroupsShown() {
  std::set<std::string> shown;
  for (const TableSource& source : TableSources()) {
    for (const auto& name : absl::StrSplit(source.shows, ' ')) shown.insert(std::string(name.data(), name.size()));
  }
  return shown;
}

TEST_CASE("every group of the report is in the list of tables, or has its place elsewhere") {
  std::vector<std::string> groups;
  AddGroups(*v1::RunReport::descriptor(), "", groups);
  AddGroups(*v1::PhaseReport::descriptor(), "phases.", groups);
  AddGroups(*v1::SoakReport::descriptor(), "soak.", groups);
  const std::set<std::string> shown = GroupsShown();
  for (const std::string& group : groups) {
    INFO(group);
    CHECK((shown.contains(group) || NoTables().contains(group)));
  }
  AddGroups(*v1::ClientPhaseReport::descriptor(), "phases.clients.", groups);  // may have a table
  for (const std::string& group : shown) {
    INFO(group << " is no field of the report");
    CHECK(std::find(groups.begin(), groups.end(), group) != groups.end());
  }
}

// Fills every field, so that each group has rows, texts and figures.
void Fill(Message& message, int depth) {
  const google::protobuf::Reflection& set = *message.GetReflection();
  const Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* const field = type.field(i);
    const bool repeated = field->is_repeated();
    const std::string text = absl::StrCat("planted ", field->name());
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (depth > 0) Fill(repeated ? *set.AddMessage(&message, field) : *set.MutableMessage(&message, field), depth - 1);
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        repeated ? set.AddString(&message, field, text) : set.SetString(&message, field, text);
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        repeated ? set.AddDouble(&message, field, 12.5) : set.SetDouble(&message, field, 12.5);
        break;
      case FieldDescriptor::CPPTYPE_UINT64:
        repeated ? set.AddUInt64(&message, field, 7) : set.SetUInt64(&message, field, 7);
        break;
      case FieldDescriptor::CPPTYPE_UINT32:
        repeated ? set.AddUInt32(&message, field, 1) : set.SetUInt32(&message, field, 1);
        break;
      case FieldDescriptor::CPPTYPE_BOOL:
        if (!repeated) set.SetBool(&message, field, true);
        break;
      default:
        break;
    }
  }
}

// Of the golden report, with every group that has a table filled in.
v1::RunReport FilledReport() {
  v1::RunReport report = GoldenReport();
  const std::set<std::string> shown = GroupsShown();
  const auto fill = [](Message& message, const FieldDescriptor* field) {
    const google::protobuf::Reflection& set = *message.GetReflection();
    set.ClearField(&message, field);
    Fill(field->is_repeated() ? *set.AddMessage(&message, field) : *set.MutableMessage(&message, field), 3);
  };
  for (const std::string& group : shown) {
    const std::string prefix = "phases.";
    if (absl::StartsWith(group, prefix)) {
      const std::string of_phase = group.substr(prefix.size()), of_client = "clients.";
      for (v1::PhaseReport& phase : *report.mutable_phases()) {
        if (absl::StartsWith(of_phase, of_client)) {
          for (v1::ClientPhaseReport& client : *phase.mutable_clients())
            fill(client, client.GetDescriptor()->FindFieldByName(of_phase.substr(of_client.size())));
        } else {
          fill(phase, phase.GetDescriptor()->FindFieldByName(of_phase));
          if (of_phase == "by_kind")  // what the table shows of it has known names
            (*phase.mutable_by_kind())["fsync"] = phase.by_kind().begin()->second;
        }
      }
    } else if (!absl::StrContains(group, ".") && group != "phases" && group != "clients") {
      fill(report, report.GetDescriptor()->FindFieldByName(group));
    }
  }
  return report;
}

std::string TitleOrValue(const Table& table) {
  for (const TablePart& part : table.parts) {
    if (absl::StartsWith(part.name, "planted")) return part.name;
    for (const TableRow& row : part.rows) {
      for (size_t i = 0; i < row.size(); ++i) {
        if (table.columns[i].readers == Readers::kAll && absl::StartsWith(row[i].text, "planted")) return row[i].text;
      }
    }
  }
  return table.columns.empty() ? table.parts[0].notes[0].label : table.columns[0].title;
}

TEST_CASE("every table is in every format, unless its row says where that has it instead") {
  const v1::RunReport report = FilledReport();
  std::ostringstream console, markdown;
  REQUIRE(WriteConsole(report, {}, console).ok());
  REQUIRE(WriteMarkdown(report, markdown).ok());
  const nlohmann::json page = PageTables(report);
  const std::string directory = (std::filesystem::temp_directory_path() / "iobench-tables-test").string();
  REQUIRE(WriteTableFiles(report, directory).ok());
  for (const TableSource& source : TableSources()) {
    INFO(source.id);
    const Table table = TableOf(source, report);
    REQUIRE_FALSE(table.empty());
    const std::string known = TitleOrValue(table);
    INFO(known);
    if (source.IsIn("Console")) CHECK(absl::StrContains(console.str(), known));
    if (source.IsIn("Markdown")) {
      CHECK(absl::StrContains(markdown.str(), absl::StrCat("## ", source.chapter)));
      CHECK(absl::StrContains(markdown.str(), MarkdownText(known)));
    }
    const bool on_page = std::any_of(page.begin(), page.end(), [&](const auto& each) { return each["id"] == source.id; });
    CHECK(on_page == source.IsIn("page"));
    const std::string file = absl::StrCat(directory, "/tables/", source.id, ".csv");
    CHECK(std::filesystem::exists(file) == source.IsIn("CSV"));
    if (!table.columns.empty()) {
      std::ostringstream csv;
      PrintTableCsv(table, csv);
      CHECK(absl::StrContains(csv.str(), table.columns[0].readers == Readers::kPeople ? "," : table.columns[0].id));
      if (source.IsIn("CSV")) CHECK(csv.str() == FileText(file));
    }
  }
  std::filesystem::remove_all(directory);
}

TEST_CASE("a row of a table has a cell for each column, and machines have a stable name for each") {
  const v1::RunReport report = FilledReport();
  for (const TableSource& source : TableSources()) {
    INFO(source.id);
    const Table table = TableOf(source, report);
    for (const TablePart& part : table.parts) {
      for (const TableRow& row : part.rows) CHECK(row.size() == table.columns.size());
      for (const TableRow& row : part.totals) CHECK(row.size() == table.columns.size());
    }
    std::set<std::string> ids;
    for (const PlainColumn& column : PlainOf(table).columns) {
      INFO(column.id);
      CHECK(ids.insert(column.id).second);
    }
  }
}

TEST_CASE("numbers are exact for machines, have a unit for people, and what is unknown is no number") {
  const TableColumn rate = {.id = "rate", .title = "rate", .unit = TableUnit::kRate};
  CHECK(CellText(rate, Rate(3 << 20, false)) == "3 MiB/s");
  CHECK(CellText(rate, Rate(3000, true)) == "3,000 ops/s");
  CHECK(CellText(rate, Rate(std::numeric_limits<double>::quiet_NaN(), true)) == "-");
  CHECK(CellText(rate, {}).empty());
  v1::Latency latency;
  latency.set_count(1);
  latency.add_unsure("p99");
  const TableColumn p99 = {.id = "p99_us", .title = "p99", .unit = TableUnit::kMicroseconds};
  CHECK(CellText(p99, Percentile(latency, "p99", 9000)) == "~9 ms");
  Table table = {.columns = {{.id = "name", .title = "name"}, p99,
                             {.id = "interval", .title = "interval", .unit = TableUnit::kRate, .range = true}},
                 .parts = {{"a,b", {{"x", 0.1, RateRange(1, 2.5, false)}}}},
                 .parts_are = "phase"};
  std::ostringstream csv;
  PrintTableCsv(table, csv);
  CHECK(csv.str() == "phase,name,p99_us,interval_low,interval_high\n\"a,b\",x,0.1,1,2.5\n");
  table.parts[0].rows.push_back({"y", Percentile(latency, "p99", 9), RateRange(1, 2, false)});
  csv.str("");
  PrintTableCsv(table, csv);
  CHECK(csv.str() == "phase,name,p99_us,interval_low,interval_high,unsure\n\"a,b\",x,0.1,1,2.5,\n\"a,b\",y,9,1,2,p99\n");
}

}  // namespace
}  // namespace iobench
