include(GNUInstallDirs)
install(TARGETS halosweep RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/configs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/halosweep/configs)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The manual page is printed by the program itself, from the option tables.
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/halosweep.1 COMMAND halosweep --man > ${CMAKE_BINARY_DIR}/halosweep.1
  DEPENDS halosweep VERBATIM)
add_custom_target(manual ALL DEPENDS ${CMAKE_BINARY_DIR}/halosweep.1)
install(FILES ${CMAKE_BINARY_DIR}/halosweep.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
