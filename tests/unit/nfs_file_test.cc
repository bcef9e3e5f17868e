// The built-in NFS client sends the right calls, reports errors and keeps its time limits, against a scripted server.
#include "worker/storage/nfs_file.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nfsc/libnfs.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

#include "common/status_util.h"
#include "tests/support/scripted_nfs_server.h"

namespace iobench {
namespace {

constexpr NfsOpen kBoth{.read = true, .write = true};
constexpr NfsOpen kNew{.read = true, .write = true, .create = true};
// Enough for the replies that do come, on a busy machine too.
constexpr NfsPatience kLittle{.connect_s = 5, .reply_s = 1, .commit_s = 1};

std::unique_ptr<NfsConnection> ConnectTo(const ScriptedNfsServer& server, const NfsPatience& patience = {}) {
  auto connection = NfsConnection::Connect(server.Url(), patience);
  INFO(connection.status().message());
  REQUIRE(connection.ok());
  return *std::move(connection);
}

std::unique_ptr<NfsFile> OpenAt(NfsConnection& connection, const std::string& name, const NfsOpen& how) {
  auto file = NfsFile::Open(connection, connection.directory(), name, how);
  INFO(file.status().message());
  REQUIRE(file.ok());
  return *std::move(file);
}

std::string Pattern(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 31 + i / 4096);
  return text;
}

std::span<const std::byte> BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string ReadFrom(NfsFile& file, uint64_t offset, size_t bytes) {
  std::string text(bytes, '?');
  const auto got = file.Read(offset, std::as_writable_bytes(std::span(text)));
  INFO(got.status().message());
  REQUIRE(got.ok());
  return text.substr(0, *got);
}

bool Says(const absl::Status& status, const std::string& text) {
  return status.message().find(text) != absl::string_view::npos;
}

// ---- the connection

TEST_CASE(
    "a connection mounts the longest part of its URL that the server lets it mount, and goes on from there") {
  ScriptedNfsServer server;  // mounts /export, not /export/dir
  server.Put("a", "hello");
  const auto connection = ConnectTo(server);
  REQUIRE(connection->server() == "127.0.0.1");
  REQUIRE(ReadFrom(*OpenAt(*connection, "a", {.read = true}), 0, 100) == "hello");
}

TEST_CASE("calls are sent at once, and do not wait for an answer to the one before") {
  ScriptedNfsServer server;
  const auto connection = ConnectTo(server);
  int on = 0;
  socklen_t size = sizeof(on);
  REQUIRE(getsockopt(nfs_get_fd(connection->context()), IPPROTO_TCP, TCP_NODELAY, &on, &size) == 0);
  REQUIRE(on == 1);
}

TEST_CASE("a URL that cannot be mounted says why") {
  ScriptedNfsServer server;
  SECTION("no such export") {
    const auto status = NfsConnection::Connect(server.Url("/elsewhere/dir")).status();
    REQUIRE(absl::IsNotFound(status));
    REQUIRE(Says(status, "/elsewhere/dir"));
    REQUIRE(Says(status, "MNT3ERR_NOENT"));
  }
  SECTION("no such directory in an export") {
    const auto status = NfsConnection::Connect(server.Url("/export/none")).status();
    REQUIRE(absl::IsNotFound(status));
    REQUIRE(Says(status, "/export/none"));
  }
  SECTION("a file") {
    server.Put("a", "");
    REQUIRE_FALSE(NfsConnection::Connect(server.Url("/export/dir/a")).ok());
  }
  SECTION("nobody listens") {
    const auto status = NfsConnection::Connect("nfs://127.0.0.1/export?nfsport=1&mountport=1").status();
    REQUIRE(absl::IsUnavailable(status));
    REQUIRE(Says(status, "127.0.0.1"));
    REQUIRE(Says(status, "Connection refused"));
  }
  SECTION("no host of that name") {
    REQUIRE(absl::IsNotFound(NfsConnection::Connect("nfs://no-such-host.invalid/export").status()));
  }
  SECTION("no URL") {
    REQUIRE(absl::IsInvalidArgument(NfsConnection::Connect("/export/dir").status()));
    REQUIRE(absl::IsInvalidArgument(NfsConnection::Connect("nfs://host").status()));
  }
}

TEST_CASE("a server that falls silent is given up after the patience, and the connection stays lost") {
  ScriptedNfsServer server;
  server.Put("a", Pattern(100));
  const auto connection = ConnectTo(server, kLittle);
  const auto file = OpenAt(*connection, "a", kBoth);
  absl::Status status;
  const auto begin = std::chrono::steady_clock::now();
  SECTION("READ") {
    server.FallSilent(NfsProc::kRead);
    std::string text(100, ' ');
    status = file->Read(0, std::as_writable_bytes(std::span(text))).status();
    REQUIRE(Says(status, "1 call in flight"));
  }
  SECTION("COMMIT") {
    server.FallSilent(NfsProc::kCommit);
    REQUIRE(file->Write(0, BytesOf("x")).ok());
    status = file->Commit();
    REQUIRE(Says(status, "COMMIT a"));
  }
  SECTION("LOOKUP") {
    server.FallSilent(NfsProc::kLookup);
    status = NfsFile::Open(*connection, connection->directory(), "a", kBoth).status();
    REQUIRE(Says(status, "LOOKUP a"));
  }
  SECTION("a call of libnfs itself") {
    server.FallSilent(NfsProc::kLookup);
    status = connection->Call("stat a", [](nfs_context* context, NfsConnection::Callback done, void* self) {
      return nfs_stat64_async(context, "a", done, self);
    });
    REQUIRE(Says(status, "stat a"));
  }
  REQUIRE(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(990));
  REQUIRE(absl::IsDeadlineExceeded(status));
  REQUIRE(Says(status, "127.0.0.1"));
  REQUIRE(Says(status, "for 1 s"));
  REQUIRE(connection->lost() == status);
  REQUIRE(connection->CheckAlive() == status);
  REQUIRE(connection->context() == nullptr);
  REQUIRE(NfsFile::Open(*connection, connection->directory(), "a", kBoth).status() == status);
  REQUIRE(file->Write(0, BytesOf("y")) == status);
}

TEST_CASE("a server that is silent while the connection is made is given up too") {
  ScriptedNfsServer server;
  server.FallSilent(GENERATE(NfsProc::kNull, NfsProc::kFsinfo, NfsProc::kGetattr));
  const absl::Status status = NfsConnection::Connect(server.Url(), {.connect_s = 1, .reply_s = 1}).status();
  INFO(status.message());
  REQUIRE(absl::IsDeadlineExceeded(status));
  REQUIRE(Says(status, "for 1 s"));
}

TEST_CASE("a server that is named by an IPv6 address is shown as the URL has it") {
  const absl::Status status = NfsConnection::Connect("nfs://[::1]/e?nfsport=1&mountport=1").status();
  INFO(status.message());
  REQUIRE(absl::IsUnavailable(status));
  REQUIRE(Says(status, "mount nfs://[::1]/e"));
  REQUIRE(Says(status, "NFS server [::1] "));
}

TEST_CASE("the URL's timeo is the patience, in tenths of a second") {
  ScriptedNfsServer server;
  server.Put("a", "");
  const auto connection = *NfsConnection::Connect(server.Url() + "&timeo=11");
  server.FallSilent(NfsProc::kLookup);
  const absl::Status status = NfsFile::Open(*connection, connection->directory(), "a", kBoth).status();
  REQUIRE(Says(status, "for 1.1 s"));
}

TEST_CASE("a connection that the server has closed is noticed, while idle and while calls are in flight") {
  ScriptedNfsServer server;
  server.Put("a", Pattern(10));
  const auto connection = ConnectTo(server);
  const auto file = OpenAt(*connection, "a", kBoth);
  REQUIRE(connection->CheckAlive().ok());
  server.CloseConnections();
  SECTION("idle") {
    REQUIRE(absl::IsUnavailable(connection->CheckAlive()));
  }
  SECTION("with a call") {
    REQUIRE(absl::IsUnavailable(file->Write(0, BytesOf("x"))));
  }
  REQUIRE(Says(connection->lost(), "has closed the connection"));
}

TEST_CASE("calls of libnfs work on paths below the directory of the URL, and their errors are the server's") {
  ScriptedNfsServer server;
  server.Put("a", "12345");
  const auto connection = ConnectTo(server);
  uint64_t size = 0;
  const auto look_at = [&](const char* name) {
    return connection->Call(
        "stat",
        [&](nfs_context* context, NfsConnection::Callback done, void* self) {
          return nfs_stat64_async(context, name, done, self);
        },
        [&](int, void* data) { size = static_cast<nfs_stat_64*>(data)->nfs_size; });
  };
  REQUIRE(look_at("a").ok());
  REQUIRE(size == 5);
  REQUIRE(ErrnoOf(look_at("b")) == ENOENT);
  REQUIRE(connection->lost().ok());
}

// ---- files

TEST_CASE("what is opened is looked up and asked for access, and made only where that is wanted") {
  ScriptedNfsServer server;
  server.Put("a", "12345");
  const auto connection = ConnectTo(server);
  server.ForgetCounts();
  REQUIRE(OpenAt(*connection, "a", kBoth)->bytes_at_open() == 5);
  REQUIRE(server.CountOf(NfsProc::kLookup) == 1);
  REQUIRE(server.CountOf(NfsProc::kAccess) == 1);
  REQUIRE(server.CountOf(NfsProc::kCreate) == 0);
  REQUIRE(server.CountOf(NfsProc::kGetattr) == 0);
  REQUIRE(ErrnoOf(NfsFile::Open(*connection, connection->directory(), "b", kBoth).status()) == ENOENT);
  REQUIRE(OpenAt(*connection, "b", kNew)->bytes_at_open() == 0);
  REQUIRE(server.CountOf(NfsProc::kCreate) == 1);
  OpenAt(*connection, "b", kNew);
  REQUIRE(server.CountOf(NfsProc::kCreate) == 1);
  NfsOpen exclusive = kNew;
  exclusive.exclusive = true;
  REQUIRE(
      absl::IsAlreadyExists(NfsFile::Open(*connection, connection->directory(), "b", exclusive).status()));
}

TEST_CASE("a server that gives no attributes with its answers is asked for them") {
  ScriptedNfsServer server;
  server.Put("a", "12345");
  server.LeaveOutAttributes();
  const auto connection = ConnectTo(server);
  REQUIRE(OpenAt(*connection, "a", kBoth)->bytes_at_open() == 5);
  REQUIRE(OpenAt(*connection, "new", kNew)->Write(0, BytesOf("abc")).ok());
  REQUIRE(server.ContentOf("new") == "abc");
}

TEST_CASE("symbolic links and files without access are refused") {
  ScriptedNfsServer server;
  server.AddSymlink("link");
  server.Put("a", "");
  const auto connection = ConnectTo(server);
  const auto opened = [&](const char* name, const NfsOpen& how) {
    return NfsFile::Open(*connection, connection->directory(), name, how).status();
  };
  REQUIRE(absl::IsFailedPrecondition(opened("link", kNew)));
  server.AllowAccess(0x01);  // READ
  REQUIRE(opened("a", {.read = true}).ok());
  REQUIRE(absl::IsPermissionDenied(opened("a", kBoth)));
}

TEST_CASE("long reads and writes are split at what the server takes, and put together again") {
  ScriptedNfsServer server;
  server.SetMaxTransfer(8192);
  const auto connection = ConnectTo(server);
  REQUIRE(connection->read_max_bytes() == 8192);
  REQUIRE(connection->write_max_bytes() == 8192);
  const std::string text = Pattern(200'000);  // 24 calls of 8192 and one of 3392
  const auto file = OpenAt(*connection, "a", kNew);
  REQUIRE(file->Write(1000, BytesOf(text)).ok());
  REQUIRE(server.CountOf(NfsProc::kWrite) == 25);
  REQUIRE(server.ContentOf("a") == std::string(1000, '\0') + text);
  REQUIRE(ReadFrom(*file, 1000, text.size()) == text);
  REQUIRE(server.CountOf(NfsProc::kRead) == 25);
}

TEST_CASE("answers of fewer bytes than were asked for are followed by calls for the rest") {
  ScriptedNfsServer server;
  server.AnswerAtMost(1000);
  const auto connection = ConnectTo(server);
  const auto file = OpenAt(*connection, "a", kNew);
  const std::string text = Pattern(2500);
  REQUIRE(file->Write(0, BytesOf(text)).ok());
  REQUIRE(server.LengthsOf(NfsProc::kWrite) == std::vector<uint32_t>{2500, 1500, 500});
  REQUIRE(server.ContentOf("a") == text);
  REQUIRE(ReadFrom(*file, 0, 2500) == text);
  REQUIRE(server.LengthsOf(NfsProc::kRead) == std::vector<uint32_t>{2500, 1500, 500});
}

TEST_CASE("a read that meets the end of the file is short, wherever in its pieces that is") {
  ScriptedNfsServer server;
  server.SetMaxTransfer(8192);
  server.Put("a", Pattern(10'000));
  const auto connection = ConnectTo(server);
  const auto file = OpenAt(*connection, "a", {.read = true});
  REQUIRE(ReadFrom(*file, 0, 100'000) == Pattern(10'000));
  REQUIRE(ReadFrom(*file, 9'990, 100).size() == 10);
  REQUIRE(ReadFrom(*file, 10'000, 100).empty());
  REQUIRE(ReadFrom(*file, 50'000, 100).empty());
}

TEST_CASE("what the server says is wrong comes through as that errno, and leaves the connection whole") {
  const auto [nfsstat3, errno_value, name] = GENERATE(table<uint32_t, int, const char*>({
      {28, ENOSPC, "NFS3ERR_NOSPC"},
      {69, EDQUOT, "NFS3ERR_DQUOT"},
      {70, ESTALE, "NFS3ERR_STALE"},
      {5, EIO, "NFS3ERR_IO"},
      {30, EROFS, "NFS3ERR_ROFS"},
      {27, EFBIG, "NFS3ERR_FBIG"},
      {13, EACCES, "NFS3ERR_ACCES"},
      {10008, EAGAIN, "NFS3ERR_JUKEBOX"},
  }));
  ScriptedNfsServer server;
  server.Put("a", Pattern(100));
  const auto connection = ConnectTo(server, kLittle);  // for calls that are sent again
  const auto file = OpenAt(*connection, "a", kBoth);
  const auto check = [&, expected = errno_value, code = name](const absl::Status& status) {
    INFO(status.message());
    REQUIRE(ErrnoOf(status) == expected);
    REQUIRE(Says(status, code));
    REQUIRE(connection->lost().ok());
  };
  server.FailAll(NfsProc::kWrite, nfsstat3);
  check(file->Write(0, BytesOf("abc")));
  server.FailAll(NfsProc::kWrite, 0);
  server.FailAll(NfsProc::kRead, nfsstat3);
  std::string text(100, ' ');
  check(file->Read(0, std::as_writable_bytes(std::span(text))).status());
  REQUIRE(file->Write(0, BytesOf("abc")).ok());
  server.FailAll(NfsProc::kCommit, nfsstat3);
  check(file->Commit());
  server.FailAll(NfsProc::kCommit, 0);
  REQUIRE(file->Commit().ok());
}

TEST_CASE("what the server defers is sent again, and the time of waiting is known") {
  ScriptedNfsServer server;
  server.Put("a", Pattern(100));
  const auto connection = ConnectTo(server);
  const auto file = OpenAt(*connection, "a", kBoth);
  for (const NfsProc proc : {NfsProc::kRead, NfsProc::kWrite, NfsProc::kLookup, NfsProc::kCommit}) {
    const int64_t waited_ns = connection->deferred_ns();
    const Deferring deferring(server, proc);
    if (proc == NfsProc::kRead) CHECK(ReadFrom(*file, 0, 100) == Pattern(100));
    if (proc == NfsProc::kWrite) CHECK(file->Write(0, BytesOf("abc")).ok());
    if (proc == NfsProc::kLookup) CHECK(OpenAt(*connection, "a", kBoth) != nullptr);
    if (proc == NfsProc::kCommit) CHECK(file->Commit().ok());
    CHECK(server.CountOf(proc) >= 2);
    CHECK(connection->deferred_ns() >= waited_ns + RetryDelayNs(0));
  }
}

TEST_CASE("a server that closes the connection while a call waits to be sent again ends it") {
  ScriptedNfsServer server;
  server.Put("a", Pattern(100));
  const auto connection = ConnectTo(server);
  server.FailAll(NfsProc::kLookup, 10008);
  std::thread cut([&server] {
    while (server.CountOf(NfsProc::kLookup) < 2) usleep(1000);
    server.CloseConnections();
  });
  const absl::Status status = NfsFile::Open(*connection, connection->directory(), "a", kBoth).status();
  cut.join();
  CHECK(absl::IsUnavailable(status));
}

TEST_CASE("libnfs's own calls say EDQUOT where the quota is used up") {
  ScriptedNfsServer server;
  server.FailAll(NfsProc::kCreate, 69);
  const auto connection = ConnectTo(server);
  const absl::Status status =
      connection->Call("create x", [](nfs_context* context, NfsConnection::Callback done, void* self) {
        return nfs_creat_async(context, "x", 0640, done, self);
      });
  REQUIRE(ErrnoOf(status) == EDQUOT);
}

// ---- COMMIT

TEST_CASE("a COMMIT goes over the wire only where a WRITE was answered UNSTABLE since the last") {
  ScriptedNfsServer server;
  const auto connection = ConnectTo(server);
  const auto file = OpenAt(*connection, "a", kNew);
  const auto commits_after = [&](auto writes) {
    server.ForgetCounts();
    writes();
    REQUIRE(file->Commit().ok());
    return server.CountOf(NfsProc::kCommit);
  };
  REQUIRE(commits_after([] {}) == 0);
  REQUIRE(commits_after([&] { REQUIRE(file->Write(0, BytesOf("abc")).ok()); }) == 1);
  REQUIRE(server.CommittedContentOf("a") == "abc");
  REQUIRE(commits_after([] {}) == 0);
  REQUIRE(commits_after([&] { REQUIRE(file->Write(0, BytesOf("d"), NfsStability::kDataSync).ok()); }) == 0);
  REQUIRE(server.StabilitiesAsked() == std::vector<uint32_t>{1});
  REQUIRE(commits_after([&] { REQUIRE(file->Write(0, BytesOf("d"), NfsStability::kFileSync).ok()); }) == 0);
  REQUIRE(server.StabilitiesAsked() == std::vector<uint32_t>{2});
  // The server may do more than it was asked for.
  server.Commits(2);
  REQUIRE(commits_after([&] { REQUIRE(file->Write(0, BytesOf("e")).ok()); }) == 0);
  REQUIRE(server.StabilitiesAsked() == std::vector<uint32_t>{0});
}

TEST_CASE(
    "a server that has restarted before what was written was committed is an error of whoever notices it") {
  ScriptedNfsServer server;
  const auto connection = ConnectTo(server);
  const auto file = OpenAt(*connection, "a", kNew);
  REQUIRE(file->Write(0, BytesOf("abc")).ok());
  absl::Status status;
  SECTION("the COMMIT") {
    server.Restart();
    status = file->Commit();
  }
  SECTION("the next WRITE") {
    server.Restart();
    status = file->Write(3, BytesOf("def"));
  }
  REQUIRE(absl::IsDataLoss(status));
  REQUIRE(Says(status, "restarted"));
  REQUIRE(file->restarted());
  REQUIRE(file->Commit() == status);  // an error is never taken back
}

TEST_CASE("a server that has restarted after the COMMIT has lost nothing") {
  ScriptedNfsServer server;
  const auto connection = ConnectTo(server);
  const auto file = OpenAt(*connection, "a", kNew);
  REQUIRE(file->Write(0, BytesOf("abc")).ok());
  REQUIRE(file->Commit().ok());
  server.Restart();
  REQUIRE(file->Write(3, BytesOf("def")).ok());
  REQUIRE(file->Commit().ok());
  REQUIRE_FALSE(file->restarted());
}

}  // namespace
}  // namespace iobench
