#include "coordinator/options/cluster_options.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/host_name.h"
#include "common/text/units.h"

namespace iobench {
namespace {

// `list`: the option that lists the workers' hosts.
absl::Status CheckClientList(const ClusterOptions& place, const char* list) {
  for (const auto& [given, name] :
       {std::pair{place.spawn > 0, "--spawn"}, std::pair{place.workers > 0, "--workers"},
        std::pair{place.transport == "local", "--transport local"},
        std::pair{place.transport == "mpi", "--transport mpi"}}) {
    if (!given) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(list, " lists the workers and starts them: it cannot be combined with ", name));
  }
  if (place.tls_ca.empty()) return absl::OkStatus();
  // They get a token and the coordinator's certificate, but none of their own.
  return absl::InvalidArgumentError(absl::StrCat(
      "--tls-ca admits only workers that have a certificate, and those that ", list,
      " starts have none: leave out --tls-ca (they get a token), or start workers with certificates yourself and "
      "use --listen ADDR --workers N"));
}

absl::Status CheckHosts(const ClusterOptions& place) {
  if (!place.hosts.empty() && !place.client_list.empty()) {
    return absl::InvalidArgumentError(
        "--hosts and -+m (--client-list) both list the workers: use only one of the two");
  }
  if (!place.launcher.empty() && place.hosts.empty() && place.client_list.empty()) {
    return absl::InvalidArgumentError(
        "--launcher starts workers on other hosts: it needs --hosts LIST or -+m (--client-list)");
  }
  if (place.copy_binary && place.hosts.empty()) {
    return absl::InvalidArgumentError(
        place.client_list.empty() ? "--copy-binary ships the program to other hosts: it needs --hosts LIST"
                                  : "-+m (--client-list) names the program on each client: --copy-binary "
                                    "needs --hosts LIST");
  }
  return absl::OkStatus();
}

absl::Status CheckSamplers(const ClusterOptions& place) {
  if (place.samplers > 0 && (!place.hosts.empty() || !place.client_list.empty())) {
    return absl::InvalidArgumentError(
        place.client_list.empty()
            ? "--samplers N is for samplers that join by themselves: with --hosts, use --sampler-hosts LIST"
            : "--samplers N cannot be combined with -+m (--client-list), which takes no samplers: use "
              "--hosts LIST with --sampler-hosts LIST");
  }
  if (place.samplers > 0 && place.listen.empty()) {
    return absl::InvalidArgumentError(
        "--samplers N waits for samplers that join by themselves: it needs --listen ADDR; with --hosts, use "
        "--sampler-hosts LIST");
  }
  if (!place.sampler_hosts.empty() && place.hosts.empty()) {
    return absl::InvalidArgumentError(
        "--sampler-hosts starts samplers on servers: it needs --hosts LIST, the clients; with --listen, use --samplers N "
        "and start `worker --sampler` on each server");
  }
  if (place.sample_interval_given && place.samplers == 0 && place.sampler_hosts.empty()) {
    return absl::InvalidArgumentError(
        "--sample-interval is for samplers: it needs --sampler-hosts LIST or --samplers N");
  }
  return absl::OkStatus();
}

// The label appears in titles and in each row of CSV files.
absl::Status CheckLabel(const std::string& label) {
  constexpr size_t kMaxColumns = 200;
  if (DisplayColumns(label) > kMaxColumns) {
    return absl::InvalidArgumentError(absl::StrCat("--label has ", DisplayColumns(label),
                                                   " characters, and at most ", kMaxColumns,
                                                   " fit into reports"));
  }
  if (Printable(label) == label) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--label has characters that cannot be printed, such as line breaks: leave them out");
}

// In other programs -b is the size of a block, and a workbook of that name would be written without a word.
absl::Status CheckWorkbook(const std::string& file) {
  if (file.empty() || !ParseBytes(file, 1).ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("-b (--workbook) names a file for the report, and \"", file, "\" is a size: -r ", file,
                   " (--record) sets the record size, -s the data per lane; a file of this name is -b ./", file));
}

// Workers of other hosts get it on their command lines.
absl::Status CheckCoordinatorHost(const std::string& host) {
  const absl::Status possible = host.empty() ? absl::OkStatus() : CheckHostName(host);
  return possible.ok() ? possible
                       : absl::InvalidArgumentError(
                             absl::StrCat("-+h (--coordinator-host): a host's name ", possible.message()));
}

// The saved run has a plan, a label and a directory.
absl::Status CheckResume(const ClusterOptions& place) {
  if (place.resume.empty() && !place.without.empty()) {
    return absl::InvalidArgumentError(
        "--without CLIENT is for a saved run that goes on without a dead client: it needs --resume DIR");
  }
  if (place.resume.empty()) return absl::OkStatus();
  for (const auto& [given, name] :
       {std::pair{!place.out.empty(), "--out"}, std::pair{!place.label.empty(), "--label"},
        std::pair{place.net_test, "-+t (--net-test)"}}) {
    if (!given) continue;
    return absl::InvalidArgumentError(absl::StrCat("--resume goes on with the saved run in ", place.resume,
                                                   ": it cannot be combined with ", name));
  }
  return absl::OkStatus();
}

absl::StatusOr<Patience> GivenPatience(const ClusterOptions& place) {
  const auto if_given = [](bool given, double seconds) { return given ? std::optional(seconds) : std::nullopt; };
  return PatienceFrom(if_given(place.lost_after_given, place.lost_after_s),
                      if_given(place.lease_given, place.lease_s));
}

}  // namespace

