#include "coordinator/cluster/answer_check.h"

#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <string>

namespace iobench {
namespace {

using Catch::Contains;

// Each request that a worker gets before the first phase, with the answer to it.
struct AskedAndAnswered {
  v1::WorkerRequest request;
  v1::WorkerEvent answer;
};

AskedAndAnswered PingPong() {
  AskedAndAnswered both;
  both.request.mutable_ping();
  both.answer.mutable_pong();
  return both;
}
AskedAndAnswered Looked() {
  AskedAndAnswered both;
  both.request.mutable_inspect()->add_targets();
  both.request.mutable_inspect()->add_existing_files("/a");
  v1::Inspected& inspected = *both.answer.mutable_inspected();
  inspected.add_targets()->set_mount_source("server:/export");
  inspected.add_existing_files()->set_bytes(7);
  inspected.add_problems()->set_code(3);
  return both;
}
AskedAndAnswered Checked() {
  AskedAndAnswered both;
  for (int i = 0; i < 2; ++i) {
    both.request.mutable_file_actions()->add_actions();
    both.answer.mutable_file_actions_done()->add_results();
  }
  return both;
}
AskedAndAnswered Claimed() {
  AskedAndAnswered both;
  both.request.mutable_data_step()->add_targets();
  both.answer.mutable_data_step_done()->add_claims();
  return both;
}

absl::Status Check(const AskedAndAnswered& both) { return CheckAnswer(AnswerTo(both.request), both.answer); }

TEST_CASE("an answer of the kind that was asked for is one, and so is a problem alone") {
  for (AskedAndAnswered both : {PingPong(), Looked(), Checked(), Claimed()}) {
    INFO(both.request.ShortDebugString());
    CHECK(Check(both).ok());
    both.answer = {};
    both.answer.mutable_problem()->set_code(9);
    CHECK(Check(both).ok());
  }
}

TEST_CASE("an answer of another kind is none, whatever was asked") {
  for (AskedAndAnswered both : {PingPong(), Looked(), Checked(), Claimed()}) {
    INFO(both.request.ShortDebugString());
    for (const auto& spoil : std::initializer_list<std::function<void(v1::WorkerEvent&)>>{
             [](v1::WorkerEvent& event) { event.mutable_armed(); },
             [](v1::WorkerEvent& event) { event.mutable_chunk(); },
             [](v1::WorkerEvent& event) { event.mutable_joined(); },
             [](v1::WorkerEvent& event) { event.mutable_lanes_done(); },
             [](v1::WorkerEvent& event) { event = {}; }}) {
      AskedAndAnswered spoiled = both;
      spoil(spoiled.answer);
      CHECK_THAT(std::string(Check(spoiled).message()), Contains("it answered ") && Contains(" with "));
    }
    both.answer.mutable_problem()->set_code(17);
    CHECK_THAT(std::string(Check(both).message()), Contains("the error code 17"));
  }
}

TEST_CASE("an answer has one part for each that was asked for, and nothing that no worker sends") {
  const auto why = [](AskedAndAnswered both, const std::function<void(v1::WorkerEvent&)>& spoil) {
    spoil(both.answer);
    return std::string(Check(both).message());
  };
  CHECK_THAT(why(Looked(), [](auto& answer) { answer.mutable_inspected()->clear_targets(); }),
             Contains("its answer to inspect cannot be: it has 0 targets in place of 1"));
  CHECK_THAT(why(Looked(), [](auto& answer) { answer.mutable_inspected()->add_targets(); }), Contains("2 targets"));
  CHECK_THAT(why(Looked(), [](auto& answer) { answer.mutable_inspected()->clear_existing_files(); }),
             Contains("0 existing files in place of 1"));
  CHECK_THAT(why(Looked(), [](auto& answer) { answer.mutable_inspected()->mutable_problems(0)->set_code(-1); }),
             Contains("the error code -1"));
  CHECK_THAT(why(Looked(),
                 [](auto& answer) {
                   answer.mutable_inspected()->mutable_targets(0)->set_mount_source(std::string(70'000, 'm'));
                 }),
             Contains("mount_source of 70000 bytes"));
  CHECK_THAT(why(Checked(), [](auto& answer) { answer.mutable_file_actions_done()->add_results(); }),
             Contains("its answer to file_actions cannot be: it has 3 results in place of 2"));
  CHECK_THAT(why(Claimed(), [](auto& answer) { answer.mutable_data_step_done()->add_claims(); }),
             Contains("2 claims in place of 1"));
}

}  // namespace
}  // namespace iobench
