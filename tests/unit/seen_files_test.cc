#include "worker/lane/seen_files.h"

#include <catch2/catch.hpp>

namespace iobench {
namespace {

TEST_CASE("what a file was in the phase before is known, and only then") {
  SeenFiles files;
  CHECK_FALSE(files.Note({7, 0}, "/d/a", 11));
  CHECK(files.Note({7, 1}, "/d/a", 11) == 11u);
  CHECK(files.Note({7, 2}, "/d/a", 12) == 11u);
  CHECK(files.Note({7, 2}, "/d/a", 12) == 11u);  // another lane of the same phase
  CHECK_FALSE(files.Note({7, 4}, "/d/a", 13));   // another worker may have made it anew in phase 3
  CHECK_FALSE(files.Note({7, 5}, "/d/b", 20));
}

TEST_CASE("another run's files say nothing") {
  SeenFiles files;
  CHECK_FALSE(files.Note({7, 0}, "/d/a", 11));
  CHECK_FALSE(files.Note({8, 1}, "/d/a", 12));
  CHECK(files.Note({8, 2}, "/d/a", 12) == 12u);
}

}  // namespace
}  // namespace iobench
