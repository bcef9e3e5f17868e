// The names that --transport accepts besides `auto`: one for each row of coordinator/stage/transports.cc, which does not
// compile if the two differ.
#ifndef COORDINATOR_OPTIONS_TRANSPORT_NAMES_H_
#define COORDINATOR_OPTIONS_TRANSPORT_NAMES_H_

#include <iterator>
#include <string_view>

namespace iobench {

inline constexpr std::string_view kTransportNames[] = {"local", "mpi", "grpc"};
// What --transport accepts.
inline constexpr std::string_view kTransportChoices[] = {"auto", kTransportNames[0], kTransportNames[1],
                                                         kTransportNames[2]};
static_assert(std::size(kTransportChoices) == 1 + std::size(kTransportNames));

}  // namespace iobench

#endif  // COORDINATOR_OPTIONS_TRANSPORT_NAMES_H_
