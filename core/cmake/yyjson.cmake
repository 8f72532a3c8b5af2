# Where yyjson comes from: BILLCORE_YYJSON_SOURCE, the copy inside our source distribution, the system, or the pinned download.
# Defines the target billcore_yyjson; BILLCORE_YYJSON_BUNDLED says whether its code ends up in our own archives.
set(_yyjson_dir "${BILLCORE_YYJSON_SOURCE}")
if(NOT _yyjson_dir AND EXISTS ${PROJECT_SOURCE_DIR}/core/third_party/yyjson/yyjson.c)
  set(_yyjson_dir ${PROJECT_SOURCE_DIR}/core/third_party/yyjson)
endif()
if(NOT _yyjson_dir)
  find_package(yyjson 0.10 CONFIG QUIET)
endif()

if(_yyjson_dir)
  if(NOT EXISTS ${_yyjson_dir}/yyjson.c)
    message(FATAL_ERROR "BILLCORE_YYJSON_SOURCE: there is no yyjson.c in ${_yyjson_dir}")
  endif()
elseif(NOT yyjson_FOUND)
  find_package(Python3 3.9 QUIET COMPONENTS Interpreter)
  if(NOT Python3_Interpreter_FOUND)
    message(FATAL_ERROR "yyjson was not found and there is no Python 3 to fetch it with: "
                        "install it, or pass -DBILLCORE_YYJSON_SOURCE=<folder with yyjson.c>")
  endif()
  execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/fetch_source.py yyjson
                  OUTPUT_VARIABLE _yyjson_dir OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE _fetched)
  if(NOT _fetched EQUAL 0)
    message(FATAL_ERROR "yyjson could not be fetched (see above): "
                        "install it, or pass -DBILLCORE_YYJSON_SOURCE=<folder with yyjson.c>")
  endif()
endif()

if(_yyjson_dir)
  message(STATUS "yyjson: ${_yyjson_dir}")
  add_library(billcore_yyjson OBJECT ${_yyjson_dir}/yyjson.c)
  target_include_directories(billcore_yyjson SYSTEM INTERFACE $<BUILD_INTERFACE:${_yyjson_dir}>)
  # Its own warnings are its makers' business.
  target_compile_options(billcore_yyjson PRIVATE -w)
  set(BILLCORE_YYJSON_BUNDLED ON)
else()
  message(STATUS "yyjson: ${yyjson_DIR}")
  add_library(billcore_yyjson INTERFACE)
  target_link_libraries(billcore_yyjson INTERFACE yyjson::yyjson)
  set(BILLCORE_YYJSON_BUNDLED OFF)
endif()
