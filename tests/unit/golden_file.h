// Golden files: a writer's output that was reviewed once and is kept in tests/unit/golden. With IOBENCH_UPDATE_GOLDEN=1
// in the environment, they are rewritten (review the diff!) and the test fails.
#ifndef TESTS_UNIT_GOLDEN_FILE_H_
#define TESTS_UNIT_GOLDEN_FILE_H_

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "catch2/catch.hpp"
#include "google/protobuf/text_format.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// REQUIRES: the target defines IOBENCH_SOURCE_DIR, the root of the repository.
inline std::string SourcePath(const std::string& path) {
  return IOBENCH_SOURCE_DIR "/" + path;
}
inline std::string GoldenPath(const std::string& name) {
  return SourcePath("tests/unit/golden/" + name);
}

inline std::string FileText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE(in.good());
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

// The report from which all golden files are made.
inline v1::RunReport GoldenReport() {
  v1::RunReport report;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(FileText(GoldenPath("result.textproto")), &report));
  return report;
}

inline void CheckGolden(const std::string& name, const std::string& text) {
  if (std::getenv("IOBENCH_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(GoldenPath(name), std::ios::binary) << text;
    FAIL("wrote " << GoldenPath(name));
  }
  CHECK(text == FileText(GoldenPath(name)));
}

}  // namespace iobench

#endif  // TESTS_UNIT_GOLDEN_FILE_H_
