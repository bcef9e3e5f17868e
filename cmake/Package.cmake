# The target `packages`: a Debian package, an RPM package and a tarball of what cmake --install installs, in BUILD/packages.
# The Debian package has the program, which needs the libraries of the Debian that it was built on, and the MPI module. The
# others have the self-contained program, which runs on every distribution (Bundle.cmake).
install(FILES deploy/systemd/cluster-iobench-worker.service DESTINATION lib/systemd/system COMPONENT service)
install(FILES deploy/systemd/cluster-iobench.sysusers DESTINATION lib/sysusers.d RENAME cluster-iobench.conf COMPONENT service)
install(FILES deploy/systemd/worker.env DESTINATION ${CMAKE_INSTALL_DATADIR}/cluster-iobench/systemd)
install(PROGRAMS deploy/make-certificates.sh DESTINATION ${CMAKE_INSTALL_DATADIR}/cluster-iobench)
install(DIRECTORY deploy/slurm deploy/kubernetes deploy/ansible DESTINATION ${CMAKE_INSTALL_DATADIR}/cluster-iobench)

set(CPACK_PACKAGE_NAME cluster-iobench)
set(CPACK_PACKAGE_VENDOR "cluster-iobench")
set(CPACK_PACKAGE_CONTACT "cluster-iobench maintainers <maintainers@cluster-iobench.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_DESCRIPTION
    "A coordinator starts workers on many clients, runs synchronised phases of I/O against a shared file system and \
reports the throughput of the cluster and of each client, with every doubtful figure marked.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_IOBENCH_PROCESSOR ${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/PackageKind.cmake)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_DEPENDS passwd)   # postinst makes a user
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)     # adds the packages of the libraries that the program is linked with
# ssh starts workers on other hosts; mpirun starts ranks.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "openssh-client, openmpi-bin")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "nfs-common")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/deploy/systemd/postinst)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
# What is linked statically (THIRD-PARTY.md) included.
set(CPACK_RPM_PACKAGE_LICENSE "Apache-2.0 AND BSD-3-Clause AND BSD-2-Clause AND MIT AND Zlib AND LGPL-2.1-or-later AND X11")
# No scripts and no dependencies: the program is self-contained, and systemd's own package makes the users of sysusers.d
# and reads new units when files appear there. Scripts that need bash or ssh are no part of running it.
set(CPACK_RPM_PACKAGE_AUTOREQPROV OFF)
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _build_id_links none")
# Directories that the distribution's own packages own.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    /usr/lib/systemd /usr/lib/systemd/system /usr/lib/sysusers.d /usr/share/man /usr/share/man/man1
    /usr/share/bash-completion /usr/share/bash-completion/completions /usr/share/zsh /usr/share/zsh/site-functions
    /usr/share/fish /usr/share/fish/vendor_completions.d /usr/share/doc)
include(CPack)

if(NOT TARGET cluster-iobench-static)
  add_custom_target(packages
    COMMAND ${CMAKE_COMMAND} -E echo "no packages: there is no self-contained program; the messages of configuring say why"
    COMMAND ${CMAKE_COMMAND} -E false
    VERBATIM)
  return()
endif()
set(packages ${PROJECT_BINARY_DIR}/packages)
add_custom_target(packages
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${packages}
  COMMAND ${CMAKE_CPACK_COMMAND} -G "DEB$<SEMICOLON>RPM$<SEMICOLON>TGZ" -B ${packages}
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${packages}/_CPack_Packages
  WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
  VERBATIM)
add_dependencies(packages cluster-iobench cluster-iobench-static cluster-iobench-worker iobench_manual)
if(TARGET cluster-iobench-mpi)
  add_dependencies(packages cluster-iobench-mpi)
endif()
