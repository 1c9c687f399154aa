# What makes a bug in a parser harder to turn into more: for what users install.
#
# Linking: addresses that a program cannot be told beforehand (PIE), and tables of functions that are read-only once it
# runs (RELRO, BIND_NOW). Compiling: canaries on the stack, checked copies (FORTIFY), checked standard containers.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(hearsay_harden_default ON)
else()
  set(hearsay_harden_default OFF)
endif()
option(HEARSAY_HARDEN "Harden what is built: stack protector, FORTIFY, checked containers, RELRO, PIE"
  ${hearsay_harden_default})

include(CheckCXXSourceCompiles)
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)

# Level 3 where the compiler and the C library have it, else 2.
function(hearsay_find_fortify_level)
  set(CMAKE_REQUIRED_FLAGS "-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
  check_cxx_source_compiles("#include <features.h>
    #if !defined(__USE_FORTIFY_LEVEL) || __USE_FORTIFY_LEVEL < 3
    #error
    #endif
    int main() {}" HEARSAY_FORTIFY_3)
endfunction()
hearsay_find_fortify_level()

# hearsay_harden(name): one target, whatever the build type.
function(hearsay_harden name)
  if(HEARSAY_FORTIFY_3)
    set(level 3)
  else()
    set(level 2)
  endif()
  target_compile_options(${name} PRIVATE -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level})
  target_compile_definitions(${name} PRIVATE _GLIBCXX_ASSERTIONS)
  get_target_property(type ${name} TYPE)
  if(type STREQUAL "EXECUTABLE" OR type STREQUAL "SHARED_LIBRARY" OR type STREQUAL "MODULE_LIBRARY")
    target_link_options(${name} PRIVATE -Wl,-z,relro,-z,now)
  endif()
endfunction()
