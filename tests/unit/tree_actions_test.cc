#include "worker/check/tree_actions.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "common/digest/xxh3.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "tests/support/temp_dir.h"
#include "worker/check/group_trial.h"
#include "worker/check/mapped_contents.h"

namespace iobench {
namespace {

constexpr uint64_t kRunId = 0xabc;

// One worker at a directory that others may share.
struct TreeWorker {
  const TempDir& directory;
  TreeActions actions;

  explicit TreeWorker(const TempDir& at) : directory(at) {}

  static v1::FileAction Action(v1::FileAction::What what, uint32_t file = 0,
                               const std::string& contents = "") {
    v1::FileAction action;
    action.set_what(what);
    action.set_directory(1);
    action.set_file(file);
    action.set_contents(contents);
    return action;
  }
  v1::FileActionResult Do(const v1::FileAction& action) {
    v1::FileActionResult result;
    const absl::StatusOr<CheckTree> tree = CheckTree::At(directory.path(), kRunId);
    const absl::Status status = tree.ok()
                                    ? actions.Act(
                                          *tree, action, [] { return WorkerTime{MonotonicNowNs()}; }, result)
                                    : tree.status();
    if (!status.ok()) *result.mutable_problem() = ToProblem(status);
    return result;
  }
  v1::FileActionResult Do(v1::FileAction::What what, uint32_t file = 0, const std::string& contents = "") {
    return Do(Action(what, file, contents));
  }
  int ErrnoAfter(const v1::FileAction& action) { return Do(action).problem().errno_value(); }
  void Make() { REQUIRE(Do(v1::FileAction::MAKE_DIRECTORY).problem().code() == 0); }
  void Write(uint32_t file, const std::string& contents) {
    v1::FileAction action = Action(v1::FileAction::WRITE, file, contents);
    action.mutable_how()->set_create(true);
    action.mutable_how()->set_truncate(true);
    REQUIRE(Do(action).problem().code() == 0);
  }
  void Open(uint32_t file, bool write) {
    v1::FileAction action = Action(v1::FileAction::OPEN, file);
    action.set_held(1);
    action.mutable_how()->set_write(write);
    REQUIRE(Do(action).problem().code() == 0);
  }
};

std::string Tree(const std::string& below = "") {
  return "cluster-iobench.validate-0000000000000abc" + below;
}

TEST_CASE("files are written, changed, read and removed in the run's own directory") {
  TempDir directory;
  TreeWorker worker(directory);
  worker.Make();
  worker.Make();  // another worker has made it
  worker.Write(3, "hello");
  CHECK(directory.Read(Tree("/d1/f3")) == "hello");
  const v1::FileActionResult read = worker.Do(v1::FileAction::READ, 3);
  CHECK(read.contents_xxh3() == Xxh3Of("hello"));
  CHECK(read.facts().bytes() == 5);
  CHECK(read.facts().user() == read.facts().process_user());
  CHECK(read.facts().modified_ns() > 0);
  CHECK(read.begin_wall_ns() <= read.end_wall_ns());

  v1::FileAction overwrite = TreeWorker::Action(v1::FileAction::WRITE, 3, "J");
  CHECK(worker.Do(overwrite).problem().code() == 0);
  CHECK(directory.Read(Tree("/d1/f3")) == "Jello");
  overwrite.mutable_how()->set_append(true);
  worker.Do(overwrite);
  CHECK(directory.Read(Tree("/d1/f3")) == "JelloJ");
  v1::FileAction truncate = TreeWorker::Action(v1::FileAction::TRUNCATE, 3);
  truncate.set_offset(2);
  worker.Do(truncate);
  CHECK(directory.Read(Tree("/d1/f3")) == "Je");
  v1::FileAction move = TreeWorker::Action(v1::FileAction::RENAME, 3);
  move.set_to_file(4);
  worker.Do(move);
  CHECK(worker.ErrnoAfter(TreeWorker::Action(v1::FileAction::READ, 3)) == ENOENT);
  move.set_what(v1::FileAction::LINK);
  move.set_file(4);
  move.set_to_file(5);
  worker.Do(move);
  CHECK(worker.Do(v1::FileAction::STAT, 5).facts().links() == 2);
  worker.Do(v1::FileAction::REMOVE, 4);
  CHECK_FALSE(directory.Has(Tree("/d1/f4")));
  v1::FileAction all = TreeWorker::Action(v1::FileAction::REMOVE_DIRECTORY);
  all.set_directory(0);
  CHECK(worker.Do(all).problem().code() == 0);
  CHECK_FALSE(directory.Has(Tree()));
  CHECK(worker.Do(all).problem().code() == 0);  // somebody else has removed it
}

// Two workers that have file 1 open, of which the first holds its lock.
struct WaitForLock {
  TempDir directory;
  TreeWorker holder{directory}, waiter{directory};
  v1::FileAction lock = TreeWorker::Action(v1::FileAction::LOCK, 1);

