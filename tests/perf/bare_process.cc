#include "tests/perf/bare_process.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "worker/data/aligned_buffer.h"

namespace iobench {
namespace {

pthread_barrier_t* SharedBarrier(size_t count) {
  void* const memory =
      mmap(nullptr, sizeof(pthread_barrier_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) Fail("no shared memory");
  auto* const barrier = static_cast<pthread_barrier_t*>(memory);
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(barrier, &attributes, static_cast<unsigned>(count));
  return barrier;
}

// Serves until the parent closes its end of the pipe.
[[noreturn]] void Serve(BareLoop& loop, size_t op_bytes, pthread_barrier_t* start, int commands, int costs) {
  auto buffer = AlignedBuffer::Allocate(op_bytes);
  if (!buffer.ok()) Fail("no memory");
  char command = 0;
  while (read(commands, &command, 1) == 1) {
    loop.Prepare();
    pthread_barrier_wait(start);
    const Cost cost = CostOf([&] {
      if (!loop.Pass(buffer->data())) Fail("the bare loop moved too little");
    });
    if (write(costs, &cost, sizeof(cost)) != sizeof(cost)) break;
  }
  _exit(0);
}

}  // namespace

BareProcesses::BareProcesses(size_t count, size_t op_bytes,
                             const std::function<std::unique_ptr<BareLoop>(size_t)>& make) {
  pthread_barrier_t* const start = SharedBarrier(count);
  for (size_t i = 0; i < count; ++i) {
    int commands[2], costs[2];
    if (pipe(commands) != 0 || pipe(costs) != 0) Fail("no pipe");
    const pid_t pid = fork();
    if (pid < 0) Fail("no process");
    if (pid == 0) {
      for (const Child& other : children_) close(other.commands);
      close(commands[1]);
      close(costs[0]);
      Serve(*make(i), op_bytes, start, commands[0], costs[1]);
    }
    close(commands[0]);
    close(costs[1]);
    children_.push_back({pid, commands[1], costs[0]});
  }
}

BareProcesses::~BareProcesses() {
  for (const Child& child : children_) close(child.commands);
  for (const Child& child : children_) waitpid(child.pid, nullptr, 0);
}

std::vector<Cost> BareProcesses::Pass() {
  for (const Child& child : children_) {
    if (write(child.commands, "p", 1) != 1) Fail("a bare loop's process is gone");
  }
  std::vector<Cost> costs;
  for (const Child& child : children_) {
    if (read(child.costs, &costs.emplace_back(), sizeof(Cost)) != sizeof(Cost))
      Fail("a bare loop's process is gone");
  }
  return costs;
}

}  // namespace iobench
