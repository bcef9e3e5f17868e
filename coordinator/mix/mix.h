// Finds, loads and checks mixes (iobench/v1/mix.proto).
#ifndef COORDINATOR_MIX_MIX_H_
#define COORDINATOR_MIX_MIX_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/mix.pb.h"

namespace iobench {

// Returns the mix that a user names with --mix, complete (CompleteMix): a YAML file, a mix that comes with the program
// (deploy/mixes), or text in the syntax of mix_text.h. A word that has a slash or ends in .yaml is a file; one with a
// blank, "@" or "%" is text. NotFound: there is no such file, or no such mix; the message lists the existing ones.
// InvalidArgument: the file or the text is wrong; one line that says where, and what is valid there.
absl::StatusOr<v1::Mix> FindMix(const std::string& what);

// The same for a YAML file, whose name is the default name of the mix. ReadMix does not complete or check it.
absl::StatusOr<v1::Mix> LoadMix(const std::string& file);
absl::StatusOr<v1::Mix> ReadMix(const std::string& file);

// Puts the parts of a mix without groups into one group, fills in names and numbers of clients, and checks everything.
// InvalidArgument: the percentages of a group do not add up to 100, a part has neither percentage nor rate, some parts
// have percentages and others rates, an operation cannot be part of a mix, or a size is missing. The message names the
// part.
absl::Status CompleteMix(v1::Mix& mix);

// True if the parts have rates; false: percentages. REQUIRES: CompleteMix.
bool HasRates(const v1::Mix& mix);

}  // namespace iobench

#endif  // COORDINATOR_MIX_MIX_H_
