// Checks whether what a worker sends is an answer to what it was asked at all. Whether figures are possible is checked
// where they are used.
#ifndef COORDINATOR_CLUSTER_ANSWER_CHECK_H_
#define COORDINATOR_CLUSTER_ANSWER_CHECK_H_

#include "absl/status/status.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// What an answer must look like.
struct ExpectedAnswer {
  v1::WorkerRequest::BodyCase request = v1::WorkerRequest::BODY_NOT_SET;
  v1::WorkerEvent::BodyCase body = v1::WorkerEvent::BODY_NOT_SET;
  int parts = 0;           // as many as there were targets or actions; of DataStep, at most
  int existing_files = 0;  // as many as were asked about
};
ExpectedAnswer AnswerTo(const v1::WorkerRequest& request);

// InvalidArgument: `answer` is of another kind, has not one part for each that was asked for, or has texts or numbers that
// no worker sends. The message says what is wrong with "its answer". One that reports a problem needs no body.
absl::Status CheckAnswer(const ExpectedAnswer& expected, const v1::WorkerEvent& answer);

}  // namespace iobench

#endif  // COORDINATOR_CLUSTER_ANSWER_CHECK_H_
