# Installs the C interface: headers, libraries, pkg-config files, and the C interface's part of the CMake package
# (core/cmake/package.cmake).
if(SKBUILD OR NOT BILLCORE_INSTALL)  # a Python wheel contains its own copy of the core, and no C interface
  return()
endif()

# The components are Debian packages (capi/package/debian.cmake); everything that names no component is in `dev`.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)
install(TARGETS billcore_c_webhook EXPORT billcore-webhook-c-shared
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT webhook NAMELINK_COMPONENT dev)
install(TARGETS billcore_c EXPORT billcore-client-c-shared
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT client NAMELINK_COMPONENT dev)
install(TARGETS billcore_c_webhook_static EXPORT billcore-webhook-c-static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS billcore_c_static EXPORT billcore-client-c-static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/billcore.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/billcore DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
foreach(_half webhook client)
  foreach(_kind c-shared c-static)
    install(EXPORT billcore-${_half}-${_kind} NAMESPACE billcore:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/billcore)
  endforeach()
endforeach()

# The .pc files contain the prefix as a path relative to their own folder, so that a user may move the installed tree.
file(RELATIVE_PATH BILLCORE_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" BILLCORE_PC_PREFIX "${BILLCORE_PC_PREFIX}")
list(TRANSFORM _billcore_cxx PREPEND "-l" OUTPUT_VARIABLE BILLCORE_PC_CXX)
list(JOIN BILLCORE_PC_CXX " " BILLCORE_PC_CXX)
set(BILLCORE_PC_YYJSON "")
if(NOT BILLCORE_YYJSON_BUNDLED)
  set(BILLCORE_PC_YYJSON "-lyyjson ")
endif()
foreach(_name billcore billcore-static billcore-webhook billcore-webhook-static)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${_name}.pc.in ${_name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${_name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/go)  # the source archive for C and C++ has neither Go nor Rust
  return()
endif()
# The source of the Go module. `go build` compiles the module together with the program that uses it, and links the
# installed C libraries: see capi/go/README.md.
install(DIRECTORY go DESTINATION ${CMAKE_INSTALL_DATADIR}/billcore PATTERN "*_test.go" EXCLUDE PATTERN "*.sh" EXCLUDE
        PATTERN "*.py" EXCLUDE PATTERN __pycache__ EXCLUDE)

# The source of the Rust crates, which cargo compiles together with the program that uses them.
install(DIRECTORY rust DESTINATION ${CMAKE_INSTALL_DATADIR}/billcore PATTERN target EXCLUDE PATTERN Cargo.lock EXCLUDE
        PATTERN generate.sh EXCLUDE PATTERN package.sh EXCLUDE PATTERN registry.py EXCLUDE)
