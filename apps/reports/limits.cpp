#include "reports/limits.hpp"

#include <fmt/format.h>

#include "commands/network.hpp"
#include "commands/verify.hpp"
#include "drawings/figure.hpp"
#include "formats/json_reader.hpp"
#include "hearsay/datasets.hpp"
#include "hearsay/memory.hpp"
#include "hearsay/spectrum.hpp"

namespace hearsay::app {

const std::vector<Limit>& limits() {
  static const std::vector<Limit> table = {
      {"memory", fmt::format("{:.1f} GB here, --memory", static_cast<double>(memory_limit()) / 1e9),
       "nine tenths of what the machine, its control groups and resource limits allow"},
      {"line of text", "a 64th of the memory", "and at least 1 MiB"},
      {"columns of a table", "1 for 4 kB of the memory", "and at least 1024"},
      {"gzip", "200 times its size", "and at least 64 MiB; gunzip larger ones first"},
      {"JSON file", fmt::format("{} MiB", longest_json >> 20),
       "experiments, faults, results to verify; 32 levels deep"},
      {"privacy ledger", "64 MiB", "and texts in it 4096 bytes"},
      {"agents", fmt::to_string(most_agents), "of a network"},
      {"threads", "1024", "the most --threads may ask for"},
      {"default threads", "64, or two a processor", "the most that OMP_NUM_THREADS may ask for"},
      {"oversample", "2^31", "the most extra columns"},
      {"dense dimension", fmt::to_string(largest_dense_dimension),
       "up to here all eigenvectors are computed (--noise adversarial, --audit, --reference exact)"},
      {"verified spectrum", fmt::to_string(largest_verified_spectrum),
       "up to here verify checks a certificate's bounds"},
      {"nodes", "2^31", "of a graph"},
      {"weights of a graph", "1e-292 to 1 (single 1e-31)", "the least beside the largest; agents as nodes: 1e-140"},
      {"gossip rounds", "2^52", "the most a plan counts"},
      {"download", fmt::format("{} MiB", io::longest_download >> 20), "the longest answer of a server"},
      {"download time", "1 h a file, --timeout",
       fmt::format("connecting {} s, silence {} s", io::connect_seconds, io::stall_seconds)},
      {"redirects", fmt::to_string(io::most_redirects), "followed in a download"},
      {"points drawn", fmt::to_string(points_drawn), "of a curve, and written to its CSV"},
      {"name in a message", "120 letters", "longer names are cut in the middle"},
  };
  return table;
}

}  // namespace hearsay::app
