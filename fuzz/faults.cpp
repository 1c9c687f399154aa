#include "formats/faults_file.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hearsay;
  return fuzz::run(data, size, [](std::string_view bytes) {
    const Faults faults = app::parse_faults(bytes, "fuzz");
    fuzz::check(faults.patience >= 0 && faults.quorum >= 1 && faults.give_up >= 1);
    for (const LinkFault& fault : faults.links) {
      fuzz::check(fault.probability >= 0 && fault.probability <= 1 && fault.first_round <= fault.last_round);
      fuzz::check(fault.kind != LinkFault::Kind::delay || fault.rounds_late >= 1);
    }
    for (const AgentFault& fault : faults.agents) fuzz::check(fault.agent >= 0 && fault.iteration >= 1);
  });
}
