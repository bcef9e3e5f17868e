# cmake --install: the program, the MPI module in the directory where the program looks for it, and the documentation.
install(TARGETS cluster-iobench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET cluster-iobench-mpi)
  install(TARGETS cluster-iobench-mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/cluster-iobench)
endif()
install(DIRECTORY deploy/plans DESTINATION ${CMAKE_INSTALL_DATADIR}/cluster-iobench FILES_MATCHING PATTERN "*.yaml")
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
