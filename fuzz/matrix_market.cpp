#include <hearsay/io/matrix_market.hpp>
#include <hearsay/symmetric.hpp>

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hearsay;
  return fuzz::run(data, size, [](std::string_view bytes) {
    const io::MatrixMarket file = io::parse_matrix_market(bytes, "fuzz");
    if (!file.declared_symmetric) return;
    try {
      std::visit([](const auto& matrix) { require_symmetric(matrix, "fuzz"); }, file.matrix);
    } catch (const Error&) {
      fuzz::check(false);
    }
  });
}
