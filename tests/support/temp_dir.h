// A directory for one test.
#ifndef TESTS_SUPPORT_TEMP_DIR_H_
#define TESTS_SUPPORT_TEMP_DIR_H_

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace iobench {

// A directory in $TMPDIR, else in /tmp or the given parent. Removed with its contents.
class TempDir {
 public:
  explicit TempDir(const std::filesystem::path& parent = std::filesystem::temp_directory_path())
      : path_((parent / "iobench-test-XXXXXX").string()) {
    REQUIRE(::mkdtemp(path_.data()) != nullptr);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::string data() const { return path_ + "/cluster-iobench.data"; }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ + "/" + name) << text;
  }
  std::string Read(const std::string& name) const {
    std::ifstream file(path_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool Has(const std::string& name) const {
    return std::filesystem::exists(std::filesystem::symlink_status(path_ + "/" + name));
  }
  uint64_t SizeOf(const std::string& name) const { return std::filesystem::file_size(path_ + "/" + name); }

 private:
  std::string path_;
};

// A parent on a disk rather than on tmpfs, which lacks O_DIRECT and user attributes on older kernels: $TMPDIR, else
// /var/tmp.
inline std::filesystem::path ParentOnDisk() {
  const char* const temporary = ::getenv("TMPDIR");
  return temporary == nullptr ? "/var/tmp" : temporary;
}

// A parent on tmpfs, for tests that make and remove thousands of files, if tmpfs has O_DIRECT (Linux 6.6); else the usual
// one.
inline std::filesystem::path FastParent() {
  const int direct = ::open("/dev/shm", O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
  if (direct < 0) return std::filesystem::temp_directory_path();
  ::close(direct);
  return "/dev/shm";
}

}  // namespace iobench

#endif  // TESTS_SUPPORT_TEMP_DIR_H_
