#include "files/genotypes.hpp"

#include <fmt/format.h>

#include "files/inputs.hpp"
#include "hearsay/error.hpp"

namespace hearsay::app {

bool takes_genotypes(const Job& job) { return io::is_bed(locate_input(job.input)); }

void require_options_of_genotypes(const Job& job) {
  struct Refusal {
    const char *option, *why;
  };
  constexpr const char* is_scaled = "genotypes are centred at 2p and divided by sqrt(2p(1-p)) in any case";
  constexpr const char* is_mapped = "a .bed file is multiplied where it lies, and takes no memory";
  constexpr const char* for_tables = "is for tables";
  for (const auto& [option, why] : {Refusal{"stream", is_mapped},
                                    {"block-rows", is_mapped},
                                    {"center", is_scaled},
                                    {"standardize", is_scaled},
                                    {"batch", for_tables},
                                    {"label-column", for_tables},
                                    {"dataset", "is for HDF5 and .npz"},
                                    {"row-weights", for_tables},
                                    {"weights-column", for_tables},
                                    {"dp", for_tables}})
    require(!job.given.contains(option), fmt::format("{}: {}; leave it out for {}", option, why, job.input));
  require(job.missing == Missing::refuse || job.missing == Missing::mean,
          fmt::format("missing = {}: a missing call counts as the mean of its SNP; leave it out for {}",
                      name(job.missing), job.input));
}

std::vector<io::RowNames> names_of_samples(const io::BedFile& file) {
  std::vector<io::RowNames> names{{.title = "FID", .names = {}}, {.title = "IID", .names = {}}};
  for (const io::Sample& sample : file.samples()) {
    names[0].names.push_back(sample.family);
    names[1].names.push_back(sample.id);
  }
  return names;
}

std::vector<io::RowNames> names_of_snps(const io::BedFile& file) {
  std::vector<io::RowNames> names{{.title = std::string(snp_title), .names = {}}};
  for (const io::Snp& snp : file.snps()) names[0].names.push_back(snp.id);
  return names;
}

std::vector<std::string> names_of_components(Index count) {
  std::vector<std::string> names;
  for (Index c = 1; c <= count; ++c) names.push_back(fmt::format("PC{}", c));
  return names;
}

}  // namespace hearsay::app
