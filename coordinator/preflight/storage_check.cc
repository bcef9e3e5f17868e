#include "coordinator/preflight/storage_check.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/digest/xxh3.h"
#include "common/host_identity.h"
#include "common/model/plan_targets.h"
#include "common/roster/filesystem.h"
#include "common/status_util.h"
#include "common/time.h"
#include "coordinator/analysis/marks/shared_target.h"

namespace iobench {
namespace {

// Between two attempts to find a file that has not appeared yet.
constexpr int64_t kLookAgainNs = 200'000'000;
constexpr int64_t kRemoveAtEndNs = kNanosPerSecond;
// With more writers than this plus one, each reads only what so many neighbours in a circle wrote: half of them on either
// side, so that two that read each other's files do both. The first number is what one request holds.
constexpr size_t kMaxReads = 64, kNeighbours = 16;

// Says whose file it is, for `cluster-iobench clean` (worker/check/left_checks.h reads it), and is different each time.
std::string ContentsOf(uint64_t run_id, uint32_t worker) {
  std::random_device random;
  const std::optional<ProcessIdentity> owner = OwnIdentity();
  return absl::StrCat("cluster-iobench check file of run ", absl::Hex(run_id, absl::kZeroPad16), " of ",
                      HostName(), "\n", owner ? absl::StrCat("process ", ToLine(*owner), "\n") : "",
                      "worker ", worker, ": ",
                      absl::Hex((uint64_t{random()} << 32) | random(), absl::kZeroPad16), "\n");
}

v1::WorkerRequest RequestAt(const v1::Target& target) {
  v1::WorkerRequest request;
  *request.mutable_file_actions()->mutable_target() = target;
  return request;
}

v1::FileAction& AddAction(v1::WorkerRequest& request, v1::FileAction::What what, uint32_t file) {
  v1::FileAction& action = *request.mutable_file_actions()->add_actions();
  action.set_what(what);
  action.set_file(file);
  return action;
}

Cluster::Patience StoragePatience() {
  return {.quick_work = "check that it sees the same storage",
          .stall_after_ns = 0,
          .work = "check that it sees the same storage"};
}

}  // namespace

absl::Status StorageCheck::Run(size_t min_workers) {
  sights_.assign(static_cast<size_t>(plan_.targets_size()), {});
  for (int target = 0; target < plan_.targets_size(); ++target) {
    std::vector<uint32_t> workers;
    for (const uint32_t worker : layout_.WorkersOn(static_cast<uint32_t>(target))) {
      const v1::TargetFacts* const seen = SeenOf(facts_[worker], static_cast<uint32_t>(target));
      const bool usable = seen != nullptr && seen->problem().code() == 0;
      if (!cluster_.members()[worker].lost && usable) workers.push_back(worker);
    }
    if (workers.size() < min_workers) continue;
    written_.clear();
    tried_.clear();
    seen_.clear();
    const absl::Status checked = CheckTarget(target, workers);
    const absl::Status removed = RemoveFiles(target);
    IOBENCH_RETURN_IF_ERROR(checked);
    IOBENCH_RETURN_IF_ERROR(removed);
  }
  return absl::OkStatus();
}

absl::Status StorageCheck::CheckTarget(int target, const std::vector<uint32_t>& workers) {
  StorageSights& sights = sights_[static_cast<size_t>(target)];
  IOBENCH_RETURN_IF_ERROR(WriteBy(target, WritersAmong(workers)));
  IOBENCH_RETURN_IF_ERROR(ReadUntilFound(target, ReadsOf(workers)));
  FindOneWay(sights);
  IOBENCH_RETURN_IF_ERROR(JoinGroups(target, workers));
  FindOneWay(sights);
  const std::map<uint32_t, std::vector<uint32_t>> groups = GroupsOf(sights, workers);
  Number(groups, sights);
  std::map<uint32_t, uint32_t> writer_for;
  for (const auto& [first, members] : groups) {
    const auto writer = std::find_if(members.begin(), members.end(),
                                     [this](uint32_t worker) { return written_.contains(worker); });
    if (writer == members.end()) continue;
    for (const uint32_t worker : members) {
      if (worker != *writer && !IsLost(worker)) writer_for[worker] = *writer;
    }
  }
  return TryToWriteOthers(target, writer_for);
}

// One worker of each client; of a single client, all: they may run in containers with mounts of their own.
std::vector<uint32_t> StorageCheck::WritersAmong(const std::vector<uint32_t>& workers) const {
  std::set<uint32_t> clients;
  std::vector<uint32_t> writers;
  for (const uint32_t worker : workers) {
    if (clients.insert(cluster_.members()[worker].client).second) writers.push_back(worker);
  }
  return clients.size() == 1 ? workers : writers;
}

// Each of `workers` creates its file.
absl::Status StorageCheck::WriteBy(int target, const std::vector<uint32_t>& workers) {
  StorageSights& sights = sights_[static_cast<size_t>(target)];
  std::map<uint32_t, uint64_t> hashes;
  return cluster_.CallSome(
      workers,
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        const std::string contents = ContentsOf(cluster_.run_id(), member.number);
        hashes[member.number] = Xxh3Of(contents);
        v1::WorkerRequest request = RequestAt(plan_.targets(target));
        AddAction(request, v1::FileAction::CREATE, first_file_ + member.number).set_contents(contents);
        return request;
      },
      [&](const Member& member, const ReceivedEvent& received) {
        absl::Status written = ToStatus(received.event.problem());
        const v1::FileActionsDone& done = received.event.file_actions_done();
        if (done.results_size() > 0) written.Update(ToStatus(done.results(0).problem()));
        if (!written.ok()) {
          sights.cannot_write.emplace(member.number, written);
        } else if (done.results_size() > 0) {
          written_[member.number] = hashes[member.number];
          const v1::FileActionResult& result = done.results(0);
          if (result.facts().changed_ns() != 0) {
            sights.clocks[member.number] = {.client = member.facts.host(),
                                            .begin_wall_ns = result.begin_wall_ns(),
                                            .end_wall_ns = result.end_wall_ns(),
                                            .modified_ns = result.facts().changed_ns()};
          }
        }
      },
      StoragePatience());
}

