// Genotypes as a run takes them: which options they have no use for, and whose rows the outputs are.
#pragma once

#include <string>
#include <vector>

#include "commands/job.hpp"
#include "hearsay/io/bed.hpp"
#include "hearsay/io/table.hpp"

namespace hearsay::app {

/// Whether the job's data are PLINK's .bed.
bool takes_genotypes(const Job& job);

/// Throws InvalidArgument for options that are for tables.
void require_options_of_genotypes(const Job& job);

/// The columns before the numbers of --scores and of --components, where these are .csv.
std::vector<io::RowNames> names_of_samples(const io::BedFile& file);
std::vector<io::RowNames> names_of_snps(const io::BedFile& file);

/// PC1, PC2, ...
std::vector<std::string> names_of_components(Index count);

/// The title of the column that names a SNP.
inline constexpr std::string_view snp_title = "snp";

}  // namespace hearsay::app
