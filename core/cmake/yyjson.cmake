# Takes yyjson from BILLCORE_YYJSON_SOURCE, else from the copy in our source distribution, else from the system, else
# from the pinned download. Defines the target billcore_yyjson; BILLCORE_YYJSON_BUNDLED says whether yyjson's code
# becomes part of our own static libraries.
include(${CMAKE_CURRENT_LIST_DIR}/fetch_source.cmake)
set(_yyjson_dir "${BILLCORE_YYJSON_SOURCE}")
if(NOT _yyjson_dir AND EXISTS ${PROJECT_SOURCE_DIR}/core/third_party/yyjson/yyjson.c)
  set(_yyjson_dir ${PROJECT_SOURCE_DIR}/core/third_party/yyjson)
endif()
if(NOT _yyjson_dir)
  find_package(yyjson 0.10 CONFIG QUIET GLOBAL)
endif()

if(_yyjson_dir)
  if(NOT EXISTS ${_yyjson_dir}/yyjson.c)
    message(FATAL_ERROR "BILLCORE_YYJSON_SOURCE: there is no yyjson.c in ${_yyjson_dir}")
  endif()
elseif(NOT yyjson_FOUND)
  billcore_fetch_source(yyjson "install yyjson, or pass -DBILLCORE_YYJSON_SOURCE=<folder with yyjson.c>" _yyjson_dir)
endif()

if(_yyjson_dir)
  message(STATUS "yyjson: ${_yyjson_dir}")
  add_library(billcore_yyjson OBJECT ${_yyjson_dir}/yyjson.c)
  target_include_directories(billcore_yyjson SYSTEM INTERFACE $<BUILD_INTERFACE:${_yyjson_dir}>)
  # Disables warnings in third-party code.
  target_compile_options(billcore_yyjson PRIVATE -w)
  set(BILLCORE_YYJSON_BUNDLED ON)
else()
  message(STATUS "yyjson: ${yyjson_DIR}")
  add_library(billcore_yyjson INTERFACE)
  target_link_libraries(billcore_yyjson INTERFACE yyjson::yyjson)
  set(BILLCORE_YYJSON_BUNDLED OFF)
endif()
