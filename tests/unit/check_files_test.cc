#include "worker/check/check_files.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <string>
#include <tuple>

#include "common/clock.h"
#include "common/digest/xxh3.h"
#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

constexpr uint64_t kRunId = 0xabc;
constexpr char kName[] = "cluster-iobench.check-0000000000000abc.5";

struct OneWorker {
  TempDir directory;
  CheckFiles files;
  CheckFiles* acting = &files;  // or those of another worker at the same storage

  v1::FileActionResult Do(v1::FileAction::What what, const std::string& contents = "", uint32_t file = 5) {
    v1::FileActions actions;
    actions.mutable_target()->set_path(directory.path());
    v1::FileAction& action = *actions.add_actions();
    action.set_what(what);
    action.set_file(file);
    action.set_contents(contents);
    v1::FileActionsDone done;
    int64_t ticks = 100;
    REQUIRE(acting
                ->Do(
                    kRunId, actions, [&ticks] { return WorkerTime{ticks++}; }, done)
                .ok());
    REQUIRE(done.results_size() == 1);
    CHECK(done.results(0).begin_worker_ns() == 100);
    CHECK(done.results(0).end_worker_ns() == 101);
    return done.results(0);
  }
};

TEST_CASE("a file that one worker creates is read by another, and removed by the one that created it") {
  OneWorker writer;
  CHECK(writer.Do(v1::FileAction::CREATE, "hello").problem().code() == 0);
  CHECK(writer.directory.Read(kName) == "hello");
  const v1::FileActionResult read = writer.Do(v1::FileAction::READ);
  CHECK(read.bytes() == 5);
  CHECK(read.contents_xxh3() == Xxh3Of("hello"));

  CheckFiles other;
  writer.acting = &other;
  CHECK(writer.Do(v1::FileAction::READ).contents_xxh3() == Xxh3Of("hello"));
  CHECK(writer.Do(v1::FileAction::REMOVE).problem().code() != 0);
  CHECK(writer.directory.Has(kName));
  writer.acting = &writer.files;
  CHECK(writer.Do(v1::FileAction::REMOVE).problem().code() == 0);
  CHECK_FALSE(writer.directory.Has(kName));
}

TEST_CASE("a file that is not there is told with its errno") {
  OneWorker worker;
  CHECK(worker.Do(v1::FileAction::READ).problem().errno_value() == ENOENT);
}

TEST_CASE("files that exist are neither overwritten nor removed, and links are not followed") {
  OneWorker worker;
  worker.directory.Write(kName, "not ours");
  CHECK(worker.Do(v1::FileAction::CREATE, "hello").problem().errno_value() == EEXIST);
  CHECK(worker.Do(v1::FileAction::REMOVE).problem().code() != 0);
  CHECK(worker.directory.Read(kName) == "not ours");

  worker.directory.Write("secret", "secret");
  const std::string link = worker.directory.path() + "/cluster-iobench.check-0000000000000abc.6";
  REQUIRE(::symlink((worker.directory.path() + "/secret").c_str(), link.c_str()) == 0);
  const v1::FileActionResult read = worker.Do(v1::FileAction::READ, "", 6);
  CHECK(read.problem().code() != 0);
  CHECK(read.bytes() == 0);
}

TEST_CASE("what a worker creates is bounded") {
  OneWorker worker;
  CHECK(worker.Do(v1::FileAction::CREATE, std::string(4097, 'x')).problem().code() != 0);
  for (uint32_t file = 0; file < 64; ++file) {
    REQUIRE(worker.Do(v1::FileAction::CREATE, "x", file).problem().code() == 0);
  }
  CHECK(worker.Do(v1::FileAction::CREATE, "x", 64).problem().code() != 0);
  v1::FileActions many;
  for (int i = 0; i < 65; ++i) many.add_actions();
  v1::FileActionsDone done;
  CHECK(absl::IsInvalidArgument(worker.files.Do(
      kRunId, many, [] { return WorkerTime{}; }, done)));
}

