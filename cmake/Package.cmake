# cpack -G DEB, cpack -G RPM, or cpack -G TGZ: packages of what cmake --install installs, with the worker's systemd unit.
install(FILES deploy/systemd/cluster-iobench-worker.service DESTINATION lib/systemd/system)
install(FILES deploy/systemd/cluster-iobench.sysusers DESTINATION lib/sysusers.d RENAME cluster-iobench.conf)
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

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)   # names the packages of the libraries that the program is linked with
# ssh starts workers on other hosts; mpirun starts ranks.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "openssh-client, openmpi-bin")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "nfs-common")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/deploy/systemd/postinst)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_POST_INSTALL_SCRIPT_FILE ${PROJECT_SOURCE_DIR}/deploy/systemd/postinst)
# Directories that the distribution's own packages own.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    /usr/lib/systemd /usr/lib/systemd/system /usr/lib/sysusers.d /usr/share/man /usr/share/man/man1
    /usr/share/bash-completion /usr/share/bash-completion/completions /usr/share/zsh /usr/share/zsh/site-functions
    /usr/share/fish /usr/share/fish/vendor_completions.d /usr/share/doc)
include(CPack)
