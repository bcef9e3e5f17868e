// The parts of the MPI transport that work without MPI. The rest is tested under mpirun, by
// tests/cluster/transport_mpi_test.cc.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/transport/mpi/mpi_loader.h"
#include "common/transport/mpi/mpi_mail.h"
#include "common/transport/mpi/mpi_nap.h"
#include "common/transport/mpi_launch.h"

namespace iobench {
namespace {

// The launchers' variables as given, all others of theirs unset, until this ends.
class LauncherEnvironment {
 public:
  explicit LauncherEnvironment(const std::map<std::string, std::string>& variables) {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_SIZE", "PMI_RANK",
                             "PMIX_RANK", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "FLUX_JOB_SIZE", "FLUX_TASK_RANK",
                             "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK", "PALS_SIZE", "PALS_RANKID"}) {
      if (const char* value = std::getenv(name); value != nullptr) before_[name] = value;
      unsetenv(name);
      names_.emplace_back(name);
    }
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  }
  ~LauncherEnvironment() {
    for (const std::string& name : names_) unsetenv(name.c_str());
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::string> before_;
};

TEST_CASE("a launcher is known by what it promises", "[mpi]") {
  {
    LauncherEnvironment none({});
    CHECK_FALSE(LauncherPromises().launched);
  }
  {
    LauncherEnvironment batch_script({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "8"}});
    CHECK_FALSE(LauncherPromises().launched);
  }
  {
    LauncherEnvironment open_mpi(
        {{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "2"}, {"PMIX_RANK", "2"}});
    const MpiLaunch launch = LauncherPromises();
    CHECK(launch.launched);
    CHECK(launch.promised_ranks == 4);
    CHECK(launch.promised_rank == 2);
    CHECK(launch.launcher == "Open MPI's mpirun");
  }
  {
    LauncherEnvironment hydra({{"PMI_SIZE", "3"}, {"PMI_RANK", "1"}});
    CHECK(LauncherPromises().promised_ranks == 3);
    CHECK(LauncherPromises().promised_rank == 1);
    CHECK_THAT(LauncherPromises().launcher, Catch::Contains("MPICH"));
  }
  {
    LauncherEnvironment slurm_pmix({{"PMIX_RANK", "5"}, {"SLURM_STEP_NUM_TASKS", "8"}});
    CHECK(LauncherPromises().promised_ranks == 8);
    CHECK(LauncherPromises().promised_rank == 5);
  }
}

