#include "common/program.h"

#include <signal.h>
#include <sys/time.h>

#include <catch2/catch.hpp>

namespace iobench {
namespace {

std::string MessageOf(const absl::Status& status) {
  return std::string(status.message());
}

// Interrupts system calls of this thread every 10 ms while it lives, as a handler without SA_RESTART does.
class Interruptions {
 public:
  Interruptions() {
    struct sigaction action {};
    action.sa_handler = [](int) { count = count + 1; };
    sigaction(SIGALRM, &action, &before_);
    const itimerval often{.it_interval = {0, 10'000}, .it_value = {0, 10'000}};
    setitimer(ITIMER_REAL, &often, nullptr);
  }
  ~Interruptions() {
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before_, nullptr);
  }
  static inline volatile sig_atomic_t count = 0;

 private:
  struct sigaction before_ {};
};

TEST_CASE("a program that ends well is told as well, whatever it says") {
  CHECK(RunProgram({"sh", "-c", "echo all is well"}).ok());
}

TEST_CASE("a program that fails is told with what it said on either output, as one line") {
  const absl::Status status = RunProgram({"sh", "-c", "echo one; echo '  two' >&2; exit 3"});
  CHECK(absl::IsInternal(status));
  CHECK_THAT(MessageOf(status), Catch::EndsWith("failed (exit code 3): one; two"));
  CHECK_THAT(MessageOf(RunProgram({"sh", "-c", "kill -9 $$"})),
             Catch::EndsWith("failed (signal 9 (KILL)): it said nothing"));
}

TEST_CASE("more than a pipe holds does not stop a program") {
  CHECK_THAT(MessageOf(RunProgram({"sh", "-c", "yes | head -c 200000; exit 4"})),
             Catch::Contains("(exit code 4): y; y;"));
}

TEST_CASE("a program that is not there is not found") {
  CHECK(absl::IsNotFound(RunProgram({"no-such-program-here"})));
}

TEST_CASE("signals do not end the wait for a program, nor make its failure a success") {
  Interruptions::count = 0;
  const Interruptions interruptions;
  const absl::Status status =
      RunProgram({"sh", "-c", "sleep 0.1; echo too late; exec >&- 2>&-; sleep 0.1; exit 5"});
  CHECK_THAT(MessageOf(status), Catch::EndsWith("failed (exit code 5): too late"));
  CHECK(Interruptions::count > 0);
}

}  // namespace
}  // namespace iobench
