#include <hearsay/io/rows.hpp>

#include "file.hpp"
#include "fuzz.hpp"

// A file read row by row, of any kind: the second reading gives what the first did. The first byte chooses the label
// column.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hearsay;
  static const io::TableOptions choices[] = {
      {}, {.label_column = "last"}, {.label_column = "1"}, {.label_column = "kind"}};
  return fuzz::run(data, size, [](std::string_view bytes) {
    if (bytes.empty()) return;
    const fuzz::MemoryFile file(bytes.substr(1));
    const auto rows = io::open_rows(file.path(), choices[static_cast<unsigned char>(bytes[0]) % 4]);
    fuzz::check(rows->cols() >= 1);
    Block<double> some(7, rows->cols());
    const auto all = [&] {
      Index count = 0;
      double sum = 0;
      for (Index read = 0; (read = rows->read(some)) > 0; count += read) {
        fuzz::check(read <= some.rows() && some.topRows(read).allFinite());
        sum += some.topRows(read).cwiseAbs().cwiseMin(1.0).sum();
      }
      return std::pair(count, sum);
    };
    const auto first = all();
    rows->rewind();
    fuzz::check(all() == first);
  });
}
