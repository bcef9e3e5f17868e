// A lane of engine uring against a bare liburing loop: the same records of the same cached file, in the same order and
// with the same number in flight, files and buffers registered on both sides. Ours has everything on (clock, histogram,
// timeline, live cell, incompressible data), the other nothing and constant buffers. Passes alternate; the figure is
// the median over pairs.
//
//   uring_bench --directory /dev/shm --case 4k:random-read:1:uring:32 …
//
// One lane a case; the last number is the depth. Output as posix_bench's: one line of JSON per case.
#include <fcntl.h>
#include <liburing.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "common/units.h"
#include "worker/aligned_buffer.h"
#include "worker/engine/io_engine.h"

namespace iobench {
namespace {

[[noreturn]] void Fail(const std::string& message) {
  std::fprintf(stderr, "uring_bench: %s\n", message.c_str());
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
  uint32_t depth = 0;
};

Case ParseCase(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  Case result{.text = text};
  if (parts.size() != 5 || parts[2] != "1" || parts[3] != "uring" ||
      !absl::SimpleAtoi(parts[4], &result.depth) || result.depth == 0) {
    Fail("a case is RECORD:OPERATION:1:uring:DEPTH, e.g. 4k:random-read:1:uring:32");
  }
  const auto record_bytes = ParseBytes(parts[0], 1);
  const auto operation = FindOperation(parts[1]);
  if (!record_bytes.ok()) Fail(std::string(record_bytes.status().message()));
  if (!operation.ok()) Fail(std::string(operation.status().message()));
  if ((*operation)->mixes() || (*operation)->creates_files)
    Fail("the bare loop reads or rewrites what is there");
  result.record_bytes = static_cast<uint32_t>(*record_bytes);
  result.operation = *operation;
  return result;
}

// Nothing but what moves the records.
class BareRing {
 public:
  BareRing(int fd, uint32_t depth, uint32_t record_bytes)
      : depth_(depth),
        record_bytes_(record_bytes),
        memory_(*AlignedBuffer::Allocate(size_t{depth} * record_bytes)) {
    if (io_uring_queue_init(
            depth, &ring_,
            IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_DEFER_TASKRUN) != 0 &&
        io_uring_queue_init(depth, &ring_, 0) != 0) {
      Fail("no io_uring here");
    }
    std::vector<iovec> vectors;
    for (uint32_t slot = 0; slot < depth; ++slot) vectors.push_back({BufferOf(slot), record_bytes});
    if (io_uring_register_buffers(&ring_, vectors.data(), depth) != 0) Fail("buffers cannot be registered");
    if (io_uring_register_files(&ring_, &fd, 1) != 0) Fail("the file cannot be registered");
  }
  ~BareRing() { io_uring_queue_exit(&ring_); }
  BareRing(const BareRing&) = delete;
  BareRing& operator=(const BareRing&) = delete;

  void Pass(const std::vector<uint64_t>& offsets, bool reads) {
    size_t begun = 0;
    size_t ended = 0;
    for (uint32_t slot = 0; slot < depth_ && begun < offsets.size(); ++slot)
      Begin(slot, offsets[begun++], reads);
    while (ended < offsets.size()) {
      io_uring_submit_and_wait(&ring_, 1);
      unsigned head = 0;
      unsigned count = 0;
      io_uring_cqe* entry = nullptr;
      io_uring_for_each_cqe(&ring_, head, entry) {
        if (entry->res != static_cast<int>(record_bytes_)) Fail("the bare loop moved too little");
        if (begun < offsets.size()) Begin(static_cast<uint32_t>(entry->user_data), offsets[begun++], reads);
        ++count;
      }
      io_uring_cq_advance(&ring_, count);
      ended += count;
    }
  }

 private:
  std::byte* BufferOf(uint32_t slot) { return memory_.data() + size_t{slot} * record_bytes_; }
  void Begin(uint32_t slot, uint64_t offset, bool reads) {
    io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
    if (reads) {
      io_uring_prep_read_fixed(entry, 0, BufferOf(slot), record_bytes_, offset, static_cast<int>(slot));
    } else {
      io_uring_prep_write_fixed(entry, 0, BufferOf(slot), record_bytes_, offset, static_cast<int>(slot));
    }
    io_uring_sqe_set_flags(entry, IOSQE_FIXED_FILE);
    io_uring_sqe_set_data64(entry, slot);
  }

  io_uring ring_{};
  const uint32_t depth_;
  const uint32_t record_bytes_;
  AlignedBuffer memory_;
};

struct Cost {
  int64_t wall_ns = 0;
  int64_t cpu_ns = 0;
};

int64_t ThreadCpuNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * kNanosPerSecond + now.tv_nsec;
}

template <typename Pass>
Cost CostOf(Pass pass) {
  const int64_t cpu_begin_ns = ThreadCpuNs();
  const int64_t wall_begin_ns = MonotonicNowNs();
  pass();
  const int64_t wall_end_ns = MonotonicNowNs();
  return {wall_end_ns - wall_begin_ns, ThreadCpuNs() - cpu_begin_ns};
}

double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// A file full of data below a directory; removed in the end.
class DataFile {
 public:
  DataFile(const std::string& directory, uint64_t bytes)
      : name("uring_bench." + std::to_string(getpid())),
        directory_fd(open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)),
        fd(openat(directory_fd, name.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600)) {
    if (fd < 0) Fail("no file can be made in " + directory);
    const std::vector<char> data(1_MiB, 'x');
    for (uint64_t at = 0; at < bytes; at += data.size()) {
      const size_t length = std::min<uint64_t>(data.size(), bytes - at);
      if (pwrite(fd, data.data(), length, static_cast<off_t>(at)) != static_cast<ssize_t>(length))
        Fail("no space");
    }
  }
  ~DataFile() {
    close(fd);
    unlinkat(directory_fd, name.c_str(), 0);
    close(directory_fd);
  }
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;

