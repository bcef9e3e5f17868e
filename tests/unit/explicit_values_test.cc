// A value that is written in a plan or mix, 0, false and "" included, is what runs, or it is refused.
#include <catch2/catch.hpp>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/model/phase_shape.h"
#include "coordinator/mix/mix.h"
#include "coordinator/plan/plan_check.h"
#include "coordinator/plan/plan_yaml.h"
#include "coordinator/plan/rounds.h"
#include "google/protobuf/descriptor.h"

namespace iobench {
namespace {

using Catch::Contains;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Plans of one phase that between them use every kind of operation for which a default depends on it.
const std::vector<std::string>& Plans() {
  static const std::vector<std::string> kPlans = [] {
    const auto phase = [](const std::string& operation, const std::string& rest = "") {
      return absl::StrCat("files: {bytes_per_lane: 4m}\nphases:\n- assignments:\n  - operation: ", operation, "\n",
                          rest);
    };
    return std::vector<std::string>{
        phase("{name: random-mix, record_bytes: 64k}"),
        phase("{name: stride-read, record_bytes: 64k}"),
        phase("{name: sequential-mix, record_bytes: 64k, mix_by_lane: true}"),
        phase("{name: write, record_bytes: 64k, between: {purge_processor_cache: true}}",
              "  stop: {time_s: 1}\n  region: {fsync: true}\n"),
        phase("{name: write, record_bytes: 64k, engine: uring}", "soak_s: 60\n"),
        phase("{name: create}"),
        phase("{name: create, tree: {depth: 1, branching: 2}}"),
        phase("{name: file-mix}"),
        phase("{name: set-xattr}"),
        phase("{name: find, tree: {find: {}}}"),
        phase("{name: random-read, record_bytes: 64k, engine: sim, arrivals: {ops_per_s: 10}}",
              "  stop: {time_s: 1}\n"),
        absl::StrCat(phase("{name: read, record_bytes: 64k}", "  files: {files_per_lane: 4}\n"),
                     "lanes_per_worker: 2\ntargets: [{path: /tmp}]\n"),
    };
  }();
  return kPlans;
}

struct Place {
  std::vector<const FieldDescriptor*> path;  // from the plan; of repeated messages, the first
  std::string Text() const {
    std::string text;
    for (const FieldDescriptor* const field : path) absl::StrAppend(&text, text.empty() ? "" : ".", field->name());
    return text;
  }
};

void AddPlaces(const Descriptor& type, const Place& above, std::vector<Place>& places) {
  for (int i = 0; i < type.field_count(); ++i) {
    Place place = above;
    place.path.push_back(type.field(i));
    const FieldDescriptor& field = *type.field(i);
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      AddPlaces(*field.message_type(), place, places);
    } else if (!field.is_repeated()) {
      places.push_back(place);
    }
  }
}

std::vector<Place> PlacesOf(const Descriptor& type) {
  std::vector<Place> places;
  AddPlaces(type, {}, places);
  return places;
}

Message& Holder(const Place& place, Message& root) {
  Message* message = &root;
  for (size_t i = 0; i + 1 < place.path.size(); ++i) {
    const FieldDescriptor* const field = place.path[i];
    const auto& get = *message->GetReflection();
    if (!field->is_repeated()) {
      message = get.MutableMessage(message, field);
    } else {
      message = get.FieldSize(*message, field) > 0 ? get.MutableRepeatedMessage(message, field, 0)
                                                   : get.AddMessage(message, field);
    }
  }
  return *message;
}

void SetZero(const Place& place, Message& root) {
  Message& message = Holder(place, root);
  const FieldDescriptor* const field = place.path.back();
  const auto& to = *message.GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return to.SetString(&message, field, "");
    case FieldDescriptor::CPPTYPE_BOOL:
      return to.SetBool(&message, field, false);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return to.SetDouble(&message, field, 0);
    case FieldDescriptor::CPPTYPE_INT32:
      return to.SetInt32(&message, field, 0);
    case FieldDescriptor::CPPTYPE_UINT32:
      return to.SetUInt32(&message, field, 0);
    case FieldDescriptor::CPPTYPE_UINT64:
      return to.SetUInt64(&message, field, 0);
    case FieldDescriptor::CPPTYPE_ENUM:
      return to.SetEnumValue(&message, field, 0);
    default:
      FAIL(field->full_name());
  }
}

