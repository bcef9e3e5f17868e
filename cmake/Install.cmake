# cmake --install: the program, the MPI module in the directory where the program looks for it, and the documentation.
# Components are for packages (PackageKind.cmake): what is in each of them is "common".
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME common)
install(TARGETS cluster-iobench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
if(TARGET cluster-iobench-mpi)
  install(TARGETS cluster-iobench-mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/cluster-iobench COMPONENT program)
endif()
install(DIRECTORY deploy/plans deploy/expect deploy/mixes DESTINATION ${CMAKE_INSTALL_DATADIR}/cluster-iobench FILES_MATCHING PATTERN "*.yaml")
# IOzone's name, by which the program behaves as IOzone does: for the PATH of scripts, apart from an IOzone that is installed.
set(iozone_directory ${CMAKE_INSTALL_DATADIR}/cluster-iobench/bin)
file(RELATIVE_PATH iozone_target /prefix/${iozone_directory} /prefix/${CMAKE_INSTALL_BINDIR}/cluster-iobench)
file(CREATE_LINK ${iozone_target} ${PROJECT_BINARY_DIR}/iozone SYMBOLIC)
install(FILES ${PROJECT_BINARY_DIR}/iozone DESTINATION ${iozone_directory} COMPONENT program)
install(DIRECTORY deploy/grafana DESTINATION ${CMAKE_INSTALL_DATADIR}/cluster-iobench)
# The man page and shell completion are written by the program itself, from its table of options.
set(manual_dir ${PROJECT_BINARY_DIR}/manual)
foreach(manual "man;cluster-iobench.1;${CMAKE_INSTALL_MANDIR}/man1"
               "bash;cluster-iobench;${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
               "zsh;_cluster-iobench;${CMAKE_INSTALL_DATADIR}/zsh/site-functions"
               "fish;cluster-iobench.fish;${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
  list(GET manual 0 what)
  list(GET manual 1 file)
  list(GET manual 2 destination)
  add_custom_command(
    OUTPUT ${manual_dir}/${what}/${file}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${manual_dir}/${what}
    COMMAND cluster-iobench --generate ${what} > ${manual_dir}/${what}/${file}
    DEPENDS cluster-iobench
    VERBATIM)
  list(APPEND manual_files ${manual_dir}/${what}/${file})
  install(FILES ${manual_dir}/${what}/${file} DESTINATION ${destination})
endforeach()
add_custom_target(iobench_manual ALL DEPENDS ${manual_files})
# As in the source tree, so that links between documents work. The notices must be there: the licences demand it.
install(FILES LICENSE THIRD-PARTY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
