# cluster-iobench-worker: the command `worker` as one file that needs no library of its host, not even glibc, for
# `--copy-binary`. It is linked from the same archives as the program, but the libraries below are linked statically.
# `cmake --build BUILD --target bundle` builds it. Sanitizers cannot be linked statically.
set(IOBENCH_BUNDLE AUTO CACHE STRING "Build the self-contained worker for --copy-binary: AUTO, ON or OFF")
set_property(CACHE IOBENCH_BUNDLE PROPERTY STRINGS AUTO ON OFF)

# iobench_own_libraries(RESULT TARGETS…): our libraries that the targets link, directly or not.
function(iobench_own_libraries result)
  set(found)
  set(waiting ${ARGN})
  while(waiting)
    list(POP_FRONT waiting target)
    if(NOT target MATCHES "^iobench_" OR target STREQUAL iobench_flags OR target IN_LIST found)
      continue()
    endif()
    list(APPEND found ${target})
    get_target_property(libraries ${target} LINK_LIBRARIES)
    if(libraries)
      list(APPEND waiting ${libraries})
    endif()
  endwhile()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# iobench_static_libraries(RESULT MISSING): the archives of other projects, and the names of those that are missing.
function(iobench_static_libraries result missing)
  set(names grpc++ grpc gpr address_sorting upb cares re2 protobuf ssl crypto uring z absl_base c)
  if(IOBENCH_HAS_LIBNFS)
    list(APPEND names nfs)
  endif()
  set(found)
  set(absent)
  foreach(name IN LISTS names)
    string(MAKE_C_IDENTIFIER ${name} identifier)
    find_library(IOBENCH_STATIC_${identifier} NAMES lib${name}.a)
    mark_as_advanced(IOBENCH_STATIC_${identifier})
    if(NOT IOBENCH_STATIC_${identifier})
      list(APPEND absent lib${name}.a)
    elseif(NOT name STREQUAL c)
      list(APPEND found ${IOBENCH_STATIC_${identifier}})
    endif()
  endforeach()
  list(REMOVE_ITEM found ${IOBENCH_STATIC_absl_base})
  if(IOBENCH_STATIC_absl_base)
    get_filename_component(directory ${IOBENCH_STATIC_absl_base} DIRECTORY)
    file(GLOB abseil ${directory}/libabsl_*.a)
    list(APPEND found ${abseil})
  endif()
  set(${result} ${found} PARENT_SCOPE)
  set(${missing} ${absent} PARENT_SCOPE)
endfunction()

set(IOBENCH_HAS_BUNDLE OFF)
if(IOBENCH_SANITIZE)
  set(problem "with sanitizers there is none")
elseif(IOBENCH_BUNDLE)
  iobench_static_libraries(static_libraries absent)
  set(problem)
  if(absent)
    list(JOIN absent " " absent)
    set(problem "needs ${absent}")
  else()
    # worker_logging.cc fits the versions of spdlog and fmt that Debian 12 has. Others are tried, which takes seconds.
    if(spdlog_VERSION VERSION_EQUAL 1.10.0 AND fmt_VERSION VERSION_EQUAL 9.1.0)
      set(IOBENCH_BUNDLE_LINKS ON)
    else()
      set(probe ${PROJECT_BINARY_DIR}/bundle_probe.cc)
      if(NOT EXISTS ${probe})
        file(WRITE ${probe} "#include <spdlog/sinks/stdout_color_sinks.h>\n#include <spdlog/spdlog.h>\n"
          "int main() { spdlog::stderr_color_mt(\"probe\")->warn(\"{} {}\", 1, \"x\"); }\n")
      endif()
      try_compile(IOBENCH_BUNDLE_LINKS ${PROJECT_BINARY_DIR}/bundle_probe
        SOURCES ${probe} ${PROJECT_SOURCE_DIR}/coordinator/worker_program/worker_logging.cc
        COMPILE_DEFINITIONS -DSPDLOG_COMPILED_LIB -DSPDLOG_FMT_EXTERNAL
        LINK_OPTIONS -static
        CXX_STANDARD 20)
    endif()
    if(NOT IOBENCH_BUNDLE_LINKS)
      set(problem "a static program with spdlog and fmt of this system does not link")
    endif()
  endif()
else()
  set(problem "IOBENCH_BUNDLE is ${IOBENCH_BUNDLE}")
endif()
if(problem AND IOBENCH_BUNDLE AND NOT IOBENCH_BUNDLE STREQUAL "AUTO")
  message(FATAL_ERROR "self-contained worker: ${problem}")
endif()
if(problem)
  message(STATUS "self-contained worker: no, --copy-binary has nothing to ship (${problem})")
  return()
endif()
message(STATUS "self-contained worker: yes")
set(IOBENCH_HAS_BUNDLE ON)

set(worker_sources worker_program/worker_logging.cc worker_program/worker_main.cc commands/clean.cc commands/worker.cc
    commands/worker_slots.cc process/failure.cc process/signals.cc process/user.cc)
list(TRANSFORM worker_sources PREPEND ${PROJECT_SOURCE_DIR}/coordinator/)
add_executable(cluster-iobench-worker ${worker_sources})
# Archives by file name: the targets themselves would add shared libraries.
iobench_own_libraries(own_libraries iobench_launch iobench_command_line iobench_simulated iobench_worker iobench_transport_grpc iobench_version)
set(archives ${own_libraries})
list(TRANSFORM archives REPLACE "(.+)" "$<TARGET_FILE:\\1>")
add_dependencies(cluster-iobench-worker ${own_libraries})
target_compile_definitions(cluster-iobench-worker PRIVATE SPDLOG_COMPILED_LIB SPDLOG_FMT_EXTERNAL)
target_include_directories(cluster-iobench-worker PRIVATE
  $<TARGET_PROPERTY:iobench_proto,INTERFACE_INCLUDE_DIRECTORIES>)
# -s: without symbols. ld warns of getaddrinfo, lookups of users and groups, and dlopen; worker_main.cc says why that does
# not apply.
target_link_options(cluster-iobench-worker PRIVATE -static -s -Wl,--gc-sections)
target_link_libraries(cluster-iobench-worker PRIVATE
  iobench_flags -Wl,--start-group ${archives} ${static_libraries} -Wl,--end-group)
add_custom_target(bundle DEPENDS cluster-iobench-worker)
# Beside the MPI module, where the program finds it; not in PATH.
install(TARGETS cluster-iobench-worker RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/cluster-iobench)
