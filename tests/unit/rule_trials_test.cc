// Rules of POSIX, tried on the file system of this host, which keeps them; and how a broken one is told.
#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "common/status_util.h"
#include "common/unique_fd.h"
#include "tests/support/temp_dir.h"
#include "worker/check/trial/scratch.h"
#include "worker/check/trial/trial.h"

namespace iobench {
namespace {

TEST_CASE("this host's file system keeps all rules, and nothing is left") {
  TempDir directory;
  const UniqueFd fd(::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::set<std::string> names;
  for (const Trial& trial : RuleTrials()) {
    INFO(trial.name);
    CHECK(names.insert(trial.name).second);
    CHECK(TrialNamed(trial.name) == &trial);
    v1::TrialResult result;
    const absl::Status status = trial.run({fd.get(), "f1", directory.path()}, result);
    CHECK(status.ok());
    INFO(result.detail());
    CHECK(result.answer() == "yes");
    CHECK_FALSE(directory.Has("f1.rule"));
  }
  CHECK(names.size() == 36);
}

TEST_CASE("a directory that cannot be made is a problem of the trial") {
  TempDir directory;
  directory.Write("f1.rule", "");
  const UniqueFd fd(::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  v1::TrialResult result;
  CHECK(ErrnoOf(RuleTrials()[0].run({fd.get(), "f1", directory.path()}, result)) == EEXIST);
  CHECK(result.answer().empty());
}

TEST_CASE("a scratch directory goes with files and directories in it") {
  TempDir directory;
  const UniqueFd fd(::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  {
    const auto scratch = Scratch::In({fd.get(), "f1", directory.path()});
    REQUIRE(scratch.ok());
    CHECK(scratch->MakeDirectory("d").ok());
    CHECK(scratch->Write("d/a", "x").ok());
    CHECK(*scratch->Contents("d/a") == "x");
    CHECK(directory.Has("f1.rule/d/a"));
  }
  CHECK_FALSE(directory.Has("f1.rule"));
}

}  // namespace
}  // namespace iobench
