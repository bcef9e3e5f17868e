#include "worker/sampler/nfs_server_setup.h"

#include <sys/statfs.h>

#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/proc_file.h"
#include "common/text/utf8.h"
#include "worker/storage/mounts.h"

namespace iobench {
namespace {

constexpr size_t kMaxExports = 100;  // of a report; a server may have one for each client
constexpr size_t kMaxWordBytes = 512;

template <typename Number>
std::optional<Number> NumberIn(const std::string& path) {
  Number number = 0;
  const std::optional<std::string> text = ReadWholeFile(path);
  if (!text || !absl::SimpleAtoi(absl::StripAsciiWhitespace(*text), &number)) return std::nullopt;
  return number;
}

// "+3 +4 -4.0 +4.1 +4.2": those with a plus; "4" only stands for its minor versions, if there are any.
void AddVersions(std::string_view text, v1::NfsServerSetup& setup) {
  std::vector<std::string> offered;
  bool has_minor = false;
  for (const absl::string_view word : absl::StrSplit(absl::string_view(text.data(), text.size()),
                                                     absl::ByAnyChar(" \n"), absl::SkipEmpty())) {
    has_minor |= absl::StartsWith(word.substr(1), "4.");
    if (word[0] == '+') offered.emplace_back(word.substr(1));
  }
  for (std::string& version : offered) {
    if (version != "4" || !has_minor) setup.add_versions(std::move(version));
  }
}

void AddStorage(const std::string& root, const std::vector<Mount>& mounts, v1::NfsExport& exported) {
  const Mount* const mount = MountOfPath(mounts, exported.path());
  if (mount == nullptr) return;
  exported.set_filesystem(mount->filesystem);
  constexpr std::string_view kDevices = "/dev/";
  exported.set_device(
      AsUtf8(mount->source.starts_with(kDevices) ? mount->source.substr(kDevices.size()) : mount->source));
  if (IsNetworkFilesystem(mount->filesystem)) return;
  struct statfs facts {};
  if (::statfs(absl::StrCat(root, exported.path()).c_str(), &facts) == 0)
    exported.set_block_bytes(static_cast<uint32_t>(facts.f_bsize));
}

// Adds the exports of one list: "/export\t10.0.0.0/24(rw,sync) # …", which exportfs and the kernel share.
void AddExports(std::string_view text, std::set<std::pair<std::string, std::string>>& known,
                v1::NfsServerSetup& setup) {
  for (const absl::string_view line : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (words.size() < 2) continue;
    const size_t options = words[1].find('(');
    if (options == absl::string_view::npos || !absl::EndsWith(words[1], ")")) continue;
    const std::string path = AsUtf8(UnescapeMountField(std::string_view(words[0].data(), words[0].size())));
    const std::string clients = AsUtf8(std::string(words[1].substr(0, options)));
    if (static_cast<size_t>(setup.exports_size()) == kMaxExports || !known.insert({path, clients}).second)
      continue;
    v1::NfsExport& exported = *setup.add_exports();
    exported.set_path(path);
    exported.set_clients(clients.substr(0, kMaxWordBytes));
    const std::string inside(words[1].substr(options + 1, words[1].size() - options - 2));
    exported.set_options(AsUtf8(inside.substr(0, kMaxWordBytes)));
  }
}

}  // namespace

std::optional<v1::NfsServerSetup> ReadNfsServerSetup(const std::string& root) {
  const std::string nfsd = absl::StrCat(root, "/proc/fs/nfsd/");
  const std::optional<uint32_t> threads = NumberIn<uint32_t>(nfsd + "threads");
  if (!threads || *threads == 0) return std::nullopt;
  v1::NfsServerSetup setup;
  setup.set_threads(*threads);
  AddVersions(ReadWholeFile(nfsd + "versions").value_or(""), setup);
  if (const auto lease_s = NumberIn<uint32_t>(nfsd + "nfsv4leasetime")) setup.set_lease_s(*lease_s);
  if (const auto grace_s = NumberIn<uint32_t>(nfsd + "nfsv4gracetime")) setup.set_grace_s(*grace_s);
  if (const auto ended = ReadWholeFile(nfsd + "v4_end_grace"); ended && !ended->empty())
    setup.set_in_grace((*ended)[0] == 'N');
  if (const auto bytes = NumberIn<uint64_t>(nfsd + "max_block_size")) setup.set_max_block_bytes(*bytes);
  // The kernel knows the exports that clients have asked for, and what applies to these; exportfs knows all.
  std::set<std::pair<std::string, std::string>> known;
  for (const char* const list : {"/proc/fs/nfsd/exports", "/var/lib/nfs/etab"}) {
    AddExports(ReadWholeFile(absl::StrCat(root, list)).value_or(""), known, setup);
  }
  const std::vector<Mount> mounts =
      ParseMountinfo(ReadWholeFile(absl::StrCat(root, "/proc/self/mountinfo")).value_or(""));
  for (v1::NfsExport& exported : *setup.mutable_exports()) AddStorage(root, mounts, exported);
  return setup;
}

}  // namespace iobench
