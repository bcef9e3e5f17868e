# iobench_options: how every target of ours is compiled.
add_library(iobench_options INTERFACE)
target_include_directories(iobench_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(iobench_options INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor
                                                 -Woverloaded-virtual -Wimplicit-fallthrough)
if(IOBENCH_WERROR)
  target_compile_options(iobench_options INTERFACE -Werror)
endif()
if(IOBENCH_SANITIZE)
  # g++ 12 sees uninitialised reads in its own std::function once sanitizers have changed the code.
  target_compile_options(iobench_options INTERFACE -Wno-maybe-uninitialized)
  if(IOBENCH_SANITIZE MATCHES thread)
    # protobuf's map fields have another layout where its headers see the sanitizer, and Debian's library was built
    # without: a reflected map field would crash. Our own code asks for IOBENCH_TSAN instead.
    add_compile_options(-U__SANITIZE_THREAD__)
    add_compile_definitions(IOBENCH_TSAN)
  endif()
  add_compile_options(-fsanitize=${IOBENCH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${IOBENCH_SANITIZE})
endif()

# iobench_library(NAME SOURCES … PUBLIC … PRIVATE …): one static library a folder.
# PUBLIC holds what its headers include, PRIVATE what only its sources use; a wrong include does not compile.
function(iobench_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_PUBLIC} PRIVATE iobench_options ${ARG_PRIVATE})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
endfunction()

# iobench_unit_test(NAME FILES a_test.cc … LIBS …): the unit tests of one folder, declared beside its code;
# the files stand in tests/unit.
function(iobench_unit_test name)
  if(NOT IOBENCH_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "FILES;LIBS" ${ARGN})
  list(TRANSFORM ARG_FILES PREPEND ${PROJECT_SOURCE_DIR}/tests/unit/)
  if(NOT TARGET iobench_catch_main)
    find_package(Catch2 2 REQUIRED CONFIG)
    add_library(iobench_catch_main STATIC ${PROJECT_SOURCE_DIR}/tests/support/catch_main.cc)
    target_link_libraries(iobench_catch_main PUBLIC Catch2::Catch2)
  endif()
  add_executable(${name} ${ARG_FILES})
  target_link_libraries(${name} PRIVATE iobench_options iobench_catch_main ${ARG_LIBS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME unit.${name} COMMAND ${name})
endfunction()
