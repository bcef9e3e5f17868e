#include "worker/rights/allowed_paths.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "common/clock.h"
#include "common/status_util.h"
#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

using Catch::Contains;

// A directory with root/inside and, beside the root, outside with a secret.
class Place {
 public:
  Place() {
    for (const char* const each : {"root", "root/inside", "outside"}) {
      std::filesystem::create_directory(path_ + "/" + each);
    }
    std::ofstream(path_ + "/outside/file") << "secret";
    std::ofstream(path_ + "/root/inside/file") << "public";
  }
  std::string Path(const std::string& name) const { return path_ + "/" + name; }
  void Link(const std::string& to, const std::string& name) const {
    std::filesystem::create_symlink(to, Path(name));
  }

 private:
  const TempDir directory_;
  const std::string path_ = std::filesystem::canonical(directory_.path()).string();
};

AllowedPaths Below(const std::vector<std::string>& roots) {
  auto paths = AllowedPaths::Below(roots);
  REQUIRE(paths.ok());
  return *std::move(paths);
}

std::string TextOf(const AllowedPaths& paths, const std::string& path) {
  const auto fd = paths.Open("read", path, O_RDONLY);
  if (!fd.ok()) return std::string(fd.status().message());
  std::string text(100, '\0');
  const ssize_t got = ::pread(fd->get(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

TEST_CASE("without roots every path opens, and symbolic links are followed") {
  const Place place;
  place.Link(place.Path("outside"), "root/link");
  CHECK(TextOf(AllowedPaths(), place.Path("root/link/file")) == "secret");
  CHECK(TextOf(AllowedPaths(), place.Path("root/../outside/file")) == "secret");
}

TEST_CASE("below a root, files open, are created, and missing ones are missing") {
  const Place place;
  const AllowedPaths paths = Below({place.Path("root")});
  CHECK(TextOf(paths, place.Path("root/inside/file")) == "public");
  CHECK(TextOf(paths, place.Path("root//inside/./file")) == "public");
  CHECK(paths.Open("root", place.Path("root"), O_PATH | O_DIRECTORY).ok());
  CHECK(paths.Open("root", place.Path("root/"), O_PATH | O_DIRECTORY).ok());
  CHECK(paths.Open("new", place.Path("root/new"), O_WRONLY | O_CREAT, 0600).ok());
  struct stat facts {};
  REQUIRE(::stat(place.Path("root/new").c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0600);
  CHECK(ErrnoOf(paths.Open("old", place.Path("root/none"), O_RDONLY).status()) == ENOENT);
}

TEST_CASE("no path leads out of the roots") {
  const Place place;
  const AllowedPaths paths = Below({place.Path("root")});
  place.Link(place.Path("outside"), "root/to-directory");
  place.Link("../outside/file", "root/to-file");
  place.Link("inside", "root/to-inside");
  place.Link("/", "root/to-everything");
  const std::string cases[] = {place.Path("outside/file"),
                               place.Path("root/../outside/file"),
                               place.Path("root/inside/../../outside/file"),
                               place.Path("root/to-directory/file"),
                               place.Path("root/to-file"),
                               place.Path("root/to-inside/file"),
                               place.Path("root/to-everything/etc/passwd"),
                               place.Path("root-2"),
                               place.Path(""),
                               "/",
                               "/etc/passwd",
                               "/proc/self/root/etc/passwd",
                               "/proc/self/cwd",
                               "root/inside/file",
                               "",
                               ".."};
  for (const std::string& path : cases) {
    CAPTURE(path);
    const auto fd = paths.Open("read", path, O_RDONLY);
    REQUIRE_FALSE(fd.ok());
    CHECK(absl::IsPermissionDenied(fd.status()));
    CHECK_THAT(std::string(fd.status().message()), Contains("--root"));
  }
}

TEST_CASE("a root of everything still follows no link of the kernel's own") {
  const AllowedPaths paths = Below({"/"});
  CHECK(paths.Open("read", "/proc/version", O_RDONLY).ok());
  for (const char* const path :
       {"/proc/self/root/proc/version", "/proc/1/root/etc/passwd", "/proc/thread-self/cwd"}) {
    CAPTURE(path);
    CHECK(absl::IsPermissionDenied(paths.Open("read", path, O_RDONLY).status()));
  }
}

TEST_CASE("the path of the root itself may lead through symbolic links, and both names of it hold") {
  const Place place;
  place.Link(place.Path("root"), "alias");
  const AllowedPaths paths = Below({place.Path("alias")});
  CHECK(TextOf(paths, place.Path("alias/inside/file")) == "public");
  CHECK(TextOf(paths, place.Path("root/inside/file")) == "public");
  CHECK_THAT(TextOf(paths, place.Path("alias/../outside/file")), Contains("does not open"));
}

TEST_CASE(
    "a directory that is exchanged for a symbolic link at any instant never opens what the link leads to") {
  const Place place;
  place.Link(place.Path("outside"), "root/link");
  const AllowedPaths paths = Below({place.Path("root")});
  std::atomic<bool> stop = false;
  std::thread attacker([&] {
    const std::string directory = place.Path("root/inside"), link = place.Path("root/link");
    while (!stop) ::renameat2(AT_FDCWD, directory.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE);
  });
  int read_public = 0, refused = 0;
  bool read_secret = false;
  // Repeats until both outcomes of the race have occurred, however the threads are scheduled.
  const int64_t give_up_ns = MonotonicNowNs() + 30 * kNanosPerSecond;
  for (int i = 0; i < 20'000 || ((read_public == 0 || refused == 0) && MonotonicNowNs() < give_up_ns); ++i) {
    const std::string text = TextOf(paths, place.Path("root/inside/file"));
    read_public += text == "public" ? 1 : 0;
    read_secret |= text == "secret";
    refused += text != "public" && text != "secret" ? 1 : 0;
  }
  stop = true;
  attacker.join();
  CHECK_FALSE(read_secret);
  CHECK(read_public > 0);
  CHECK(refused > 0);
}

TEST_CASE("a root that another directory, or a link, has taken the place of is not followed") {
  const Place place;
  const std::string root = place.Path("root");
  const AllowedPaths paths = Below({root});
  CHECK(TextOf(paths, root + "/inside/file") == "public");
  std::filesystem::rename(root, place.Path("away"));
  CHECK_THAT(TextOf(paths, root + "/file"), Contains("No such file"));
  place.Link(place.Path("outside"), "root");
  CHECK_THAT(TextOf(paths, root + "/file"), Contains("is another directory than when the worker started"));
  std::filesystem::remove(root);
  std::filesystem::rename(place.Path("outside"), root);
  CHECK_THAT(TextOf(paths, root + "/file"), Contains("is another directory than when the worker started"));
  std::filesystem::rename(root, place.Path("outside"));
  std::filesystem::rename(place.Path("away"), root);
  CHECK(TextOf(paths, root + "/inside/file") == "public");
}

TEST_CASE("a root that a link on its way led to stays where it led") {
  const Place place;
  place.Link(place.Path("root"), "link");
  const std::string root = place.Path("link") + "/inside";
  const AllowedPaths paths = Below({root});
  std::filesystem::remove(place.Path("link"));
  std::filesystem::create_directory(place.Path("outside/inside"));
  place.Link(place.Path("outside"), "link");
  CHECK(TextOf(paths, root + "/file") == "public");
}

TEST_CASE("a root that appears, or is mounted, after the worker has started is used") {
  const Place place;
  const std::string root = place.Path("later");
  const AllowedPaths paths = Below({root});
  std::filesystem::create_directory(root);
  std::ofstream(root + "/file") << "of the first";
  CHECK(TextOf(paths, root + "/file") == "of the first");
  if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return;
  REQUIRE(::mount("none", root.c_str(), "tmpfs", 0, nullptr) == 0);
  std::ofstream(root + "/file") << "of what is mounted";
  CHECK(TextOf(paths, root + "/file") == "of what is mounted");
  REQUIRE(::umount(root.c_str()) == 0);  // no descriptor is in the way
  CHECK(TextOf(paths, root + "/file") == "of the first");
}

TEST_CASE("the parent of a file is held to the same rules") {
  const Place place;
  place.Link(place.Path("outside"), "root/link");
  const AllowedPaths paths = Below({place.Path("root")});
  std::string name;
  CHECK(paths.OpenParent("trace", place.Path("root/inside/new.0"), name).ok());
  CHECK(name == "new.0");
  CHECK(absl::IsPermissionDenied(paths.OpenParent("trace", place.Path("root/link/new.0"), name).status()));
  CHECK(absl::IsPermissionDenied(paths.OpenParent("trace", place.Path("outside/new.0"), name).status()));
  CHECK(absl::IsInvalidArgument(paths.OpenParent("trace", place.Path("root/.."), name).status()));
}

TEST_CASE("a root on an NFS server covers the URLs below it") {
  const AllowedPaths paths = Below({"nfs://Server/export/a"});
  CHECK(paths.CheckUrl("nfs://server/export/a").ok());
  CHECK(paths.CheckUrl("nfs://server/export/a/b?timeo=50").ok());
  for (const char* const url : {"nfs://server/export/ab", "nfs://server/export", "nfs://other/export/a",
                                "nfs://server/export/a/../b", "nfs://server/"}) {
    CAPTURE(url);
    CHECK_FALSE(paths.CheckUrl(url).ok());
  }
  CHECK_FALSE(Below({"/mnt"}).CheckUrl("nfs://server/mnt").ok());
  CHECK(AllowedPaths().CheckUrl("nfs://server/mnt").ok());
  CHECK_FALSE(AllowedPaths::Below({"nfs://"}).ok());
}

TEST_CASE("the user, the port and the interface of a root on an NFS server are not the coordinator's choice") {
  const char* const arguments[] = {"", "?uid=1", "?uid=2", "?gid=1", "?uid=1&gid=1", "?nfsport=2050", "?mountport=2050", "?if=eth1"};
  for (const std::string root : arguments) {
    const AllowedPaths paths = Below({"nfs://server/export" + root});
    for (const std::string url : arguments) {
      CAPTURE(root, url);
      CHECK(paths.CheckUrl("nfs://server/export/a" + url).ok() == (root == url));
    }
  }
  const AllowedPaths paths = Below({"nfs://server:2050/export?gid=2&uid=1"});
  CHECK(paths.CheckUrl("nfs://server/export/a?uid=1&gid=2&nfsport=2050&tcp-syncnt=3").ok());
  const std::string refusal(paths.CheckUrl("nfs://server:2050/export/a?uid=0&gid=2").message());
  CHECK_THAT(refusal, Contains("its uid is not that of the root") && Contains("nfs://server/export?nfsport=2050&gid=2&uid=1"));
}

TEST_CASE("only a mount that holds a root, or lies below one, is remounted") {
  const Place place;
  const AllowedPaths paths = Below({place.Path("root")});
  CHECK(paths.CheckMountPoint(place.Path("root")).ok());
  CHECK(paths.CheckMountPoint(place.Path("root/inside")).ok());
  CHECK(paths.CheckMountPoint(std::filesystem::path(place.Path("root")).parent_path().string()).ok());
  CHECK_FALSE(paths.CheckMountPoint(place.Path("outside")).ok());
  CHECK_FALSE(paths.CheckMountPoint("/home").ok());
  CHECK_FALSE(paths.CheckMountPoint(place.Path("root/../outside")).ok());
}

TEST_CASE("a root that is no directory is told of") {
  const Place place;
  CHECK(ErrnoOf(Below({place.Path("none")}).CheckRootsExist()) == ENOENT);
  CHECK(absl::IsInvalidArgument(Below({place.Path("outside/file")}).CheckRootsExist()));
  CHECK(Below({place.Path("root")}).CheckRootsExist().ok());
}

}  // namespace
}  // namespace iobench
