// Trials of names and directories: which names are the same, which are refused, and what a listing goes by.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/status_util.h"
#include "common/unique_fd.h"
#include "worker/check/trial/trial.h"

namespace iobench {
namespace {

struct Entry {
  std::string name;
  int64_t next_position = 0;  // from which a listing goes on behind it
};

// Closes the directory; null: it could not be opened.
using Stream = std::unique_ptr<DIR, int (*)(DIR*)>;

Stream OpenStream(int directory_fd, const char* name) {
  UniqueFd again(::openat(directory_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  DIR* const stream = again.valid() ? ::fdopendir(again.get()) : nullptr;
  if (stream != nullptr) again.Release();
  return {stream, ::closedir};
}

// The names that begin with `start`, in the order of the listing.
absl::StatusOr<std::vector<Entry>> EntriesOf(int directory_fd, const char* name, const std::string& start,
                                             const TrialPlace& place) {
  const Stream stream = OpenStream(directory_fd, name);
  if (stream == nullptr) return ErrnoStatus(absl::StrCat("list ", place.path), errno);
  std::vector<Entry> entries;
  errno = 0;
  while (const dirent* const entry = ::readdir(stream.get())) {
    const std::string_view listed = entry->d_name;
    if (listed != "." && listed != ".." && listed.substr(0, start.size()) == start) {
      entries.push_back({std::string(listed), entry->d_off});
    }
    errno = 0;
  }
  if (errno != 0) return ErrnoStatus(absl::StrCat("list ", place.path), errno);
  return entries;
}

absl::StatusOr<std::set<std::string>> NamesOf(const TrialPlace& place, const std::string& start) {
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<Entry> entries,
                           EntriesOf(place.directory_fd, ".", start, place));
  std::set<std::string> names;
  for (const Entry& entry : entries) names.insert(entry.name);
  return names;
}

// The errno of creating an empty file; 0: it is there.
int Create(int directory_fd, const std::string& name) {
  const UniqueFd fd(
      ::openat(directory_fd, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  return fd.valid() ? 0 : errno;
}

void Remove(const TrialPlace& place, const std::string& name) {
  ::unlinkat(place.directory_fd, name.c_str(), 0);
}

bool IsThere(const TrialPlace& place, const std::string& name) {
  struct stat seen {};
  return ::fstatat(place.directory_fd, name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) == 0;
}

// Answers for a name that a file system does not take as it is.
bool IsRefused(int error) {
  return error == EILSEQ || error == EINVAL || error == ENAMETOOLONG || error == ENOENT || error == EPERM;
}

// Whether `other` means the file `name`: "different", "same", or if the directory lists neither: "changed".
absl::Status CompareNames(const TrialPlace& place, const std::string& name, const std::string& other,
                          v1::TrialResult& result) {
  const int error = Create(place.directory_fd, name);
  if (IsRefused(error)) {
    result.set_failed_call("open");
    result.set_answer("refused");
    return absl::OkStatus();
  }
  if (error != 0) return ErrnoStatus(absl::StrCat("create ", place.PathOf(name)), error);
  const bool is_same = IsThere(place, other);
  const auto names = NamesOf(place, name.substr(0, name.rfind('.') + 1));
  Remove(place, name);
  if (!names.ok()) return names.status();
  result.set_answer(!names->contains(name) ? "changed" : is_same ? "same" : "different");
  return absl::OkStatus();
}

absl::Status TryCase(const TrialPlace& place, v1::TrialResult& result) {
  return CompareNames(place, place.Name("Case"), place.Name("cASE"), result);
}

// The letter e with acute accent as one character, and as two.
constexpr char kComposed[] = "\xc3\xa9", kDecomposed[] = "e\xcc\x81";

absl::Status TryUnicode(const TrialPlace& place, v1::TrialResult& result) {
  return CompareNames(place, place.Name(kComposed), place.Name(kDecomposed), result);
}

absl::Status TryInvalidUtf8(const TrialPlace& place, v1::TrialResult& result) {
  const std::string name = place.Name("\xff\xfe");
  IOBENCH_RETURN_IF_ERROR(CompareNames(place, name, name, result));
  if (result.answer() == "same") result.set_answer("accepted");
  return absl::OkStatus();
}

absl::Status TryReservedCharacters(const TrialPlace& place, v1::TrialResult& result) {
  constexpr std::array kEndings = {":", "\\", "*", "?", "\"", "<", ">", "|", "\x01", " ", "."};
  std::vector<std::string> refused, changed;
  for (const char* const ending : kEndings) {
    const std::string name = absl::StrCat(place.Name("reserved"), ending);
    const std::string shown = *ending == '\x01' ? "control characters"
                              : *ending == ' '  ? "a space at the end"
                              : *ending == '.'  ? "a dot at the end"
                                                : ending;
    const int error = Create(place.directory_fd, name);
    if (IsRefused(error)) {
      refused.push_back(shown);
      continue;
    }
    if (error != 0) return ErrnoStatus(absl::StrCat("create ", place.PathOf(name)), error);
    const auto names = NamesOf(place, place.Name("reserved"));
    Remove(place, name);
    if (!names.ok()) return names.status();
    if (!names->contains(name)) changed.push_back(shown);
  }
  std::vector<std::string> parts;
  if (!refused.empty()) parts.push_back(absl::StrCat("refused: ", absl::StrJoin(refused, " ")));
  if (!changed.empty()) parts.push_back(absl::StrCat("changed: ", absl::StrJoin(changed, " ")));
  result.set_answer(parts.empty() ? "accepted" : "some");
  result.set_detail(absl::StrJoin(parts, "; "));
  return absl::OkStatus();
}

constexpr size_t kUsualNameBytes = 255;

// A name of this many characters, all but those of the prefix being `character`.
std::string NameOfLength(const TrialPlace& place, size_t characters, const char* character) {
  std::string name = place.Name("");
  for (size_t length = name.size(); length < characters; ++length) name += character;
  return name;
}

absl::StatusOr<bool> Accepts(const TrialPlace& place, const std::string& name) {
  const int error = Create(place.directory_fd, name);
  if (IsRefused(error)) return false;
  if (error != 0)
    return ErrnoStatus(absl::StrCat("create a name of ", name.size(), " bytes in ", place.path), error);
  Remove(place, name);
  return true;
}

absl::Status TryLongestName(const TrialPlace& place, v1::TrialResult& result) {
  size_t longest = place.Name("").size(), too_long = kUsualNameBytes + 1;
  for (size_t length = kUsualNameBytes; too_long - longest > 1; length = (longest + too_long) / 2) {
    IOBENCH_ASSIGN_OR_RETURN(const bool accepts, Accepts(place, NameOfLength(place, length, "x")));
    (accepts ? longest : too_long) = length;
  }
  IOBENCH_ASSIGN_OR_RETURN(const bool more, Accepts(place, NameOfLength(place, kUsualNameBytes + 1, "x")));
  IOBENCH_ASSIGN_OR_RETURN(const bool counts_characters,
                           Accepts(place, NameOfLength(place, longest, kComposed)));
  result.set_number(longest);
  result.set_answer(more ? "more" : counts_characters ? "characters" : "bytes");
  return absl::OkStatus();
}

constexpr int kListedNames = 24, kRemovedNames = 8;

std::map<std::string, int64_t> PositionsOf(const std::vector<Entry>& entries) {
  std::map<std::string, int64_t> positions;
  for (const Entry& entry : entries) positions[entry.name] = entry.next_position;
  return positions;
}

// Whether the places from which a listing goes on are counted, so that they move when names before them go. A listing in
// several requests then loses names or has them twice while others work in the directory.
absl::Status TryDirectoryPositions(const TrialPlace& place, v1::TrialResult& result) {
  const std::string name = place.Name("listed");
  if (::mkdirat(place.directory_fd, name.c_str(), 0755) != 0) {
    return ErrnoStatus(absl::StrCat("create directory ", place.PathOf(name)), errno);
  }
  const UniqueFd directory(
      ::openat(place.directory_fd, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory.valid()) return ErrnoStatus(absl::StrCat("open ", place.PathOf(name)), errno);
  for (int i = 0; i < kListedNames; ++i) {
    const int error = Create(directory.get(), absl::StrFormat("%02d", i));
    if (error != 0) return ErrnoStatus(absl::StrCat("create a name in ", place.PathOf(name)), error);
  }
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<Entry> before, EntriesOf(directory.get(), ".", "", place));
  for (size_t i = 0; i < std::min<size_t>(kRemovedNames, before.size()); ++i) {
    ::unlinkat(directory.get(), before[i].name.c_str(), 0);
  }
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<Entry> after, EntriesOf(directory.get(), ".", "", place));
  for (const Entry& entry : after) ::unlinkat(directory.get(), entry.name.c_str(), 0);
  ::unlinkat(place.directory_fd, name.c_str(), AT_REMOVEDIR);
  const std::map<std::string, int64_t> old = PositionsOf(before);
  size_t compared = 0, moved = 0;
  // The last one's is the end of the directory.
  for (size_t i = 0; i + 1 < after.size(); ++i) {
    const auto was = old.find(after[i].name);
    if (was == old.end()) continue;
    ++compared;
    moved += was->second - after[i].next_position == kRemovedNames ? 1 : 0;
  }
  result.set_answer(compared > 0 && moved == compared ? "counted" : "stable");
  return absl::OkStatus();
}

}  // namespace

std::span<const Trial> NameTrials() {
  static constexpr Trial kTrials[] = {
      {"case", "whether names that differ in case are different: different, same, changed, refused", TryCase},
      {"unicode_forms",
       "whether composed and decomposed accents are different: different, same, changed, refused",
       TryUnicode},
      {"invalid_utf8", "names that are not UTF-8: accepted, changed, refused", TryInvalidUtf8},
      {"reserved_characters", "names that other systems reserve: accepted, some; which, in the detail",
       TryReservedCharacters},
      {"longest_name", "the longest name up to 255: bytes, characters, more; number: how many",
       TryLongestName},
      {"directory_positions", "where a listing goes on after others are removed: stable, counted",
       TryDirectoryPositions},
  };
  return kTrials;
}

}  // namespace iobench
