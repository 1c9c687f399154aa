#include "experiments/measures.hpp"
#include "formats/experiment_file.hpp"
#include "fuzz.hpp"

// The first byte says whether "quick" applies. What was settled must be an experiment again, and the same one.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hearsay;
  return fuzz::run(data, size, [](std::string_view bytes) {
    if (bytes.empty()) return;
    const app::ExperimentFile file = app::parse_experiment(bytes.substr(1), "fuzz", bytes[0] == 'q');
    const app::ExperimentFile again = app::parse_experiment(file.settled, "settled", false);
    fuzz::check(again.settled == file.settled);
    fuzz::check(again.experiment.panels.size() == file.experiment.panels.size());
    fuzz::check(!file.experiment.name.empty() && file.experiment.name.find('/') == std::string::npos);
    for (const auto& table : file.experiment.tables) fuzz::check(table.name.find('/') == std::string::npos);
    experiments::check_tables(file.experiment);
    experiments::check_claims(file.experiment);
  });
}
