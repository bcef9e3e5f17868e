#include "common/text/host_name.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/text/utf8.h"

namespace iobench {
namespace {

constexpr size_t kMaxHostNameBytes = 255;

}  // namespace

absl::Status CheckHostName(std::string_view name) {
  const auto bad = [](const auto&... words) { return absl::InvalidArgumentError(absl::StrCat(words...)); };
  if (name.empty()) return bad("cannot be empty");
  if (name.size() > kMaxHostNameBytes) {
    return bad("has ", name.size(), " bytes, and at most ", kMaxHostNameBytes, " are possible");
  }
  const bool has_control = std::any_of(
      name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
  if (has_control) return bad("has control characters: remove them");
  if (!IsUtf8(name)) return bad("is not UTF-8, so reports cannot show it");
  if (name.front() == '-') return bad("cannot begin with -: a remote shell would read it as an option");
  if (name.find('/') != std::string_view::npos) return bad("cannot contain /: it would be a path");
  if (name == "." || name == "..") return bad("cannot be . or ..: these are directories");
  return absl::OkStatus();
}

}  // namespace iobench
