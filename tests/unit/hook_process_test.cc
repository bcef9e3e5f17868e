#include "coordinator/hook/hook_process.h"

#include <stdlib.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

namespace iobench {
namespace {

class Log {
 public:
  Log() {
    std::string name = (std::filesystem::temp_directory_path() / "iobench-hook-XXXXXX").string();
    const int fd = ::mkstemp(name.data());
    REQUIRE(fd >= 0);
    ::close(fd);
    path_ = name;
  }
  ~Log() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }
  std::string Text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_;
};

absl::Status RunToEnd(const std::string& command, const Log& log,
                      const std::map<std::string, std::string>& variables = {}) {
  auto process = HookProcess::Start(command, variables, log.path());
  REQUIRE(process.ok());
  while (!process->Ended()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return process->Outcome();
}

TEST_CASE("a hook sees its variables and the program's own, and its outputs are in the log") {
  const Log log;
  ::setenv("IOBENCH_TEST_INHERITED", "yes", 1);
  ::setenv("IOBENCH_PHASE", "of somebody else", 1);
  CHECK(RunToEnd("echo \"$IOBENCH_PHASE $IOBENCH_TEST_INHERITED\"; echo two >&2; cat", log,
                 {{"IOBENCH_PHASE", "wri'te \"x\""}})
            .ok());
  ::unsetenv("IOBENCH_PHASE");
  ::unsetenv("IOBENCH_TEST_INHERITED");
  CHECK(log.Text() == "wri'te \"x\" yes\ntwo\n");
}

TEST_CASE("a hook's failure says how it ended") {
  const Log log;
  CHECK(RunToEnd("exit 3", log).message() == "exit code 3");
  CHECK(RunToEnd("kill -9 $$", log).message() == "signal 9");
  CHECK(RunToEnd("no-such-program-at-all", log).message() == "exit code 127");
}

TEST_CASE("a hook is killed with everything that it started") {
  const Log log;
  {
    // The hook ignores all signals that can be ignored, and so does its child.
    auto process =
        HookProcess::Start("trap '' TERM INT HUP; sh -c 'echo $$; exec sleep 1000' & wait", {}, log.path());
    REQUIRE(process.ok());
    while (log.Text().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK_FALSE(process->Ended());
  }
  const std::string child = log.Text().substr(0, log.Text().find('\n'));
  // The child is gone, or is a zombie until its new parent reaps it.
  for (int i = 0; i < 2000; ++i) {
    std::ifstream stat("/proc/" + child + "/stat");
    std::string number, name, state;
    if (!(stat >> number >> name >> state) || state == "Z") return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  FAIL("process " + child + " still runs");
}

TEST_CASE("signals that this program ignores reach a hook") {
  const Log log;
  CHECK(RunToEnd("kill -PIPE $$; echo ignored", log).message() == "signal 13");
  CHECK(log.Text().empty());
}

TEST_CASE("a log that cannot be written is an error") {
  CHECK_FALSE(HookProcess::Start("true", {}, "/nonexistent/log").ok());
}

}  // namespace
}  // namespace iobench
