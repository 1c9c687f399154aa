// One basis for everyone, and what it is worth.
//
// An agent that hears nobody is at rest: its block is what gossip made of it, its residual is that of its own data, and
// nothing it can measure tells it from one that has converged. So where messages got lost nobody is believed before the
// members have told each other, by flooding, until each has heard of each:
//
//   1  the first member's answer V with its Ritz values, to all of them;
//   2  from every member j   (I - VV') A_j V, whole or as Gaussian functionals of it, and V'A_j V; the sine between V
//                            and its own answer; how far its own Ritz values are from the first's.
//
// The products are fresh, so that their mean is A V whatever became of the trackers, and ||(I - VV') A V||_F is that of
// the sum of what was told. V is turned to be the Ritz vectors of V'A V. Of q functionals it is at most f sqrt(sum of
// squares / q), but for the probability that chi^2_q < q / f^2. All members sum the same numbers in the same order, and
// come to the same conclusion.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "decentralized/agents.hpp"
#include "hearsay/decentralized.hpp"
#include "hearsay/network.hpp"

namespace hearsay::detail {

/// An answer as one agent has it.
struct Answer {
  Block<double> V;       // d x k
  Vector<double> theta;  // k
  double next = std::numeric_limits<double>::quiet_NaN();
};

struct Verified {
  Answer common;  ///< Ritz vectors and values of everyone's A
  Verification told;
  /// The largest ||(I - VV') V_i Theta_i||_F / ||Theta_i||_F.
  double disagreement = std::numeric_limits<double>::quiet_NaN();
  /// ||(I - VV') A V (Theta - theta_{k+1} I)^{-1}||_F of the common basis, which bounds its sin(theta): itself, or
  /// where it was sketched a fifth more than what the functionals tell, of which their scatter is 0.09. NaN without a
  /// gap.
  double error = std::numeric_limits<double>::quiet_NaN();
};

class Verifier {
 public:
  Verifier(NetworkRef net, std::span<const OperatorRef<double>> A, const Method& method, double tolerance,
           std::uint64_t seed)
      : net_(net), A_(A), method_(method), tolerance_(tolerance), seed_(seed) {}

  /// Of own(i), the answer of the agent in place i here, for those present; a relative residual of this size is what
  /// can be resolved. With a gap, which must be the same everywhere, the error is told of too. Throws
  /// CommunicationError where members cannot hear of each other, DataError where what is heard was never told.
  const Verified& verify(const std::vector<Index>& members, const std::vector<Index>& present,
                         const std::function<Answer(Index)>& own, double resolution, double gap = 0);

  const Verified& last() const { return last_; }

  /// Whether the last one shows an answer to the tolerance that is everyone's; or one that a few steps more may make
  /// so.
  bool holds() const { return nearly_holds() && last_.told.residual <= tolerance_; }
  bool nearly_holds() const;

 private:
  struct Maxima {
    double apart = 0, disagreement = 0, tracking = 0;
  };

  struct Heard {
    Vector<double> mean;
    Maxima largest;
  };

  void flood(Block<double>& votes) const;
  void share(const std::vector<Index>& members, const std::vector<Index>& present,
             const std::function<Answer(Index)>& own);
  Maxima compare(const Answer& own, double resolution) const;
  bool is_sketched() const;
  Index told_functionals() const;
  bool tells_error() const { return gap_ > 0; }
  Block<double> over_gaps(const Block<double>& R) const;
  double gaps_overstated(const Vector<double>& values) const;
  Index told_numbers() const;  // by an agent, less its maxima
  Vector<double> functionals(const Block<double>& R) const;
  Block<double> to_be_told(const std::vector<Index>& present, const std::function<Answer(Index)>& own,
                           double resolution) const;
  Heard hear(const std::vector<Index>& members, const std::vector<Index>& present, const Block<double>& told) const;
  void conclude(const Heard& heard);

  NetworkRef net_;
  std::span<const OperatorRef<double>> A_;
  const Method& method_;
  double tolerance_;
  std::uint64_t seed_;
  double gap_ = 0;       // theta_k - theta_{k+1}; 0 where nobody asks
  Block<double> Omega_;  // functionals x (d k), where there are fewer of them
  Verified last_;
};

}  // namespace hearsay::detail
