#include "common/own_files/own_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

using Catch::Contains;
namespace fs = std::filesystem;

constexpr uid_t kEve = 4711;

mode_t ModeOf(const std::string& path) {
  struct stat facts {};
  REQUIRE(::lstat(path.c_str(), &facts) == 0);
  return facts.st_mode & 07777;
}

// Gives the file, not what a link leads to, to another user. Only root can.
bool GiveToEve(const std::string& path) { return ::lchown(path.c_str(), kEve, kEve) == 0; }

std::string Refusal(const absl::Status& status) {
  CHECK(absl::IsPermissionDenied(status));
  return std::string(status.message());
}

absl::Status Write(const std::string& path) {
  const absl::StatusOr<OwnFile> place = OwnFile::At(path);
  if (!place.ok()) return place.status();
  const absl::Status created = place->CreatePartial().status();
  return created.ok() ? place->Publish() : created;
}

class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  ~Umask() { ::umask(before_); }

 private:
  const mode_t before_;
};

TEST_CASE("the umask can take rights away from our files, and gives none") {
  const TempDir directory;
  for (const auto& [mask, file, secret, made] : {std::tuple{0, 0640, 0600, 0750}, {022, 0640, 0600, 0750}, {077, 0600, 0600, 0700}}) {
    CAPTURE(mask);
    const Umask umask(static_cast<mode_t>(mask));
    const std::string place = directory / std::to_string(mask);
    REQUIRE(OwnDirectory::Make(place + "/a/b/").ok());
    for (const char* each : {"", "/a", "/a/b"}) CHECK(ModeOf(place + each) == static_cast<mode_t>(made));
    REQUIRE(Write(place + "/file").ok());
    CHECK(ModeOf(place + "/file") == static_cast<mode_t>(file));
    REQUIRE(OwnFile::At(place + "/secret")->CreateNew(kSecretMode).ok());
    CHECK(ModeOf(place + "/secret") == static_cast<mode_t>(secret));
  }
}

TEST_CASE("a link in the place of a file is replaced, and what it leads to stays as it is") {
  const TempDir directory;
  directory.Write("foreign", "text");
  fs::create_symlink("foreign", directory / "file");
  fs::create_symlink("foreign", directory / "file.partial");
  CHECK(absl::IsAlreadyExists(OwnFile::At(directory / "file")->CreateNew().status()));
  REQUIRE(Write(directory / "file").ok());
  CHECK(directory.Read("foreign") == "text");
  CHECK(fs::is_regular_file(fs::symlink_status(directory / "file")));
  CHECK_FALSE(directory.Has("file.partial"));
}

TEST_CASE("a file is written into the directory that was opened, whatever has become of its name") {
  const TempDir directory;
  REQUIRE(OwnDirectory::Make(directory / "out").ok());
  REQUIRE(OwnDirectory::Make(directory / "foreign").ok());
  const auto place = OwnFile::At(directory / "out/file");
  REQUIRE(place.ok());
  fs::rename(directory / "out", directory / "moved");
  fs::create_directory_symlink("foreign", directory / "out");
  REQUIRE(place->CreatePartial().ok());
  REQUIRE(place->Publish().ok());
  CHECK(directory.Has("moved/file"));
  CHECK(fs::is_empty(directory / "foreign"));
}

TEST_CASE("a directory behind the user's own links is used") {
  const TempDir directory;
  fs::create_directories(directory / "data/results");
  fs::create_directory_symlink("data", directory / "relative");
  fs::create_directory_symlink(directory / "relative", directory / "absolute");
  REQUIRE(Write(directory / "absolute/results/../results/file").ok());
  CHECK(directory.Has("data/results/file"));
  REQUIRE(OwnDirectory::Make(directory / "absolute/more").ok());
  CHECK(directory.Has("data/more"));
  fs::create_directory_symlink("endless", directory / "endless");
  CHECK_FALSE(OwnDirectory::Open(directory / "endless").ok());
  fs::create_directory_symlink("nowhere", directory / "dangling");
  CHECK(absl::IsNotFound(OwnDirectory::Open(directory / "dangling").status()));
  CHECK_FALSE(OwnDirectory::Make(directory / "dangling").ok());
  directory.Write("plain", "");
  CHECK_THAT(std::string(OwnDirectory::Make(directory / "plain/below").status().message()),
             Contains("create directory " + directory / "plain/below") && Contains("Not a directory"));
}

