#include <hearsay/io/table.hpp>

#include "fuzz.hpp"

// The first byte chooses the label column, and whether cells may be missing, so that every way is tried.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hearsay;
  static const io::TableOptions choices[] = {{},
                                             {.label_column = "last"},
                                             {.label_column = "1"},
                                             {.label_column = "kind"},
                                             {.missing = true},
                                             {.label_column = "last", .missing = true},
                                             {.label_column = "1", .missing = true},
                                             {.label_column = "kind", .missing = true}};
  return fuzz::run(data, size, [](std::string_view bytes) {
    if (bytes.empty()) return;
    const io::TableOptions& options = choices[static_cast<unsigned char>(bytes[0]) % 8];
    const io::Table table = io::parse_table(bytes.substr(1), "fuzz", options);
    fuzz::check(table.values.size() > 0 &&
                (options.missing ? !table.values.array().isInf().any() : table.values.allFinite()));
    fuzz::check(table.column_names.empty() || static_cast<Index>(table.column_names.size()) == table.values.cols());
    fuzz::check(options.label_column.empty() || static_cast<Index>(table.labels.size()) == table.values.rows());
  });
}
