// A worker that joined over a network, and a coordinator that asks it for more than its command line allows.
#include <fcntl.h>
#include <stdio.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <thread>

#include "common/model/engine.h"
#include "common/model/operation.h"
#include "tests/support/rights_guard.h"
#include "tests/unit/worker_harness.h"

namespace iobench {
namespace {

using Catch::Contains;

// A worker with the root DIRECTORY/root; DIRECTORY/outside is not its business.
struct Confined {
  TempDir directory;
  std::string root = directory.path() + "/root", outside = directory.path() + "/outside";
  bool made = std::filesystem::create_directory(root) && std::filesystem::create_directory(outside);
  RightsGuard guard{OverNetwork({root})};
  WorkerHarness worker;

  v1::WorkerEvent Claim(const std::string& path) {
    v1::WorkerRequest request;
    v1::DataStep& step = *request.mutable_data_step();
    step.set_action(v1::DataStep::CLAIM);
    step.add_targets()->set_path(path);
    step.mutable_manifest()->set_program("cluster-iobench");
    step.mutable_manifest()->set_format(1);
    step.mutable_manifest()->set_run_id(WorkerHarness::kRun);
    step.mutable_manifest()->set_state(v1::Manifest::ACTIVE);
    *step.mutable_manifest()->mutable_names() = AllNames();
    return worker.Ask(std::move(request));
  }
  v1::WorkerEvent Prepare(const v1::Prepare& prepare) {
    v1::WorkerRequest request;
    *request.mutable_prepare() = prepare;
    return worker.Ask(std::move(request));
  }
  // Runs a phase and returns its problem, from the refusal or its first lane.
  std::string ProblemOf(const v1::Prepare& prepare) {
    const v1::WorkerEvent answer = Prepare(prepare);
    if (!answer.has_prepared()) return answer.problem().message();
    worker.ArmIn(1'000'000);
    worker.WaitDone();
    return worker.Collect().lanes(0).problem().message();
  }
};

TEST_CASE("a confined worker works below its root as any other") {
  Confined confined;
  REQUIRE(confined.Claim(confined.root).problem().code() == 0);
  CHECK(confined.worker.RunPhase(PhaseOf("write", 2, confined.root)).lanes(1).bytes() == 16 * 4096);
  CHECK(confined.worker.RunPhase(PhaseOf("read", 2, confined.root)).lanes(0).bytes() == 16 * 4096);
}

TEST_CASE("a confined worker claims, inspects and prepares nothing outside of its root") {
  Confined confined;
  std::filesystem::create_directory_symlink(confined.outside, confined.root + "/link");
  for (const std::string& path : {confined.outside, confined.root + "/../outside", confined.root + "/link",
                                  std::string("/"), std::string("/etc"), std::string("/proc/self/root/etc"),
                                  std::string("/proc/self/cwd"), std::string("nfs://server/export")}) {
    CAPTURE(path);
    CHECK_THAT(confined.Claim(path).problem().message(), Contains("--root"));
    CHECK_THAT(confined.ProblemOf(PhaseOf("write", 1, path)), Contains("--root"));
    v1::WorkerRequest inspect;
    inspect.mutable_inspect()->add_targets()->set_path(path);
    inspect.mutable_inspect()->add_existing_files(path + "/passwd");
    const v1::Inspected seen = confined.worker.Ask(inspect).inspected();
    CHECK_THAT(seen.targets(0).problem().message(), Contains("--root"));
    CHECK(seen.targets(0).filesystem().empty());
    CHECK(seen.existing_files(0).problem().code() != 0);
    CHECK(seen.existing_files(0).bytes() == 0);
  }
  CHECK(std::filesystem::is_empty(confined.outside));
}

TEST_CASE("a confined worker reads existing files below its root, and never writes to one") {
  Confined confined;
  confined.directory.Write("root/file", std::string(16 * 4096, 'a'));
  confined.directory.Write("outside/file", std::string(16 * 4096, 'b'));
  std::filesystem::create_symlink(confined.outside + "/file", confined.root + "/link");
  v1::Prepare prepare = PhaseOf("read", 1, confined.root);
  prepare.mutable_files()->add_existing_files(confined.root + "/file");
  CHECK(confined.ProblemOf(prepare).empty());
  for (const std::string& file : {confined.outside + "/file", confined.root + "/link",
                                  confined.root + "/../outside/file", std::string("/etc/passwd")}) {
    CAPTURE(file);
    prepare.mutable_files()->set_existing_files(0, file);
    CHECK_THAT(confined.ProblemOf(prepare), Contains("--root"));
  }
}

TEST_CASE("no engine opens an existing file that was exchanged for a link after it was looked at") {
  Confined confined;
  std::filesystem::create_directory(confined.root + "/d");
  confined.directory.Write("root/d/file", std::string(16 * 4096, 'a'));
  confined.directory.Write("outside/file", std::string(16 * 4096, 'b'));
  std::filesystem::create_directory_symlink(confined.outside, confined.root + "/swap");
  for (const char* const engine : {"posix", "stdio", "mmap", "io_uring", "posix-aio"}) {
    CAPTURE(engine);
    v1::Prepare prepare = PhaseOf("read", 1, confined.root);
    prepare.mutable_operation()->set_engine(engine);
    prepare.mutable_files()->add_existing_files(confined.root + "/d/file");
    if (!EngineFor(**FindOperation("read"), engine).ok()) continue;
    const v1::WorkerEvent answer = confined.Prepare(prepare);
    if (!answer.has_prepared()) continue;  // this host lacks the engine
    confined.worker.ArmIn(1'000'000);
    confined.worker.WaitDone();
    CHECK(confined.worker.Collect().lanes(0).problem().message().empty());
    // The open in the timed region is the last one: nothing checks the path between it and the reads.
    prepare.mutable_region()->set_open(true);
    REQUIRE(confined.Prepare(prepare).has_prepared());
    std::filesystem::rename(confined.root + "/d", confined.root + "/away");
    std::filesystem::rename(confined.root + "/swap", confined.root + "/d");
    confined.worker.ArmIn(1'000'000);
    confined.worker.WaitDone();
    const v1::LaneResult lane = confined.worker.Collect().lanes(0);
    CHECK_THAT(lane.problem().message(), Contains("symbolic link"));
    CHECK(lane.bytes() == 0);
    std::filesystem::rename(confined.root + "/d", confined.root + "/swap");
    std::filesystem::rename(confined.root + "/away", confined.root + "/d");
  }
}

TEST_CASE("a confined worker does not compare existing files with what a coordinator guesses") {
  Confined confined;
  confined.directory.Write("root/file", std::string(16 * 4096, 'a'));
  v1::Prepare prepare = PhaseOf("read", 1, confined.root);
  prepare.mutable_files()->add_existing_files(confined.root + "/file");
  prepare.mutable_data()->set_verify(true);
  prepare.mutable_data()->set_kind(v1::DataContent::PATTERN);
  prepare.mutable_data()->set_pattern_byte('a');
  const v1::WorkerEvent answer = confined.Prepare(prepare);
  CHECK(answer.problem().code() == static_cast<int>(absl::StatusCode::kPermissionDenied));
  CHECK_THAT(answer.problem().message(), Contains("-V"));
}

TEST_CASE("a confined worker writes no traces and logs, and remounts nothing") {
  Confined confined;
  REQUIRE(confined.Claim(confined.root).problem().code() == 0);
  v1::Prepare trace = PhaseOf("write", 1, confined.root);
  trace.mutable_operation()->mutable_trace()->set_write_file(confined.root + "/trace");
  CHECK_THAT(confined.ProblemOf(trace), Contains("--allow log-files"));
  v1::Prepare log = PhaseOf("write", 1, confined.root);
  log.mutable_operation()->mutable_trace()->set_offset_latency(true);
  CHECK_THAT(confined.ProblemOf(log), Contains("--allow log-files"));
  v1::WorkerRequest remount;
  remount.mutable_client_step()->mutable_step()->mutable_remount()->set_mount_point(confined.root);
  CHECK_THAT(confined.worker.Ask(remount).problem().message(), Contains("--allow remount"));
  CHECK_FALSE(std::filesystem::exists(confined.root + "/trace.0"));
}

TEST_CASE("traces that a worker may write stay below its root") {
  Confined confined;
  WorkerRights rights = OverNetwork({confined.root});
  rights.actions = {WorkerAction::kLogFiles};
  SetWorkerRights(rights);
  REQUIRE(confined.Claim(confined.root).problem().code() == 0);
  v1::Prepare trace = PhaseOf("write", 1, confined.root);
  trace.mutable_operation()->mutable_trace()->set_write_file(confined.root + "/trace");
  CHECK(confined.ProblemOf(trace).empty());
  CHECK(std::filesystem::file_size(confined.root + "/trace.0") > 0);
  trace.mutable_operation()->mutable_trace()->set_write_file(confined.outside + "/trace");
  CHECK_THAT(confined.ProblemOf(trace), Contains("--root"));
  v1::Prepare replay = PhaseOf("write", 1, confined.root);
  replay.mutable_operation()->mutable_trace()->set_read_file("/etc/passwd");
  CHECK_THAT(confined.ProblemOf(replay), Contains("--root"));
  CHECK(std::filesystem::is_empty(confined.outside));
}

TEST_CASE("log files that are asked about by path are not looked at") {
  Confined confined;
  v1::WorkerRequest inspect;
  inspect.mutable_inspect()->mutable_demands()->add_appended_files("/etc/passwd");
  const v1::Inspected seen = confined.worker.Ask(inspect).inspected();
  REQUIRE(seen.problems_size() == 1);
  CHECK_THAT(seen.problems(0).message(), Contains("not a bare file name"));
}

TEST_CASE("data directories are never made through a target that turns into a link meanwhile") {
  Confined confined;
  std::filesystem::create_directory(confined.root + "/target");
  std::filesystem::create_directory_symlink(confined.outside, confined.root + "/swap");
  std::atomic<bool> stop = false;
  std::thread attacker([&] {
    const std::string target = confined.root + "/target", swap = confined.root + "/swap";
    while (!stop) ::renameat2(AT_FDCWD, target.c_str(), AT_FDCWD, swap.c_str(), RENAME_EXCHANGE);
  });
  int claimed = 0, refused = 0;
  // Repeats until both outcomes of the race have occurred, however the threads are scheduled.
  const int64_t give_up_ns = MonotonicNowNs() + 30 * kNanosPerSecond;
  for (int i = 0; i < 300 || ((claimed == 0 || refused == 0) && MonotonicNowNs() < give_up_ns); ++i) {
    (confined.Claim(confined.root + "/target").problem().code() == 0 ? claimed : refused) += 1;
  }
  stop = true;
  attacker.join();
  CHECK(std::filesystem::is_empty(confined.outside));
  CHECK(claimed > 0);
  CHECK(refused > 0);
}

}  // namespace
}  // namespace iobench
