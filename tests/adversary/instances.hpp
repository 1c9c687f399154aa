// Matrices that are hard to speak the truth about, drawn from a seed, with their exact eigenvectors.
#pragma once

#include <cstdint>
#include <hearsay/power.hpp>
#include <random>
#include <string>
#include <vector>

namespace hearsay::adversary {

using Exact = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using ExactVector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  Index from(Index least, Index most) { return std::uniform_int_distribution<Index>(least, most)(engine_); }
  double between(double least, double most) { return std::uniform_real_distribution<double>(least, most)(engine_); }
  double power_of_ten(double least, double most) { return std::pow(10.0, between(least, most)); }
  bool chance(double probability) { return between(0, 1) < probability; }
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[from(0, static_cast<Index>(choices.size()) - 1)];
  }
  std::uint64_t seed() { return engine_(); }
  double normal() { return std::normal_distribution<double>()(engine_); }

 private:
  std::mt19937_64 engine_;
};

struct Instance {
  std::string spectrum, vectors;  ///< which families it comes from
  Block<double> A;                ///< the matrix, as a solver gets it
  Index k = 1;                    ///< how many eigenvectors to ask for
  bool sparse = false;            ///< a solver gets its entries that are not zero
};

/// One instance of dimension about 40 to 130; one in fifty has up to 1500.
Instance draw_instance(Dice& dice);

/// Eigenvalues, descending, and eigenvectors of the matrix as it is stored, in 64-bit significands.
struct Truth {
  ExactVector values;
  Exact vectors;

  /// Eigenvectors by where they stand, the most wanted first: of both ends the k wanted ones, then the others.
  std::vector<Index> order(Which which, Index k) const;
  /// The sine of the largest angle between these eigenvectors, of which V has no more columns, and the columns of V.
  double sine(const Block<double>& V, const std::vector<Index>& which) const;
};
Truth solve_exactly(const Block<double>& A);

}  // namespace hearsay::adversary
