#include "solve/triples.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "hearsay/linalg.hpp"
#include "hearsay/qr.hpp"
#include "linalg/jacobi.hpp"

namespace hearsay::detail {

namespace {

// Half products beyond the first two, at most; what one must gain for the next to be made, and how many may fail to:
// a value that just rises from rounding is not sharp at first.
constexpr Index most_sharpening = 16;
constexpr double worth_another = 0.5;
constexpr Index patience = 2;

// T = op X becomes Y, and X is turned, so that op X = Y diag(s): QR of T, whose columns may differ in size as the
// singular values do, and the singular values of the triangle, each to its own accuracy.
template <class S>
Vector<S> decompose(Block<S>& T, Block<S>& X) {
  Small<S> R;
  thin_qr<S>(T, R);
  const JacobiSvd<S> small = jacobi_svd<S>(R);
  Block<S> turned(T.rows(), T.cols());
  multiply<S>(T, small.P, turned);
  T = std::move(turned);
  turned.resize(X.rows(), X.cols());
  multiply<S>(X, small.Z, turned);
  X = std::move(turned);
  return small.values;
}

// The largest residual beside its own singular value, of those that are above rounding.
template <class S>
double bluntness(const Triples<S>& triples, double rounding) {
  double worst = 0;
  for (Index i = 0; i < triples.values.size(); ++i) {
    const auto s = static_cast<double>(triples.values(i));
    if (s > rounding) worst = std::max(worst, triples.residuals(i) / s);
  }
  return worst;
}

// Every sign is that of the right vector.
template <class S>
void choose_signs(Triples<S>& triples) {
  const Block<S> before = triples.right;
  canonical_signs<S>(triples.right);
  for (Index j = 0; j < before.cols(); ++j) {
    Index at = 0;
    before.col(j).cwiseAbs().maxCoeff(&at);
    if (before(at, j) != triples.right(at, j)) triples.left.col(j) = -triples.left.col(j);
  }
}

}  // namespace

template <class S>
Triples<S> triples_from(Block<S> X, bool by_rows, const HalfProducts<S>& A, const TripleGoal& goal) {
  // The sides take turns: `rows` says on which X is. They end where they began, so that E is of the side solved.
  const auto product = [&A](bool from_rows, const Block<S>& block) {
    Block<S> out(from_rows ? A.cols : A.rows, block.cols());
    from_rows ? A.multiply_transposed(block, out) : A.multiply(block, out);
    return out;
  };
  Triples<S> triples;
  bool rows = by_rows;
  Block<S> Y = product(rows, X);
  triples.values = decompose<S>(Y, X);
  triples.half_products = 1;
  double best = std::numeric_limits<double>::infinity();
  for (Index in_vain = 0;;) {
    Block<S> T = product(!rows, Y);
    ++triples.half_products;
    const Block<S> E = T - X * triples.values.asDiagonal();
    triples.residuals = E.colwise().norm().transpose().template cast<double>();
    triples.mismatch = static_cast<double>(gram<S>(X, E).norm());
    const double blunt = bluntness(triples, goal.rounding);
    in_vain = blunt < worth_another * best ? 0 : in_vain + 1;
    best = std::min(best, blunt);
    const bool enough = !(blunt > goal.residual) || in_vain >= patience || triples.half_products >= 2 + most_sharpening;
    if (enough && rows == by_rows) break;
    triples.values = decompose<S>(T, Y);
    X = std::exchange(Y, std::move(T));
    rows = !rows;
  }
  triples.left = rows ? std::move(X) : std::move(Y);
  triples.right = rows ? std::move(Y) : std::move(X);
  choose_signs(triples);
  return triples;
}

template Triples<float> triples_from<float>(Block<float>, bool, const HalfProducts<float>&, const TripleGoal&);
template Triples<double> triples_from<double>(Block<double>, bool, const HalfProducts<double>&, const TripleGoal&);

}  // namespace hearsay::detail
