# Computes the build id: a hash of the headers and the compiler's version, because these determine the layout of the
# objects that one library or extension module passes to another. An edit of a .cpp file does not change the id, so only
# that file is compiled again.
file(GLOB_RECURSE _billcore_sources CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/core/include/*.hpp ${PROJECT_SOURCE_DIR}/core/src/*.hpp ${PROJECT_SOURCE_DIR}/capi/src/*.hpp
     ${PROJECT_SOURCE_DIR}/python/src/*.hpp)
set(_billcore_fingerprint "${PROJECT_VERSION} ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_SYSTEM_PROCESSOR}")
foreach(_source IN LISTS _billcore_sources)
  file(SHA256 ${_source} _hash)
  string(APPEND _billcore_fingerprint " ${_hash}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${_source})
endforeach()
string(SHA256 BILLCORE_BUILD_ID "${_billcore_fingerprint}")
string(SUBSTRING "${BILLCORE_BUILD_ID}" 0 16 BILLCORE_BUILD_ID)
