// PLINK's .bed with its .bim and .fam: genotypes at two bits a call, mapped and never unpacked as a whole.
//
//   const io::BedFile file("cohort.bed");              // beside it cohort.bim and cohort.fam
//   const GenotypeCounts counts = count_calls(file.view());
//   const auto found = solve_pca(file.view(), counts, request);
//
// Checked as it is opened: the three first bytes, that the SNPs come one by one (not sample by sample), and that the
// length is that of the SNPs of the .bim and the samples of the .fam. Whoever shortens
// the file while it is in use is told of by require_whole().
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/export.hpp"
#include "hearsay/operators/genotypes.hpp"

namespace hearsay::io {

/// A line of a .fam.
struct Sample {
  std::string family, id;
};

/// A line of a .bim. The first allele is the one whose copies are counted.
struct Snp {
  std::string chromosome, id, position, first_allele, second_allele;
};

/// The files that belong together: DATA.bed brings DATA.bim and DATA.fam.
struct BedPaths {
  std::filesystem::path bed, bim, fam;
};
HEARSAY_API BedPaths bed_paths(const std::filesystem::path& bed);

/// Whether a file is taken for a .bed: by its name, or by its first bytes where the name says nothing.
HEARSAY_API bool is_bed(const std::filesystem::path& path);

/// Throw DataError with the line for one that has not six fields.
HEARSAY_API std::vector<Sample> read_fam(const std::filesystem::path& path);
HEARSAY_API std::vector<Snp> read_bim(const std::filesystem::path& path);

class HEARSAY_API BedFile {
 public:
  explicit BedFile(const std::filesystem::path& bed) : BedFile(bed_paths(bed)) {}
  explicit BedFile(const BedPaths& paths);
  BedFile(BedFile&&) noexcept;
  BedFile& operator=(BedFile&&) noexcept;
  ~BedFile();

  GenotypeView view() const;  ///< borrows the file
  /// Throws DataError where the file became shorter since it was opened: what was read of the rest are zeros.
  void require_whole() const;
  const std::vector<Sample>& samples() const;
  const std::vector<Snp>& snps() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hearsay::io
