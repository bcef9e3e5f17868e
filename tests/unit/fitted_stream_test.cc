#include "coordinator/process/fitted_stream.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <sstream>

#include "common/unique_fd.h"

namespace iobench {
namespace {

TEST_CASE("lines that are too long for a terminal are broken as they end, and a last one without an end follows") {
  struct winsize size = {};
  size.ws_col = 40;
  int ours = -1, theirs = -1;
  REQUIRE(openpty(&ours, &theirs, nullptr, nullptr, &size) == 0);
  const UniqueFd terminal(ours), program(theirs);
  std::ostringstream out;
  {
    const FittedStream fitted(out, program.get());
    out << "one line of " << 9 << " words that is too long ";
    out << "for it\nshort\nno end" << std::flush;
  }
  CHECK(out.str() == "one line of 9 words that is too long for\n  it\nshort\nno end");
}

TEST_CASE("elsewhere text stays as it is") {
  const UniqueFd file(open("/dev/null", O_WRONLY | O_CLOEXEC));
  std::ostringstream out;
  const FittedStream fitted(out, file.get());
  const std::string line(300, 'x');
  out << line;
  CHECK(out.str() == line);
}

}  // namespace
}  // namespace iobench
