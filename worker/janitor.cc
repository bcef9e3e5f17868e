#include "worker/janitor.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/process/helper_process.h"
#include "common/status_util.h"
#include "common/text/log.h"
#include "common/time.h"
#include "worker/check/check_files.h"
#include "worker/data_directory/data_directory.h"
#include "worker/data_directory/orphaned_data.h"

namespace iobench {
namespace {

constexpr int64_t kEndsWithinNs = kNanosPerSecond;
constexpr useconds_t kLookForEndUs = 1000;
// A hung file system must not keep the janitor for ever, nor must the janitor keep it busy. Removing may take long.
constexpr unsigned kFirstLook_s = 60;
constexpr unsigned kRemoval_s = 600;

// ------------------------------------------------------------------------------------ in the janitor's process

// False: the worker has ended.
bool ReadBytes(int fd, char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t got = ::read(fd, bytes, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    count -= static_cast<size_t>(got);
  }
  return true;
}

std::optional<v1::WorkerRequest> ReadNote(int fd) {
  uint32_t bytes = 0;
  if (!ReadBytes(fd, reinterpret_cast<char*>(&bytes), sizeof bytes)) return std::nullopt;
  std::string text(bytes, '\0');
  v1::WorkerRequest note;
  if (!ReadBytes(fd, text.data(), text.size()) || !note.ParseFromString(text)) return std::nullopt;
  return note;
}

[[noreturn]] void WaitAndRemove(int notes) {
  std::optional<CheckFiles> check_files(std::in_place);
  std::optional<v1::Prepare> prepare;
  while (std::optional<v1::WorkerRequest> note = ReadNote(notes)) {
    if (note->has_leave()) {
      check_files.emplace();
      prepare.reset();
    }
    if (note->has_prepare()) prepare = std::move(*note->mutable_prepare());
    if (note->has_file_actions()) check_files->Adopt(note->run_id(), note->file_actions());
  }
  ::alarm(kFirstLook_s);
  if (prepare) {
    for (const v1::Target& target : prepare->targets()) InspectData(target.path()).IgnoreError();
  }
  ::alarm(kRemoval_s);
  check_files->RemoveAll();
  if (prepare) LeaveOrphanedData(*prepare).IgnoreError();  // nobody is left to tell
  ::_exit(EXIT_SUCCESS);
}

[[noreturn]] void BeJanitor(int notes) {
  ::setsid();
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(number, SIG_IGN);
  ::signal(SIGALRM, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  SetProcessName("iobench-janitor", "cluster-iobench-janitor");
  CloseAllBut(notes);
  if (::chdir("/") != 0) ::_exit(EXIT_FAILURE);
  WaitAndRemove(notes);
}

}  // namespace

// ------------------------------------------------------------------------------------- in the worker's process

std::unique_ptr<Janitor> Janitor::Start() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) == 0) {
    UniqueFd reader(ends[0]), writer(ends[1]);
    // Until the janitor ignores them, signals would go to handlers of this process.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t pid = ::fork();
    if (pid == 0) BeJanitor(reader.get());
    const int fork_errno = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = fork_errno;
    if (pid > 0) return std::unique_ptr<Janitor>(new Janitor(pid, std::move(writer)));
  }
  LogWarning(absl::StrCat(ErrnoStatus("start a process that clears up", errno).message(),
                          ": if this worker is killed, `cluster-iobench clean` must remove its data"));
  return nullptr;
}

Janitor::~Janitor() {
  {
    MutexLock lock(mutex_);
    notes_ = UniqueFd();
  }
  const int64_t until_ns = MonotonicNowNs() + kEndsWithinNs;
  while (::waitpid(pid_, nullptr, WNOHANG) == 0 && MonotonicNowNs() < until_ns) ::usleep(kLookForEndUs);
}

void Janitor::RecordPrepare(const v1::Prepare& prepare) {
  if (leaves_data_to_others_ || prepare.lanes().empty()) return;
  v1::WorkerRequest note;
  *note.mutable_prepare()->mutable_targets() = prepare.targets();
  *note.mutable_prepare()->mutable_claims() = prepare.claims();
  note.mutable_prepare()->add_lanes()->set_lane(prepare.lanes(0).lane());
  Send(note);
}

void Janitor::RecordFileActions(uint64_t run_id, const v1::FileActions& actions) {
  v1::WorkerRequest note;
  note.set_run_id(run_id);
  v1::FileActions& own = *note.mutable_file_actions();
  *own.mutable_target() = actions.target();
  bool has_tree = false;
  for (const v1::FileAction& action : actions.actions()) {
    if (IsOnCheckFile(action) && action.what() == v1::FileAction::CREATE) {
      v1::FileAction& create = *own.add_actions();
      create.set_what(v1::FileAction::CREATE);
      create.set_file(action.file());
    } else if (!IsOnCheckFile(action) && !std::exchange(has_tree, true)) {
      // One stands for all, since the directory is removed as a whole.
      own.add_actions()->set_what(v1::FileAction::MAKE_DIRECTORY);
    }
  }
  if (own.actions_size() > 0) Send(note);
}

void Janitor::Forget() {
  v1::WorkerRequest note;
  note.mutable_leave();
  Send(note);
}

// The janitor may have been killed; nothing can be done about that.
void Janitor::Send(const v1::WorkerRequest& note) {
  const std::string text = note.SerializeAsString();
  const auto bytes = static_cast<uint32_t>(text.size());
  std::string letter(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  letter += text;
  MutexLock lock(mutex_);
  if (letter == latest_) return;  // as for validate, which sends many requests
  latest_ = letter;
  std::string_view left = letter;
  while (!left.empty()) {
    const ssize_t sent = ::write(notes_.get(), left.data(), left.size());
    if (sent < 0 && errno != EINTR) return;
    if (sent > 0) left.remove_prefix(static_cast<size_t>(sent));
  }
}

}  // namespace iobench
