#include "worker/metadata/metadata_stream.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "common/model/metadata_operation.h"
#include "tests/unit/streams.h"

namespace iobench {
namespace {

v1::Tree TreeOf(uint64_t items, uint32_t depth = 0, uint32_t branching = 1) {
  v1::Tree tree;
  tree.set_items_per_lane(items);
  tree.set_depth(depth);
  tree.set_branching(branching);
  return tree;
}

std::unique_ptr<OpStream> StreamOf(const char* operation, const v1::Tree& tree, const MetadataShape& shape) {
  return MakeMetadataStream(**FindOperation(operation), LaneTree(tree, 0, 0), shape);
}

std::vector<uint64_t> ItemsOf(const std::vector<Op>& ops) {
  std::vector<uint64_t> items;
  for (const Op& op : ops) items.push_back(op.offset);
  return items;
}

std::vector<uint64_t> UpTo(uint64_t count) {
  std::vector<uint64_t> numbers(count);
  for (uint64_t i = 0; i < count; ++i) numbers[i] = i;
  return numbers;
}

TEST_CASE("every operation on one kind of name takes each item once, in order") {
  for (const OperationSpec& spec : Operations()) {
    if (!spec.is_metadata() || !MetadataSpecOf(spec).cycle.empty()) continue;
    if (MetadataSpecOf(spec).names == OpNames::kDirectories || MetadataSpecOf(spec).removes_tree) continue;
    INFO(spec.name);
    const auto stream = MakeMetadataStream(spec, LaneTree(TreeOf(100, 1, 3), 0, 0), {.item_count = 100});
    REQUIRE(stream->ops_per_pass() == 100);
    REQUIRE(stream->bytes_per_pass() == 0);
    const std::vector<Op> ops = RestOfPass(*stream);
    REQUIRE(ItemsOf(ops) == UpTo(100));
    for (const Op& op : ops) {
      REQUIRE(spec.kinds == OpKinds(op.kind));
      REQUIRE(op.object == op.offset / 34);  // 100 items in 3 directories
      REQUIRE(op.length == 0);
    }
  }
}

TEST_CASE("a random order takes each item once, and another one in the next pass and lane") {
  MetadataShape shape{.item_count = 500, .random_order = true, .seed = 1};
  const auto stream = StreamOf("stat", TreeOf(500), shape);
  const std::vector<uint64_t> first = ItemsOf(RestOfPass(*stream));
  stream->Restart(1);
  const std::vector<uint64_t> second = ItemsOf(RestOfPass(*stream));
  stream->Restart(0);
  const std::vector<uint64_t> again = ItemsOf(RestOfPass(*stream, 64));
  shape.lane = 1;
  const std::vector<uint64_t> other = ItemsOf(RestOfPass(*StreamOf("stat", TreeOf(500), shape)));
  REQUIRE(first == again);
  REQUIRE(first != second);
  REQUIRE(first != other);
  for (std::vector<uint64_t> order : {first, second, other}) {
    REQUIRE_FALSE(std::is_sorted(order.begin(), order.end()));
    std::sort(order.begin(), order.end());
    REQUIRE(order == UpTo(500));
  }
}

TEST_CASE("what was not run comes again, in any order") {
  for (const bool random_order : {false, true}) {
    for (const char* operation : {"stat", "readdir"}) {
      const auto stream =
          StreamOf(operation, TreeOf(64, 2, 4), {.item_count = 64, .random_order = random_order});
      const std::vector<Op> all = RestOfPass(*stream);
      stream->Restart(0);
      std::vector<Op> batch(10);
      REQUIRE(stream->Fill(batch) == 10);
      stream->Unread(7);
      const std::vector<uint64_t> rest = ItemsOf(RestOfPass(*stream));
      REQUIRE(rest.size() == all.size() - 3);
      REQUIRE(rest[0] == all[3].offset);
    }
  }
}

TEST_CASE("only the items that there are are worked on, and only the directories that hold them") {
  const v1::Tree tree = TreeOf(100, 1, 10);
  REQUIRE(ItemsOf(RestOfPass(*StreamOf("stat", tree, {.item_count = 35}))) == UpTo(35));
  REQUIRE(ItemsOf(RestOfPass(*StreamOf("readdir", tree, {.item_count = 35}))) == UpTo(4));
  const std::vector<Op> ops = RestOfPass(*StreamOf("readdir", tree, {.item_count = 100}));
  REQUIRE(ops.size() == 10);
  for (const Op& op : ops) REQUIRE(op.object == op.offset);
}

TEST_CASE("bytes are counted where an operation moves a file's data") {
  const auto length_of = [](const char* operation) {
    std::vector<Op> batch(1);
    const auto stream = StreamOf(operation, TreeOf(10), {.item_count = 10, .sizes = ItemSizes(3901)});
    REQUIRE(stream->Fill(batch) == 1);
    REQUIRE(stream->bytes_per_pass() == 10 * batch[0].length);
    return batch[0].length;
  };
  REQUIRE(length_of("create") == 3901);
  REQUIRE(length_of("open-close") == 3901);
  REQUIRE(length_of("stat") == 0);
  REQUIRE(length_of("unlink") == 0);
}

TEST_CASE("a mix removes the oldest file and makes it anew, so that the set stays the same") {
  const auto stream = StreamOf("file-mix", TreeOf(4), {.item_count = 4, .sizes = ItemSizes(100)});
  REQUIRE(stream->ops_per_pass() == 16);
  REQUIRE(stream->bytes_per_pass() == 4 * 300);
  const std::vector<Op> ops = RestOfPass(*stream);
  std::vector<std::string> story;
  for (const Op& op : ops) {
    story.push_back(std::string(NameOf(op.kind)) + " " + std::to_string(op.offset) + " " +
                    std::to_string(op.length));
  }
  REQUIRE(std::vector<std::string>(story.begin(), story.begin() + 8) ==
          std::vector<std::string>{"open-close 0 100", "append 2 100", "unlink 0 0", "create 0 100",
                                   "open-close 1 100", "append 3 100", "unlink 1 0", "create 1 100"});
  for (const OpKind kind : {OpKind::kOpenClose, OpKind::kAppend, OpKind::kUnlink, OpKind::kCreate}) {
    std::vector<uint64_t> items;
    for (const Op& op : ops) {
      if (op.kind == kind) items.push_back(op.offset);
    }
    std::sort(items.begin(), items.end());
    REQUIRE(items == UpTo(4));
  }
}

TEST_CASE("a removal takes the items of a directory, and then the directories that are empty, from the lowest up") {
  // Two items in each of d0/d0, d0/d1, d1/d0, and one in d1/d1.
  const auto stream = StreamOf("remove-tree", TreeOf(7, 2, 2), {.item_count = 7});
  REQUIRE(stream->ops_per_pass() == 7 + 4 + 2);
  const std::vector<Op> all = RestOfPass(*stream, 3);
  std::vector<std::string> story;
  for (const Op& op : all)
    story.push_back(std::string(NameOf(op.kind)) + " " + std::to_string(op.object) + " " + std::to_string(op.offset));
  REQUIRE(story == std::vector<std::string>{"unlink 0 0", "unlink 0 1", "rmdir 0 2", "unlink 1 0", "unlink 1 1", "rmdir 1 2",
                                            "rmdir 1 1", "unlink 2 0", "unlink 2 1", "rmdir 2 2", "unlink 3 0", "rmdir 3 2",
                                            "rmdir 3 1"});
  stream->Restart(0);
  std::vector<Op> batch(10);
  REQUIRE(stream->Fill(batch) == 10);
  stream->Unread(7);
  REQUIRE(RestOfPass(*stream).size() == all.size() - 3);
  // After a deadline, fewer items; in a flat tree, no directories.
  REQUIRE(StreamOf("remove-tree", TreeOf(7, 2, 2), {.item_count = 3})->ops_per_pass() == 3 + 4 + 2);
  REQUIRE(StreamOf("remove-tree", TreeOf(7), {.item_count = 7})->ops_per_pass() == 7);
}

TEST_CASE("a move leaves the item's own directory, and then the next one") {
  const auto stream = StreamOf("move", TreeOf(4, 1, 2), {.item_count = 4});
  REQUIRE(stream->ops_per_pass() == 8);
  REQUIRE(stream->bytes_per_pass() == 0);
  std::vector<std::pair<uint64_t, uint32_t>> story;
  for (const Op& op : RestOfPass(*stream, 3)) story.emplace_back(op.offset, op.object);
  REQUIRE(story == std::vector<std::pair<uint64_t, uint32_t>>{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 1}, {2, 0}, {3, 1}, {3, 0}});
}

}  // namespace
}  // namespace iobench
