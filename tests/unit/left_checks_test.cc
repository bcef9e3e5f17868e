#include "worker/check/left_checks.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/host_identity.h"
#include "tests/support/temp_dir.h"
#include "worker/check/check_files.h"
#include "worker/check/check_tree.h"

namespace iobench {
namespace {

constexpr uint64_t kRunId = 0xabc;
constexpr char kFile[] = "cluster-iobench.check-0000000000000abc.5";
constexpr char kTree[] = "cluster-iobench.validate-0000000000000abc";

// As a coordinator writes it.
std::string ContentsOf(const std::string& process) {
  return absl::StrCat("cluster-iobench check file of run 0000000000000abc of node07\nprocess ", process,
                      "\nworker 5: 123\n");
}

std::string LineOf(const ProcessIdentity& process) {
  return ToLine(process);
}

// Does `work` in a process that has ended when this returns, and returns its identity.
ProcessIdentity Ended(const std::function<void()>& work = [] {}) {
  ProcessIdentity identity = *OwnIdentity();
  identity.pid = ::fork();
  if (identity.pid == 0) {
    work();
    ::_exit(0);
  }
  int how = 0;
  REQUIRE(::waitpid(static_cast<pid_t>(identity.pid), &how, 0) == identity.pid);
  REQUIRE(how == 0);
  return identity;
}

void MakeTree(const std::string& path) {
  const auto tree = CheckTree::At(path, kRunId);
  if (!tree.ok() || !tree->MakeDirectory(1).ok() || !tree->MakeDirectory(2).ok()) ::_exit(1);
}

TEST_CASE("what a process that has ended left is removed, and what is alive stays whatever is forced") {
  TempDir directory;
  directory.Write(kFile, ContentsOf(LineOf(*OwnIdentity())));
  MakeTree(directory.path());
  for (const bool force : {false, true}) {
    const auto left = RemoveLeftChecks(directory.path(), force);
    REQUIRE(left.ok());
    CHECK(left->refused.size() == 2);
    CHECK(left->refused[0].find("is in use") != std::string::npos);
  }
  CHECK(directory.Has(kFile));
  CHECK(directory.Has(std::string(kTree) + "/d2"));

  TempDir crashed;
  crashed.Write(kFile, ContentsOf(LineOf(Ended([&] { MakeTree(crashed.path()); }))));
  crashed.Write(std::string(kTree) + "/d1/" + TreeFileName(7, v1::FileAction::PLAIN), "x");
  crashed.Write(std::string(kTree) + "/d1/" + TreeFileName(7, v1::FileAction::LONGEST), "x");
  crashed.Write(std::string(kTree) + "/d1/" + TreeFileName(7, v1::FileAction::UTF8), "x");
  std::filesystem::create_directory(crashed.path() + "/" + kTree + "/d2/f3");
  std::filesystem::create_directories(crashed.path() + "/" + kTree + "/d2/f4.shared/directory");
  crashed.Write(std::string(kTree) + "/d2/f4.shared/file", "x");
  crashed.Write(std::string(kTree) + "/d2/f4.own", "x");
  const auto left = RemoveLeftChecks(crashed.path(), false);
  REQUIRE(left.ok());
  CHECK(left->removed_files == 1);
  CHECK(left->removed_directories == 1);
  CHECK(left->refused.empty());
  CHECK(std::filesystem::is_empty(crashed.path()));
}

TEST_CASE("what belongs to another host, or does not say to whom, goes only if it is forced") {
  ProcessIdentity elsewhere = *OwnIdentity();
  elsewhere.place = "another boot";
  const std::string contents =
      GENERATE_COPY(ContentsOf(LineOf(elsewhere)), std::string(),
                    std::string("cluster-iobench check file of run abc, worker 5: 1\n"));
  TempDir directory;
  directory.Write(kFile, contents);
  auto left = RemoveLeftChecks(directory.path(), false);
  REQUIRE(left.ok());
  REQUIRE(left->refused.size() == 1);
  CHECK(left->refused[0].find("cannot be seen from here") != std::string::npos);
  CHECK(left->refused[0].find("clean --force " + directory.path()) != std::string::npos);
  CHECK(directory.Has(kFile));
  left = RemoveLeftChecks(directory.path(), true);
  REQUIRE(left.ok());
  CHECK(left->refused.empty());
  CHECK_FALSE(directory.Has(kFile));
}

TEST_CASE("what only looks like ours stays, and so does what holds it") {
  TempDir directory;
  const std::string process = LineOf(Ended([&] { MakeTree(directory.path()); }));
  directory.Write(kFile, "my notes");
  directory.Write("cluster-iobench.check-0000000000000abd.5", ContentsOf(process));  // of another run
  directory.Write("cluster-iobench.check-0000000000000abc.05", ContentsOf(process));
  directory.Write("cluster-iobench.check-0000000000000ABC.6", ContentsOf(process));
  directory.Write("notes", ContentsOf(process));
  directory.Write("cluster-iobench.validate-0000000000000abd", "a file");
  std::filesystem::create_symlink(directory.path() + "/notes",
                                  directory.path() + "/cluster-iobench.check-0000000000000abc.9");
  const std::string tree = std::string(kTree) + "/";
  directory.Write(tree + "d1/f7", "ours");
  directory.Write(tree + "d1/f07", "mine");
  directory.Write(tree + "mine", "mine");
  const auto left = RemoveLeftChecks(directory.path(), true);
  REQUIRE(left.ok());
  CHECK(left->removed_files == 0);
  CHECK(left->removed_directories == 0);
  CHECK(left->foreign.size() == 6);
  for (const char* name :
       {kFile, "cluster-iobench.check-0000000000000abd.5", "cluster-iobench.check-0000000000000abc.05",
        "cluster-iobench.check-0000000000000ABC.6", "notes", "cluster-iobench.validate-0000000000000abd",
        "cluster-iobench.check-0000000000000abc.9"}) {
    CHECK(directory.Has(name));
  }
  for (const char* name : {"d1/f07", "mine", "owner"}) CHECK(directory.Has(tree + name));
  CHECK_FALSE(directory.Has(tree + "d1/f7"));
  CHECK_FALSE(directory.Has(tree + "d2"));

  // Once the user's files are gone, the rest is removed.
  std::filesystem::remove(directory.path() + "/" + tree + "d1/f07");
  std::filesystem::remove(directory.path() + "/" + tree + "mine");
  REQUIRE(RemoveLeftChecks(directory.path(), false)->removed_directories == 1);
  CHECK_FALSE(directory.Has(kTree));
}

TEST_CASE("a directory of validate belongs to the process that the worker was told") {
  const std::string alive = LineOf(*OwnIdentity());
  TempDir directory;
  Ended([&] {
    const auto tree = CheckTree::At(directory.path(), kRunId);
    if (!tree.ok() || !tree->MakeDirectory(1, alive).ok()) ::_exit(1);
  });
  auto left = RemoveLeftChecks(directory.path(), true);
  REQUIRE(left.ok());
  CHECK(left->refused.size() == 1);
  CHECK(directory.Has(std::string(kTree) + "/d1"));

  TempDir crashed;
  const auto tree = CheckTree::At(crashed.path(), kRunId);
  REQUIRE(tree.ok());
  REQUIRE(tree->MakeDirectory(1, LineOf(Ended())).ok());
  left = RemoveLeftChecks(crashed.path(), false);
  REQUIRE(left.ok());
  CHECK(left->removed_directories == 1);
}

// Lets this process open only two more files at a time.
class TwoMoreFiles {
 public:
  TwoMoreFiles() {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    // The lowest number that is free comes first, so the last two are above all others.
    for (int& fd : copies_) fd = ::dup(STDERR_FILENO);
    const int last = copies_.back();
    for (size_t i = copies_.size() - 2; i < copies_.size(); ++i) ::close(copies_[i]);
    rlimit two_more = before_;
    two_more.rlim_cur = static_cast<rlim_t>(last) + 1;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &two_more) == 0);
  }
  ~TwoMoreFiles() {
    ::setrlimit(RLIMIT_NOFILE, &before_);
    for (size_t i = 0; i + 2 < copies_.size(); ++i) ::close(copies_[i]);
  }
  TwoMoreFiles(const TwoMoreFiles&) = delete;
  TwoMoreFiles& operator=(const TwoMoreFiles&) = delete;

 private:
  rlimit before_{};
  std::array<int, 128> copies_{};
};

TEST_CASE("what cannot be cleaned is named and does not keep anything else from being cleaned") {
  TempDir directory;
  const std::string process = LineOf(Ended([&] { MakeTree(directory.path()); }));
  for (const char* const number : {"1", "2", "3"}) {
    directory.Write(absl::StrCat("cluster-iobench.check-0000000000000abc.", number), ContentsOf(process));
  }
  absl::StatusOr<LeftChecks> left = absl::UnknownError("not called");
  {
    // Enough for the directory and a file in it, but not for a file in a directory in it.
    const TwoMoreFiles limited;
    left = RemoveLeftChecks(directory.path(), false);
  }
  REQUIRE(left.ok());
  CHECK(left->removed_files == 3);
  REQUIRE(left->refused.size() == 1);
  CHECK(left->refused[0].find(kTree) != std::string::npos);
  CHECK(directory.Has(std::string(kTree) + "/d1"));
}

}  // namespace
}  // namespace iobench