TEST_CASE("several tasks that a launcher started without MPI are no coordinators, and one of them says so", "[mpi]") {
  struct Launch {
    std::map<std::string, std::string> variables;
    const char* says;  // null: this is no separate task
    bool speaks = true;
  };
  const Launch launches[] = {
      {{{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_PROCID", "0"}}, "srun started 8 tasks"},
      {{{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_PROCID", "7"}}, "`srun --mpi=pmix -n 8 cluster-iobench …`", false},
      {{{"FLUX_JOB_SIZE", "4"}, {"FLUX_TASK_RANK", "0"}}, "flux run started 4 tasks"},
      {{{"JSM_NAMESPACE_SIZE", "2"}, {"JSM_NAMESPACE_RANK", "0"}}, "`mpirun -np 2 cluster-iobench …`"},
      {{{"PALS_RANKID", "3"}}, "unset PALS_RANKID"},  // nobody says how many there are
      // A batch script, and its only coordinator.
      {{{"SLURM_PROCID", "0"}}, nullptr},
      {{{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}}, nullptr},
      {{{"FLUX_JOB_SIZE", "1"}, {"FLUX_TASK_RANK", "0"}}, nullptr},
      // With MPI.
      {{{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_PROCID", "1"}, {"PMIX_RANK", "1"}}, nullptr},
      {{{"SLURM_STEP_NUM_TASKS", "2"}, {"OMPI_COMM_WORLD_SIZE", "16"}}, nullptr},
  };
  for (const Launch& launch : launches) {
    const LauncherEnvironment environment(launch.variables);
    const std::optional<SeparateTask> task = SeparateTaskHere();
    CAPTURE(launch.variables.begin()->first);
    REQUIRE(task.has_value() == (launch.says != nullptr));
    if (!task.has_value()) continue;
    CHECK(task->speaks == launch.speaks);
    CHECK_THAT(std::string(task->refusal.message()), Catch::Contains(launch.says));
  }
}

TEST_CASE("a rank looks often after a message, seldom while it waits, least while lanes run", "[mpi]") {
  constexpr int64_t kMs = 1'000'000;
  MpiNap nap(4, 2);
  nap.OnMessage(1000 * kMs);
  CHECK(nap.NapNs(1000 * kMs, false) == 200'000);
  CHECK(nap.NapNs(1004 * kMs, false) == 200'000);
  CHECK(nap.NapNs(1005 * kMs, false) == 500'000);  // a tenth of 5 ms of silence
  CHECK(nap.NapNs(1010 * kMs, false) == 1 * kMs);
  CHECK(nap.NapNs(9000 * kMs, false) == 2 * kMs);
  nap.SetLanesRunning(true);
  CHECK(nap.NapNs(1004 * kMs, false) == 200'000);  // a ping during the phase comes in bursts
  CHECK(nap.NapNs(1005 * kMs, false) == 10 * kMs);
  CHECK(nap.NapNs(9000 * kMs, true) == 50'000);
  nap.SetLanesRunning(false);
  CHECK(nap.NapNs(9000 * kMs, false) == 2 * kMs);
}

TEST_CASE("many ranks on few processors nap longer", "[mpi]") {
  MpiNap nap(32, 2);
  nap.OnMessage(0);
  CHECK(nap.NapNs(0, false) == 800'000);
  CHECK(nap.NapNs(0, true) == 200'000);
  CHECK(nap.NapNs(7'000'000, false) == 800'000);
  MpiNap crowd(1000, 1);
  crowd.OnMessage(0);
  CHECK(crowd.NapNs(7'000'000, false) == MpiNap::kIdleNs);
}

TEST_CASE("the module is looked for beside the program and in its installation", "[mpi]") {
  const std::vector<std::string> places = MpiModulePlaces("/opt/iobench/bin");
  CHECK(places.at(0) == "/opt/iobench/bin/cluster-iobench-mpi.so");
  CHECK(std::count(places.begin(), places.end(), "/opt/iobench/lib/cluster-iobench/cluster-iobench-mpi.so") ==
        1);
  CHECK(std::count(places.begin(), places.end(),
                   "/opt/iobench/lib64/cluster-iobench/cluster-iobench-mpi.so") == 1);
}

TEST_CASE("a missing MPI module is named, and what to do without", "[mpi]") {
  setenv("CLUSTER_IOBENCH_MPI_MODULE", "/nowhere/module.so", 1);
  const absl::Status status = LoadMpi().status();
  unsetenv("CLUSTER_IOBENCH_MPI_MODULE");
  CHECK(absl::IsUnavailable(status));
  CHECK_THAT(std::string(status.message()),
             Catch::Contains("/nowhere/module.so") && Catch::Contains("--transport local"));
}

// An MPI of one process: what is sent waits here, and each transfer is done when the test says so.
struct FakeMpi {
  struct Transfer {
    bool done = false;
  };
  struct Message {
    int from;
    std::string bytes;
  };
  std::vector<Message> sent_to_us;  // found by probe, oldest first
  size_t probed = 0;
  std::vector<Transfer*> receives;  // in the order in which they were started
  std::vector<Transfer*> sends;
};
FakeMpi fake;

const MpiBytes kFakeBytes = {
    IOBENCH_MPI_BYTES_VERSION,
    [] { return "Fake MPI 1.0"; },
    [](int*, int, int*, int*, int*) { return 0; },
    [](int to, const void*, size_t, void** transfer) {
      if (to == 99) return 7;
      *transfer = fake.sends.emplace_back(new FakeMpi::Transfer);
      return 0;
    },
    [](int* found, int* from, size_t* byte_count, void** message) {
      *found = fake.probed < fake.sent_to_us.size();
      if (!*found) return 0;
      FakeMpi::Message& next = fake.sent_to_us[fake.probed++];
      *from = next.from;
      *byte_count = next.bytes.size();
      *message = &next;
      return 0;
    },
    [](void* message, void* bytes, size_t byte_count, void** transfer) {
      std::memcpy(bytes, static_cast<FakeMpi::Message*>(message)->bytes.data(), byte_count);
      *transfer = fake.receives.emplace_back(new FakeMpi::Transfer);
      return 0;
    },
    [](void**) { return 0; },
    [](void* transfer, int* done) {
      *done = static_cast<FakeMpi::Transfer*>(transfer)->done;
      if (*done) delete static_cast<FakeMpi::Transfer*>(transfer);
      return 0;
    },
    [] { return 0; },
    [](int) {},
    [](int error, char* text, size_t) { std::strcpy(text, error == 7 ? "no such rank" : "?"); },
    nullptr,
};

TEST_CASE("letters of one rank keep their order, whichever transfer is done first", "[mpi]") {
  fake = FakeMpi();
  fake.sent_to_us = {{1, "large"}, {1, "small"}, {2, "other"}};
  MpiMail mail(kFakeBytes);
  REQUIRE(mail.Progress().ok());
  CHECK(mail.under_way());
  CHECK_FALSE(mail.Take().has_value());

  fake.receives[1]->done = true;
  fake.receives[2]->done = true;
  REQUIRE(mail.Progress().ok());
  const std::optional<MpiLetter> first = mail.Take();
  REQUIRE(first.has_value());
  CHECK(first->from == 2);
  CHECK(first->bytes == "other");
  CHECK_FALSE(mail.Take().has_value());  // "small" waits for "large"

  fake.receives[0]->done = true;
  REQUIRE(mail.Progress().ok());
  CHECK(mail.Take()->bytes == "large");
  CHECK(mail.Take()->bytes == "small");
  CHECK_FALSE(mail.under_way());
}

TEST_CASE("a letter is under way until its bytes may be freed", "[mpi]") {
  fake = FakeMpi();
  MpiMail mail(kFakeBytes);
  REQUIRE(mail.Send(1, "hello").ok());
  REQUIRE(mail.Progress().ok());
  CHECK(mail.is_sending());
  fake.sends[0]->done = true;
  REQUIRE(mail.Progress().ok());
  CHECK_FALSE(mail.is_sending());
}

TEST_CASE("what MPI says stands in the status", "[mpi]") {
  MpiMail mail(kFakeBytes);
  const absl::Status status = mail.Send(99, "");
  CHECK(absl::IsInternal(status));
  CHECK(status.message() == "MPI: send: no such rank");
  CHECK_FALSE(mail.is_sending());
}

}  // namespace
}  // namespace iobench
