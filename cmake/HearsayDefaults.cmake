# Build defaults of this repository: they apply to our own targets alone and never reach a user's.
if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
  find_program(HEARSAY_CCACHE ccache)
  if(HEARSAY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # without this ccache would leave alone what is compiled with a precompiled header
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${HEARSAY_CCACHE})
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(BUILD_SHARED_LIBS AND PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_INSTALL_RPATH)
  include(GNUInstallDirs)
  set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")  # what is installed may be moved
endif()

set(HEARSAY_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
# Of what is installed, more is asked. Not of signs: Clang would count them in, and Eigen's indices have one where the
# standard library's have none.
set(HEARSAY_LIBRARY_WARNINGS -Wconversion -Wno-sign-conversion)
if(HEARSAY_WARNINGS_AS_ERRORS)
  list(APPEND HEARSAY_WARNINGS -Werror)
endif()

include(HearsayHardening)
include(HearsayPrecompile)
include(HearsayUnity)

# hearsay_target(name [LIBRARY]): the settings every target of ours shares, and those of what is below the doors.
function(hearsay_target name)
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_compile_options(${name} PRIVATE ${HEARSAY_WARNINGS})
  if("LIBRARY" IN_LIST ARGN)
    target_compile_options(${name} PRIVATE ${HEARSAY_LIBRARY_WARNINGS})
  endif()
  if(HEARSAY_HARDEN)
    hearsay_harden(${name})
  endif()
endfunction()

# hearsay_library(name): a library that is installed. It shows what HEARSAY_API marks (include/hearsay/export.hpp) and
# nothing else; before 1.0 the ABI is that of a minor version.
function(hearsay_library name)
  hearsay_target(${name} LIBRARY)
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    DEFINE_SYMBOL "")  # nothing asks for it, and without it shared and static libraries have the same object files
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # that a class it shows has members of Eigen's hidden types; they are hidden on purpose
    target_compile_options(${name} PRIVATE -Wno-attributes)
  endif()
endfunction()
