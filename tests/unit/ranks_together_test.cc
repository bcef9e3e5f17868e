// What ranks do together, with threads as ranks and an MPI whose collective calls wait for all of them: if one rank stays
// away from a call, or makes another one than the rest, the test says so instead of hanging.
#include "worker/mpi_io/ranks_together.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"

namespace iobench {
namespace {

constexpr std::chrono::seconds kPatience(60);

// Collective calls of a number of threads. Each waits until all make it.
class FakeMpi {
 public:
  explicit FakeMpi(int ranks) : ranks_(ranks) {}

  // Returns the least value of all ranks, or nullopt if not all have made a call of this name in time.
  std::optional<int> Call(const std::string& name, int value) {
    std::unique_lock lock(mutex_);
    if (arrived_ == 0) {
      name_ = name;
      least_ = value;
    }
    if (name_ != name) mixed_ = absl::StrCat(name_, " beside ", name);
    least_ = std::min(least_, value);
    const int turn = turn_;
    if (++arrived_ == ranks_) {
      result_ = least_;
      arrived_ = 0;
      ++turn_;
      changed_.notify_all();
      return result_;
    }
    if (!changed_.wait_for(lock, kPatience, [&] { return turn_ != turn; })) return std::nullopt;
    return result_;
  }
  std::string mixed() {
    const std::lock_guard lock(mutex_);
    return mixed_;
  }

 private:
  const int ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0, turn_ = 0, least_ = 0, result_ = 0;
  std::string name_, mixed_;
};

FakeMpi* the_mpi = nullptr;

int Collective(const char* name) {
  return the_mpi->Call(name, 0) ? 0 : 1;
}

// What each rank's thread counts of its own calls.
struct Counts {
  int calls = 0, empty_calls = 0, flushes = 0;
};
thread_local Counts counts;

MpiFiles Table() {
  MpiFiles table{};
  table.read_at = [](void*, int, uint64_t, void*, size_t bytes, size_t* moved) {
    *moved = bytes;
    ++(bytes == 0 ? counts.empty_calls : counts.calls);
    return Collective("read");
  };
  table.write_at = [](void*, int, uint64_t, const void*, size_t bytes, size_t* moved) {
    *moved = bytes;
    ++(bytes == 0 ? counts.empty_calls : counts.calls);
    return Collective("write");
  };
  table.sync = [](void*) {
    ++counts.flushes;
    return Collective("sync");
  };
  table.close = [](void*) { return Collective("close"); };
  table.vote = [](int mine, int* least) {
    const std::optional<int> agreed = the_mpi->Call("vote", mine);
    if (agreed) *least = *agreed;
    return agreed ? 0 : 1;
  };
  table.meet = [](int* all_can) {
    const std::optional<int> agreed = the_mpi->Call("meet", 1);
    *all_can = agreed.value_or(0);
    return agreed ? 0 : 1;
  };
  // The answer of a rank that declines is given, although nobody waits for it there.
  table.decline = [] { std::thread([] { the_mpi->Call("meet", 0); }).detach(); };
  table.errno_of = [](int) { return 5; };
  table.describe = [](int, char* text, size_t bytes) { std::strncpy(text, "planted", bytes); };
  return table;
}

// Ops 0, 1 … count - 1.
class Numbers : public OpStream {
 public:
  explicit Numbers(uint64_t count) : count_(count) {}
  size_t Fill(std::span<Op> batch) override {
    const size_t filled = std::min<size_t>(batch.size(), count_ - next_);
    for (size_t i = 0; i < filled; ++i) batch[i] = {.kind = OpKind::kWrite, .offset = 8 * next_++, .length = 8};
    return filled;
  }
  void Unread(size_t op_count) override { next_ -= op_count; }
  void Restart(uint64_t) override { next_ = 0; }
  uint64_t ops_per_pass() const override { return count_; }
  uint64_t bytes_per_pass() const override { return 8 * count_; }

