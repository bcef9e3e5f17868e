#include "coordinator/launch/child_processes.h"

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

}  // namespace
}  // namespace iobench
