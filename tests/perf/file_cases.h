// What benchmarks on a file have in common: their command line, the file, the order of its records.
#ifndef TESTS_PERF_FILE_CASES_H_
#define TESTS_PERF_FILE_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/operation.h"
#include "common/units.h"
#include "worker/pattern/op_stream.h"

namespace iobench {

struct FileCases {
  std::string directory = "/dev/shm";
  uint64_t file_bytes = 256_MiB;
  int pair_count = 15;
  std::vector<std::string> cases;
};

// [--directory DIR] [--file-bytes N] [--pairs N] --case CASE …; ends the program where it is something else, and shows
// `case_form`.
FileCases ParseFileCases(int argc, char** argv, const std::string& case_form);

// RECORD and OPERATION of a case; end the program where there is no such thing.
uint32_t RecordBytesOf(const std::string& text);
const OperationSpec* OperationOf(const std::string& text);

// The offsets of a pass in the stream's order. The stream is at its end then: Restart it.
std::vector<uint64_t> OffsetsOf(OpStream& stream);

// A file full of data, which is removed in the end.
class DataFile {
 public:
  DataFile(const std::string& directory, uint32_t number, uint64_t bytes);
  ~DataFile();
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;

  const std::string name;
  const int directory_fd;
  const int fd;
};

}  // namespace iobench

#endif  // TESTS_PERF_FILE_CASES_H_
