#include <hearsay/io/rows.hpp>

#include <algorithm>
#include <cmath>

#include "file.hpp"
#include "fuzz.hpp"

// A file read row by row, of any kind: the second reading gives what the first did. The first byte chooses the label
// column, and whether cells may be missing.
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
    const fuzz::MemoryFile file(bytes.substr(1));
    const io::TableOptions& options = choices[static_cast<unsigned char>(bytes[0]) % 8];
    const auto rows = io::open_rows(file.path(), options);
    fuzz::check(rows->cols() >= 1);
    Block<double> some(7, rows->cols());
    const auto all = [&] {
      Index count = 0;
      double sum = 0;
      for (Index read = 0; (read = rows->read(some)) > 0; count += read) {
        fuzz::check(read <= some.rows());
        for (const double value : some.topRows(read).reshaped()) {
          fuzz::check(std::isfinite(value) || (options.missing && std::isnan(value)));
          sum += std::isnan(value) ? 0.25 : std::min(std::abs(value), 1.0);
        }
      }
      return std::pair(count, sum);
    };
    const auto first = all();
    rows->rewind();
    fuzz::check(all() == first);
  });
}
