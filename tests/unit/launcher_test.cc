#include "coordinator/launch/launcher.h"

#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

namespace fs = std::filesystem;

// Hosts whose remote shells are commands of /bin/sh, and what is reported about them.
class Hosts {
 public:
  // The script runs in its own shell; $D is a directory of the test.
  Hosts& Has(const std::string& host, const std::string& script, uint32_t workers = 1,
             const std::string& copy = "") {
    RemoteStart start{.host = host,
                      .name = "host " + host,
                      .first_place = next_place_,
                      .worker_count = workers,
                      .command = InShell(script),
                      .copy_command = copy.empty() ? "" : InShell(copy)};
    next_place_ += workers;
    starts_.push_back(start);
    return *this;
  }
  Hosts& Start(LaunchOptions options = {}) {
    options.on_fault = [this](const std::string& line) { absl::StrAppend(&reported, line, "\n"); };
    auto started = Launcher::Start(starts_, std::move(options));
    REQUIRE(started.ok());
    launcher_ = std::make_unique<Launcher>(*std::move(started));
    return *this;
  }
  void Joins(uint32_t place, bool present = true) {
    v1::WorkerFacts facts;
    facts.set_client_list_position(place);
    launcher_->SetPresence(facts, present);
  }
  // Calls Check until it fails.
  absl::Status Failure() {
    for (;;) {
      if (absl::Status status = launcher_->Check(); !status.ok()) return status;
      usleep(1000);
    }
  }
  // Calls Check until a script has made the file.
  void Await(const std::string& file) {
    while (!directory_.Has(file)) {
      REQUIRE(launcher_->Check().ok());
      usleep(1000);
    }
  }
  std::string Text(const std::string& file) const { return directory_.Read(file); }
  std::string Path(const std::string& file) const { return directory_ / file; }
  Launcher& launcher() { return *launcher_; }

  std::string reported;

 private:
  std::string InShell(const std::string& script) const {
    return absl::StrCat("env D=", directory_.path(), " sh -c '", script, "'");
  }
  const TempDir directory_;
  uint32_t next_place_ = 1;
  std::vector<RemoteStart> starts_;
  std::unique_ptr<Launcher> launcher_;
};

TEST_CASE("every host that fails is reported with its output, not only the first") {
  Hosts hosts;
  hosts.Has("a", "echo kaboom >&2; exit 2")
      .Has("b", "sleep 600")
      .Has("c", "echo Connection refused; exit 255")
      .Start();
  hosts.Joins(2);
  const absl::Status status = hosts.Failure();
  CHECK(absl::IsUnavailable(status));
  CHECK(status.message() == "1 of 3 workers have joined; 2 of 3 hosts failed, as reported above: a, c");
  CHECK_THAT(
      hosts.reported,
      Catch::Contains("host a: its remote shell ended with exit code 2 before its worker joined: kaboom\n"));
  CHECK_THAT(hosts.reported, Catch::Contains("host c: ") && Catch::Contains("; check that sshd runs there"));
}

TEST_CASE("a launcher that cannot start its first shell says why, and has none to end") {
  const RemoteStart start{.host = "a", .name = "host a", .command = "true", .copy_command = ""};
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit no_files{.rlim_cur = 0, .rlim_max = before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &no_files) == 0);
  const auto launcher = Launcher::Start({start}, {});
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK_THAT(std::string(launcher.status().message()),
             Catch::Contains("memory for what a remote shell prints"));
}

TEST_CASE("credentials are read from standard input, by each worker from the beginning") {
  Hosts hosts;
  hosts.Has("a", "cat >$D/a; sleep 600").Has("b", "cat >$D/b; touch $D/ready; sleep 600");
  hosts.Start({.credentials = "the secret\nand more\n"});
  hosts.Await("ready");
  while (hosts.Text("a").size() < 20) usleep(1000);
  CHECK(hosts.Text("a") == "the secret\nand more\n");
  CHECK(hosts.Text("b") == "the secret\nand more\n");
}

TEST_CASE("hosts that neither join nor fail are given up after the patience") {
  Hosts hosts;
  hosts.Has("a", "sleep 600").Has("b", "echo thinking; sleep 600", 3).Start({.patience_s = 3});
  hosts.Joins(3);
  const absl::Status status = hosts.Failure();
  CHECK(absl::IsDeadlineExceeded(status));
  CHECK_THAT(hosts.reported, Catch::Contains("host a: its worker has not joined after") &&
                                 Catch::Contains("printed nothing") &&
                                 Catch::Contains("host b: 2 of its 3 workers have not joined after") &&
                                 Catch::Contains(": thinking"));
}

TEST_CASE("a worker that ends before it joined is noticed although others of its host go on") {
  Hosts hosts;
  hosts.Has("a",
            "echo \"cluster-iobench: no coordinator\" >&2; echo \"cluster-iobench: " +
                SlotEnded(2, "exit code 3") + "\" >&2; sleep 600",
            3);
  hosts.Start();
  hosts.Joins(1);
  const absl::Status status = hosts.Failure();
  CHECK_THAT(std::string(status.message()), Catch::StartsWith("1 of 3 workers have joined"));
  CHECK_THAT(hosts.reported,
             Catch::StartsWith("host a: worker 1 ended with exit code 3 before it joined: ") &&
                 Catch::Contains("-+h HOST") && Catch::Contains("no coordinator"));
  REQUIRE(hosts.launcher().faults().size() == 1);
  CHECK(hosts.launcher().faults()[0].positions == std::set<uint32_t>{1, 2, 3});
}

