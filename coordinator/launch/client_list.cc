#include "coordinator/launch/client_list.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/status_util.h"
#include "common/text/host_name.h"
#include "common/text/units.h"
#include "common/text/utf8.h"
#include "coordinator/files/files.h"

namespace iobench {
namespace {

constexpr uint64_t kLongestListBytes = 16_MiB;
constexpr size_t kFewestFields = 3, kMaxFields = 4;

absl::StatusOr<ClientEntry> ParseLine(const std::string& line) {
  std::vector<std::string> fields = absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
  const auto comment =
      std::find_if(fields.begin(), fields.end(), [](const std::string& field) { return field[0] == '#'; });
  fields.erase(comment, fields.end());
  if (fields.empty()) {
    return absl::InvalidArgumentError("blank line: remove it, or make it a comment with #");
  }
  if (!IsUtf8(line)) return absl::InvalidArgumentError("the line is not UTF-8, so reports cannot show it");
  for (const std::string& field : fields) {
    // A zero byte would end the remote shell's command in the middle.
    if (std::any_of(field.begin(), field.end(),
                    [](char c) { return absl::ascii_iscntrl(static_cast<unsigned char>(c)); })) {
      return absl::InvalidArgumentError("the line has control characters: remove them");
    }
  }
  if (fields.size() < kFewestFields || fields.size() > kMaxFields) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a line needs 3 or 4 fields (client, directory, program, and what to test), but this one has ",
        fields.size()));
  }
  ClientEntry entry{.client = fields[0], .directory = fields[1], .program = fields[2], .path = ""};
  // With the user, too, whose name a remote shell may see first.
  for (const std::string& name : {entry.client, HostOfClient(entry).host}) {
    if (const absl::Status possible = CheckHostName(name); !possible.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("the client's name \"", name, "\" ", possible.message()));
    }
  }
  if (fields.size() == kMaxFields) entry.path = fields[3];
  return entry;
}

}  // namespace

HostEntry HostOfClient(const ClientEntry& entry) {
  const size_t at = entry.client.rfind('@');
  const bool has_user = at != std::string::npos && at > 0 && at + 1 < entry.client.size();
  if (!has_user) return {.host = entry.client, .user = ""};
  return {.host = entry.client.substr(at + 1), .user = entry.client.substr(0, at)};
}

absl::StatusOr<std::vector<ClientEntry>> ParseClientList(const std::string& text,
                                                         const std::string& file_name) {
  const std::string_view marked = WithoutByteOrderMark(text);
  std::vector<std::string> lines = absl::StrSplit(absl::string_view(marked.data(), marked.size()), '\n');
  if (lines.back().empty()) lines.pop_back();  // the newline of the last line does not start another line
  std::vector<ClientEntry> clients;
  std::vector<std::string> faults;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (const size_t first = lines[i].find_first_not_of(" \t");
        first < lines[i].size() && lines[i][first] == '#')
      continue;
    auto entry = ParseLine(lines[i]);
    if (entry.ok()) {
      clients.push_back(*std::move(entry));
    } else {
      faults.push_back(absl::StrCat("client list ", file_name, ":", i + 1, ": ", entry.status().message()));
    }
  }
  if (clients.empty() && faults.empty()) {
    faults.push_back(absl::StrCat("client list ", file_name, ": it names no client"));
  }
  if (!faults.empty()) return absl::InvalidArgumentError(absl::StrJoin(faults, "\n"));
  return clients;
}

absl::StatusOr<std::vector<ClientEntry>> LoadClientList(const std::string& file) {
  IOBENCH_ASSIGN_OR_RETURN(const std::string text, files::ReadWhole("client list", file, kLongestListBytes));
  return ParseClientList(text, file);
}

absl::StatusOr<std::vector<ClientEntry>> FirstClients(std::vector<ClientEntry> clients, uint32_t count,
                                                      const std::string& file) {
  if (count > clients.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("-t ", count, " asks for ", count, " workers, but the client list ", file, " has ",
                     clients.size(), clients.size() == 1 ? " line" : " lines",
                     ": add lines (a client may have several) or use a smaller -t"));
  }
  if (count > 0) clients.resize(count);
  return clients;
}

}  // namespace iobench
