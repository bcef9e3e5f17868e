// A metadata lane of ours against a bare loop: create, stat, find and unlink of the same empty files in one directory,
// once through the metadata engine with everything on (clock, histogram, timeline, live cell, names made on the fly)
// and once through nothing but openat/close, fstatat and unlinkat on names that were made before, and for find
// getdents64, fnmatch and fstatat. They take turns, also in going first; the figure is the median over pairs.
//
//   metadata_bench --directory /dev/shm --items 10000 --pairs 41
//
// Output, a line for each operation: see pairs.h.
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "tests/perf/pairs.h"
#include "worker/metadata/metadata_engine.h"
#include "worker/metadata/metadata_stream.h"
#include "worker/metadata/tree_keeper.h"

namespace iobench {
namespace {

constexpr const char* kOperations[] = {"create", "stat", "find", "unlink"};
constexpr size_t kOperationCount = std::size(kOperations);
constexpr char kPattern[] = "*01*";

class Bare {
 public:
  Bare(int directory_fd, const std::string& root, uint64_t item_count) {
    root_fd_ = openat(directory_fd, root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (uint64_t i = 0; i < item_count; ++i) {
      char name[32];
      std::snprintf(name, sizeof(name), "item-%08llu", static_cast<unsigned long long>(i));
      names_.emplace_back(name);
    }
  }
  ~Bare() { close(root_fd_); }
  Bare(const Bare&) = delete;
  Bare& operator=(const Bare&) = delete;

  Cost Does(size_t operation) {
    int failed = 0;
    const Cost cost = CostOf([&] {
      switch (operation) {
        case 0:
          for (const std::string& name : names_) {
            const int fd =
                openat(root_fd_, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
            failed |= fd < 0 || close(fd) != 0;
          }
          break;
        case 1:
          for (const std::string& name : names_) {
            struct stat facts;
            failed |= fstatat(root_fd_, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW);
          }
          break;
        case 2:
          failed |= Finds() == 0;
          break;
        default:
          for (const std::string& name : names_) failed |= unlinkat(root_fd_, name.c_str(), 0);
      }
    });
    if (failed != 0) Fail(std::string("the bare ") + kOperations[operation] + " failed");
    return cost;
  }

 private:
  struct Entry {
    uint64_t inode;
    int64_t offset;
    uint16_t record_bytes;
    uint8_t type;
    char name[1];
  };

  uint64_t Finds() {
    const int fd = openat(root_fd_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    uint64_t found = 0;
    long listed = 0;
    while ((listed = syscall(SYS_getdents64, fd, listing_.data(), listing_.size())) > 0) {
      for (long at = 0; at < listed;) {
        const auto* const entry = reinterpret_cast<const Entry*>(listing_.data() + at);
        at += entry->record_bytes;
        struct stat facts;
        if (fstatat(fd, entry->name, &facts, AT_SYMLINK_NOFOLLOW) != 0) return 0;
        if (fnmatch(kPattern, entry->name, 0) == 0) ++found;
      }
    }
    close(fd);
    return found;
  }

  int root_fd_;
  std::vector<std::string> names_;
  std::vector<char> listing_ = std::vector<char>(64 << 10);
};

class Lane {
 public:
  Lane(int directory_fd, const std::string& directory, uint64_t item_count)
      : directory_fd_(directory_fd), directory_(directory) {
    tree_.set_items_per_lane(item_count);
    tree_.set_branching(1);
    tree_.mutable_find()->set_name(kPattern);
    const MetadataWork work = WorkFor(0);
    if (!PrepareTree(directory_fd, directory, work, nullptr, stop_).ok()) Fail("cannot prepare the tree");
    root_name_ = work.names.root_name();
  }

  // Leaves everything that belongs to preparation in a run out of the cost.
  Cost Does(size_t operation) {
    const MetadataWork work = WorkFor(operation);
    const auto engine = MakeMetadataEngine({.call = Call::kMetadata, .ticks = ChosenTickSource()}, work);
    const auto stream = MakeMetadataStream(*work.operation, work.names, {.item_count = work.item_count});
    LaneRecorder recorder(work.operation->kinds, CurrentTickScale());
    LaneContext context{
        .stream = *stream, .payload = nullptr, .read_buffer = nullptr, .stop = stop_, .recorder = recorder};
    FileSet files{.directory_fd = directory_fd_, .directory = directory_, .files = {}};
    files.files.push_back({.name = root_name_});
    if (!engine->MakeReady(context).ok() || !engine->Open(files, {}).ok()) Fail("cannot open the tree");
    LoopEnd end;
    const Cost cost = CostOf([&] { end = engine->Run(context); });
    if (end.reason != LoopEnd::Reason::kDone) {
      Fail(std::string(engine->Explain(end)->status.message()));
    }
    state_ = StateAfter(state_, work.effect, tree_);
    return cost;
  }

 private:
  MetadataWork WorkFor(size_t operation) const {
    return MetadataWork(**FindOperation(kOperations[operation]), tree_, state_, 0, 0, 1);
  }

  const int directory_fd_;
  const std::string directory_;
  v1::Tree tree_;
  v1::TreeState state_;
  std::string root_name_;
  StopCell stop_;
};

void Run(const std::string& base, uint64_t item_count, int pair_count) {
  std::string directory = base + "/metadata_bench-XXXXXX";
  if (mkdtemp(directory.data()) == nullptr) Fail("cannot make a directory in " + base);
  const int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  Pairs of[kOperationCount];
  {
    // Both use the same directory: two would differ in their places in the kernel's tables, worth some percent.
    Lane lane(fd, directory, item_count);
    Bare bare(fd, "tree-000000.0", item_count);
    for (int pair = -1; pair < pair_count; ++pair) {  // the first does not count
      Cost costs_of[kOperationCount][2];
      for (const bool is_bare : {pair % 2 == 0, pair % 2 != 0}) {
        for (size_t operation = 0; operation < kOperationCount; ++operation) {
          costs_of[operation][is_bare ? 0 : 1] = is_bare ? bare.Does(operation) : lane.Does(operation);
        }
      }
      for (size_t operation = 0; operation < kOperationCount && pair >= 0; ++operation) {
        const Cost(&costs)[2] = costs_of[operation];
        of[operation].Add(item_count, {&costs[0], 1}, {&costs[1], 1});
      }
    }
  }
  std::vector<std::string> foreign;
  RemoveTree(fd, directory, "tree-000000.0", 1, foreign).IgnoreError();
  close(fd);
  rmdir(directory.c_str());
  for (size_t i = 0; i < kOperationCount; ++i) of[i].Print(kOperations[i]);
}

}  // namespace
}  // namespace iobench

int main(int argc, char** argv) {
  std::string directory = "/dev/shm";
  uint64_t item_count = 10'000;
  int pair_count = 41;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--directory") {
      directory = argv[i + 1];
    } else if (name == "--items") {
      item_count = std::max(1ull, std::strtoull(argv[i + 1], nullptr, 10));
    } else if (name == "--pairs") {
      pair_count = std::max(1, std::atoi(argv[i + 1]));
    } else {
      iobench::Fail("unknown option " + name +
                    "; usage: metadata_bench [--directory DIR] [--items N] [--pairs N]");
    }
  }
  iobench::Run(directory, item_count, pair_count);
  return 0;
}