// Who has not written reads what its client's writer wrote, which is compared with the others.
StorageCheck::Reads StorageCheck::ReadsOf(const std::vector<uint32_t>& workers) const {
  std::vector<uint32_t> writers;
  std::map<uint32_t, uint32_t> writer_of_client;
  for (const auto& [writer, hash] : written_) {
    writers.push_back(writer);
    writer_of_client.emplace(cluster_.members()[writer].client, writer);
  }
  const size_t count = writers.size();
  const size_t reach = count <= kMaxReads + 1 ? count : kNeighbours / 2;
  Reads reads;
  for (const uint32_t worker : workers) {
    if (IsLost(worker) || count == 0) continue;
    std::set<uint32_t>& wanted = reads[worker];
    const auto own = writer_of_client.find(cluster_.members()[worker].client);
    if (own != writer_of_client.end() && !written_.contains(worker)) {
      wanted.insert(own->second);
      continue;
    }
    const auto here =
        static_cast<size_t>(std::lower_bound(writers.begin(), writers.end(), worker) - writers.begin());
    for (size_t step = 0; step <= reach && step < count; ++step) {
      wanted.insert(writers[(here + step) % count]);
      wanted.insert(writers[(here + count - step) % count]);
    }
    wanted.erase(worker);
  }
  return reads;
}

