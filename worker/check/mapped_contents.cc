#include "worker/check/mapped_contents.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/unique_fd.h"

namespace iobench {
namespace {

constexpr uint64_t kMappedPageBytes = 4096;

// A shared mapping of the bytes from `offset` on.
class Mapping {
 public:
  Mapping(int fd, uint64_t offset, size_t bytes, int protection)
      : skipped_(offset % kMappedPageBytes),
        mapped_bytes_(skipped_ + bytes),
        bytes_(bytes),
        at_(::mmap(nullptr, mapped_bytes_, protection, MAP_SHARED, fd,
                   static_cast<off_t>(offset - skipped_))) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (valid()) ::munmap(at_, mapped_bytes_);
  }
  bool valid() const { return at_ != MAP_FAILED; }
  // Both return 0 or an errno; EFAULT: a page cannot be had, since the file has become shorter or there is no space.
  // `bytes`: as many as are mapped.
  int Load(char* bytes) const { return Carry(data(), bytes); }
  int Store(const char* bytes) const {
    if (const int error = Carry(bytes, data()); error != 0) return error;
    return ::msync(at_, mapped_bytes_, MS_SYNC) == 0 ? 0 : errno;
  }

 private:
  char* data() const { return static_cast<char*>(at_) + skipped_; }
  // Through a pipe, so that the kernel touches the pages: a page that cannot be had is then an errno and no signal, which
  // would end the process.
  int Carry(const char* from, char* to) const {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return errno;
    const UniqueFd out(ends[0]), in(ends[1]);
    const ssize_t sent = ::write(in.get(), from, bytes_);
    if (sent < 0) return errno;
    const ssize_t received = ::read(out.get(), to, bytes_);
    if (received < 0) return errno;
    return sent == received && static_cast<size_t>(received) == bytes_ ? 0 : EFAULT;
  }

  const size_t skipped_, mapped_bytes_, bytes_;
  void* const at_;
};

}  // namespace

int LoadMapped(int fd, uint64_t offset, size_t max_bytes, std::string& bytes) {
  bytes.clear();
  struct stat seen {};
  if (::fstat(fd, &seen) != 0) return errno;
  const auto size = static_cast<uint64_t>(seen.st_size);
  if (offset >= size) return 0;
  bytes.resize(std::min<uint64_t>(size - offset, max_bytes));
  const Mapping mapping(fd, offset, bytes.size(), PROT_READ);
  return mapping.valid() ? mapping.Load(bytes.data()) : errno;
}

int StoreMapped(int fd, uint64_t offset, std::string_view contents) {
  const int allocated =
      ::posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(contents.size()));
  if (allocated != 0) return allocated;
  const Mapping mapping(fd, offset, contents.size(), PROT_READ | PROT_WRITE);
  return mapping.valid() ? mapping.Store(contents.data()) : errno;
}

}  // namespace iobench
