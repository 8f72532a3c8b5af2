# The compiler; OpenSSL, libcurl and zlib: those of the system, or the static ones in BILLCORE_BUNDLE.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 11)
  message(FATAL_ERROR "billcore needs GCC 11 or newer, or Clang, and ${CMAKE_CXX_COMPILER} is GCC "
                      "${CMAKE_CXX_COMPILER_VERSION}: pass -DCMAKE_CXX_COMPILER=<a newer one>")
endif()

# _billcore_find(PACKAGE VERSION VERSION_VARIABLE NAME DEBIAN_PACKAGE ARGUMENT…): find_package() with an error of one sentence.
macro(_billcore_find package version found name debian)
  # GLOBAL: for projects that include this one by add_subdirectory(), which link the targets too.
  find_package(${package} ${version} QUIET GLOBAL ${ARGN})
  if(NOT ${package}_FOUND AND ${found})
    message(FATAL_ERROR "billcore needs ${name} ${version} or newer, and this machine has ${${found}}: install a newer one, "
                        "and pass its folder in -D${package}_ROOT=<folder>")
  elseif(NOT ${package}_FOUND)
    message(FATAL_ERROR "billcore needs the development files of ${name} ${version} or newer: install them "
                        "(on Debian, the package ${debian}), or pass -D${package}_ROOT=<folder>")
  endif()
endmacro()
if(NOT BILLCORE_BUNDLE)
  _billcore_find(OpenSSL 3.0 OPENSSL_VERSION OpenSSL libssl-dev COMPONENTS Crypto)
  _billcore_find(CURL 7.88 CURL_VERSION_STRING libcurl libcurl4-openssl-dev)
  _billcore_find(ZLIB 1.2 ZLIB_VERSION_STRING zlib zlib1g-dev)
  return()
endif()

if(NOT EXISTS ${BILLCORE_BUNDLE}/lib/libcurl.a)
  message(FATAL_ERROR "BILLCORE_BUNDLE: there is no lib/libcurl.a in ${BILLCORE_BUNDLE}: pass what python/wheel/dependencies.sh prints")
endif()
add_compile_definitions(BILLCORE_BUNDLE)
function(_billcore_bundled target file)
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${BILLCORE_BUNDLE}/lib/${file}
                        INTERFACE_INCLUDE_DIRECTORIES ${BILLCORE_BUNDLE}/include INTERFACE_LINK_LIBRARIES "${ARGN}")
endfunction()
_billcore_bundled(OpenSSL::Crypto libcrypto.a -pthread ${CMAKE_DL_LIBS})
_billcore_bundled(OpenSSL::SSL libssl.a OpenSSL::Crypto)
_billcore_bundled(billcore::nghttp2 libnghttp2.a)
_billcore_bundled(ZLIB::ZLIB libz.a)
_billcore_bundled(CURL::libcurl libcurl.a billcore::nghttp2 OpenSSL::SSL)
set_property(TARGET CURL::libcurl PROPERTY INTERFACE_COMPILE_DEFINITIONS CURL_STATICLIB)
# The linker redirects libcurl's calls of these functions to core/src/http/streams.cpp and unread.cpp.
foreach(_callback frame_recv stream_close begin_headers)
  set_property(TARGET CURL::libcurl APPEND PROPERTY INTERFACE_LINK_OPTIONS LINKER:--wrap=nghttp2_session_callbacks_set_on_${_callback}_callback)
endforeach()
set_property(TARGET CURL::libcurl APPEND PROPERTY INTERFACE_LINK_OPTIONS LINKER:--wrap=send)
