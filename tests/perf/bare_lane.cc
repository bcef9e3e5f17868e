// A loop of system calls on one file in a process of its own, without a time per op: what many_lanes.py compares lanes
// with. Needs nothing but libc, so that it can be built alone and taken to any host: c++ -O2 -static -o bare_lane
// bare_lane.cc
//
//     bare_lane FILE RECORD_BYTES read|random-read|rewrite SECONDS START_NS
//
// Prints its bytes per second, and per second of its processor time.
// It begins at START_NS of CLOCK_MONOTONIC, so that several begin together, and writes one buffer again and again.
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

int64_t NowNs(clockid_t clock = CLOCK_MONOTONIC) {
  timespec now{};
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

[[noreturn]] void Fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fputs("usage: bare_lane FILE RECORD_BYTES read|random-read|rewrite SECONDS START_NS\n", stderr);
    return 2;
  }
  const size_t record_bytes = std::strtoull(argv[2], nullptr, 10);
  const std::string order = argv[3];
  const auto duration_ns = static_cast<int64_t>(std::atof(argv[4]) * 1e9);
  const int64_t start_ns = std::strtoll(argv[5], nullptr, 10);
  const int fd = open(argv[1], order == "rewrite" ? O_WRONLY : O_RDONLY);
  struct stat file {};
  if (fd < 0 || fstat(fd, &file) != 0) Fail(argv[1]);
  const size_t record_count = static_cast<size_t>(file.st_size) / record_bytes;
  void* const buffer = std::aligned_alloc(4096, (record_bytes + 4095) / 4096 * 4096);
  if (record_count == 0 || buffer == nullptr) Fail("no records, or no memory");
  std::memset(buffer, 1, record_bytes);

  const auto moved_all = [record_bytes](ssize_t moved) { return moved == static_cast<ssize_t>(record_bytes); };
  const size_t ops_per_look = record_bytes < 65'536 ? 1024 : 32;  // at the clock
  uint64_t random = 88'172'645'463'325'252 ^ static_cast<uint64_t>(getpid());
  while (NowNs() < start_ns) {
  }
  const int64_t cpu_begin_ns = NowNs(CLOCK_PROCESS_CPUTIME_ID);
  const int64_t begin_ns = NowNs();
  int64_t end_ns = begin_ns;
  uint64_t ops = 0;
  while (end_ns - begin_ns < duration_ns) {
    for (size_t i = 0; i < ops_per_look; ++i, ++ops) {
      bool whole = false;
      if (order == "random-read") {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        whole = moved_all(pread(fd, buffer, record_bytes, static_cast<off_t>(random % record_count * record_bytes)));
      } else {
        if (ops % record_count == 0) lseek(fd, 0, SEEK_SET);
        whole = moved_all(order == "rewrite" ? write(fd, buffer, record_bytes) : read(fd, buffer, record_bytes));
      }
      if (!whole) Fail("an op moved too little");
    }
    end_ns = NowNs();
  }
  const auto bytes = static_cast<double>(ops * record_bytes);
  const int64_t cpu_ns = NowNs(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin_ns;
  const auto per_s = [bytes](int64_t ns) { return bytes * 1e9 / static_cast<double>(ns); };
  std::printf("%.0f %.0f\n", per_s(end_ns - begin_ns), per_s(cpu_ns));
}
