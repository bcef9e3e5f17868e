#include "coordinator/launch/host_list.h"

#include <arpa/inet.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
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

constexpr uint64_t kMaxHostFileBytes = 16_MiB;
constexpr uint32_t kMaxSlots = 1024;
constexpr size_t kMaxRangeDigits = 9;
constexpr size_t kMaxRepeatedNames = 3;  // named in a message

// A piece of the list between separators, and where it is.
struct Piece {
  std::string text;
  std::string place;  // "line 3", "entry 2"
};

// Separators within the brackets of a range do not count.
std::vector<Piece> PiecesOf(const std::string& text, bool is_file) {
  std::vector<Piece> pieces;
  size_t line_number = 0;
  for (const absl::string_view whole_line : absl::StrSplit(text, '\n')) {
    ++line_number;
    std::string line(whole_line);
    if (is_file) line = line.substr(0, line.find('#'));
    line += ',';
    std::string piece;
    bool in_brackets = false;
    for (size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      const bool separates = c == ',' || absl::ascii_isspace(static_cast<unsigned char>(c));
      // A bracket that is not closed must not swallow the entries after it.
      if (c == '[') in_brackets = line.find(']', i) < line.find('[', i + 1);
      if (c == ']') in_brackets = false;
      if (!separates || in_brackets) {
        piece += c;
        continue;
      }
      if (!piece.empty()) {
        pieces.push_back({piece, is_file ? absl::StrCat("line ", line_number)
                                         : absl::StrCat("entry ", pieces.size() + 1)});
      }
      piece.clear();
    }
  }
  return pieces;
}

absl::Status Bad(const std::string& why) {
  return absl::InvalidArgumentError(why);
}

// Of names that a range makes, only some may be too long.
absl::Status CheckName(const std::string& name) {
  const absl::Status possible = CheckHostName(name);
  return possible.ok() ? possible : Bad(absl::StrCat("a host's name ", possible.message()));
}

bool AllOf(const std::string& text, std::string_view others) {
  return std::all_of(text.begin(), text.end(), [others](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || others.find(c) != std::string_view::npos;
  });
}

// "3", "01-32": appends the numbers, with as many digits as the first number has if that begins with 0.
absl::Status AppendRange(const std::string& range, std::vector<std::string>& numbers) {
  const std::vector<std::string> ends = absl::StrSplit(range, '-');
  uint32_t first = 0, last = 0;
  const auto is_number = [](const std::string& end, uint32_t& value) {
    return end.size() <= kMaxRangeDigits && AllOf(end, "") && absl::SimpleAtoi(end, &value);
  };
  if (ends.size() > 2 || !is_number(ends[0], first) || !is_number(ends.back(), last)) {
    return Bad(absl::StrCat("\"", range, "\" is not a range: write numbers, as in [01-32] or [1-3,7]"));
  }
  if (first > last) {
    return Bad(absl::StrCat("the range ", range, " runs downward: write ", ends[1], "-", ends[0]));
  }
  const bool first_has_zeros = ends[0].size() > 1 && ends[0][0] == '0';
  const bool last_has_zeros = ends.back().size() > 1 && ends.back()[0] == '0';
  if ((first_has_zeros || last_has_zeros) && ends[0].size() != ends.back().size()) {
    return Bad(absl::StrCat("the numbers of the range ", range, " differ in length: write both with ",
                            std::max(ends[0].size(), ends.back().size()), " digits"));
  }
  if (last - first >= kMaxListedWorkers) {
    return Bad(absl::StrCat("the range ", range, " has more than ", kMaxListedWorkers, " numbers"));
  }
  const size_t digits = first_has_zeros ? ends[0].size() : 0;
  for (uint32_t number = first; number <= last; ++number) {
    const std::string plain = absl::StrCat(number);
    numbers.push_back(
        absl::StrCat(std::string(digits > plain.size() ? digits - plain.size() : 0, '0'), plain));
  }
  return absl::OkStatus();
}

// Returns each name that the ranges of `name` make. The last range varies fastest.
absl::StatusOr<std::vector<std::string>> NamesIn(std::string_view name) {
  std::vector<std::string> names = {""};
  while (!name.empty()) {
    const size_t open = std::min(name.find('['), name.size());
    std::vector<std::string> endings = {std::string(name.substr(0, open))};
    name.remove_prefix(open);
    if (!name.empty()) {
      const size_t close = name.find(']');
      if (close == std::string_view::npos) return Bad("a bracket [ is not closed: add ]");
      std::vector<std::string> numbers;
      const std::string inside(name.substr(1, close - 1));
      for (const absl::string_view range : absl::StrSplit(inside, ',')) {
        IOBENCH_RETURN_IF_ERROR(AppendRange(std::string(absl::StripAsciiWhitespace(range)), numbers));
      }
      for (std::string& number : numbers) number = absl::StrCat(endings[0], number);
      endings = std::move(numbers);
      name.remove_prefix(close + 1);
    }
    if (names.size() * endings.size() > kMaxListedWorkers) {
      return Bad(absl::StrCat("it names more than ", kMaxListedWorkers, " hosts"));
    }
    std::vector<std::string> longer;
    longer.reserve(names.size() * endings.size());
    for (const std::string& begin : names) {
      for (const std::string& ending : endings) longer.push_back(absl::StrCat(begin, ending));
    }
    names = std::move(longer);
  }
  return names;
}

