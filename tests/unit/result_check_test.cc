#include "coordinator/conduct/result_check.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "common/histogram.h"

namespace iobench {
namespace {

using Catch::Contains;

constexpr int64_t kStartNs = 1'000'000'000'000;
constexpr int64_t kSecond = 1'000'000'000;

// Two lanes that read 1000 records of 4 KiB each in one second, 1 ms per op, on a client with the coordinator's clock.
struct Honest {
  v1::Operation operation;
  std::vector<v1::LanePlan> lanes;
  v1::WorkerPhaseResult result;

  Honest() {
    operation.set_name("read");
    operation.set_engine("posix");
    operation.set_record_bytes(4096);
    for (const uint32_t number : {6u, 7u}) {
      v1::LanePlan& plan = lanes.emplace_back();
      plan.set_lane(number);
      plan.set_file_owner(number);
      v1::LaneResult& lane = *result.add_lanes();
      lane.set_lane(number);
      lane.set_file_owner(number);
      lane.set_first_op_worker_ns(kStartNs);
      lane.set_ops_end_worker_ns(kStartNs + kSecond);
      lane.set_region_end_worker_ns(kStartNs + kSecond);
      lane.set_last_op_worker_ns(kStartNs + kSecond);
      lane.set_bytes(1000 * 4096);
      lane.set_ops(1000);
      lane.set_region_bytes(1000 * 4096);
      lane.set_region_ops(1000);
      for (const uint64_t ops : {0, 500, 500}) {
        lane.mutable_timeline()->add_at_worker_ns(lane.timeline().ops_size() == 0 ? kStartNs : kSecond / 2);
        lane.mutable_timeline()->add_bytes(ops * 4096);
        lane.mutable_timeline()->add_ops(ops);
      }
      v1::KindResult& kind = *lane.add_kinds();
      kind.set_kind(v1::OP_READ);
      kind.set_bytes(1000 * 4096);
      kind.set_ops(1000);
      Histogram histogram;
      for (int i = 0; i < 1000; ++i) histogram.Add(1'000'000);
      *kind.mutable_latency() = histogram.ToProto();
    }
    v1::StepResult& step = *result.add_steps();
    step.set_name("open");
    step.set_seconds(0.1);
  }
  v1::LaneResult& Lane(int index) { return *result.mutable_lanes(index); }
  absl::Status Check() const {
    return CheckResult(result, {.operation = operation,
                                .bytes_per_lane = 1000 * 4096,
                                .lanes = lanes,
                                .start = {kStartNs},
                                .collected = {kStartNs + 2 * kSecond}});
  }
};

TEST_CASE("an honest result counts") {
  CHECK(Honest().Check().message() == "");
}

TEST_CASE("errors may all be of the warm-up, but not more than all") {
  Honest worker;
  for (const uint64_t count : {3, 4}) {
    v1::ErrorCount& error = *worker.Lane(0).add_errors();
    error.set_kind(v1::OP_READ);
    error.set_count(count);
  }
  worker.Lane(0).set_warmup_errors(7);
  CHECK(worker.Check().message() == "");
  worker.Lane(0).set_warmup_errors(8);
  CHECK_THAT(std::string(worker.Check().message()), Contains("8 errors in its warm-up, and 7 in all"));
}

TEST_CASE("a lane that failed before its first op, or sat out, is no lie") {
  Honest worker;
  v1::LaneResult failed;
  failed.set_lane(6);
  failed.set_file_owner(6);
  failed.mutable_problem()->set_code(13);
  failed.mutable_problem()->set_message("no such file");
  worker.Lane(0) = failed;
  v1::LaneResult out;
  out.set_lane(7);
  out.set_file_owner(7);
  out.set_sat_out(true);
  worker.Lane(1) = out;
  worker.lanes[1].set_sits_out(true);
  CHECK(worker.Check().message() == "");
}

// Each is one lie in an otherwise honest result.
TEST_CASE("a result that cannot be is refused, whichever figure lies") {
  struct Lie {
    const char* name;
    std::function<void(Honest&)> tell;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  const Lie lies[] = {
      {"another worker's lane", [](Honest& w) { w.Lane(0).set_lane(5); }},
      {"a lane twice", [](Honest& w) { w.Lane(0).set_lane(7); }},
      {"a lane too many", [](Honest& w) { *w.result.add_lanes() = w.Lane(0); }},
      {"a lane kept back", [](Honest& w) { w.result.mutable_lanes()->RemoveLast(); }},
      {"another lane's files", [](Honest& w) { w.Lane(0).set_file_owner(7); }},
      {"a lane that was to sit out", [](Honest& w) { w.lanes[0].set_sits_out(true); }},
      {"errors of a kind of op that there is not",
       [](Honest& w) { w.Lane(0).add_errors()->set_kind(static_cast<v1::OpKind>(1000)); }},
      {"retries of a kind of op that there is not",
       [](Honest& w) { w.Lane(0).add_retries()->set_kind(static_cast<v1::OpKind>(-1)); }},
      {"more in huge pages than there is",
       [](Honest& w) { w.result.mutable_buffers()->set_huge_page_bytes(1); }},
      {"more on the lanes' NUMA nodes than there is",
       [](Honest& w) { w.result.mutable_buffers()->set_local_bytes(1); }},
      {"2^63 bytes of buffers", [](Honest& w) { w.result.mutable_buffers()->set_bytes(uint64_t{1} << 63); }},
      {"2^63 errors", [](Honest& w) { w.Lane(0).add_errors()->set_count(uint64_t{1} << 63); }},
      {"2^64 - 1 errors in the warm-up, and none in all",
       [](Honest& w) { w.Lane(0).set_warmup_errors(UINT64_MAX); }},
      {"errors without end",
       [](Honest& w) {
         for (int i = 0; i < 1000; ++i) w.Lane(0).add_errors();
       }},
      {"2^63 bytes", [](Honest& w) { w.Lane(0).set_bytes(uint64_t{1} << 63); }},
      {"2^64 - 1 ops", [](Honest& w) { w.Lane(0).set_ops(UINT64_MAX); }},
      {"more ops than the time allows",
       [](Honest& w) {
         w.Lane(0).set_ops(3 * kSecond);
         w.Lane(0).set_region_ops(3 * kSecond);
       }},
      {"more bytes than its ops can move", [](Honest& w) { w.Lane(0).set_bytes(2 * 1000 * 4096 + 1); }},
      {"a thousand times more bytes than its ops moved",
       [](Honest& w) {
         w.Lane(0).set_bytes(uint64_t{1000} * 1000 * 4096);
         w.Lane(0).set_region_bytes(uint64_t{1000} * 1000 * 4096);
       }},
      {"4 PiB in a second",
       [](Honest& w) {
         w.operation.set_record_bytes(1 << 30);
         w.Lane(0).set_ops(4'000'000);
         w.Lane(0).set_bytes(uint64_t{4} << 50);
       }},
      {"more in the timed region than in all",
       [](Honest& w) { w.Lane(0).set_region_bytes(w.Lane(0).bytes() + 1); }},
      {"more ops in the timed region than in all", [](Honest& w) { w.Lane(0).set_region_ops(1001); }},
      {"more items found than looked at", [](Honest& w) { w.Lane(0).set_found_items(1001); }},
      {"an end before its begin", [](Honest& w) { w.Lane(0).set_ops_end_worker_ns(kStartNs - 1); }},
      {"a region that ends before its ops", [](Honest& w) { w.Lane(0).set_region_end_worker_ns(kStartNs); }},
      {"a negative time", [](Honest& w) { w.Lane(0).set_first_op_worker_ns(-1); }},
      {"a time that overflows",
       [](Honest& w) {
         w.Lane(0).set_first_op_worker_ns(INT64_MAX);
         w.Lane(0).set_ops_end_worker_ns(INT64_MAX);
         w.Lane(0).set_region_end_worker_ns(INT64_MAX);
       }},
      {"a begin before the start", [](Honest& w) { w.Lane(0).set_first_op_worker_ns(kStartNs - kSecond); }},
      {"an end after its result arrived",
       [](Honest& w) { w.Lane(0).set_region_end_worker_ns(kStartNs + 3 * kSecond); }},
      {"a stall backwards", [](Honest& w) { w.Lane(0).set_stall_begin_worker_ns(kStartNs); }},
      {"a timeline without bytes",
       [](Honest& w) { w.Lane(0).mutable_timeline()->mutable_bytes()->RemoveLast(); }},
      {"a timeline back in time", [](Honest& w) { w.Lane(0).mutable_timeline()->set_at_worker_ns(2, -1); }},
      {"a timeline above its totals",
       [](Honest& w) { w.Lane(0).mutable_timeline()->set_bytes(2, 4096 * 501); }},
      {"a timeline whose bytes wrap around",
       [](Honest& w) {
         w.Lane(0).mutable_timeline()->set_bytes(1, UINT64_MAX);
         w.Lane(0).mutable_timeline()->set_bytes(2, 2);
       }},
      {"a timeline before its region",
       [](Honest& w) { w.Lane(0).mutable_timeline()->set_at_worker_ns(0, 1); }},
      {"a timeline of a million points",
       [](Honest& w) {
         for (int i = 0; i < 1'000'000; ++i) {
           w.Lane(0).mutable_timeline()->add_at_worker_ns(0);
           w.Lane(0).mutable_timeline()->add_bytes(0);
           w.Lane(0).mutable_timeline()->add_ops(0);
         }
       }},
      {"a histogram of fewer ops",
       [](Honest& w) { w.Lane(0).mutable_kinds(0)->mutable_latency()->set_counts(0, 999); }},
      {"a histogram that counts otherwise",
       [](Honest& w) { w.Lane(0).mutable_kinds(0)->mutable_latency()->set_count(7); }},
      {"a histogram beyond its last bucket",
       [](Honest& w) {
         w.Lane(0).mutable_kinds(0)->mutable_latency()->set_index_gaps(0, Histogram::kBucketCount);
       }},
      {"a histogram whose counts wrap around",
       [](Honest& w) {
         v1::Histogram& latency = *w.Lane(0).mutable_kinds(0)->mutable_latency();
         latency.add_index_gaps(1);
         latency.add_counts(UINT64_MAX - 999);
         latency.add_index_gaps(1);
         latency.add_counts(1000);
       }},
      {"a histogram whose sum is none",
       [nan](Honest& w) { w.Lane(0).mutable_kinds(0)->mutable_latency()->set_sum_ns(nan); }},
      {"a histogram whose sum is too small",
       [](Honest& w) { w.Lane(0).mutable_kinds(0)->mutable_latency()->set_sum_ns(1e8); }},
      {"a kind of op twice", [](Honest& w) { *w.Lane(0).add_kinds() = w.Lane(0).kinds(0); }},
      {"a kind that there is not",
       [](Honest& w) { w.Lane(0).mutable_kinds(0)->set_kind(static_cast<v1::OpKind>(99)); }},
      {"a flush call that is an op",
       [](Honest& w) { *w.Lane(0).add_calls() = w.Lane(0).kinds(0); }},
      {"a flush call that moved bytes",
       [](Honest& w) {
         w.Lane(0).add_calls()->set_kind(v1::OP_FSYNC);
         w.Lane(0).mutable_calls(0)->set_bytes(1);
       }},
      {"flush calls without their latencies",
       [](Honest& w) {
         w.Lane(0).add_calls()->set_kind(v1::OP_FSYNC);
         w.Lane(0).mutable_calls(0)->set_ops(1);
       }},
      {"a flush call twice",
       [](Honest& w) {
         for (int i = 0; i < 2; ++i) w.Lane(0).add_calls()->set_kind(v1::OP_FSYNC);
       }},
      {"latencies over time of more flush calls than it made",
       [](Honest& w) {
         v1::KindResult& call = *w.Lane(0).add_calls();
         call.set_kind(v1::OP_FSYNC);
         call.mutable_slices()->set_slice_ns(1000);
         call.mutable_slices()->add_cell_gaps(1);
         call.mutable_slices()->add_counts(1);
       }},
      {"kinds that are more than all",
       [](Honest& w) { w.Lane(0).mutable_kinds(0)->set_bytes(1000 * 4096 + 1); }},
      {"latencies over time of more ops",
       [](Honest& w) {
         w.Lane(0).mutable_latency_slices()->set_slice_ns(1000);
         w.Lane(0).mutable_latency_slices()->add_cell_gaps(1);
         w.Lane(0).mutable_latency_slices()->add_counts(1001);
       }},
      {"latencies over time beyond the last slice",
       [](Honest& w) {
         w.Lane(0).mutable_latency_slices()->set_slice_ns(1000);
         w.Lane(0).mutable_latency_slices()->add_cell_gaps(1 << 20);
         w.Lane(0).mutable_latency_slices()->add_counts(1);
       }},
      {"more mismatches than sectors", [](Honest& w) { w.Lane(0).mutable_verify()->set_mismatched(1); }},
      {"eleven examples of ten",
       [](Honest& w) {
         w.Lane(0).mutable_verify()->set_sectors(100);
         for (int i = 0; i < 11; ++i) w.Lane(0).mutable_verify()->add_first();
       }},
      {"a file name of a megabyte", [](Honest& w) { w.Lane(0).set_file(std::string(1 << 20, 'x')); }},
      {"an endless problem",
       [](Honest& w) { w.Lane(0).mutable_problem()->set_message(std::string(1 << 20, 'x')); }},
      {"a duration that is none", [nan](Honest& w) { w.Lane(0).set_fsync_s(nan); }},
      {"a negative duration", [](Honest& w) { w.Lane(0).set_close_s(-1); }},
      {"an infinite duration", [infinity](Honest& w) { w.Lane(0).set_between_s(infinity); }},
      {"a hundred steps",
       [](Honest& w) {
         for (int i = 0; i < 100; ++i) w.result.add_steps();
       }},
      {"a step of no time", [nan](Honest& w) { w.result.mutable_steps(0)->set_seconds(nan); }},
      {"processor time that is none", [nan](Honest& w) { w.result.set_process_cpu_user_s(nan); }},
      {"a host that was idle for minus a second",
       [](Honest& w) { w.result.mutable_host()->set_cpu_idle_s(-1); }},
      {"an interface that moved 2^63 bytes",
       [](Honest& w) { w.result.mutable_host()->add_nics()->set_rx_bytes(uint64_t{1} << 63); }},
      {"an NFS client that moved 2^63 bytes",
       [](Honest& w) { (*w.result.mutable_host()->mutable_nfs())[0].set_app_read_bytes(uint64_t{1} << 63); }},
  };
  for (const Lie& lie : lies) {
    CAPTURE(lie.name);
    Honest worker;
    lie.tell(worker);
    const absl::Status refused = worker.Check();
    CHECK(absl::IsDataLoss(refused));
    CHECK_FALSE(refused.message().empty());
  }
}

TEST_CASE("the sum over lanes cannot wrap around") {
  Honest worker;
  worker.operation.set_engine("null");
  worker.operation.set_record_bytes(1 << 30);
  for (int i = 0; i < 2; ++i) {
    v1::LaneResult& lane = worker.Lane(i);
    lane.set_ops(2 * kSecond);  // the null engine may claim any size
    lane.set_bytes(uint64_t{3} << 60);
  }
  CHECK_THAT(std::string(worker.Check().message()), Contains("62 bits"));
}

TEST_CASE("times are mapped by the worker's pings, and not compared where these contradict each other") {
  Honest worker;
  constexpr int64_t kOffsetNs = 3600 * kSecond;
  const auto ping = [&worker](int64_t at_ns, int64_t offset_ns) {
    v1::PingSample& sample = *worker.result.add_bursts()->add_samples();
    sample.set_sent_coord_ns(at_ns);
    sample.set_received_worker_ns(at_ns + offset_ns);
    sample.set_replied_worker_ns(at_ns + offset_ns);
    sample.set_returned_coord_ns(at_ns + 1000);
  };
  ping(kStartNs, kOffsetNs);
  CHECK_FALSE(worker.Check().ok());  // its times are not on that clock
  for (int i = 0; i < 2; ++i) {
    v1::LaneResult& lane = worker.Lane(i);
    lane.set_first_op_worker_ns(kStartNs + kOffsetNs);
    lane.set_ops_end_worker_ns(kStartNs + kOffsetNs + kSecond);
    lane.set_region_end_worker_ns(kStartNs + kOffsetNs + kSecond);
    lane.mutable_timeline()->set_at_worker_ns(0, kStartNs + kOffsetNs);
  }
  CHECK(worker.Check().message() == "");
  ping(kStartNs + kSecond, 0);  // the clock was stepped, which has a mark of its own
  CHECK(worker.Check().message() == "");
}

TEST_CASE("an op of a trace may be as long as the file, and one of a tree as long as its files") {
  v1::Operation operation;
  operation.set_name("read");
  operation.set_record_bytes(4096);
  CHECK(LargestOpBytes(operation, 1 << 20) == 2 * 4096);
  operation.mutable_trace()->set_read_file("/trace");
  CHECK(LargestOpBytes(operation, 1 << 20) == 1 << 20);
  v1::Operation create;
  create.set_name("create");
  create.mutable_tree()->set_file_bytes(12345);
  CHECK(LargestOpBytes(create, 0) == 12345);
}

}  // namespace
}  // namespace iobench
