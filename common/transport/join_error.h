// Why a worker has not reached its coordinator, in place of gRPC's own words.
#ifndef COMMON_TRANSPORT_JOIN_ERROR_H_
#define COMMON_TRANSPORT_JOIN_ERROR_H_

#include <string>
#include <string_view>

namespace iobench {

// `error`: gRPC's message, empty: it has none yet. `speaks_grpc`: something answered, which has no such service.
std::string JoinErrorForPeople(std::string_view error, bool speaks_grpc);

}  // namespace iobench

#endif  // COMMON_TRANSPORT_JOIN_ERROR_H_
