# The Debian packages, one for each installation component: `cpack -G DEB` in a build folder that was configured with
# -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_SKIP_RPATH=ON. See capi/package/README.md; build.sh makes the packages of a
# release.
set(CPACK_COMPONENTS_ALL webhook client dev)
set(CPACK_PACKAGE_VENDOR "the billcore authors")
set(CPACK_PACKAGE_CONTACT "the billcore authors <maintainers@billcore.example>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SOURCE billcore)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_CURRENT_BINARY_DIR})  # libbillcore needs libbillcore-webhook
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")


# The texts of each package: the licences of what the libraries contain, and a changelog, which Debian wants.
foreach(_name yyjson nanoarrow)
  get_directory_property(_folder DIRECTORY ${PROJECT_SOURCE_DIR}/core DEFINITION _${_name}_dir)
  set(_licence_of_${_name} "")
  if(EXISTS "${_folder}/LICENSE")
    file(READ ${_folder}/LICENSE _licence_of_${_name})
  endif()
endforeach()
if(_licence_of_nanoarrow)  # Debian's packages refer to this licence, and do not repeat it
  set(_licence_of_nanoarrow "The libraries contain nanoarrow, of the Apache Software Foundation, under the Apache License, "
      "version 2.0,\nwhose text is in /usr/share/common-licenses/Apache-2.0.\n")
  list(JOIN _licence_of_nanoarrow "" _licence_of_nanoarrow)
endif()
file(READ ${PROJECT_SOURCE_DIR}/LICENSE _licence)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/debian/copyright "billcore\n\n${_licence}\n${_licence_of_yyjson}\n${_licence_of_nanoarrow}")
set(_version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
string(TIMESTAMP _date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH, if that is set
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/debian/changelog.Debian
     "billcore (${_version}) unstable; urgency=medium\n\n  * Release ${PROJECT_VERSION}.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${_date}\n")
file(ARCHIVE_CREATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/debian/changelog.Debian.gz PATHS ${CMAKE_CURRENT_BINARY_DIR}/debian/changelog.Debian
     FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)

# _billcore_debian_package(COMPONENT PACKAGE SECTION TEXT); the first line of the description is that of project().
function(_billcore_debian_package component package section text)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package} PARENT_SCOPE)
  # The field Multi-Arch has a variable of its own only from CPack 3.31 on.
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION "${section}\nMulti-Arch: same" PARENT_SCOPE)
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${text}" PARENT_SCOPE)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/debian/copyright ${CMAKE_CURRENT_BINARY_DIR}/debian/changelog.Debian.gz
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()
set(_webhook libbillcore-webhook${BILLCORE_ABI_MAJOR})
set(_client libbillcore${BILLCORE_ABI_MAJOR})
_billcore_debian_package(webhook ${_webhook} libs
  "This package contains the C library that verifies and reads webhooks.\nThe library does not need an HTTP library.")
_billcore_debian_package(client ${_client} libs
  "This package contains the C library with the client of the REST interface.")
_billcore_debian_package(dev libbillcore-dev libdevel
  "This package contains the headers for C and C++, the static libraries, and\nthe files for pkg-config and CMake.")
foreach(_component WEBHOOK CLIENT)
  set(CPACK_DEBIAN_${_component}_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/triggers)
endforeach()
# The libraries must come from the same build, because one reads and frees what the other made.
set(CPACK_DEBIAN_CLIENT_PACKAGE_DEPENDS "${_webhook} (= ${_version})")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${_client} (= ${_version}), ${_webhook} (= ${_version})")
# Only a program that links the static libraries needs these.
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "libcurl4-openssl-dev (>= 7.88), libssl-dev (>= 3.0), zlib1g-dev")
include(CPack)