TEST_CASE("a directory or a link of another user is refused, with what to do, and nothing is left there") {
  const TempDir directory;
  REQUIRE(::chmod(directory.path().c_str(), 0755) == 0);
  REQUIRE(OwnDirectory::Make(directory / "eves").ok());
  REQUIRE(OwnDirectory::Make(directory / "data").ok());
  fs::create_directory_symlink("data", directory / "link");
  if (!GiveToEve(directory / "eves") || !GiveToEve(directory / "link")) return;  // CI is root
  CHECK_THAT(Refusal(Write(directory / "eves/file")),
             Contains(directory / "eves") && Contains("user 4711 (mode 0750)") && Contains("use a directory of your own"));
  CHECK_THAT(Refusal(OwnDirectory::Make(directory / "eves").status()), Contains("user 4711"));
  CHECK(fs::is_empty(directory / "eves"));
  // Also if she has taken the name by which it would be tried out.
  const std::string taken = (directory / "eves/cluster-iobench.owner-") + std::to_string(::getpid());
  fs::create_symlink("x", taken);
  CHECK_THAT(Refusal(OwnDirectory::Make(directory / "eves").status()), Contains("user 4711"));
  fs::remove(taken);
  CHECK_THAT(Refusal(Write(directory / "link/file")), Contains("link") && Contains("user 4711") && Contains("name the directory"));
  CHECK(fs::is_empty(directory / "data"));
  // A new directory in it is our own.
  REQUIRE(OwnDirectory::Make(directory / "eves/new").ok());
  REQUIRE(Write(directory / "eves/new/file").ok());
}

TEST_CASE("a directory in which all users may exchange files is refused, unless it is sticky") {
  const TempDir directory;
  REQUIRE(::chmod(directory.path().c_str(), 0777) == 0);
  CHECK_THAT(Refusal(Write(directory / "file")), Contains("mode 0777") && Contains("chmod o-w"));
  CHECK(fs::is_empty(directory.path()));
  REQUIRE(::chmod(directory.path().c_str(), 01777) == 0);
  CHECK(Write(directory / "file").ok());
}

struct Judged {
  const char* what;
  uid_t owner;
  gid_t group;
  mode_t mode;
  bool fine;
  std::pair<uid_t, mode_t> new_file = {0, 0};  // mode 0: none
};

TEST_CASE("who may exchange files decides whether a directory is trusted") {
  const FileUser bob{.user = 1000, .groups = {1000, 2000}};
  const FileUser root{.user = 0, .groups = {0}};
  constexpr mode_t kNew = 0640;
  const std::pair<FileUser, std::vector<Judged>> cases[] = {
      {bob,
       {{"his own", 1000, 1000, 0755, true},
        {"his own, with a private group (umask 002)", 1000, 1000, 0775, true},
        {"root's, opened to a group", 0, 2000, 02775, true},
        {"/tmp", 0, 0, 01777, true},
        {"a colleague's, opened to his group", 1001, 2000, 02770, true},
        {"a colleague's, opened to another group", 1001, 3000, 0770, false},
        {"a colleague's", 1001, 2000, 0755, false},
        {"a colleague's, sticky", 1001, 2000, 01777, false},
        {"his own, opened to all", 1000, 1000, 0777, false},
        {"root's, opened to all", 0, 0, 0777, false},
        {"a share without modes: all is 0777", 1000, 1000, 0777, true, {1000, 0777}},
        {"a share without owners", 1005, 1005, 0755, true, {1005, kNew}}}},
      {root,
       {{"its own", 0, 0, 0755, true},
        {"a user's", 1000, 1000, 0755, false},
        {"a user's, while new files are root's", 1000, 1000, 0755, false, {0, kNew}},
        {"nobody's, of a server that maps root to nobody", 65534, 65534, 0750, true, {65534, kNew}},
        {"a user's, on such a server", 1000, 1000, 0755, false, {65534, kNew}},
        {"nobody's, on a server that does not", 65534, 65534, 0750, false, {0, kNew}}}}};
  for (const auto& [user, judged] : cases) {
    for (const Judged& each : judged) {
      INFO(user.user << ": " << each.what);
      struct stat directory {}, file {};
      directory.st_uid = each.owner;
      directory.st_gid = each.group;
      directory.st_mode = S_IFDIR | each.mode;
      file.st_uid = each.new_file.first;
      file.st_mode = S_IFREG | each.new_file.second;
      const absl::Status status = JudgeDirectory("/d", directory, user, each.new_file.second != 0 ? &file : nullptr);
      CHECK(status.ok() == each.fine);
    }
  }
}

}  // namespace
}  // namespace iobench
