#include "decentralized/verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "decentralized/definition.hpp"
#include "hearsay/angles.hpp"
#include "hearsay/error.hpp"
#include "hearsay/gossip.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/random.hpp"

namespace hearsay::detail {
namespace {

constexpr double nothing = -std::numeric_limits<double>::infinity();  // who says it loses every maximum

// Numbers that an agent tells of its residual, and what the root of their mean square is then multiplied by to bound
// the norm: P(chi^2_64 < 64/1.6^2) = 2.4e-6.
constexpr Index most_functionals = 64;
constexpr double safety = 1.6, sketch_failure = 2.5e-6;
constexpr double above_scatter = 1.2;  // of what is no bound

// A residual of so many times the tolerance is on its way there.
constexpr double near = 10;

// So many numbers travel in a message at most, unless one agent's are more.
constexpr Index most_numbers = 4096;

// How far V'V of a basis may be from the identity, and a sine above 1: well above rounding, and far below what would
// make a residual of it mean something else.
constexpr double rounding = 1e-8;

// A maximum is the largest word, whoever said it: what comes from a peer that is not what it should be is no basis, or
// not what its owner said.
void require_basis(const Answer& common) {
  const Small<double> gram = common.V.transpose() * common.V;
  const double off = (gram - Small<double>::Identity(gram.rows(), gram.cols())).norm();
  if (!(off <= rounding))
    throw DataError(fmt::format("the common basis of the agents has V'V - I of norm {}: must be orthonormal", off));
  for (const double value : common.theta)
    if (!std::isfinite(value))
      throw DataError(fmt::format("the common basis of the agents has the Ritz value {}: must be finite", value));
}

using Words = Eigen::Ref<const Eigen::RowVectorXd>;
void require_own_words(Index agent, const Words& told, const Words& heard) {
  if (!told.allFinite() || told == heard) return;
  throw DataError(fmt::format("what is heard of agent {} about the common basis is not what it told", agent));
}

}  // namespace

void Verifier::flood(Block<double>& votes) const { agree_on_maximum(net_, votes); }

// The first member's answer becomes everyone's.
void Verifier::share(const std::vector<Index>& members, const std::vector<Index>& present,
                     const std::function<Answer(Index)>& own) {
  const Index d = method_.d, k = method_.k;
  Block<double> votes = Block<double>::Constant(net_.local_agents(), d * k + k + 1, nothing);
  for (const Index i : present) {
    if (net_.agent(i) != members.front()) continue;
    const Answer answer = own(i);
    votes.row(i).head(d * k) = answer.V.reshaped<Eigen::RowMajor>().transpose();
    votes.row(i).segment(d * k, k) = answer.theta.transpose();
    if (!std::isnan(answer.next)) votes(i, d * k + k) = answer.next;
  }
  const Block<double> told = votes;
  flood(votes);
  const auto heard = votes.row(present.front());
  Answer& common = last_.common;
  common.V = heard.head(d * k).reshaped<Eigen::RowMajor>(d, k);
  common.theta = heard.segment(d * k, k).transpose();
  const double next = heard(d * k + k);
  common.next = next == nothing ? std::numeric_limits<double>::quiet_NaN() : next;
  require_basis(common);
  for (const Index i : present)
    if (net_.agent(i) == members.front())
      require_own_words(net_.agent(i), told.row(i).head(d * k + k), votes.row(i).head(d * k + k));
}

Verifier::Maxima Verifier::compare(const Answer& own, double resolution) const {
  const Answer& common = last_.common;
  const Index m = defined_part(common.theta, common.next, resolution, tolerance_, method_.d, method_.nonnegative).rank;
  const Block<double> weighted = own.V * own.theta.asDiagonal();
  const double scale = own.theta.norm();
  return {.apart = m > 0 ? sin_theta<double>(common.V.leftCols(m), own.V.leftCols(m)) : 0,
          .disagreement = scale > 0 ? (weighted - common.V * (common.V.transpose() * weighted)).norm() / scale : 0,
          .tracking = (own.theta - common.theta).norm()};
}

bool Verifier::is_sketched() const { return method_.d * method_.k > most_functionals; }

Index Verifier::told_functionals() const { return std::min(method_.d * method_.k, most_functionals); }

Index Verifier::told_numbers() const {
  return (tells_error() ? 2 : 1) * told_functionals() + method_.k * (method_.k + 1) / 2;
}

// Column i over theta_i - theta_{k+1}.
Block<double> Verifier::over_gaps(const Block<double>& R) const {
  const Vector<double>& theta = last_.common.theta;
  const double next = theta(method_.k - 1) - gap_;
  return R * (theta.array() - next).max(gap_).inverse().matrix().asDiagonal();
}

Vector<double> Verifier::functionals(const Block<double>& R) const {
  const auto entries = R.reshaped<Eigen::RowMajor>();
  if (Omega_.size() == 0) return entries;
  return Omega_ * entries;
}

// What each agent here tells: functionals of its residual, the lower triangle of V'A_i V, functionals of what its
// residual means for the error, and its maxima last.
Block<double> Verifier::to_be_told(const std::vector<Index>& present, const std::function<Answer(Index)>& own,
                                   double resolution) const {
  const Index k = method_.k, q = told_functionals();
  const Block<double>& V = last_.common.V;
  Block<double> told(net_.local_agents(), told_numbers() + 3);
  for (const Index i : present) {
    Block<double> AV(method_.d, k);
    A_[static_cast<std::size_t>(i)].apply(V, AV);
    const Maxima largest = compare(own(i), resolution);
    const Small<double> H = V.transpose() * AV;
    const Block<double> R = AV - V * H;
    told.row(i).head(q) = functionals(R).transpose();
    if (tells_error()) told.row(i).segment(told_numbers() - q, q) = functionals(over_gaps(R)).transpose();
    for (Index a = 0, place = q; a < k; ++a)
      for (Index b = 0; b <= a; ++b, ++place) told(i, place) = (H(a, b) + H(b, a)) / 2;
    told.row(i).tail<3>() << largest.apart, largest.disagreement, largest.tracking;
  }
  return told;
}

// The mean of what the members told, in their order, and the largest of their maxima.
Verifier::Heard Verifier::hear(const std::vector<Index>& members, const std::vector<Index>& present,
                               const Block<double>& told) const {
  const auto n = static_cast<Index>(members.size());
  const Index width = told_numbers(), at_once = std::max<Index>(1, most_numbers / width);
  Vector<double> sum = Vector<double>::Zero(width);
  Maxima largest;
  const auto place_of = [&](Index i) -> Index {
    return std::lower_bound(members.begin(), members.end(), net_.agent(i)) - members.begin();
  };
  for (Index first = 0; first < n; first += at_once) {
    const Index count = std::min(at_once, n - first);
    Block<double> votes = Block<double>::Constant(net_.local_agents(), count * width + 3, nothing);
    for (const Index i : present) {
      votes.row(i).tail<3>() = told.row(i).tail<3>();
      const Index place = place_of(i) - first;
      if (place >= 0 && place < count) votes.row(i).segment(place * width, width) = told.row(i).head(width);
    }
    const Block<double> said = votes;
    flood(votes);
    for (const Index i : present) {
      const Index place = place_of(i) - first;
      if (place >= 0 && place < count)
        require_own_words(net_.agent(i), said.row(i).segment(place * width, width),
                          votes.row(i).segment(place * width, width));
    }
    const auto heard = votes.row(present.front());
    for (Index j = 0; j < count; ++j) sum += heard.segment(j * width, width).transpose();
    largest = {
        .apart = heard(count * width), .disagreement = heard(count * width + 1), .tracking = heard(count * width + 2)};
  }
  if (largest.apart > 1 + rounding)
    throw DataError(fmt::format("the spread of the agents is {}: must lie in [0, 1]", largest.apart));
  largest.apart = std::min(1.0, largest.apart);
  return {.mean = sum / static_cast<double>(n), .largest = largest};
}

// How much too far from lambda_{k+1} the first member took its Ritz values to be, by everyone's: the error was divided
// by that. The gap at k is not his alone.
double Verifier::gaps_overstated(const Vector<double>& values) const {
  const Vector<double>& theta = last_.common.theta;
  const Index k = method_.k;
  double most = 1;
  for (Index i = 0; i < k; ++i) {
    const double taken = std::max(theta(i) - theta(k - 1) + gap_, gap_);
    const double found = std::max(values(i) - values(k - 1) + gap_, gap_);
    most = std::max(most, taken / found);
  }
  return most;
}

// Turns the common basis to the Ritz vectors of everyone's A, and says what it is worth: nothing, where a word is not
// finite, or missing.
void Verifier::conclude(const Heard& heard) {
  const Index k = method_.k, q = told_functionals();
  const Vector<double>& mean = heard.mean;
  if (!std::isfinite(mean.squaredNorm() + heard.largest.disagreement + heard.largest.tracking)) return;
  Small<double> H(k, k);
  for (Index a = 0, place = q; a < k; ++a)
    for (Index b = 0; b <= a; ++b, ++place) H(a, b) = H(b, a) = mean(place);
  const SmallEigen<double> ritz = symmetric_eigen<double>(H);
  const double scale = ritz.values.norm();
  const double outside =
      is_sketched() ? safety * mean.head(q).norm() / std::sqrt(static_cast<double>(q)) : mean.head(q).norm();
  const auto relative = [&](double number) { return scale > 0 ? number / scale : number == 0 ? 0 : 1; };

  if (tells_error())
    last_.error = mean.tail(q).norm() * (is_sketched() ? above_scatter / std::sqrt(static_cast<double>(q)) : 1) *
                  gaps_overstated(ritz.values);
  Verification& verification = last_.told;
  verification.evidence = Knowledge::bound;
  verification.residual = relative(outside);
  verification.failure_probability = is_sketched() ? sketch_failure : 0;
  verification.apart = heard.largest.apart;
  verification.tracking_error = relative(heard.largest.tracking + (last_.common.theta - ritz.values).norm());
  last_.disagreement = heard.largest.disagreement;
  last_.common.V = (last_.common.V * ritz.vectors).eval();
  canonical_signs<double>(last_.common.V);
  last_.common.theta = ritz.values;
}

const Verified& Verifier::verify(const std::vector<Index>& members, const std::vector<Index>& present,
                                 const std::function<Answer(Index)>& own, double resolution, double gap) {
  gap_ = gap;
  last_.error = std::numeric_limits<double>::quiet_NaN();
  const Traffic before = net_.traffic();
  last_.told = {.attempts = last_.told.attempts + 1, .traffic = last_.told.traffic};
  last_.disagreement = std::numeric_limits<double>::quiet_NaN();
  share(members, present, own);
  if (is_sketched()) {
    Omega_.resize(told_functionals(), method_.d * method_.k);
    fill_normal<double>(
        {.seed = seed_, .stream = Stream::verification, .iteration = static_cast<std::uint32_t>(last_.told.attempts)},
        Omega_);
  }
  conclude(hear(members, present, to_be_told(present, own, resolution)));
  const Traffic now = net_.traffic();
  Traffic& traffic = last_.told.traffic;
  traffic.control_rounds += now.control_rounds - before.control_rounds;
  traffic.messages += now.messages - before.messages;
  traffic.bytes += now.bytes - before.bytes;
  return last_;
}

// Two invariant subspaces that differ are a right angle apart, so that any sine well below one tells members of one
// answer from members of two. The root of the tolerance, far below one, is what residuals of the tolerance's size leave
// between them wherever the gap is above that root.
bool Verifier::nearly_holds() const {
  const Verification& told = last_.told;
  const double alike = std::sqrt(tolerance_);
  return told.evidence == Knowledge::bound && told.residual <= near * tolerance_ && told.apart <= alike &&
         told.tracking_error <= alike;
}

}  // namespace hearsay::detail
