#include "coordinator/launch/remote_shell.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "common/digest/sha256.h"
#include "common/text/shell_word.h"
#include "coordinator/launch/start_advice.h"
#include "tests/support/temp_dir.h"

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

TEST_CASE("ssh gets its options after the host, also if a command follows the host in the launcher") {
  CHECK(ShellCommand("ssh -l {user} {host} . /etc/profile.d/x.sh ';' {command}", kFull, "exec x") ==
        "ssh -l me node7 " + std::string(kSshOptions) + " -p 2222 . /etc/profile.d/x.sh ';' 'exec x'");
  CHECK(ShellCommand("ssh {user}@{host}\tsudo {command}", kNode, "x")
            .find("@node7 " + std::string(kSshOptions) + "\tsudo x") != std::string::npos);
}

TEST_CASE("ssh gets its options after its own host and not inside other words that have the host") {
  const std::string options = kSshOptions;
  CHECK(ShellCommand("ssh -o ProxyCommand='nc {host} 22' {host}", kNode, "x") ==
        "ssh -o ProxyCommand='nc node7 22' node7 " + options + " x");
  CHECK(ShellCommand("ssh -o HostKeyAlias={host} {user}@{host} sudo {command}", kFull, "x") ==
        "ssh -o HostKeyAlias=node7 me@node7 " + options + " -p 2222 sudo x");
  CHECK(ShellCommand("ssh \"{host}\" sudo {command}", kNode, "x") == "ssh \"node7\" " + options + " sudo x");
  CHECK(ShellCommand("ssh {host}.example.org sudo {command}", kNode, "x") ==
        "ssh node7.example.org " + options + " sudo x");
  CHECK(ShellCommand("ssh -o \"HostKeyAlias {host}\" gate {command}", kNode, "x") ==
        "ssh -o \"HostKeyAlias node7\" gate " + options + " x");
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

TEST_CASE("srun gets its host as an option, and starts one worker there even in a job of many tasks") {
  CHECK(ShellCommand("srun", kNode, "exec x y") == "srun -N 1 -n 1 -w node7 sh -c 'exec x y'");
  CHECK(ShellCommand("/opt/bin/srun --overlap", kNode, "x") ==
        "/opt/bin/srun -N 1 -n 1 -w node7 --overlap sh -c x");
  CHECK(ShellCommand(" srun -c 4 bash -c {command}", kNode, "x") ==
        " srun -N 1 -n 1 -w node7 -c 4 bash -c x");
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

TEST_CASE("a launcher whose program is not on this host is refused, unless only a shell can tell") {
  CHECK(CheckLauncherExists("sh -x").ok());
  CHECK(CheckLauncherExists("/bin/sh {host} {command}").ok());
  CHECK(CheckLauncherExists("'/bin/sh' -c").ok());
  CHECK(CheckLauncherExists("$HOME/bin/rsh").ok());
  CHECK(CheckLauncherExists("~/rsh").ok());
  CHECK(absl::IsNotFound(CheckLauncherExists("no-such-rsh -x {host}")));
  CHECK(absl::IsNotFound(CheckLauncherExists("/nonexistent/ssh")));
  CHECK(absl::IsPermissionDenied(CheckLauncherExists("/etc/passwd")));
  CHECK(absl::IsNotFound(CheckLauncherExists("/etc")));
}

TEST_CASE("a host's user is refused with srun, which starts everything as the user who calls it") {
  const HostEntry hosts[] = {kNode, {.host = "node8", .user = "me"}, {.host = "node8", .user = "me"}};
  CHECK(
      CheckLauncher("/opt/bin/srun --overlap", hosts).message() ==
      "host me@node8 has a user, but the remote shell \"/opt/bin/srun --overlap\" starts workers as the user "
      "who calls srun: leave out me@, or use ssh (--launcher ssh)");
  for (const char* const launcher : {"srun -N 1 -w {host}", "srun -w{host}", "srun --nodelist={host} -n 1",
                                     "srun --nodelist \"{host}\" ssh {host} {command}"}) {
    INFO(launcher);
    CHECK_THAT(std::string(CheckLauncher(launcher, hosts).message()), Catch::Contains("leave out me@"));
  }
  CHECK(CheckLauncher("srun -w {host} su {user} -c {command}", hosts).ok());
  CHECK(CheckLauncher("srun --uid={user}", hosts).ok());
  CHECK(CheckLauncher("srun -w head ssh {host} {command}", hosts).ok());
  CHECK(CheckLauncher("srun -w head pdsh -w {host} {command}", hosts).ok());
  CHECK(CheckLauncher("srun", {hosts, 1}).ok());
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

TEST_CASE("copying again leaves a whole copy of the program alone, and replaces a damaged one") {
  const ShippedProgram abc{.file = "",
                           .sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                           .version = "1.0",
                           .architecture = ""};
  const TempDir home;
  const std::string directory = "cluster-iobench/1.0";
  const std::string copy = absl::StrCat(directory, "/cluster-iobench-worker.", abc.sha256);
  const auto file_after_copying = [&] {
    const std::string command =
        absl::StrCat("printf abc | env XDG_CACHE_HOME=", ShellWord(home.path()), " sh -c ",
                     ShellWord(CopyCommand(abc)), " >", ShellWord(home / "printed"));
    CHECK(std::system(command.c_str()) == 0);
    CHECK(home.Read("printed") == absl::StrCat(kCopied, "\n"));
    CHECK(home.Read(copy) == "abc");
    const std::filesystem::directory_iterator files(home / directory);
    CHECK(std::distance(begin(files), end(files)) == 1);
    struct stat facts {};
    REQUIRE(stat((home / copy).c_str(), &facts) == 0);
    return facts.st_ino;
  };
  const ino_t first = file_after_copying();
  CHECK(file_after_copying() == first);
  home.Write(copy, "damaged");
  CHECK(file_after_copying() != first);
}

// A home directory to which the program "echo ran" was shipped.
struct CopiedProgram {
  const TempDir home;
  const ShippedProgram program{.file = "",
                               .sha256 = Sha256Of({kContents}),
                               .version = "1.0",
                               .architecture = "any"};
  static constexpr char kContents[] = "#!/bin/sh\necho ran \"$@\"\n";

  CopiedProgram() { Shell(absl::StrCat("printf %s ", ShellWord(kContents), " | ", CopyCommand(program))); }
  std::string Directory() const { return "cluster-iobench/1.0"; }
  std::string Copy() const { return absl::StrCat(Directory(), "/cluster-iobench-worker.", program.sha256); }
  // Returns what the command prints.
  std::string Shell(const std::string& command) const {
    const std::string words = absl::StrCat("export XDG_CACHE_HOME=", ShellWord(home.path()), " PATH=/usr/bin:/bin; (",
                                           command, ") >", ShellWord(home / "printed"), " 2>&1");
    static_cast<void>(std::system(words.c_str()));
    return home.Read("printed");
  }
  std::string Clean(const ShippedProgram* copy) const {
    const std::string directory = "/d";
    return Shell(CleanCommand({&directory, 1}, false, "/nonexistent", copy));
  }
};

TEST_CASE("the copy of the program runs only with the contents that were shipped") {
  const CopiedProgram shipped;
  CHECK(shipped.Clean(&shipped.program) == "ran clean -- /d\n");
  CHECK_THAT(shipped.Clean(nullptr), Catch::Contains("command not found"));
  ShippedProgram other = shipped.program;
  other.sha256 = Sha256Of({"another program"});
  CHECK_THAT(shipped.Clean(&other), Catch::Contains("command not found"));
  // Another one with a name that fits its contents.
  shipped.home.Write(absl::StrCat(shipped.Directory(), "/cluster-iobench-worker.", other.sha256), "another program");
  CHECK(shipped.Clean(&shipped.program) == "ran clean -- /d\n");
  shipped.home.Write(shipped.Copy(), "#!/bin/sh\necho evil\n");
  CHECK_THAT(shipped.Clean(&shipped.program), Catch::Contains("command not found") && !Catch::Contains("evil"));
}

TEST_CASE("the copy of the program does not run where others can replace it") {
  for (const char* const place : {"cluster-iobench", "cluster-iobench/1.0", "the copy"}) {
    INFO(place);
    const CopiedProgram shipped;
    const std::string path = shipped.home / (place == std::string("the copy") ? shipped.Copy() : place);
    for (const mode_t mode : {0770, 0707}) {
      REQUIRE(chmod(path.c_str(), mode) == 0);
      CHECK_THAT(shipped.Clean(&shipped.program),
                 Catch::Contains(absl::StrCat(path, " can be changed by other users")) && !Catch::Contains("ran"));
    }
    const std::string again =
        shipped.Shell(absl::StrCat("printf %s ", ShellWord(CopiedProgram::kContents), " | ", CopyCommand(shipped.program)));
    // A file is replaced, a directory is not.
    CHECK_THAT(again, Catch::Contains(place == std::string("the copy") ? kCopied : "can be changed by other users"));
    if (place == std::string("the copy")) CHECK(shipped.Clean(&shipped.program) == "ran clean -- /d\n");
  }
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
  const std::vector<std::string> busy = {
      "srun: Job 7 step creation temporarily disabled, retrying (Requested nodes are busy)"};
  CHECK_THAT(AdviceFor({.host = "c", .exit_code = -1, .late = true, .from_client_list = true}, busy),
             Catch::Contains("add --overlap to srun"));
  CHECK(CauseIn(ssh, {}).empty());
  for (const char* const prompt :
       {"me@c7's password: ", "Password:", "Verification code: ", "Enter passphrase for key 'k': "}) {
    INFO(prompt);
    const std::vector<std::string> lines = {"banner", prompt};
    CHECK(AsksForSecret(lines));
    CHECK_FALSE(AdviceFor(ssh, lines).empty());
    CHECK(CauseIn(ssh, lines) == prompt);
  }
  const std::vector<std::string> talk = {"Password:", "thank you"};
  CHECK_FALSE(AsksForSecret(talk));
  for (const char* const line : {"no token on standard input (--token-file -): it is empty",
                                 "token on standard input: its first line must be the token"}) {
    CHECK_THAT(AdviceFor({.host = "c", .exit_code = 1}, std::vector<std::string>{line}), Catch::Contains("ssh -n"));
  }
  CHECK_THAT(AdviceFor({.host = "c", .exit_code = -1, .left = true}, {}), Catch::Contains("runs the command"));
}

}  // namespace
}  // namespace iobench
