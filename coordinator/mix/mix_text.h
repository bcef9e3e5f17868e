// The short syntax of mixes on the command line.
#ifndef COORDINATOR_MIX_MIX_TEXT_H_
#define COORDINATOR_MIX_MIX_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "iobench/v1/mix.pb.h"

namespace iobench {

// Parses parts that are separated by "+", each with a percentage of the ops; one part may leave it out and gets the
// rest:
//   70r:30w@8k              random reads and writes of 8 KiB, drawn op by op
//   100r@1m seq 60%         sequential reads of 1 MiB; "70r:30w@1m seq" is a part of reads and one of writes
//   stat 10%                an operation by its name; "random-read@4k 5%" with its record size
//   metadata 10%            stat, which stands for the LOOKUP and GETATTR of a server
// A size without a unit is in KiB, as with -r. The result is not complete (CompleteMix). InvalidArgument: the message
// quotes the part that is wrong and shows the syntax.
absl::StatusOr<v1::Mix> ParseMixText(const std::string& text);

}  // namespace iobench

#endif  // COORDINATOR_MIX_MIX_TEXT_H_
