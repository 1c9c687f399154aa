#include <hearsay/io/npz.hpp>

#include <cmath>

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hearsay;
  return fuzz::run(data, size, [](std::string_view bytes) {
    const io::Data found = io::parse_npz(bytes, "fuzz");
    std::visit(
        [](const auto& A) {
          if constexpr (requires { A.row_start; }) {
            fuzz::check(A.row_start.size() == static_cast<std::size_t>(A.rows) + 1 && A.row_start.front() == 0);
            fuzz::check(A.row_start.back() == A.nonzeros() && A.values.size() == A.columns.size());
            for (std::size_t i = 1; i < A.row_start.size(); ++i)
              for (auto e = A.row_start[i - 1]; e < A.row_start[i]; ++e) {
                const auto at = static_cast<std::size_t>(e);
                fuzz::check(A.columns[at] >= 0 && A.columns[at] < A.cols && !std::isnan(A.values[at]));
                fuzz::check(e == A.row_start[i - 1] || A.columns[at - 1] < A.columns[at]);
              }
          } else {
            fuzz::check(A.size() > 0 && A.allFinite());
          }
        },
        found.matrix);
  });
}
