# hearsay_embed_experiments(target name...): puts experiments/<name>/config.json into the target, so that the program
# finds them wherever it is installed.
function(hearsay_embed_experiments target)
  set(entries)
  foreach(name IN LISTS ARGN)
    set(file ${PROJECT_SOURCE_DIR}/experiments/${name}/config.json)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    string(APPEND entries "    {\"${name}\", R\"experiment(${text})experiment\"},\n")
  endforeach()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded_experiments.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
#include "formats/embedded_experiments.hpp"

namespace hearsay::app {

std::span<const EmbeddedExperiment> embedded_experiments() {
  static constexpr EmbeddedExperiment all[] = {
@entries@  };
  return all;
}

}  // namespace hearsay::app
]])
  target_sources(${target} PRIVATE ${source})
endfunction()

# hearsay_embed_data(target file...): puts files of data/ into the target byte by byte, under the same names. As string
# literals: any compiler takes them, for any machine and any kind of library, in milliseconds.
function(hearsay_embed_data target)
  set(entries)
  foreach(name IN LISTS ARGN)
    set(file ${PROJECT_SOURCE_DIR}/data/${name})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} bytes HEX)
    file(SIZE ${file} size)
    string(REGEX REPLACE "(................................................................)" "\\1\"\n     \"" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${bytes}")
    string(APPEND entries "    {\"${name}\",\n     {\"${bytes}\", ${size}}},\n")
  endforeach()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded_data.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
#include "io/embedded_data.hpp"

namespace hearsay::io {

std::span<const EmbeddedFile> embedded_data() {
  static constexpr EmbeddedFile all[] = {
@entries@  };
  return all;
}

}  // namespace hearsay::io
]])
  target_sources(${target} PRIVATE ${source})
endfunction()
