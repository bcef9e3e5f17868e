// In place of the other files, if libsqlite3 was missing when the build was configured.
#include "coordinator/report/sqlite/sqlite_writer.h"

namespace iobench {

absl::Status SqliteIsBuilt() {
  return absl::FailedPreconditionError(
      "this build writes no SQLite databases: install libsqlite3-dev, run cmake and build again");
}

absl::Status WriteSqlite(const v1::RunReport&, std::ostream&) {
  return SqliteIsBuilt();
}

}  // namespace iobench