 private:
  const uint64_t count_;
  uint64_t next_ = 0;
};

// What a rank does: so many ops, a flush if it may, and closing.
struct Part {
  uint64_t ops = 0;        // that it has
  uint64_t stops_after = 1'000'000;  // ops that it makes, as if its time were over then
  bool flushes = true;
  bool fails = false;  // when it stops
};

struct Outcome {
  Counts counts;
  std::vector<uint64_t> offsets;
  bool ok = false;
};

Outcome RunRank(const MpiFiles& mpi, const Part& part, uint32_t round_ops) {
  counts = {};
  Outcome outcome;
  RanksTogether ranks(mpi, OpKind::kWrite, round_ops);
  int file = 0;
  if (!ranks.Meet().ok()) return outcome;
  ranks.Begin(&file);
  OpsTogether stream(std::make_unique<Numbers>(part.ops), ranks);
  std::array<Op, 64> batch;
  uint64_t done = 0;
  while (done < part.stops_after) {
    const size_t count = stream.Fill(batch);
    if (count == 0) break;
    for (size_t i = 0; i < count; ++i) {
      if (done == part.stops_after) {
        stream.Unread(count - i);
        break;
      }
      ranks.BeginCall();
      size_t moved = 0;
      mpi.write_at(&file, 1, batch[i].offset, nullptr, batch[i].length, &moved);
      outcome.offsets.push_back(batch[i].offset);
      ++done;
    }
  }
  outcome.ok = true;
  if (part.fails) ranks.GiveUp();
  if (part.flushes) outcome.ok = ranks.BeforeFlush().ok() && ranks.Flush() == 0;
  outcome.ok = ranks.BeforeClose().ok() && ranks.Close() == 0 && outcome.ok;
  outcome.counts = counts;
  return outcome;
}

std::vector<Outcome> RunAll(const std::vector<Part>& parts, uint32_t round_ops = RanksTogether::kMaxRound) {
  static const MpiFiles mpi = Table();
  FakeMpi fake(static_cast<int>(parts.size()));
  the_mpi = &fake;
  std::vector<Outcome> outcomes(parts.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < parts.size(); ++i) {
    threads.emplace_back([&, i] { outcomes[i] = RunRank(mpi, parts[i], round_ops); });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(fake.mixed() == "");
  return outcomes;
}

TEST_CASE("ranks with equal ops make no calls without bytes") {
  for (const Outcome& rank : RunAll({{.ops = 200}, {.ops = 200}, {.ops = 200}})) {
    CHECK(rank.ok);
    CHECK((rank.counts.calls == 200 && rank.counts.empty_calls == 0 && rank.counts.flushes == 1));
    CHECK(std::is_sorted(rank.offsets.begin(), rank.offsets.end()));
  }
}

TEST_CASE("a rank with fewer ops takes part until the others are done, and none of its own is lost or repeated") {
  const std::vector<Outcome> ranks = RunAll({{.ops = 5}, {.ops = 130}, {.ops = 70}});
  const uint64_t asked[] = {5, 130, 70};
  for (size_t i = 0; i < ranks.size(); ++i) {
    CHECK(ranks[i].ok);
    REQUIRE(ranks[i].offsets.size() == asked[i]);
    for (size_t op = 0; op < asked[i]; ++op) CHECK(ranks[i].offsets[op] == 8 * op);
    // Every rank makes as many calls as the one with most.
    CHECK(ranks[i].counts.calls + ranks[i].counts.empty_calls == 130);
  }
}

TEST_CASE("a rank that stops in the middle of a round keeps its promise, and need not flush") {
  const std::vector<Outcome> ranks =
      RunAll({{.ops = 500, .stops_after = 100, .flushes = false}, {.ops = 500, .stops_after = 103}, {.ops = 500, .stops_after = 0}});
  for (const Outcome& rank : ranks) {
    CHECK(rank.ok);
    CHECK(rank.counts.flushes == 1);  // one rank or all: the flush is of all
    CHECK(rank.counts.calls + rank.counts.empty_calls == 128);
  }
  CHECK((ranks[0].counts.calls == 100 && ranks[1].counts.calls == 103 && ranks[2].counts.calls == 0));
}

TEST_CASE("if the ops of a rank fail for good, those of all end after the round") {
  const std::vector<Outcome> ranks = RunAll({{.ops = 500}, {.ops = 500, .stops_after = 70, .flushes = false, .fails = true},
                                             {.ops = 500, .stops_after = 90, .flushes = false, .fails = true}});
  for (const Outcome& rank : ranks) {
    CHECK(rank.ok);
    CHECK(rank.counts.calls + rank.counts.empty_calls == 128);
  }
  CHECK((ranks[0].counts.calls == 128 && ranks[1].counts.calls == 70 && ranks[2].counts.calls == 90));
}

TEST_CASE("a round has as many ops as asked, so that ranks can flush after each") {
  for (const Outcome& rank : RunAll({{.ops = 30, .stops_after = 10}, {.ops = 30, .stops_after = 10}}, 10)) {
    CHECK((rank.counts.calls == 10 && rank.counts.empty_calls == 0));
  }
}

TEST_CASE("if a rank cannot take part, all others learn it before they open the file") {
  static const MpiFiles mpi = Table();
  FakeMpi fake(3);
  the_mpi = &fake;
  std::vector<absl::Status> met(2);
  std::thread declines([] { RanksTogether(mpi, OpKind::kRead, 64).Decline(); });
  std::thread others[2];
  for (int i = 0; i < 2; ++i) {
    others[i] = std::thread([&met, i] { met[static_cast<size_t>(i)] = RanksTogether(mpi, OpKind::kRead, 64).Meet(); });
  }
  declines.join();
  for (std::thread& other : others) other.join();
  for (const absl::Status& status : met) {
    CHECK(absl::IsFailedPrecondition(status));
    CHECK(std::string(status.message()).find("another rank cannot take part") != std::string::npos);
  }
}

TEST_CASE("a rank answers once: what it does after it has declined does not reach the others") {
  static MpiFiles mpi = Table();
  static int declined_count = 0;
  declined_count = 0;
  mpi.decline = [] { ++declined_count; };
  {
    RanksTogether ranks(mpi, OpKind::kRead, 64);
    ranks.Decline();
    ranks.Decline();
    CHECK(absl::IsCancelled(ranks.Meet()));
  }
  CHECK(declined_count == 1);
  { const RanksTogether leaves(mpi, OpKind::kRead, 64); }  // without an answer
  CHECK(declined_count == 2);
}

TEST_CASE("an error of MPI names what was done, the errno and MPI's words") {
  static const MpiFiles mpi = Table();
  CHECK(MpiIoStatus(mpi, 0, "open x").ok());
  const std::string text(MpiIoStatus(mpi, 7, "open x").message());
  CHECK(text.find("open x: MPI says \"planted\"") != std::string::npos);
  CHECK(text.find("Input/output error") != std::string::npos);
}

}  // namespace
}  // namespace iobench
