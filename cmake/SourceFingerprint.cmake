# iobench_version: a library with kProgramVersion (common/version.h). It is rebuilt when a source that affects a
# measurement changes. When run as a script, this file generates the library's only source.
set(fingerprinted proto/*.proto common/*.h common/*.cc worker/*.h worker/*.cc)

if(CMAKE_SCRIPT_MODE_FILE)
  list(TRANSFORM fingerprinted PREPEND ${SOURCE_DIR}/)
  file(GLOB_RECURSE sources RELATIVE ${SOURCE_DIR} ${fingerprinted})
  list(SORT sources)
  foreach(source IN LISTS sources)
    file(SHA256 ${SOURCE_DIR}/${source} hash)
    string(APPEND all "${source} ${hash}\n")
  endforeach()
  string(SHA256 fingerprint "${all}")
  string(SUBSTRING ${fingerprint} 0 12 fingerprint)
  file(WRITE ${OUTPUT} "#include \"common/version.h\"\n\nconst char iobench::kProgramVersion[] = \"${VERSION}+${fingerprint}\";\n")
  return()
endif()

list(TRANSFORM fingerprinted PREPEND ${PROJECT_SOURCE_DIR}/)
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${fingerprinted})
set(version_source ${PROJECT_BINARY_DIR}/version.cc)
add_custom_command(
  OUTPUT ${version_source}
  COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DVERSION=${PROJECT_VERSION} -DOUTPUT=${version_source}
          -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${sources} ${CMAKE_CURRENT_LIST_FILE}
  VERBATIM)
add_library(iobench_version STATIC ${version_source})
target_link_libraries(iobench_version PRIVATE iobench_flags)
target_include_directories(iobench_version PUBLIC ${PROJECT_SOURCE_DIR})
