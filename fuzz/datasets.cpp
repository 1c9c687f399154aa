#include <stdlib.h>
#include <hearsay/datasets.hpp>

#include <fstream>

#include "fuzz.hpp"

// The bytes as the file of each data set in turn, as the first byte says: loaded, or refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hearsay;
  static const std::filesystem::path directory = [] {
    std::string name = (std::filesystem::temp_directory_path() / "hearsay-fuzz-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) __builtin_trap();
    std::filesystem::create_directory(std::filesystem::path(name) / "heart");
    return std::filesystem::path(name);
  }();
  static const struct Cleaner {
    ~Cleaner() {
      std::error_code ignored;
      std::filesystem::remove_all(directory, ignored);
    }
  } cleaner;
  return fuzz::run(data, size, [](std::string_view bytes) {
    if (bytes.empty()) return;
    const std::string_view content = bytes.substr(1);
    const auto& sets = io::datasets();
    const io::Dataset& set = sets[static_cast<unsigned char>(bytes[0]) % sets.size()];
    for (const io::DatasetFile& file : set.files) {
      std::ofstream out(directory / file.path, std::ios::binary);
      out << (file.content ? file.content() : std::string(content));
    }
    for (const io::FileReport& report : io::verify(set, directory)) fuzz::check(report.state != io::FileState::missing);
    if (set.name == "digits") {
      const io::LabelledTable table = io::load_digits(directory);
      fuzz::check(static_cast<Index>(table.labels.size()) == table.values.rows());
    } else if (set.name == "fed-heart-disease") {
      const io::FederatedTable table = io::load_fed_heart_disease(directory);
      fuzz::check(table.tables.size() == table.centers.size());
    } else {
      const Graph graph = set.name == "amazon0302" ? io::load_amazon0302(directory) : io::load_ego_facebook(directory);
      for (const auto& [i, j] : graph.edges) fuzz::check(0 <= i && i < j && j < graph.nodes);
    }
  });
}
