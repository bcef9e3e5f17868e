#include "common/utf8.h"

#include "nlohmann/json.hpp"

namespace iobench {

std::string AsUtf8(std::string_view text) {
  using nlohmann::json;
  // What the JSON library writes is UTF-8 and reads back as the same text.
  return json::parse(json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace))
      .get<std::string>();
}

}  // namespace iobench
