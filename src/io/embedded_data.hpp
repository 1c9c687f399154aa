// The files of data/ in the sources, byte by byte (cmake/HearsayEmbed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace hearsay::io {

struct EmbeddedFile {
  std::string_view path;  ///< below data/
  std::string_view bytes;
};

std::span<const EmbeddedFile> embedded_data();

}  // namespace hearsay::io