Patience PatienceOf(const ClusterOptions& place) {
  return *GivenPatience(place);
}

absl::Status CheckClusterOptions(const ClusterOptions& place) {
  IOBENCH_RETURN_IF_ERROR(GivenPatience(place).status());
  IOBENCH_RETURN_IF_ERROR(CheckResume(place));
  IOBENCH_RETURN_IF_ERROR(CheckLabel(place.label));
  IOBENCH_RETURN_IF_ERROR(CheckWorkbook(place.workbook));
  IOBENCH_RETURN_IF_ERROR(CheckHosts(place));
  IOBENCH_RETURN_IF_ERROR(CheckCoordinatorHost(place.coordinator_host));
  IOBENCH_RETURN_IF_ERROR(CheckSamplers(place));
  if (place.hook_timeout_given && place.before_phase.empty() && place.after_phase.empty()) {
    return absl::InvalidArgumentError(
        "--hook-timeout limits commands around phases: it needs --before-phase or --after-phase");
  }
  if (!place.hosts.empty()) return CheckClientList(place, "--hosts");
  if (!place.client_list.empty()) return CheckClientList(place, "-+m (--client-list)");
  if (!place.coordinator_host.empty() && !place.net_test) {
    return absl::InvalidArgumentError(
        "-+h (--coordinator-host) is the address given to clients: it needs --hosts, -+m (--client-list) or -+t "
        "(--net-test)");
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
                                                   " cannot be combined with --transport ", place.transport));
  }
  if (!wants_grpc && place.transport == "grpc") {
    return absl::InvalidArgumentError(
        "--transport grpc needs --hosts LIST, --listen ADDR --workers N, --spawn N or --client-list FILE");
  }
  return absl::OkStatus();
}

absl::Status CheckNetTest(const ClusterOptions& place, const GivenOptions& given) {
  if (!place.net_test) return absl::OkStatus();
  for (const auto& [set, name] :
       {std::pair{place.live, "--live"}, std::pair{!place.live_csv.empty(), "--live-csv"},
        std::pair{!place.live_metrics.empty(), "--live-metrics"},
        std::pair{!place.workbook.empty(), "-b (--workbook)"}, std::pair{!place.formats.empty(), "--format"},
        std::pair{!place.label.empty(), "--label"}, std::pair{place.skip_bad, "--skip-bad"},
        std::pair{place.max_duration_s > 0, "--max-duration"},
        std::pair{place.share_wait_given, "--share-wait"},
        std::pair{!place.before_phase.empty(), "--before-phase"},
        std::pair{!place.after_phase.empty(), "--after-phase"}, std::pair{place.samplers > 0, "--samplers"},
        std::pair{!place.sampler_hosts.empty(), "--sampler-hosts"}}) {
    if (!set) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        name, " is for the phases of a run: it cannot be combined with -+t (--net-test), which has none"));
  }
  constexpr OptionName kUsed[] = {"record", "time", "lanes", "path"};
  for (const OptionSpec* option : given.options()) {
    const bool used = IsAmong(*option, kUsed);
    const bool once = !used || option == &OptionNamed("path") || given.Count(*option) == 1;
    if (used && once) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        BothNamesOf(*option), " cannot be combined with -+t (--net-test), which uses no files and ",
        used ? "takes one value for it"
             : "ignores it: use -r for the record size and --time for the duration"));
  }
  return absl::OkStatus();
}

absl::Status CheckUsesOf(const ClusterOptions& place, const std::string& transport) {
  if (place.live && transport == "mpi") {
    return absl::InvalidArgumentError(
        "--live needs the terminal, which mpirun keeps to itself: leave it out, or use --progress, --live-csv or "
        "--live-metrics");
  }
  const bool listens = !place.listen.empty() || !place.client_list.empty() || !place.hosts.empty();
  if (place.insecure && !listens && transport != "mpi") {
    return absl::InvalidArgumentError(
        "--insecure only affects workers that join over the network: it needs --hosts, --listen ADDR or -+m "
        "(--client-list)");
  }
  for (const auto& [file, name] :
       {std::pair{&place.token_file, "--token-file"}, std::pair{&place.tls_cert, "--tls-cert"},
        std::pair{&place.tls_key, "--tls-key"}, std::pair{&place.tls_ca, "--tls-ca"},
        std::pair{&place.tls_crl, "--tls-crl"}}) {
    if (file->empty() || !place.listen.empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(name, " protects connections of workers that join at --listen ADDR, which is missing"));
  }
  const bool has_token = !place.token_file.empty() || ((!place.hosts.empty() || !place.client_list.empty()) && !place.insecure);
  if (place.token_ttl_s > 0 && !has_token) {
    return absl::InvalidArgumentError("--token-ttl ends a token, and this run has none: it needs --token-file FILE or --hosts");
  }
  for (const auto& [given, name] :
       {std::pair{place.skip_bad, "--skip-bad"}, std::pair{place.share_wait_given, "--share-wait"}}) {
    if (!given || transport != "local") continue;
    return absl::InvalidArgumentError(
        absl::StrCat(name,
                     " is about several workers: it needs --hosts, --listen ADDR, --spawn N, -+m "
                     "(--client-list) or mpirun"));
  }
  if (place.join_timeout_given && transport == "local") {
    return absl::InvalidArgumentError(
        "--join-timeout only affects workers that join: it needs --hosts, --listen ADDR, --spawn N, -+m "
        "(--client-list) or mpirun");
  }
  return absl::OkStatus();
}

}  // namespace iobench
