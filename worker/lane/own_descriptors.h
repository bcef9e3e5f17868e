// Gives a lane's thread a file descriptor table of its own.
//
// Threads of a process share one table. In that case, every read() and write() takes a reference to the file and locks
// its position, which costs 27 ns of the 650 ns of a 4 KiB read, and the lanes of a process contend for the table. A
// single-threaded process pays neither cost, nor does a lane with a table of its own.
//
// Consequences: a descriptor number of one table means nothing in another. Only the lane's thread may close what the
// lane opened. A lane's thread may use only descriptors that it has opened or kept, and lets another thread send
// everything that goes over a connection.
#ifndef WORKER_LANE_OWN_DESCRIPTORS_H_
#define WORKER_LANE_OWN_DESCRIPTORS_H_

namespace iobench {

// Gives the calling thread a table with only the descriptors 0, 1, 2 and `kept_fd` (-1: none). All others are closed in
// it, so that files closed by other threads do not stay open here. Threads that the calling thread starts share its
// table. Returns false without any change if the kernel does not support this (before 5.9).
bool UnshareDescriptors(int kept_fd);

}  // namespace iobench

#endif  // WORKER_LANE_OWN_DESCRIPTORS_H_
