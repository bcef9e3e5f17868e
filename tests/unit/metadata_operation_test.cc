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
  for (const MetadataSpec& spec : MetadataOperations()) {
    if (spec.cycle.empty() && !spec.removes_tree) CHECK(FindMetadataSpec(spec.kind) == &spec);
  }
  CHECK(FindMetadataSpec(OpKind::kAppend)->name == "append");
  CHECK(FindMetadataSpec(OpKind::kRead) == nullptr);
  CHECK(FindMetadataSpec(OpKind::kUpdate) == nullptr);
}

TEST_CASE("an op is called like its operation; kinds are in the same order as in the protocol") {
  CHECK(NameOf(OpKind::kRead) == std::string("read"));
  for (const MetadataSpec& spec : MetadataOperations()) {
    if (spec.cycle.empty() && !spec.removes_tree) CHECK(NameOf(spec.kind) == std::string(spec.name));
  }
  CHECK(NameOf(OpKind::kAppend) == std::string("append"));
}

TEST_CASE("no operation that changes names is compared with the server's counts: a client cannot answer it") {
  int compared = 0, changing = 0;
  for (const MetadataSpec& spec : MetadataOperations()) {
    INFO(NameOf(spec.kind));
    compared += spec.requests.empty() ? 0 : 1;
    changing += spec.effect.changes_names() ? 1 : 0;
    CHECK((spec.requests.empty() || !spec.effect.changes_names()));
  }
  CHECK(compared > 0);
  CHECK(changing > 0);
}

}  // namespace
}  // namespace iobench
