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
