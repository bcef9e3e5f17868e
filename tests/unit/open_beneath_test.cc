#include "worker/rights/open_beneath.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "common/unique_fd.h"
#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

// A directory "root" with a file, a directory, and links: to a file, to a directory, out of it, to nowhere.
class Tree {
 public:
  Tree() {
    std::filesystem::create_directories(Path("root/inside/deep"));
    std::ofstream(Path("outside")) << "secret";
    std::ofstream(Path("root/inside/file")) << "public";
    std::filesystem::create_symlink("inside/file", Path("root/to-file"));
    std::filesystem::create_symlink("inside", Path("root/to-inside"));
    std::filesystem::create_symlink("../outside", Path("root/to-outside"));
    std::filesystem::create_symlink("nothing", Path("root/to-nothing"));
    root_ = UniqueFd(::open(Path("root").c_str(), O_PATH | O_DIRECTORY));
  }
  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }
  int root() const { return root_.get(); }

 private:
  const TempDir directory_;
  UniqueFd root_;
};

// The file that was opened, or the errno as a negative number.
long Opened(int result) {
  if (result < 0) return -errno;
  const UniqueFd fd(result);
  struct stat facts {};
  REQUIRE(::fstat(fd.get(), &facts) == 0);
  REQUIRE((::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
  return static_cast<long>(facts.st_ino);
}

TEST_CASE("step by step, the same paths open as with openat2, and the same are refused") {
  const Tree tree;
  for (const char* const path :
       {".", "inside", "inside/", "inside/.", "inside//file", "./inside/file", "inside/deep", "inside/file/", "inside/file/x", "missing",
        "missing/x", "to-file", "to-inside", "to-inside/", "to-inside/file", "to-outside", "to-nothing", "to-nothing/x", "/", "/etc", ""}) {
    for (const int flags : {O_RDONLY, O_RDWR, O_PATH, O_RDONLY | O_DIRECTORY, O_PATH | O_DIRECTORY}) {
      INFO("path " << path << " flags " << flags);
      CHECK(Opened(OpenBeneathStepByStep(tree.root(), path, flags)) == Opened(OpenBeneath(tree.root(), path, flags)));
    }
  }
}

TEST_CASE("step by step, files are created beneath the directory alone") {
  const Tree tree;
  constexpr int kCreate = O_RDWR | O_CREAT;
  const UniqueFd made(OpenBeneathStepByStep(tree.root(), "inside/deep/new", kCreate | O_EXCL, 0640));
  struct stat facts {};
  REQUIRE(made.valid());
  REQUIRE(::fstat(made.get(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == (0640 & ~[] {
          const mode_t mask = ::umask(0);
          ::umask(mask);
          return mask;
        }()));
  CHECK(Opened(OpenBeneathStepByStep(tree.root(), "inside/deep/new", kCreate | O_EXCL, 0640)) == -EEXIST);
  for (const auto& [path, error] : {std::pair("to-nothing", ELOOP), std::pair("to-outside", ELOOP), std::pair("to-inside/x", ELOOP),
                                    std::pair("../x", EXDEV), std::pair("inside/../../x", EXDEV), std::pair("/x", EXDEV),
                                    std::pair("missing/x", ENOENT), std::pair("x/", EISDIR)}) {
    INFO("path " << path);
    CHECK(Opened(OpenBeneathStepByStep(tree.root(), path, kCreate, 0640)) == -error);
  }
  CHECK_FALSE(std::filesystem::exists(tree.Path("root/nothing")));
  CHECK_FALSE(std::filesystem::exists(tree.Path("x")));
}

}  // namespace
}  // namespace iobench