  explicit WaitForLock(bool flock) {
    holder.Make();
    holder.Write(1, "x");
    holder.Open(1, true);
    waiter.Open(1, true);
    lock.set_held(1);
    lock.mutable_lock()->set_flock(flock);
    REQUIRE(holder.Do(lock).problem().code() == 0);
    lock.mutable_lock()->set_waits(true);
  }
};

TEST_CASE(
    "the kernel waits for a lock until its holder releases it, the time is over, or the worker is to stop") {
  for (const bool flock : {false, true}) {
    INFO("flock " << flock);
    WaitForLock timed(flock);
    timed.lock.set_timeout_ms(200);
    const int64_t begin_ns = MonotonicNowNs();
    CHECK(timed.waiter.ErrnoAfter(timed.lock) == EAGAIN);
    CHECK(MonotonicNowNs() - begin_ns >= 200'000'000);

    WaitForLock stopped(flock);
    stopped.lock.set_timeout_ms(100'000);
    std::thread stop([&] { stopped.waiter.actions.Cancel(); });
    CHECK(stopped.waiter.ErrnoAfter(stopped.lock) == EAGAIN);
    stop.join();

    WaitForLock released(flock);
    released.lock.set_timeout_ms(100'000);
    // With an interval of an hour: whoever asks again and again would not have it in this time.
    released.lock.set_interval_ms(3'600'000);
    v1::FileAction unlock = released.lock;
    unlock.set_what(v1::FileAction::UNLOCK);
    std::thread release([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      released.holder.Do(unlock);
    });
    CHECK(released.waiter.ErrnoAfter(released.lock) == 0);
    release.join();
    released.lock.clear_lock();
    released.lock.mutable_lock()->set_flock(flock);
    released.lock.clear_timeout_ms();
    CHECK(released.holder.ErrnoAfter(released.lock) == EAGAIN);
  }
}

TEST_CASE(
    "a user's groups are tried with a file that it gives to each; as root, with those of another user") {
  TempDir directory;
  TreeWorker worker(directory);
  worker.Make();
  const v1::FileActionResult result = worker.Do(v1::FileAction::TRY_GROUPS, 1);
  REQUIRE(result.problem().code() == 0);
  const v1::GroupsTried& tried = result.groups();
  CHECK(tried.honoured() == tried.groups());
  CHECK(tried.refused_errno() == 0);
  CHECK(tried.file_owner() == tried.user());
  if (::geteuid() == 0) {
    CHECK(tried.user() == 61234);
    CHECK(tried.groups() == 16);
    CHECK(tried.more_honoured());  // a local file system honours more than 16
  } else {
    CHECK(tried.user() == ::geteuid());
  }
  CHECK(::geteuid() == worker.Do(v1::FileAction::CREATE, 2).facts().process_user());  // still itself
  CHECK_FALSE(directory.Has(Tree("/d1/f1")));
}

TEST_CASE(
    "trials run one after the other, also as another user; one that is unknown is a problem of its own") {
  TempDir directory;
  TreeWorker worker(directory);
  worker.Make();
  v1::FileAction action = TreeWorker::Action(v1::FileAction::TRY, 1);
  for (const char* const name : {"symlink", "no-such-trial", "link"}) action.add_trials(name);
  for (const bool as_another : {false, true}) {
    if (as_another && ::geteuid() != 0) continue;  // only root may
    if (as_another) action.mutable_as_user()->set_user(61234);
    const v1::FileActionResult result = worker.Do(action);
    REQUIRE(result.problem().code() == 0);
    REQUIRE(result.trials_size() == 3);
    CHECK(result.trials(0).answer() == "yes");
    CHECK(result.trials(1).problem().code() != 0);
    CHECK(result.trials(2).answer() == "yes");
  }
  CHECK(::geteuid() == worker.Do(v1::FileAction::CREATE, 2).facts().process_user());  // still itself
}

TEST_CASE("trials of owners: two users on the same names, and nothing is left") {
  if (::geteuid() != 0) return;  // only root may act as others
  TempDir directory;
  TreeWorker worker(directory);
  worker.Make();
  const auto answers = [&worker](uint32_t user, const std::vector<const char*>& names) {
    v1::FileAction action = TreeWorker::Action(v1::FileAction::TRY, 1);
    for (const char* const name : names) action.add_trials(name);
    if (user != 0) {
      action.mutable_as_user()->set_user(user);
      action.mutable_as_user()->set_group(user);
    }
    std::vector<std::string> all;
    const v1::FileActionResult result = worker.Do(action);
    for (const v1::TrialResult& trial : result.trials()) all.push_back(trial.answer());
    return all;
  };
  using Answers = std::vector<std::string>;
  const mode_t mask = ::umask(022);
  CHECK(answers(0, {"make-shared", "make-sticky", "give-away"}) == Answers{"yes", "yes", "yes"});
  CHECK(answers(61234, {"own-file", "modes", "no-rights", "umask", "give-away", "inherit",
                        "leave-in-sticky"}) == Answers{"yes", "yes", "EACCES", "yes", "EPERM", "yes", "yes"});
  CHECK(answers(61234, {"read-file"}) == Answers{"yes"});
  CHECK(answers(61235, {"read-file", "remove-from-sticky"}) == Answers{"EACCES", "EPERM"});
  CHECK(answers(0, {"clear-owners"}) == Answers{"yes"});
  CHECK(::umask(mask) == 022);  // other threads keep theirs
  for (const char* const name : {"own", "sticky", "shared", "modes", "umask", "umask-directory"}) {
    CHECK_FALSE(directory.Has(Tree("/d1/f1.") + name));
  }
}

TEST_CASE("trials that are interrupted leave directories with files, which go with the tree") {
  TempDir directory;
  TreeWorker worker(directory);
  worker.Make();
  v1::FileAction action = TreeWorker::Action(v1::FileAction::TRY, 1);
  for (const char* const name : {"make-sticky", "leave-in-sticky"}) action.add_trials(name);
  worker.Do(action);
  REQUIRE(directory.Has(Tree("/d1/f1.sticky/file")));
  CHECK(worker.Do(v1::FileAction::REMOVE_DIRECTORY, 0).problem().code() == 0);
  CHECK_FALSE(directory.Has(Tree("/d1")));
}

TEST_CASE("a primary group among the 16 lowest takes one of the places of AUTH_SYS, and is not tried") {
  std::vector<gid_t> groups;
  for (gid_t group = 117; group > 100; --group) groups.push_back(group);  // 17 of them
  const std::vector<gid_t> lowest_sixteen = {101, 102, 103, 104, 105, 106, 107, 108,
                                             109, 110, 111, 112, 113, 114, 115, 116};
  const TrialGroups without = TrialGroupsOf(groups, 1000);
  CHECK(without.sent == lowest_sixteen);
  CHECK(without.more == std::vector<gid_t>{117});
  const TrialGroups lowest = TrialGroupsOf(groups, 101);
  CHECK(lowest.sent == std::vector<gid_t>(lowest_sixteen.begin() + 1, lowest_sixteen.end()));
  CHECK(lowest.more == std::vector<gid_t>{117});
  const TrialGroups highest = TrialGroupsOf(groups, 117);
  CHECK(highest.sent == lowest_sixteen);
  CHECK(highest.more.empty());
}

TEST_CASE("what is written beyond a limit fails, and what was flushed before is there") {
  TempDir directory;
  TreeWorker worker(directory);
  worker.Make();
  v1::FileAction overfill = TreeWorker::Action(v1::FileAction::OVERFILL, 1);
  overfill.set_offset(40_MiB);
  const v1::FileActionResult all = worker.Do(overfill);
  REQUIRE(all.problem().code() == 0);
  CHECK(all.overfilled().failed_call().empty());
  CHECK(all.overfilled().written_bytes() == 40_MiB);
  CHECK(all.overfilled().flushed_bytes() == 40_MiB);
  CHECK(all.overfilled().bad_bytes() == 0);
  CHECK_FALSE(directory.Has(Tree("/d1/f1")));

  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{.rlim_cur = 20_MiB, .rlim_max = before.rlim_max};
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const v1::FileActionResult part = worker.Do(overfill);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  REQUIRE(part.problem().code() == 0);
  CHECK(part.overfilled().failed_call() == "write");
  CHECK(part.overfilled().errno_value() == EFBIG);
  CHECK(part.overfilled().written_bytes() == 20_MiB);
  CHECK(part.overfilled().flushed_bytes() == 16_MiB);
  CHECK(part.overfilled().bad_bytes() == 0);
  overfill.set_offset(uint64_t{2} << 40);
  CHECK(absl::IsInvalidArgument(ToStatus(worker.Do(overfill).problem())));
}

TEST_CASE("an exclusive create fails if the name exists, and no link is followed") {
  TempDir directory;
  TreeWorker worker(directory);
  worker.Make();
  worker.Write(1, "x");
  v1::FileAction create = TreeWorker::Action(v1::FileAction::WRITE, 1);
  create.mutable_how()->set_create(true);
  create.mutable_how()->set_exclusive(true);
  CHECK(worker.ErrnoAfter(create) == EEXIST);
  directory.Write("secret", "secret");
  std::filesystem::create_symlink(directory.path() + "/secret", directory.path() + "/" + Tree("/d1/f2"));
  CHECK(worker.ErrnoAfter(TreeWorker::Action(v1::FileAction::READ, 2)) == ELOOP);
  CHECK(worker.ErrnoAfter(TreeWorker::Action(v1::FileAction::WRITE, 2, "x")) == ELOOP);
  CHECK(directory.Read("secret") == "secret");
  std::filesystem::create_directory_symlink(directory.path(), directory.path() + "/" + Tree("/d9"));
  v1::FileAction outside = TreeWorker::Action(v1::FileAction::FILL, 1);
  outside.set_directory(9);
  outside.set_count(1);
  CHECK(worker.Do(outside).problem().code() != 0);
  CHECK_FALSE(directory.Has("f1"));
}

TEST_CASE("names of all styles") {
  TempDir directory;
  TreeWorker worker(directory);
  worker.Make();
  for (const auto style : {v1::FileAction::LONGEST, v1::FileAction::UTF8, v1::FileAction::TOO_LONG}) {
    v1::FileAction action = TreeWorker::Action(v1::FileAction::CREATE, 7, "x");
    action.set_style(style);
    CHECK(worker.ErrnoAfter(action) == (style == v1::FileAction::TOO_LONG ? ENAMETOOLONG : 0));
  }
  CHECK(TreeFileName(7, v1::FileAction::LONGEST).size() == 255);
}

TEST_CASE("a listing counts names, and which of a range are missing") {
  TempDir directory;
  TreeWorker worker(directory);
  worker.Make();
  v1::FileAction fill = TreeWorker::Action(v1::FileAction::FILL, 10);
  fill.set_count(5);
  CHECK(worker.Do(fill).count() == 5);
  worker.Do(v1::FileAction::REMOVE, 12);
  directory.Write(Tree("/d1/f010"), "not one of them");
  fill.set_what(v1::FileAction::LIST);
  const v1::FileActionResult listed = worker.Do(fill);
  CHECK(listed.names().listed() == 5);
  CHECK(listed.names().missing() == 1);
  CHECK(listed.names().first_missing() == 12);
  CHECK(listed.names().doubled() == 0);
  fill.set_what(v1::FileAction::EMPTY);
  CHECK(worker.Do(fill).count() == 2);  // up to the one that is gone
}

TEST_CASE("locks exclude other open files, and closing releases them") {
  TempDir directory;
  TreeWorker first(directory), second(directory);
  first.Make();
  first.Write(1, "x");
  for (const bool flock : {false, true}) {
    first.Open(1, true);
    second.Open(1, true);
    v1::FileAction lock = TreeWorker::Action(v1::FileAction::LOCK, 1);
    lock.set_held(1);
    lock.mutable_lock()->set_flock(flock);
    CHECK(first.Do(lock).problem().code() == 0);
    CHECK(second.ErrnoAfter(lock) == EAGAIN);
    lock.set_timeout_ms(30);
    CHECK(second.ErrnoAfter(lock) == EAGAIN);
    v1::FileAction close = TreeWorker::Action(v1::FileAction::CLOSE_HELD, 1);
    close.set_held(1);
    CHECK(first.Do(close).problem().code() == 0);
    CHECK(second.Do(lock).problem().code() == 0);
    lock.set_what(v1::FileAction::UNLOCK);
    CHECK(second.Do(lock).problem().code() == 0);
    second.Do(close);
  }
  CHECK(first.Do(v1::FileAction::READ_HELD, 1).problem().code() != 0);  // it is closed
}

TEST_CASE("counting under a lock and appending leave what they should") {
  TempDir directory;
  TreeWorker first(directory), second(directory);
  first.Make();
  v1::FileAction count = TreeWorker::Action(v1::FileAction::COUNT_UP, 1);
  count.set_count(10);
  CHECK(first.Do(count).count() == 10);
  CHECK(second.Do(count).count() == 10);
  const uint64_t due = 20;
  const std::string_view bytes(reinterpret_cast<const char*>(&due), sizeof due);
  CHECK(first.Do(v1::FileAction::READ, 1).contents_xxh3() == Xxh3Of(bytes));
  v1::FileAction append = TreeWorker::Action(v1::FileAction::APPEND_RECORDS, 2, "worker 1");
  append.set_count(3);
  CHECK(first.Do(append).problem().code() == 0);
  CHECK(directory.SizeOf(Tree("/d1/f2")) == 3 * 64);
}

TEST_CASE("waiting ends when the change is seen, and not before") {
  TempDir directory;
  TreeWorker worker(directory), writer(directory);
  worker.Make();
  v1::FileAction await = TreeWorker::Action(v1::FileAction::AWAIT, 1);
  await.set_awaited(v1::FileAction::NAME);
  await.set_timeout_ms(30);
  const v1::FileActionResult missed = worker.Do(await);
  CHECK_FALSE(missed.seen());
  CHECK(missed.count() > 1);
  writer.Write(1, "abc");
  CHECK(worker.Do(await).seen());
  await.set_awaited(v1::FileAction::SIZE);
  await.set_awaited_value(3);
  CHECK(worker.Do(await).seen());
  worker.Open(1, false);
  await.set_awaited(v1::FileAction::CONTENTS);
  await.set_held(1);
  await.set_awaited_value(Xxh3Of("abd"));
  CHECK_FALSE(worker.Do(await).seen());
  writer.Write(1, "abd");
  CHECK(worker.Do(await).seen());
  writer.Do(v1::FileAction::REMOVE, 1);
  await.set_awaited(v1::FileAction::NO_NAME);
  CHECK(worker.Do(await).seen());
  // A cancelled action does not wait for its timeout.
  await.set_awaited(v1::FileAction::NAME);
  await.set_timeout_ms(3'600'000);
  worker.actions.Cancel();
  CHECK_FALSE(worker.Do(await).seen());
}

TEST_CASE("what is written through a mapping is read, and the reverse") {
  TempDir directory;
  TreeWorker worker(directory);
  worker.Make();
  v1::FileAction write = TreeWorker::Action(v1::FileAction::WRITE_MAPPED, 1, "mapped");
  CHECK(worker.ErrnoAfter(write) == ENOENT);
  write.mutable_how()->set_create(true);
  CHECK(worker.Do(write).problem().code() == 0);
  CHECK(directory.Read(Tree("/d1/f1")) == "mapped");
  directory.Write(Tree("/d1/f1"), "MAPPED");
  CHECK(worker.Do(v1::FileAction::READ_MAPPED, 1).contents_xxh3() == Xxh3Of("MAPPED"));
  directory.Write(Tree("/d1/f1"), "");
  CHECK(worker.Do(v1::FileAction::READ_MAPPED, 1).bytes() == 0);
  write.set_offset(5000);  // within the second page
  CHECK(worker.Do(write).problem().code() == 0);
  CHECK(directory.Read(Tree("/d1/f1")) == std::string(5000, '\0') + "mapped");
  v1::FileAction read = TreeWorker::Action(v1::FileAction::READ_MAPPED, 1);
  read.set_offset(5003);
  CHECK(worker.Do(read).contents_xxh3() == Xxh3Of("ped"));
}

TEST_CASE("an open file is read and written through a mapping, cut, extended and punched") {
  TempDir directory;
  TreeWorker worker(directory);
  worker.Make();
  worker.Write(1, "0123456789");
  worker.Open(1, /*write=*/true);
  v1::FileAction action = TreeWorker::Action(v1::FileAction::WRITE_HELD, 1, "ab");
  action.set_held(1);
  action.set_offset(3);
  action.mutable_how()->set_mapped(true);
  CHECK(worker.Do(action).problem().code() == 0);
  CHECK(directory.Read(Tree("/d1/f1")) == "012ab56789");
  action.set_what(v1::FileAction::READ_HELD);
  CHECK(worker.Do(action).contents_xxh3() == Xxh3Of("ab56789"));
  for (const uint32_t held : {1u, 0u}) {  // open, and by name
    directory.Write(Tree("/d1/f1"), "012ab56789");
    action.set_held(held);
    action.set_what(v1::FileAction::PUNCH);
    action.set_count(2);
    CHECK(worker.Do(action).problem().code() == 0);
    CHECK(directory.Read(Tree("/d1/f1")) == std::string("012\0\00056789", 10));
    action.set_what(v1::FileAction::TRUNCATE);
    CHECK(worker.Do(action).problem().code() == 0);
    CHECK(directory.Read(Tree("/d1/f1")) == "012");
    action.set_what(v1::FileAction::ALLOCATE);
    CHECK(worker.Do(action).problem().code() == 0);
    CHECK(directory.Read(Tree("/d1/f1")) == std::string("012\0\0", 5));
  }
}

TEST_CASE("a page that a file no longer has is an error, not the end of the process") {
  TempDir directory;
  directory.Write("f", std::string(8192, 'x'));
  const UniqueFd fd(::open((directory.path() + "/f").c_str(), O_RDWR | O_CLOEXEC));
  std::atomic<bool> ends{false};
  std::thread other([&] {
    while (!ends) {
      static_cast<void>(::ftruncate(fd.get(), 0));
      static_cast<void>(::ftruncate(fd.get(), 8192));
    }
  });
  std::set<int> errors;
  std::string bytes;
  // A busy machine may take its time to run the other thread; this only ends a test that cannot pass.
  const auto patience_ends = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (errors.size() < 2 && std::chrono::steady_clock::now() < patience_ends)
    errors.insert(LoadMapped(fd.get(), 4096, 4096, bytes));
  ends = true;
  other.join();
  CHECK(errors == std::set<int>{0, EFAULT});
}

TEST_CASE("what a coordinator may ask for is bounded") {
  TempDir directory;
  TreeWorker worker(directory);
  worker.Make();
  CHECK(worker.Do(v1::FileAction::WRITE, 1, std::string(4097, 'x')).problem().code() != 0);
  v1::FileAction fill = TreeWorker::Action(v1::FileAction::FILL, 1);
  fill.set_count(1'000'001);
  CHECK(worker.Do(fill).problem().code() != 0);
  v1::FileAction blocks = TreeWorker::Action(v1::FileAction::WRITE_BLOCKS, 1);
  CHECK(worker.Do(blocks).problem().code() != 0);  // without blocks
  blocks.mutable_blocks()->set_block_count(1u << 31);
  CHECK(worker.Do(blocks).problem().code() != 0);
  worker.Write(1, "x");
  for (uint32_t held = 0; held < 256; ++held) {
    v1::FileAction open = TreeWorker::Action(v1::FileAction::OPEN, 1);
    open.set_held(held);
    REQUIRE(worker.Do(open).problem().code() == 0);
  }
  v1::FileAction open = TreeWorker::Action(v1::FileAction::OPEN, 1);
  open.set_held(256);
  CHECK(worker.Do(open).problem().code() != 0);
  CHECK(worker.Do(static_cast<v1::FileAction::What>(99), 1).problem().code() != 0);
}

}  // namespace
}  // namespace iobench
