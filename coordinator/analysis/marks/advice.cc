#include "coordinator/analysis/marks/advice.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/model/engine.h"
#include "common/model/engine_demand.h"
#include "common/model/operation.h"
#include "common/model/plan_traits.h"

namespace iobench {
namespace {

// "--drop-caches" of "--drop-caches with workers of root".
std::string_view FirstWord(std::string_view text) {
  return text.substr(0, text.find_first_of(" ,;"));
}

// "a", "a or b", "a, b or c".
std::string Alternatives(const std::vector<std::string_view>& all) {
  std::string text;
  for (size_t i = 0; i < all.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : i + 1 == all.size() ? " or " : ", ", std::string(all[i]));
  }
  return text;
}

// True if the operation's engine cannot do what this field of the operation asks.
bool Refuses(const v1::Operation& operation, std::string_view field) {
  const OperationSpec* const spec = SpecOf(operation);
  if (spec == nullptr) return false;
  const auto engine = EngineFor(*spec, operation.engine());
  return engine.ok() && std::any_of(EngineDemands().begin(), EngineDemands().end(), [&](const EngineDemand& demand) {
           return demand.field == field && !Meets(**engine, *spec, demand);
         });
}

}  // namespace

std::vector<std::string_view> OptionsOfNoUse(const v1::Phase& phase) {
  std::vector<std::string_view> of_no_use;
  const auto add_if = [&of_no_use](bool is_used, std::string_view option) {
    if (is_used) of_no_use.push_back(option);
  };
  const auto any = [&phase](auto has) {
    return std::any_of(phase.assignments().begin(), phase.assignments().end(),
                       [&has](const v1::Assignment& part) { return has(part.operation()); });
  };
  add_if(any([](const v1::Operation& operation) { return operation.direct() || Refuses(operation, "direct"); }), "-I");
  add_if(any([](const v1::Operation& operation) { return operation.sync() || Refuses(operation, "sync"); }), "-o");
  add_if(any([](const v1::Operation& operation) { return operation.rotate_clients(); }), "--rotate-clients");
  add_if(phase.region().fsync(), "-e");
  add_if(phase.region().close(), "-c");
  for (const v1::Step& step : phase.before()) {
    add_if(step.has_drop_caches(), "--drop-caches");
    add_if(step.has_drop_caches() && step.drop_caches().verify(), "--cold");
    add_if(step.has_remount(), "-U");
  }
  return of_no_use;
}

std::string AdviceFor(std::string_view text, std::span<const std::string_view> of_no_use) {
  std::string advice;
  for (;;) {
    const size_t begin = text.find('{');
    absl::StrAppend(&advice, std::string(text.substr(0, begin)));
    if (begin == std::string_view::npos) return advice;
    text.remove_prefix(begin + 1);
    const size_t end = std::min(text.find('}'), text.size());
    std::vector<std::string_view> left;
    for (std::string_view rest = text.substr(0, end);;) {
      const size_t bar = std::min(rest.find('|'), rest.size());
      const std::string_view one = rest.substr(0, bar);
      if (std::find(of_no_use.begin(), of_no_use.end(), FirstWord(one)) == of_no_use.end()) left.push_back(one);
      if (bar == rest.size()) break;
      rest.remove_prefix(bar + 1);
    }
    if (left.empty()) return {};
    advice += Alternatives(left);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string AdviceFor(std::string_view text, const v1::Phase& phase) {
  return AdviceFor(text, OptionsOfNoUse(phase));
}

}  // namespace iobench
