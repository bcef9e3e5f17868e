// Who has a directory of results. tests/cluster/test_resume.py tries it with two programs.
#include "coordinator/report/result_lock.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/host_identity.h"
#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

using Catch::Contains;
using IfOutOfSight = ResultLock::IfOutOfSight;

struct Results {
  std::string Lock() const { return directory + "/" + kResultLockFile; }
  // As a process left it that was killed.
  void LeftBy(const ProcessIdentity& process, const std::string& host) const {
    std::ofstream(Lock()) << "cluster-iobench results\n"
                          << ToLine(process) << "\n" << host << "\n2026-11-28T01:02:03Z\nrun 7\n";
  }
  std::string Refusal(IfOutOfSight if_out_of_sight = IfOutOfSight::kRefuse) const {
    const auto lock = ResultLock::Take(directory, if_out_of_sight);
    return lock.ok() ? "" : std::string(lock.status().message());
  }
  std::string Record() const {
    std::ostringstream text;
    text << std::ifstream(Lock()).rdbuf();
    return text.str();
  }

  const TempDir temporary;
  const std::string directory = temporary.path();
};

ProcessIdentity Ended() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ProcessIdentity process = *OwnIdentity();
  process.pid = child;
  ::waitpid(child, nullptr, 0);
  return process;
}

TEST_CASE("a directory of results has one owner, whom the refusal of another names, also with --force") {
  const Results results;
  auto lock = ResultLock::Take(results.directory, IfOutOfSight::kRefuse);
  REQUIRE(lock.ok());
  REQUIRE((*lock)->NameRun("run 7").ok());
  CHECK_THAT(results.Record(), Contains("run 7") && Contains(HostName()));
  for (const IfOutOfSight each : {IfOutOfSight::kRefuse, IfOutOfSight::kAccept}) {
    CHECK_THAT(results.Refusal(each), Contains("still going on") && Contains(absl::StrCat("process ", getpid(), " of ")));
  }
  CHECK((*lock)->CheckHeld().ok());
  lock->reset();
  CHECK_FALSE(std::filesystem::exists(results.Lock()));
  CHECK(results.Refusal().empty());
}

TEST_CASE("an owner that was killed is replaced") {
  const Results results;
  results.LeftBy(Ended(), HostName());
  CHECK(results.Refusal().empty());
}

TEST_CASE("the lock says that a process of this boot has ended, whatever other container it was in") {
  const Results results;
  results.LeftBy({.place = BootId() + " pid:[1]", .pid = 1, .start_ticks = 1}, "container");
  CHECK(results.Refusal().empty());
}

TEST_CASE("an owner of another host may be alive, unless the user says that it is not") {
  const Results results;
  const ProcessIdentity elsewhere{.place = "another-boot pid:[1]", .pid = 4711, .start_ticks = 1};
  results.LeftBy(elsewhere, "node07");
  CHECK_THAT(results.Refusal(), Contains("process 4711 on node07") && Contains("--force"));
  CHECK_THAT(results.Record(), Contains("node07"));  // it stays
  CHECK(results.Refusal(IfOutOfSight::kAccept).empty());
  results.LeftBy(elsewhere, HostName());  // this host was restarted
  CHECK(results.Refusal().empty());
}

TEST_CASE("a record that cannot be read is not nobody's, but an empty one is: its owner was killed before it wrote") {
  const Results results;
  std::ofstream(results.Lock()) << "something else";
  CHECK_THAT(results.Refusal(), Contains("cannot be read") && Contains("--force"));
  std::ofstream(results.Lock(), std::ios::trunc).close();
  CHECK(results.Refusal().empty());
}

TEST_CASE("an owner notices that another process has taken the directory where there are no locks") {
  const Results results;
  const auto lock = ResultLock::Take(results.directory, IfOutOfSight::kRefuse);
  REQUIRE(lock.ok());
  SECTION("in the same file") {
    results.LeftBy(Ended(), "node07");
  }
  SECTION("in another one") {
    std::filesystem::remove(results.Lock());
    results.LeftBy(Ended(), "node07");
  }
  CHECK_THAT(std::string((*lock)->CheckHeld().message()), Contains("taken"));
  (*lock)->Release();
  CHECK_THAT(results.Record(), Contains("node07"));
}

TEST_CASE("a link or a directory in the place of the lock is refused and left alone") {
  const Results results;
  SECTION("link") {
    std::ofstream(results.directory + "/other") << "mine";
    std::filesystem::create_symlink("other", results.Lock());
  }
  SECTION("directory") {
    std::filesystem::create_directory(results.Lock());
  }
  CHECK_THAT(results.Refusal(IfOutOfSight::kAccept), Contains(kResultLockFile));
}

}  // namespace
}  // namespace iobench
