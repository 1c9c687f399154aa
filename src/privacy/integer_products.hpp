// Sums over integer rows r of r w', where w is r'Z rounded: what private products are made of.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/csr.hpp"
#include "hearsay/private_covariance.hpp"
#include "hearsay/private_sums.hpp"
#include "hearsay/row_source.hpp"

namespace hearsay::privacy {

class IntegerProducts {
 public:
  virtual ~IntegerProducts() = default;

  /// d x p words, by rows, modulo 2^64: sum r w', w = round(2^-bits r'Z). Z: integers, columns of norm 2^26 at most.
  virtual PrivateWords sums(const Block<double>& Z, int bits) = 0;
};

/// Rows that pass by at each call.
std::unique_ptr<IntegerProducts> products_of_stream(RowSource<double>& rows, const Vector<double>& center,
                                                    const PrivacySettings& settings, const ReleasePlan& plan,
                                                    const SecretWords& words);
/// Rows that are rounded once and kept, as sparse as they are; nothing is subtracted.
std::unique_ptr<IntegerProducts> products_of_sparse(const CsrView<double>& rows, const PrivacySettings& settings,
                                                    const ReleasePlan& plan);

}  // namespace hearsay::privacy