// Takes "*4" or ":22" off the end of `text`.
absl::Status ParseNumber(std::string& text, char mark, const char* what, uint32_t max, uint32_t& value) {
  const size_t at = text.rfind(mark);
  if (at == std::string::npos) return absl::OkStatus();
  const std::string number = text.substr(at + 1);
  text.resize(at);
  if (absl::SimpleAtoi(number, &value) && value >= 1 && value <= max) return absl::OkStatus();
  return Bad(absl::StrCat("\"", number, "\" is not ", what, ": write a number from 1 to ", max, " after ",
                          std::string(1, mark)));
}

// Parses the part between the user and the slots.
absl::StatusOr<std::vector<std::string>> HostsAndPort(std::string text, uint32_t& port) {
  constexpr uint32_t kMaxPort = 65535;
  if (text.starts_with('[') && text.substr(0, text.find(']')).find(':') != std::string::npos) {
    const size_t close = text.find(']');
    if (close == std::string::npos) return Bad("the bracket of the IPv6 address is not closed: add ]");
    const std::string address = text.substr(1, close - 1);
    std::string rest = text.substr(close + 1);
    in6_addr ignored{};
    const size_t zone = std::min(address.find('%'), address.size());
    // inet_pton sees nothing behind a zero byte.
    if (!AllOf(address.substr(0, zone), ":.") || !AllOf(address.substr(zone), "%._-") ||
        inet_pton(AF_INET6, address.substr(0, zone).c_str(), &ignored) != 1) {
      return Bad(absl::StrCat("\"", address, "\" is not an IPv6 address"));
    }
    IOBENCH_RETURN_IF_ERROR(ParseNumber(rest, ':', "a port", kMaxPort, port));
    if (!rest.empty()) return Bad(absl::StrCat("\"", rest, "\" follows the address: write [ADDRESS]:PORT"));
    return std::vector<std::string>{address};
  }
  if (std::count(text.begin(), text.end(), ':') > 1) {
    return Bad("it has several colons: put an IPv6 address in brackets, as in [fd00::1] or [fd00::1]:22");
  }
  IOBENCH_RETURN_IF_ERROR(ParseNumber(text, ':', "a port", kMaxPort, port));
  IOBENCH_ASSIGN_OR_RETURN(std::vector<std::string> names, NamesIn(text));
  const std::string& sample = names.front();
  if (sample.empty()) return Bad("the host's name is missing");
  if (!AllOf(sample, "._-")) {
    return Bad("a host's name has only letters, digits, dots and hyphens: write [USER@]HOST[:PORT][*SLOTS]");
  }
  for (const std::string& name : names) IOBENCH_RETURN_IF_ERROR(CheckName(name));
  return names;
}

absl::StatusOr<std::vector<HostEntry>> ParsePiece(const std::string& piece) {
  if (!IsUtf8(piece)) return Bad("it is not UTF-8, so reports cannot show it");
  HostEntry entry;
  std::string text = piece;
  IOBENCH_RETURN_IF_ERROR(ParseNumber(text, '*', "a number of workers", kMaxSlots, entry.slots));
  if (const size_t at = text.rfind('@'); at != std::string::npos) {
    entry.user = text.substr(0, at);
    text.erase(0, at + 1);
    if (entry.user.empty()) return Bad("the user's name before @ is missing");
    if (entry.user.starts_with('-') || !AllOf(entry.user, "._-+\\@$")) {
      return Bad(absl::StrCat("\"", entry.user, "\" is not a user's name"));
    }
  }
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, HostsAndPort(std::move(text), entry.port));
  std::vector<HostEntry> entries;
  entries.reserve(names.size());
  for (const std::string& name : names) {
    entry.host = name;
    entries.push_back(entry);
  }
  return entries;
}

// "slots=4" of Open MPI's files: the text after "="; nullopt: the piece is no such attribute. "max_slots=8" limits what
// mpirun starts, so it means nothing here, and is empty.
std::optional<std::string> SlotsAttribute(const std::string& piece) {
  const std::string lower = absl::AsciiStrToLower(piece);
  for (const std::string_view ignored : {"max_slots=", "max-slots=", "slots_max=", "slots-max="}) {
    if (lower.starts_with(ignored)) return "";
  }
  constexpr std::string_view kSlots = "slots=";
  return lower.starts_with(kSlots) ? std::optional(piece.substr(kSlots.size())) : std::nullopt;
}

