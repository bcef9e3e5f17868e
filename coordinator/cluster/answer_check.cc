#include "coordinator/cluster/answer_check.h"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"

namespace iobench {
namespace {

using Request = v1::WorkerRequest;
using Event = v1::WorkerEvent;
using google::protobuf::FieldDescriptor;

// Mount options, the kernel's texts and a worker's messages are far shorter.
constexpr size_t kMaxTextBytes = 65'536;
constexpr int kLastStatusCode = static_cast<int>(absl::StatusCode::kUnauthenticated);

std::string NameOfField(const google::protobuf::Descriptor& type, int number) {
  const FieldDescriptor* const field = type.FindFieldByNumber(number);
  return field == nullptr ? "nothing" : field->name();
}

absl::Status Impossible(const ExpectedAnswer& expected, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      "its answer to ", NameOfField(*Request::descriptor(), expected.request), " cannot be: it has ", why));
}

absl::Status CheckCount(const ExpectedAnswer& expected, const char* what, int count, int asked) {
  if (count == asked) return absl::OkStatus();
  return Impossible(expected, absl::StrCat(count, " ", what, " in place of ", asked));
}

absl::Status CheckProblem(const ExpectedAnswer& expected, const v1::Problem& problem) {
  if (problem.code() >= 0 && problem.code() <= kLastStatusCode) return absl::OkStatus();
  return Impossible(expected, absl::StrCat("the error code ", problem.code()));
}

// Every text, number and problem in it, however deep.
absl::Status CheckFields(const ExpectedAnswer& expected, const google::protobuf::Message& message) {
  if (message.GetDescriptor() == v1::Problem::descriptor()) {
    IOBENCH_RETURN_IF_ERROR(CheckProblem(expected, static_cast<const v1::Problem&>(message)));
  }
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* const field : fields) {
    const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        IOBENCH_RETURN_IF_ERROR(
            CheckFields(expected, field->is_repeated() ? reflection.GetRepeatedMessage(message, field, i)
                                                       : reflection.GetMessage(message, field)));
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        const size_t bytes = (field->is_repeated() ? reflection.GetRepeatedString(message, field, i)
                                                   : reflection.GetString(message, field))
                                 .size();
        if (bytes > kMaxTextBytes) {
          return Impossible(expected, absl::StrCat(field->name(), " of ", bytes, " bytes"));
        }
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
        const double value = field->is_repeated() ? reflection.GetRepeatedDouble(message, field, i)
                                                  : reflection.GetDouble(message, field);
        if (!std::isfinite(value)) return Impossible(expected, absl::StrCat(field->name(), " ", value));
      }
    }
  }
  return absl::OkStatus();
}

Event::BodyCase BodyFor(Request::BodyCase request) {
  switch (request) {
    case Request::kInspect: return Event::kInspected;
    case Request::kDataStep: return Event::kDataStepDone;
    case Request::kPrepare: return Event::kPrepared;
    case Request::kPing: return Event::kPong;
    case Request::kArm: return Event::kArmed;
    case Request::kAdjust: return Event::kAdjusted;
    case Request::kPoll: return Event::kProgress;
    case Request::kCollect: return Event::kChunk;
    case Request::kLeave: return Event::kLeft;
    case Request::kClientStep: return Event::kClientStepDone;
    case Request::kNetTest: return Event::kNetTested;
    case Request::kFileActions: return Event::kFileActionsDone;
    case Request::kSample: return Event::kSamples;
    case Request::kFillSpace: return Event::kSpaceFilled;
    case Request::BODY_NOT_SET: break;
  }
  return Event::BODY_NOT_SET;
}

}  // namespace

ExpectedAnswer AnswerTo(const Request& request) {
  ExpectedAnswer expected{.request = request.body_case(), .body = BodyFor(request.body_case())};
  if (request.has_inspect()) {
    expected.parts = request.inspect().targets_size();
    expected.existing_files = request.inspect().existing_files_size();
  }
  if (request.has_data_step()) expected.parts = request.data_step().targets_size();
  if (request.has_file_actions()) expected.parts = request.file_actions().actions_size();
  return expected;
}

absl::Status CheckAnswer(const ExpectedAnswer& expected, const Event& answer) {
  IOBENCH_RETURN_IF_ERROR(CheckProblem(expected, answer.problem()));
  if (answer.problem().code() != 0 && answer.body_case() == Event::BODY_NOT_SET) return absl::OkStatus();
  if (answer.body_case() != expected.body) {
    return absl::InvalidArgumentError(
        absl::StrCat("it answered ", NameOfField(*Request::descriptor(), expected.request), " with ",
                     NameOfField(*Event::descriptor(), answer.body_case())));
  }
  if (answer.has_inspected()) {
    IOBENCH_RETURN_IF_ERROR(CheckCount(expected, "targets", answer.inspected().targets_size(), expected.parts));
    IOBENCH_RETURN_IF_ERROR(CheckCount(expected, "existing files", answer.inspected().existing_files_size(),
                                       expected.existing_files));
    return CheckFields(expected, answer.inspected());
  }
  if (answer.has_data_step_done()) {
    const v1::DataStepDone& done = answer.data_step_done();
    const int most = std::max(done.claims_size(), done.held_by_another_size());
    if (most > expected.parts) IOBENCH_RETURN_IF_ERROR(CheckCount(expected, "claims", most, expected.parts));
    return CheckFields(expected, done);
  }
  if (answer.has_file_actions_done()) {
    IOBENCH_RETURN_IF_ERROR(
        CheckCount(expected, "results", answer.file_actions_done().results_size(), expected.parts));
    return CheckFields(expected, answer.file_actions_done());
  }
  return absl::OkStatus();
}

}  // namespace iobench
