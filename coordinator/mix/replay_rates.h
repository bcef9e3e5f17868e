// Which rates of operations make given rates of NFS requests: what each operation asks of a server, as measured on the
// lab's kernel client, and the non-negative rates that come closest to what was observed. Pure.
#ifndef COORDINATOR_MIX_REPLAY_RATES_H_
#define COORDINATOR_MIX_REPLAY_RATES_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace iobench {

enum class NfsProtocol { k3, k4 };

// Requests whose rates are reproduced together have one class, named by the first of them: "OPEN" also stands for
// OPEN_NOATTR, "GETATTR" for LOOKUP, ACCESS and READLINK, which a client sends in place of each other, depending on
// what it remembers. Other requests are a class of their own.
std::string RequestClassOf(std::string_view request);

// An operation with its rate, and the requests per second of each class that it makes.
struct ReplayedOperation {
  std::string_view operation;
  double ops_per_s = 0;
  std::map<std::string, double> requests_per_s = {};
};

// Returns the operations whose requests come closest to `per_s`, the observed rate of each class, without those whose
// rate is 0. `per_s` may have classes that no operation makes.
std::vector<ReplayedOperation> RatesThatMake(const std::map<std::string, double>& per_s,
                                             NfsProtocol protocol);

// Why no rate of any operation can reproduce this request: it is the protocol's own, or no operation that leaves the
// tree as it was makes it. Empty: an operation makes it.
std::string_view WhyNoOperationMakes(std::string_view request_class);

}  // namespace iobench

#endif  // COORDINATOR_MIX_REPLAY_RATES_H_
