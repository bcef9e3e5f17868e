#include "tests/perf/file_cases.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "tests/perf/pairs.h"

namespace iobench {

FileCases ParseFileCases(int argc, char** argv, const std::string& case_form) {
  FileCases cases;
  const std::string usage = std::string("usage: ") + program_invocation_short_name +
                            " [--directory DIR] [--file-bytes N] [--pairs N] --case " + case_form + " …";
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) Fail(usage);
    const std::string value = argv[i + 1];
    if (name == "--directory") {
      cases.directory = value;
    } else if (name == "--file-bytes") {
      const auto bytes = ParseBytes(value, 1);
      if (!bytes.ok()) Fail(std::string(bytes.status().message()));
      cases.file_bytes = *bytes;
    } else if (name == "--pairs") {
      cases.pair_count = std::max(1, std::atoi(value.c_str()));
    } else if (name == "--case") {
      cases.cases.push_back(value);
    } else {
      Fail("unknown option " + name + "; " + usage);
    }
  }
  if (cases.cases.empty()) Fail("no --case given; " + usage);
  return cases;
}

uint32_t RecordBytesOf(const std::string& text) {
  const auto bytes = ParseBytes(text, 1);
  if (!bytes.ok()) Fail(std::string(bytes.status().message()));
  return static_cast<uint32_t>(*bytes);
}

const OperationSpec* OperationOf(const std::string& text) {
  const auto operation = FindOperation(text);
  if (!operation.ok()) Fail(std::string(operation.status().message()));
  return *operation;
}

std::vector<uint64_t> OffsetsOf(OpStream& stream) {
  std::vector<uint64_t> offsets;
  std::vector<Op> batch(4096);
  while (const size_t count = stream.Fill(batch)) {
    for (size_t i = 0; i < count; ++i) offsets.push_back(batch[i].offset);
  }
  return offsets;
}

DataFile::DataFile(const std::string& directory, uint32_t number, uint64_t bytes)
    : name(std::string(program_invocation_short_name) + "." + std::to_string(getpid()) + "." +
           std::to_string(number)),
      directory_fd(open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)),
      fd(openat(directory_fd, name.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600)) {
  if (fd < 0) Fail("no file can be made in " + directory);
  const std::vector<char> data(1_MiB, 'x');
  for (uint64_t at = 0; at < bytes; at += data.size()) {
    const size_t length = std::min<uint64_t>(data.size(), bytes - at);
    if (pwrite(fd, data.data(), length, static_cast<off_t>(at)) != static_cast<ssize_t>(length))
      Fail("no space");
  }
}

DataFile::~DataFile() {
  close(fd);
  unlinkat(directory_fd, name.c_str(), 0);
  close(directory_fd);
}

}  // namespace iobench
