#include "tests/support/scripted_nfs_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace iobench {
namespace {

constexpr uint32_t kMountProgram = 100005;
constexpr uint64_t kExport = 1, kDirectory = 2;
constexpr uint32_t kRegular = 1, kIsDirectory = 2, kSymlink = 5;
constexpr uint32_t kOk = 0, kNoEntry = 2, kExists = 17, kStale = 70;

void SendAll(int fd, const std::string& data) {
  for (size_t sent = 0; sent < data.size();) {
    const ssize_t moved = ::send(fd, data.data() + sent, data.size() - sent, MSG_NOSIGNAL);
    if (moved <= 0) return;
    sent += static_cast<size_t>(moved);
  }
}

}  // namespace

// Reads from the front of a message, writes to its end.
class ScriptedNfsServer::Xdr {
 public:
  explicit Xdr(std::string data = {}) : data_(std::move(data)) {}
  const std::string& data() const { return data_; }

  uint32_t Int() {
    uint32_t value = 0;
    if (at_ + 4 <= data_.size()) std::memcpy(&value, data_.data() + at_, 4);
    at_ += 4;
    return ntohl(value);
  }
  uint64_t Long() {
    const uint64_t high = Int();
    return high << 32 | Int();
  }
  std::string Opaque() {
    const uint32_t size = Int();
    const std::string value = at_ < data_.size() ? data_.substr(at_, size) : "";
    at_ += (size + 3) / 4 * 4;
    return value;
  }

  void WriteInt(uint32_t value) {
    const uint32_t big_endian = htonl(value);
    data_.append(reinterpret_cast<const char*>(&big_endian), 4);
  }
  void WriteLong(uint64_t value) {
    WriteInt(static_cast<uint32_t>(value >> 32));
    WriteInt(static_cast<uint32_t>(value));
  }
  void WriteOpaque(const std::string& value) {
    WriteInt(static_cast<uint32_t>(value.size()));
    data_ += value;
    data_.append((4 - value.size() % 4) % 4, '\0');
  }
  void WriteHandle(uint64_t id) {
    WriteInt(8);
    WriteLong(id);
  }
  uint64_t Handle() {
    Int();
    return Long();
  }

 private:
  std::string data_;
  size_t at_ = 0;
};

struct ScriptedNfsServer::Call {
  Xdr in;
  Xdr out;
  uint32_t proc = 0;
};

ScriptedNfsServer::ScriptedNfsServer() {
  {
    MutexLock lock(mutex_);
    nodes_[kExport] = {.type = kIsDirectory, .entries = {{"dir", kDirectory}}};
    nodes_[kDirectory] = {.type = kIsDirectory};
  }
  REQUIRE(::pipe(wake_) == 0);
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{
      .sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  REQUIRE(::listen(listener_, 64) == 0);
  socklen_t size = sizeof(address);
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Serve(); });
}

ScriptedNfsServer::~ScriptedNfsServer() {
  {
    MutexLock lock(mutex_);
    ends_ = true;
  }
  [[maybe_unused]] const ssize_t woken = ::write(wake_[1], "", 1);
  thread_.join();
  for (const int fd : {listener_, wake_[0], wake_[1]}) ::close(fd);
}

std::string ScriptedNfsServer::Url(const std::string& path) const {
  return absl::StrCat("nfs://127.0.0.1", path, "?nfsport=", port_, "&mountport=", port_);
}

uint64_t ScriptedNfsServer::AddNode(const std::string& name, Node node) {
  const uint64_t id = next_id_++;
  nodes_[id] = std::move(node);
  nodes_[kDirectory].entries[name] = id;
  return id;
}
ScriptedNfsServer::Node& ScriptedNfsServer::NodeOf(const std::string& name) {
  return nodes_[nodes_[kDirectory].entries[name]];
}

