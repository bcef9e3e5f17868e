#include "coordinator/analysis/compare/run_differences.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "catch2/catch.hpp"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "tests/unit/compare_script.h"

namespace iobench {
namespace {

v1::RunReport Planned() {
  RunScript script;
  v1::RunReport& report = script.report();
  v1::Plan& plan = *report.mutable_run()->mutable_plan();
  plan.set_seed(7);
  plan.add_targets()->set_path("/mnt/nfs");
  v1::Phase& phase = *plan.add_phases();
  phase.set_name("write");
  phase.mutable_stop()->set_time_s(3);
  phase.add_assignments()->mutable_operation()->set_record_bytes(65536);
  v1::TargetReport& target = *report.mutable_clients(0)->add_targets();
  target.set_filesystem("nfs4");
  target.set_mount_options("rw,rsize=1048576,clientaddr=10.0.0.11,addr=10.0.0.1");
  return report;
}

RunDifferences Between(const v1::RunReport& a, const v1::RunReport& b) {
  const std::vector<RunFacts> facts = {FactsOf(a), FactsOf(b)};
  return DifferencesOf(facts);
}

TEST_CASE("equal runs do not differ, whatever their seeds and addresses") {
  v1::RunReport other = Planned();
  other.mutable_run()->mutable_plan()->set_seed(8);
  other.mutable_clients(0)->mutable_targets(0)->set_mount_options(
      "rw,rsize=1048576,clientaddr=10.0.0.99,addr=10.0.0.1");
  const RunDifferences found = Between(Planned(), other);
  CHECK(found.like_plans);
  CHECK(found.differences.empty());
}

TEST_CASE("a field of the plan that differs is named with both values, and the plans are unlike") {
  v1::RunReport other = Planned();
  other.mutable_run()->mutable_plan()->mutable_phases(0)->mutable_stop()->set_time_s(5);
  const RunDifferences found = Between(Planned(), other);
  CHECK(!found.like_plans);
  REQUIRE(found.differences.size() == 1);
  CHECK(found.differences[0].of() == "plan");
  CHECK(found.differences[0].field() == "phases[0].stop.time_s");
  CHECK(found.differences[0].values(0) == "3");
  CHECK(found.differences[0].values(1) == "5");
}

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Calls `use` with the path and a copy of `message` for each field that can be written in it, which then has a value that it
// is unlikely to have without.
void ForEachField(const Message& message, const std::string& before, const std::function<void(const std::string&, const Message&)>& use) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* const field = message.GetDescriptor()->field(i);
    const std::unique_ptr<Message> changed(message.New());
    changed->CopyFrom(message);
    const bool repeated = field->is_repeated();
    const std::string path = absl::StrCat(before, field->name(), repeated ? "[0]" : "");
    const auto set = [&](auto single, auto add, auto value) {
      repeated ? (reflection.*add)(changed.get(), field, value) : (reflection.*single)(changed.get(), field, value);
    };
    using R = google::protobuf::Reflection;
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE: {
        Message& part = repeated ? *reflection.AddMessage(changed.get(), field) : *reflection.MutableMessage(changed.get(), field);
        const std::unique_ptr<Message> unchanged(part.New());
        unchanged->CopyFrom(part);
        ForEachField(*unchanged, absl::StrCat(path, "."), [&](const std::string& of_part, const Message& changed_part) {
          part.CopyFrom(changed_part);
          use(of_part, *changed);
        });
        continue;
      }
      case FieldDescriptor::CPPTYPE_STRING:
        set(&R::SetString, &R::AddString, std::string("planted"));
        break;
      case FieldDescriptor::CPPTYPE_BOOL:
        set(&R::SetBool, &R::AddBool, true);
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        set(&R::SetDouble, &R::AddDouble, 12.5);
        break;
      case FieldDescriptor::CPPTYPE_UINT32:
        set(&R::SetUInt32, &R::AddUInt32, uint32_t{7});
        break;
      case FieldDescriptor::CPPTYPE_UINT64:
        set(&R::SetUInt64, &R::AddUInt64, uint64_t{7});
        break;
      case FieldDescriptor::CPPTYPE_INT32:
        set(&R::SetInt32, &R::AddInt32, 7);
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        set(&R::SetInt64, &R::AddInt64, int64_t{7});
        break;
      case FieldDescriptor::CPPTYPE_ENUM:
        set(&R::SetEnumValue, &R::AddEnumValue, 1);
        break;
      default:
        FAIL("a type that no plan has: " << path);
    }
    use(path, *changed);
  }
}

TEST_CASE("each field of an operation makes a difference, under its name") {
  v1::RunReport run = Planned();
  v1::Operation& operation = *run.mutable_run()->mutable_plan()->mutable_phases(0)->mutable_assignments(0)->mutable_operation();
  operation.set_record_bytes(65536);
  int fields = 0;
  ForEachField(operation, "", [&](const std::string& field, const Message& changed) {
    INFO(field);
    v1::RunReport other = run;
    other.mutable_run()->mutable_plan()->mutable_phases(0)->mutable_assignments(0)->mutable_operation()->CopyFrom(changed);
    for (const bool forth : {true, false}) {
      const RunDifferences found = forth ? Between(run, other) : Between(other, run);
      CHECK_FALSE(found.like_plans);
      REQUIRE(found.differences.size() == 1);
      CHECK(found.differences[0].field() == "phases[0].assignments[0].operation." + field);
      CHECK(found.differences[0].values(0) != found.differences[0].values(1));
    }
    ++fields;
  });
  CHECK(fields > 60);
}

TEST_CASE("paths and the number of repetitions are shown, but the plans are alike") {
  v1::RunReport other = Planned();
  other.mutable_run()->mutable_plan()->mutable_targets(0)->set_path("/mnt/other");
  other.mutable_run()->mutable_plan()->set_repetitions(5);
  const RunDifferences found = Between(Planned(), other);
  CHECK(found.like_plans);
  CHECK(found.differences.size() == 2);
}

TEST_CASE("with another number of phases, only that is named") {
  v1::RunReport other = Planned();
  v1::Plan& plan = *other.mutable_run()->mutable_plan();
  *plan.add_phases() = plan.phases(0);
  plan.mutable_phases(0)->set_name("read");
  const RunDifferences found = Between(Planned(), other);
  CHECK(!found.like_plans);
  REQUIRE(found.differences.size() == 1);
  CHECK(found.differences[0].field() == "phases");
  CHECK(found.differences[0].values(1) == "2");
}

TEST_CASE("of clients, kernel, number and names, and the mount options that differ") {
  v1::RunReport other = Planned();
  *other.add_clients() = other.clients(0);
  other.mutable_clients(1)->set_host("node02");
  other.mutable_clients(1)->set_kernel("6.5.0");
  for (v1::ClientReport& client : *other.mutable_clients())
    client.mutable_targets(0)->set_mount_options("rw,rsize=65536,clientaddr=10.0.0.12");
  const RunDifferences found = Between(Planned(), other);
  CHECK(found.like_plans);
  std::vector<std::string> texts;
  for (const v1::Difference& difference : found.differences)
    texts.push_back(difference.field() + ": " + difference.values(0) + " | " + difference.values(1));
  CHECK(texts == std::vector<std::string>{"clients: 1 | 2", "hosts:  | node02",
                                          "kernel: 6.1.0 | 6.1.0 (1 clients), 6.5.0 (1 clients)",
                                          "mount options of target 1: rsize=1048576 | rsize=65536"});
}

}  // namespace
}  // namespace iobench
