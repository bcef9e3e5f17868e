#include "worker/metadata/lock_turns.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "common/unique_fd.h"
#include "tests/support/temp_dir.h"
#include "worker/engine/file_lock.h"
#include "worker/loop/lane_context.h"

namespace iobench {
namespace {

// A file that lanes lock, each with a descriptor of its own.
class LockedFile {
 public:
  UniqueFd Opened() const {
    UniqueFd fd(::open((directory_ / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    REQUIRE(fd.valid());
    return fd;
  }
  std::vector<uint64_t> Counts() const {
    const std::string text = directory_.Read("lock");
    std::vector<uint64_t> counts(text.size() / 8);
    std::memcpy(counts.data(), text.data(), counts.size() * 8);
    return counts;
  }
  void SetCount(size_t at, uint64_t count) const {
    const UniqueFd fd = Opened();
    REQUIRE(::pwrite(fd.get(), &count, 8, static_cast<off_t>(8 * at)) == 8);
  }

 private:
  TempDir directory_{ParentOnDisk()};
};

struct Lane {
  Lane(const LockedFile& file, uint32_t lane) : fd(file.Opened()), turns(fd.get(), lane, nullptr) {}
  int64_t Takes() {
    const int64_t waited = turns.Wait(*never);
    if (waited == 0) turns.After({}, nullptr, {});
    return waited;
  }
  UniqueFd fd;
  LockTurns turns;
  std::unique_ptr<Interrupter> never = *Interrupter::Create([] { return false; }, 1'000'000);
};

TEST_CASE("each turn counts for its lane and for all") {
  const LockedFile file;
  Lane first(file, 0), third(file, 2);
  for (int turn = 0; turn < 3; ++turn) CHECK(first.Takes() == 0);
  for (int turn = 0; turn < 2; ++turn) CHECK(third.Takes() == 0);
  CHECK(first.Takes() == 0);
  const std::vector<uint64_t> counts = file.Counts();
  CHECK(counts == std::vector<uint64_t>{6, 4, 0, 2});
  CHECK(first.turns.CheckAtEnd(file.Opened().get()) == 0);
  CHECK(third.turns.CheckAtEnd(file.Opened().get()) == 0);
  Lane later(file, 100);  // the file grows
  CHECK(later.Takes() == 0);
  CHECK(first.Takes() == 0);
  CHECK(file.Counts().size() == 102);
}

TEST_CASE("a turn of another lane that is lost is found, once") {
  const LockedFile file;
  Lane first(file, 0), second(file, 1);
  CHECK(first.Takes() == 0);
  CHECK(second.Takes() == 0);
  file.SetCount(0, 1);  // the first turn of one of them was written over
  CHECK(first.Takes() == 0);          // what it finds is told by the next one
  CHECK(first.Takes() == -EBADMSG);
  CHECK(first.Takes() == 0);
  CHECK(first.turns.CheckAtEnd(file.Opened().get()) == 0);
}

TEST_CASE("a lane finds at its end that its own last turn was lost") {
  const LockedFile file;
  Lane first(file, 0), second(file, 1);
  CHECK(second.Takes() == 0);
  CHECK(first.Takes() == 0);
  file.SetCount(0, 1);
  file.SetCount(1, 0);  // as if nothing had happened: the sum is right
  CHECK(second.Takes() == 0);
  CHECK(second.turns.CheckAtEnd(file.Opened().get()) == 0);
  CHECK(first.turns.CheckAtEnd(file.Opened().get()) == -EBADMSG);
}

TEST_CASE("a lane that had its turn lets another one go first") {
  const LockedFile file;
  Lane first(file, 0), second(file, 1);
  CHECK(first.Takes() == 0);
  const UniqueFd other = file.Opened();
  REQUIRE(WaitForLock(other.get(), LockKind::kWrite, {}) == 0);
  first.turns.Before({});  // returns: another has the lock
  REQUIRE(Unlock(other.get(), {}) == 0);
  CHECK(first.Takes() == 0);
  CHECK(second.Takes() == 0);
  first.turns.Before({});  // or has had it
  // Turns of two lanes that are always ready alternate, unless one is kept from the processor for the patience.
  std::vector<uint32_t> order;  // under the lock
  const auto take_turns = [&order](Lane& lane, uint32_t number) {
    for (int turn = 0; turn < 50; ++turn) {
      lane.turns.Before({});
      if (lane.turns.Wait(*lane.never) != 0) return;
      order.push_back(number);
      lane.turns.After({}, nullptr, {});
    }
  };
  {
    Lane third(file, 2), fourth(file, 3);
    std::jthread one([&] { take_turns(third, 2); });
    std::jthread two([&] { take_turns(fourth, 3); });
    one.join();
    two.join();
  }
  REQUIRE(order.size() == 100);
  size_t handed_over = 0;
  for (size_t i = 1; i < order.size(); ++i) handed_over += order[i] != order[i - 1] ? 1 : 0;
  CHECK(handed_over > 50);
}

TEST_CASE("a wait for a lock that another keeps is given up when the phase is over") {
  const LockedFile file;
  const UniqueFd holder = file.Opened();
  REQUIRE(WaitForLock(holder.get(), LockKind::kWrite, {}) == 0);
  Lane lane(file, 0);
  int looks = 0;
  const auto interrupter = Interrupter::Create([&looks] { return ++looks == 5; }, 1'000'000);
  REQUIRE(interrupter.ok());
  CHECK(lane.turns.Wait(**interrupter) == kGivenUp);
  CHECK((*interrupter)->over());
  CHECK(lane.turns.CheckAtEnd(file.Opened().get()) == 0);  // it never had it
}

}  // namespace
}  // namespace iobench
