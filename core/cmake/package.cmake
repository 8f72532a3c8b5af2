# Installs the C++ half and the CMake package: find_package(billcore COMPONENTS webhook client).
if(SKBUILD)  # a Python wheel carries its own copy of the core
  return()
endif()
include(CMakePackageConfigHelpers)

set(_billcore_package ${CMAKE_INSTALL_LIBDIR}/cmake/billcore)
install(TARGETS billcore_webhook EXPORT billcore-webhook-cxx ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS billcore_client EXPORT billcore-client-cxx ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET billcore_arrow)
  install(TARGETS billcore_arrow EXPORT billcore-client-cxx ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY include/billcore DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp"
        PATTERN "internal.hpp" EXCLUDE)
foreach(_half webhook client)
  install(EXPORT billcore-${_half}-cxx NAMESPACE billcore:: DESTINATION ${_billcore_package})
endforeach()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/billcoreConfig.cmake.in billcoreConfig.cmake
                              INSTALL_DESTINATION ${_billcore_package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(billcoreConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/billcoreConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/billcoreConfigVersion.cmake
        DESTINATION ${_billcore_package})
