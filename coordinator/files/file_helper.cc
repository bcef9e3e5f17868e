#include "coordinator/files/file_helper.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/process/ending_signals.h"
#include "common/process/helper_process.h"
#include "common/proc_file.h"
#include "common/unique_fd.h"
#include "coordinator/files/mount_points.h"
#include "coordinator/files/file_patience.h"

namespace iobench {
namespace {

constexpr int64_t kMountsAreNewNs = kNanosPerSecond;
constexpr int kEndsWithinMs = 200;

// ------------------------------------------------------------------------------------------------ messages

struct RequestHead {
  FileCall call;
  int32_t descriptor;
  int64_t a, b;
  uint64_t path_bytes, text_bytes;
};

struct AnswerHead {
  int64_t result;
  int32_t error;
  uint32_t code;
  uint64_t text_bytes;
};

// Carries one descriptor to another process.
struct DescriptorMessage {
  DescriptorMessage() {
    head.msg_iov = &part;
    head.msg_iovlen = 1;
    head.msg_control = control.data();
    head.msg_controllen = control.size();
  }
  DescriptorMessage(const DescriptorMessage&) = delete;
  DescriptorMessage& operator=(const DescriptorMessage&) = delete;

  char byte = 0;
  iovec part{.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr head{};
};

bool SendAll(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool ReceiveAll(int socket, char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t got = ::recv(socket, bytes, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    count -= static_cast<size_t>(got);
  }
  return true;
}

bool ReceiveText(int socket, uint64_t bytes, std::string& text) {
  text.resize(bytes);
  return ReceiveAll(socket, text.data(), text.size());
}

template <typename Head>
bool SendHead(int socket, const Head& head) {
  return SendAll(socket, {reinterpret_cast<const char*>(&head), sizeof head});
}

template <typename Head>
bool ReceiveHead(int socket, Head& head) {
  return ReceiveAll(socket, reinterpret_cast<char*>(&head), sizeof head);
}

bool Send(int socket, const FileRequest& request) {
  RequestHead head = {};
  head.call = request.call;
  head.descriptor = request.descriptor;
  head.a = request.a;
  head.b = request.b;
  head.path_bytes = request.path.size();
  head.text_bytes = request.text.size();
  return SendHead(socket, head) && SendAll(socket, request.path) && SendAll(socket, request.text);
}

bool Receive(int socket, FileRequest& request) {
  RequestHead head;
  if (!ReceiveHead(socket, head)) return false;
  request.call = head.call;
  request.descriptor = head.descriptor;
  request.a = head.a;
  request.b = head.b;
  return ReceiveText(socket, head.path_bytes, request.path) && ReceiveText(socket, head.text_bytes, request.text);
}

bool Send(int socket, const FileAnswer& answer) {
  AnswerHead head = {};
  head.result = answer.result;
  head.error = answer.error;
  head.code = answer.code;
  head.text_bytes = answer.text.size();
  return SendHead(socket, head) && SendAll(socket, answer.text);
}

bool Receive(int socket, FileAnswer& answer) {
  AnswerHead head;
  if (!ReceiveHead(socket, head)) return false;
  answer.result = head.result;
  answer.error = head.error;
  answer.code = head.code;
  return ReceiveText(socket, head.text_bytes, answer.text);
}

// ---------------------------------------------------------------------------------------- the helpers' side

[[noreturn]] void Serve(int socket) {
  CloseAllBut(socket);
  for (FileRequest request; Receive(socket, request) && Send(socket, CarryOut(request));) {
  }
  ::_exit(EXIT_SUCCESS);
}

// Receives the socket of a helper to start; -1: the coordinator has ended.
int NextSocket(int orders) {
  DescriptorMessage message;
  ssize_t got = -1;
  do {
    got = ::recvmsg(orders, &message.head, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  const cmsghdr* const rights = got > 0 ? CMSG_FIRSTHDR(&message.head) : nullptr;
  if (rights == nullptr || rights->cmsg_type != SCM_RIGHTS) return -1;
  int socket = -1;
  std::memcpy(&socket, CMSG_DATA(rights), sizeof socket);
  return socket;
}

// Starts helpers, and makes no calls itself, so that it never hangs: a process with threads cannot start them.
[[noreturn]] void StartThem(int orders) {
  for (const int number : kEndingSignals) ::signal(number, SIG_IGN);  // Ctrl-C is for the coordinator
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGCHLD, SIG_IGN);
  SetProcessName("iobench-files", "cluster-iobench-files");
  CloseAllBut(orders);
  for (int socket = NextSocket(orders); socket >= 0; socket = NextSocket(orders)) {
    if (::fork() == 0) Serve(socket);
    ::close(socket);
  }
  while (::wait(nullptr) >= 0 || errno == EINTR) {  // as long as one hangs, so that it has a parent that forgets it
  }
  ::_exit(EXIT_SUCCESS);
}

// ------------------------------------------------------------------------------------- the coordinator's side

// The socket of the process that starts helpers; empty: there is none.
UniqueFd& TheStarter() {
  static UniqueFd& orders = *new UniqueFd;  // also for calls while the process ends
  return orders;
}

bool SendSocket(int orders, int socket) {
  DescriptorMessage message;
  cmsghdr* const rights = CMSG_FIRSTHDR(&message.head);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof socket);
  std::memcpy(CMSG_DATA(rights), &socket, sizeof socket);
  return ::sendmsg(orders, &message.head, MSG_NOSIGNAL) == 1;
}

UniqueFd NewHelper() {
  int ends[2];
  const int orders = TheStarter().get();
  if (orders < 0 || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return {};
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  return SendSocket(orders, theirs.get()) ? std::move(ours) : UniqueFd();
}

bool HasAnswered(int socket, int within_ms) {
  pollfd answer{.fd = socket, .events = POLLIN, .revents = 0};
  return ::poll(&answer, 1, within_ms) > 0;
}

bool Answers(const std::string& mount_point) {
  const auto within_ms = static_cast<int>(FilePatience().after_interrupt_ns.load() * 2 / 3 / 1'000'000);
  const UniqueFd probe = NewHelper();
  return probe.valid() && Send(probe.get(), {.call = FileCall::kStatFs, .path = mount_point}) &&
         HasAnswered(probe.get(), within_ms);
}

}  // namespace

// One process. One thread at a time makes calls by it: who has taken it.
class FileHelper {
 public:
  FileHelper(UniqueFd socket, std::string mount_point) : socket_(std::move(socket)), mount_point_(std::move(mount_point)) {}

  bool Take() { return !taken_.exchange(true); }
  void GiveBack() { taken_ = false; }
  // Whether its last call was given up, and has not returned yet. REQUIRES: taken.
  bool Hangs() {
    if (error_ != 0 && HasAnswered(socket_.get(), 0)) Forget();
    return error_ != 0;
  }
  // nullopt: it has ended. REQUIRES: taken.
  std::optional<FileAnswer> Make(const FileRequest& request, const std::string& path) {
    const std::string call = absl::StrCat(NameOf(request.call), " ", path);
    if (Hangs()) {
      if (error_ == kErrnoStoppedWaiting || !Wait(call)) return FileAnswer{.result = -1, .error = error_};
      Forget();
    }
    begin_ns_ = MonotonicNowNs();
    if (!Send(socket_.get(), request)) return std::nullopt;
    if (!Wait(call)) return FileAnswer{.result = -1, .error = error_};
    FileAnswer answer;
    return Receive(socket_.get(), answer) ? std::optional(std::move(answer)) : std::nullopt;
  }

 private:
  // Waits until the call since `begin_ns_` has returned. False: it is given up with `error_`.
  bool Wait(const std::string& call) {
    CallWait wait(call, [this] { return Answers(mount_point_); }, begin_ns_);
    while (!HasAnswered(socket_.get(), CallWait::kNapMs)) {
      error_ = wait.Next();
      if (error_ != 0) return false;
    }
    return true;
  }
  // Drops the answer to a call that was given up.
  void Forget() {
    FileAnswer late;
    Receive(socket_.get(), late);
    error_ = 0;
  }

  const UniqueFd socket_;
  const std::string mount_point_;
  std::atomic<bool> taken_{false};
  int error_ = 0;         // with which its last call was given up, which has not returned; 0: none
  int64_t begin_ns_ = 0;  // of its last call
};

namespace {

// The helpers of each mount, and the mounts as they were lately.
class Helpers {
 public:
  // Returns one that is taken, which hangs if another of this mount does. Null: there can be none.
  std::shared_ptr<FileHelper> Taken(const std::string& path) {
    MutexLock lock(mutex_);
    const std::string mount_point = MountPointOf(path);
    std::vector<std::shared_ptr<FileHelper>>& here = of_mount_[mount_point];
    std::shared_ptr<FileHelper> free;
    for (const std::shared_ptr<FileHelper>& each : here) {
      if (!each->Take()) continue;
      if (each->Hangs()) {
        if (free != nullptr) free->GiveBack();
        return each;
      }
      if (free == nullptr) {
        free = each;
      } else {
        each->GiveBack();
      }
    }
    if (free != nullptr) return free;
    UniqueFd socket = NewHelper();
    if (!socket.valid()) return nullptr;
    here.push_back(std::make_shared<FileHelper>(std::move(socket), mount_point));
    here.back()->Take();
    return here.back();
  }

  void LetGo() {
    MutexLock lock(mutex_);
    of_mount_.clear();
  }

 private:
  std::string MountPointOf(const std::string& path) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (const int64_t now_ns = MonotonicNowNs(); mounts_.empty() || now_ns - read_ns_ > kMountsAreNewNs) {
      mounts_ = MountPointsIn(ReadWholeFile("/proc/self/mountinfo").value_or(""));
      read_ns_ = now_ns;
    }
    std::error_code error;
    return iobench::MountPointOf(mounts_, std::filesystem::absolute(path, error).string());
  }

  Mutex mutex_;
  std::map<std::string, std::vector<std::shared_ptr<FileHelper>>> of_mount_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> mounts_ ABSL_GUARDED_BY(mutex_);
  int64_t read_ns_ ABSL_GUARDED_BY(mutex_) = 0;
};

Helpers& TheHelpers() {
  static Helpers& helpers = *new Helpers;
  return helpers;
}

// A helper's own descriptors and process are others than ours. Nothing there hangs.
bool IsOfThisProcess(const std::string& path) {
  return absl::StartsWith(path, "/dev/") || absl::StartsWith(path, "/proc/");
}

}  // namespace

void StartFileHelpers() {
  int ends[2];
  if (TheStarter().valid() || ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  // No child of this process: its children are workers and commands.
  const pid_t pid = ::fork();
  if (pid == 0) {
    const pid_t starter = ::fork();
    if (starter == 0) StartThem(theirs.get());
    ::_exit(starter > 0 ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  int status = EXIT_FAILURE;
  while (pid > 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (pid > 0 && status == EXIT_SUCCESS) TheStarter() = std::move(ours);
}

void EndFileHelpers() {
  const UniqueFd orders = std::exchange(TheStarter(), UniqueFd());
  if (!orders.valid()) return;
  TheHelpers().LetGo();
  ::shutdown(orders.get(), SHUT_WR);
  HasAnswered(orders.get(), kEndsWithinMs);  // it closes its end
}

HelpedAnswer CallPatiently(FileRequest request, const std::string& path, std::shared_ptr<FileHelper> helper) {
  const bool has_descriptor = request.descriptor >= 0;
  if (has_descriptor && helper == nullptr) return {CarryOut(request), nullptr};
  if (!has_descriptor && (!TheStarter().valid() || IsOfThisProcess(path))) return {CarryOut(request), nullptr};
  if (has_descriptor) {
    while (!helper->Take()) ::usleep(200);  // for the end of another thread's call, which is patient itself
  } else {
    helper = TheHelpers().Taken(path);
    if (helper == nullptr) return {CarryOut(request), nullptr};
  }
  std::optional<FileAnswer> answer = helper->Make(request, path);
  helper->GiveBack();
  if (answer.has_value()) return {*std::move(answer), helper};
  // The process could not be started, or was killed.
  if (has_descriptor) return {{.result = -1, .error = EIO}, helper};
  return {CarryOut(request), nullptr};
}

}  // namespace iobench