TEST_CASE("a worker that ends after it joined is left to the run, which knows about it") {
  Hosts hosts;
  hosts.Has("a", "echo \"" + SlotEnded(1, "signal 9") + "\"; touch $D/ready; sleep 600", 2).Start();
  hosts.Joins(1);
  hosts.Await("ready");
  for (int i = 0; i < 50; ++i) {
    REQUIRE(hosts.launcher().Check().ok());
    usleep(1000);
  }
  CHECK(hosts.reported.empty());
}

TEST_CASE("a shell that ended well at once, one that runs, and one that asks for a password are told apart") {
  Hosts hosts;
  hosts.Has("left", "exit 0").Has("runs", "sleep 600").Has("asks", "printf 'Password: '; sleep 600");
  hosts.Start({.patience_s = 0.5});
  CHECK(absl::IsUnavailable(hosts.Failure()));
  CHECK_THAT(hosts.reported,
             Catch::Contains("host left: its worker has not joined after") &&
                 Catch::Contains("its remote shell ended with exit code 0 at once and printed nothing; check that") &&
                 Catch::Contains("its remote shell still runs and printed nothing; raise --join-timeout") &&
                 Catch::Contains("host asks: its remote shell waits for an input that nobody can give: Password; it wants"));
}

TEST_CASE("how the remote shell of a lost worker ended, or the worker itself beside others, is known") {
  Hosts hosts;
  hosts.Has("a", "echo bye; touch $D/ready; kill -9 $$").Has("b", "touch $D/b; sleep 600");
  hosts.Has("c", "echo \"" + SlotEnded(4, "signal 9 (KILL)") + "\"; touch $D/c; sleep 600", 2).Start();
  for (const uint32_t place : {1, 2, 3, 4}) hosts.Joins(place);
  for (const char* const file : {"ready", "b", "c"}) hosts.Await(file);
  const auto ending_of = [&hosts](uint32_t place) {
    v1::WorkerFacts facts;
    facts.set_client_list_position(place);
    return hosts.launcher().EndingOf(facts);
  };
  while (ending_of(1).empty()) usleep(1000);
  CHECK(ending_of(1) == "its remote shell ended with signal 9 (KILL): bye");
  CHECK(ending_of(2).empty());
  CHECK(ending_of(3).empty());
  CHECK(ending_of(4) == "it ended with signal 9 (KILL)");
}

TEST_CASE("a worker that joined and is gone again counts as failed once its shell has ended") {
  Hosts hosts;
  hosts.Has("a", "touch $D/ready; exit 7").Has("b", "sleep 600").Start();
  hosts.Joins(1);
  hosts.Joins(2);
  hosts.Await("ready");
  usleep(20000);
  CHECK(hosts.launcher().Check().ok());
  hosts.Joins(1, false);
  CHECK(absl::IsUnavailable(hosts.Failure()));
  CHECK_THAT(hosts.reported, Catch::Contains("host a: its remote shell ended with exit code 7"));
}

TEST_CASE("a program is copied where it is missing, and the worker is then started again") {
  Hosts hosts;
  std::ofstream(hosts.Path("program")) << "the program";
  hosts.Has("a",
            std::string("test -e $D/copy || { echo ") + "\"" + kCopyNeeded +
                "\"; exit 97; }; touch $D/ready; sleep 600",
            1, std::string("cat >$D/copy && echo \"") + kCopied + "\"");
  hosts.Start({.shipped_file = hosts.Path("program")});
  hosts.Await("ready");
  CHECK(hosts.Text("copy") == "the program");
  CHECK(hosts.reported.empty());
}

TEST_CASE("a copy that fails is reported with what the host said") {
  Hosts hosts;
  std::ofstream(hosts.Path("program")) << "the program";
  const std::string needed = std::string("echo \"") + kCopyNeeded + "\"; exit 97";
  hosts.Has("a", needed, 1, "cat >/dev/null; echo No space left on device >&2; exit 98");
  hosts.Has("b", needed, 1, std::string("cat >/dev/null; echo \"") + kCopied + "\"");
  hosts.Start({.shipped_file = hosts.Path("program")});
  CHECK(absl::IsUnavailable(hosts.Failure()));
  CHECK_THAT(hosts.reported,
             Catch::Contains("host a: its remote shell ended with exit code 98 before the program was "
                             "copied: No space left on device; make room"));
  // b claims to have the copy but has none: it must not be tried forever.
  CHECK_THAT(hosts.reported, Catch::Contains("host b: its remote shell ended with exit code 97"));
}

TEST_CASE("shells whose workers never joined are asked to end, not waited for until they are killed") {
  const TempDir directory;
  const std::string asked = directory / "asked";
  {
    Hosts hosts;
    hosts.Has("a", "trap \": >" + asked + "; exit\" TERM; touch $D/ready; while :; do sleep 0.05; done")
        .Start();
    hosts.Await("ready");
  }
  CHECK(fs::exists(asked));
}

}  // namespace
}  // namespace iobench