absl::Status StorageCheck::ReadUntilFound(int target, Reads wanted) {
  StorageSights& sights = sights_[static_cast<size_t>(target)];
  for (const auto& [reader, writers] : wanted) tried_[reader].insert(writers.begin(), writers.end());
  const CoordTime begin = cluster_.Now();
  for (;;) {
    IOBENCH_RETURN_IF_ERROR(ReadOnce(target, wanted));
    for (auto& [reader, writers] : wanted) {
      std::erase_if(writers, [&](uint32_t writer) {
        return IsLost(reader) || IsLost(writer) || !MayAppearLater(target, reader, writer);
      });
    }
    std::erase_if(wanted, [](const auto& reader) { return reader.second.empty(); });
    const CoordTime now = cluster_.Now();
    if (wanted.empty() || now >= begin + wait_ns_) return absl::OkStatus();
    const absl::Status waited = cluster_.WaitUntil(
        [] { return false; }, {.deadline = std::min(now + kLookAgainNs, begin + wait_ns_)});
    if (!absl::IsDeadlineExceeded(waited)) return waited;
    sights.waited_s = std::max(sights.waited_s, SecondsFrom(cluster_.Now() - begin));
  }
}

// Removes from `wanted` what is found, with as few requests as possible.
absl::Status StorageCheck::ReadOnce(int target, Reads& wanted) {
  StorageSights& sights = sights_[static_cast<size_t>(target)];
  std::map<uint32_t, std::vector<uint32_t>> left;
  for (const auto& [reader, writers] : wanted)
    left.emplace(reader, std::vector(writers.begin(), writers.end()));
  for (size_t first = 0; !left.empty(); first += kMaxReads) {
    std::erase_if(left, [first](const auto& reader) { return reader.second.size() <= first; });
    std::vector<uint32_t> readers;
    for (const auto& [reader, writers] : left) {
      if (!IsLost(reader)) readers.push_back(reader);
    }
    IOBENCH_RETURN_IF_ERROR(cluster_.CallSome(
        readers,
        [&](const Member& member) -> std::optional<v1::WorkerRequest> {
          v1::WorkerRequest request = RequestAt(plan_.targets(target));
          const std::vector<uint32_t>& writers = left.at(member.number);
          for (size_t i = first; i < std::min(first + kMaxReads, writers.size()); ++i) {
            AddAction(request, v1::FileAction::READ, first_file_ + writers[i]);
          }
          return request;
        },
        [&](const Member& member, const ReceivedEvent& received) {
          const v1::FileActionsDone& done = received.event.file_actions_done();
          const std::vector<uint32_t>& writers = left.at(member.number);
          const size_t count = std::min(static_cast<size_t>(done.results_size()), writers.size() - first);
          for (size_t i = 0; i < count; ++i) {
            const v1::FileActionResult& result = done.results(static_cast<int>(i));
            const uint32_t writer = writers[first + i];
            // The name is as random as the contents: a worker that is refused the file sees it.
            const int error = result.problem().errno_value();
            const bool refused = error == EACCES || error == EPERM;
            if (refused) sights.cannot_read.insert(member.number);
            if (!refused && (result.problem().code() != 0 || result.contents_xxh3() != written_[writer]))
              continue;
            seen_[member.number].insert(writer);
            wanted[member.number].erase(writer);
          }
        },
        StoragePatience()));
  }
  return absl::OkStatus();
}

bool StorageCheck::Sees(uint32_t reader, uint32_t writer) const {
  const auto seen = seen_.find(reader);
  return reader == writer || (seen != seen_.end() && seen->second.contains(writer));
}

