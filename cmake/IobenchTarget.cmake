# iobench_flags: compiler flags of all our targets.
add_library(iobench_flags INTERFACE)
target_include_directories(iobench_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(iobench_flags INTERFACE -pthread -Wall -Wextra -Wshadow -Wnon-virtual-dtor
                                                 -Woverloaded-virtual -Wimplicit-fallthrough)
if(IOBENCH_WERROR)
  target_compile_options(iobench_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # g++ frees its own memory less often: 4 % less compile time, up to 150 MiB more for each compiler.
  target_compile_options(iobench_flags INTERFACE --param=ggc-min-expand=300 --param=ggc-min-heapsize=400000)
endif()
if(IOBENCH_SANITIZE)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # With sanitizers, g++ 12 reports uninitialised reads in its own std::function.
    target_compile_options(iobench_flags INTERFACE -Wno-maybe-uninitialized)
  endif()
  if(IOBENCH_SANITIZE MATCHES thread)
    # protobuf's map fields have a different layout if its headers detect the sanitizer, but Debian's library was built
    # without it: accessing a map field by reflection would crash. Our own code checks IOBENCH_TSAN instead.
    add_compile_options(-U__SANITIZE_THREAD__)
    add_compile_definitions(IOBENCH_TSAN)
  endif()
  add_compile_options(-fsanitize=${IOBENCH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(IOBENCH_SANITIZE MATCHES undefined)
    # They take a quarter of the compile time. The address sanitizer reports null pointers and accesses outside of
    # objects as well; vptr finds objects that are cast to another class, and ours are never cast to a derived one.
    add_compile_options(-fno-sanitize=null,object-size,vptr)
    if(NOT IOBENCH_FUZZ)
      # Another fifth. The address sanitizer reports what is accessed through a pointer that overflowed, and processors
      # that we support read unaligned words; the fuzzers check both in all code that parses foreign bytes.
      add_compile_options(-fno-sanitize=alignment,pointer-overflow)
    endif()
  endif()
  add_link_options(-fsanitize=${IOBENCH_SANITIZE})
  # It links a hundred unit tests with debug information in half the time.
  find_program(IOBENCH_GOLD ld.gold)
  mark_as_advanced(IOBENCH_GOLD)
  if(IOBENCH_GOLD)
    add_link_options(-fuse-ld=gold)
  endif()
endif()
if(IOBENCH_FUZZ)
  # Feedback for libFuzzer from all our code; only the fuzzers themselves are linked with its main.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# iobench_foreign_code(NAME): a library of sources that are not ours: generated messages, and Catch2. They are not checked
# by the address and undefined-behaviour sanitizers, which take up to five times as long to compile; their users are.
function(iobench_foreign_code name)
  if(IOBENCH_SANITIZE MATCHES address)
    target_compile_options(${name} PRIVATE -fno-sanitize=${IOBENCH_SANITIZE})
  endif()
endfunction()

# Headers that nearly every source includes, compiled once for each optimisation level (with IOBENCH_UNITY): g++ compiles
# a source at the level of its precompiled headers and silently ignores its own.
# iobench_precompile_headers(NAME [OPTIONS…]): OPTIONS are the compile options that NAME has beyond those of all targets.
function(iobench_precompile_headers name)
  if(NOT IOBENCH_UNITY)
    return()
  endif()
  string(MAKE_C_IDENTIFIER "iobench_headers${ARGN}" headers)
  if(NOT TARGET ${headers})
    add_library(${headers} OBJECT ${PROJECT_SOURCE_DIR}/cmake/headers.cc)
    # ccache would identify a precompiled header by the older one in its place, and return that of another state of the
    # sources, whose messages have other layouts.
    set_target_properties(${headers} PROPERTIES CXX_COMPILER_LAUNCHER "")
    target_compile_options(${headers} PRIVATE ${ARGN})
    target_link_libraries(${headers} PRIVATE iobench_flags iobench_proto absl::statusor absl::strings)
    target_precompile_headers(${headers} PRIVATE
      <algorithm> <functional> <map> <memory> <optional> <span> <string> <vector>
      <absl/status/statusor.h> <absl/strings/str_cat.h> <absl/strings/str_join.h> <absl/strings/str_split.h>
      <iobench/v1/control.pb.h>)
  endif()
  target_precompile_headers(${name} REUSE_FROM ${headers})
endfunction()

# For executables, which CMake would compile with -fPIE; precompiled headers are compiled with -fPIC, like all libraries.
function(iobench_compile_like_libraries name)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
endfunction()

# iobench_library(NAME [COLD] SOURCES … PUBLIC … PRIVATE …): one static library per folder. PUBLIC lists what its
# headers include, PRIVATE what only its sources use; a wrong include does not compile. COLD: its code runs neither
# beside lanes nor for each of many workers, so it is compiled with -O1, which takes a quarter less time, or for the
# address sanitizer with -O0, which takes a third less than its -O1.
function(iobench_library name)
  cmake_parse_arguments(ARG "COLD" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_PUBLIC} PRIVATE iobench_flags ${ARG_PRIVATE})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  # Headers take most of the compile time; batches of 20 files read them only once.
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${IOBENCH_UNITY} UNITY_BUILD_BATCH_SIZE 20)
  set(level)
  if(ARG_COLD AND IOBENCH_SANITIZE MATCHES address AND NOT IOBENCH_FUZZ)
    set(level -O0)
  elseif(ARG_COLD AND NOT IOBENCH_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL Debug)  # tsan has a level of its own
    set(level -O1)
  endif()
  target_compile_options(${name} PRIVATE ${level})
  iobench_precompile_headers(${name} ${level})
endfunction()

# Open MPI unloads its libraries together with the memory they still hold, which the leak check cannot tell from a leak.
set(IOBENCH_MPI_TEST_ENVIRONMENT LSAN_OPTIONS=detect_leaks=0)

# iobench_find_catch(): defines iobench_catch, Catch2 of either version without a main, and iobench_catch_main, which has one.
function(iobench_find_catch)
  if(TARGET iobench_catch)
    return()
  endif()
  find_package(Catch2 REQUIRED CONFIG)
  add_library(iobench_catch INTERFACE)
  target_link_libraries(iobench_catch INTERFACE Catch2::Catch2)
  if(Catch2_VERSION VERSION_GREATER_EQUAL 3)
    target_include_directories(iobench_catch INTERFACE ${PROJECT_SOURCE_DIR}/tests/support/catch2_v3)
    add_library(iobench_catch_main INTERFACE)
    target_link_libraries(iobench_catch_main INTERFACE iobench_catch Catch2::Catch2WithMain)
  else()
    add_library(iobench_catch_main STATIC ${PROJECT_SOURCE_DIR}/tests/support/catch_main.cc)
    target_link_libraries(iobench_catch_main PUBLIC iobench_catch)
    target_compile_options(iobench_catch_main PRIVATE ${IOBENCH_NOT_OPTIMIZED})
    iobench_foreign_code(iobench_catch_main)
  endif()
endfunction()

# iobench_unit_test(NAME [OPTIMIZED] [COST s] FILES a_test.cc … LIBS … [APART a_test.cc …]): the unit tests of one
# folder, declared next to its code; the files are in tests/unit. OPTIMIZED: the code under test is mostly in headers,
# and would be slow without optimisation. COST: the duration of long tests, so that they start early. APART: those of
# FILES that are compiled alone, because they share a name with another file.
function(iobench_unit_test name)
  if(NOT IOBENCH_TESTS OR NOT IOBENCH_UNIT_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "OPTIMIZED" "COST" "FILES;LIBS;APART" ${ARGN})
  list(TRANSFORM ARG_FILES PREPEND ${PROJECT_SOURCE_DIR}/tests/unit/)
  list(TRANSFORM ARG_APART PREPEND ${PROJECT_SOURCE_DIR}/tests/unit/)
  # The tests themselves need not be fast, and their libraries are optimised.
  set(level ${IOBENCH_NOT_OPTIMIZED})
  iobench_find_catch()
  if(NOT TARGET iobench_test_headers)
    # Headers that nearly every test includes, compiled once.
    add_library(iobench_test_headers OBJECT ${PROJECT_SOURCE_DIR}/cmake/headers.cc)
    set_target_properties(iobench_test_headers PROPERTIES CXX_COMPILER_LAUNCHER "")  # as above
    target_compile_options(iobench_test_headers PRIVATE ${level})
    target_link_libraries(iobench_test_headers PRIVATE iobench_flags iobench_catch iobench_proto)
    target_precompile_headers(iobench_test_headers PRIVATE <catch2/catch.hpp> <iobench/v1/control.pb.h> <functional>
                              <map> <memory> <string> <thread> <vector>)
  endif()
  add_executable(${name} ${ARG_FILES})
  if(NOT ARG_OPTIMIZED)
    target_compile_options(${name} PRIVATE ${level})
    target_precompile_headers(${name} REUSE_FROM iobench_test_headers)
  endif()
  target_link_libraries(${name} PRIVATE iobench_flags iobench_catch_main ${ARG_LIBS})
  iobench_compile_like_libraries(${name})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # g++ 12 warns of accesses out of bounds in sums of strings (GCC bug 105651), depending on the length of literals
    # such as the path of the sources.
    target_compile_options(${name} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests
                                           UNITY_BUILD ${IOBENCH_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  if(ARG_APART)
    set_source_files_properties(${ARG_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  add_test(NAME unit.${name} COMMAND ${name})
  if(ARG_COST)
    set_tests_properties(unit.${name} PROPERTIES COST ${ARG_COST})
  endif()
endfunction()
