#include "common/transport/door/unix_peer.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

using Catch::Contains;

constexpr uid_t kNobody = 65534;

UniqueFd ListenAt(const std::string& path) {
  UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof name.sun_path - 1);
  REQUIRE(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
  REQUIRE(::listen(listener.get(), 4) == 0);
  return listener;
}

std::string WhyNot(const std::string& path, UnixPeer peer = UnixPeer::kOwnOrRoot) {
  const auto connected = ConnectToUnixSocket(path, peer);
  return connected.ok() ? "" : std::string(connected.status().message());
}

// Runs `does` in another process, as nobody. It returns whether all is well.
bool AsNobody(const std::function<bool()>& does) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(::setgid(kNobody) == 0 && ::setuid(kNobody) == 0 && does() ? 0 : 1);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status == 0;
}

TEST_CASE("a socket of one's own is connected to, and one that nobody serves is not") {
  const TempDir directory;
  const std::string path = directory / "s";
  CHECK_THAT(WhyNot(path), Contains("No such file"));
  CHECK_THAT(WhyNot(directory.path()), Contains("not a socket"));
  {
    const UniqueFd listener = ListenAt(path);
    CHECK(WhyNot(path).empty());
  }
  CHECK_THAT(WhyNot(path), Contains("nothing listens there"));
}

TEST_CASE("a directory whose sockets others can replace is not used") {
  const TempDir directory;
  const std::string path = directory / "s";
  const UniqueFd listener = ListenAt(path);
  for (const mode_t mode : {0770, 0707, 0777}) {
    REQUIRE(::chmod(directory.path().c_str(), mode) == 0);
    CHECK_THAT(WhyNot(path), Contains("others can replace"));
    CHECK(WhyNot(path, UnixPeer::kAnybody).empty());
  }
  REQUIRE(::chmod(directory.path().c_str(), 01777) == 0);  // as /tmp
  CHECK(WhyNot(path).empty());
}

TEST_CASE("the sockets, directories and processes of other users are refused") {
  if (::geteuid() != 0) return;
  const TempDir directory;
  REQUIRE(::chmod(directory.path().c_str(), 0755) == 0);
  const std::string path = directory / "s";
  const UniqueFd listener = ListenAt(path);
  REQUIRE(::chmod(path.c_str(), 0777) == 0);

  SECTION("the socket's file") {
    REQUIRE(::chown(path.c_str(), kNobody, kNobody) == 0);
    CHECK_THAT(WhyNot(path), Contains("belongs to user 65534, and this is user 0") && Contains("--token-file"));
  }
  SECTION("its directory") {
    REQUIRE(::chown(directory.path().c_str(), kNobody, kNobody) == 0);
    CHECK_THAT(WhyNot(path), Contains(directory.path()) && Contains("belongs to user 65534"));
  }
  SECTION("the process that listens there, although the file is our own") {
    int pipe_ends[2];
    REQUIRE(::pipe(pipe_ends) == 0);
    const std::string other = directory / "other";
    REQUIRE(::chmod(directory.path().c_str(), 01777) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const bool is_nobody = ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0;
      const UniqueFd theirs(::socket(AF_UNIX, SOCK_STREAM, 0));
      sockaddr_un name{};
      name.sun_family = AF_UNIX;
      other.copy(name.sun_path, sizeof name.sun_path - 1);
      const bool listens = is_nobody && ::bind(theirs.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 &&
                           ::listen(theirs.get(), 1) == 0;
      if (::write(pipe_ends[1], listens ? "y" : "n", 1) == 1) ::pause();
      ::_exit(1);
    }
    char listens = 'n';
    REQUIRE(::read(pipe_ends[0], &listens, 1) == 1);
    REQUIRE(listens == 'y');
    REQUIRE(::chown(other.c_str(), 0, 0) == 0);
    CHECK_THAT(WhyNot(other), Contains("the process there") && Contains("belongs to user 65534"));
    CHECK(WhyNot(other, UnixPeer::kAnybody).empty());
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(pipe_ends[0]);
    ::close(pipe_ends[1]);
  }
  SECTION("root's are not, seen by another user") {
    CHECK(AsNobody([&] { return ConnectToUnixSocket(path, UnixPeer::kOwnOrRoot).ok(); }));
  }
}

}  // namespace
}  // namespace iobench
