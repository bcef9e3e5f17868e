#include "common/model/metadata_operation.h"

#include <cassert>

namespace iobench {
namespace {

constexpr TreeParts kFiles = TreePart::kFiles;
constexpr TreeParts kFilesAndXattrs = {TreePart::kFiles, TreePart::kXattrs};

constexpr std::string_view kStatRequests[] = {"LOOKUP", "GETATTR"};
constexpr std::string_view kOpenRequests[] = {"OPEN", "OPEN_NOATTR", "LOOKUP", "GETATTR", "ACCESS"};
constexpr std::string_view kReaddirRequests[] = {"READDIR", "READDIRPLUS"};
constexpr std::string_view kGetXattrRequests[] = {"GETXATTR"};

constexpr MetadataSpec kSpecs[] = {
    {OpKind::kMkdir, OpNames::kLeaves, {.in_the_way = TreePart::kLeaves, .makes = TreePart::kLeaves}},
    {OpKind::kCreate, OpNames::kFiles, {.in_the_way = kFilesAndXattrs, .makes = kFiles, .writes_data = true}},
    {OpKind::kOpenClose, OpNames::kFiles, {.needs = kFiles, .reads_data = true, .repeats = true}, kOpenRequests},
    {OpKind::kStat, OpNames::kFiles, {.needs = kFiles, .repeats = true}, kStatRequests},
    {OpKind::kReaddir, OpNames::kDirectories, {.needs = kFiles, .repeats = true}, kReaddirRequests},
    {OpKind::kFind, OpNames::kFoundItems, {.needs = kFiles, .repeats = true}, {}, false, /*finds_items=*/true},
    {OpKind::kRename, OpNames::kFiles, {.needs = kFiles, .renames = true}},
    {OpKind::kLink, OpNames::kLinks,
     {.needs = kFiles, .in_the_way = TreePart::kLinks, .makes = TreePart::kLinks}},
    {OpKind::kSymlink, OpNames::kSymlinks, {.in_the_way = TreePart::kSymlinks, .makes = TreePart::kSymlinks}},
    {OpKind::kSetXattr, OpNames::kFiles, {.needs = kFiles, .makes = TreePart::kXattrs, .repeats = true}, {},
     /*uses_xattrs=*/true},
    {OpKind::kGetXattr, OpNames::kFiles, {.needs = kFilesAndXattrs, .repeats = true}, kGetXattrRequests,
     /*uses_xattrs=*/true},
    {OpKind::kChmod, OpNames::kFiles, {.needs = kFiles, .repeats = true}},
    {OpKind::kUnlink, OpNames::kFiles, {.needs = kFiles, .removes = kFilesAndXattrs}},
    {OpKind::kRmdir, OpNames::kLeaves, {.needs = TreePart::kLeaves, .removes = TreePart::kLeaves}},
    // file-mix: opens, appends, unlinks and creates in turn; appending is what it alone does.
    {OpKind::kAppend, OpNames::kFiles,
     {.needs = kFiles,
      .removes = TreePart::kXattrs,
      .replaces_files = true,
      .reads_data = true,
      .writes_data = true,
      .repeats = true}},
};

}  // namespace

std::span<const MetadataSpec> MetadataOperations() {
  return kSpecs;
}

const MetadataSpec* FindMetadataSpec(OpKind kind) {
  for (const MetadataSpec& spec : kSpecs) {
    if (spec.kind == kind) return &spec;
  }
  return nullptr;
}

const MetadataSpec& MetadataSpecOf(const OperationSpec& operation) {
  assert(operation.is_metadata());
  // A mix has kinds of other operations too, and its own comes last.
  const MetadataSpec* found = nullptr;
  for (const MetadataSpec& spec : kSpecs) {
    if (operation.kinds.Has(spec.kind)) found = &spec;
  }
  assert(found != nullptr);
  return *found;
}

}  // namespace iobench
