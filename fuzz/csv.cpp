#include <hearsay/io/table.hpp>

#include "fuzz.hpp"

// The first byte chooses the label column, so that every way to name one is tried.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hearsay;
  static const io::TableOptions choices[] = {
      {}, {.label_column = "last"}, {.label_column = "1"}, {.label_column = "kind"}};
  return fuzz::run(data, size, [](std::string_view bytes) {
    if (bytes.empty()) return;
    const io::TableOptions& options = choices[static_cast<unsigned char>(bytes[0]) % 4];
    const io::Table table = io::parse_table(bytes.substr(1), "fuzz", options);
    fuzz::check(table.values.size() > 0 && table.values.allFinite());
    fuzz::check(table.column_names.empty() || static_cast<Index>(table.column_names.size()) == table.values.cols());
    fuzz::check(options.label_column.empty() || static_cast<Index>(table.labels.size()) == table.values.rows());
  });
}