void ScriptedNfsServer::Put(const std::string& name, const std::string& content) {
  MutexLock lock(mutex_);
  AddNode(name, {.content = content});
}
void ScriptedNfsServer::AddSymlink(const std::string& name) {
  MutexLock lock(mutex_);
  AddNode(name, {.type = kSymlink});
}
std::string ScriptedNfsServer::ContentOf(const std::string& name) {
  MutexLock lock(mutex_);
  return NodeOf(name).content;
}
std::optional<std::string> ScriptedNfsServer::CommittedContentOf(const std::string& name) {
  MutexLock lock(mutex_);
  return NodeOf(name).committed;
}
int ScriptedNfsServer::CountOf(NfsProc proc) {
  MutexLock lock(mutex_);
  return counts_[static_cast<uint32_t>(proc)];
}
void ScriptedNfsServer::ForgetCounts() {
  MutexLock lock(mutex_);
  counts_.clear();
  stabilities_.clear();
  lengths_.clear();
}
int ScriptedNfsServer::MostInFlight(NfsProc proc) {
  MutexLock lock(mutex_);
  return max_together_[static_cast<uint32_t>(proc)];
}
std::vector<uint32_t> ScriptedNfsServer::StabilitiesAsked() {
  MutexLock lock(mutex_);
  return stabilities_;
}
std::vector<uint32_t> ScriptedNfsServer::LengthsOf(NfsProc proc) {
  MutexLock lock(mutex_);
  return lengths_[static_cast<uint32_t>(proc)];
}
void ScriptedNfsServer::SetMaxTransfer(uint32_t bytes) {
  MutexLock lock(mutex_);
  transfer_max_ = bytes;
}
void ScriptedNfsServer::AnswerAtMost(uint32_t bytes) {
  MutexLock lock(mutex_);
  answer_at_most_ = bytes;
}
void ScriptedNfsServer::AnswerTogether(NfsProc proc, int count) {
  MutexLock lock(mutex_);
  together_[static_cast<uint32_t>(proc)] = count;
}
void ScriptedNfsServer::FailAll(NfsProc proc, uint32_t nfsstat3) {
  MutexLock lock(mutex_);
  failures_[static_cast<uint32_t>(proc)] = nfsstat3;
}
void ScriptedNfsServer::HoldAtMost(uint64_t bytes_of_all_files, uint32_t nfsstat3) {
  MutexLock lock(mutex_);
  capacity_ = bytes_of_all_files;
  full_status_ = nfsstat3;
}
void ScriptedNfsServer::Commits(uint32_t stability) {
  MutexLock lock(mutex_);
  commits_ = stability;
}
void ScriptedNfsServer::Restart() {
  MutexLock lock(mutex_);
  ++verifier_;
}
void ScriptedNfsServer::AllowAccess(uint32_t mask) {
  MutexLock lock(mutex_);
  access_ = mask;
}
void ScriptedNfsServer::LeaveOutAttributes() {
  MutexLock lock(mutex_);
  attributes_ = false;
}
void ScriptedNfsServer::FallSilent(NfsProc proc) {
  MutexLock lock(mutex_);
  silent_[static_cast<uint32_t>(proc)] = true;
}
void ScriptedNfsServer::CloseConnections() {
  {
    MutexLock lock(mutex_);
    closes_ = true;
  }
  [[maybe_unused]] const ssize_t woken = ::write(wake_[1], "", 1);
  for (;;) {
    MutexLock lock(mutex_);
    if (!closes_) return;
  }
}

