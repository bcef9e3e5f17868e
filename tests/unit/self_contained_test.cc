#include "common/process/self_contained.h"

#include <catch2/catch.hpp>

namespace iobench {
namespace {

// tests/deploy/test_packages.py sees what the self-contained program says.
TEST_CASE("a program with a dynamic loader is not self-contained") {
  CHECK_FALSE(IsSelfContained());
}

}  // namespace
}  // namespace iobench
