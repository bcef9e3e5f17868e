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

constexpr std::string_view kReadlinkRequests[] = {"READLINK"};
constexpr std::string_view kCopyRequests[] = {"COPY"};

constexpr OpKind kResizeCycle[] = {OpKind::kTruncate, OpKind::kExtend};
constexpr OpKind kReallocateCycle[] = {OpKind::kPunchHole, OpKind::kAllocate};
constexpr OpKind kCopyCycle[] = {OpKind::kCopy, OpKind::kRename};
constexpr OpKind kCopyRangeCycle[] = {OpKind::kCopyRange, OpKind::kRename};
constexpr OpKind kCloneCycle[] = {OpKind::kClone, OpKind::kRename};
constexpr OpKind kFileMixCycle[] = {OpKind::kOpenClose, OpKind::kAppend, OpKind::kUnlink, OpKind::kCreate};
constexpr OpKind kRecreateCycle[] = {OpKind::kUnlink, OpKind::kCreate};
constexpr OpKind kReplaceCycle[] = {OpKind::kCreate, OpKind::kRename};
constexpr OpKind kMoveCycle[] = {OpKind::kRename, OpKind::kRename};
constexpr OpKind kOpenCycle[] = {OpKind::kOpenClose};
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

// Files keep their size, so that it can loop.
constexpr TreeEffect kOnContents = {.needs = kFiles, .uses_contents = true, .repeats = true};

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
    {"chown", "chown", OpKind::kChown, OpNames::kFiles, {.needs = kFiles, .repeats = true}},
    {"utimes", "set times", OpKind::kUtimes, OpNames::kFiles, {.needs = kFiles, .repeats = true}},
    {"readlink", "read symbolic links", OpKind::kReadlink, OpNames::kSymlinks,
     {.needs = TreePart::kSymlinks, .repeats = true}, kReadlinkRequests},
    {"list-long", "list directories with attributes", OpKind::kListLong, OpNames::kDirectories,
     {.needs = kFiles, .repeats = true}, kReaddirRequests},
    {"append", "append to files", OpKind::kAppend, OpNames::kFiles, {.needs = kFiles, .writes_data = true, .grows = true}},
    {"zero-range", "zero ranges", OpKind::kZeroRange, OpNames::kFiles, kOnContents},
    {"seek-hole", "seek holes", OpKind::kSeekHole, OpNames::kFiles, kOnContents},
    {"unlink", "unlink files", OpKind::kUnlink, OpNames::kFiles, {.needs = kFiles, .removes = kFilesAndXattrs}},
    {"rmdir", "remove directories", OpKind::kRmdir, OpNames::kLeaves,
     {.needs = TreePart::kLeaves, .removes = TreePart::kLeaves}},
    {.name = "remove-tree", .title = "remove trees", .kind = OpKind::kUnlink, .names = OpNames::kFoundItems,
     .effect = {.needs = kFiles,
                .in_the_way = {TreePart::kLinks, TreePart::kSymlinks, TreePart::kLeaves},
                .removes = kFilesAndXattrs},
     .removes_tree = true},
    // Its items are a lane's turns. The file has a name of its own, so that nothing needs to exist.
    {.name = "lock", .title = "take turns with a lock", .kind = OpKind::kLock, .names = OpNames::kLockFile,
     .effect = {.repeats = true}, .shares_items = true, .default_items = 100, .items_word = "turns"},
    // Cycles. Each leaves files of their full size, some of which hold nothing.
    {.name = "resize", .title = "truncate and extend", .kind = OpKind::kTruncate, .names = OpNames::kFiles,
     .effect = kOnContents, .cycle = kResizeCycle},
    {.name = "reallocate", .title = "punch holes and allocate", .kind = OpKind::kPunchHole, .names = OpNames::kFiles,
     .effect = kOnContents, .cycle = kReallocateCycle},
    // A copy gets the name of its original.
    {.name = "copy", .title = "copy files", .kind = OpKind::kCopy, .names = OpNames::kFiles, .effect = kReadAndNewFiles,
     .cycle = kCopyCycle},
    {.name = "copy-range", .title = "copy files, copy_file_range", .kind = OpKind::kCopyRange, .names = OpNames::kFiles,
     .effect = kReadAndNewFiles, .offloaded_by = kCopyRequests, .cycle = kCopyRangeCycle},
    {.name = "clone", .title = "clone files", .kind = OpKind::kClone, .names = OpNames::kFiles, .effect = kReadAndNewFiles,
     .cycle = kCloneCycle},
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
    // Each file to the next directory of the tree, under its other name, and back.
    {.name = "move", .title = "move files", .kind = OpKind::kRename, .names = OpNames::kFiles,
     .effect = {.needs = kFiles, .moves = true, .repeats = true}, .cycle = kMoveCycle},
    {.name = "open-many", .title = "open and close the same files", .kind = OpKind::kOpenClose, .names = OpNames::kFiles,
     .effect = {.needs = kFiles, .reads_data = true, .repeats = true}, .requests = kOpenRequests, .cycle = kOpenCycle,
     .shares_items = true, .default_items = 1},
};
// clang-format on

const MetadataSpec* SpecNamed(std::string_view name) {
  for (const MetadataSpec& spec : kSpecs) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

}  // namespace

std::span<const MetadataSpec> MetadataOperations() {
  return kSpecs;
}

std::string_view ItemsWordOf(std::string_view operation) {
  const MetadataSpec* const spec = SpecNamed(operation);
  return spec == nullptr ? MetadataSpec().items_word : spec->items_word;
}

bool HasItemsPerLane(std::string_view operation) {
  const MetadataSpec* const spec = SpecNamed(operation);
  // Lanes share the lock's file, but each takes its own turns.
  return spec == nullptr || !spec->shares_items || spec->names == OpNames::kLockFile;
}

const MetadataSpec* FindMetadataSpec(OpKind kind) {
  for (const MetadataSpec& spec : kSpecs) {
    if (spec.kind == kind) return &spec;
  }
  return nullptr;
}

const MetadataSpec& MetadataSpecOf(const OperationSpec& operation) {
  assert(operation.is_metadata());
  const MetadataSpec* const found = SpecNamed(operation.name);
  assert(found != nullptr);
  return *found;
}

}  // namespace iobench