// Of two that read each other's files, one may see the other's and not be seen itself. The worker that explains most of
// such pairs is the one to blame; of two clients alone, the one that nobody sees.
void StorageCheck::FindOneWay(StorageSights& sights) const {
  std::set<std::pair<uint32_t, uint32_t>> pairs;  // who sees, whom
  for (const auto& [reader, writers] : seen_) {
    for (const uint32_t writer : writers) {
      const auto back = tried_.find(writer);
      const bool tried = back != tried_.end() && back->second.contains(reader);
      const bool is_known = sights.one_way.contains(reader) || sights.one_way.contains(writer);
      if (tried && !is_known && !IsLost(reader) && !IsLost(writer) && !Sees(writer, reader))
        pairs.emplace(reader, writer);
    }
  }
  while (!pairs.empty()) {
    std::map<uint32_t, size_t> unseen, blind;
    for (const auto& [reader, writer] : pairs) {
      ++unseen[reader];
      ++blind[writer];
    }
    const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto most_unseen = std::max_element(unseen.begin(), unseen.end(), fewer);
    const auto most_blind = std::max_element(blind.begin(), blind.end(), fewer);
    const bool is_unseen = most_unseen->second >= most_blind->second;
    const uint32_t blamed = is_unseen ? most_unseen->first : most_blind->first;
    sights.one_way[blamed] = is_unseen ? StorageSights::OneWay::kUnseen : StorageSights::OneWay::kBlind;
    std::erase_if(pairs,
                  [blamed](const auto& pair) { return pair.first == blamed || pair.second == blamed; });
  }
}

std::map<uint32_t, std::vector<uint32_t>> StorageCheck::GroupsOf(const StorageSights& sights,
                                                                 const std::vector<uint32_t>& workers) const {
  std::map<uint32_t, uint32_t> first_of;  // of the group; follow it until it names itself
  for (const uint32_t worker : workers) first_of[worker] = worker;
  const auto first = [&first_of](uint32_t worker) {
    while (first_of[worker] != worker) worker = first_of[worker] = first_of[first_of[worker]];
    return worker;
  };
  for (const auto& [reader, writers] : seen_) {
    for (const uint32_t writer : writers) {
      if (sights.one_way.contains(reader) || sights.one_way.contains(writer)) continue;
      const auto [low, high] = std::minmax({first(reader), first(writer)});
      first_of[high] = low;
    }
  }
  std::map<uint32_t, std::vector<uint32_t>> groups;
  for (const uint32_t worker : workers) groups[first(worker)].push_back(worker);
  return groups;
}

// Groups may see the same storage, although nobody in one has read a file of the other: of many writers, each reads only
// some files; and of workers that see what their client's writer does not see, nobody has written.
absl::Status StorageCheck::JoinGroups(int target, const std::vector<uint32_t>& workers) {
  StorageSights& sights = sights_[static_cast<size_t>(target)];
  std::vector<uint32_t> speakers, silent;  // of the groups; those of them that have no file yet
  for (const auto& [first, members] : GroupsOf(sights, workers)) {
    const auto writer = std::find_if(members.begin(), members.end(),
                                     [this](uint32_t worker) { return written_.contains(worker); });
    const uint32_t speaker = writer == members.end() ? first : *writer;
    if (IsLost(speaker) || sights.one_way.contains(speaker)) continue;
    if (speakers.size() == kMaxReads) break;
    speakers.push_back(speaker);
    if (writer == members.end() && !sights.cannot_write.contains(speaker)) silent.push_back(speaker);
  }
  if (speakers.size() < 2) return absl::OkStatus();
  IOBENCH_RETURN_IF_ERROR(WriteBy(target, silent));
  Reads reads;
  for (const uint32_t reader : speakers) {
    for (const uint32_t writer : speakers) {
      const auto tried = tried_.find(reader);
      const bool is_new = tried == tried_.end() || !tried->second.contains(writer);
      if (reader != writer && written_.contains(writer) && is_new) reads[reader].insert(writer);
    }
  }
  return reads.empty() ? absl::OkStatus() : ReadUntilFound(target, std::move(reads));
}

