#include "common/process/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "common/unique_fd.h"

namespace iobench {
namespace {

class Log {
 public:
  Log() {
    std::string name = (std::filesystem::temp_directory_path() / "iobench-child-XXXXXX").string();
    fd_ = UniqueFd(::mkostemp(name.data(), O_CLOEXEC));
    REQUIRE(fd_.valid());
    path_ = name;
  }
  ~Log() { std::filesystem::remove(path_); }
  // Empty.
  int fd() const {
    REQUIRE(::ftruncate(fd_.get(), 0) == 0);
    REQUIRE(::lseek(fd_.get(), 0, SEEK_SET) == 0);
    return fd_.get();
  }
  std::string Text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_;
  UniqueFd fd_;
};

// A process that traces another one, as a debugger does. While it lives, the kernel does not tell the parent of the
// other one that it has ended, as if it hung in the kernel. Ends by itself after ten seconds.
class Tracer {
 public:
  explicit Tracer(pid_t traced) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    process_ = ::fork();
    REQUIRE(process_ >= 0);
    if (process_ == 0) {
      ::alarm(10);
      const char answer = ::ptrace(PTRACE_SEIZE, traced, nullptr, nullptr) == 0 ? 'y' : 'n';
      if (::write(ends[1], &answer, 1) == 1) ::pause();
      ::_exit(0);
    }
    ::close(ends[1]);
    char answer = 'n';
    REQUIRE(::read(ends[0], &answer, 1) == 1);
    ::close(ends[0]);
    traces_ = answer == 'y';
  }
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  ~Tracer() { End(); }

  bool traces() const { return traces_; }  // false: this user may not trace processes
  bool Lives() {
    if (process_ > 0 && ::waitpid(process_, nullptr, WNOHANG) == process_) process_ = -1;
    return process_ > 0;
  }
  void End() {
    if (!Lives()) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
  }

 private:
  pid_t process_ = -1;
  bool traces_ = false;
};

Ending RunToEnd(const std::string& command, const Log& log,
                const std::map<std::string, std::string>& variables = {}) {
  auto process = ChildProcess::StartCommand(command, variables, log.fd());
  REQUIRE(process.ok());
  while (!process->Ended()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return process->ending();
}

TEST_CASE("a command sees its variables and the program's own, and its outputs are in the log") {
  const Log log;
  ::setenv("IOBENCH_TEST_INHERITED", "yes", 1);
  ::setenv("IOBENCH_PHASE", "of somebody else", 1);
  CHECK(RunToEnd("echo \"$IOBENCH_PHASE $IOBENCH_TEST_INHERITED\"; echo two >&2; cat", log,
                 {{"IOBENCH_PHASE", "wri'te \"x\""}})
            .well());
  ::unsetenv("IOBENCH_PHASE");
  ::unsetenv("IOBENCH_TEST_INHERITED");
  CHECK(log.Text() == "wri'te \"x\" yes\ntwo\n");
}

TEST_CASE("a command's failure says how it ended") {
  const Log log;
  CHECK(RunToEnd("exit 3", log).Text() == "exit code 3");
  CHECK(RunToEnd("kill -9 $$", log).Text() == "signal 9 (KILL)");
  CHECK(RunToEnd("no-such-program-at-all", log).Text() == "exit code 127");
}

TEST_CASE("a command is killed with everything that it started") {
  const Log log;
  {
    // The command ignores all signals that can be ignored, and so does its child.
    auto process =
        ChildProcess::StartCommand("trap '' TERM INT HUP; sh -c 'echo $$; exec sleep 1000' & wait", {}, log.fd());
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

TEST_CASE("a command whose end does not come is let go of soon after it was killed") {
  const Log log;
  auto process = ChildProcess::StartCommand("echo $$; exec sleep 1000", {}, log.fd());
  REQUIRE(process.ok());
  while (!log.Text().ends_with('\n')) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const pid_t command = std::stoi(log.Text());
  Tracer tracer(command);
  if (!tracer.traces()) {
    REQUIRE(::geteuid() != 0);  // root may trace processes, so in CI this is tested
    WARN("this user may not trace processes");
    return;
  }
  process->KillGroup();
  CHECK(tracer.Lives());
  CHECK(process->Ended());
  CHECK(process->ending().Text() == "an unknown exit code");
  tracer.End();
  int wait_status = 0;
  REQUIRE(::waitpid(command, &wait_status, 0) == command);
  CHECK(WTERMSIG(wait_status) == SIGKILL);
}

TEST_CASE("a command whose exit code is lost has failed") {
  const Log log;
  const auto before = ::signal(SIGCHLD, SIG_IGN);  // the kernel then reaps children
  const Ending ending = RunToEnd("exit 0", log);
  ::signal(SIGCHLD, before);
  CHECK_FALSE(ending.well());
  CHECK(ending.exit_code() == -1);
  CHECK(ending.Text() == "an unknown exit code");
}

TEST_CASE("signals that this program ignores reach a command") {
  const Log log;
  CHECK(RunToEnd("kill -PIPE $$; echo ignored", log).Text() == "signal 13 (PIPE)");
  CHECK(log.Text().empty());
}

}  // namespace
}  // namespace iobench
