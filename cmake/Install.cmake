# bin/halosweep, libexec/halosweep/ (where `halosweep X` looks for halosweep-X), the man page, configs,
# docs. Nothing installed refers to the source or build tree.
include(GNUInstallDirs)
set(data ${CMAKE_INSTALL_DATADIR}/halosweep)
install(TARGETS halosweep RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/halosweep)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/configs ${CMAKE_SOURCE_DIR}/jobs DESTINATION ${data} USE_SOURCE_PERMISSIONS)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
