// Trials of what the client knows of its NFS server: whether it lost its connection or its state, and whether the
// services that keep NFSv3 locks alive answer. They change nothing and do not touch the file system.
#include <arpa/inet.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "common/net/tcp_socket.h"
#include "common/proc_file.h"
#include "common/status_util.h"
#include "worker/check/trial/trial.h"
#include "worker/client/mountstats.h"
#include "worker/client/server_route.h"
#include "worker/storage/mounts.h"

namespace iobench {
namespace {

constexpr double kAnswerS = 2;
constexpr uint32_t kPortOfRpcbind = 111, kStatd = 100024, kStatdVersion = 1;

std::string TextOf(const char* file) {
  return ReadWholeFile(file).value_or("");
}

// The numbers of the line that begins with this word.
std::vector<uint64_t> NumbersOf(const std::string& text, const std::string& word) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.empty() || words[0] != word) continue;
    std::vector<uint64_t> numbers(words.size() - 1);
    for (size_t i = 1; i < words.size(); ++i) {
      if (!absl::SimpleAtoi(words[i], &numbers[i - 1])) return {};
    }
    return numbers;
  }
  return {};
}

// How often this client has connected to the server, over all connections of the mount.
absl::Status CountConnects(const TrialPlace& place, v1::TrialResult& result) {
  const std::optional<Mount> mount = MountOf(place.directory_fd, place.path);
  if (!mount) return absl::OkStatus();
  const auto mounts = ParseMountstats(TextOf("/proc/self/mountstats"));
  const NfsMountCounters* const counters = FindNfsMount(mounts, mount->mount_point);
  if (counters == nullptr || counters->connections.empty()) return absl::OkStatus();
  uint64_t connects = 0;
  for (const NfsConnectionCounters& connection : counters->connections) {
    if (!connection.connects) return absl::OkStatus();
    connects += *connection.connects;
  }
  result.set_number(connects);
  return absl::OkStatus();
}

// How often this client has told an NFSv4 server who it is: when it mounts, and when the server no longer knows it.
// An NFSv3 server never asks: without a mount of NFSv4 there is no number, although the kernel has a counter.
// The positions of the kernel's NFSPROC4_CLNT_SETCLIENTID and …_EXCHANGE_ID (include/linux/nfs4.h) never change.
absl::Status CountIntroductions(const TrialPlace& place, v1::TrialResult& result) {
  const std::optional<Mount> mount = MountOf(place.directory_fd, place.path);
  if (!mount || mount->filesystem != "nfs4") return absl::OkStatus();
  constexpr size_t kCount = 0, kSetClientId = 1 + 12, kExchangeId = 1 + 38;
  const std::vector<uint64_t> calls = NumbersOf(TextOf("/proc/net/rpc/nfs"), "proc4");
  if (calls.size() <= kExchangeId || calls[kCount] + 1 > calls.size()) return absl::OkStatus();
  result.set_number(calls[kSetClientId] + calls[kExchangeId]);
  return absl::OkStatus();
}

// How often TCP of this client waited in vain for an acknowledgement: a host that is there acknowledges, or refuses.
absl::Status CountTcpTimeouts(const TrialPlace&, v1::TrialResult& result) {
  const std::vector<std::string> lines = absl::StrSplit(TextOf("/proc/net/netstat"), '\n');
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    if (!lines[i].starts_with("TcpExt:") || !lines[i + 1].starts_with("TcpExt:")) continue;
    const std::vector<std::string> names = absl::StrSplit(lines[i], ' ');
    const std::vector<std::string> values = absl::StrSplit(lines[i + 1], ' ');
    uint64_t count = 0;
    for (size_t at = 0; at < std::min(names.size(), values.size()); ++at) {
      if (names[at] == "TCPTimeouts" && absl::SimpleAtoi(values[at], &count)) result.set_number(count);
    }
    break;
  }
  return absl::OkStatus();
}

// The port at which a program of version 1 is registered, by rpcbind's PMAPPROC_GETPORT over TCP (RFC 1833); 0: none.
absl::StatusOr<uint32_t> PortOf(const std::string& host, uint32_t program, uint32_t version) {
  IOBENCH_ASSIGN_OR_RETURN(TcpSocket socket, TcpSocket::Connect(host, kPortOfRpcbind, kAnswerS));
  IOBENCH_RETURN_IF_ERROR(socket.SetTimeout(kAnswerS));
  constexpr uint32_t kLastFragment = 0x80000000, kXid = 0x696f6265, kCall = 0, kRpcVersion = 2;
  constexpr uint32_t kPortmapper = 100000, kPortmapperVersion = 2, kGetPort = 3, kTcp = 6, kNoAuth = 0;
  std::array<uint32_t, 15> call = {kLastFragment | 14 * 4,
                                   kXid,
                                   kCall,
                                   kRpcVersion,
                                   kPortmapper,
                                   kPortmapperVersion,
                                   kGetPort,
                                   kNoAuth,
                                   0,
                                   kNoAuth,
                                   0,
                                   program,
                                   version,
                                   kTcp,
                                   0};
  for (uint32_t& word : call) word = htonl(word);
  IOBENCH_RETURN_IF_ERROR(socket.WriteAll(std::as_bytes(std::span(call))));
  // Fragment header, xid, reply, accepted, verifier (2), success, port.
  std::array<uint32_t, 8> reply{};
  IOBENCH_RETURN_IF_ERROR(socket.ReadAll(std::as_writable_bytes(std::span(reply))));
  for (uint32_t& word : reply) word = ntohl(word);
  const bool accepted = reply[1] == kXid && reply[2] == 1 && reply[3] == 0 && reply[6] == 0;
  if (!accepted) return absl::UnavailableError("rpcbind refuses the question");
  return reply[7];
}

// Answers "yes" if rpc.statd of the host is registered and takes connections, "no" with the reason otherwise.
void AskStatd(const std::string& host, v1::TrialResult& result) {
  const absl::StatusOr<uint32_t> port = PortOf(host, kStatd, kStatdVersion);
  const absl::Status reached = !port.ok()   ? Annotate(port.status(), "rpcbind")
                               : *port == 0 ? absl::NotFoundError("it is not registered with rpcbind")
                                            : TcpSocket::Connect(host, *port, kAnswerS).status();
  result.set_answer(reached.ok() ? "yes" : "no");
  if (!reached.ok()) result.set_detail(std::string(reached.message()));
}

absl::Status TryStatdHere(const TrialPlace&, v1::TrialResult& result) {
  AskStatd("127.0.0.1", result);
  return absl::OkStatus();
}

absl::Status TryStatdOfServer(const TrialPlace& place, v1::TrialResult& result) {
  const std::optional<Mount> mount = MountOf(place.directory_fd, place.path);
  const std::string server = mount ? ServerAddressOf(*mount) : "";
  if (!server.empty()) AskStatd(server, result);
  return absl::OkStatus();
}

// Without an answer or number: this client cannot tell.
constexpr Trial kServerTrials[] = {
    {"server-connects", "number: connections made to the server since the mount", CountConnects},
    {"server-introductions", "number: how often an NFSv4 server had to learn who this client is",
     CountIntroductions},
    {"tcp-timeouts", "number: segments that no host acknowledged in time", CountTcpTimeouts},
    {"statd", "yes or no: rpc.statd of this client answers", TryStatdHere},
    {"server-statd", "yes or no: rpc.statd of the server answers", TryStatdOfServer},
};

}  // namespace

std::span<const Trial> ServerTrials() {
  return kServerTrials;
}

}  // namespace iobench
