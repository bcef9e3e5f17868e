#include "worker/check/trial/trial.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "common/status_util.h"
#include "common/unique_fd.h"
#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

std::vector<std::string> AllTrials() {
  std::vector<std::string> names;
  for (const std::span<const Trial> table : {FeatureTrials(), NameTrials(), SizeTrials()}) {
    for (const Trial& trial : table) names.push_back(trial.name);
  }
  return names;
}

// What a file system answers to every trial.
std::map<std::string, v1::TrialResult> AnswersOf(const std::string& path) {
  const UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  REQUIRE(directory.valid());
  v1::FileAction action;
  for (const std::string& name : AllTrials()) action.add_trials(name);
  v1::FileActionResult result;
  REQUIRE(RunTrials(action, {directory.get(), "f1", path}, result).ok());
  std::map<std::string, v1::TrialResult> answers;
  for (const v1::TrialResult& trial : result.trials()) answers[trial.name()] = trial;
  return answers;
}

TEST_CASE("no two trials have one name, and each says what it tries") {
  const std::vector<std::string> names = AllTrials();
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
  CHECK(names.size() <= 64);  // what one action may ask for
  for (const std::string& name : names) CHECK(std::string(TrialNamed(name)->title).size() > 5);
  CHECK(TrialNamed("no-such-trial") == nullptr);
}

TEST_CASE("every trial has an answer on a disk and in memory, and leaves nothing") {
  for (const std::filesystem::path& parent : {ParentOnDisk(), std::filesystem::path("/dev/shm")}) {
    const TempDir directory(parent);
    const std::map<std::string, v1::TrialResult> answers = AnswersOf(directory.path());
    for (const auto& [name, result] : answers) {
      INFO(parent << ": " << name << ": " << result.problem().message());
      CHECK(result.problem().code() == 0);
      CHECK_FALSE(result.answer().empty());
    }
    CHECK(std::filesystem::is_empty(directory.path()));
  }
}

TEST_CASE("what Linux's own file systems answer") {
  const TempDir directory(std::filesystem::path("/dev/shm"));  // tmpfs
  std::map<std::string, v1::TrialResult> answers = AnswersOf(directory.path());
  const std::map<std::string, std::string> due = {{"case", "different"},
                                                  {"unicode_forms", "different"},
                                                  {"invalid_utf8", "accepted"},
                                                  {"longest_name", "bytes"},
                                                  {"reserved_characters", "accepted"},
                                                  {"link", "yes"},
                                                  {"symlink", "yes"},
                                                  {"special_files", "yes"},
                                                  {"sparse", "yes"},
                                                  {"time_step", "fine"},
                                                  {"change_time", "yes"},
                                                  {"after_2038", "yes"},
                                                  {"fallocate", "yes"},
                                                  {"punch_hole", "yes"},
                                                  {"seek_hole", "yes"},
                                                  {"clone", "no"},
                                                  {"copy_range", "yes"},
                                                  {"tmpfile", "yes"},
                                                  {"shared_mapping", "yes"},
                                                  {"directory_fsync", "yes"},
                                                  {"rename_only_new", "yes"},
                                                  {"exchange", "yes"},
                                                  {"largest_file", "holds"}};
  for (const auto& [name, answer] : due) {
    INFO(name);
    CHECK(answers[name].answer() == answer);
  }
  CHECK(answers["longest_name"].number() == 255);
  CHECK(answers["link"].number() == 16);
  CHECK(answers["symlink"].number() == 4095);
  CHECK(answers["time_step"].number() == 1);
  CHECK(answers["largest_file"].number() == static_cast<uint64_t>(INT64_MAX));
  CHECK(answers["sparse"].number() == 4096);
}

TEST_CASE("a call that is refused for another reason than being missing is a problem, with its errno") {
  const TrialPlace place{-1, "f1", "/nowhere"};
  v1::TrialResult result;
  for (const int missing : {EOPNOTSUPP, EPERM, EINVAL, ENOSYS, EXDEV}) {
    CHECK(Offered(missing, "link", place, result).ok());
    CHECK(result.answer() == "no");
  }
  for (const int error : {EIO, EROFS, ENOSPC, EACCES, ESTALE}) {
    CHECK(ErrnoOf(Offered(error, "link", place, result)) == error);
    CHECK(result.failed_call() == "link");
  }
}

}  // namespace
}  // namespace iobench
