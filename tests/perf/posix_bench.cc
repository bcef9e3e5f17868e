// A lane of ours against a bare loop: the same records of the same cached files, in the same order, once through the
// engine with everything on (clock, histogram, timeline, live cell, incompressible data) and once through nothing but
// the same calls on a constant buffer (bare_loop.h). Passes alternate; the figure is the median over pairs.
//
//   posix_bench --directory /dev/shm --case 4k:read:1 --case 1k:random-read:2 --case 64k:read:1:mmap …
//
// A case without an engine takes the operation's own. Output: see pairs.h.
#include <barrier>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_split.h"
#include "common/engine.h"
#include "tests/perf/bare_loop.h"
#include "tests/perf/file_cases.h"
#include "tests/perf/pairs.h"
#include "worker/engine/io_engine.h"

namespace iobench {
namespace {

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
  const OperationSpec* const operation = OperationOf(parts[1]);
  if (operation->mixes() || operation->kind() == OpKind::kUpdate || operation->is_metadata()) {
    Fail("the bare loop only reads or only writes");
  }
  const auto engine = EngineFor(*operation, parts.size() == 4 ? parts[3] : "posix");
  if (!engine.ok()) Fail(std::string(engine.status().message()));
  return {text, RecordBytesOf(parts[0]), operation, std::strtoul(parts[2].c_str(), nullptr, 10),
          std::string((*engine)->name)};
}

// One thread's side of a case: its file, and a pass over it in either way.
class Side {
 public:
  Side(const FileCases& cases, const Case& what, uint32_t lane)
      : what_(what), file_(cases.directory, lane, cases.file_bytes) {
    const StreamShape shape{.object_bytes = cases.file_bytes, .record_bytes = what.op_bytes(), .lane = lane};
    stream_ = *MakeOpStream(*what.operation, shape);
    payload_ = std::make_unique<Payload>(*Payload::Create(1, lane, 0, what.op_bytes()));
    buffer_ = std::make_unique<AlignedBuffer>(*AlignedBuffer::Allocate(what.op_bytes()));
    files_.directory_fd = file_.directory_fd;
    files_.directory = cases.directory;
    files_.files.push_back({.name = file_.name, .bytes = cases.file_bytes});
    engine_ = *MakeEngine(what.engine, {.call = what.operation->call,
                                        .ticks = ChosenTickSource(),
                                        .record_bytes = what.record_bytes,
                                        .longest_op_bytes = what.op_bytes()});
    bare_ = MakeBareLoop({.engine = what.engine,
                          .call = what.operation->call,
                          .writes = what.operation->writes(),
                          .record_bytes = what.record_bytes,
                          .op_bytes = what.op_bytes(),
                          .file_bytes = cases.file_bytes},
                         cases.directory + "/" + file_.name, OffsetsOf(*stream_));
    if (what.engine != "mmap") OpenEngine();
  }
  ~Side() { engine_->Close().IgnoreError(); }
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

  const Case what_;
  const DataFile file_;
  FileSet files_;
  std::unique_ptr<OpStream> stream_;
  std::unique_ptr<Payload> payload_;
  std::unique_ptr<AlignedBuffer> buffer_;
  std::unique_ptr<IoEngine> engine_;
  std::unique_ptr<BareLoop> bare_;
  std::unique_ptr<LaneRecorder> recorder_;
  StopCell stop_;
};

void RunCase(const FileCases& cases, const Case& what) {
  struct Round {
    std::vector<Cost> bare, lane;  // by lane
  };
  std::vector<Round> rounds(cases.pair_count);
  for (Round& round : rounds) {
    round.bare.resize(what.lane_count);
    round.lane.resize(what.lane_count);
  }
  std::barrier start(static_cast<std::ptrdiff_t>(what.lane_count));
  size_t op_count = 0;
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < what.lane_count; ++i) {
    threads.emplace_back([&, i] {
      Side side(cases, what, i);
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

  Pairs pairs;
  for (const Round& round : rounds) pairs.Add(op_count, round.bare, round.lane);
  pairs.Print(what.text);
}

}  // namespace
}  // namespace iobench

int main(int argc, char** argv) {
  const iobench::FileCases cases = iobench::ParseFileCases(argc, argv, "RECORD:OPERATION:LANES[:ENGINE]");
  for (const std::string& text : cases.cases) iobench::RunCase(cases, iobench::ParseCase(text));
  return 0;
}