  const std::string name;
  const int directory_fd;
  const int fd;
};

void RunCase(const Options& options, const Case& what) {
  const DataFile file(options.directory, options.file_bytes);
  const bool reads = !what.operation->writes();
  auto stream = *MakeOpStream(*what.operation,
                              {.object_bytes = options.file_bytes / what.record_bytes * what.record_bytes,
                               .record_bytes = what.record_bytes});
  std::vector<uint64_t> offsets;
  std::vector<Op> batch(4096);
  while (const size_t count = stream->Fill(batch)) {
    for (size_t i = 0; i < count; ++i) offsets.push_back(batch[i].offset);
  }
  BareRing bare(file.fd, what.depth, what.record_bytes);

  Payload payload = *Payload::Create(1, 0, 0, what.record_bytes);
  const AlignedBuffer buffer = *AlignedBuffer::Allocate(what.record_bytes);
  StopCell stop;
  std::unique_ptr<LaneRecorder> recorder;
  const auto lane = [&] {
    return LaneContext{.stream = *stream,
                       .payload = &payload,
                       .read_buffer = buffer.data(),
                       .stop = stop,
                       .recorder = *recorder};
  };
  // The recorder belongs to preparation, as it does in a run.
  const auto prepare_lane = [&] {
    recorder = std::make_unique<LaneRecorder>(OpKinds{OpKind::kRead, OpKind::kWrite}, CurrentTickScale());
    stream->Restart(0);
  };
  prepare_lane();
  auto engine = *MakeEngine("uring", {.call = Call::kPositional,
                                      .ticks = ChosenTickSource(),
                                      .record_bytes = what.record_bytes,
                                      .longest_op_bytes = what.record_bytes,
                                      .depth = what.depth});
  LaneContext ready = lane();
  const FileSet files{.directory_fd = file.directory_fd,
                      .directory = options.directory,
                      .files = {{.name = file.name, .bytes = options.file_bytes}}};
  absl::Status status = engine->MakeReady(ready);
  if (status.ok()) status = engine->Open(files, {.read = true, .write = !reads});
  if (!status.ok()) Fail(std::string(status.message()));
  if (!engine->Note().empty()) Fail(engine->Note());
  const auto lane_pass = [&] {
    LaneContext context = lane();
    if (engine->Run(context).reason != LoopEnd::Reason::kDone) Fail("the lane did not run to its end");
  };

  bare.Pass(offsets, reads);
  lane_pass();
  std::vector<double> ratios, cpu_ratios, bare_kops, lane_kops, bare_cpu_ns, lane_cpu_ns;
  const auto op_count = static_cast<double>(offsets.size());
  for (int pair = 0; pair < options.pair_count; ++pair) {
    Cost bare_cost, lane_cost;
    for (const bool is_bare : {pair % 2 == 0, pair % 2 != 0}) {  // who goes first alternates too
      if (is_bare) {
        bare_cost = CostOf([&] { bare.Pass(offsets, reads); });
      } else {
        prepare_lane();
        lane_cost = CostOf(lane_pass);
      }
    }
    ratios.push_back(static_cast<double>(bare_cost.wall_ns) / static_cast<double>(lane_cost.wall_ns));
    cpu_ratios.push_back(static_cast<double>(bare_cost.cpu_ns) / static_cast<double>(lane_cost.cpu_ns));
    bare_kops.push_back(op_count / static_cast<double>(bare_cost.wall_ns) * 1e6);
    lane_kops.push_back(op_count / static_cast<double>(lane_cost.wall_ns) * 1e6);
    bare_cpu_ns.push_back(static_cast<double>(bare_cost.cpu_ns) / op_count);
    lane_cpu_ns.push_back(static_cast<double>(lane_cost.cpu_ns) / op_count);
  }
  std::printf(
      "{\"case\": \"%s\", \"ratio\": %.4f, \"cpu_ratio\": %.4f, \"bare_kops\": %.1f, \"kops\": %.1f, "
      "\"bare_cpu_ns_per_op\": %.1f, \"cpu_ns_per_op\": %.1f, \"pairs\": %zu}\n",
      what.text.c_str(), MedianOf(ratios), MedianOf(cpu_ratios), MedianOf(bare_kops), MedianOf(lane_kops),
      MedianOf(bare_cpu_ns), MedianOf(lane_cpu_ns), ratios.size());
  std::fflush(stdout);
}

Options ParseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc)
      Fail("usage: uring_bench [--directory DIR] [--file-bytes N] [--pairs N] --case CASE …");
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