// Gives the slots to the entries of the same line. Returns what is wrong, or an empty string.
std::string FaultOfSlots(const std::string& number, std::span<HostEntry> entries) {
  if (entries.empty()) return "it follows no host that only this line names";
  uint32_t slots = 0;
  if (!absl::SimpleAtoi(number, &slots) || slots < 1 || slots > kMaxSlots)
    return absl::StrCat("\"", number, "\" is not a number of workers: write a number from 1 to ", kMaxSlots,
                        " after =");
  for (HostEntry& entry : entries) {
    if (entry.slots > 1)
      return absl::StrCat(entry.ToText(), " has a number of workers already: remove one of the two");
    entry.slots = slots;
  }
  return "";
}

// Finds hosts that an earlier entry has named. A mistyped range is more likely than a wish for more workers.
class Repetitions {
 public:
  // Returns what is wrong with the entries of one place, or an empty string.
  std::string FaultOf(const std::vector<HostEntry>& entries, const std::string& place) {
    std::vector<std::string> again;
    std::string before;
    for (const HostEntry& entry : entries) {
      const auto [found, is_new] = place_of_.emplace(entry.ToText(), place);
      if (is_new) continue;
      if (again.empty()) before = found->second;
      again.push_back(entry.ToText());
    }
    if (again.empty()) return "";
    const size_t named = std::min(again.size(), kMaxRepeatedNames);
    const std::string names =
        absl::StrJoin(again.begin(), again.begin() + static_cast<ptrdiff_t>(named), ", ");
    return absl::StrCat(names,
                        again.size() > named ? absl::StrCat(" and ", again.size() - named, " more") : "",
                        before == place ? " named twice" : absl::StrCat(" named before, in ", before),
                        ": remove one, or write ", again.front(), "*2 for two workers on it");
  }

 private:
  std::map<std::string, std::string> place_of_;
};

}  // namespace

std::string HostEntry::ToText() const {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return absl::StrCat(user, user.empty() ? "" : "@", is_ipv6 ? "[" : "", host, is_ipv6 ? "]" : "",
                      port > 0 ? absl::StrCat(":", port) : "");
}

absl::StatusOr<std::vector<HostEntry>> ParseHostList(const std::string& text, const std::string& name,
                                                     bool is_file) {
  std::vector<HostEntry> hosts;
  std::vector<std::string> faults;
  Repetitions repetitions;
  // Batch systems write a host's name once for each of its slots. Ranges and numbers of workers are written by people, whose
  // repetition is a fault.
  std::map<std::string, size_t> index_of_plain;
  std::string last_place;
  size_t line_begin = 0;  // of the entries in `hosts` that are from the last piece's line
  for (const Piece& piece : PiecesOf(std::string(is_file ? WithoutByteOrderMark(text) : text), is_file)) {
    if (piece.place != last_place) line_begin = hosts.size();
    last_place = piece.place;
    std::string fault;
    const std::optional<std::string> slots = is_file ? SlotsAttribute(piece.text) : std::nullopt;
    if (slots.has_value()) {
      if (!slots->empty()) fault = FaultOfSlots(*slots, std::span(hosts).subspan(line_begin));
    } else if (const auto entries = ParsePiece(piece.text); !entries.ok()) {
      fault = std::string(entries.status().message());
    } else if (const auto plain = index_of_plain.find(piece.text); plain != index_of_plain.end()) {
      ++hosts[plain->second].slots;
    } else {
      fault = repetitions.FaultOf(*entries, piece.place);
      const bool is_plain = is_file && entries->size() == 1 && entries->front().ToText() == piece.text;
      if (fault.empty() && is_plain) index_of_plain.emplace(piece.text, hosts.size());
      if (fault.empty()) hosts.insert(hosts.end(), entries->begin(), entries->end());
    }
    if (!fault.empty())
      faults.push_back(absl::StrCat(name, ", ", piece.place, ", \"", AsUtf8(piece.text), "\": ", fault));
  }
  if (faults.empty() && hosts.empty()) faults.push_back(absl::StrCat(name, ": it names no host"));
  uint64_t workers = 0;
  for (const HostEntry& host : hosts) workers += host.slots;
  if (workers > kMaxListedWorkers) {
    faults.push_back(
        absl::StrCat(name, ": it asks for ", workers, " workers, and ", kMaxListedWorkers, " is the limit"));
  }
  if (!faults.empty()) return absl::InvalidArgumentError(absl::StrJoin(faults, "\n"));
  return hosts;
}

absl::StatusOr<std::vector<HostEntry>> HostsOf(const std::string& argument) {
  if (!argument.starts_with('@')) return ParseHostList(argument, "--hosts", /*is_file=*/false);
  const std::string file = argument.substr(1);
  IOBENCH_ASSIGN_OR_RETURN(const std::string text, files::ReadWhole("host list", file, kMaxHostFileBytes));
  return ParseHostList(text, absl::StrCat("host list ", file), /*is_file=*/true);
}

uint32_t WorkersOn(std::span<const HostEntry> hosts) {
  uint32_t workers = 0;
  for (const HostEntry& host : hosts) workers += host.slots;
  return workers;
}

}  // namespace iobench
