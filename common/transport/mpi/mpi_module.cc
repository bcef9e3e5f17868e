// Bytes between ranks. See mpi_bytes.h; mpi_files_module.cc has the rest of the module.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "common/transport/mpi/mpi_bytes.h"
#include "common/transport/mpi/mpi_module.h"

namespace {

constexpr int kTag = 1;

// An MPI_Request, which the caller holds as void*.
struct Transfer {
  MPI_Request request = MPI_REQUEST_NULL;
};

// Runs start(request) and returns the transfer to the caller on success.
template <typename Start>
int Begin(void** transfer, Start start) {
  auto begun = std::make_unique<Transfer>();
  const int error = start(&begun->request);
  if (error == MPI_SUCCESS) *transfer = begun.release();
  return error;
}

const char* LibraryVersion() {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING + 1];
  int length = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return "an unknown MPI library";
  text[std::strcspn(text, ",\n")] = '\0';  // "Open MPI v4.1.4, package: …, ident: …"; MPICH's has many lines
  return text;
}

// Counts the ranks with our processor name. Naps instead of waiting inside MPI, which spins, because many ranks may
// share few processors.
int CountRanksOnThisHost(int size, int* count) {
  using Name = std::array<char, MPI_MAX_PROCESSOR_NAME>;
  Name ours{};
  int length = 0;
  std::vector<Name> names(static_cast<size_t>(size));
  int error = MPI_Get_processor_name(ours.data(), &length);
  if (error != MPI_SUCCESS) return error;
  MPI_Request request;
  error = MPI_Iallgather(ours.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, names.data(), MPI_MAX_PROCESSOR_NAME,
                         MPI_CHAR, MPI_COMM_WORLD, &request);
  for (int done = 0; error == MPI_SUCCESS; usleep(200)) {
    error = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) break;
  }
  *count = static_cast<int>(std::count(names.begin(), names.end(), ours));
  return error;
}

int Init(int* several_threads, int lanes_wait, int* rank, int* size, int* ranks_on_this_host) {
  // If ranks share processors, Open MPI yields the processor in every call that finds nothing. Our calls are single
  // polls between naps; next to busy lanes, each yield would cost a time slice (measured: 1.1 s instead of 0.03 s for
  // 2400 events). Does not override a value set by the user. Lanes that wait in MPI must yield (measured with 4 ranks on 2
  // processors: 20 to 42 s instead of 6 to 7 s).
  if (!lanes_wait) setenv("OMPI_MCA_mpi_yield_when_idle", "0", 0);
  int provided = 0;
  int error = MPI_Init_thread(nullptr, nullptr, *several_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  if (error != MPI_SUCCESS) return error;
  // Not if it was not asked for: another rank's library may offer less of its own accord.
  *several_threads = *several_threads && provided == MPI_THREAD_MULTIPLE;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if ((error = MPI_Comm_rank(MPI_COMM_WORLD, rank)) != MPI_SUCCESS) return error;
  if ((error = MPI_Comm_size(MPI_COMM_WORLD, size)) != MPI_SUCCESS) return error;
  error = CountRanksOnThisHost(*size, ranks_on_this_host);
  return error == MPI_SUCCESS && *several_threads ? StartMpiFiles() : error;
}

int StartSend(int to, const void* bytes, size_t byte_count, void** transfer) {
  return Begin(transfer, [&](MPI_Request* request) {
    return MPI_Isend(bytes, static_cast<int>(byte_count), MPI_BYTE, to, kTag, MPI_COMM_WORLD, request);
  });
}

int Probe(int* found, int* from, size_t* byte_count, void** message) {
  auto matched = std::make_unique<MPI_Message>(MPI_MESSAGE_NULL);
  MPI_Status status;
  const int error = MPI_Improbe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, found, matched.get(), &status);
  if (error != MPI_SUCCESS || !*found) return error;
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  *from = status.MPI_SOURCE;
  *byte_count = static_cast<size_t>(count);
  *message = matched.release();
  return MPI_SUCCESS;
}

int StartReceive(void* message, void* bytes, size_t byte_count, void** transfer) {
  const std::unique_ptr<MPI_Message> matched(static_cast<MPI_Message*>(message));
  return Begin(transfer, [&](MPI_Request* request) {
    return MPI_Imrecv(bytes, static_cast<int>(byte_count), MPI_BYTE, matched.get(), request);
  });
}

int StartBarrier(void** transfer) {
  return Begin(transfer, [](MPI_Request* request) { return MPI_Ibarrier(MPI_COMM_WORLD, request); });
}

int Test(void* transfer, int* done) {
  auto* const tested = static_cast<Transfer*>(transfer);
  const int error = MPI_Test(&tested->request, done, MPI_STATUS_IGNORE);
  if (error == MPI_SUCCESS && *done) delete tested;
  return error;
}

int Finalize() {
  return MPI_Finalize();
}

void Abort(int exit_code) {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
}

const MpiBytes kMpiBytes = {
    IOBENCH_MPI_BYTES_VERSION,
    LibraryVersion,
    Init,
    StartSend,
    Probe,
    StartReceive,
    StartBarrier,
    Test,
    Finalize,
    Abort,
    DescribeMpiError,
    &TheMpiFilesTable(),
};

}  // namespace

void DescribeMpiError(int error, char* text, size_t text_bytes) {
  char words[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  MPI_Error_string(error, words, &length);
  const size_t kept = std::min(text_bytes - 1, std::strlen(words));
  std::memcpy(text, words, kept);
  text[kept] = '\0';
}

extern "C" __attribute__((visibility("default"))) const MpiBytes* IobenchMpiBytes() {
  return &kMpiBytes;
}
