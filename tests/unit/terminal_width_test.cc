// Text for people is as wide as its terminal.
#include "common/text/terminal_width.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <utility>

#include "common/unique_fd.h"

namespace iobench {
namespace {

// A terminal of this width; 0: it does not know its own.
class Terminal {
 public:
  explicit Terminal(unsigned short columns) {
    struct winsize size = {};
    size.ws_col = columns;
    int ours = -1, theirs = -1;
    REQUIRE(openpty(&ours, &theirs, nullptr, nullptr, &size) == 0);
    ours_ = UniqueFd(ours);
    theirs_ = UniqueFd(theirs);
  }
  int fd() const { return theirs_.get(); }

 private:
  UniqueFd ours_, theirs_;
};

constexpr char kLong[] = "cluster-iobench: cannot write there: name a directory for the results with --out";

// Without the COLUMNS of whoever runs the test.
const bool no_columns = unsetenv("COLUMNS") == 0;

TEST_CASE("COLUMNS says how wide text is, unless it is no number", "[terminal_width]") {
  const UniqueFd file(open("/dev/null", O_WRONLY | O_CLOEXEC));
  const Terminal terminal(80);
  for (const auto& [value, columns] : {std::pair{"140", 140u}, {"20", 40u}, {"0", 80u}, {"wide", 80u}}) {
    setenv("COLUMNS", value, 1);
    CHECK(TextColumns(terminal.fd()) == columns);
  }
  setenv("COLUMNS", "120", 1);
  CHECK(TextColumns(file.get()) == 120);
  unsetenv("COLUMNS");
}

TEST_CASE("colors take no columns", "[terminal_width]") {
  const std::string line = "\033[1m" + std::string(40, 'x') + "\033[0m";
  CHECK(LinesFor(Terminal(40).fd(), line) == line);
}

TEST_CASE("text has the terminal's width, and a fixed one where there is none", "[terminal_width]") {
  REQUIRE(no_columns);
  CHECK(TextColumns(Terminal(80).fd()) == 80);
  CHECK(TextColumns(Terminal(0).fd()) == kPipedColumns);
  CHECK(TextColumns(Terminal(20).fd()) == 40);
  CHECK(TextColumns(Terminal(400).fd()) == 160);
  const UniqueFd file(open("/dev/null", O_WRONLY | O_CLOEXEC));
  CHECK(TextColumns(file.get()) == kPipedColumns);
}

TEST_CASE("a line that is too long for a terminal goes on below, and is one line elsewhere", "[terminal_width]") {
  const Terminal narrow(40), wide(100);
  CHECK(LinesFor(narrow.fd(), kLong) ==
        "cluster-iobench: cannot write there:\n  name a directory for the results with\n  --out");
  CHECK(LinesFor(narrow.fd(), "  a   b\nshort\n") == "  a   b\nshort\n");
  CHECK(LinesFor(narrow.fd(), std::string("  space  ") + kLong) ==
        "  space  cluster-iobench: cannot write\n    there: name a directory for the\n    results with --out");
  CHECK(LinesFor(wide.fd(), kLong) == kLong);
  const UniqueFd file(open("/dev/null", O_WRONLY | O_CLOEXEC));
  CHECK(LinesFor(file.get(), kLong) == kLong);
}

TEST_CASE("a text hangs beside what begins it, or below if there is no room", "[terminal_width]") {
  CHECK(Hanging("  -i", 6, "one two three", 14) == "  -i  one two\n      three\n");
  CHECK(Hanging("  --long", 6, "one", 14) == "  --long\n      one\n");
  CHECK(Hanging("  --flag", 20, "", 80) == "  --flag\n");
}

}  // namespace
}  // namespace iobench
