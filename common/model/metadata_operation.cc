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

constexpr OpKind kFileMixCycle[] = {OpKind::kOpenClose, OpKind::kAppend, OpKind::kUnlink, OpKind::kCreate};
constexpr OpKind kRecreateCycle[] = {OpKind::kUnlink, OpKind::kCreate};
constexpr OpKind kReplaceCycle[] = {OpKind::kCreate, OpKind::kRename};
constexpr OpKind kDeliverCycle[] = {OpKind::kUnlink, OpKind::kCreate, OpKind::kRename};

// Removes files or names and makes them again, so that it can loop.
constexpr TreeEffect kNewFiles = {.needs = kFiles,
                                  .removes = TreePart::kXattrs,
                                  .replaces_files = true,
                                  .writes_data = true,
                                  .repeats = true};
constexpr TreeEffect kReadAndNewFiles = {.needs = kFiles,
                                         .removes = TreePart::kXattrs,
                                         .replaces_files = true,
                                         .reads_data = true,
                                         .writes_data = true,
                                         .repeats = true};

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
    // No other operation appends.
    {.name = "file-mix", .title = "mix of files", .kind = OpKind::kAppend, .names = OpNames::kFiles,
     .effect = kReadAndNewFiles, .cycle = kFileMixCycle, .creates_exclusively = true},
    // How programs make files anew: removed and created, a new one renamed over the old one, and, as mail is delivered
    // and read, under another name first. `observe` replays the creates, renames and removals of a load with these.
    {.name = "recreate", .title = "recreate files", .kind = OpKind::kCreate, .names = OpNames::kFiles,
     .effect = kNewFiles, .cycle = kRecreateCycle},
    {.name = "replace", .title = "replace files", .kind = OpKind::kRename, .names = OpNames::kFiles,
     .effect = kNewFiles, .cycle = kReplaceCycle},
    {.name = "deliver", .title = "deliver files", .kind = OpKind::kRename, .names = OpNames::kFiles,
     .effect = kNewFiles, .cycle = kDeliverCycle},
};
// clang-format on

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
  const MetadataSpec* found = nullptr;
  for (const MetadataSpec& spec : kSpecs) {
    if (spec.name == operation.name) found = &spec;
  }
  assert(found != nullptr);
  return *found;
}

}  // namespace iobench
