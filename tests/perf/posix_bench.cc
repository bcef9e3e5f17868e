// A lane of ours against a bare loop: the same records of the same cached files, in the same order, once through the
// engine with everything on (clock, histogram, timeline, live cell, incompressible data) and once through nothing but
// the same calls on a constant buffer (bare_loop.h). Passes alternate; the figure is the median over pairs.
//
//   posix_bench --directory /dev/shm --case 4k:read:1 --case 1k:random-read:2 --case 64k:read:1:mmap …
//
// A case without an engine takes the operation's own. Output, one line of JSON per case: `ratio` is ours / bare by wall
// time, `cpu_ratio` by the lanes' CPU time (what to look at on a machine that others use too), `kops` are thousand ops
// per second of all lanes.
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_split.h"
#include "common/engine.h"
#include "common/units.h"
#include "tests/perf/bare_loop.h"
#include "worker/engine/io_engine.h"

namespace iobench {
namespace {

[[noreturn]] void Fail(const std::string& message) {
  std::fprintf(stderr, "posix_bench: %s\n", message.c_str());
  std::exit(1);
}

struct Options {
  std::string directory = "/dev/shm";
  uint64_t file_bytes = 256_MiB;
  int pair_count = 15;
  std::vector<std::string> cases;
};

struct Case {
  std::string text;
  uint32_t record_bytes = 0;
  const OperationSpec* operation = nullptr;
  size_t lane_count = 1;
  std::string engine;

