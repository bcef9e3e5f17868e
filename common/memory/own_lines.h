// Keeps memory that one thread writes all the time off the cache lines of everything else: two lanes that write to one
// line wait for each other, whatever they write there.
#ifndef COMMON_MEMORY_OWN_LINES_H_
#define COMMON_MEMORY_OWN_LINES_H_

#include <cstddef>

namespace iobench {

// Two lines of 64 bytes: processors fetch them in pairs. What is aligned to this, and a multiple of it in size, shares
// no line with anything.
inline constexpr size_t kOwnLinesBytes = 128;

// Memory that is at least kOwnLinesBytes away from all other memory. It is not aligned to that: with aligned
// allocations of some KB, glibc 2.36's heap grows with each phase.
void* AllocateOnOwnLines(size_t bytes);
void FreeOnOwnLines(void* memory);

// Base of classes whose objects are to be in such memory when they are created with new. Not for over-aligned classes.
class OnOwnLines {
 public:
  static void* operator new(size_t bytes) { return AllocateOnOwnLines(bytes); }
  static void operator delete(void* memory) { FreeOnOwnLines(memory); }
};

// Places the elements of a container in such memory.
template <typename T>
struct OwnLinesAllocator {
  using value_type = T;
  OwnLinesAllocator() = default;
  template <typename U>
  explicit OwnLinesAllocator(const OwnLinesAllocator<U>&) {}
  T* allocate(size_t count) { return static_cast<T*>(AllocateOnOwnLines(count * sizeof(T))); }
  void deallocate(T* memory, size_t) { FreeOnOwnLines(memory); }
  bool operator==(const OwnLinesAllocator&) const { return true; }
};

}  // namespace iobench

#endif  // COMMON_MEMORY_OWN_LINES_H_
