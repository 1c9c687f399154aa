#include "hearsay/io/built_in.hpp"

#include "io/embedded_data.hpp"
#include "io/heart_split.hpp"

namespace hearsay::io {

std::filesystem::path built_in_directory() { return "built-in:"; }

std::optional<std::string_view> built_in_file(const std::filesystem::path& path) {
  static const std::string split = heart_split_csv();
  if (!path.native().starts_with(built_in_directory().native())) return std::nullopt;
  for (const EmbeddedFile& file : embedded_data())
    if (path == built_in_directory() / file.path) return file.bytes;
  if (path == built_in_directory() / "heart" / "split.csv") return split;
  return std::nullopt;
}

}  // namespace hearsay::io
