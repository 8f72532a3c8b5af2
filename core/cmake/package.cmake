# Installs the C++ libraries and the CMake package: find_package(billcore COMPONENTS webhook client).
if(SKBUILD OR NOT BILLCORE_INSTALL)  # a Python wheel contains its own copy of the core
  return()
endif()
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)  # see capi/cmake/install.cmake

set(_billcore_package ${CMAKE_INSTALL_LIBDIR}/cmake/billcore)
install(TARGETS billcore_webhook EXPORT billcore-webhook-cxx ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS billcore_client billcore_arrow EXPORT billcore-client-cxx ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/billcore DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp"
        PATTERN internal.hpp EXCLUDE)
# Our licence, and the licences of third-party code that is compiled into the libraries.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/billcore COMPONENT licences)
foreach(_name yyjson nanoarrow)
  if(_${_name}_dir AND EXISTS ${_${_name}_dir}/LICENSE)
    install(FILES ${_${_name}_dir}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/billcore RENAME ${_name}.txt
            COMPONENT licences)
  endif()
endforeach()
foreach(_half webhook client)
  install(EXPORT billcore-${_half}-cxx NAMESPACE billcore:: DESTINATION ${_billcore_package})
endforeach()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/billcoreConfig.cmake.in billcoreConfig.cmake
                              INSTALL_DESTINATION ${_billcore_package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(billcoreConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/billcoreConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/billcoreConfigVersion.cmake
        DESTINATION ${_billcore_package})