void ScriptedNfsServer::Serve() {
  std::vector<Connection> connections;
  const auto close_all = [&] {
    for (const Connection& connection : connections) ::close(connection.fd);
    connections.clear();
  };
  for (;;) {
    std::vector<pollfd> waits = {{listener_, POLLIN, 0}, {wake_[0], POLLIN, 0}};
    for (const Connection& connection : connections) waits.push_back({connection.fd, POLLIN, 0});
    ::poll(waits.data(), waits.size(), -1);
    if (waits[1].revents != 0) {
      char byte;
      [[maybe_unused]] const ssize_t taken = ::read(wake_[0], &byte, 1);
      MutexLock lock(mutex_);
      if (ends_ || closes_) {
        close_all();
        held_.clear();
        closes_ = false;
      }
      if (ends_) return;
      continue;
    }
    for (size_t i = connections.size(); i-- > 0;) {
      if (waits[i + 2].revents != 0 && !Receive(connections[i])) {
        ::close(connections[i].fd);
        connections.erase(connections.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    if (waits[0].revents != 0) {
      const int fd = ::accept(listener_, nullptr, nullptr);
      const int on = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      connections.push_back({.fd = fd});
    }
  }
}

bool ScriptedNfsServer::Receive(Connection& connection) {
  char buffer[1 << 16];
  const ssize_t got = ::recv(connection.fd, buffer, sizeof(buffer), 0);
  if (got <= 0) return false;
  connection.received.append(buffer, static_cast<size_t>(got));
  for (;;) {
    if (connection.received.size() < 4) return true;
    uint32_t marker = 0;
    std::memcpy(&marker, connection.received.data(), 4);
    const size_t size = ntohl(marker) & 0x7fffffff;
    if (connection.received.size() < 4 + size) return true;
    const std::string message = connection.received.substr(4, size);
    connection.received.erase(0, 4 + size);
    MutexLock lock(mutex_);
    Answer(connection, message);
  }
}

void ScriptedNfsServer::Answer(Connection& connection, const std::string& message) {
  Call call{.in = Xdr(message), .out = Xdr()};
  const uint32_t xid = call.in.Int();
  call.in.Int();  // CALL
  call.in.Int();  // RPC 2
  const uint32_t program = call.in.Int();
  call.in.Int();  // version
  call.proc = call.in.Int();
  for (int i = 0; i < 2; ++i) {  // credentials, verifier
    call.in.Int();
    call.in.Opaque();
  }
  for (const uint32_t value : {xid, 1u, 0u, 0u, 0u, 0u})
    call.out.WriteInt(value);  // accepted, no verifier, success
  if (program == kMountProgram) {
    Mount(call);
  } else {
    ++counts_[call.proc];
    if (silent_[call.proc]) return;
    Nfs(call);
  }
  Xdr marked;
  marked.WriteInt(0x80000000u | static_cast<uint32_t>(call.out.data().size()));
  const std::string answer = marked.data() + call.out.data();
  if (program == kMountProgram || together_[call.proc] == 0) return SendAll(connection.fd, answer);
  std::vector<Held>& held = held_[call.proc];
  held.push_back({connection.fd, answer});
  max_together_[call.proc] = std::max(max_together_[call.proc], static_cast<int>(held.size()));
  if (static_cast<int>(held.size()) < together_[call.proc]) return;
  // In reverse order, because nothing may depend on the order.
  for (size_t i = held.size(); i-- > 0;) SendAll(held[i].fd, held[i].answer);
  held.clear();
}

void ScriptedNfsServer::Mount(Call& call) {
  if (call.proc != 1) return;  // NULL, UMNT
  if (call.in.Opaque() != "/export") return call.out.WriteInt(kNoEntry);
  call.out.WriteInt(kOk);
  call.out.WriteHandle(kExport);
  call.out.WriteInt(1);
  call.out.WriteInt(1);  // AUTH_SYS
}

// post_op_attr
void ScriptedNfsServer::WriteAttributes(Xdr& out, uint64_t id) {
  const Node& node = nodes_[id];
  for (const uint32_t value : {1u, node.type, 0640u, 1u, 0u, 0u}) out.WriteInt(value);
  out.WriteLong(node.content.size());
  for (int i = 0; i < 3; ++i) out.WriteLong(0);  // used, rdev, fsid
  out.WriteLong(id);
  for (int i = 0; i < 3; ++i) out.WriteLong(0);  // times
}

void ScriptedNfsServer::Nfs(Call& call) {
  Xdr& out = call.out;
  const auto proc = static_cast<NfsProc>(call.proc);
  if (proc == NfsProc::kNull) return;
  const bool changes = proc == NfsProc::kWrite || proc == NfsProc::kCreate || proc == NfsProc::kCommit;
  const auto fail = [&](uint32_t status) {
    out.WriteInt(status);
    if (proc == NfsProc::kGetattr) return;
    out.WriteInt(0);
    if (changes) out.WriteInt(0);
  };
  if (failures_[call.proc] != 0) return fail(failures_[call.proc]);
  Xdr peeked = call.in;
  const uint64_t id = peeked.Handle();
  if (!nodes_.contains(id)) return fail(kStale);
  switch (proc) {
    case NfsProc::kGetattr: {
      out.WriteInt(kOk);
      Xdr attributes;
      WriteAttributes(attributes, id);
      Xdr rest(attributes.data().substr(4));
      call.out = Xdr(out.data() + rest.data());
      return;
    }
    case NfsProc::kAccess: {
      call.in.Handle();
      out.WriteInt(kOk);
      out.WriteInt(0);
      out.WriteInt(call.in.Int() & access_);
      return;
    }
    case NfsProc::kFsinfo: {
      out.WriteInt(kOk);
      out.WriteInt(0);
      for (int i = 0; i < 2; ++i) {
        for (const uint32_t value : {transfer_max_, transfer_max_, 1u}) out.WriteInt(value);
      }
      out.WriteInt(8192);
      out.WriteLong(INT64_MAX);
      out.WriteLong(1);
      out.WriteInt(0x1b);
      return;
    }
    case NfsProc::kCommit: {
      nodes_[id].committed = nodes_[id].content;
      for (const uint32_t value : {kOk, 0u, 0u}) out.WriteInt(value);
      out.WriteLong(verifier_);
      return;
    }
    case NfsProc::kLookup:
      return Lookup(call);
    case NfsProc::kRead:
      return Read(call);
    case NfsProc::kWrite:
      return Write(call);
    case NfsProc::kCreate:
      return Create(call);
    default:
      return fail(10004);  // NOTSUPP
  }
}

void ScriptedNfsServer::Lookup(Call& call) {
  const std::map<std::string, uint64_t>& entries = nodes_[call.in.Handle()].entries;
  const auto found = entries.find(call.in.Opaque());
  if (found == entries.end()) {
    for (const uint32_t value : {kNoEntry, 0u}) call.out.WriteInt(value);
    return;
  }
  call.out.WriteInt(kOk);
  call.out.WriteHandle(found->second);
  if (attributes_) {
    WriteAttributes(call.out, found->second);
  } else {
    call.out.WriteInt(0);
  }
  call.out.WriteInt(0);
}

void ScriptedNfsServer::Create(Call& call) {
  call.in.Handle();
  const std::string name = call.in.Opaque();
  const uint32_t mode = call.in.Int();
  const bool is_there = nodes_[kDirectory].entries.contains(name);
  if (is_there && mode == 1) {
    for (const uint32_t value : {kExists, 0u, 0u}) call.out.WriteInt(value);
    return;
  }
  const uint64_t id = is_there ? nodes_[kDirectory].entries[name] : AddNode(name, {.type = kRegular});
  call.out.WriteInt(kOk);
  call.out.WriteInt(attributes_ ? 1 : 0);
  if (attributes_) call.out.WriteHandle(id);
  for (int i = 0; i < 3; ++i) call.out.WriteInt(0);
}

void ScriptedNfsServer::Read(Call& call) {
  const std::string& content = nodes_[call.in.Handle()].content;
  const uint64_t offset = call.in.Long();
  uint32_t count = call.in.Int();
  lengths_[call.proc].push_back(count);
  if (answer_at_most_ > 0) count = std::min(count, answer_at_most_);
  const std::string data = offset < content.size() ? content.substr(offset, count) : "";
  call.out.WriteInt(kOk);
  call.out.WriteInt(0);
  call.out.WriteInt(static_cast<uint32_t>(data.size()));
  call.out.WriteInt(offset + data.size() >= content.size() ? 1 : 0);
  call.out.WriteOpaque(data);
}

void ScriptedNfsServer::Write(Call& call) {
  std::string& content = nodes_[call.in.Handle()].content;
  const uint64_t offset = call.in.Long();
  uint32_t count = call.in.Int();
  const uint32_t stability = call.in.Int();
  const std::string data = call.in.Opaque();
  lengths_[call.proc].push_back(count);
  stabilities_.push_back(stability);
  if (answer_at_most_ > 0) count = std::min(count, answer_at_most_);
  uint64_t others = 0;
  for (const auto& [id, node] : nodes_) others += node.content.size();
  others -= content.size();
  if (others + std::max<uint64_t>(content.size(), offset + count) > capacity_) {
    for (const uint32_t value : {full_status_, 0u, 0u}) call.out.WriteInt(value);
    return;
  }
  if (content.size() < offset + count) content.resize(offset + count);
  content.replace(offset, count, data, 0, count);
  for (const uint32_t value : {kOk, 0u, 0u, count, commits_.value_or(stability)}) call.out.WriteInt(value);
  call.out.WriteLong(verifier_);
}

}  // namespace iobench
