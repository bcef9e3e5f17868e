// Writes those seeds of a corpus that are messages, from a saved run. make_corpus.py calls it.
//   usage: fuzz_seeds RESULT_DIRECTORY CORPUS NAME      writes CORPUS/{saved_run,histogram,worker_event}/NAME…
//          fuzz_seeds --requests CORPUS                 writes CORPUS/{worker_request,conductor}/…
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "coordinator/analysis/summarize.h"
#include "coordinator/report/raw_files.h"
#include "coordinator/report/result_store.h"
#include "iobench/v1/control.pb.h"
#include "tests/fuzz/messages.h"

// messages.h needs it for mutators, which this program lacks.
extern "C" size_t LLVMFuzzerMutate(uint8_t*, size_t size, size_t) {
  return size;
}

namespace iobench {
namespace {

constexpr int64_t kStartNs = 1'000'000'000'000;  // as in worker_event.cc
constexpr int kMaxHistograms = 3;

void Write(const std::string& path, const std::string& bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string FileText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Moves every time of a lane, so that its first op began at kStartNs.
void MoveTimes(int64_t by_ns, google::protobuf::Message& message) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const auto* const field : fields) {
    if (field->name().ends_with("_worker_ns")) {
      if (field->is_repeated()) {  // delta-coded
        reflection.SetRepeatedInt64(&message, field, 0,
                                    reflection.GetRepeatedInt64(message, field, 0) + by_ns);
      } else {
        reflection.SetInt64(&message, field, reflection.GetInt64(message, field) + by_ns);
      }
    } else if (field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE &&
               !field->is_repeated()) {
      MoveTimes(by_ns, *reflection.MutableMessage(&message, field));
    }
  }
}

std::string EventsOf(const v1::RunRecord& run, const v1::PhaseRecord& phase) {
  std::vector<std::string> parts;
  v1::WorkerEvent joined;
  *joined.mutable_joined() = run.workers(0);
  parts.push_back(joined.SerializeAsString());
  const v1::WorkerPhaseResult& result = phase.workers(0);
  v1::WorkerEvent event;
  v1::ResultChunk& chunk = *event.mutable_chunk();
  *chunk.mutable_lanes() = result.lanes();
  for (v1::LaneResult& lane : *chunk.mutable_lanes()) MoveTimes(kStartNs - phase.start_coord_ns(), lane);
  *chunk.mutable_steps() = result.steps();
  *chunk.mutable_host() = result.host();
  chunk.set_process_cpu_user_s(result.process_cpu_user_s());
  chunk.set_process_cpu_system_s(result.process_cpu_system_s());
  chunk.set_last(true);
  parts.push_back(event.SerializeAsString());
  return Joined(parts);
}

int WriteSeedsOfRun(const std::string& directory, const std::string& corpus, const std::string& name) {
  absl::StatusOr<SavedRun> saved = SavedRun::Open(directory);
  Require(saved.ok(), "a saved run: " + saved.status().ToString());
  std::vector<std::string> sealed = {saved->run().SerializeAsString()}, cached = sealed, histograms;
  std::vector<std::string> as_is = {FileText(RawRunPath(directory))};
  for (size_t i = 0; i < saved->phase_files().size() && i < 2; ++i) {
    v1::PhaseRecord phase;
    Require(saved->Load(i, phase, nullptr).ok(), "its phases");
    sealed.push_back(phase.SerializeAsString());
    as_is.push_back(FileText(saved->phase_files()[i]));
    cached.push_back(FinishPhase(saved->run(), phase, Charts::kFilledIn).SerializeAsString());
    Write(corpus + "/worker_event/" + name + "-" + std::to_string(i), EventsOf(saved->run(), phase));
    for (const v1::LaneResult& lane : phase.workers(0).lanes()) {
      for (const v1::KindResult& kind : lane.kinds())
        histograms.push_back(kind.latency().SerializeAsString());
      histograms.push_back(lane.latency_slices().SerializeAsString());
    }
  }
  histograms.resize(std::min<size_t>(histograms.size(), kMaxHistograms));
  Write(corpus + "/saved_run/" + name + "-sealed", "sa" + Joined(sealed));
  Write(corpus + "/saved_run/" + name + "-cached", "ca" + Joined(cached));
  Write(corpus + "/saved_run/" + name + "-files", "fa" + Joined(as_is));
  Write(corpus + "/histogram/" + name, Joined(histograms));
  return 0;
}

// ------------------------------------------------------------------------------------------------ requests

std::string Script(const std::vector<v1::WorkerRequest>& requests) {
  std::vector<std::string> parts;
  for (const v1::WorkerRequest& request : requests) parts.push_back(request.SerializeAsString());
  return Joined(parts);
}

template <typename Set>
v1::WorkerRequest Request(const Set& set) {
  v1::WorkerRequest request;
  request.set_run_id(7);
  set(request);
  return request;
}

v1::WorkerRequest PrepareOf(const std::string& operation, const std::string& path) {
  return Request([&](v1::WorkerRequest& request) {
    v1::Prepare& prepare = *request.mutable_prepare();
    prepare.mutable_operation()->set_name(operation);
    prepare.mutable_operation()->set_engine(path.empty() ? "null" : "posix");
    prepare.mutable_operation()->set_record_bytes(4096);
    prepare.mutable_operation()->set_read_percent(50);
    prepare.mutable_operation()->set_stride_records(3);
    prepare.mutable_operation()->mutable_tree()->set_items_per_lane(20);
    prepare.mutable_files()->set_bytes_per_lane(16 * 4096);
    prepare.mutable_files()->set_files_per_lane(1);
    prepare.set_seed(1);
    prepare.mutable_stop()->set_deadline_s(0.01);
    if (!path.empty()) prepare.add_targets()->set_path(path);
    for (uint32_t i = 0; i < 2; ++i) {
      v1::LanePlan& lane = *prepare.add_lanes();
      lane.set_lane(i);
      lane.set_file_owner(i);
    }
  });
}

// Writes what is merged into a worker's answers: mostly nothing.
int WriteAnswers(const std::string& corpus) {
  std::vector<v1::WorkerEvent> changes(8);
  changes[1].mutable_armed()->set_late(true);
  changes[2].mutable_lost()->set_reason("power");
  changes[3].mutable_problem()->set_code(13);
  changes[3].mutable_problem()->set_message("stale");
  changes[4].mutable_pong()->set_received_worker_ns(kStartNs);
  changes[5].mutable_lanes_done()->add_ends()->set_took_part(true);
  changes[6].mutable_chunk()->add_lanes()->set_bytes(1);
  changes[7].set_call_id(1);
  changes[7].mutable_deadline_reached()->set_max_ops(5);
  for (size_t kind = 0; kind < changes.size(); ++kind) {
    std::vector<std::string> parts(40);
    for (size_t at : {3, 9, 17, 30}) parts[at + kind % 3] = changes[kind].SerializeAsString();
    Write(corpus + "/conductor/" + std::to_string(kind), static_cast<char>(kind % 4) + Joined(parts));
  }
  // As with very many workers: results come with the end of lanes. They are only merged into that.
  std::vector<v1::WorkerEvent> reports(4);
  for (size_t kind = 0; kind < reports.size(); ++kind) {
    v1::LaneResult& lane = *reports[kind].mutable_lanes_done()->mutable_results()->add_lanes();
    lane.set_bytes(1);
    if (kind == 1) lane.set_lane(6);
    if (kind == 2) lane.mutable_timeline()->add_bytes(1);
    if (kind == 3) reports[kind].mutable_lanes_done()->add_ends()->set_took_part(true);
    const std::vector<std::string> parts(40, reports[kind].SerializeAsString());
    Write(corpus + "/conductor/report-" + std::to_string(kind), static_cast<char>(4 + kind) + Joined(parts));
  }
  return 0;
}

int WriteRequests(const std::string& corpus) {
  const v1::WorkerRequest ping = Request([](auto& r) { r.mutable_ping()->set_lease_ms(10'000); });
  const v1::WorkerRequest arm = Request([](auto& r) { r.mutable_arm()->set_margin_needed_ns(1); });
  const v1::WorkerRequest poll = Request([](auto& r) {
    r.mutable_poll()->set_latency(true);
    r.mutable_poll()->set_closely(true);
  });
  const v1::WorkerRequest stop = Request([](auto& r) { r.mutable_adjust()->set_stop(true); });
  const v1::WorkerRequest goal = Request([](auto& r) { r.mutable_adjust()->set_ops_goal(16); });
  const v1::WorkerRequest quit = Request([](auto& r) { r.mutable_adjust()->set_quit(true); });
  const v1::WorkerRequest disarm = Request([](auto& r) { r.mutable_adjust()->set_disarm(true); });
  const v1::WorkerRequest collect = Request([](auto& r) { r.mutable_collect()->add_instants_worker_ns(1); });
  const v1::WorkerRequest inspect = Request([](auto& r) {
    r.mutable_inspect()->add_targets()->set_path("/mnt/nfs");
    r.mutable_inspect()->add_existing_files("/etc/hostname");
    r.mutable_inspect()->mutable_demands()->add_engines("posix");
    r.mutable_inspect()->mutable_demands()->add_new_files("/tmp/trace");
    r.mutable_inspect()->mutable_demands()->add_remounts("/mnt/nfs");
  });
  const v1::WorkerRequest claim = Request([](auto& r) {
    v1::DataStep& step = *r.mutable_data_step();
    step.set_action(v1::DataStep::CLAIM);
    step.add_targets()->set_path("/mnt/nfs");
    step.mutable_manifest()->set_run_id(7);
  });
  const v1::WorkerRequest remount = Request([](auto& r) {
    r.mutable_client_step()->mutable_step()->mutable_remount()->set_mount_point("/mnt/nfs");
  });
  const v1::WorkerRequest net = Request([](auto& r) {
    r.mutable_net_test()->add_hosts("192.0.2.1");
    r.mutable_net_test()->set_port(22);
    r.mutable_net_test()->set_part(v1::NetTest::ROUND_TRIP);
  });
  const std::string place = corpus + "/worker_request/";
  for (const char* const operation : {"write", "read", "random-mix", "stat"}) {
    Write(place + operation, Script({ping, PrepareOf(operation, ""), arm, poll, collect, ping, collect}));
  }
  Write(place + "two-phases", Script({PrepareOf("write", ""), arm, stop, collect, PrepareOf("read", ""),
                                      disarm, PrepareOf("read", ""), arm, goal, quit, collect}));
  Write(place + "files", Script({inspect, claim, PrepareOf("write", "/mnt/nfs"), arm, disarm, claim}));
  Write(place + "host", Script({remount, net, poll, inspect}));
  return WriteAnswers(corpus);
}

}  // namespace
}  // namespace iobench

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--requests") return iobench::WriteRequests(argv[2]);
  if (argc == 4) return iobench::WriteSeedsOfRun(argv[1], argv[2], argv[3]);
  std::fprintf(stderr, "usage: %s RESULT_DIRECTORY CORPUS NAME | --requests CORPUS\n", argv[0]);
  return 2;
}
