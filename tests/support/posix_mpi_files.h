// An MPI-IO for unit tests: a single rank, whose files are those of the system. Error codes are errnos.
#ifndef TESTS_SUPPORT_POSIX_MPI_FILES_H_
#define TESTS_SUPPORT_POSIX_MPI_FILES_H_

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "common/mpi_io/mpi_session_files.h"

namespace iobench {

struct PosixMpiFile {
  int fd = -1;
  uint64_t begin = 0, block = 0, block_count = 1;  // the view, if block is not 0
  std::string hints = {};

  uint64_t InFile(uint64_t offset) const {
    return block == 0 ? offset : begin + offset / block * block * block_count + offset % block;
  }
};

inline PosixMpiFile& PosixFileOf(void* file) {
  return *static_cast<PosixMpiFile*>(file);
}

inline MpiFiles PosixMpiFiles() {
  MpiFiles table{};
  table.open = [](const char* path, int flags, int, const char* const* hints, void** file) {
    const int fd = ::open(path, flags | O_CLOEXEC, 0600);
    if (fd < 0) return errno;
    auto* const opened = new PosixMpiFile{.fd = fd};
    for (; *hints != nullptr; hints += 2) opened->hints += std::string(hints[0]) + "=" + hints[1] + "\n";
    *file = opened;
    return 0;
  };
  table.set_view = [](void* file, uint64_t begin, uint64_t block, uint64_t block_count) {
    PosixMpiFile& viewed = PosixFileOf(file);
    viewed.begin = begin;
    viewed.block = block;
    viewed.block_count = block_count;
    return 0;
  };
  table.read_at = [](void* file, int, uint64_t offset, void* data, size_t bytes, size_t* moved) {
    const ssize_t done = ::pread(PosixFileOf(file).fd, data, bytes, static_cast<off_t>(PosixFileOf(file).InFile(offset)));
    *moved = static_cast<size_t>(std::max<ssize_t>(0, done));
    return done < 0 ? errno : 0;
  };
  table.write_at = [](void* file, int, uint64_t offset, const void* data, size_t bytes, size_t* moved) {
    const ssize_t done = ::pwrite(PosixFileOf(file).fd, data, bytes, static_cast<off_t>(PosixFileOf(file).InFile(offset)));
    *moved = static_cast<size_t>(std::max<ssize_t>(0, done));
    return done < 0 ? errno : 0;
  };
  table.sync = [](void* file) { return ::fsync(PosixFileOf(file).fd) == 0 ? 0 : errno; };
  table.size = [](void* file, uint64_t* bytes) {
    struct stat facts{};
    if (::fstat(PosixFileOf(file).fd, &facts) != 0) return errno;
    *bytes = static_cast<uint64_t>(facts.st_size);
    return 0;
  };
  table.hints = [](void* file, char* text, size_t text_bytes) {
    std::strncpy(text, PosixFileOf(file).hints.c_str(), text_bytes);
    return 0;
  };
  table.close = [](void* file) {
    const int closed = ::close(PosixFileOf(file).fd) == 0 ? 0 : errno;
    delete static_cast<PosixMpiFile*>(file);
    return closed;
  };
  table.vote = [](int mine, int* least) {
    *least = mine;
    return 0;
  };
  table.meet = [](int* all_can) {
    *all_can = 1;
    return 0;
  };
  table.decline = [] {};
  table.end_meetings = [] {};
  table.rank_count = [] { return 1; };
  table.errno_of = [](int error) { return error; };
  table.describe = [](int error, char* text, size_t text_bytes) { std::strncpy(text, std::strerror(error), text_bytes); };
  return table;
}

// From now on, engine mpiio uses `table`, which must stay.
inline void UseMpiFiles(const MpiFiles& table) {
  SetMpiFiles(&table, "Test MPI 1.0", "");
}
inline void UsePosixMpiFiles() {
  static const MpiFiles table = PosixMpiFiles();
  UseMpiFiles(table);
}

}  // namespace iobench

#endif  // TESTS_SUPPORT_POSIX_MPI_FILES_H_
