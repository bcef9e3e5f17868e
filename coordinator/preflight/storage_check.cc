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
// Check files tell at most this many storages apart; each costs one wait.
constexpr int kMaxStorages = 8;

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
    writers_.clear();
    const absl::Status checked = CheckTarget(target, workers);
    const absl::Status removed = RemoveFiles(target);
    IOBENCH_RETURN_IF_ERROR(checked);
    IOBENCH_RETURN_IF_ERROR(removed);
  }
  return absl::OkStatus();
}

absl::Status StorageCheck::CheckTarget(int target, const std::vector<uint32_t>& workers) {
  StorageSights& sights = sights_[static_cast<size_t>(target)];
  IOBENCH_RETURN_IF_ERROR(TryToWrite(target, workers));
  std::vector<uint32_t> unknown = workers;
  for (int storage = 0; storage < kMaxStorages; ++storage) {
    const auto writer = std::find_if(unknown.begin(), unknown.end(), [&](uint32_t worker) {
      return !sights.cannot_write.contains(worker) && !cluster_.members()[worker].lost;
    });
    if (writer == unknown.end()) break;
    IOBENCH_RETURN_IF_ERROR(FindStorageOf(target, *writer, storage, unknown));
  }
  // The remaining workers see none of the storages above; each counts as seeing a storage of its own.
  int storage = kMaxStorages;
  for (const uint32_t worker : unknown) {
    if (!sights.cannot_write.contains(worker) && !cluster_.members()[worker].lost) {
      sights.storage_of_worker[worker] = storage++;
    }
  }
  NumberByCount(sights);
  return absl::OkStatus();
}

// One worker of each client creates a file and removes it.
absl::Status StorageCheck::TryToWrite(int target, const std::vector<uint32_t>& workers) {
  std::set<uint32_t> clients;
  std::vector<uint32_t> chosen;
  for (const uint32_t worker : workers) {
    if (clients.insert(cluster_.members()[worker].client).second) chosen.push_back(worker);
  }
  StorageSights& sights = sights_[static_cast<size_t>(target)];
  return cluster_.CallSome(
      chosen,
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        v1::WorkerRequest request = RequestAt(plan_.targets(target));
        AddAction(request, v1::FileAction::CREATE, first_file_ + member.number)
            .set_contents(ContentsOf(cluster_.run_id(), member.number));
        AddAction(request, v1::FileAction::REMOVE, first_file_ + member.number);
        return request;
      },
      [&](const Member& member, const ReceivedEvent& received) {
        absl::Status written = ToStatus(received.event.problem());
        if (received.event.file_actions_done().results_size() > 0) {
          written.Update(ToStatus(received.event.file_actions_done().results(0).problem()));
        }
        if (!written.ok()) sights.cannot_write.emplace(member.number, written);
      },
      StoragePatience());
}

// The writer creates a file; those of `unknown` that can read it see its storage, and are no longer unknown.
absl::Status StorageCheck::FindStorageOf(int target, uint32_t writer, int storage,
                                         std::vector<uint32_t>& unknown) {
  StorageSights& sights = sights_[static_cast<size_t>(target)];
  const std::string contents = ContentsOf(cluster_.run_id(), writer);
  absl::Status written = absl::UnavailableError("was lost");
  writers_.push_back(writer);
  IOBENCH_RETURN_IF_ERROR(cluster_.CallSome(
      std::span(&writer, 1),
      [&](const Member&) -> std::optional<v1::WorkerRequest> {
        v1::WorkerRequest request = RequestAt(plan_.targets(target));
        AddAction(request, v1::FileAction::CREATE, first_file_ + writer).set_contents(contents);
        return request;
      },
      [&](const Member&, const ReceivedEvent& received) {
        written = ToStatus(received.event.problem());
        if (received.event.file_actions_done().results_size() > 0) {
          written.Update(ToStatus(received.event.file_actions_done().results(0).problem()));
        }
      },
      StoragePatience()));
  std::erase(unknown, writer);
  if (!written.ok()) {
    if (!cluster_.members()[writer].lost) sights.cannot_write.emplace(writer, written);
    return absl::OkStatus();
  }
  sights.storage_of_worker[writer] = storage;

  std::vector<uint32_t> waiting = unknown;
  const CoordTime begin = cluster_.Now();
  for (;;) {
    IOBENCH_RETURN_IF_ERROR(ReadBy(target, waiting, first_file_ + writer, Xxh3Of(contents)));
    std::vector<uint32_t> hopeful;
    for (const uint32_t worker : waiting) {
      if (!cluster_.members()[worker].lost && MayAppearLater(target, worker, writer)) {
        hopeful.push_back(worker);
      }
    }
    const CoordTime now = cluster_.Now();
    if (hopeful.empty() || now >= begin + wait_ns_) break;
    const absl::Status waited = cluster_.WaitUntil(
        [] { return false; }, {.deadline = std::min(now + kLookAgainNs, begin + wait_ns_)});
    if (!absl::IsDeadlineExceeded(waited)) return waited;
    sights.waited_s = std::max(sights.waited_s, SecondsFrom(cluster_.Now() - begin));
  }
  const std::set<uint32_t> without(waiting.begin(), waiting.end());
  std::vector<uint32_t> readers;
  std::erase_if(unknown, [&](uint32_t worker) {
    if (without.contains(worker)) return false;
    sights.storage_of_worker[worker] = storage;
    readers.push_back(worker);
    return true;
  });
  return TryToWriteOthers(target, readers, first_file_ + writer);
}

