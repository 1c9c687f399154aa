# Headers of others, read once a target rather than once a file: about a second of each file's compile time. The presets
# for working on hearsay ask for it. Nobody else's build does, so that every file still has to include what it uses: the
# release preset and the Python package compile without.
option(HEARSAY_PRECOMPILE "Precompile the headers of Eigen, fmt and others" OFF)

set(HEARSAY_PRECOMPILED <Eigen/Core> <fmt/format.h> <algorithm> <cmath> <functional> <limits> <memory> <optional> <span>
  <string> <utility> <vector>)

# hearsay_precompile(name header...): these, and with them HEARSAY_PRECOMPILED. hearsay_precompile(name REUSE_FROM other)
# takes what was made for a target with the same flags.
function(hearsay_precompile name)
  if(NOT HEARSAY_PRECOMPILE)
    return()
  endif()
  if("${ARGV1}" STREQUAL "REUSE_FROM")
    target_precompile_headers(${name} REUSE_FROM ${ARGV2})
  else()
    target_precompile_headers(${name} PRIVATE ${HEARSAY_PRECOMPILED} ${ARGN})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${name} PRIVATE -fpch-preprocess)  # ccache asks for it
  endif()
endfunction()
