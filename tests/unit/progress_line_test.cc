#include "coordinator/report/console/progress_line.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <string>

#include "catch2/catch.hpp"
#include "common/text/display_text.h"

namespace iobench {
namespace {

ProgressSample Half() {
  ProgressSample sample;
  sample.phase = "random read";
  sample.index = 1;
  sample.count = 6;
  sample.bytes = 512 << 20;
  sample.total_bytes = 1024 << 20;
  sample.bytes_per_s = 64 << 20;
  sample.elapsed_s = 8;
  sample.lanes_running = 31;
  sample.lanes = 32;
  return sample;
}

class Pipe {
 public:
  Pipe() { REQUIRE(::pipe2(fds_, O_NONBLOCK) == 0); }
  ~Pipe() {
    ::close(fds_[0]);
    ::close(fds_[1]);
  }
  int writer() const { return fds_[1]; }
  std::string Take() const {
    char text[4096];
    const ssize_t size = ::read(fds_[0], text, sizeof(text));
    return size > 0 ? std::string(text, static_cast<size_t>(size)) : "";
  }

 private:
  int fds_[2];
};

ProgressOptions With(ProgressOptions::Mode mode) {
  ProgressOptions options;
  options.mode = mode;
  options.width_columns = 100;
  return options;
}

TEST_CASE("half done after 8 s leaves 8 s") {
  CHECK(FormatProgress(Half(), 100) == "2/6 random read   50 %   64 MiB/s   left 8 s   31 of 32 lanes");
}

TEST_CASE("metadata operations show ops per second and how many are left") {
  ProgressSample sample = Half();
  sample.phase = "create files";
  sample.metadata = true;
  sample.ops = 3000;
  sample.total_ops = 4000;
  sample.ops_per_s = 1250;
  CHECK(FormatProgress(sample, 100) == "2/6 create files   75 %   1,250 ops/s   left 3 s   31 of 32 lanes");
}

TEST_CASE("errors are counted once there are any") {
  ProgressSample sample = Half();
  sample.errors = 1;
  CHECK(FormatProgress(sample, 100) ==
        "2/6 random read   50 %   64 MiB/s   left 8 s   31 of 32 lanes   1 error");
}

TEST_CASE("where a time rules, share and time left come from it") {
  ProgressSample sample = Half();
  sample.total_bytes = 0;
  sample.total_s = 32;
  CHECK(FormatProgress(sample, 100) == "2/6 random read   25 %   64 MiB/s   left 24 s   31 of 32 lanes");
  sample.elapsed_s = 40;
  CHECK(FormatProgress(sample, 100) == "2/6 random read   100 %   64 MiB/s   left 0 s   31 of 32 lanes");
}

TEST_CASE("what nobody knows is not shown") {
  ProgressSample sample = Half();
  sample.bytes = 0;
  sample.bytes_per_s = 0;
  CHECK(FormatProgress(sample, 100) == "2/6 random read   0 %   0 B/s   31 of 32 lanes");
  sample.total_bytes = 0;
  CHECK(FormatProgress(sample, 100) == "2/6 random read   0 B/s   31 of 32 lanes");
}

TEST_CASE("the phase is never shown as done while something is left") {
  ProgressSample sample = Half();
  sample.bytes = sample.total_bytes - 1;
  CHECK(FormatProgress(sample, 100).find("   99 %") != std::string::npos);
}

TEST_CASE("a narrow terminal loses the least important parts, the throughput last") {
  ProgressSample sample = Half();
  sample.errors = 2;
  CHECK(FormatProgress(sample, 58) == "2/6 random read   50 %   64 MiB/s   left 8 s   2 errors");
  CHECK(FormatProgress(sample, 45) == "2/6 random read   50 %   64 MiB/s   2 errors");
  CHECK(FormatProgress(sample, 20) == "64 MiB/s   2 errors");
  CHECK(FormatProgress(sample, 18) == "64 MiB/s");
  for (size_t width = 1; width < 120; ++width) CHECK(DisplayColumns(FormatProgress(sample, width)) <= width);
}

TEST_CASE("a phase name cannot break the line") {
  ProgressSample sample = Half();
  sample.phase = "evil\n\033[2J" + std::string(200, 'x');
  const std::string line = FormatProgress(sample, 100);
  CHECK(line.find_first_of("\n\033\r") == std::string::npos);
  CHECK(DisplayColumns(line) <= 100);
}

TEST_CASE("on a terminal the line is rewritten in place and can be cleared") {
  Pipe pipe;
  ProgressLine line(pipe.writer(), With(ProgressOptions::Mode::kRewrite));
  line.Clear();
  CHECK(pipe.Take().empty());
  line.Update(Half());
  CHECK(pipe.Take() == "\r\033[K" + FormatProgress(Half(), 99));
  line.Clear();
  CHECK(pipe.Take() == "\r\033[K");
  line.Clear();
  CHECK(pipe.Take().empty());
}

TEST_CASE("a line that is shown goes away with its object") {
  Pipe pipe;
  {
    ProgressLine line(pipe.writer(), With(ProgressOptions::Mode::kRewrite));
    line.Update(Half());
    pipe.Take();
  }
  CHECK(pipe.Take() == "\r\033[K");
}

TEST_CASE("in a log there is a line every five seconds and at each new phase") {
  Pipe pipe;
  ProgressLine line(pipe.writer(), With(ProgressOptions::Mode::kLines));
  ProgressSample sample = Half();
  line.Update(sample);
  CHECK(pipe.Take() == FormatProgress(sample, 100) + "\n");
  sample.elapsed_s = 12.9;
  line.Update(sample);
  CHECK(pipe.Take().empty());
  sample.elapsed_s = 13;
  line.Update(sample);
  CHECK(pipe.Take() == FormatProgress(sample, 100) + "\n");
  sample.index = 2;
  sample.elapsed_s = 0.1;
  line.Update(sample);
  CHECK(pipe.Take() == FormatProgress(sample, 100) + "\n");
}

TEST_CASE("silent is silent") {
  Pipe pipe;
  ProgressLine line(pipe.writer(), With(ProgressOptions::Mode::kSilent));
  line.Update(Half());
  line.Clear();
  CHECK(pipe.Take().empty());
}

TEST_CASE("a terminal that takes nothing is not waited for") {
  Pipe pipe;
  const int flags = ::fcntl(pipe.writer(), F_GETFL);
  const std::string filler(4096, 'x');
  while (::write(pipe.writer(), filler.data(), filler.size()) > 0) {
  }
  ::fcntl(pipe.writer(), F_SETFL, flags & ~O_NONBLOCK);  // a blocked write would now hang this test
  ProgressLine line(pipe.writer(), With(ProgressOptions::Mode::kRewrite));
  line.Update(Half());
  line.Clear();
  CHECK(pipe.Take() == filler);
}

TEST_CASE("a pipe gets nothing unless it is asked for, a terminal is rewritten at its own width") {
  Pipe pipe;
  CHECK(ProgressOptionsFor(pipe.writer(), false).mode == ProgressOptions::Mode::kSilent);
  CHECK(ProgressOptionsFor(pipe.writer(), true).mode == ProgressOptions::Mode::kLines);

  const int controller = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
  REQUIRE(controller >= 0);
  REQUIRE(::grantpt(controller) == 0);
  REQUIRE(::unlockpt(controller) == 0);
  const int terminal = ::open(::ptsname(controller), O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  struct winsize size = {};
  size.ws_col = 44;  // as wide as the line: one column has to stay free
  size.ws_row = 24;
  REQUIRE(::ioctl(terminal, TIOCSWINSZ, &size) == 0);
  const char* old_term = ::getenv("TERM");
  const std::string restored = old_term == nullptr ? "" : old_term;
  ::setenv("TERM", "dumb", 1);
  CHECK(ProgressOptionsFor(terminal, false).mode == ProgressOptions::Mode::kSilent);
  ::setenv("TERM", "xterm", 1);
  REQUIRE(FormatProgress(Half(), 44) != FormatProgress(Half(), 43));
  const ProgressOptions options = ProgressOptionsFor(terminal, false);
  CHECK(options.mode == ProgressOptions::Mode::kRewrite);
  old_term == nullptr ? ::unsetenv("TERM") : ::setenv("TERM", restored.c_str(), 1);
  {
    ProgressLine line(terminal, options);
    line.Update(Half());
    char text[256];
    const ssize_t count = ::read(controller, text, sizeof(text));
    REQUIRE(count > 0);
    CHECK(std::string(text, static_cast<size_t>(count)) == "\r\033[K" + FormatProgress(Half(), 43));
  }
  ::close(terminal);
  ::close(controller);
}

}  // namespace
}  // namespace iobench
