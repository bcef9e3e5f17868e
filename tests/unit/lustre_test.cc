// Striping of Lustre files is requested and reported correctly. There is no Lustre here: the test supplies the magic
// number, and `lfs` is a script that records its arguments.
#include "worker/storage/lustre.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temp_dir.h"
#include "worker/data_directory/data_steps.h"

namespace iobench {
namespace {

// A directory that is the whole of $PATH while it lives.
class Tools {
 public:
  Tools() : path_before_(getenv("PATH")) { REQUIRE(setenv("PATH", directory_.path().c_str(), 1) == 0); }
  ~Tools() { setenv("PATH", path_before_.c_str(), 1); }
  Tools(const Tools&) = delete;
  Tools& operator=(const Tools&) = delete;

  // Installs an lfs that records its arguments and then runs `script`.
  void HaveLfs(const std::string& script) const {
    const std::string file = directory_ / "lfs";
    std::ofstream(file) << "#!/bin/sh\necho \"$@\" >> " << directory_.path() << "/asked\n" << script << "\n";
    REQUIRE(chmod(file.c_str(), 0700) == 0);
  }
  std::string Asked() const { return directory_.Read("asked"); }
  std::string Place(const std::string& name) const {
    std::filesystem::create_directory(directory_ / name);
    return directory_ / name;
  }

 private:
  const TempDir directory_;
  std::string path_before_;
};

v1::Stripe StripeOf(int32_t count, uint64_t bytes) {
  v1::Stripe stripe;
  stripe.set_count(count);
  stripe.set_bytes(bytes);
  return stripe;
}

absl::StatusOr<uint64_t> Lustre(const std::string&) {
  return kLustreMagic;
}

bool Says(const absl::Status& status, const std::string& words) {
  return std::string(status.message()).find(words) != std::string::npos;
}

TEST_CASE("a stripe can be set on Lustre where there is an lfs") {
  const Tools tools;
  const absl::Status without = CheckStripe("/scratch", Lustre);
  REQUIRE(absl::IsInvalidArgument(without));
  REQUIRE(Says(without, "`lfs`, which is not in $PATH"));
  tools.HaveLfs("exit 0");
  REQUIRE(CheckStripe("/scratch", Lustre).ok());
  REQUIRE(tools.Asked().empty());  // reading changes nothing
}

TEST_CASE("on other file systems a stripe is refused, by path") {
  const Tools tools;
  tools.HaveLfs("exit 0");
  const absl::Status refused = CheckStripe("/", FileSystemMagic);
  REQUIRE(absl::IsInvalidArgument(refused));
  REQUIRE(Says(refused, "--stripe only applies to Lustre, and / is on another file system"));
  REQUIRE(Says(CheckStripe("/no/such/place", FileSystemMagic), "/no/such/place"));
}

TEST_CASE("the magic number of a file system is that of statfs, whole") {
  const auto of_proc = FileSystemMagic("/proc");
  REQUIRE(of_proc.ok());
  REQUIRE(*of_proc == 0x9fa0);
  REQUIRE_FALSE(FileSystemMagic("/no/such/place").ok());
}

TEST_CASE("lfs is asked for count and size, and for the size only where one is given") {
  const Tools tools;
  tools.HaveLfs("exit 0");
  REQUIRE(SetStripe("/scratch/x y", StripeOf(4, 1 << 20)).ok());
  REQUIRE(SetStripe("/scratch", StripeOf(-1, 0)).ok());
  REQUIRE(tools.Asked() == "setstripe -c 4 -S 1048576 /scratch/x y\nsetstripe -c -1 /scratch\n");
}

TEST_CASE("what lfs says when it fails is in the error, on one line") {
  const Tools tools;
  tools.HaveLfs("echo 'error: setstripe: bad stripe' >&2\necho more\nexit 22");
  const absl::Status failed = SetStripe("/scratch", StripeOf(4, 0));
  REQUIRE(Says(failed,
               "`lfs setstripe -c 4 /scratch` failed (exit code 22): error: setstripe: bad stripe; more"));
  REQUIRE_FALSE(Says(failed, "\n"));
  tools.HaveLfs("kill -9 $$");
  REQUIRE(Says(SetStripe("/scratch", StripeOf(4, 0)), "failed (signal 9 (KILL)): it said nothing"));
}

TEST_CASE("without an lfs to start the error says so") {
  const Tools tools;
  const absl::Status failed = SetStripe("/scratch", StripeOf(4, 0));
  REQUIRE(Says(failed, "start `lfs setstripe -c 4 /scratch`"));
  REQUIRE(Says(failed, "ENOENT"));
}

TEST_CASE("a claim sets the stripe of the data directory before any file of a lane is made") {
  const Tools tools;
  const std::string target = tools.Place("target");
  // When lfs is asked, the directory is there and holds nothing but the manifest.
  tools.HaveLfs("shift 5\n/bin/ls \"$1\" >> " + target + "/seen");
  v1::DataStep step;
  step.set_action(v1::DataStep::CLAIM);
  step.add_targets()->set_path(target);
  step.mutable_manifest()->set_run_id(7);
  step.mutable_manifest()->set_program("cluster-iobench");
  step.mutable_manifest()->set_format(1);
  step.mutable_manifest()->set_state(v1::Manifest::ACTIVE);
  *step.mutable_stripe() = StripeOf(2, 65536);
  DataSteps steps;
  v1::DataStepDone done;
  REQUIRE(steps.Do(7, step, done).ok());
  REQUIRE(tools.Asked() == "setstripe -c 2 -S 65536 " + target + "/cluster-iobench.data\n");
  std::ifstream seen(target + "/seen");
  REQUIRE(std::string(std::istreambuf_iterator<char>(seen), {}) == "manifest.json\n");
}

}  // namespace
}  // namespace iobench
