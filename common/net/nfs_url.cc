#include "common/net/nfs_url.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status_util.h"
#include "common/text/host_name.h"

namespace iobench {
namespace {

constexpr std::string_view kScheme = "nfs://";

enum class Value { kPort, kNumber, kTenths, kName, kVersion };

struct Argument {
  std::string_view name;
  Value value;
};
constexpr Argument kArguments[] = {
    {"nfsport", Value::kPort}, {"mountport", Value::kPort},  {"uid", Value::kNumber},
    {"gid", Value::kNumber},   {"if", Value::kName},         {"tcp-syncnt", Value::kNumber},
    {"timeo", Value::kTenths}, {"version", Value::kVersion},
};

struct Refused {
  std::string_view name;
  std::string_view why;
};
constexpr Refused kRefused[] = {
    {"readahead", "data would come from this host's memory, not from the server"},
    {"pagecache", "data would come from this host's memory, not from the server"},
    {"dircache", "names would come from this host's memory, not from the server"},
    {"autoreconnect",
     "what is in flight when a connection breaks is unknown: the lane fails then and says so"},
    {"auto-traverse-mounts", "a target is one export: give the URL of that export"},
    {"rsize", "records are split to the size that the server accepts"},
    {"wsize", "records are split to the size that the server accepts"},
    {"retrans", "nothing is resent: timeo sets how long to wait for a silent server"},
    {"sec", "Kerberos is not supported: mount the export, and use its directory"},
    {"xprtsec", "TLS is not supported: mount the export, and use its directory"},
    {"debug", "libnfs would write into the output of the program"},
};

absl::string_view Abseil(std::string_view text) {
  return {text.data(), text.size()};
}

bool IsPort(std::string_view text) {
  uint32_t port = 0;
  return absl::SimpleAtoi(Abseil(text), &port) && port > 0 && port <= 65535;
}

// Returns what is wrong with an argument; empty if nothing.
std::string ProblemWith(std::string_view name, std::string_view value) {
  for (const Refused& refused : kRefused) {
    if (refused.name == name) {
      return absl::StrCat("argument ", std::string(name), " cannot be used: ", std::string(refused.why));
    }
  }
  for (const Argument& argument : kArguments) {
    if (argument.name != name) continue;
    uint32_t number = 0;
    const bool is_number = absl::SimpleAtoi(Abseil(value), &number);
    if (argument.value == Value::kPort && !IsPort(value)) {
      return absl::StrCat(std::string(name), " is a port, 1 to 65535");
    }
    if (argument.value == Value::kNumber && !is_number)
      return absl::StrCat(std::string(name), " is a number");
    if (argument.value == Value::kTenths && !(is_number && number > 0)) {
      return absl::StrCat(std::string(name), " is a time in tenths of a second, 1 or more");
    }
    if (argument.value == Value::kName && value.empty()) {
      return absl::StrCat(std::string(name), " is the name of a network interface");
    }
    if (argument.value == Value::kVersion && number != 3) {
      return absl::StrCat(
          "version=", std::string(value),
          " cannot be used: only NFSv3 is supported (libnfs before 5.0 corrupts memory when it writes more than 4 "
          "KiB by NFSv4, and later ones speak only 4.0): leave it out");
    }
    return "";
  }
  std::string known;
  for (const Argument& argument : kArguments) {
    absl::StrAppend(&known, known.empty() ? "" : ", ", std::string(argument.name));
  }
  return absl::StrCat("unknown argument \"", std::string(name), "\"; there are: ", known);
}

// Returns a percent escape such as "%20"; empty if there is none.
std::string_view EscapeIn(std::string_view path) {
  const auto is_hex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
  for (size_t at = path.find('%'); at != std::string_view::npos; at = path.find('%', at + 1)) {
    if (at + 2 < path.size() && is_hex(path[at + 1]) && is_hex(path[at + 2])) return path.substr(at, 3);
  }
  return {};
}

// Returns what is wrong with a path; empty if nothing. `clean`: the path without a trailing '/' or empty names.
std::string CleanPath(std::string_view path, std::string& clean) {
  clean.clear();
  if (const std::string_view escape = EscapeIn(path); !escape.empty()) {
    return absl::StrCat(
        "the path has \"", std::string(escape),
        "\" in it, but libnfs does not support escapes: use a directory whose name needs none, or mount the export");
  }
  for (const absl::string_view name : absl::StrSplit(Abseil(path), '/', absl::SkipEmpty())) {
    if (name == "." || name == "..") return absl::StrCat("the path has \"", name, "\" in it");
    absl::StrAppend(&clean, "/", name);
  }
  if (clean.empty()) clean.push_back('/');
  return "";
}

// "host", "host:port", "[v6]", "[v6]:port".
std::string ParseHost(std::string_view text, NfsUrl& url) {
  size_t colon = text.rfind(':');
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return "\"[\" without \"]\"";
    if (end == 1) return "there is no host";
    if (end + 1 < text.size() && text[end + 1] != ':') return "something other than a port follows \"]\"";
    colon = end + 1 < text.size() ? end + 1 : std::string_view::npos;
  } else if (std::count(text.begin(), text.end(), ':') > 1) {
    return "an IPv6 address needs brackets, [::1]";
  }
  if (colon != std::string_view::npos) {
    const std::string_view port = text.substr(colon + 1);
    if (!IsPort(port)) return absl::StrCat("\"", std::string(port), "\" is not a port, 1 to 65535");
    url.arguments.emplace_back("nfsport", port);
    text = text.substr(0, colon);
  }
  if (text.empty()) return "there is no host";
  const bool is_plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("-._:[]%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (!is_plain) return absl::StrCat("\"", std::string(text), "\" is not a host");
  if (const absl::Status possible = CheckHostName(text); !possible.ok()) {
    return absl::StrCat("the host's name ", possible.message());
  }
  url.host = absl::AsciiStrToLower(Abseil(text));
  return "";
}

}  // namespace

