#include "coordinator/files/file_patience.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/text/log.h"
#include "common/text/units.h"
#include "common/time.h"

namespace iobench {
namespace {

constexpr int64_t kSayAfterNs = 5 * kNanosPerSecond;
constexpr int64_t kAttendEveryNs = kNanosPerSecond / 2;

std::function<void()> attend;
std::atomic<std::thread::id> attending_thread;

thread_local int64_t shorter_limit_ns = 0;  // 0: none

int64_t LimitNow() {
  const int64_t limit_ns = FilePatience().limit_ns.load();
  if (shorter_limit_ns == 0) return limit_ns;
  return limit_ns == 0 ? shorter_limit_ns : std::min(limit_ns, shorter_limit_ns);
}

bool Interrupted() {
  const std::atomic<bool>* const flag = FilePatience().interrupted.load();
  return flag != nullptr && flag->load(std::memory_order_relaxed);
}

}  // namespace

PatienceForFiles& FilePatience() {
  static PatienceForFiles patience;
  return patience;
}

WhileFilesHang::WhileFilesHang(std::function<void()> each) {
  attend = std::move(each);
  attending_thread = std::this_thread::get_id();
}

WhileFilesHang::~WhileFilesHang() {
  attending_thread = std::thread::id();
  attend = nullptr;
}

ShorterPatience::ShorterPatience(int64_t limit_ns) {
  shorter_limit_ns = limit_ns;
}

ShorterPatience::~ShorterPatience() {
  shorter_limit_ns = 0;
}

CallWait::CallWait(std::string call, std::function<bool()> still_answers, int64_t begin_ns)
    : call_(std::move(call)), still_answers_(std::move(still_answers)), begin_ns_(begin_ns), limit_ns_(LimitNow()) {}

CallWait::~CallWait() {
  if (!said_ || given_up_) return;
  LogWarning(absl::StrCat("the file system answers again: ", call_, " took ",
                          FormatSeconds(SecondsFrom(MonotonicNowNs() - begin_ns_))));
}

int CallWait::Next() {
  const int64_t now_ns = MonotonicNowNs(), nap_ns = now_ns - std::exchange(looked_ns_, now_ns);
  stopped_ns_ += std::max<int64_t>(0, nap_ns - kLongestNapNs);
  const int64_t waited_ns = now_ns - begin_ns_ - stopped_ns_;
  if (interrupted_ns_ == 0 && Interrupted()) interrupted_ns_ = now_ns;
  if (interrupted_ns_ != 0 && !alive_ && now_ns - interrupted_ns_ >= FilePatience().after_interrupt_ns.load()) {
    alive_ = still_answers_();
    given_up_ = !alive_;
    if (given_up_) return kErrnoStoppedWaiting;
  }
  if (limit_ns_ > 0 && waited_ns >= limit_ns_) {
    given_up_ = true;
    return kErrnoNoAnswer;
  }
  if (!said_ && waited_ns >= (limit_ns_ > 0 ? std::min(kSayAfterNs, limit_ns_ / 2) : kSayAfterNs)) {
    said_ = true;
    LogWarning(absl::StrCat("the file system does not answer: ", call_, " has taken ", FormatSeconds(SecondsFrom(waited_ns)),
                            limit_ns_ > 0 ? absl::StrCat(" and is given up after ", FormatSeconds(SecondsFrom(limit_ns_)),
                                                         limit_ns_ == FilePatience().limit_ns ? " (--stall-timeout)" : "")
                                          : "",
                            "; Ctrl-C stops waiting"));
  }
  if (attending_thread.load() == std::this_thread::get_id() && now_ns - attended_ns_ >= kAttendEveryNs) {
    attended_ns_ = now_ns;
    // A call on files in `attend` must not attend again.
    const std::thread::id self = attending_thread.exchange(std::thread::id());
    attend();
    attending_thread = self;
  }
  return 0;
}

}  // namespace iobench
