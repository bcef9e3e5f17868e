#include "worker/lane/periodic_flush.h"

#include <catch2/catch.hpp>
#include <vector>

namespace iobench {
namespace {

struct Flushed {
  explicit Flushed(uint64_t every_ops)
      : flush(every_ops, 3, [this](uint32_t object) {
          objects.push_back(object);
          return object == bad_object ? absl::DataLossError("bad") : absl::OkStatus();
        }) {}
  Flushed& Writes(uint32_t object) { return flush.After({.kind = OpKind::kWrite, .object = object}), *this; }
  Flushed& Updates(uint32_t object) { return flush.After({.kind = OpKind::kUpdate, .object = object}), *this; }
  Flushed& Reads(uint32_t object) { return flush.After({.kind = OpKind::kRead, .object = object}), *this; }

  std::vector<uint32_t> objects;
  uint32_t bad_object = 99;
  PeriodicFlush flush;
};

TEST_CASE("each write is flushed, with the file that it wrote to") {
  Flushed flushed(1);
  flushed.Writes(2).Reads(1).Updates(0);
  CHECK(flushed.objects == std::vector<uint32_t>{2, 0});
}

TEST_CASE("after every third write, each file that was written to is flushed once; reads do not count") {
  Flushed flushed(3);
  flushed.Writes(1).Writes(1).Reads(0);
  CHECK(flushed.objects.empty());
  flushed.Writes(2);
  CHECK(flushed.objects == std::vector<uint32_t>{1, 2});
  flushed.Writes(1).Writes(1).Writes(1);
  CHECK(flushed.objects == std::vector<uint32_t>{1, 2, 1});
}

TEST_CASE("the first flush that fails is kept, and the others follow") {
  Flushed flushed(2);
  flushed.bad_object = 0;
  flushed.Writes(0).Writes(1);
  CHECK(absl::IsDataLoss(flushed.flush.status()));
  CHECK(flushed.objects == std::vector<uint32_t>{0, 1});
  flushed.Writes(1).Writes(2);
  CHECK(absl::IsDataLoss(flushed.flush.status()));
}

}  // namespace
}  // namespace iobench
