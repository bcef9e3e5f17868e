#include "coordinator/validate/checks/network_reading.h"

#include "coordinator/analysis/phase/host_delta.h"
#include "coordinator/validate/checks/check_context.h"

namespace iobench {
namespace {

constexpr const char* kCounters[] = {
    "sent-segments", "retransmitted-segments", "received-segments", "out-of-order-segments", "path-mtu",
    "round-trip",    "interface-errors",       "interface-drops"};

std::optional<uint64_t> NumberOf(const NetworkReading& reading, const char* name) {
  const auto found = reading.find(name);
  if (found == reading.end() || !found->second.has_number()) return std::nullopt;
  return found->second.number();
}

// nullopt: unknown, or of other connections than before.
std::optional<uint64_t> Grown(const NetworkReading& before, const NetworkReading& after, const char* name) {
  const std::optional<uint64_t> was = NumberOf(before, name), is = NumberOf(after, name);
  if (!was || !is || *is < *was || before.at(name).detail() != after.at(name).detail() ||
      before.at(name).answer() != after.at(name).answer()) {
    return std::nullopt;
  }
  return *is - *was;
}

}  // namespace

absl::StatusOr<NetworkReadings> ReadNetworks(CheckContext& context, uint32_t directory) {
  std::map<uint32_t, CallList> calls;
  for (const uint32_t worker : context.peers) {
    v1::FileAction& action =
        calls.emplace(worker, CallList(directory)).first->second.Add(v1::FileAction::TRY);
    for (const char* const counter : kCounters) action.add_trials(counter);
  }
  IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers results, context.files.DoAll(calls));
  NetworkReadings readings;
  for (const auto& [worker, of_worker] : results) {
    NetworkReading& reading = readings[worker];
    for (const v1::TrialResult& trial : of_worker.front().trials()) reading[trial.name()] = trial;
  }
  return readings;
}

std::optional<NetworkOfClient> NetworkBetween(const NetworkReading& before, const NetworkReading& after) {
  const auto sent = Grown(before, after, "sent-segments"),
             again = Grown(before, after, "retransmitted-segments");
  if (!sent || !again) return std::nullopt;
  NetworkOfClient network;
  v1::TransportReport& transport = network.transport;
  transport.set_sent_segments(*sent);
  transport.set_retransmitted_segments(*again);
  SetShare(transport);
  transport.set_of_servers(after.at("sent-segments").answer() == "servers");
  if (const auto errors = Grown(before, after, "interface-errors")) transport.set_interface_errors(*errors);
  if (const auto drops = Grown(before, after, "interface-drops")) transport.set_interface_drops(*drops);
  if (const auto mtu = NumberOf(after, "path-mtu"))
    transport.set_smallest_path_mtu(static_cast<uint32_t>(*mtu));
  if (const auto us = NumberOf(after, "round-trip"))
    transport.set_round_trip_ms(static_cast<double>(*us) / 1e3);
  if (transport.has_interface_errors()) network.interface = after.at("interface-errors").detail();
  network.received_segments = Grown(before, after, "received-segments").value_or(0);
  const auto late = Grown(before, after, "out-of-order-segments");
  if (late && network.received_segments >= kEnoughSegments)
    network.comes_late_share = static_cast<double>(*late) / static_cast<double>(network.received_segments);
  return network;
}

}  // namespace iobench
