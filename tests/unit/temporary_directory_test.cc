#include "common/process/temporary_directory.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

namespace iobench {
namespace {

// TMPDIR for the time of a test.
class TmpDirIs {
 public:
  explicit TmpDirIs(const char* value) { value == nullptr ? unsetenv("TMPDIR") : setenv("TMPDIR", value, 1); }
  ~TmpDirIs() { before_.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before_.c_str(), 1); }

 private:
  const std::string before_ = getenv("TMPDIR") == nullptr ? "" : getenv("TMPDIR");
};

TEST_CASE("temporary directories are made in TMPDIR, or in /tmp without it, or if its name is too long") {
  for (const char* const none : {static_cast<const char*>(nullptr), ""}) {
    const TmpDirIs unset(none);
    CHECK(TemporaryParentHere().path == "/tmp");
  }
  const TmpDirIs longer("/var/tmp");
  CHECK(TemporaryParentHere().path == "/var/tmp");
  CHECK(TemporaryParentHere(7).path == "/tmp");
  CHECK(TemporaryParentHere(7).too_long);
  CHECK(TemporaryParentHere(8).path == "/var/tmp");
}

TEST_CASE("an error about a temporary directory says that TMPDIR is to be set") {
  const auto made = MakeTemporaryDirectory({"/proc"}, "cluster-iobench-test");
  REQUIRE_FALSE(made.ok());
  CHECK(std::string(made.status().message()).find("cannot create /proc/cluster-iobench-test-") == 0);
  CHECK(std::string(made.status().message()).find(": set TMPDIR to a directory that can be written") != std::string::npos);
  const absl::Status error = TemporaryParent{"/tmp", true}.Error("/tmp/x", 28);
  CHECK(std::string(error.message()).find("with a shorter name than the present TMPDIR has") != std::string::npos);
}

}  // namespace
}  // namespace iobench
