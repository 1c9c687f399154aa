// What a Krylov space proves about the eigenvalues it does not show.
//
//   A K = K H + Q B E'   gives, for every eigenvector u of A with eigenvalue mu,   K'u = (mu - H)^{-1} E B' Q'u.
//
// So the shadow Omega'u that u casts on the random columns Omega, from which K grew, is Lambda(mu) K'u with a small
// matrix Lambda that is known. A random column shows every direction by the laws of chance; where the right-hand side
// is smaller than that, there is no such eigenvalue, and near c Ritz values there are at most c.
//
// A restart keeps p Ritz vectors: K_old'u is then the kept part of K_new'u, and, for the Ritz vectors that were let go,
// (mu - theta)^{-1} B' Q'u again; all of those lie well inside of the eigenvalues that are asked about. Random columns
// that join later add rows to Lambda.
#pragma once

#include <functional>
#include <vector>

#include "solver/certificate.hpp"

namespace hearsay::detail {

class Shadow {
 public:
  /// Random columns as combinations of K and the block that follows it: Omega = [K Q] rows'.
  void add_columns(const Small<double>& rows);

  /// K with eigenpairs (theta, U) of H, in any order, and T = B (last rows of U) gives way to its first `kept` Ritz
  /// vectors, then Q.
  void restart(const Vector<double>& theta, const Small<double>& U, const Small<double>& T, Index kept);

  Index columns() const { return columns_; }

  /// The space as it is now; of -A where the sign is -1, to ask about the low end: theta are then its Ritz values, and
  /// T and the vectors stand in their order.
  struct Space {
    double sign = 1;
    Vector<double> theta;
    Small<double> T;
    std::function<Small<double>(const Small<double>&)> times_vectors;  ///< M -> M U
    std::function<Small<double>()> vectors;                            ///< U, which a space that was restarted needs
    double error = 0;  ///< of the relation A K = K H + Q B E', in the units of A
  };

  struct Proof {
    Statement proved;       ///< what is proved, at most what was asked for
    bool complete = false;  ///< all of it is
    bool too_few = false;  ///< as many Ritz values agree as there are random columns, or more: no number of steps helps
  };

  /// Whether at most q eigenvalues lie above x, theta_{q+1} < x < theta_q.
  Proof prove(const Space& space, Index q, double x) const;

 private:
  struct Cycle {
    Vector<double> theta;
    Block<double> U;
    Small<double> T;
    Index kept;
  };
  struct Columns {
    std::size_t cycle;
    Small<double> rows;
  };

  class Question;

  Small<double> lambda(double mu) const;

  std::vector<Cycle> cycles_;
  std::vector<Columns> added_;
  Index columns_ = 0;
};

}  // namespace hearsay::detail
