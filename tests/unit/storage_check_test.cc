// Which clients see whose check files: the same storage, another one, or a view that goes one way only.
#include "coordinator/preflight/storage_check.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/digest/xxh3.h"
#include "common/status_util.h"

namespace iobench {
namespace {

using OneWay = StorageSights::OneWay;

// Workers with files in storages: each writes to one and reads from several.
class Storages final : public Transport {
 public:
  // `clients`: of the workers, by number.
  explicit Storages(const std::vector<int>& clients) : clients_(clients) {
    for (WorkerId id = 0; id < clients.size(); ++id) {
      v1::WorkerEvent joined;
      joined.mutable_joined()->set_host("c" + std::to_string(clients[id]));
      joined.mutable_joined()->set_boot_id("boot " + std::to_string(clients[id]));
      joined.mutable_joined()->set_program_version("1.0");
      Push(id, joined);
    }
  }
  absl::Status Post(WorkerId id, const v1::WorkerRequest& request) override {
    v1::WorkerEvent event;
    event.set_call_id(request.call_id());
    requests += request.has_file_actions();
    for (const v1::FileAction& action : request.file_actions().actions()) {
      *event.mutable_file_actions_done()->add_results() = Act(id, action);
    }
    Push(id, event);
    return absl::OkStatus();
  }
  absl::StatusOr<ReceivedEvent> WaitEvent(CoordTime deadline) override {
    if (events_.empty()) {
      now_ns = std::max(now_ns, deadline.ns);
      return absl::DeadlineExceededError("nothing");
    }
    ReceivedEvent next = std::move(events_.front());
    events_.pop_front();
    return next;
  }
  bool ordered() const override { return true; }
  std::string name() const override { return "test"; }

  std::function<std::string(WorkerId)> writes_to = [](WorkerId) { return "shared"; };
  std::function<std::set<std::string>(WorkerId)> reads_from = [](WorkerId) {
    return std::set<std::string>{"shared"};
  };
  std::map<std::pair<std::string, uint32_t>, uint64_t> files;
  int requests = 0, reads = 0;
  int64_t now_ns = 0;

 private:
  v1::FileActionResult Act(WorkerId id, const v1::FileAction& action) {
    v1::FileActionResult result;
    if (action.what() == v1::FileAction::CREATE) {
      files[{writes_to(id), action.file()}] = Xxh3Of(action.contents());
    } else if (action.what() == v1::FileAction::REMOVE) {
      files.erase({writes_to(id), action.file()});
    } else if (action.what() == v1::FileAction::READ) {
      ++reads;
      for (const std::string& storage : reads_from(id)) {
        if (const auto found = files.find({storage, action.file()}); found != files.end()) {
          result.set_contents_xxh3(found->second);
          return result;
        }
      }
      *result.mutable_problem() = ToProblem(ErrnoStatus("open it", ENOENT));
    }
    return result;
  }
  void Push(WorkerId id, const v1::WorkerEvent& event) {
    events_.push_back({id, event, CoordTime{++now_ns}});
  }

