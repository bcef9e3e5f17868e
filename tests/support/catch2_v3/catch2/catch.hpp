#pragma once

// Catch2 3 with the header and the words of Catch2 2, in which the tests are written: Debian 12 has version 2, Debian 13 only
// version 3. iobench_find_catch (cmake/IobenchTarget.cmake) puts this folder on the include path where it finds version 3.
#include <string>

#include <catch2/catch_all.hpp>

using Catch::Approx;

namespace Catch {

using Matchers::EndsWith;
using Matchers::StartsWith;

inline Matchers::StringContainsMatcher Contains(const std::string& text) { return Matchers::ContainsSubstring(text); }

}  // namespace Catch
