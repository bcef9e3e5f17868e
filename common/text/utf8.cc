#include "common/text/utf8.h"

#include "nlohmann/json.hpp"

namespace iobench {

std::string AsUtf8(std::string_view text) {
  using nlohmann::json;
  // The JSON library writes valid UTF-8, which it reads back unchanged.
  return json::parse(json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace))
      .get<std::string>();
}

}  // namespace iobench
