#include "coordinator/stage/token_life.h"

#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/process/thread.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "common/transport/grpc/token_file.h"
#include "coordinator/files/files.h"

namespace iobench {
namespace {

// A pipe is read only once.
bool IsFile(const std::string& name) {
  const std::optional<struct stat> facts = name.empty() ? std::nullopt : files::Stat(name);
  return facts.has_value() && S_ISREG(facts->st_mode);
}

// A file that cannot be read now (its server is gone, its mode was changed) says nothing about the token.
bool HasLost(const TokenLimits& limits) {
  if (!files::MountAnswers("token file", limits.file).ok()) return false;
  const auto present = ReadTokenFile(limits.file, limits.readers);
  return present.ok() ? present->token != limits.token : absl::IsNotFound(present.status());
}

}  // namespace

struct TokenLife::Watched {
  Mutex mutex;
  CondVar ending;
  bool ended ABSL_GUARDED_BY(mutex) = false;
  std::function<void(const std::string& line)> tell ABSL_GUARDED_BY(mutex);
  std::atomic<bool> lost = false;

  // Returns false at the end.
  bool Pause() {
    MutexLock lock(mutex);
    return !ending.WaitUntil(mutex, MonotonicNowNs() + kLookNs, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return ended; });
  }
  void Note(bool is_lost, const std::string& file) {
    if (lost.exchange(is_lost) == is_lost) return;
    MutexLock lock(mutex);
    if (ended || tell == nullptr) return;
    tell(absl::StrCat("token file ", file,
                      is_lost ? " no longer has this run's token: nobody else can join" : " has this run's token again"));
  }
};

TokenLife::TokenLife(TokenLimits limits, std::function<void(const std::string& line)> tell)
    : limits_(std::move(limits)), watched_(std::make_shared<Watched>()) {
  MutexLock lock(watched_->mutex);
  watched_->tell = std::move(tell);
}

TokenLife::~TokenLife() {
  MutexLock lock(watched_->mutex);
  watched_->ended = true;
  watched_->ending.NotifyAll();
}

absl::Status TokenLife::Start() {
  ends_ns_ = MonotonicNowNs() + NanosFrom(limits_.ttl_s);
  if (!IsFile(limits_.file)) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(std::thread watcher, StartThread([watched = watched_, limits = limits_] {
                             while (watched->Pause()) watched->Note(HasLost(limits), limits.file);
                           }));
  watcher.detach();
  return absl::OkStatus();
}

std::string TokenLife::WhyClosed(uint64_t joined_count) const {
  if (limits_.ttl_s > 0 && MonotonicNowNs() >= ends_ns_) {
    return absl::StrCat("the run's token was good for ", FormatSeconds(limits_.ttl_s),
                        " (--token-ttl), and its worker came later");
  }
  if (limits_.seats > 0 && joined_count >= limits_.seats) {
    return "the run's token was for workers that its coordinator started, and all of them have joined";
  }
  if (watched_->lost) return "the coordinator's token file no longer has the run's token";
  return "";
}

}  // namespace iobench
