# Sets `out` to the folder with the pinned source of the third-party library `name`. fetch_source.py downloads the
# source if it is not in the cache. `otherwise` is the end of the error message: what the user can do when the download
# fails.
function(billcore_fetch_source name otherwise out)
  find_package(Python3 3.9 QUIET COMPONENTS Interpreter)
  if(NOT Python3_Interpreter_FOUND)
    message(FATAL_ERROR "There is no Python 3 to fetch ${name} with: install it, or ${otherwise}")
  endif()
  execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/fetch_source.py ${name}
                  OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${name} could not be fetched (see above): ${otherwise}")
  endif()
  set(${out} ${folder} PARENT_SCOPE)
endfunction()
