// Lanes of ours against bare loops: the same records of the same cached files, in the same order, once through the
// engine with everything on (clock, histogram, timeline, live cell, incompressible data), each lane a thread as in a
// worker, and once through nothing but the same calls on a constant buffer (bare_loop.h), each loop a process. Passes
// alternate; the figure is the median over pairs.
//
//   posix_bench --directory /dev/shm --case 4k:read:1 --case 1k:random-read:2 --case 64k:read:1:mmap …
//
// A case without an engine takes the operation's own. "4k:rewrite:1:posix:fresh": the bare loop fills its buffer before
// each write. Output: see pairs.h.
#include <barrier>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_split.h"
#include "common/model/engine.h"
#include "tests/perf/bare_loop.h"
#include "tests/perf/bare_process.h"
#include "tests/perf/file_cases.h"
#include "tests/perf/pairs.h"
#include "worker/engine/io_engine.h"
#include "worker/lane/own_descriptors.h"

namespace iobench {
namespace {

struct Case {
  std::string text;
  uint32_t record_bytes = 0;
  const OperationSpec* operation = nullptr;
  size_t lane_count = 1;
  std::string engine;
  bool fresh_data = false;

  uint32_t op_bytes() const {
    return operation->call == Call::kVector ? kMaxRecordsPerVector * record_bytes : record_bytes;
  }
};

Case ParseCase(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  if (parts.size() < 3 || parts.size() > 5 || (parts.size() == 5 && parts[4] != "fresh")) {
    Fail(
        "a case is RECORD:OPERATION:LANES[:ENGINE[:fresh]], e.g. 4k:read:1, 64k:read:1:mmap or 1m:rewrite:1:posix:fresh");
  }
  const OperationSpec* const operation = OperationOf(parts[1]);
  if (operation->mixes() || operation->kind() == OpKind::kUpdate || operation->is_metadata()) {
    Fail("the bare loop only reads or only writes");
  }
  const auto engine = EngineFor(*operation, parts.size() > 3 ? parts[3] : "posix");
  if (!engine.ok()) Fail(std::string(engine.status().message()));
  return {text,
          RecordBytesOf(parts[0]),
          operation,
          std::strtoul(parts[2].c_str(), nullptr, 10),
          std::string((*engine)->name),
          parts.size() == 5};
}

// One lane of a case on its file.
class LaneSide {
 public:
  LaneSide(const FileCases& cases, const Case& what, uint32_t lane, const DataFile& file) : what_(what) {
    stream_ = StreamOf(cases, what, lane);
    payload_ = std::make_unique<Payload>(*Payload::Create(1, lane, 0, what.op_bytes()));
    buffer_ = std::make_unique<AlignedBuffer>(*AlignedBuffer::Allocate(what.op_bytes()));
    files_.directory_fd = file.directory_fd;
    files_.directory = cases.directory;
    files_.files.push_back({.name = file.name, .bytes = cases.file_bytes});
    engine_ = *MakeEngine(what.engine, {.call = what.operation->call,
                                        .ticks = ChosenTickSource(),
                                        .record_bytes = what.record_bytes,
                                        .longest_op_bytes = what.op_bytes()});
    if (what.engine != "mmap") OpenEngine();
  }
  ~LaneSide() { engine_->Close().IgnoreError(); }
  LaneSide(const LaneSide&) = delete;
  LaneSide& operator=(const LaneSide&) = delete;

  static std::unique_ptr<OpStream> StreamOf(const FileCases& cases, const Case& what, uint32_t lane) {
    return *MakeOpStream(*what.operation,
                         {.object_bytes = cases.file_bytes, .op_bytes = what.op_bytes(), .lane = lane});
  }