bool IsNfsUrl(std::string_view path) {
  return absl::StartsWithIgnoreCase(Abseil(path), Abseil(kScheme));
}

absl::StatusOr<NfsUrl> ParseNfsUrl(std::string_view text) {
  const auto refuse = [text](std::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", std::string(text), "\": ", std::string(why),
                     " (an NFS URL is nfs://HOST[:PORT]/PATH[?ARGUMENT=VALUE&…])"));
  };
  if (!IsNfsUrl(text)) return refuse("it does not begin with nfs://");
  // libnfs does not decode escapes: these characters would end the path or be taken literally.
  for (const unsigned char c : text) {
    if (c <= ' ' || c == 0x7f) return refuse("it contains a space or control character");
  }
  NfsUrl url;
  std::string_view rest = text.substr(kScheme.size());
  std::string_view arguments;
  if (const size_t question = rest.find('?'); question != std::string_view::npos) {
    arguments = rest.substr(question + 1);
    rest = rest.substr(0, question);
  }
  const size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return refuse("there is no path to an export");
  if (std::string problem = ParseHost(rest.substr(0, slash), url); !problem.empty()) return refuse(problem);
  if (std::string problem = CleanPath(rest.substr(slash), url.path); !problem.empty()) return refuse(problem);
  for (const absl::string_view part : absl::StrSplit(Abseil(arguments), '&', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> argument = absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (std::string problem = ProblemWith(argument.first, argument.second); !problem.empty()) {
      return refuse(problem);
    }
    const bool twice = std::any_of(url.arguments.begin(), url.arguments.end(),
                                   [&](const auto& other) { return other.first == argument.first; });
    if (twice) return refuse(absl::StrCat(argument.first, " is given twice"));
    url.arguments.push_back(argument);
  }
  return url;
}

std::string PathBelow(const std::string& target, std::string_view name) {
  const auto url = ParseNfsUrl(target);
  return url.ok() ? url->Below(name).ToText() : absl::StrCat(target, "/", std::string(name));
}

std::string NfsUrl::ToText() const {
  return absl::StrCat(std::string(kScheme), host, path);
}

std::string NfsUrl::ForLibnfs() const {
  std::string text = ToText();
  char before = '?';
  for (const auto& [name, value] : arguments) {
    absl::StrAppend(&text, std::string(1, before), name, "=", value);
    before = '&';
  }
  return text;
}

std::string NfsUrl::Source() const {
  return absl::StrCat(host, ":", path);
}

std::string NfsUrl::Server() const {
  for (const auto& [name, value] : arguments) {
    if (name == "nfsport") return absl::StrCat(host, ":", value);
  }
  return host;
}

bool NfsUrl::IsOfThisHost() const {
  return host == "localhost" || host.starts_with("127.") || host == "[::1]";
}

NfsUrl NfsUrl::Parent() const {
  NfsUrl parent = *this;
  parent.path.resize(std::max<size_t>(1, path.rfind('/')));
  return parent;
}

NfsUrl NfsUrl::WithoutLast(std::string_view name) const {
  return path.ends_with(absl::StrCat("/", std::string(name))) ? Parent() : *this;
}

NfsUrl NfsUrl::Below(std::string_view name) const {
  NfsUrl below = *this;
  absl::StrAppend(&below.path, path == "/" ? "" : "/", std::string(name));
  return below;
}

}  // namespace iobench
