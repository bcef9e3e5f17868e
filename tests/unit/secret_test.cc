#include "common/process/secret.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <new>
#include <utility>

namespace iobench {
namespace {

constexpr char kShort[] = "sixteen-letters";  // within a std::string itself
constexpr char kLong[] = "a token of many letters, which a std::string keeps on the heap";

// Whether `text` is anywhere in the memory of a string whose lifetime has ended.
bool IsIn(const std::byte* memory, size_t bytes, const std::string& text) {
  return std::string(reinterpret_cast<const char*>(memory), bytes).find(text) != std::string::npos;
}

TEST_CASE("a secret's memory is overwritten when it ends, is moved or is replaced") {
  alignas(Secret) std::byte memory[sizeof(Secret)];
  {
    Secret* const secret = new (memory) Secret(kShort);
    CHECK(IsIn(memory, sizeof(memory), kShort));
    secret->~Secret();
    CHECK_FALSE(IsIn(memory, sizeof(memory), kShort));
  }
  {
    Secret* const secret = new (memory) Secret(kShort);
    const Secret moved = std::move(*secret);
    CHECK(moved.text() == kShort);
    CHECK_FALSE(IsIn(memory, sizeof(memory), kShort));
    *secret = Secret(kShort);
    *secret = Secret("another");
    CHECK_FALSE(IsIn(memory, sizeof(memory), kShort));
    secret->~Secret();
  }
}

TEST_CASE("all of a string's memory is wiped, beyond its end too") {
  std::string text = kLong;
  const char* const at = text.data();
  const std::string_view whole(at, text.size());
  text.resize(3);
  Secret::Wipe(text);
  CHECK(text.empty());
  CHECK(whole.find_first_not_of('\0') == std::string_view::npos);  // the string still owns this memory
}

TEST_CASE("copies and comparisons of secrets are those of their texts") {
  const Secret one(kLong);
  Secret other;
  CHECK(other.empty());
  other = one;
  CHECK(other == one);
  CHECK(other.text() == kLong);
  CHECK(std::string_view(other) == kLong);
  other = Secret("x");
  CHECK_FALSE(other == one);
  CHECK(other.size() == 1);
}

// In a process of its own, since it cannot be undone.
TEST_CASE("a process leaves no core dump once it has a secret, and may as long as it has none") {
  const pid_t child = ::fork();
  if (child == 0) {
    rlimit limit{};
    ::getrlimit(RLIMIT_CORE, &limit);
    const rlim_t most = limit.rlim_max;
    limit.rlim_cur = most;
    ::setrlimit(RLIMIT_CORE, &limit);
    const Secret none;
    ::getrlimit(RLIMIT_CORE, &limit);
    if (limit.rlim_cur != most) ::_exit(1);
    const Secret some(kShort);
    ::getrlimit(RLIMIT_CORE, &limit);
    ::_exit(limit.rlim_cur <= 1 ? 0 : 2);
  }
  int wait_status = 0;
  REQUIRE(::waitpid(child, &wait_status, 0) == child);
  CHECK(wait_status == 0);
}

}  // namespace
}  // namespace iobench
