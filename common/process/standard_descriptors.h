// Standard input, output and error, which a caller may have closed.
#ifndef COMMON_PROCESS_STANDARD_DESCRIPTORS_H_
#define COMMON_PROCESS_STANDARD_DESCRIPTORS_H_

namespace iobench {

// Opens each of descriptors 0 to 2 that is closed on /dev/null, or, where that is missing, on an empty file in memory.
// Otherwise the next file that the program opens gets its number, and what is printed goes into that file. The first
// thing that every program does; processes that it starts inherit them. Ends the process with exit code 1 if there is
// no descriptor for it.
void OpenStandardDescriptors();

}  // namespace iobench

#endif  // COMMON_PROCESS_STANDARD_DESCRIPTORS_H_
