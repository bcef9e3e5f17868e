#include "common/mpi_io/mpi_session_files.h"

#include <utility>

namespace iobench {
namespace {

struct Session {
  const MpiFiles* files = nullptr;
  std::string library;
  std::string why_not =
      "engine mpiio needs MPI, and no MPI launcher started this process: use `mpirun -np N cluster-iobench --engine mpiio …`";
};

Session& TheSession() {
  static Session session;
  return session;
}

}  // namespace

void SetMpiFiles(const MpiFiles* files, std::string library, std::string why_not) {
  TheSession() = {files, std::move(library), std::move(why_not)};
}

absl::Status CheckMpiFiles() {
  return TheSession().files != nullptr ? absl::OkStatus() : absl::FailedPreconditionError(TheSession().why_not);
}

const MpiFiles& TheMpiFiles() {
  return *TheSession().files;
}

const std::string& MpiLibraryName() {
  return TheSession().library;
}

}  // namespace iobench
