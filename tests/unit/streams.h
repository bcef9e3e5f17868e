// Streams of ops for tests, and what they hold.
#ifndef TESTS_UNIT_STREAMS_H_
#define TESTS_UNIT_STREAMS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catch2/catch.hpp"
#include "common/model/op.h"
#include "common/model/operation.h"
#include "worker/pattern/op_stream.h"

namespace iobench {

// REQUIRES: the operation has a stream of this shape.
inline std::unique_ptr<OpStream> StreamOf(const std::string& operation, const StreamShape& shape) {
  const auto spec = FindOperation(operation);
  REQUIRE(spec.ok());
  auto stream = MakeOpStream(**spec, shape);
  REQUIRE(stream.ok());
  return *std::move(stream);
}

// The ops that are left of a pass: of a new or restarted stream, all. In batches that do not divide them, in general.
inline std::vector<Op> RestOfPass(OpStream& stream, size_t batch_size = 7) {
  std::vector<Op> ops, batch(batch_size);
  while (const size_t count = stream.Fill(batch)) ops.insert(ops.end(), batch.begin(), batch.begin() + static_cast<ptrdiff_t>(count));
  return ops;
}

}  // namespace iobench

#endif  // TESTS_UNIT_STREAMS_H_
