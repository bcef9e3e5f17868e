#include "coordinator/live/live_screen.h"

#include <fcntl.h>
#include <langinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/clock.h"
#include "common/process/thread.h"
#include "common/process/ending_signals.h"
#include "common/text/log.h"
#include "common/unique_fd.h"

// Last, because it defines macros with short names.
#define NCURSES_NOMACROS
#include <ncurses.h>

namespace iobench {
namespace {

constexpr int kKeyWaitMs = 100;
constexpr int64_t kPageLines = 10;

// For the handler of a second signal, which ends the program at once: only async-signal-safe calls restore the
// terminal.
struct termios terminal_before;
char leave_screen[64];
size_t leave_screen_bytes = 0;
std::atomic<int> interrupts{0};
std::atomic<int64_t> first_interrupt_ns{0};
std::array<struct sigaction, kEndingSignals.size()> actions_before;

extern "C" void OnInterrupt(int number) {
  if (interrupts.load() == 0) {
    first_interrupt_ns.store(MonotonicNowNs());
    interrupts.store(1);
  } else if (MonotonicNowNs() - first_interrupt_ns.load() >= kSameRequestNs) {
    tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
    // If the terminal is gone, nothing can be done about it; the handler below must end the program all the same.
    static_cast<void>(!write(STDOUT_FILENO, leave_screen, leave_screen_bytes));
  }
  for (size_t i = 0; i < kEndingSignals.size(); ++i) {
    const auto before = actions_before[i].sa_handler;
    if (kEndingSignals[i] == number && before != SIG_DFL && before != SIG_IGN) before(number);
  }
}

int AttributesOf(Tone tone) {
  switch (tone) {
    case Tone::kPlain:
      return A_NORMAL;
    case Tone::kStrong:
      return A_BOLD;
    case Tone::kQuiet:
      return A_DIM;
    case Tone::kWarning:
      return COLOR_PAIR(1);
    case Tone::kError:
      return COLOR_PAIR(2) | A_BOLD;
  }
  return A_NORMAL;
}

std::string AsciiOnly(const std::string& text) {
  std::string ascii;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) == 0x80) continue;  // one '?' per character
    ascii += byte < 0x80 ? c : '?';
  }
  return ascii;
}

}  // namespace

// Collects what is written to stderr.
class CapturedStderr {
 public:
  CapturedStderr() {
    if (isatty(STDERR_FILENO) != 1) return;
    UniqueFd file(memfd_create("stderr", MFD_CLOEXEC));
    UniqueFd before(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!file.valid() || !before.valid() || dup2(file.get(), STDERR_FILENO) < 0) return;
    before_ = std::move(before);
    file_ = std::move(file);
  }
  ~CapturedStderr() {
    if (!before_.valid()) return;
    std::fflush(stderr);
    dup2(before_.get(), STDERR_FILENO);
    char buffer[4096];
    off_t at = 0;
    for (ssize_t bytes; (bytes = pread(file_.get(), buffer, sizeof buffer, at)) > 0; at += bytes) {
      if (write(STDERR_FILENO, buffer, static_cast<size_t>(bytes)) != bytes) return;
    }
  }
  // Returns the whole lines since the last call.
  std::vector<std::string> NewLines() {
    char buffer[4096];
    for (ssize_t bytes; file_.valid() && (bytes = pread(file_.get(), buffer, sizeof buffer, read_)) > 0;
         read_ += bytes) {
      rest_.append(buffer, static_cast<size_t>(bytes));
    }
    const size_t end = rest_.rfind('\n');
    if (end == std::string::npos) return {};
    const std::string whole = rest_.substr(0, end);
    rest_.erase(0, end + 1);
    return absl::StrSplit(whole, '\n', absl::SkipEmpty());
  }

 private:
  UniqueFd before_;
  UniqueFd file_;
  off_t read_ = 0;
  std::string rest_;
};

absl::Status CheckTerminal() {
  if (isatty(STDOUT_FILENO) != 1 || isatty(STDIN_FILENO) != 1) {
    return absl::FailedPreconditionError(
        "--live needs a terminal on standard input and output: leave it out, or use --progress, --live-csv or "
        "--live-metrics");
  }
  const char* name = std::getenv("TERM");
  if (name == nullptr || *name == '\0' || std::string_view(name) == "dumb") {
    return absl::FailedPreconditionError(
        "--live needs a terminal with a movable cursor, and TERM names none: set TERM, or use --progress");
  }
  return absl::OkStatus();
}

// Owns the terminal's state and the thread that draws.
class LiveScreen::Painter {
 public:
  Painter(Mutex& mutex, LivePage& page) : mutex_(mutex), page_(page), begin_(CoordNow()) {
    tcgetattr(STDIN_FILENO, &terminal_before);
    std::setlocale(LC_CTYPE, "");  // not LC_NUMERIC: reports have decimal points
    utf8_ = std::string_view(nl_langinfo(CODESET)) == "UTF-8";
    screen_ = newterm(nullptr, stdout, stdin);
    if (screen_ == nullptr) return;  // a terminal that is not known: the report comes at the end all the same
    cbreak();
    noecho();
    curs_set(0);
    keypad(stdscr, TRUE);
    wtimeout(stdscr, kKeyWaitMs);
    if (has_colors()) {
      start_color();
      use_default_colors();
      init_pair(1, COLOR_YELLOW, -1);
      init_pair(2, COLOR_RED, -1);
    }
    WatchInterrupts();
    if (auto thread = StartThread([this] { Run(); }); thread.ok()) {
      thread_ = *std::move(thread);
    } else {
      LeaveTheScreen();
      LogWarning(absl::StrCat("--live: ", thread.status().message()));
    }
  }

