# The presets build with many warnings as errors; a user's plain build does not.
add_library(billcore_warnings INTERFACE)
if(BILLCORE_WERROR)
  target_compile_options(billcore_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
endif()
