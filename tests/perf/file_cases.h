// Common parts of benchmarks on a file: command line, file, order of records.
#ifndef TESTS_PERF_FILE_CASES_H_
#define TESTS_PERF_FILE_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/model/operation.h"
#include "common/text/units.h"
#include "worker/pattern/op_stream.h"

namespace iobench {

struct FileCases {
  std::string directory = "/dev/shm";
  uint64_t file_bytes = 256_MiB;
  int pair_count = 15;
  std::vector<std::string> cases;
};

// Parses [--directory DIR] [--file-bytes N] [--pairs N] --case CASE …; for anything else, prints `case_form` and exits
// the program.
FileCases ParseFileCases(int argc, char** argv, const std::string& case_form);

// Parse RECORD and OPERATION of a case; exit the program if they are invalid.
uint32_t RecordBytesOf(const std::string& text);
const OperationSpec* OperationOf(const std::string& text);

// Returns the offsets of a pass in the stream's order. The stream is then at its end; call Restart.
std::vector<uint64_t> OffsetsOf(OpStream& stream);

// A file filled with data; the destructor removes it.
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
