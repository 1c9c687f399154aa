#include <hearsay/io/shards.hpp>

#include <algorithm>

#include "file.hpp"
#include "fuzz.hpp"

// The first line deals out the rows, a letter for each: a file as one shard, its rows split among three agents, and its
// labels.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hearsay;
  return fuzz::run(data, size, [](std::string_view bytes) {
    const std::size_t line = std::min(bytes.find('\n'), bytes.size());
    const std::string_view dealt = bytes.substr(0, line);
    const fuzz::MemoryFile file(bytes.substr(std::min(line + 1, bytes.size())));
    const std::filesystem::path path = file.path();
    Split split(3);
    for (std::size_t row = 0; row < dealt.size(); ++row)
      split[static_cast<unsigned char>(dealt[row]) % 3].push_back(static_cast<Index>(row));
    const Index agents[] = {0, 2};
    try {
      static_cast<void>(io::read_labels(path, {.label_column = "last"}));
    } catch (const Error&) {
    }
    try {
      const Shards parts = io::read_split(path, split, agents);
      fuzz::check(parts.rows.size() == 2 && parts.rows[0].rows() == static_cast<Index>(split[0].size()));
      for (const auto& rows : parts.rows) fuzz::check(rows.allFinite());
      fuzz::check(io::count_rows(path) == static_cast<Index>(dealt.size()));
    } catch (const Error&) {
    }
    const Index both[] = {1};
    const std::filesystem::path paths[] = {"none", path};
    const Shards whole = io::read_shards(paths, both);
    fuzz::check(whole.agents == 2 && whole.rows.size() == 1 && whole.rows[0].allFinite());
  });
}
