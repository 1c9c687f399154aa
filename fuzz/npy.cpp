#include <hearsay/io/npy.hpp>

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hearsay;
  return fuzz::run(data, size, [](std::string_view bytes) {
    const io::FloatOrDouble matrix = io::parse_npy(bytes, "fuzz");
    std::visit([](const auto& values) { fuzz::check(values.size() > 0 && values.allFinite()); }, matrix);
  });
}
