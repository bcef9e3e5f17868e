#include "worker/janitor.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "common/proc_file.h"
#include "common/unique_fd.h"
#include "tests/support/temp_dir.h"
#include "worker/check/check_files.h"
#include "worker/data_directory/data_ownership.h"
#include "worker/worker_service.h"

namespace iobench {
namespace {

constexpr uint64_t kRunId = 7;

// The data of a run with two workers.
struct DataOfTwo {
  TempDir directory;
  v1::Prepare prepare;  // of the second worker

  DataOfTwo() {
    v1::Manifest manifest;
    manifest.set_program("cluster-iobench");
    manifest.set_format(1);
    manifest.set_run_id(kRunId);
    manifest.set_state(v1::Manifest::ACTIVE);
    manifest.mutable_names()->set_lanes(2);
    manifest.mutable_names()->set_files_per_lane(1);
    const auto claimed = ClaimData(directory.path(), manifest);
    REQUIRE(claimed.ok());
    prepare.add_targets()->set_path(directory.path());
    *prepare.add_claims() = claimed->second;
    prepare.add_lanes()->set_lane(1);
    UsersAre(2);
    directory.Write("cluster-iobench.data/lane-000001.0", "data");
  }
  void UsersAre(uint32_t count) { prepare.mutable_claims(0)->set_users(count); }
  bool Has(const std::string& name) const { return directory.Has("cluster-iobench.data/" + name); }
};

// Does `work` in a process of its own, kills that with SIGKILL, and returns when its janitor has ended, too.
void KillAfter(const std::function<void(Janitor&)>& work) {
  REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);  // the janitor becomes our child
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t worker = fork();
  if (worker == 0) {
    const std::unique_ptr<Janitor> janitor = Janitor::Start();
    work(*janitor);
    const pid_t pid = janitor->pid();
    static_cast<void>(!write(ends[1], &pid, sizeof pid));
    while (true) pause();
  }
  pid_t janitor = 0;
  REQUIRE(read(ends[0], &janitor, sizeof janitor) == sizeof janitor);
  for (const int end : ends) close(end);
  REQUIRE(kill(janitor, SIGTERM) == 0);  // as a launcher may send to every process it finds
  REQUIRE(kill(worker, SIGKILL) == 0);
  REQUIRE(waitpid(worker, nullptr, 0) == worker);
  int how = 0;
  REQUIRE(waitpid(janitor, &how, 0) == janitor);
  REQUIRE(WIFEXITED(how));
  REQUIRE(WEXITSTATUS(how) == 0);
}

TEST_CASE("the janitor of a killed worker puts down its mark, and that of the last one removes the data") {
  DataOfTwo data;
  KillAfter([&](Janitor& janitor) { janitor.RecordPrepare(data.prepare); });
  CHECK(data.Has("left-000001"));
  CHECK(data.Has("lane-000001.0"));
  data.prepare.mutable_lanes(0)->set_lane(0);
  KillAfter([&](Janitor& janitor) { janitor.RecordPrepare(data.prepare); });
  CHECK_FALSE(data.Has(""));
}

TEST_CASE("what the coordinator has ended is left alone, and so are data that others remove") {
  DataOfTwo data;
  data.UsersAre(1);
  KillAfter([&](Janitor& janitor) {
    janitor.RecordPrepare(data.prepare);
    janitor.Forget();
  });
  CHECK(data.Has("lane-000001.0"));
  KillAfter([&](Janitor& janitor) {
    janitor.LeaveDataToOthers();
    janitor.RecordPrepare(data.prepare);
  });
  CHECK(data.Has("lane-000001.0"));
  CHECK_FALSE(data.Has("left-000001"));
}

TEST_CASE(
    "a worker that has left its data by itself, without its coordinator, leaves nothing to its janitor") {
  DataOfTwo data;
  class NoSink final : public EventSink {
    void Send(v1::WorkerEvent) override {}
  };
  KillAfter([&](Janitor& janitor) {
    NoSink sink;
    const std::unique_ptr<WorkerHandler> worker = MakeWorkerService(WorkerOptions(), &janitor);
    v1::WorkerRequest request;
    request.set_run_id(kRunId);
    request.set_call_id(1);
    *request.mutable_prepare() = data.prepare;
    worker->Handle(request, sink);
    worker->Abandon();
    if (!data.Has("left-000001")) _exit(1);
    // As if the last worker were removing everything now.
    std::filesystem::remove(data.directory.path() + "/cluster-iobench.data/left-000001");
  });
  CHECK_FALSE(data.Has("left-000001"));
  CHECK(data.Has("lane-000001.0"));
}

TEST_CASE("the janitor removes check files and the directory of validate, and nothing else") {
  TempDir directory;
  directory.Write("precious", "");
  directory.Write("cluster-iobench.check-0000000000000007.2", "another worker's");
  v1::FileActions actions;
  actions.mutable_target()->set_path(directory.path());
  v1::FileAction& create = *actions.add_actions();
  create.set_what(v1::FileAction::CREATE);
  create.set_file(1);
  for (uint32_t number = 1; number <= 2; ++number) {
    v1::FileAction& make = *actions.add_actions();
    make.set_what(v1::FileAction::MAKE_DIRECTORY);
    make.set_directory(number);
  }
  KillAfter([&](Janitor& janitor) {
    janitor.RecordFileActions(kRunId, actions);
    CheckFiles files;
    v1::FileActionsDone done;
    if (!files
             .Do(
                 kRunId, actions, [] { return WorkerTime{1}; }, done)
             .ok())
      _exit(1);
    for (const v1::FileActionResult& result : done.results()) {
      if (result.problem().code() != 0) _exit(1);
    }
  });
  CHECK(directory.Has("precious"));
  CHECK(directory.Has("cluster-iobench.check-0000000000000007.2"));
  CHECK_FALSE(directory.Has("cluster-iobench.check-0000000000000007.1"));
  CHECK_FALSE(directory.Has("cluster-iobench.validate-0000000000000007"));
}

TEST_CASE("a janitor ends with its worker, under a name of its own, and holds no file") {
  UniqueFd held(dup(STDOUT_FILENO));
  // Its name takes the place of this process's arguments, so a short command line, as of ./janitor_test, cuts it.
  const std::string arguments = ReadWholeFile("/proc/self/cmdline").value_or("");
  REQUIRE(arguments.size() > 1);
  const std::string title = std::string("cluster-iobench-janitor").substr(0, arguments.size() - 1);
  pid_t pid = 0;
  {
    const std::unique_ptr<Janitor> janitor = Janitor::Start();
    REQUIRE(janitor != nullptr);
    pid = janitor->pid();
    const std::string process = "/proc/" + std::to_string(pid);
    // It renames itself soon after its start.
    while (!ReadWholeFile(process + "/cmdline").value_or("").starts_with(title)) usleep(1000);
    while (std::filesystem::exists(process + "/fd/" + std::to_string(held.get()))) usleep(1000);
    CHECK(ReadWholeFile(process + "/comm") == "iobench-janitor\n");
  }
  // The worker waits for its end only for a while, which is too short on a busy machine.
  CHECK((waitpid(pid, nullptr, 0) == pid || errno == ECHILD));
}

}  // namespace
}  // namespace iobench
