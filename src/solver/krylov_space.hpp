// A block Krylov space, and the relation that everything else is read from:
//   K = [Q_1 ... Q_m],   A Q_m - K K'A Q_m = Q_{m+1} B,   H = K'A K = U Theta U'
//   A K U - K U Theta = Q_{m+1} B (last rows of U): residuals cost no product and no pass over K.
// A Q_m lies in Q_{m-1}, Q_m and Q_{m+1} alone. A full space is restarted with its p leading Ritz vectors in place of K
// (thick restart), or with some from either end, after which the relation holds as before, and the first new block
// meets all of them.
//
// Reference   Wu and Simon (2000); Zhou and Saad (2008) for blocks.
// Careful     All vectors are orthogonalised against all, so that nothing is found twice. A block of w columns finds w
//             copies of an eigenvalue and no more. Columns drawn at random are also what proves that nothing was missed
//             (shadow.hpp).
// Legend      d, p  dimension, columns kept | K  d x n orthonormal | Q  the newest block | B  its triangular factor |
//             H  n x n | theta, U  its eigenvalues and eigenvectors
#pragma once

#include "hearsay/threads.hpp"
#include "linalg/small_spectrum.hpp"
#include "solver/certificate.hpp"
#include "solver/outside.hpp"
#include "solver/shadow.hpp"

namespace hearsay::detail {

template <class S>
class KrylovSpace {
 public:
  /// `orthogonality` is the cosine that is left between a new column and K.
  KrylovSpace(OperatorRef<S> A, const PowerOptions& options, const Known& known, S orthogonality);

  /// Q_1: the columns of `given`, and random ones, at least `beside` of them where they must prove something.
  void start(const Block<S>* given, Index beside);

  /// Takes Q into K, and what its product adds becomes the next Q. False where the product is not finite.
  bool extend();
  /// K holds all that its start can reach: another one, drawn at random.
  void start_afresh();
  /// Q gets as many random columns again.
  void widen();
  /// p Ritz vectors in place of K, so many of them the lowest and the others the leading ones; `shadow` where something
  /// is to be proved later.
  void restart(bool shadow, Index low);
  /// H's eigenvalues, and the norms of the residuals.
  void find_ritz();
  /// K as it was when its Ritz values were last found.
  void forget_since_ritz() { n_ = theta_.size(); }

  /// A few milliseconds' work is done before another thread is awake. For the block that comes next.
  OneThread threads_for_next_block();

  // ---- What there is

  Index d() const { return d_; }
  Index kept() const { return p_; }          ///< p
  Index columns() const { return n_; }       ///< of K
  Index block() const { return Q_.cols(); }  ///< of Q
  Index width() const {
    return width_;
  }                                    ///< columns the block began with or got: copies of an eigenvalue that it finds
  Index blocks() const { return t_; }  ///< made so far
  bool complete() const { return n_ == d_; }
  bool exhausted() const { return exhausted_; }  ///< A K lies in K, to rounding, and Q is not orthonormal
  bool restarted() const { return restarted_; }
  /// Whether the next block does not fit; with the spare ones, which are for the last few blocks.
  bool full(bool with_spare) const { return n_ + Q_.cols() > (with_spare ? K_.cols() : room_) || n_ == d_; }

  const Vector<S>& theta() const { return theta_; }
  const Vector<double>& residuals() const { return residuals_; }
  double noise() const;                        ///< what the asymmetry of the newest part of H betrays
  double largest() const { return largest_; }  ///< magnitude of a Ritz value so far
  const Shadow& shadow() const { return shadow_; }
  Shadow::Space seen_by_shadow(double sign);  ///< of sign * A

  /// out <- the leading Ritz vectors, then the lowest ones, by descending Ritz value.
  void ritz_vectors(Index high, Index low, Block<S>& out);

  int exponent() const { return exponent_; }  ///< products are scaled by 2^-exponent
  int total_exponent() const { return A_.facts().exponent + exponent_; }

  Index products() const { return products_; }
  Index passes() const { return passes_; }
  void count_products(Index products, Index passes) {
    products_ += products;
    passes_ += passes;
  }
  std::int64_t workspace_numbers(Index k) const { return d_ * (K_.cols() + 3 * Q_.cols() + p_ + k); }

  // ---- Rounding, of one column, in the units of theta

  double frobenius_seen() const { return frobenius_; }  ///< ||A||_F, about, by random columns
  double frobenius(Index k) const;                      ///< the same, and at least what k Ritz values say
  /// The most: the sums of a product, the matrix itself rounded to S, and what is left of K in each new column.
  double largest_rounding(Index k) const;
  double unavoidable_rounding(Index k) const;

 private:
  void find_scale();
  void fill_space();
  void show_in_shadow(const Small<S>& along, const Small<S>& R);
  Index capacity();
  const Small<S>& vectors();

  OperatorRef<S> A_;
  const PowerOptions& options_;
  const Known& known_;
  const Index d_, p_;
  const S orthogonality_;
  Outside<S> outside_;
  double lost_ = 0;  // of A K = K H + Q B E', by columns that were rounding
  Block<S> K_, Q_, W_;
  Small<S> H_, B_;
  SmallSpectrum<S> spectrum_;
  Vector<S> theta_;
  Small<S> U_;       // empty until somebody needs it
  Small<double> T_;  // B (last rows of U)
  Vector<double> residuals_;
  Shadow shadow_;
  double largest_ = 0;    // magnitude of a Ritz value
  Index random_ = 0;      // columns drawn so far
  double frobenius_ = 0;  // ||A||_F, about
  int exponent_ = 0;
  double work_ = 0;  // multiply-adds so far
  bool exhausted_ = false, restarted_ = false;
  Index n_ = 0, last_ = 0, met_ = 0;  // columns of K, of them new, and from where on the next product meets them
  Index room_ = 0;                    // columns of K, but for spare ones
  Index width_ = 0;
  Index t_ = 0, products_ = 0, passes_ = 0;
};

}  // namespace hearsay::detail
