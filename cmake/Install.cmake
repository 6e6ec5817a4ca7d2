# bin/halosweep, libexec/halosweep/ (where `halosweep X` looks for halosweep-X), the man page, configs,
# docs. Nothing installed refers to the source or build tree.
include(GNUInstallDirs)
set(data ${CMAKE_INSTALL_DATADIR}/halosweep)
install(TARGETS halosweep RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
set(libexec ${CMAKE_INSTALL_LIBEXECDIR}/halosweep)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/libexec/ DESTINATION ${libexec} USE_SOURCE_PERMISSIONS)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/analysis/halosweep_analysis DESTINATION ${libexec}/python FILES_MATCHING PATTERN "*.py"
  PATTERN __pycache__ EXCLUDE)
# The same place, as seen from the binary in the build folder (src/app/halosweep).
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/src/libexec)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/libexec ${CMAKE_BINARY_DIR}/src/libexec/halosweep SYMBOLIC)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/configs ${CMAKE_SOURCE_DIR}/jobs DESTINATION ${data} USE_SOURCE_PERMISSIONS)
# For those who compile their function by themselves too; halosweep has it inside.
install(FILES ${CMAKE_SOURCE_DIR}/include/halosweep_functions.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}) # a folder: README.md links to it
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES include/halosweep_functions.h DESTINATION ${CMAKE_INSTALL_DOCDIR}/include)
# Documents link to configs/ and jobs/ beside them, as in the sources.
file(RELATIVE_PATH beside /${CMAKE_INSTALL_DOCDIR} /${data})
foreach(folder configs jobs)
  install(CODE "file(CREATE_LINK ${beside}/${folder} \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}/${folder}\" SYMBOLIC)")
endforeach()

# The manual page is printed by the program itself, from the option tables.
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/halosweep.1 COMMAND halosweep --man > ${CMAKE_BINARY_DIR}/halosweep.1
  DEPENDS halosweep VERBATIM)
add_custom_target(manual ALL DEPENDS ${CMAKE_BINARY_DIR}/halosweep.1)
install(FILES ${CMAKE_BINARY_DIR}/halosweep.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
