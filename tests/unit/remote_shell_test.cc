#include "coordinator/launch/remote_shell.h"

#include <catch2/catch.hpp>

#include "coordinator/launch/start_advice.h"

namespace iobench {
namespace {

const HostEntry kNode{.host = "node7", .user = ""};
const HostEntry kFull{.host = "node7", .user = "me", .port = 2222, .slots = 4};
constexpr char kSshOptions[] = "-o BatchMode=yes -o ConnectTimeout=10";

TEST_CASE("ssh gets the host, its port, and options that keep it from waiting or asking") {
  CHECK(ShellCommand("ssh", kNode, "exec x y") == "ssh node7 " + std::string(kSshOptions) + " 'exec x y'");
  CHECK(ShellCommand("/usr/bin/ssh -F f", kFull, "x") ==
        "/usr/bin/ssh -F f me@node7 " + std::string(kSshOptions) + " -p 2222 x");
  CHECK(ShellCommand("ssh -p {port} {user}@{host}", kFull, "x") ==
        "ssh -p 2222 me@node7 " + std::string(kSshOptions) + " x");
  CHECK(ShellCommand("ssh {host}", {.host = "::1", .user = ""}, "x") ==
        "ssh ::1 " + std::string(kSshOptions) + " x");
}

TEST_CASE("other remote shells get the host and the command as one word each") {
  CHECK(ShellCommand("rsh", kNode, "exec x y") == "rsh node7 'exec x y'");
  CHECK(ShellCommand("/opt/my-ssh -x", kNode, "x") == "/opt/my-ssh -x node7 x");
  CHECK(ShellCommand("srun -w {host}", kNode, "exec x y") == "srun -w node7 sh -c 'exec x y'");
  CHECK(ShellCommand("docker exec -i {host} sh -c {command}", kNode, "it's") ==
        "docker exec -i node7 sh -c 'it'\\''s'");
  CHECK(ShellCommand("rsh -l {user} {host}", kFull, "x") == "rsh -l me node7 x");
  CHECK(ShellCommand("x -p {port} {host}", kNode, "y") == "x -p 22 node7 y");
}

TEST_CASE("a launcher's unknown words, and hosts whose port it cannot pass on, are all reported") {
  const HostEntry hosts[] = {kNode, kFull};
  CHECK(CheckLauncher("ssh", hosts).ok());
  CHECK(CheckLauncher("x -p {port} {host} ${HOME} {command} awk '{print}{ x}'", hosts).message() ==
        "--launcher: {print} is unknown: use {host}, {user}, {port} and {command}");
  const std::string both(CheckLauncher("rsh {hots}", hosts).message());
  CHECK_THAT(
      both, Catch::Contains("{hots} is unknown") &&
                Catch::Contains("\nhost me@node7:2222 has a port, but the remote shell \"rsh {hots}\" has no "
                                "{port}"));
  CHECK(CheckLauncher("x ${HOME} {host}", {hosts, 1}).ok());
}

TEST_CASE("a host gets one command for all of its slots, and no credentials in its words") {
  const WorkerArguments words{.join_address = "head:9400", .join_timeout_s = 10};
  CHECK(
      HostCommand(kFull, 5, "/opt/x", words) ==
      "exec sh -c 'if test -x /opt/x; then exec /opt/x worker --join head:9400 --join-timeout 10 --place 5 "
      "--token-file - --slots 4; else exec cluster-iobench worker --join head:9400 --join-timeout 10 --place 5 "
      "--token-file - --slots 4; fi'");
  WorkerArguments open = words;
  open.credentials_piped = false;
  CHECK(HostCommand(kNode, 1, "/opt/x", open).find("token") == std::string::npos);
}

TEST_CASE("a failed start comes with its cause and what to do about it") {
  const StartFailure ssh{.host = "me@c7", .exit_code = 255};
  const std::vector<std::string> refused = {"** Welcome **",
                                            "ssh: connect to host c7 port 22: Connection refused"};
  CHECK(CauseIn(ssh, refused) == refused[1]);
  CHECK(AdviceFor(ssh, refused) == "check that sshd runs there and on which port");
  const std::vector<std::string> denied = {"me@c7: Permission denied (publickey)."};
  CHECK_THAT(AdviceFor(ssh, denied), Catch::Contains("`ssh-copy-id me@c7`"));
  const std::vector<std::string> unknown = {"kaboom", "more"};
  CHECK(CauseIn(ssh, unknown) == "kaboom");
  CHECK(AdviceFor(ssh, unknown).empty());
  const std::vector<std::string> late = {"kaboom", "cannot reach it"};
  CHECK(CauseIn({.host = "c", .exit_code = kWorkerCannotJoin}, late) == "cannot reach it");
  CHECK_THAT(AdviceFor({.host = "c", .exit_code = kWorkerCannotJoin}, late), Catch::Contains("-+h HOST"));
  CHECK_THAT(AdviceFor({.host = "c", .exit_code = 127}, unknown), Catch::Contains("--copy-binary"));
  CHECK_THAT(AdviceFor({.host = "c", .exit_code = 127, .from_client_list = true}, unknown),
             Catch::Contains("path in the list"));
  CHECK(CauseIn(ssh, {}).empty());
}

}  // namespace
}  // namespace iobench
