#include "coordinator/files/files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <thread>

#include "common/status_util.h"
#include "coordinator/files/file_helper.h"
#include "coordinator/files/file_patience.h"
#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

// What every call does, made by whom ever.
void UseFiles(const std::string& directory) {
  const std::string path = directory + "/a/file";
  REQUIRE(files::MakeDirectories(directory + "/a/b").ok());
  {
    auto made = files::CreateNew(path);
    REQUIRE(made.ok());
    files::HeldFile file = *std::move(made);
    const std::string text(200'000, 'x');
    CHECK(files::WriteAll(file, text) == 0);
    CHECK(files::Position(file) == 200'000);
    CHECK(files::Truncate(file, 3) == 0);
    CHECK(files::WriteAll(file, "yz") == 0);
    char bytes[8] = {};
    CHECK(files::ReadAt(file, bytes, sizeof bytes, 1) == 4);
    CHECK(std::string(bytes) == "xxyz");
    CHECK(files::WriteAt(file, "X", 1) == 0);
    CHECK(files::StatOpen(file)->st_size == 5);
    CHECK(files::Lock(file) == 0);
    files::HeldFile other = files::Open(path, O_RDWR | O_CLOEXEC);
    CHECK(files::Lock(other) == -1);
    CHECK(errno == EWOULDBLOCK);
    CHECK(files::BeginSync(file) == 0);
    CHECK(files::Sync(file) == 0);
    CHECK(files::Close(std::move(file)) == 0);
  }
  CHECK(absl::IsAlreadyExists(files::CreateNew(path).status()));
  CHECK(files::Stat(path)->st_size == 5);
  CHECK(files::Access(path, R_OK) == 0);
  CHECK(files::Exists(path));
  CHECK(files::IsDirectory(directory));
  CHECK(files::Head(path, 2) == "xX");
  CHECK(!files::Head(directory, 2).has_value());
  std::vector<std::string> names = files::NamesIn(directory + "/a");
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"b", "file"});
  CHECK(files::ReadWhole("plan", path, 100).value() == "xXxyz");
  const absl::Status too_long = files::ReadWhole("plan", path, 4).status();
  CHECK(absl::IsInvalidArgument(too_long));
  CHECK(std::string(too_long.message()) == "plan " + path + ": it is longer than 4 B");
  const absl::Status missing = files::ReadWhole("plan", path + "x", 4).status();
  CHECK(absl::IsNotFound(missing));
  CHECK(ErrnoOf(missing) == ENOENT);
  REQUIRE(::symlink("file", (directory + "/a/link").c_str()) == 0);
  CHECK(files::Canonical(directory + "/a/link") == files::Canonical(path));
  CHECK(S_ISLNK(files::Stat(directory + "/a/link", files::Links::kShow)->st_mode));
  CHECK(files::Rename(path, directory + "/c") == 0);
  CHECK(!files::Exists(path));
  CHECK(errno == ENOENT);
  CHECK(files::Remove(directory + "/c") == 0);
  CHECK(files::Remove(directory + "/c") == -1);
  CHECK(errno == ENOENT);
  CHECK(files::CheckOwnDirectory(directory).ok());
  CHECK(files::RemoveAll(directory + "/a") == 0);
  CHECK(!files::Exists(directory + "/a"));
  CHECK(files::MountAnswers("plan", path).ok());
}

void Sleep(int64_t ns) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(ns));
}

TEST_CASE("the time in which the coordinator was stopped is not the file system's", "[files]") {
  const ShorterPatience shorter(6 * CallWait::kLongestNapNs / 5);
  CallWait wait("write /x", [] { return false; });
  Sleep(13 * CallWait::kLongestNapNs / 10);  // as if stopped
  CHECK(wait.Next() == 0);
  Sleep(3 * CallWait::kLongestNapNs / 10);
  CHECK(wait.Next() == kErrnoNoAnswer);
}

// Opening a FIFO that nobody reads waits like a call on a hung mount, until somebody does.
class HungPath {
 public:
  explicit HungPath(const std::string& directory) : path_(directory + "/fifo") { REQUIRE(::mkfifo(path_.c_str(), 0600) == 0); }
  const std::string& path() const { return path_; }
  void Answer() { reader_ = UniqueFd(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)); }

 private:
  const std::string path_;
  UniqueFd reader_;
};

bool HasOneThread() {
  return files::NamesIn("/proc/self/task").size() == 1;
}

TEST_CASE("calls on files do the same whoever makes them") {
  TempDir here;
  UseFiles(here.path());
  REQUIRE(HasOneThread());
  StartFileHelpers();
  TempDir there;
  UseFiles(there.path());
  EndFileHelpers();
}

TEST_CASE("a call that hangs is given up, and others on its mount fail until it answers") {
  const TempDir place;
  StartFileHelpers();
  HungPath hung(place.path());
  FilePatience().limit_ns = kNanosPerSecond / 5;
  CHECK(!files::Open(hung.path(), O_WRONLY | O_CLOEXEC).valid());
  CHECK(errno == kErrnoNoAnswer);
  CHECK(!files::Exists(place.path()));
  CHECK(errno == kErrnoNoAnswer);
  const absl::Status target = files::TargetAnswers(place.path());
  CHECK(absl::IsUnavailable(target));
  CHECK(std::string(target.message()) ==
        "the path to test, " + place.path() + ": the file system does not answer (ETIME)");
  CHECK(files::Exists("/proc/self/stat"));
  hung.Answer();
  while (!files::Exists(place.path())) CHECK(errno == kErrnoNoAnswer);
  EndFileHelpers();
}

TEST_CASE("a call that is worth less is given up earlier, and others still wait") {
  const TempDir place;
  StartFileHelpers();
  HungPath hung(place.path());
  FilePatience().limit_ns = 0;
  {
    const ShorterPatience shorter(kNanosPerSecond / 10);
    CHECK(!files::Open(hung.path(), O_WRONLY | O_CLOEXEC).valid());
    CHECK(errno == kErrnoNoAnswer);
  }
  const WhileFilesHang attend([&] { hung.Answer(); });
  CHECK(files::Exists(place.path()));
  EndFileHelpers();
}

TEST_CASE("an interrupt ends the wait only if the file system does not answer other calls either") {
  const TempDir place;
  StartFileHelpers();
  HungPath hung(place.path());
  static const std::atomic<bool> raised{true};
  FilePatience().interrupted = &raised;
  FilePatience().limit_ns = 2 * kNanosPerSecond;
  CHECK(!files::Open(hung.path(), O_WRONLY | O_CLOEXEC).valid());
  CHECK(errno == kErrnoNoAnswer);  // statfs answered
  FilePatience().interrupted = nullptr;
  hung.Answer();
  while (!files::Exists(place.path())) CHECK(errno == kErrnoNoAnswer);
  EndFileHelpers();
}

TEST_CASE("workers are attended to while a file system hangs") {
  const TempDir place;
  StartFileHelpers();
  HungPath hung(place.path());
  FilePatience().limit_ns = 0;
  int attended = 0;
  {
    const WhileFilesHang attend([&] {
      if (++attended == 2) hung.Answer();
    });
    CHECK(files::Open(hung.path(), O_WRONLY | O_CLOEXEC).valid());
  }
  CHECK(attended == 2);
  EndFileHelpers();
}

}  // namespace
}  // namespace iobench
