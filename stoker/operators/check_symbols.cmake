# Fails where LIBRARY needs a C++ symbol of LibTorch.
execute_process(COMMAND ${NM} --dynamic --undefined-only --demangle ${LIBRARY} OUTPUT_VARIABLE symbols
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]*(at|c10|torch)::[^\n]*" unstable "${symbols}")
string(REGEX MATCHALL "[^\n]*(torch_|aoti_)[^\n]*" stable "${symbols}")
if(unstable)
  message(FATAL_ERROR "symbols that are not stable:\n${unstable}")
endif()
if(NOT stable)
  message(FATAL_ERROR "no symbol of LibTorch at all: is this the right library?\n${symbols}")
endif()
