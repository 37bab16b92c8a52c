set(REVISION "unknown")
if(GIT)
  execute_process(COMMAND ${GIT} describe --always --dirty --abbrev=12 WORKING_DIRECTORY ${SOURCE}
                  OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(REVISION "${found}")
  endif()
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