  ~Painter() {
    if (screen_ == nullptr) return;
    stop_.store(true);
    thread_.join();
    LeaveTheScreen();
  }

 private:
  void LeaveTheScreen() {
    for (size_t i = 0; i < kEndingSignals.size(); ++i)
      sigaction(kEndingSignals[i], &actions_before[i], nullptr);
    endwin();
    delscreen(std::exchange(screen_, nullptr));
  }

  void WatchInterrupts() {
    const char* leave = tigetstr(const_cast<char*>("rmcup"));
    const char* show_cursor = tigetstr(const_cast<char*>("cnorm"));
    leave_screen_bytes = 0;
    for (const char* sequence : {show_cursor, leave}) {
      if (sequence == nullptr || sequence == reinterpret_cast<const char*>(-1)) continue;
      for (; *sequence != '\0' && leave_screen_bytes < sizeof leave_screen; ++sequence) {
        leave_screen[leave_screen_bytes++] = *sequence;
      }
    }
    interrupts.store(0);
    struct sigaction action = {};
    action.sa_handler = OnInterrupt;
    for (size_t i = 0; i < kEndingSignals.size(); ++i) {
      sigaction(kEndingSignals[i], nullptr, &actions_before[i]);
      // Under nohup, SIGHUP ends nothing.
      if (actions_before[i].sa_handler != SIG_IGN) sigaction(kEndingSignals[i], &action, nullptr);
    }
  }

  void Run() {
    while (!stop_.load()) {
      Draw();
      const int64_t asked_ns = MonotonicNowNs();
      const int key = wgetch(stdscr);
      // A terminal that is gone has no key at once. Drawing all the time would take a processor from the lanes.
      if (key == ERR && MonotonicNowNs() - asked_ns < kKeyWaitMs * 1'000'000 / 2) napms(kKeyWaitMs);
      OnKey(key);
    }
  }

  void OnKey(int key) {
    if (key == 'q') {
      // Only once: a key that repeats must not end the program while results are collected.
      if (interrupts.load() == 0) kill(getpid(), SIGINT);
      return;
    }
    const int64_t lines = key == KEY_UP      ? -1
                          : key == KEY_DOWN  ? 1
                          : key == KEY_PPAGE ? -kPageLines
                          : key == KEY_NPAGE ? kPageLines
                                             : 0;
    if (lines == 0) return;
    MutexLock lock(mutex_);
    page_.Scroll(lines);
  }

  void Draw() {
    const PageSize size = {.rows = static_cast<size_t>(getmaxy(stdscr)),
                           .columns = static_cast<size_t>(getmaxx(stdscr)),
                           .utf8 = utf8_};
    std::vector<PageLine> lines;
    {
      MutexLock lock(mutex_);
      for (const std::string& line : stderr_.NewLines()) page_.AddMessage(line, Tone::kWarning);
      if (interrupts.load() > 0) page_.Interrupts();
      lines = page_.Draw(size, SecondsFrom(CoordNow() - begin_));
    }
    werase(stdscr);
    for (size_t row = 0; row < lines.size(); ++row) {
      wattrset(stdscr, AttributesOf(lines[row].tone));
      const std::string& text = lines[row].text;
      mvwaddstr(stdscr, static_cast<int>(row), 0, (utf8_ ? text : AsciiOnly(text)).c_str());
    }
    wrefresh(stdscr);
  }

  Mutex& mutex_;
  LivePage& page_;
  const CoordTime begin_;
  bool utf8_ = false;
  SCREEN* screen_ = nullptr;
  CapturedStderr stderr_;  // destroyed after endwin, so that its lines stay on the screen
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

LiveScreen::LiveScreen() = default;
LiveScreen::~LiveScreen() = default;

void LiveScreen::RunStarts(const v1::RunReport& report) {
  {
    MutexLock lock(mutex_);
    page_.RunStarts(report);
  }
  painter_ = std::make_unique<Painter>(mutex_, page_);
}

void LiveScreen::PhasePrepares(const PhaseProgress& progress) {
  MutexLock lock(mutex_);
  page_.PhasePrepares(progress);
}

void LiveScreen::PhaseMoves(const PhaseProgress& progress) {
  MutexLock lock(mutex_);
  page_.PhaseMoves(progress);
}

void LiveScreen::PhaseEnds(const v1::RunReport& report, const v1::PhaseReport& phase) {
  (void)report;
  MutexLock lock(mutex_);
  page_.PhaseEnds(phase);
}

void LiveScreen::Stop() {
  painter_.reset();
}

}  // namespace iobench
