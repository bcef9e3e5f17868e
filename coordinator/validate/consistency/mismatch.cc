#include "coordinator/validate/consistency/mismatch.h"

#include "absl/strings/str_cat.h"
#include "common/digest/xxh3.h"
#include "common/status_util.h"
#include "coordinator/validate/consistency/file_model.h"

namespace iobench {
namespace {

std::string OutcomeOf(int error) {
  return error == 0 ? "success" : ErrnoName(error);
}

// When the page had these contents, which are old now: ": what was there after step 3"; empty: it never had.
std::string WhenSeen(std::span<const Step> before, const Step& read, const Answer& answer) {
  FileModel model;
  std::string when;
  const auto look = [&](const std::string& moment) {
    const Expected then = model.Apply(read);
    if (then.error == 0 && then.read.size() == answer.bytes && Xxh3Of(then.read) == answer.contents_xxh3) {
      when = absl::StrCat(": what was there ", moment);
    }
  };
  look("at the beginning");
  for (size_t i = 0; i < before.size(); ++i) {
    static_cast<void>(model.Apply(before[i]));
    if (!Reads(before[i].kind)) look(absl::StrCat("after step ", i + 1));
  }
  return when;
}

// Empty: the answer is as expected.
std::string Difference(std::span<const Step> before, const Step& step, const Expected& expected,
                       const Answer& answer) {
  if (answer.error != expected.error) {
    return absl::StrCat(OutcomeOf(answer.error), " instead of ", OutcomeOf(expected.error),
                        answer.message.empty() ? "" : absl::StrCat(" (", answer.message, ")"));
  }
  if (expected.error != 0 || !Reads(step.kind)) return "";
  if (answer.bytes == expected.read.size() && answer.contents_xxh3 == Xxh3Of(expected.read)) {
    return answer.size == expected.size
               ? ""
               : absl::StrCat("sees a size of ", answer.size, " instead of ", expected.size, " bytes");
  }
  return absl::StrCat(
      answer.bytes == expected.read.size()
          ? "reads other contents"
          : absl::StrCat("reads ", answer.bytes, " instead of ", expected.read.size(), " bytes"),
      WhenSeen(before, step, answer));
}

}  // namespace

absl::StatusOr<std::optional<Mismatch>> FindMismatch(std::span<const Step> script, const Perform& perform) {
  FileModel model;
  for (size_t first = 0; first < script.size();) {
    size_t end = first + 1;
    while (end < script.size() && script[end].client == script[first].client) ++end;
    const std::span<const Step> turn = script.subspan(first, end - first);
    IOBENCH_ASSIGN_OR_RETURN(const std::vector<Answer> answers, perform(turn));
    for (size_t i = 0; i < turn.size(); ++i) {
      const std::string found =
          Difference(script.first(first + i), turn[i], model.Apply(turn[i]), answers[i]);
      if (!found.empty()) return std::optional(Mismatch{.index = first + i, .found = found});
    }
    first = end;
  }
  return std::nullopt;
}

}  // namespace iobench