  uint32_t op_bytes() const {
    return operation->call == Call::kVector ? kMostRecordsPerVector * record_bytes : record_bytes;
  }
};

Case ParseCase(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  if (parts.size() < 3 || parts.size() > 4) {
    Fail("a case is RECORD:OPERATION:LANES[:ENGINE], e.g. 4k:read:1 or 64k:read:1:mmap");
  }
  const auto record_bytes = ParseBytes(parts[0], 1);
  const auto operation = FindOperation(parts[1]);
  if (!record_bytes.ok()) Fail(std::string(record_bytes.status().message()));
  if (!operation.ok()) Fail(std::string(operation.status().message()));
  if ((*operation)->mixes() || (*operation)->kind() == OpKind::kUpdate || (*operation)->is_metadata()) {
    Fail("the bare loop only reads or only writes");
  }
  const auto engine = EngineFor(**operation, parts.size() == 4 ? parts[3] : "posix");
  if (!engine.ok()) Fail(std::string(engine.status().message()));
  return {text, static_cast<uint32_t>(*record_bytes), *operation, std::strtoul(parts[2].c_str(), nullptr, 10),
          std::string((*engine)->name)};
}

struct Cost {
  int64_t wall_ns = 0;
  int64_t cpu_ns = 0;
};

int64_t ThreadCpuNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * kNanosPerSecond + now.tv_nsec;
}

Cost CostOf(const std::function<void()>& pass) {
  const int64_t cpu_begin_ns = ThreadCpuNs();
  const int64_t wall_begin_ns = MonotonicNowNs();
  pass();
  const int64_t wall_end_ns = MonotonicNowNs();
  return {wall_end_ns - wall_begin_ns, ThreadCpuNs() - cpu_begin_ns};
}

// One thread's side of a case: its file, and a pass over it in either way.
class Side {
 public:
  Side(const Options& options, const Case& what, uint32_t lane)
      : what_(what),
        name_("posix_bench." + std::to_string(getpid()) + "." + std::to_string(lane)),
        directory_fd_(open(options.directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    if (directory_fd_ < 0) Fail("cannot open " + options.directory);
    const StreamShape shape{
        .object_bytes = options.file_bytes, .record_bytes = what.op_bytes(), .lane = lane};
    stream_ = *MakeOpStream(*what.operation, shape);
    std::vector<Op> batch(4096);
    std::vector<uint64_t> offsets;
    while (const size_t count = stream_->Fill(batch)) {
      for (size_t i = 0; i < count; ++i) offsets.push_back(batch[i].offset);
    }
    payload_ = std::make_unique<Payload>(*Payload::Create(1, lane, 0, what.op_bytes()));
    buffer_ = std::make_unique<AlignedBuffer>(*AlignedBuffer::Allocate(what.op_bytes()));
    files_.directory_fd = directory_fd_;
    files_.directory = options.directory;
    files_.files.push_back({.name = name_, .bytes = options.file_bytes});
    MakeFile(options.file_bytes);
    engine_ = *MakeEngine(what.engine, {.call = what.operation->call,
                                        .ticks = ChosenTickSource(),
                                        .record_bytes = what.record_bytes,
                                        .longest_op_bytes = what.op_bytes()});
    bare_ = MakeBareLoop({.engine = what.engine,
                          .call = what.operation->call,
                          .writes = what.operation->writes(),
                          .record_bytes = what.record_bytes,
                          .op_bytes = what.op_bytes(),
                          .file_bytes = options.file_bytes},
                         options.directory + "/" + name_, std::move(offsets));
    if (what.engine != "mmap") OpenEngine();
  }
  ~Side() {
    engine_->Close().IgnoreError();
    unlinkat(directory_fd_, name_.c_str(), 0);
    close(directory_fd_);
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  size_t op_count() const { return bare_->op_count(); }
  void PrepareBarePass() { bare_->Prepare(); }
  void BarePass() {
    if (!bare_->Pass(buffer_->data())) Fail("the bare loop moved too little");
  }

  // The recorder and the first Fill belong to preparation, as they do in a run.
  void PrepareLanePass() {
    if (what_.engine == "mmap") OpenEngine();  // maps anew, as each phase does: page faults belong to the ops
    recorder_ = std::make_unique<LaneRecorder>(what_.operation->kinds, CurrentTickScale());
    stream_->Restart(0);
  }
  void LanePass() {
    LaneContext lane{.stream = *stream_,
                     .payload = payload_.get(),
                     .read_buffer = buffer_->data(),
                     .stop = stop_,
                     .recorder = *recorder_};
    if (engine_->Run(lane).reason != LoopEnd::Reason::kDone) Fail("the lane did not run to its end");
  }

 private:
  void OpenEngine() {
    const OpenMode mode{.read = true, .write = what_.operation->writes()};
    if (!engine_->Open(files_, mode).ok()) Fail("cannot open the engine's file");
  }
  void MakeFile(uint64_t bytes) {
    const int fd = openat(directory_fd_, name_.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
    const std::vector<char> data(1_MiB, 'x');
    for (uint64_t at = 0; at < bytes; at += data.size()) {
      const size_t length = std::min<uint64_t>(data.size(), bytes - at);
      if (pwrite(fd, data.data(), length, static_cast<off_t>(at)) != static_cast<ssize_t>(length))
        Fail("no space");
    }
    close(fd);
  }

  Case what_;
  std::string name_;
  int directory_fd_;
  FileSet files_;
  std::unique_ptr<OpStream> stream_;
  std::unique_ptr<Payload> payload_;
  std::unique_ptr<AlignedBuffer> buffer_;
  std::unique_ptr<IoEngine> engine_;
  std::unique_ptr<BareLoop> bare_;
  std::unique_ptr<LaneRecorder> recorder_;
  StopCell stop_;
};

double MedianOf(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

void RunCase(const Options& options, const Case& what) {
  struct Round {
    std::vector<Cost> bare, lane;  // by lane
  };
  std::vector<Round> rounds(options.pair_count);
  for (Round& round : rounds) {
    round.bare.resize(what.lane_count);
    round.lane.resize(what.lane_count);
  }
  std::barrier start(static_cast<std::ptrdiff_t>(what.lane_count));
  size_t op_count = 0;
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < what.lane_count; ++i) {
    threads.emplace_back([&, i] {
      Side side(options, what, i);
      if (i == 0) op_count = side.op_count();
      // Both once before it counts.
      side.PrepareBarePass();
      side.BarePass();
      side.PrepareLanePass();
      side.LanePass();
      for (size_t pair = 0; pair < rounds.size(); ++pair) {
        for (const bool is_bare : {pair % 2 == 0, pair % 2 != 0}) {  // who goes first alternates too
          is_bare ? side.PrepareBarePass() : side.PrepareLanePass();
          start.arrive_and_wait();
          const Cost cost = CostOf([&] { is_bare ? side.BarePass() : side.LanePass(); });
          (is_bare ? rounds[pair].bare : rounds[pair].lane)[i] = cost;
        }
      }
      start.arrive_and_wait();  // nobody tears down while another measures
    });
  }
  for (std::thread& thread : threads) thread.join();

  // Rates add up over lanes, CPU time does too.
  const auto rate = [&](const std::vector<Cost>& costs) {
    double sum = 0;
    for (const Cost& cost : costs) sum += static_cast<double>(op_count) / static_cast<double>(cost.wall_ns);
    return sum;
  };
  const auto cpu = [](const std::vector<Cost>& costs) {
    double sum = 0;
    for (const Cost& cost : costs) sum += static_cast<double>(cost.cpu_ns);
    return sum;
  };
  const double ops_of_all = static_cast<double>(op_count * what.lane_count);
  std::vector<double> ratios, cpu_ratios, bare_kops, lane_kops, bare_cpu_ns, lane_cpu_ns;
  for (const Round& round : rounds) {
    ratios.push_back(rate(round.lane) / rate(round.bare));
    cpu_ratios.push_back(cpu(round.bare) / cpu(round.lane));
    bare_kops.push_back(rate(round.bare) * 1e6);
    lane_kops.push_back(rate(round.lane) * 1e6);
    bare_cpu_ns.push_back(cpu(round.bare) / ops_of_all);
    lane_cpu_ns.push_back(cpu(round.lane) / ops_of_all);
  }
  std::printf(
      "{\"case\": \"%s\", \"ratio\": %.4f, \"cpu_ratio\": %.4f, \"bare_kops\": %.1f, \"kops\": %.1f, "
      "\"bare_cpu_ns_per_op\": %.1f, \"cpu_ns_per_op\": %.1f, \"pairs\": %zu}\n",
      what.text.c_str(), MedianOf(ratios), MedianOf(cpu_ratios), MedianOf(bare_kops), MedianOf(lane_kops),
      MedianOf(bare_cpu_ns), MedianOf(lane_cpu_ns), rounds.size());
  std::fflush(stdout);
}

Options ParseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc)
      Fail(
          "usage: posix_bench [--directory DIR] [--file-bytes N] [--pairs N] --case "
          "RECORD:OPERATION:LANES[:ENGINE] …");
    const std::string value = argv[i + 1];
    if (name == "--directory") {
      options.directory = value;
    } else if (name == "--file-bytes") {
      const auto bytes = ParseBytes(value, 1);
      if (!bytes.ok()) Fail(std::string(bytes.status().message()));
      options.file_bytes = *bytes;
    } else if (name == "--pairs") {
      options.pair_count = std::max(1, std::atoi(value.c_str()));
    } else if (name == "--case") {
      options.cases.push_back(value);
    } else {
      Fail("unknown option " + name);
    }
  }
  if (options.cases.empty()) Fail("no --case given");
  return options;
}

}  // namespace
}  // namespace iobench

int main(int argc, char** argv) {
  const iobench::Options options = iobench::ParseOptions(argc, argv);
  for (const std::string& text : options.cases) iobench::RunCase(options, iobench::ParseCase(text));
  return 0;
}
