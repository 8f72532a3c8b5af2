# OpenSSL and libcurl: those of the system, or the static ones in BILLCORE_BUNDLE.
if(NOT BILLCORE_BUNDLE)
  find_package(OpenSSL 3.0 REQUIRED COMPONENTS Crypto GLOBAL)  # GLOBAL: for projects that include this one by add_subdirectory()
  find_package(CURL 7.88 REQUIRED)
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
_billcore_bundled(CURL::libcurl libcurl.a billcore::nghttp2 OpenSSL::SSL)
set_property(TARGET CURL::libcurl PROPERTY INTERFACE_COMPILE_DEFINITIONS CURL_STATICLIB)
# The linker redirects libcurl's call of this nghttp2 function to core/src/http/stream_end.cpp.
set_property(TARGET CURL::libcurl PROPERTY INTERFACE_LINK_OPTIONS LINKER:--wrap=nghttp2_session_callbacks_set_on_begin_headers_callback)
