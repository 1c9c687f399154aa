#include "formats/federation_file.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hearsay;
  return fuzz::run(data, size, [](std::string_view bytes) {
    const app::FederationFile file = app::parse_federation(bytes, "fuzz");
    const auto agents = static_cast<Index>(file.agents.size());
    fuzz::check(agents >= 1 && app::federation_options(file).solve.power.rank >= 1);
    for (const auto& [a, b] : file.edges) fuzz::check(a >= 0 && a < b && b < agents);
    const std::string text = app::federation_text(file);
    fuzz::check(app::federation_text(app::parse_federation(text, "again")) == text);
  });
}
