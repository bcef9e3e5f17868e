// Explains why a worker could not reach its coordinator, or lost it, in place of gRPC's own messages.
#ifndef COMMON_TRANSPORT_JOIN_ERROR_H_
#define COMMON_TRANSPORT_JOIN_ERROR_H_

#include <string>
#include <string_view>

namespace iobench {

// Returns one clause without a final stop, for "no coordinator at ADDRESS within S s: …". `error`: gRPC's message,
// empty if there is none yet; an unknown message is quoted. `speaks_grpc`: a gRPC server answered, but it does not offer our
// service.
std::string JoinErrorText(std::string_view error, bool speaks_grpc);

// The same for a connection that has broken, or that could not be restored.
std::string BrokenConnectionText(std::string_view error);

}  // namespace iobench

#endif  // COMMON_TRANSPORT_JOIN_ERROR_H_
