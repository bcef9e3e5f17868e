// What may be the name of a host, whoever gives it: host lists, client lists, addresses, workers about themselves. Names
// become arguments of remote shells and parts of paths, so none can be an option or lead to another directory.
#ifndef COMMON_TEXT_HOST_NAME_H_
#define COMMON_TEXT_HOST_NAME_H_

#include <string_view>

#include "absl/status/status.h"

namespace iobench {

// InvalidArgument: `name` is empty or too long, is not UTF-8, has control characters or a slash, is . or .., or begins
// with a hyphen. The message continues a sentence that begins with what the name is of ("cannot begin with -: …"), and
// never contains the name.
absl::Status CheckHostName(std::string_view name);

}  // namespace iobench

#endif  // COMMON_TEXT_HOST_NAME_H_
