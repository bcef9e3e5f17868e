# Programs as one file that need no library of their host, not even glibc:
#   cluster-iobench-worker  the commands `worker` and `clean`, for `--copy-binary`; target `bundle`
#   cluster-iobench-static  the whole program but MPI, for the RPM package and the tarball (Package.cmake)
# They are linked from the same archives as the program, but the libraries below are linked statically. Sanitizers cannot
# be linked statically.
set(IOBENCH_BUNDLE AUTO CACHE STRING "Build the self-contained programs: AUTO, ON or OFF")
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

# What both programs use of other projects, and what only the whole program does.
set(worker_libraries grpc++ grpc gpr address_sorting upb cares re2 protobuf ssl crypto uring z absl_base c)
if(IOBENCH_HAS_LIBNFS)
  list(APPEND worker_libraries nfs)
endif()
# OpenSSL's archive needs what it was built with: nothing on Debian 12, zstd on Debian 13.
pkg_check_modules(IOBENCH_CRYPTO QUIET libcrypto)
if("zstd" IN_LIST IOBENCH_CRYPTO_STATIC_LIBRARIES)
  list(APPEND worker_libraries zstd)
endif()
set(program_libraries yaml-cpp ncursesw tinfo)
if(IOBENCH_HAS_SQLITE)
  list(APPEND program_libraries sqlite3)
endif()
# Debian has no archives of these. Without them, the self-contained program writes no workbooks.
set(workbook_libraries xlsxwriter zip)

# iobench_static_libraries(RESULT MISSING NAMES…): the archives of other projects, and the names of those that are missing.
function(iobench_static_libraries result missing)
  set(found)
  set(absent)
  foreach(name IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER ${name} identifier)
    find_library(IOBENCH_STATIC_${identifier} NAMES lib${name}.a)
    mark_as_advanced(IOBENCH_STATIC_${identifier})
    if(NOT IOBENCH_STATIC_${identifier})
      list(APPEND absent lib${name}.a)
    elseif(name STREQUAL absl_base)
      get_filename_component(directory ${IOBENCH_STATIC_absl_base} DIRECTORY)
      file(GLOB abseil ${directory}/libabsl_*.a)
      list(APPEND found ${abseil})
    elseif(NOT name STREQUAL c)
      list(APPEND found ${IOBENCH_STATIC_${identifier}})
    endif()
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
  set(${missing} ${absent} PARENT_SCOPE)
endfunction()

# iobench_self_contained(NAME SOURCES … OWN … ARCHIVES …): a program from our libraries OWN and the archives of others.
function(iobench_self_contained name)
  cmake_parse_arguments(ARG "" "" "SOURCES;OWN;ARCHIVES" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/coordinator/)
  add_executable(${name} ${ARG_SOURCES})
  # Archives by file name: the targets themselves would add shared libraries.
  set(own ${ARG_OWN})
  list(TRANSFORM own REPLACE "(.+)" "$<TARGET_FILE:\\1>")
  add_dependencies(${name} ${ARG_OWN})
  target_compile_definitions(${name} PRIVATE SPDLOG_COMPILED_LIB SPDLOG_FMT_EXTERNAL)
  target_include_directories(${name} PRIVATE $<TARGET_PROPERTY:iobench_proto,INTERFACE_INCLUDE_DIRECTORIES>)
  # -s: without symbols. ld warns of getaddrinfo, lookups of users and groups, and dlopen; common/process/self_contained.h
  # says why that does not apply.
  target_link_options(${name} PRIVATE $<IF:$<BOOL:${IOBENCH_HAS_STATIC_PIE}>,-static-pie,-static> -s -Wl,--gc-sections)
  target_link_libraries(${name} PRIVATE iobench_flags -Wl,--start-group ${own} ${ARG_ARCHIVES} -Wl,--end-group)
endfunction()

set(IOBENCH_HAS_BUNDLE OFF)
if(IOBENCH_SANITIZE)
  set(problem "with sanitizers there is none")
elseif(IOBENCH_BUNDLE)
  iobench_static_libraries(worker_archives absent ${worker_libraries})
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
  message(FATAL_ERROR "self-contained programs: ${problem}")
endif()
if(problem)
  message(STATUS "self-contained programs: no, --copy-binary has nothing to ship (${problem})")
  return()
endif()
message(STATUS "self-contained worker: yes")
set(IOBENCH_HAS_BUNDLE ON)

include(CheckLinkerFlag)
check_linker_flag(CXX -static-pie IOBENCH_HAS_STATIC_PIE)
iobench_own_libraries(own_libraries iobench_launch iobench_command_line iobench_simulated iobench_worker iobench_transport_grpc iobench_version)
iobench_self_contained(cluster-iobench-worker
  SOURCES worker_program/worker_logging.cc worker_program/worker_main.cc commands/clean.cc commands/worker.cc
          commands/worker_slots.cc process/failure.cc process/signals.cc process/user.cc
  OWN ${own_libraries}
  ARCHIVES ${worker_archives})
add_custom_target(bundle DEPENDS cluster-iobench-worker)
# Beside the MPI module, where the program finds it; not in PATH.
install(TARGETS cluster-iobench-worker RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/cluster-iobench)

iobench_static_libraries(program_archives absent ${program_libraries})
if(absent)
  list(JOIN absent " " absent)
  message(STATUS "self-contained program: no, so there is neither RPM package nor tarball (needs ${absent})")
  return()
endif()
iobench_own_libraries(own_libraries iobench_commands iobench_command_line iobench_coordinator_process iobench_version)
set(sources main.cc worker_program/worker_logging.cc)
if(IOBENCH_HAS_WORKBOOK)
  iobench_static_libraries(workbook_archives absent ${workbook_libraries})
  if(absent)
    list(JOIN absent " " absent)
    set(remark " without workbooks (needs ${absent})")
    list(REMOVE_ITEM own_libraries iobench_report_workbook)
    list(APPEND sources report/workbook/no_workbook.cc)
  else()
    list(APPEND program_archives ${workbook_archives})
  endif()
endif()
message(STATUS "self-contained program: yes${remark}")
iobench_self_contained(cluster-iobench-static
  SOURCES ${sources}
  OWN ${own_libraries}
  ARCHIVES ${worker_archives} ${program_archives})
# Only in packages, where it takes the place of the other program.
install(PROGRAMS $<TARGET_FILE:cluster-iobench-static> DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME cluster-iobench
        COMPONENT self_contained EXCLUDE_FROM_ALL)
