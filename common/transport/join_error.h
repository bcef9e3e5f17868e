// Explains why a worker could not reach its coordinator, in place of gRPC's own messages.
#ifndef COMMON_TRANSPORT_JOIN_ERROR_H_
#define COMMON_TRANSPORT_JOIN_ERROR_H_

#include <string>
#include <string_view>

namespace iobench {

// Returns one clause without a final stop, for "no coordinator at ADDRESS within S s: …". `error`: gRPC's message,
// empty if there is none yet; an unknown message is returned unchanged. `speaks_grpc`: a gRPC server answered, but it
// does not offer our service.
std::string JoinErrorText(std::string_view error, bool speaks_grpc);

}  // namespace iobench

#endif  // COMMON_TRANSPORT_JOIN_ERROR_H_
