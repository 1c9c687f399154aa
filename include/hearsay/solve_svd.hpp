// Singular values and vectors of a rectangular matrix, through products with A'A or AA', whichever is smaller.
//
//   Request request;
//   request.settings.power.rank = 100;
//   const auto found = solve_svd<double>(A, request);     // found.svd.left, .singular_values, .right
//
// The squares of singular values have twice the digits to lose: A'A alone shows sigma_i to about eps sigma_1^2/sigma_i.
// So the subspace is all that is taken from it. A V is made once more, and the singular values of that small problem
// are found to eps sigma_1 (docs/algorithms/svd.md). What is known of each is in the result.
#pragma once

#include "hearsay/csr.hpp"
#include "hearsay/export.hpp"
#include "hearsay/solve.hpp"

namespace hearsay {

/// What a solve says of itself, in whatever arithmetic. The facts of PowerFacts are those of the solve with A'A (or
/// AA'): the residual is ||A'A V - V S^2||_F / ||A'A V||_F (or ||AA'U - U S^2||_F / ||AA'U||_F) of exactly the vectors
/// returned, the history holds squares. The certificate and the gap are in the unit of singular values, and sin(theta)
/// is of the left and of the right subspace, the larger of the two.
struct SvdFacts : PowerFacts {
  double frobenius_norm = 0;  ///< ||A||_F, of 2^-exponent A

  /// The i-th singular value of A lies in [singular_values(i) - rounding, singular_values(i) + errors(i)]. The lower
  /// end is a bound, the upper end is what `errors_are` says; infinite where nothing is known. Where products of the
  /// caller's turn out to be noisy, nothing is: `rounding` and `within` are infinite, too, and the error bar is of the
  /// subspace.
  Vector<double> errors = {};
  Knowledge errors_are = Knowledge::unknown;
  double rounding = 0;  ///< what the arithmetic may do to one of them, at the most
  double within = 0;    ///< k singular values of A lie so near to these, whichever they are: a bound
  Index resolved = 0;   ///< so many are above rounding; vectors of the others are orthonormal and mean nothing

  bool by_rows = false;  ///< solved as AA', because m < n
  bool formed = false;   ///< that matrix was formed on the way
  Index sharpened = 0;   ///< half products that went into the smallest of them, beyond the first two
};

/// That, and the answer.
template <class S>
struct [[nodiscard]] SvdResult : SvdFacts {
  Block<S> left = {};              ///< m x k, orthonormal
  Vector<S> singular_values = {};  ///< k, descending; of 2^-exponent A
  Block<S> right = {};             ///< n x k, orthonormal; the largest entry of each column is positive
};

template <class S>
struct [[nodiscard]] SvdSolution {
  SvdResult<S> svd = {};
  double seconds = 0;
  std::optional<ClimbFacts> climb = {};
};

/// A in the precision of the settings; the arithmetic of float is single. A start is of right vectors, n x any number
/// of columns. Noise, a reference and an audit are refused: they are about symmetric matrices.
template <class S>
HEARSAY_API SvdSolution<S> solve_svd(const BorrowedBlock<S>& A, const Request& request);
template <class S>
HEARSAY_API SvdSolution<S> solve_svd(const CsrView<S>& A, const Request& request);
template <class S>
SvdSolution<S> solve_svd(const Block<S>& A, const Request& request) {
  return solve_svd<S>(borrow(A), request);
}
template <class S>
SvdSolution<S> solve_svd(const CsrMatrix<S>& A, const Request& request) {
  return solve_svd<S>(borrow(A), request);
}

/// A matrix known by its products and by those of its transpose.
template <class S>
struct RectangularFunctions {
  Index rows = 0, cols = 0;
  std::function<void(ConstBlockView<S> X, BlockView<S> out)> multiply = {};             ///< A X
  std::function<void(ConstBlockView<S> U, BlockView<S> out)> multiply_transposed = {};  ///< A'U
};
/// Throws DataError where the two turn out not to belong together.
template <class S>
HEARSAY_API SvdSolution<S> solve_svd(const RectangularFunctions<S>& A, const Request& request);

}  // namespace hearsay