// The run's data directory belongs to the worker that makes it, like this file: who may not write the file may not create
// files in the directory either.
absl::Status StorageCheck::TryToWriteOthers(int target, const std::vector<uint32_t>& workers, uint32_t file) {
  StorageSights& sights = sights_[static_cast<size_t>(target)];
  return cluster_.CallSome(
      workers,
      [&](const Member&) -> std::optional<v1::WorkerRequest> {
        v1::WorkerRequest request = RequestAt(plan_.targets(target));
        AddAction(request, v1::FileAction::TRY_WRITE, file);
        return request;
      },
      [&](const Member& member, const ReceivedEvent& received) {
        if (received.event.file_actions_done().results_size() == 0) return;
        const int error = received.event.file_actions_done().results(0).problem().errno_value();
        if (error == EACCES || error == EPERM) sights.cannot_write_others.insert(member.number);
      },
      StoragePatience());
}

// Removes the workers that find the file from `waiting`.
absl::Status StorageCheck::ReadBy(int target, std::vector<uint32_t>& waiting, uint32_t file,
                                  uint64_t contents_xxh3) {
  StorageSights& sights = sights_[static_cast<size_t>(target)];
  std::set<uint32_t> found;
  const absl::Status asked = cluster_.CallSome(
      waiting,
      [&](const Member&) -> std::optional<v1::WorkerRequest> {
        v1::WorkerRequest request = RequestAt(plan_.targets(target));
        AddAction(request, v1::FileAction::READ, file);
        return request;
      },
      [&](const Member& member, const ReceivedEvent& received) {
        if (received.event.file_actions_done().results_size() == 0) return;
        const v1::FileActionResult& result = received.event.file_actions_done().results(0);
        // The name is as random as the contents: a worker that is refused the file sees it.
        const bool refused =
            result.problem().errno_value() == EACCES || result.problem().errno_value() == EPERM;
        const bool read = result.problem().code() == 0 && result.contents_xxh3() == contents_xxh3;
        if (refused) sights.cannot_read.insert(member.number);
        if (refused || read) found.insert(member.number);
      },
      StoragePatience());
  std::erase_if(waiting, [&found](uint32_t worker) { return found.contains(worker); });
  return asked;
}

absl::Status StorageCheck::RemoveFiles(int target) {
  Cluster::Patience patience = StoragePatience();
  patience.interruptible = false;
  // The user who has interrupted the run does not wait for a file system that hangs.
  if (cluster_.interrupted()) patience.deadline = cluster_.Now() + kRemoveAtEndNs;
  return cluster_.CallSome(
      writers_,
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

void StorageCheck::NumberByCount(StorageSights& sights) const {
  std::map<int, size_t> counts;
  for (const auto& [worker, storage] : sights.storage_of_worker) ++counts[storage];
  std::vector<int> by_count;
  for (const auto& [storage, count] : counts) by_count.push_back(storage);
  std::stable_sort(by_count.begin(), by_count.end(),
                   [&counts](int a, int b) { return counts[a] > counts[b]; });
  for (auto& [worker, storage] : sights.storage_of_worker) {
    storage = static_cast<int>(std::find(by_count.begin(), by_count.end(), storage) - by_count.begin());
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
