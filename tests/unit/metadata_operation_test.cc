#include "common/model/metadata_operation.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

namespace iobench {
namespace {

TEST_CASE("every metadata operation has a row of its own, and every row an operation") {
  std::set<const MetadataSpec*> rows;
  for (const OperationSpec& operation : Operations()) {
    if (!operation.is_metadata()) continue;
    INFO(operation.name);
    const MetadataSpec& row = MetadataSpecOf(operation);
    CHECK(operation.kinds.Has(row.kind));
    CHECK(rows.insert(&row).second);
  }
  CHECK(rows.size() == MetadataOperations().size());
}

TEST_CASE("a kind has one row; kinds of records have none") {
  for (const MetadataSpec& spec : MetadataOperations()) CHECK(FindMetadataSpec(spec.kind) == &spec);
  CHECK(FindMetadataSpec(OpKind::kRead) == nullptr);
  CHECK(FindMetadataSpec(OpKind::kUpdate) == nullptr);
}

TEST_CASE("an op is called like its operation; kinds are in the same order as in the protocol") {
  CHECK(NameOf(OpKind::kRead) == std::string("read"));
  for (const MetadataSpec& spec : MetadataOperations()) {
    if (spec.other_kinds.empty()) CHECK(NameOf(spec.kind) == std::string(spec.name));
  }
  CHECK(NameOf(OpKind::kAppend) == std::string("append"));
}

TEST_CASE("what always reaches the server changes something") {
  for (const MetadataSpec& spec : MetadataOperations()) {
    INFO(NameOf(spec.kind));
    const bool may_be_cached = !spec.requests.empty();
    if (may_be_cached) CHECK_FALSE(spec.effect.changes_names());
    if (spec.effect.changes_names()) CHECK_FALSE(may_be_cached);
  }
}

}  // namespace
}  // namespace iobench