TEST_CASE("a worker whose coordinator is gone removes its check files") {
  OneWorker worker;
  worker.Do(v1::FileAction::CREATE, "hello");
  worker.files.RemoveAll();
  CHECK_FALSE(worker.directory.Has(kName));
}

TEST_CASE("and the directories of validate with all that is in them") {
  OneWorker worker;
  v1::FileActions actions;
  actions.mutable_target()->set_path(worker.directory.path());
  for (const auto what : {v1::FileAction::MAKE_DIRECTORY, v1::FileAction::FILL}) {
    v1::FileAction& action = *actions.add_actions();
    action.set_what(what);
    action.set_directory(3);
    action.set_count(5);
  }
  v1::FileActionsDone done;
  REQUIRE(worker.files
              .Do(
                  kRunId, actions, [] { return WorkerTime{}; }, done)
              .ok());
  CHECK(done.results(1).count() == 5);
  CHECK(worker.directory.Has("cluster-iobench.validate-0000000000000abc/d3/f4"));
  worker.files.RemoveAll();
  CHECK_FALSE(worker.directory.Has("cluster-iobench.validate-0000000000000abc"));
}

TEST_CASE(
    "lanes are performed side by side, and each in its order; results are in the order of the actions") {
  OneWorker worker;
  v1::FileActions actions;
  actions.mutable_target()->set_path(worker.directory.path());
  const auto add = [&actions](v1::FileAction::What what, uint32_t lane, uint32_t file) -> v1::FileAction& {
    v1::FileAction& action = *actions.add_actions();
    action.set_what(what);
    action.set_directory(1);
    action.set_lane(lane);
    action.set_file(file);
    return action;
  };
  v1::FileActionsDone made;
  add(v1::FileAction::MAKE_DIRECTORY, 0, 0);
  REQUIRE(worker.files
              .Do(
                  kRunId, actions, [] { return WorkerTime{MonotonicNowNs()}; }, made)
              .ok());
  REQUIRE(made.results(0).problem().code() == 0);

  // The first lane waits for what the second makes, and the second then for what the first makes.
  actions.clear_actions();
  for (const auto& [lane, awaited, file] : {std::tuple{1, 2, 1}, {2, 3, 2}}) {
    const auto in = static_cast<uint32_t>(lane);
    if (lane == 2)
      add(v1::FileAction::WRITE, in, static_cast<uint32_t>(file)).mutable_how()->set_create(true);
    v1::FileAction& wait = add(v1::FileAction::AWAIT, in, static_cast<uint32_t>(awaited));
    wait.set_awaited(v1::FileAction::NAME);
    wait.set_timeout_ms(60'000);
    if (lane == 1) add(v1::FileAction::WRITE, in, 3).mutable_how()->set_create(true);
  }
  v1::FileActionsDone done;
  REQUIRE(worker.files
              .Do(
                  kRunId, actions, [] { return WorkerTime{MonotonicNowNs()}; }, done)
              .ok());
  REQUIRE(done.results_size() == 4);
  CHECK(done.results(0).seen());
  CHECK(done.results(3).seen());
  CHECK(done.results(1).begin_worker_ns() >= done.results(0).end_worker_ns());
  CHECK(worker.files.LaneThreads().empty());
  worker.files.RemoveAll();
}

TEST_CASE("actions begin at the instant that they are told") {
  OneWorker worker;
  v1::FileActions actions;
  actions.mutable_target()->set_path(worker.directory.path());
  actions.set_start_worker_ns(5'000);
  actions.add_actions()->set_what(v1::FileAction::READ);
  v1::FileActionsDone done;
  int64_t now_ns = 0;
  REQUIRE(worker.files
              .Do(
                  kRunId, actions, [&now_ns] { return WorkerTime{now_ns += 100}; }, done)
              .ok());
  CHECK(done.results(0).begin_worker_ns() >= 5'000);
  CHECK(done.results(0).begin_worker_ns() < 5'500);
  actions.set_start_worker_ns(3'600 * kNanosPerSecond);
  CHECK_FALSE(worker.files
                  .Do(
                      kRunId, actions, [] { return WorkerTime{}; }, done)
                  .ok());
}

}  // namespace
}  // namespace iobench
