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

// clang-format off
constexpr MetadataSpec kSpecs[] = {
    {"mkdir", "make directories", OpKind::kMkdir, OpNames::kLeaves,
     {.in_the_way = TreePart::kLeaves, .makes = TreePart::kLeaves}},
    {"create", "create files", OpKind::kCreate, OpNames::kFiles,
     {.in_the_way = kFilesAndXattrs, .makes = kFiles, .writes_data = true}},
    {"open-close", "open and close", OpKind::kOpenClose, OpNames::kFiles,
     {.needs = kFiles, .reads_data = true, .repeats = true}, kOpenRequests},
    {"stat", "stat", OpKind::kStat, OpNames::kFiles, {.needs = kFiles, .repeats = true}, kStatRequests},
    {"readdir", "list directories", OpKind::kReaddir, OpNames::kDirectories, {.needs = kFiles, .repeats = true},
     kReaddirRequests},
    {.name = "find", .title = "find", .kind = OpKind::kFind, .names = OpNames::kFoundItems,
     .effect = {.needs = kFiles, .repeats = true}, .finds_items = true},
    {"rename", "rename", OpKind::kRename, OpNames::kFiles, {.needs = kFiles, .renames = true}},
    {"link", "hard links", OpKind::kLink, OpNames::kLinks,
     {.needs = kFiles, .in_the_way = TreePart::kLinks, .makes = TreePart::kLinks}},
    {"symlink", "symbolic links", OpKind::kSymlink, OpNames::kSymlinks,
     {.in_the_way = TreePart::kSymlinks, .makes = TreePart::kSymlinks}},
    {.name = "set-xattr", .title = "set attributes", .kind = OpKind::kSetXattr, .names = OpNames::kFiles,
     .effect = {.needs = kFiles, .makes = TreePart::kXattrs, .repeats = true}, .uses_xattrs = true},
    {.name = "get-xattr", .title = "get attributes", .kind = OpKind::kGetXattr, .names = OpNames::kFiles,
     .effect = {.needs = kFilesAndXattrs, .repeats = true}, .requests = kGetXattrRequests, .uses_xattrs = true},
    {"chmod", "chmod", OpKind::kChmod, OpNames::kFiles, {.needs = kFiles, .repeats = true}},
    {"unlink", "unlink files", OpKind::kUnlink, OpNames::kFiles, {.needs = kFiles, .removes = kFilesAndXattrs}},
    {"rmdir", "remove directories", OpKind::kRmdir, OpNames::kLeaves,
     {.needs = TreePart::kLeaves, .removes = TreePart::kLeaves}},
    // Opens, appends, unlinks and creates in turn; no other operation appends.
    {.name = "file-mix", .title = "mix of files", .kind = OpKind::kAppend, .names = OpNames::kFiles,
     .effect = {.needs = kFiles,
                .removes = TreePart::kXattrs,
                .replaces_files = true,
                .reads_data = true,
                .writes_data = true,
                .repeats = true},
     .other_kinds = {OpKind::kOpenClose, OpKind::kUnlink, OpKind::kCreate}},
};
// clang-format on

// MetadataSpecOf takes the last row that has one of the operation's kinds, and a mix has kinds of other rows.
constexpr bool MixesStandLast() {
  for (size_t mix = 0; mix < std::size(kSpecs); ++mix) {
    for (size_t later = mix + 1; later < std::size(kSpecs); ++later) {
      if (kSpecs[mix].other_kinds.Has(kSpecs[later].kind)) return false;
    }
  }
  return true;
}
static_assert(MixesStandLast(), "a mix must stand behind the rows whose kinds it has");

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
  // A mix also has kinds of other operations. It stands last in the table (MixesStandLast), so it wins.
  const MetadataSpec* found = nullptr;
  for (const MetadataSpec& spec : kSpecs) {
    if (operation.kinds.Has(spec.kind)) found = &spec;
  }
  assert(found != nullptr);
  return *found;
}

}  // namespace iobench