// Takes the field out of the message.
bool IsStillZero(const Place& place, Message& root) {
  Message& message = Holder(place, root);
  const FieldDescriptor* const field = place.path.back();
  const std::unique_ptr<Message> zero(message.New()), kept(message.New());
  SetZero({.path = {field}}, *zero);
  if (message.GetReflection()->HasField(message, field)) {
    message.GetReflection()->SwapFields(&message, kept.get(), {field});
  }
  return zero->SerializeAsString() == kept->SerializeAsString();
}

std::string TextWithZero(const std::string& plan_text, const Place& place) {
  auto plan = ParsePlan(plan_text, "plan.yaml");
  INFO(plan.status().message());
  REQUIRE(plan.ok());
  SetZero(place, *plan);
  return PlanToYaml(*plan);
}

TEST_CASE("a 0, false or empty text in a plan runs as it is written, or is refused by name") {
  for (const std::string& text : Plans()) {
    auto plan = ParsePlan(text, "plan.yaml");
    INFO(text << plan.status().message());
    REQUIRE(plan.ok());
    CompletePlan(*plan);
    const absl::Status good = CheckPlan(*plan);
    INFO(good.message());
    REQUIRE(good.ok());
  }
  size_t kept = 0, refused = 0;
  for (const Place& place : PlacesOf(*v1::Plan::descriptor())) {
    bool answered = false;
    for (const std::string& text : Plans()) {
      const std::string written = TextWithZero(text, place);
      INFO(place.Text() << "\n" << written);
      auto plan = ParsePlan(written, "plan.yaml");
      if (plan.ok()) CompletePlan(*plan);
      const absl::Status status = plan.ok() ? CheckPlan(*plan) : plan.status();
      if (status.ok()) {
        CHECK(IsStillZero(place, *plan));
        answered = true;
        ++kept;
      } else if (absl::StrContains(status.message(), place.path.back()->name())) {
        answered = true;
        ++refused;
      }
    }
    INFO(place.Text());
    // Those of which the message says what is missing in other words.
    static const std::set<std::string> kInOtherWords = {
        "phases.assignments.operation.name",                // there is no such operation
        "phases.assignments.operation.arrivals.ops_per_s",  // "a rate of 0 ops/s (--rate, arrivals)"
        "phases.before.remount.mount_point",                // "-U "" is not the absolute path of a mount point"
    };
    CHECK((answered || kInOtherWords.contains(place.Text())));
  }
  CHECK(kept > 500);
  CHECK(refused > 100);
}

TEST_CASE("a 0 or empty text in a mix runs as it is written, or is refused by name") {
  v1::Mix base;
  v1::MixPart& part = *base.add_groups()->add_parts();
  part.set_operation("random-mix");
  part.set_record_bytes(4096);
  part.set_percent(100);
  for (const Place& place : PlacesOf(*v1::Mix::descriptor())) {
    const std::string text = place.Text();
    if (absl::StartsWith(text, "parts.") || absl::StrContains(text, "observed") ||
        absl::StrContains(text, ".tree.")) {
      continue;  // the same messages again; not replayed; as in plans
    }
    v1::Mix mix = base;
    SetZero(place, mix);
    const absl::Status status = CompleteMix(mix);
    INFO(text << ": " << status.message());
    if (status.ok()) {
      CHECK(IsStillZero(place, mix));
    } else {
      const bool named = absl::StrContains(status.message(), place.path.back()->name()) ||
                         text == "groups.parts.operation";  // "no operation \"\""
      CHECK(named);
    }
  }
}

