#include "tests/perf/bare_loop.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace iobench {
namespace {

class OnFile : public BareLoop {
 public:
  OnFile(const BareShape& shape, const std::string& path, std::vector<uint64_t> offsets)
      : shape_(shape),
        offsets_(std::move(offsets)),
        fd_(open(path.c_str(), shape.writes ? O_RDWR : O_RDONLY)) {
    if (fd_ < 0) {
      std::perror(path.c_str());
      std::exit(1);
    }
  }
  ~OnFile() override { close(fd_); }
  size_t op_count() const override { return offsets_.size(); }

 protected:
  // Fills the buffer with another byte for each op: the least work of a program whose data is not always the same.
  void Refill(std::byte* buffer, size_t op) const {
    if (shape_.fresh_data) std::memset(buffer, static_cast<int>(op), shape_.op_bytes);
  }

  bool All(int64_t bytes) const { return bytes == static_cast<int64_t>(offsets_.size() * shape_.op_bytes); }

  const BareShape shape_;
  const std::vector<uint64_t> offsets_;
  const int fd_;
};

class StreamLoop final : public OnFile {
  using OnFile::OnFile;
  bool Pass(std::byte* buffer) override {
    int64_t bytes = 0;
    lseek(fd_, 0, SEEK_SET);
    for (size_t i = 0; i < offsets_.size(); ++i) {
      Refill(buffer, i);
      bytes += shape_.writes ? write(fd_, buffer, shape_.op_bytes) : read(fd_, buffer, shape_.op_bytes);
    }
    return All(bytes);
  }
};

class PositionalLoop final : public OnFile {
  using OnFile::OnFile;
  bool Pass(std::byte* buffer) override {
    int64_t bytes = 0;
    for (size_t i = 0; i < offsets_.size(); ++i) {
      Refill(buffer, i);
      const auto offset = static_cast<off_t>(offsets_[i]);
      bytes += shape_.writes ? pwrite(fd_, buffer, shape_.op_bytes, offset)
                             : pread(fd_, buffer, shape_.op_bytes, offset);
    }
    return All(bytes);
  }
};

class VectorLoop final : public OnFile {
  using OnFile::OnFile;
  bool Pass(std::byte* buffer) override {
    iovec records[kMaxRecordsPerVector];
    for (uint32_t i = 0; i < kMaxRecordsPerVector; ++i) {
      records[i] = {buffer + size_t{i} * shape_.record_bytes, shape_.record_bytes};
    }
    int64_t bytes = 0;
    for (const uint64_t at : offsets_) {
      const auto offset = static_cast<off_t>(at);
      bytes += shape_.writes ? pwritev(fd_, records, kMaxRecordsPerVector, offset)
                             : preadv(fd_, records, kMaxRecordsPerVector, offset);
    }
    return All(bytes);
  }
};

class StdioLoop : public OnFile {
 public:
  StdioLoop(const BareShape& shape, const std::string& path, std::vector<uint64_t> offsets)
      : OnFile(shape, path, std::move(offsets)), stdio_buffer_(shape.record_bytes) {
    file_ = fdopen(dup(fd_), shape.writes ? "r+" : "r");
    setvbuf(file_, stdio_buffer_.data(), _IOFBF, stdio_buffer_.size());
  }
  ~StdioLoop() override { fclose(file_); }
  void Prepare() override { rewind(file_); }

 protected:
  std::vector<char> stdio_buffer_;
  FILE* file_;
};

class StdioRecords final : public StdioLoop {
  using StdioLoop::StdioLoop;
  bool Pass(std::byte* buffer) override {
    int64_t bytes = 0;
    for (size_t i = 0; i < offsets_.size(); ++i) {
      bytes += static_cast<int64_t>(shape_.writes ? fwrite_unlocked(buffer, 1, shape_.op_bytes, file_)
                                                  : fread_unlocked(buffer, 1, shape_.op_bytes, file_));
    }
    return All(bytes);
  }
};

// Covers the whole file in one go; characters that are read are kept, as a real program would.
class StdioCharacters final : public StdioLoop {
  using StdioLoop::StdioLoop;
  bool Pass(std::byte* buffer) override {
    int64_t bytes = 0;
    FILE* const file = file_;
    for (size_t i = 0; i < offsets_.size(); ++i) {
      if (shape_.writes) {
        for (uint32_t at = 0; at < shape_.op_bytes; ++at) {
          bytes += putc_unlocked(static_cast<unsigned char>(buffer[at]), file) != EOF;
        }
      } else {
        for (uint32_t at = 0; at < shape_.op_bytes; ++at) {
          const int character = getc_unlocked(file);
          if (character == EOF) break;
          buffer[at] = static_cast<std::byte>(character);
          ++bytes;
        }
      }
    }
    return All(bytes);
  }
};

class MapLoop final : public OnFile {
 public:
  using OnFile::OnFile;
  ~MapLoop() override { Unmap(); }
  void Prepare() override {  // a new map, whose pages fault in again
    Unmap();
    const int protection = shape_.writes ? PROT_READ | PROT_WRITE : PROT_READ;
    map_ = static_cast<std::byte*>(mmap(nullptr, shape_.file_bytes, protection, MAP_SHARED, fd_, 0));
  }
  bool Pass(std::byte* buffer) override {
    if (map_ == MAP_FAILED) return false;
    for (const uint64_t at : offsets_) {
      shape_.writes ? std::memcpy(map_ + at, buffer, shape_.op_bytes)
                    : std::memcpy(buffer, map_ + at, shape_.op_bytes);
      asm volatile("" ::"r"(buffer) : "memory");  // keeps every copy from being optimised away
    }
    return true;
  }

 private:
  void Unmap() {
    if (map_ != nullptr && map_ != MAP_FAILED) munmap(map_, shape_.file_bytes);
  }
  std::byte* map_ = nullptr;
};

}  // namespace

std::unique_ptr<BareLoop> MakeBareLoop(const BareShape& shape, const std::string& path,
                                       std::vector<uint64_t> offsets) {
  if (shape.engine == "mmap") return std::make_unique<MapLoop>(shape, path, std::move(offsets));
  switch (shape.call) {
    case Call::kStream:
      return std::make_unique<StreamLoop>(shape, path, std::move(offsets));
    case Call::kVector:
      return std::make_unique<VectorLoop>(shape, path, std::move(offsets));
    case Call::kStdio:
      return std::make_unique<StdioRecords>(shape, path, std::move(offsets));
    case Call::kCharacter:
      return std::make_unique<StdioCharacters>(shape, path, std::move(offsets));
    default:
      return std::make_unique<PositionalLoop>(shape, path, std::move(offsets));
  }
}

}  // namespace iobench
