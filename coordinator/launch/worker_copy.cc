#include "coordinator/launch/worker_copy.h"

#include <sys/utsname.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/digest/sha256.h"
#include "common/status_util.h"

namespace iobench {
namespace {

constexpr char kWorkerProgram[] = "cluster-iobench-worker";

}  // namespace

std::vector<std::string> WorkerProgramPlaces(const std::string& program_directory) {
  const std::filesystem::path directory(program_directory);
  std::vector<std::string> places = {directory / kWorkerProgram};
  for (const char* library_directory :
       {IOBENCH_INSTALL_LIBDIR, "lib", "lib64", "lib/" IOBENCH_ARCHITECTURE}) {
    std::string place =
        (directory / ".." / library_directory / "cluster-iobench" / kWorkerProgram).lexically_normal();
    if (place != places.back()) places.push_back(std::move(place));
  }
  return places;
}

absl::StatusOr<ShippedProgram> FindWorkerProgram(const std::string& version) {
  std::error_code error;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::vector<std::string> places = WorkerProgramPlaces(own.parent_path().string());
  for (const std::string& place : places) {
    if (!std::filesystem::exists(place, error)) continue;
    utsname system{};
    uname(&system);
    ShippedProgram program{.file = place, .sha256 = "", .version = version, .architecture = system.machine};
    std::ifstream file(place, std::ios::binary);
    const std::string contents{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (contents.empty()) return ErrnoStatus(absl::StrCat("read ", place), errno);
    // Found here, the mismatch costs no copy and no wait: such workers would be sent away.
    if (contents.find(version) == std::string::npos) {
      return absl::FailedPreconditionError(absl::StrCat(
          "--copy-binary: ", place, " is not of this program's version, ", version,
          ": build it again with `cmake --build BUILD --target bundle`, or install both from the same build"));
    }
    program.sha256 = Sha256Of({contents});
    return program;
  }
  return absl::NotFoundError(absl::StrCat(
      "--copy-binary ships the self-contained worker, and there is none at ", absl::StrJoin(places, ", "),
      ": build it with `cmake --build BUILD --target bundle`, or install cluster-iobench on the hosts"));
}

}  // namespace iobench
