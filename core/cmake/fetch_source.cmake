# The folder of a third party's pinned source (fetch_source.py), fetched when it is not in the cache. otherwise: what to do
# instead, for the message when that cannot be.
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
