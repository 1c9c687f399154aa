// What a run is summed up by: how far the agents are apart, and a digest of what they hold.
#include "decentralized/definition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "decentralized/scaling.hpp"
#include "hearsay/angles.hpp"
#include "hearsay/decentralized.hpp"

namespace hearsay {
namespace {

constexpr std::size_t most_for_all_pairs = 64;

// FNV-1a (Fowler, Noll, Vo), 64 bits, byte by byte.
class Fnv {
 public:
  template <class T>
  void add(T value) {
    unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    for (const unsigned char byte : bytes) hash_ = (hash_ ^ byte) * 0x100000001b3ull;
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325ull;
};

// Eigenvalues closer than so many times sqrt(d) units of rounding, relative to the norm of all k, are as good as equal.
constexpr double rounding_units = 8;

// Agents whose eigenvalues differ by more than this, or the root of the tolerance, do not speak of the same matrix.
constexpr double alike = 1e-6;

double eigenvalue_agreement(const DecentralizedResult& result) {
  double scale = 0;
  Eigen::RowVectorXd least, most;
  for (std::size_t i = 0; i < result.bases.size(); ++i) {
    if (result.bases[i].size() == 0) continue;
    const auto theta = result.eigenvalues.row(static_cast<Index>(i));
    least = least.size() == 0 ? theta.eval() : least.cwiseMin(theta).eval();
    most = most.size() == 0 ? theta.eval() : most.cwiseMax(theta).eval();
    scale = std::max(scale, theta.norm());
  }
  return scale > 0 ? (most - least).norm() / scale : 0;
}

constexpr std::string_view eigenvalues_differ = "the agents' eigenvalues differ",
                           not_defined = "not defined:", had_risen = "residual and disagreement had risen to",
                           not_alike = "the agents speak of different matrices: their eigenvalues differ";

// Votes are counted some steps after they were cast. What has grown to so many times the tolerance since then is not at
// rest.
constexpr double risen = 10;

// Agents that have all come to rest, and lie farther apart than this, rest on what is not defined.
constexpr double credible = 0.1;

// Whether the k-th eigenvalue is zero to the tolerance at some agent, as far as its eigenvalues are known.
bool last_is_zero_somewhere(const DecentralizedResult& result, double tolerance) {
  const double level = std::max({tolerance, result.eigenvalue_agreement, result.residual});
  for (std::size_t i = 0; result.nonnegative && i < result.bases.size(); ++i) {
    if (result.bases[i].size() == 0) continue;
    const auto theta = result.eigenvalues.row(static_cast<Index>(i));
    if (!(theta(theta.size() - 1) > level * theta.norm())) return true;
  }
  return false;
}

std::vector<Block<double>> leading_columns(const DecentralizedResult& result, Index rank) {
  std::vector<Block<double>> leading;
  for (const Block<double>& basis : result.bases)
    if (basis.size() > 0) leading.emplace_back(basis.leftCols(rank));
  return leading;
}

// The most leading eigenvectors on which they agree.
Index alike_rank(const DecentralizedResult& result) {
  for (Index rank = result.eigenvalues.cols() - 1; rank > 0; --rank)
    if (basis_agreement(leading_columns(result, rank)) <= credible) return rank;
  return 0;
}

// A run that converged by its votes and was not at rest, or whose agents contradict each other, has not converged.
void take_back_what_did_not_last(DecentralizedResult& result, double tolerance) {
  const bool measured = result.evidence == Knowledge::bound;
  if (result.status == Status::converged && !(std::max(result.residual, result.disagreement) <= risen * tolerance) &&
      !measured) {
    result.status = Status::noise_floor;
    result.notes.push_back(fmt::format("{} {:.2g} by the time the votes for the end were counted", had_risen,
                                       std::max(result.residual, result.disagreement)));
  }
  if (result.status == Status::converged && !(result.eigenvalue_agreement <= credible) &&
      !measured) {  // nothing can be said of which of them are zero, or equal
    result.status = Status::noise_floor;
    result.notes.push_back(fmt::format("{} by {:.2g} of their norm", not_alike, result.eigenvalue_agreement));
  }
}

// Of the agents that define fewest eigenvectors, the first.
detail::Definition least_definition(const DecentralizedResult& result, double tolerance) {
  const bool differ = result.eigenvalue_agreement > std::max(std::sqrt(tolerance), alike);
  const double resolution =
      result.status != Status::converged
          ? 0
          : std::max(std::fmax(result.residual, result.disagreement), differ ? result.eigenvalue_agreement : 0.0);
  detail::Definition least{.rank = result.eigenvalues.cols()};
  for (std::size_t i = 0; i < result.bases.size(); ++i) {
    const auto row = static_cast<Index>(i);
    if (result.bases[i].size() == 0 || !result.eigenvalues.row(row).allFinite()) continue;
    const detail::Definition own =
        detail::defined_part(result.eigenvalues.row(row).transpose(), result.next_eigenvalue(row), resolution,
                             tolerance, result.bases[i].rows(), result.nonnegative);
    if (own.rank < least.rank) least = own;
  }
  return least;
}

std::string definition_note(const DecentralizedResult& result, Index k) {
  const UndefinedPart& cluster = result.cluster;
  const std::string why =
      cluster.zero ? fmt::format("eigenvalues {} to {} are zero to {:.1g}", cluster.first, cluster.last, cluster.width)
                   : fmt::format("eigenvalues {} to {}, and perhaps more, cannot be told apart to {:.1g}",
                                 cluster.first, cluster.last, cluster.width);
  const std::string rest = cluster.first == k ? fmt::format("eigenvector {} is", k)
                                              : fmt::format("eigenvectors {} to {} are", cluster.first, k);
  if (result.defined_rank == 0) return fmt::format("{} {} {}", rest, not_defined, why);
  return fmt::format(
      "{} {} {}; the leading {} are, and agree to {:.2g} between the agents{}", rest, not_defined, why,
      result.defined_rank, result.defined_agreement,
      result.evidence == Knowledge::bound ? "" : ", but how near they are to the data's was not measured");
}

}  // namespace

detail::Definition detail::defined_part(const Vector<double>& theta, double next, double resolution, double tolerance,
                                        Index d, bool nonnegative) {
  const Index k = theta.size();
  if (k == d) return {.rank = k};
  const double rounding = rounding_units * std::numeric_limits<double>::epsilon() * std::sqrt(static_cast<double>(d));
  double width = std::max(resolution, rounding);
  const bool zero = nonnegative && !(theta(k - 1) > std::max(width, tolerance) * theta.norm());
  if (zero) width = std::max(width, tolerance);
  const double level = width * theta.norm();
  if (nonnegative) next = std::fmax(next, 0.0);  // where it is not known, the gap is at most theta_k
  if (std::isnan(next) || theta(k - 1) - next > level) return {.rank = k};
  Index rank = k - 1;
  while (rank > 0 && !(theta(rank - 1) - theta(rank) > level)) --rank;
  return {.rank = rank, .cluster = {.first = rank + 1, .last = zero ? d : k + 1, .zero = zero, .width = width}};
}

void detail::forget_definition(DecentralizedResult& result) {
  const auto had = std::erase_if(
      result.notes, [](const std::string& note) { return note.starts_with(had_risen) || note.starts_with(not_alike); });
  std::erase_if(result.notes, [](const std::string& note) {
    return note.starts_with(eigenvalues_differ) || note.find(not_defined) != std::string::npos;
  });
  if (result.status == Status::ambiguous || had > 0) result.status = Status::converged;
}

void detail::judge_definition(DecentralizedResult& result, double tolerance) {
  const Index k = result.eigenvalues.cols();
  result.eigenvalue_agreement = eigenvalue_agreement(result);
  result.defined_rank = k;
  result.defined_agreement = result.agreement;
  result.cluster = {};
  take_back_what_did_not_last(result, tolerance);
  const bool apart = result.status == Status::converged && !(result.agreement <= credible);
  // Gossip keeps noise out of the subspace, and not out of what happens within it.
  if (result.status == Status::converged && !(result.eigenvalue_agreement <= std::max(std::sqrt(tolerance), alike))) {
    result.notes.push_back(
        fmt::format("{} by {:.2g} of their norm: they do not tell which eigenvectors the data define",
                    eigenvalues_differ, result.eigenvalue_agreement));
    if (!apart && !last_is_zero_somewhere(result, tolerance)) return;
  }
  Definition least = least_definition(result, tolerance);
  if (least.rank == k && apart) {  // no gap was looked for, and there is none
    least.rank = alike_rank(result);
    least.cluster = {.first = least.rank + 1, .last = k + 1};
  }
  result.defined_rank = least.rank;
  result.cluster = least.cluster;
  if (least.rank == k) return;
  result.defined_agreement = least.rank > 0 ? basis_agreement(leading_columns(result, least.rank)) : 0;
  if (result.status == Status::converged) result.status = Status::ambiguous;
  result.notes.push_back(definition_note(result, k));
}

void detail::multiply_by_power(DecentralizedResult& result, int exponent) {
  const auto scaled = [exponent](double theta) { return std::ldexp(theta, exponent); };
  result.eigenvalues = result.eigenvalues.unaryExpr(scaled).eval();
  result.next_eigenvalue = result.next_eigenvalue.unaryExpr(scaled).eval();
}

void detail::unscale_or_tell(DecentralizedResult& result) {
  const int exponent = result.exponent;
  if (exponent == 0) return;
  for (Index i = 0; i < result.eigenvalues.rows(); ++i) {
    if (!result.eigenvalues.row(i).allFinite()) continue;  // of an agent that is gone
    const double first = result.eigenvalues(i, 0), own = std::ldexp(first, exponent);
    if (std::isfinite(own) && (first == 0 || std::abs(own) >= std::numeric_limits<double>::min())) continue;
    result.notes.push_back(fmt::format(
        "the eigenvalues lie outside the range of the number type: they are given divided by 2^{}", exponent));
    return;
  }
  multiply_by_power(result, exponent);
  result.exponent = 0;
}

std::string detail::floor_note(double agreement, Index rounds) {
  return fmt::format("each agent came to rest, {:.2g} apart from the others: {} rounds an iteration allow no more",
                     agreement, rounds);
}

const char* name(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::depm:
      return "depm";
    case Algorithm::adepm:
      return "adepm";
    case Algorithm::deepca:
      return "deepca";
    case Algorithm::adeepca:
      return "adeepca";
  }
  return "unknown";
}

double basis_agreement(std::span<const Block<double>> bases) {
  double largest = 0, second = 0;
  if (bases.size() <= most_for_all_pairs) {
    for (std::size_t i = 0; i < bases.size(); ++i)
      for (std::size_t j = i + 1; j < bases.size(); ++j)
        largest = std::max(largest, sin_theta<double>(bases[i], bases[j]));
    return largest;
  }
  for (const Block<double>& basis : bases.subspan(1)) {
    const double sine = sin_theta<double>(bases.front(), basis);
    second = std::max(second, std::min(sine, largest));
    largest = std::max(largest, sine);
  }
  return std::min(1.0, largest + second);
}

std::uint64_t digest_of(const Block<double>& block) {
  Fnv hash;
  hash.add(static_cast<std::int64_t>(block.rows()));
  hash.add(static_cast<std::int64_t>(block.cols()));
  for (Index i = 0; i < block.rows(); ++i)
    for (Index j = 0; j < block.cols(); ++j) hash.add(block(i, j));
  return hash.value();
}

std::uint64_t digest_of(std::span<const std::uint64_t> digests) {
  Fnv hash;
  for (const std::uint64_t digest : digests) hash.add(digest);
  return hash.value();
}

}  // namespace hearsay
