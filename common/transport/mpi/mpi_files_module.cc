// MPI-IO for lanes. See common/mpi_io/mpi_files.h.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "common/mpi_io/mpi_files.h"
#include "common/transport/mpi/mpi_module.h"

namespace {

// Of all ranks: for files that they open together, for their votes, and for their meetings before phases, at which other
// threads may decline. Messages of the transport use MPI_COMM_WORLD.
MPI_Comm files_comm = MPI_COMM_NULL, votes_comm = MPI_COMM_NULL, meetings_comm = MPI_COMM_NULL;

// An MPI_File, which the caller holds as void*.
struct File {
  MPI_File file = MPI_FILE_NULL;
  MPI_Datatype view = MPI_DATATYPE_NULL;
};

MPI_File& Of(void* file) {
  return static_cast<File*>(file)->file;
}

int ModeOf(int flags) {
  const int access = flags & O_ACCMODE;
  const int mode = access == O_RDWR ? MPI_MODE_RDWR : access == O_WRONLY ? MPI_MODE_WRONLY : MPI_MODE_RDONLY;
  return (flags & O_CREAT) != 0 ? mode | MPI_MODE_CREATE : mode;
}

int Open(const char* path, int flags, int together, const char* const* hints, void** file) {
  MPI_Info info = MPI_INFO_NULL;
  int error = MPI_SUCCESS;
  if (*hints != nullptr) error = MPI_Info_create(&info);
  for (; error == MPI_SUCCESS && *hints != nullptr; hints += 2) error = MPI_Info_set(info, hints[0], hints[1]);
  auto opened = std::make_unique<File>();
  if (error == MPI_SUCCESS) {
    error = MPI_File_open(together ? files_comm : MPI_COMM_SELF, path, ModeOf(flags), info, &opened->file);
  }
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  if (error == MPI_SUCCESS) *file = opened.release();
  return error;
}

int SetView(void* file, uint64_t begin, uint64_t block, uint64_t block_count) {
  MPI_Datatype contiguous = MPI_DATATYPE_NULL;
  MPI_Datatype& view = static_cast<File*>(file)->view;
  int error = MPI_Type_contiguous(static_cast<int>(block), MPI_BYTE, &contiguous);
  if (error != MPI_SUCCESS) return error;
  error = MPI_Type_create_resized(contiguous, 0, static_cast<MPI_Aint>(block * block_count), &view);
  MPI_Type_free(&contiguous);
  if (error == MPI_SUCCESS) error = MPI_Type_commit(&view);
  if (error != MPI_SUCCESS) return error;
  return MPI_File_set_view(Of(file), static_cast<MPI_Offset>(begin), MPI_BYTE, view, "native", MPI_INFO_NULL);
}

// Runs move(status) and reads from the status how much was moved.
template <typename Move>
int Moved(size_t* moved, Move move) {
  MPI_Status status;
  int count = 0;
  *moved = 0;
  int error = move(&status);
  if (error == MPI_SUCCESS) error = MPI_Get_count(&status, MPI_BYTE, &count);
  if (error == MPI_SUCCESS && count != MPI_UNDEFINED) *moved = static_cast<size_t>(count);
  return error;
}

int ReadAt(void* file, int together, uint64_t offset, void* data, size_t bytes, size_t* moved) {
  const auto read = together ? MPI_File_read_at_all : MPI_File_read_at;
  return Moved(moved, [&](MPI_Status* status) {
    return read(Of(file), static_cast<MPI_Offset>(offset), data, static_cast<int>(bytes), MPI_BYTE, status);
  });
}

int WriteAt(void* file, int together, uint64_t offset, const void* data, size_t bytes, size_t* moved) {
  const auto write = together ? MPI_File_write_at_all : MPI_File_write_at;
  return Moved(moved, [&](MPI_Status* status) {
    return write(Of(file), static_cast<MPI_Offset>(offset), data, static_cast<int>(bytes), MPI_BYTE, status);
  });
}

int Sync(void* file) {
  return MPI_File_sync(Of(file));
}

int Size(void* file, uint64_t* bytes) {
  MPI_Offset size = 0;
  const int error = MPI_File_get_size(Of(file), &size);
  *bytes = static_cast<uint64_t>(size);
  return error;
}

int Hints(void* file, char* text, size_t text_bytes) {
  std::string all;
  MPI_Info info = MPI_INFO_NULL;
  int count = 0;
  int error = MPI_File_get_info(Of(file), &info);
  if (error == MPI_SUCCESS && info != MPI_INFO_NULL) error = MPI_Info_get_nkeys(info, &count);
  for (int i = 0; error == MPI_SUCCESS && i < count; ++i) {
    std::array<char, MPI_MAX_INFO_KEY + 1> key{};
    std::array<char, MPI_MAX_INFO_VAL + 1> value{};
    int is_set = 0;
    error = MPI_Info_get_nthkey(info, i, key.data());
    if (error == MPI_SUCCESS) error = MPI_Info_get(info, key.data(), MPI_MAX_INFO_VAL, value.data(), &is_set);
    if (error == MPI_SUCCESS && is_set) all += std::string(key.data()) + "=" + value.data() + "\n";
  }
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  const size_t kept = std::min(text_bytes - 1, all.size());
  std::memcpy(text, all.data(), kept);
  text[kept] = '\0';
  return error;
}

int Close(void* file) {
  const std::unique_ptr<File> closed(static_cast<File*>(file));
  const int error = MPI_File_close(&closed->file);
  if (closed->view != MPI_DATATYPE_NULL) MPI_Type_free(&closed->view);
  return error;
}

int Vote(int mine, int* least) {
  return MPI_Allreduce(&mine, least, 1, MPI_INT, MPI_MIN, votes_comm);
}

// An answer of this rank to whether it takes part, until all have answered. MPI holds pointers to it.
struct Answer {
  int mine = 0, least = 0;
  MPI_Request request = MPI_REQUEST_NULL;
};

int Start(Answer& answer, int mine) {
  answer.mine = mine;
  return MPI_Iallreduce(&answer.mine, &answer.least, 1, MPI_INT, MPI_MIN, meetings_comm, &answer.request);
}

// Keeps an answer whose end nobody waits for. There is one for each phase that could not be prepared.
void Keep(std::unique_ptr<Answer> answer) {
  static std::mutex mutex;
  static std::list<std::unique_ptr<Answer>> kept;
  const std::lock_guard lock(mutex);
  kept.remove_if([](const std::unique_ptr<Answer>& earlier) {
    int done = 0;
    return MPI_Test(&earlier->request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done;
  });
  kept.push_back(std::move(answer));
}

std::atomic<bool> meetings_are_over = false;

int Meet(int* all_can) {
  constexpr useconds_t kFirstNapUs = 50, kLongestNapUs = 2000;
  *all_can = 0;
  if (meetings_are_over) return MPI_SUCCESS;
  auto answer = std::make_unique<Answer>();
  int error = Start(*answer, 1);
  int done = 0;
  for (useconds_t nap = kFirstNapUs; error == MPI_SUCCESS; nap = std::min(2 * nap, kLongestNapUs)) {
    error = MPI_Test(&answer->request, &done, MPI_STATUS_IGNORE);
    if (done || error != MPI_SUCCESS) break;
    if (meetings_are_over) {
      Keep(std::move(answer));
      return MPI_SUCCESS;
    }
    usleep(nap);
  }
  *all_can = answer->least;
  return error;
}

void Decline() {
  auto answer = std::make_unique<Answer>();
  Start(*answer, 0);
  Keep(std::move(answer));
}

void EndMeetings() {
  meetings_are_over = true;
}

int RankCount() {
  int size = 0;
  MPI_Comm_size(files_comm, &size);
  return size;
}

int ErrnoOf(int error) {
  int error_class = MPI_ERR_OTHER;
  MPI_Error_class(error, &error_class);
  const std::pair<int, int> known[] = {
      {MPI_ERR_NO_SUCH_FILE, ENOENT}, {MPI_ERR_ACCESS, EACCES},   {MPI_ERR_NO_SPACE, ENOSPC}, {MPI_ERR_QUOTA, EDQUOT},
      {MPI_ERR_READ_ONLY, EROFS},     {MPI_ERR_FILE_EXISTS, EEXIST}, {MPI_ERR_BAD_FILE, EINVAL}, {MPI_ERR_AMODE, EINVAL},
      {MPI_ERR_NO_MEM, ENOMEM},
  };
  for (const auto& [of_mpi, of_system] : known) {
    if (error_class == of_mpi) return of_system;
  }
  return EIO;
}

constexpr MpiFiles kMpiFiles = {
    Open, SetView, ReadAt, WriteAt, Sync, Size, Hints, Close,
    Vote, Meet, Decline, EndMeetings, RankCount, ErrnoOf, DescribeMpiError,
};

}  // namespace

int StartMpiFiles() {
  for (MPI_Comm* const comm : {&files_comm, &votes_comm, &meetings_comm}) {
    if (const int error = MPI_Comm_dup(MPI_COMM_WORLD, comm); error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

const MpiFiles& TheMpiFilesTable() {
  return kMpiFiles;
}