  const std::vector<int> clients_;
  std::deque<ReceivedEvent> events_;
};

StorageSights Check(Storages& storages, size_t count) {
  v1::Plan plan;
  plan.add_targets()->set_path("/mnt");
  plan.set_lanes_per_worker(1);
  Interrupt interrupt;
  Cluster cluster(storages, 7, interrupt, {}, [&storages] { return CoordTime{++storages.now_ns}; });
  REQUIRE(cluster
              .Gather(static_cast<uint32_t>(count), CoordTime{storages.now_ns + kNanosPerSecond}, "1.0",
                      [](uint32_t) {})
              .ok());
  std::vector<v1::WorkerTargets> facts(count);
  for (v1::WorkerTargets& seen : facts) {
    seen.add_targets()->set_filesystem_id("shared");
    seen.mutable_targets(0)->set_network(true);
  }
  std::vector<uint32_t> clients;
  for (const Member& member : cluster.members()) clients.push_back(member.client);
  const Layout layout(plan, clients);
  StorageCheck check(cluster, plan, layout, facts, kNanosPerSecond, 100);
  REQUIRE(check.Run().ok());
  CHECK(storages.files.empty());
  return check.sights()[0];
}

std::vector<int> OneEach(int count) {
  std::vector<int> clients;
  for (int client = 0; client < count; ++client) clients.push_back(client);
  return clients;
}

TEST_CASE("every client writes, every client reads what all others wrote") {
  Storages storages(OneEach(4));
  const StorageSights sights = Check(storages, 4);
  CHECK(storages.reads == 4 * 3);
  CHECK(sights.storage_of_worker == std::map<uint32_t, int>{{0, 0}, {1, 0}, {2, 0}, {3, 0}});
  CHECK(sights.one_way.empty());
  CHECK(sights.waited_s == 0);
}

TEST_CASE("a client whose writes go elsewhere is the one to blame, whichever it is") {
  for (const size_t count : {2u, 3u, 5u}) {
    for (WorkerId odd = 0; odd < count; ++odd) {
      INFO(odd << " of " << count);
      Storages storages(OneEach(static_cast<int>(count)));
      storages.writes_to = [odd](WorkerId id) { return id == odd ? "upper" : "shared"; };
      storages.reads_from = [odd](WorkerId id) {
        return id == odd ? std::set<std::string>{"upper", "shared"} : std::set<std::string>{"shared"};
      };
      const StorageSights sights = Check(storages, count);
      CHECK(sights.one_way == std::map<uint32_t, OneWay>{{odd, OneWay::kUnseen}});
      for (uint32_t worker = 0; worker < count; ++worker) CHECK(sights.SeesOther(worker) == (worker == odd));
    }
  }
}

TEST_CASE("a client that sees nothing of what others write, while they see its files, is blind") {
  Storages storages(OneEach(4));
  storages.writes_to = [](WorkerId id) { return id == 2 ? "own" : "shared"; };
  storages.reads_from = [](WorkerId id) {
    return id == 2 ? std::set<std::string>{"own"} : std::set<std::string>{"own", "shared"};
  };
  const StorageSights sights = Check(storages, 4);
  CHECK(sights.one_way == std::map<uint32_t, OneWay>{{2, OneWay::kBlind}});
  CHECK(sights.SeesOther(2));
  CHECK(sights.SeesUsual(0));
}

TEST_CASE("with many clients each reads few files, and far ones of one storage are put together") {
  constexpr int kCount = 300;
  Storages storages(OneEach(kCount));
  // Two storages that are nobody's neighbours', and an overlay.
  storages.writes_to = [](WorkerId id) { return id == 17 ? "upper" : id % 100 == 0 ? "rare" : "shared"; };
  storages.reads_from = [](WorkerId id) {
    if (id == 17) return std::set<std::string>{"upper", "shared"};
    return std::set<std::string>{id % 100 == 0 ? "rare" : "shared"};
  };
  const StorageSights sights = Check(storages, kCount);
  CHECK(sights.one_way == std::map<uint32_t, OneWay>{{17, OneWay::kUnseen}});
  for (uint32_t worker = 0; worker < kCount; ++worker) {
    INFO(worker);
    CHECK(sights.storage_of_worker.at(worker) == (worker == 17 ? 2 : worker % 100 == 0 ? 1 : 0));
  }
  CHECK(storages.requests < 6 * kCount);
}

TEST_CASE("a thousand clients need a few requests each") {
  Storages storages(OneEach(1000));
  const StorageSights sights = Check(storages, 1000);
  CHECK(sights.storage_of_worker.size() == 1000);
  CHECK(storages.requests ==
        4 * 1000 - 1);  // write, read, try to write, remove; the one whose file is tried does not try
  CHECK(storages.reads == 16 * 1000);
}

TEST_CASE("of a client's workers, one writes, and one with mounts of its own is found") {
  Storages storages({0, 0, 1, 1});
  storages.writes_to = [](WorkerId id) { return id == 3 ? "own" : "shared"; };
  storages.reads_from = [](WorkerId id) { return std::set<std::string>{id == 3 ? "own" : "shared"}; };
  const StorageSights sights = Check(storages, 4);
  CHECK(sights.storage_of_worker == std::map<uint32_t, int>{{0, 0}, {1, 0}, {2, 0}, {3, 1}});
  CHECK(sights.waited_s > 0);
}

}  // namespace
}  // namespace iobench
