# Writes OUT, a header with the revision of SOURCE and how it is built. Runs with every build and
# leaves a file that would not change alone.
execute_process(COMMAND git describe --always --dirty --tags
  WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET RESULT_VARIABLE failed)
if(failed OR NOT revision)
  set(revision unknown)
endif()
# Two changed trees of one revision are not the same program.
if(revision MATCHES "-dirty$")
  execute_process(COMMAND sh -c "{ git diff HEAD; git ls-files -z -o --exclude-standard |
    xargs -0 -r sha1sum; } | sha1sum | cut -c 1-12"
    WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE changes OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(APPEND revision "-${changes}")
endif()
set(text "#pragma once
#define WEIR_REVISION \"${revision}\"
#define WEIR_BUILD \"${BUILD}\"
#define WEIR_DPDK_VERSION \"${DPDK}\"
")
set(before "")
if(EXISTS ${OUT})
  file(READ ${OUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUT} "${text}")
endif()
