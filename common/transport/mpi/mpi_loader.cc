#include "common/transport/mpi/mpi_loader.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/process/self_contained.h"

namespace iobench {
namespace {

constexpr char kModule[] = "cluster-iobench-mpi.so";
constexpr char kModuleVariable[] = "CLUSTER_IOBENCH_MPI_MODULE";

// Suggests gRPC, which a user without MPI can use at once.
constexpr char kInstead[] = "; or run without MPI: --listen, --spawn, --transport local";

absl::StatusOr<std::string> FindModule() {
  if (IsSelfContained()) {
    return absl::UnavailableError(absl::StrCat(
        "this program is the self-contained one, which cannot load MPI's libraries: start that of the Debian package, or one "
        "that was built from source, on all ranks",
        kInstead));
  }
  if (const char* chosen = std::getenv(kModuleVariable); chosen != nullptr) return std::string(chosen);
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::vector<std::string> places = MpiModulePlaces(program.parent_path().string());
  for (const std::string& place : places) {
    if (std::filesystem::exists(place, error)) return place;
  }
  return absl::UnavailableError(absl::StrCat("no MPI module at ", absl::StrJoin(places, ", "),
                                             "; install it, or name it in ", kModuleVariable, kInstead));
}

}  // namespace

std::vector<std::string> MpiModulePlaces(const std::string& program_directory) {
  const std::filesystem::path directory(program_directory);
  std::vector<std::string> places = {directory / kModule};
  for (const char* library_directory :
       {IOBENCH_INSTALL_LIBDIR, "lib", "lib64", "lib/" IOBENCH_ARCHITECTURE}) {
    std::string place =
        (directory / ".." / library_directory / "cluster-iobench" / kModule).lexically_normal();
    if (place != places.back()) places.push_back(std::move(place));
  }
  return places;
}

absl::StatusOr<const MpiBytes*> LoadMpi() {
  const absl::StatusOr<std::string> path = FindModule();
  if (!path.ok()) return path.status();
  // Global, because MPI libraries load plugins that resolve their symbols there.
  void* const module = dlopen(path->c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr)
    return absl::UnavailableError(absl::StrCat("cannot load the MPI module: ", dlerror(), kInstead));
  const auto entry = reinterpret_cast<const MpiBytes* (*)()>(dlsym(module, IOBENCH_MPI_BYTES_SYMBOL));
  if (entry == nullptr || entry()->version != IOBENCH_MPI_BYTES_VERSION) {
    return absl::UnavailableError(absl::StrCat(*path, " belongs to another version of cluster-iobench"));
  }
  return entry();
}

}  // namespace iobench
