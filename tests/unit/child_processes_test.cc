#include "coordinator/launch/child_processes.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <string>

#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

namespace fs = std::filesystem;

TEST_CASE("a child that does not end by itself is asked to before it is killed") {
  const TempDir directory;
  {
    ChildProcesses children(SIGTERM);
    const std::string script =
        "trap ': >\"$0/asked\"; exit' TERM; : >\"$0/ready\"; while :; do sleep 0.01; done";
    REQUIRE(children.Start("/bin/sh", {"sh", "-c", script, directory.path()}, -1, SIGKILL).ok());
    while (!fs::exists(directory / "ready")) usleep(1000);
  }
  CHECK(fs::exists(directory / "asked"));
}

// Waits until the child that wrote its process id into the file has ended. Its exit code remains to be taken.
void AwaitEndOf(const std::string& file, const TempDir& directory) {
  while (!directory.Read(file).ends_with('\n')) usleep(1000);
  siginfo_t facts{};
  REQUIRE(waitid(P_PID, static_cast<id_t>(std::stoi(directory.Read(file))), &facts, WEXITED | WNOWAIT) == 0);
}

TEST_CASE("children that have ended are reaped without a pause between them") {
  const TempDir directory;
  constexpr int kChildren = 50;
  struct rusage before {}, after {};
  {
    ChildProcesses children(SIGTERM);
    for (int i = 0; i < kChildren; ++i) {
      REQUIRE(children.Start("/bin/sh", {"sh", "-c", "echo $$ >\"$0/child\"; exit 0", directory.path()}, -1, SIGKILL).ok());
      AwaitEndOf("child", directory);
      directory.Write("child", "");
    }
    REQUIRE(getrusage(RUSAGE_SELF, &before) == 0);
  }
  REQUIRE(getrusage(RUSAGE_SELF, &after) == 0);
  CHECK(after.ru_nvcsw - before.ru_nvcsw < kChildren / 2);  // a pause is a voluntary switch to another process
}

TEST_CASE("the search for children that have ended goes on where the last one ended") {
  const TempDir directory;
  ChildProcesses children(SIGTERM);
  const auto start = [&](const std::string& name, const std::string& script) {
    const std::string says_who = "echo $$ >\"$0/" + name + "\"; ";
    REQUIRE(children.Start("/bin/sh", {"sh", "-c", says_who + script, directory.path()}, -1, SIGKILL).ok());
  };
  start("first", "while ! test -e \"$0/go\"; do sleep 0.01; done");
  start("second", "exit 2");
  start("third", "exit 3");
  AwaitEndOf("second", directory);
  AwaitEndOf("third", directory);
  const auto second = children.NextEnded();
  REQUIRE(second.has_value());
  CHECK(second->index == 1);
  directory.Write("go", "");
  AwaitEndOf("first", directory);
  const auto third = children.NextEnded(), first = children.NextEnded();
  REQUIRE(third.has_value());
  REQUIRE(first.has_value());
  CHECK(third->index == 2);
  CHECK(third->ending.Text() == "exit code 3");
  CHECK(first->index == 0);
  CHECK_FALSE(children.NextEnded().has_value());
}

}  // namespace
}  // namespace iobench