  // The recorder and the first Fill belong to preparation, as they do in a run.
  void PreparePass() {
    if (what_.engine == "mmap") OpenEngine();  // maps anew, as each phase does: page faults belong to the ops
    recorder_ = std::make_unique<LaneRecorder>(what_.operation->kinds, CurrentTickScale());
    stream_->Restart(0);
  }
  void Pass() {
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

  const Case what_;
  FileSet files_;
  std::unique_ptr<OpStream> stream_;
  std::unique_ptr<Payload> payload_;
  std::unique_ptr<AlignedBuffer> buffer_;
  std::unique_ptr<IoEngine> engine_;
  std::unique_ptr<LaneRecorder> recorder_;
  StopCell stop_;
};

// The lanes of a case: a thread each, as a worker has them.
class Lanes {
 public:
  Lanes(const FileCases& cases, const Case& what, const std::vector<std::unique_ptr<DataFile>>& files)
      : begin_(static_cast<std::ptrdiff_t>(files.size()) + 1),
        start_(static_cast<std::ptrdiff_t>(files.size())),
        costs_(files.size()) {
    for (uint32_t i = 0; i < files.size(); ++i) {
      threads_.emplace_back([this, &cases, what, i, &file = *files[i]] { Run(cases, what, i, file); });
    }
  }
  ~Lanes() {
    over_ = true;
    begin_.arrive_and_wait();
    for (std::thread& thread : threads_) thread.join();
  }
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  std::vector<Cost> Pass() {
    begin_.arrive_and_wait();
    begin_.arrive_and_wait();
    return costs_;
  }

 private:
  void Run(const FileCases& cases, const Case& what, uint32_t lane, const DataFile& file) {
    UnshareDescriptors(file.directory_fd);
    LaneSide side(cases, what, lane, file);
    for (;;) {
      begin_.arrive_and_wait();
      if (over_) return;
      side.PreparePass();
      start_.arrive_and_wait();
      costs_[lane] = CostOf([&] { side.Pass(); });
      begin_.arrive_and_wait();
    }
  }

  std::barrier<> begin_, start_;
  bool over_ = false;  // written before a barrier
  std::vector<Cost> costs_;
  std::vector<std::thread> threads_;
};

void RunCase(const FileCases& cases, const Case& what) {
  std::vector<std::unique_ptr<DataFile>> files;
  std::vector<std::vector<uint64_t>> offsets;
  for (uint32_t i = 0; i < what.lane_count; ++i) {
    files.push_back(std::make_unique<DataFile>(cases.directory, i, cases.file_bytes));
    offsets.push_back(OffsetsOf(*LaneSide::StreamOf(cases, what, i)));
  }
  BareProcesses bare(what.lane_count, what.op_bytes(), [&](size_t i) {
    return MakeBareLoop({.engine = what.engine,
                         .call = what.operation->call,
                         .writes = what.operation->writes(),
                         .fresh_data = what.fresh_data,
                         .record_bytes = what.record_bytes,
                         .op_bytes = what.op_bytes(),
                         .file_bytes = cases.file_bytes},
                        cases.directory + "/" + files[i]->name, offsets[i]);
  });
  Lanes lanes(cases, what, files);
  // One pass of each that does not count.
  bare.Pass();
  lanes.Pass();
  Pairs pairs;
  for (int pair = 0; pair < cases.pair_count; ++pair) {
    // Who goes first alternates.
    const std::vector<Cost> before = pair % 2 == 0 ? bare.Pass() : lanes.Pass();
    const std::vector<Cost> after = pair % 2 == 0 ? lanes.Pass() : bare.Pass();
    pairs.Add(offsets[0].size(), pair % 2 == 0 ? before : after, pair % 2 == 0 ? after : before);
  }
  pairs.Print(what.text);
}

}  // namespace
}  // namespace iobench

int main(int argc, char** argv) {
  const iobench::FileCases cases =
      iobench::ParseFileCases(argc, argv, "RECORD:OPERATION:LANES[:ENGINE[:fresh]]");
  for (const std::string& text : cases.cases) iobench::RunCase(cases, iobench::ParseCase(text));
  return 0;
}