// The run's data directory belongs to the worker that makes it, like a file of another: who may not write the file may not
// create files in the directory either. `writer_for`: by worker, whose file.
absl::Status StorageCheck::TryToWriteOthers(int target, const std::map<uint32_t, uint32_t>& writer_for) {
  StorageSights& sights = sights_[static_cast<size_t>(target)];
  std::vector<uint32_t> workers;
  for (const auto& [worker, writer] : writer_for) workers.push_back(worker);
  return cluster_.CallSome(
      workers,
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        v1::WorkerRequest request = RequestAt(plan_.targets(target));
        AddAction(request, v1::FileAction::TRY_WRITE, first_file_ + writer_for.at(member.number));
        return request;
      },
      [&](const Member& member, const ReceivedEvent& received) {
        if (received.event.file_actions_done().results_size() == 0) return;
        const int error = received.event.file_actions_done().results(0).problem().errno_value();
        if (error == EACCES || error == EPERM) sights.cannot_write_others.insert(member.number);
      },
      StoragePatience());
}

absl::Status StorageCheck::RemoveFiles(int target) {
  Cluster::Patience patience = StoragePatience();
  patience.interruptible = false;
  // The user who has interrupted the run does not wait for a file system that hangs.
  if (cluster_.interrupted()) patience.deadline = cluster_.Now() + kRemoveAtEndNs;
  std::vector<uint32_t> writers;
  for (const auto& [writer, hash] : written_) writers.push_back(writer);
  return cluster_.CallSome(
      writers,
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        v1::WorkerRequest request = RequestAt(plan_.targets(target));
        AddAction(request, v1::FileAction::REMOVE, first_file_ + member.number);
        return request;
      },
      [](const Member&, const ReceivedEvent&) {}, patience);
}

// False where it is plain that the two see different file systems: waiting would only cost time.
bool StorageCheck::MayAppearLater(int target, uint32_t reader, uint32_t writer) const {
  const auto sight = [&](uint32_t worker) {
    const Member& member = cluster_.members()[worker];
    return TargetSight{member.facts.host(), *SeenOf(facts_[worker], static_cast<uint32_t>(target)),
                       plan_.targets(target).path()};
  };
  return SharingOf(sight(reader), sight(writer)) != Sharing::kDifferent;
}

void StorageCheck::Number(const std::map<uint32_t, std::vector<uint32_t>>& groups,
                          StorageSights& sights) const {
  // Nobody knows what workers see that can neither read a file nor write one.
  std::vector<std::vector<uint32_t>> known;
  for (const auto& [first, members] : groups) {
    std::vector<uint32_t> there;
    for (const uint32_t worker : members) {
      if (!IsLost(worker) && (members.size() > 1 || written_.contains(worker))) there.push_back(worker);
    }
    if (!there.empty()) known.push_back(std::move(there));
  }
  std::stable_sort(known.begin(), known.end(), [&sights](const auto& a, const auto& b) {
    const bool a_is_one_way = sights.one_way.contains(a.front()),
               b_is_one_way = sights.one_way.contains(b.front());
    return a_is_one_way != b_is_one_way ? b_is_one_way : a.size() > b.size();
  });
  for (size_t storage = 0; storage < known.size(); ++storage) {
    for (const uint32_t worker : known[storage]) sights.storage_of_worker[worker] = static_cast<int>(storage);
  }
}

void SetStorage(std::span<const StorageSights> sights, std::span<v1::WorkerTargets> facts) {
  for (size_t target = 0; target < sights.size(); ++target) {
    std::map<int, FilesystemId> id_of;
    std::set<FilesystemId> taken;
    for (const auto& [worker, storage] : sights[target].storage_of_worker) {
      v1::TargetFacts& seen = *MutableSeenOf(facts[worker], static_cast<uint32_t>(target));
      const auto [id, is_new] = id_of.emplace(storage, FilesystemOf(seen));
      // Different storage under one name: two mounts of a local disk, two servers with the same name.
      while (is_new && !taken.insert(id->second).second) ++id->second.storage;
      SetFilesystem(id->second, seen);
    }
  }
}

}  // namespace iobench
