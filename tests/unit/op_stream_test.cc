#include "worker/pattern/op_stream.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/streams.h"
#include "worker/pattern/record_grid.h"

namespace iobench {

bool operator==(const Op& a, const Op& b) {
  return a.kind == b.kind && a.object == b.object && a.offset == b.offset && a.length == b.length;
}

namespace {

std::vector<uint64_t> OffsetsOf(const std::vector<Op>& ops) {
  std::vector<uint64_t> offsets;
  for (const Op& op : ops) offsets.push_back(op.offset);
  return offsets;
}

// Three files of 10 records and a short one of 1 byte.
StreamShape ThreeFiles() {
  return {.object_count = 3, .object_bytes = 1001, .op_bytes = 100};
}

TEST_CASE("the sequential order walks each file to its end, the last record may be short") {
  const std::vector<Op> ops =
      RestOfPass(*StreamOf("write", {.object_count = 2, .object_bytes = 250, .op_bytes = 100}));
  const OpKind w = OpKind::kWrite;
  REQUIRE(ops == std::vector<Op>{{w, 0, 0, 100},
                                 {w, 0, 100, 100},
                                 {w, 0, 200, 50},
                                 {w, 1, 0, 100},
                                 {w, 1, 100, 100},
                                 {w, 1, 200, 50}});
}

TEST_CASE("the backward order is the sequential one from its end") {
  const std::vector<Op> ops =
      RestOfPass(*StreamOf("backward-read", {.object_count = 2, .object_bytes = 250, .op_bytes = 100}));
  const OpKind r = OpKind::kRead;
  REQUIRE(ops == std::vector<Op>{{r, 1, 200, 50},
                                 {r, 1, 100, 100},
                                 {r, 1, 0, 100},
                                 {r, 0, 200, 50},
                                 {r, 0, 100, 100},
                                 {r, 0, 0, 100}});
}

TEST_CASE("the stride order goes through the file in steps, then again one record further") {
  StreamShape shape{.object_bytes = 10, .op_bytes = 1, .stride_records = 4};
  REQUIRE(OffsetsOf(RestOfPass(*StreamOf("stride-read", shape))) ==
          std::vector<uint64_t>{0, 4, 8, 1, 5, 9, 2, 6, 3, 7});
  shape.stride_records = 5;  // shares a factor with the count
  REQUIRE(OffsetsOf(RestOfPass(*StreamOf("stride-read", shape))) ==
          std::vector<uint64_t>{0, 5, 1, 6, 2, 7, 3, 8, 4, 9});
  shape.stride_records = 12;  // wider than the file
  REQUIRE(OffsetsOf(RestOfPass(*StreamOf("stride-read", shape))) ==
          std::vector<uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("the stride order reads every record exactly once for every stride and count") {
  for (uint64_t count = 1; count <= 60; ++count) {
    for (uint32_t stride = 1; stride <= 70; ++stride) {
      const StreamShape shape{
          .object_count = 2, .object_bytes = count, .op_bytes = 1, .stride_records = stride};
      std::set<std::pair<uint32_t, uint64_t>> seen;
      for (const Op& op : RestOfPass(*StreamOf("stride-read", shape)))
        REQUIRE(seen.emplace(op.object, op.offset).second);
      INFO(count << " records, stride " << stride);
      REQUIRE(seen.size() == 2 * count);
    }
  }
}

TEST_CASE("record-rewrite writes the first record of a file as often as it has records") {
  auto stream = StreamOf("record-rewrite", {.object_count = 2, .object_bytes = 250, .op_bytes = 100});
  REQUIRE(stream->ops_per_pass() == 6);
  REQUIRE(stream->bytes_per_pass() == 600);
  const std::vector<Op> ops = RestOfPass(*stream);
  REQUIRE(ops.size() == 6);
  for (size_t i = 0; i < ops.size(); ++i) REQUIRE(ops[i] == Op{OpKind::kWrite, i < 3 ? 0u : 1u, 0, 100});
}

TEST_CASE("every order but record-rewrite moves every byte of every file exactly once a pass") {
  for (const OperationSpec& operation : Operations()) {
    if (operation.pattern == Pattern::kFirstRecord) continue;
    INFO(std::string(operation.name));
    auto made = MakeOpStream(operation, ThreeFiles());
    REQUIRE(made.ok());
    OpStream& stream = **made;
    REQUIRE(stream.ops_per_pass() == 33);
    REQUIRE(stream.bytes_per_pass() == 3003);
    for (uint64_t pass = 0; pass < 3; ++pass) {
      if (pass > 0) stream.Restart(pass);
      std::map<std::pair<uint32_t, uint64_t>, uint32_t> length_at;
      uint64_t bytes = 0;
      for (const Op& op : RestOfPass(stream)) {
        REQUIRE(length_at.emplace(std::pair(op.object, op.offset), op.length).second);
        REQUIRE(op.object < 3);
        REQUIRE(op.offset % 100 == 0);
        REQUIRE(op.length == (op.offset == 1000 ? 1 : 100));
        bytes += op.length;
      }
      REQUIRE(length_at.size() == 33);
      REQUIRE(bytes == 3003);
    }
  }
}

TEST_CASE("the size of the batches does not change the order") {
  for (const OperationSpec& operation : Operations()) {
    INFO(std::string(operation.name));
    const std::vector<Op> whole = RestOfPass(**MakeOpStream(operation, ThreeFiles()), 1000);
    REQUIRE(whole.size() == 33);
    for (const size_t batch_size : {1, 2, 7, 33, 64, 200}) {
      REQUIRE(RestOfPass(**MakeOpStream(operation, ThreeFiles()), batch_size) == whole);
    }
  }
}

TEST_CASE("ops that were given back come again, at any place of the pass") {
  for (const OperationSpec& operation : Operations()) {
    const std::vector<Op> whole = RestOfPass(**MakeOpStream(operation, ThreeFiles()));
    for (size_t taken = 1; taken <= whole.size(); ++taken) {
      for (size_t back = 0; back <= taken; back += 3) {
        INFO(std::string(operation.name) << ": " << taken << " taken, " << back << " given back");
        auto stream = *MakeOpStream(operation, ThreeFiles());
        std::vector<Op> ops(taken);
        REQUIRE(stream->Fill(ops) == taken);
        stream->Unread(back);
        ops.resize(taken - back);
        const std::vector<Op> rest = RestOfPass(*stream);
        ops.insert(ops.end(), rest.begin(), rest.end());
        REQUIRE(ops == whole);
      }
    }
  }
}

TEST_CASE("a pass begins anew in the middle of another") {
  for (const OperationSpec& operation : Operations()) {
    INFO(std::string(operation.name));
    auto stream = *MakeOpStream(operation, ThreeFiles());
    const std::vector<Op> whole = RestOfPass(*stream);
    stream->Restart(0);
    std::vector<Op> some(5);
    stream->Fill(some);
    stream->Restart(0);
    REQUIRE(RestOfPass(*stream) == whole);
  }
}

TEST_CASE("random orders differ by seed, lane, phase and pass, and come again for the same") {
  const StreamShape shape{.object_bytes = 100'000, .op_bytes = 100, .seed = 5, .lane = 1, .phase = 2};
  const std::vector<Op> order = RestOfPass(*StreamOf("random-read", shape));
  REQUIRE(order == RestOfPass(*StreamOf("random-read", shape)));
  std::vector<std::vector<Op>> others;
  StreamShape other = shape;
  other.seed = 6;
  others.push_back(RestOfPass(*StreamOf("random-read", other)));
  other = shape;
  other.lane = 2;
  others.push_back(RestOfPass(*StreamOf("random-read", other)));
  other = shape;
  other.phase = 1;
  others.push_back(RestOfPass(*StreamOf("random-read", other)));
  other.lane = 2;  // lane and phase swapped
  others.push_back(RestOfPass(*StreamOf("random-read", other)));
  auto stream = StreamOf("random-read", shape);
  stream->Restart(1);
  others.push_back(RestOfPass(*stream));
  for (const std::vector<Op>& each : others) {
    int same_count = 0;
    for (size_t i = 0; i < order.size(); ++i) same_count += order[i] == each[i] ? 1 : 0;
    REQUIRE(same_count < 10);
  }
}

TEST_CASE("the random order runs across all files of the lane, not file by file") {
  const StreamShape shape{.object_count = 4, .object_bytes = 100'000, .op_bytes = 100};
  const std::vector<Op> ops = RestOfPass(*StreamOf("random-read", shape));
  std::array<int, 4> early_ops{};
  for (size_t i = 0; i < 400; ++i) ++early_ops[ops[i].object];
  for (const int count : early_ops) REQUIRE(count > 60);  // 100 expected, 4 sigmas off at 65
}

TEST_CASE("a mix reads the asked share of the records, the same ones in every run") {
  for (const uint32_t percent : {0u, 1u, 30u, 50u, 99u, 100u}) {
    const StreamShape shape{
        .object_bytes = 1'000'000, .op_bytes = 10, .read_percent = percent, .seed = 3};
    const std::vector<Op> ops = RestOfPass(*StreamOf("random-mix", shape));
    REQUIRE(ops == RestOfPass(*StreamOf("random-mix", shape)));
    double reads = 0;
    for (const Op& op : ops) reads += op.kind == OpKind::kRead ? 1 : 0;
    INFO(percent << " %: " << reads << " of 100,000");
    if (percent == 0) REQUIRE(reads == 0);
    if (percent == 100) REQUIRE(reads == 100'000);
    REQUIRE(reads == Approx(1000.0 * percent).margin(800));  // 5 sigmas
  }
}

TEST_CASE("another pass of a mix draws other kinds for its ops") {
  const StreamShape shape{.object_bytes = 1000, .op_bytes = 1};
  auto stream = StreamOf("random-mix", shape);
  const std::vector<Op> first = RestOfPass(*stream);
  stream->Restart(1);
  const std::vector<Op> second = RestOfPass(*stream);
  int same_count = 0;
  for (size_t i = 0; i < first.size(); ++i) same_count += first[i].kind == second[i].kind ? 1 : 0;
  REQUIRE(same_count > 420);
  REQUIRE(same_count < 580);
}

TEST_CASE("a sequential mix is in order, and its kinds are drawn like those of a random one") {
  StreamShape shape{.object_bytes = 1'000'000, .op_bytes = 10, .read_percent = 30, .seed = 3};
  auto stream = StreamOf("sequential-mix", shape);
  const std::vector<Op> ops = RestOfPass(*stream);
  double reads = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    REQUIRE(ops[i].offset == i * 10);
    REQUIRE((ops[i].kind == OpKind::kRead || ops[i].kind == OpKind::kWrite));
    reads += ops[i].kind == OpKind::kRead ? 1 : 0;
  }
  REQUIRE(reads == Approx(30'000).margin(800));
  stream->Restart(1);
  REQUIRE_FALSE(RestOfPass(*stream) == ops);  // other kinds
  for (const auto& [mix, kind] :
       {std::pair{LaneMix::kReader, OpKind::kRead}, std::pair{LaneMix::kWriter, OpKind::kWrite}}) {
    shape.mix = mix;
    const std::vector<Op> of_lane = RestOfPass(*StreamOf("sequential-mix", shape));
    REQUIRE(of_lane.size() == 100'000);
    for (const Op& op : of_lane) REQUIRE(op.kind == kind);
  }
}

TEST_CASE("Bonnie's seeks read, and update the rest; its rewrite updates every record in order") {
  const StreamShape shape{.object_bytes = 1'000'000, .op_bytes = 10, .read_percent = 90, .seed = 3};
  double updates = 0;
  for (const Op& op : RestOfPass(*StreamOf("seeks", shape))) {
    REQUIRE((op.kind == OpKind::kRead || op.kind == OpKind::kUpdate));
    updates += op.kind == OpKind::kUpdate ? 1 : 0;
  }
  REQUIRE(updates == Approx(10'000).margin(500));
  const std::vector<Op> ops = RestOfPass(*StreamOf("update", {.object_bytes = 1000, .op_bytes = 10}));
  REQUIRE(ops.size() == 100);
  for (size_t i = 0; i < ops.size(); ++i) {
    REQUIRE(ops[i].kind == OpKind::kUpdate);
    REQUIRE(ops[i].offset == i * 10);
  }
}

TEST_CASE("in a mix by lane a lane only reads or only writes") {
  StreamShape shape{.object_bytes = 10'000, .op_bytes = 10, .mix = LaneMix::kReader};
  for (const Op& op : RestOfPass(*StreamOf("random-mix", shape))) REQUIRE(op.kind == OpKind::kRead);
  shape.mix = LaneMix::kWriter;
  for (const Op& op : RestOfPass(*StreamOf("random-mix", shape))) REQUIRE(op.kind == OpKind::kWrite);
}

TEST_CASE("shapes that make no sense are refused with a word on why") {
  const auto refuses = [](const char* operation, StreamShape shape, const std::string& word) {
    const auto made = MakeOpStream(**FindOperation(operation), shape);
    return made.status().code() == absl::StatusCode::kInvalidArgument &&
           std::string(made.status().message()).find(word) != std::string::npos;
  };
  const StreamShape good{.object_bytes = 100, .op_bytes = 10};
  REQUIRE(MakeOpStream(**FindOperation("read"), good).ok());
  REQUIRE(refuses("read", {.object_bytes = 0, .op_bytes = 10}, "size of a file is 0"));
  REQUIRE(refuses("read", {.object_bytes = 100, .op_bytes = 0}, "record size is 0"));
  REQUIRE(refuses("read", {.object_bytes = 100, .op_bytes = 101}, "larger than a file of 100"));
  REQUIRE(refuses("read", {.object_count = 0, .object_bytes = 100, .op_bytes = 10}, "at least one file"));
  REQUIRE(refuses("read", {.object_bytes = uint64_t{1} << 40, .op_bytes = 1u << 31}, "one system call"));
  REQUIRE(refuses("read", {.object_count = 8, .object_bytes = uint64_t{1} << 60, .op_bytes = 1}, "2^62"));
  StreamShape shape = good;
  shape.stride_records = 0;
  REQUIRE(refuses("stride-read", shape, "stride of 0"));
  REQUIRE(MakeOpStream(**FindOperation("read"), shape).ok());
  shape.read_percent = 101;
  REQUIRE(refuses("random-mix", shape, "101 %"));
}

TEST_CASE("a record as large as the file is one op") {
  const std::vector<Op> ops = RestOfPass(*StreamOf("random-write", {.object_bytes = 7, .op_bytes = 7}));
  REQUIRE(ops == std::vector<Op>{{OpKind::kWrite, 0, 0, 7}});
}

TEST_CASE("a divisor divides like the processor") {
  for (const uint64_t divisor : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{7}, uint64_t{1000},
                                 (uint64_t{1} << 32) - 1, (uint64_t{1} << 62) - 1, (uint64_t{1} << 62) + 1}) {
    const Divisor by(divisor);
    for (const uint64_t base :
         {uint64_t{0}, divisor, 5 * divisor, uint64_t{1} << 33, (uint64_t{1} << 63) - 1}) {
      for (uint64_t delta = 0; delta < 3; ++delta) {
        const uint64_t dividend = (base - delta) & ((uint64_t{1} << 63) - 1);
        INFO(dividend << " / " << divisor);
        REQUIRE(by.Divide(dividend).quotient == dividend / divisor);
        REQUIRE(by.Divide(dividend).remainder == dividend % divisor);
      }
    }
  }
}

}  // namespace
}  // namespace iobench
