// A lane of engine uring against a bare liburing loop: the same records of the same cached file, in the same order and
// with the same number in flight, files and buffers registered on both sides. Ours has everything on (clock, histogram,
// timeline, live cell, incompressible data), the bare loop nothing, and constant buffers. Passes alternate; the figure
// is the median over pairs.
//
//   uring_bench --directory /dev/shm --case 4k:random-read:1:uring:32 …
//
// One lane a case; the last number is the depth. Output: see pairs.h.
#include <liburing.h>
#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "tests/perf/file_cases.h"
#include "tests/perf/pairs.h"
#include "worker/data/aligned_buffer.h"
#include "worker/engine/io_engine.h"

namespace iobench {
namespace {

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
  result.record_bytes = RecordBytesOf(parts[0]);
  result.operation = OperationOf(parts[1]);
  if (result.operation->mixes() || result.operation->creates_files)
    Fail("the bare loop reads or rewrites what is there");
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

void RunCase(const FileCases& cases, const Case& what) {
  const DataFile file(cases.directory, 0, cases.file_bytes);
  const bool reads = !what.operation->writes();
  auto stream = *MakeOpStream(*what.operation,
                              {.object_bytes = cases.file_bytes / what.record_bytes * what.record_bytes,
                               .record_bytes = what.record_bytes});
  const std::vector<uint64_t> offsets = OffsetsOf(*stream);
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
                      .directory = cases.directory,
                      .files = {{.name = file.name, .bytes = cases.file_bytes}}};
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
  Pairs pairs;
  for (int pair = 0; pair < cases.pair_count; ++pair) {
    Cost bare_cost, lane_cost;
    for (const bool is_bare : {pair % 2 == 0, pair % 2 != 0}) {  // who goes first alternates too
      if (is_bare) {
        bare_cost = CostOf([&] { bare.Pass(offsets, reads); });
      } else {
        prepare_lane();
        lane_cost = CostOf(lane_pass);
      }
    }
    pairs.Add(offsets.size(), {&bare_cost, 1}, {&lane_cost, 1});
  }
  pairs.Print(what.text);
}

}  // namespace
}  // namespace iobench

int main(int argc, char** argv) {
  const iobench::FileCases cases = iobench::ParseFileCases(argc, argv, "RECORD:OPERATION:1:uring:DEPTH");
  for (const std::string& text : cases.cases) iobench::RunCase(cases, iobench::ParseCase(text));
  return 0;
}