absl::StatusOr<v1::Plan> Completed(const std::string& text) {
  auto plan = ParsePlan(text, "plan.yaml");
  if (!plan.ok()) return plan;
  CompletePlan(*plan);
  if (const absl::Status good = CheckPlan(*plan); !good.ok()) return good;
  return plan;
}

std::string ErrorIn(const std::string& text) {
  return std::string(Completed(text).status().message());
}

TEST_CASE("a mix of 0 percent reads is not the usual mix") {
  const auto plan = Completed(
      "files: {bytes_per_lane: 4m}\nphases:\n- assignments:\n  - operation: {name: random-mix, record_bytes: 64k, "
      "read_percent: 0}\n");
  REQUIRE(plan.ok());
  CHECK(plan->phases(0).assignments(0).operation().read_percent() == 0);
}

TEST_CASE("a phase can turn off what the plan's files turn on") {
  const auto plan = Completed(
      "files: {bytes_per_lane: 4m, shared_file: true, interleaved: true}\nphases:\n"
      "- assignments:\n  - operation: {name: write, record_bytes: 64k}\n"
      "  files: {shared_file: false, interleaved: false}\n"
      "- assignments:\n  - operation: {name: write, record_bytes: 64k}\n  files: {bytes_per_lane: 1m}\n");
  REQUIRE(plan.ok());
  CHECK_FALSE(ShapeOf(*plan, plan->phases(0)).files.shared_file());
  CHECK_FALSE(ShapeOf(*plan, plan->phases(0)).files.interleaved());
  CHECK(ShapeOf(*plan, plan->phases(0)).files.bytes_per_lane() == 4 << 20);
  CHECK(ShapeOf(*plan, plan->phases(1)).files.shared_file());
  CHECK(ShapeOf(*plan, plan->phases(1)).files.interleaved());
  // A complete plan says it itself.
  CHECK(plan->phases(1).files().shared_file());
  CHECK(plan->phases(0).files().bytes_per_lane() == 4 << 20);
}

TEST_CASE("a 0 that cannot run is refused with what to write, and what to leave out means") {
  const std::string phase = "phases:\n- assignments:\n  - operation: {name: write, record_bytes: 64k";
  const std::string files = "files: {bytes_per_lane: 4m}\n";
  CHECK(ErrorIn(files + phase + "}\n  lanes_per_worker: 0\n") ==
        "phase write: lanes_per_worker is 0: use 1 or more (-t), or leave it out for the plan's number");
  CHECK(ErrorIn(files + phase + ", engine: \"\"}\n") ==
        "phase write: assignments[0].operation.engine is empty: name an engine (--engine), or leave it out for posix, "
        "or the operation's own engine");
  CHECK_THAT(ErrorIn(files + "repetitions: 0\n" + phase + "}\n"), Contains("repetitions is 0: use 1 or more"));
  CHECK_THAT(ErrorIn(files + phase + "}\n  files: {bytes_per_lane: 0}\n"),
             Contains("phase write: files.bytes_per_lane is 0: give a size"));
  CHECK_THAT(ErrorIn(files + phase + "}\n  stonewall: unspecified\n"),
             Contains("plan.yaml") && Contains("retroactive"));
}

TEST_CASE("a soak leaves what its plan says about errors and verification") {
  auto plan = ParsePlan(
      "files: {bytes_per_lane: 4m}\nsoak_s: 60\ndata: {verify: false}\nphases:\n"
      "- assignments:\n  - operation: {name: write, record_bytes: 64k}\n  stop: {max_errors: 0}\n"
      "- assignments:\n  - operation: {name: read, record_bytes: 64k}\n",
      "plan.yaml");
  REQUIRE(plan.ok());
  FitToSoak(*plan);
  CompletePlan(*plan);
  CHECK_FALSE(plan->data().verify());
  CHECK(plan->phases(0).stop().max_errors() == 0);
  CHECK(plan->phases(1).stop().max_errors() > 1'000'000);
}

}  // namespace
}  // namespace iobench
