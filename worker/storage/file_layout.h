// Where a file system says that the data of a file or directory are: its attributes, and what these mean.
#ifndef WORKER_STORAGE_FILE_LAYOUT_H_
#define WORKER_STORAGE_FILE_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"

namespace iobench {

// Returns an extended attribute of an open file or directory, which may be opened with O_PATH; nullopt: it has none, or
// the file system refuses. At most 64 KiB.
std::optional<std::string> AttributeOf(int fd, const char* name);

// True if an open file or directory is on a file system that may tell where its files are: Lustre, BeeGFS, or FUSE, which
// may be GlusterFS.
bool MayTellStorageTargets(int fd);

// Returns the storage targets that hold bytes `begin` to `end` of an open file, each once, in the order of the file
// system: Lustre's object storage targets ("OST0003"), BeeGFS's targets ("101 @ node1"), GlusterFS's bricks
// ("server:/brick"). Empty: it does not say.
std::vector<std::string> StorageTargetsOf(int fd, uint64_t begin, uint64_t end);

// ---- the meaning of attributes

// The OSTs in Lustre's attribute lustre.lov that hold these bytes; of a mirrored file, those of all mirrors; "MDT" for
// data on a metadata target. Empty: the attribute has another format, or a component that will hold some of these bytes
// has no OSTs yet.
std::vector<std::string> LustreTargets(std::string_view lov, uint64_t begin, uint64_t end);
// "4 OSTs, 1048576 bytes on each, pool flash"; "composite, 3 components"; empty: another format.
std::string LustreStriping(std::string_view lov);

// BeeGFS's targets of a file, as its client answers ioctl(2); `ask` makes the call, with the request and its argument.
// Of a mirrored file, both targets of each group.
std::vector<std::string> BeegfsTargets(absl::FunctionRef<int(unsigned long, void*)> ask);

// The bricks in GlusterFS's attribute trusted.glusterfs.pathinfo, whichever translators they are below.
std::vector<std::string> GlusterTargets(std::string_view pathinfo);
// Their number; empty: there are none.
std::string GlusterBricks(std::string_view pathinfo);

}  // namespace iobench

#endif  // WORKER_STORAGE_FILE_LAYOUT_H_
