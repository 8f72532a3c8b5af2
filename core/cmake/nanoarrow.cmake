# Takes nanoarrow from BILLCORE_NANOARROW_SOURCE, else from the copy in our source distribution, else from the pinned
# download. Defines the target billcore_nanoarrow, whose code becomes part of our own static library.
include(${CMAKE_CURRENT_LIST_DIR}/fetch_source.cmake)
set(_nanoarrow_dir "${BILLCORE_NANOARROW_SOURCE}")
if(NOT _nanoarrow_dir AND EXISTS ${PROJECT_SOURCE_DIR}/core/third_party/nanoarrow/nanoarrow/nanoarrow.h)
  set(_nanoarrow_dir ${PROJECT_SOURCE_DIR}/core/third_party/nanoarrow)
endif()
if(NOT _nanoarrow_dir)
  billcore_fetch_source(nanoarrow "pass -DBILLCORE_NANOARROW_SOURCE=<folder with nanoarrow/nanoarrow.h>" _nanoarrow_dir)
endif()
if(NOT EXISTS ${_nanoarrow_dir}/nanoarrow/common/array.c)
  message(FATAL_ERROR "BILLCORE_NANOARROW_SOURCE: there is no nanoarrow/common/array.c in ${_nanoarrow_dir}")
endif()
message(STATUS "nanoarrow: ${_nanoarrow_dir}")

# Gives nanoarrow's functions a prefix of their own, because a program may also link another nanoarrow.
set(NANOARROW_VERSION_MAJOR 0)
set(NANOARROW_VERSION_MINOR 9)
set(NANOARROW_VERSION_PATCH 0)
set(NANOARROW_VERSION 0.9.0)
set(NANOARROW_NAMESPACE_DEFINE "#define NANOARROW_NAMESPACE billcore_nanoarrow")
configure_file(${_nanoarrow_dir}/nanoarrow/nanoarrow_config.h.in
               ${CMAKE_CURRENT_BINARY_DIR}/nanoarrow/nanoarrow/nanoarrow_config.h @ONLY)

set(_nanoarrow_files array array_stream schema utils)
list(TRANSFORM _nanoarrow_files REPLACE "(.+)" "${_nanoarrow_dir}/nanoarrow/common/\\1.c")
add_library(billcore_nanoarrow OBJECT ${_nanoarrow_files})
target_include_directories(billcore_nanoarrow SYSTEM PUBLIC
                           $<BUILD_INTERFACE:${_nanoarrow_dir}> $<BUILD_INTERFACE:${CMAKE_CURRENT_BINARY_DIR}/nanoarrow>)
target_compile_definitions(billcore_nanoarrow PRIVATE NANOARROW_DLL=)
# nanoarrow allocates through arrow_memory.cpp, which throws when memory runs out; the exception passes through
# nanoarrow's C code.
target_compile_options(billcore_nanoarrow PRIVATE -fexceptions)
list(FILTER _nanoarrow_files INCLUDE REGEX "utils\\.c$")
set_source_files_properties(${_nanoarrow_files} PROPERTIES COMPILE_DEFINITIONS
  "malloc=billcore_arrow_malloc;realloc=billcore_arrow_realloc;free=billcore_arrow_free")
# Disables warnings in third-party code.
target_compile_options(billcore_nanoarrow PRIVATE -w)
