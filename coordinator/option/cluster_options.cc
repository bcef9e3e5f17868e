#include "coordinator/option/cluster_options.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"

namespace iobench {
namespace {

absl::Status CheckClientList(const ClusterOptions& place) {
  for (const auto& [given, name] :
       {std::pair{place.spawn > 0, "--spawn"}, std::pair{place.workers > 0, "--workers"},
        std::pair{place.transport == "local", "--transport local"},
        std::pair{place.transport == "mpi", "--transport mpi"}}) {
    if (!given) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("-+m (--client-list) lists the workers and starts them: it cannot go with ", name));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckClusterOptions(const ClusterOptions& place) {
  if (!place.client_list.empty()) return CheckClientList(place);
  if (!place.coordinator_host.empty() && !place.net_test) {
    return absl::InvalidArgumentError(
        "-+h (--coordinator-host) is the address given to clients: it needs -+m (--client-list) or -+t (--net-test)");
  }
  if (place.listen.empty() != (place.workers == 0)) {
    return absl::InvalidArgumentError(
        place.listen.empty() ? "--workers N needs --listen ADDR, where they join"
                             : "--listen ADDR needs --workers N, the number of workers to wait for");
  }
  if (place.spawn > 0 && !place.listen.empty()) {
    return absl::InvalidArgumentError(
        "--spawn starts workers, --listen waits for them: use only one of the two");
  }
  const bool wants_grpc = place.spawn > 0 || !place.listen.empty();
  if (wants_grpc && (place.transport == "local" || place.transport == "mpi")) {
    return absl::InvalidArgumentError(absl::StrCat(place.spawn > 0 ? "--spawn" : "--listen",
                                                   " cannot go with --transport ", place.transport));
  }
  if (!wants_grpc && place.transport == "grpc") {
    return absl::InvalidArgumentError(
        "--transport grpc needs --listen ADDR --workers N, --spawn N or --client-list FILE");
  }
  return absl::OkStatus();
}

absl::Status CheckNetTest(const ClusterOptions& place, const GivenOptions& given) {
  if (!place.net_test) return absl::OkStatus();
  constexpr std::string_view kUsed[] = {"record", "time", "lanes", "path"};
  for (const OptionSpec* option : given.options()) {
    const bool used = std::find(std::begin(kUsed), std::end(kUsed), option->name) != std::end(kUsed);
    const bool once = !used || option->name == "path" || given.Texts(option->name).size() == 1;
    if (used && once) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(BothNamesOf(*option), " cannot go with -+t (--net-test), which uses no files and ",
                     used ? "takes one value for it"
                          : "ignores it: use -r for the record size and --time for the duration"));
  }
  return absl::OkStatus();
}

absl::Status CheckUsesOf(const ClusterOptions& place, const std::string& transport) {
  const bool listens = !place.listen.empty() || !place.client_list.empty();
  if (place.insecure && !listens && transport != "mpi") {
    return absl::InvalidArgumentError(
        "--insecure only affects workers that join over the network: it needs --listen ADDR or -+m (--client-list)");
  }
  if (place.join_timeout_given && transport == "local") {
    return absl::InvalidArgumentError(
        "--join-timeout only affects workers that join: it needs --listen ADDR, --spawn N, -+m (--client-list) or "
        "mpirun");
  }
  return absl::OkStatus();
}

}  // namespace iobench
