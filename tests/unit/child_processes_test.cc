#include "coordinator/launch/child_processes.h"

#include <stdlib.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <string>

namespace iobench {
namespace {

namespace fs = std::filesystem;

TEST_CASE("a child that does not end by itself is asked to before it is killed") {
  char name[] = "/tmp/child_processes_test.XXXXXX";
  REQUIRE(::mkdtemp(name) != nullptr);
  const std::string directory = name;
  {
    ChildProcesses children(SIGTERM);
    const std::string script =
        "trap ': >\"$0/asked\"; exit' TERM; : >\"$0/ready\"; while :; do sleep 0.01; done";
    REQUIRE(children.Start("/bin/sh", {"sh", "-c", script, directory}, -1, SIGKILL).ok());
    while (!fs::exists(directory + "/ready")) usleep(1000);
  }
  CHECK(fs::exists(directory + "/asked"));
  fs::remove_all(directory);
}

}  // namespace
}  // namespace iobench
