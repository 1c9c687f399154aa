#include "instances.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace hearsay::adversary {
namespace {

struct Spectrum {
  std::string name;
  std::vector<double> values;
  Index k;
};

// n eigenvalues 1 + delta j over a rest at one level, or sloping down from it; k inside the cluster, at its end, or
// beyond.
Spectrum cluster(Dice& dice, Index d) {
  const Index n = dice.from(5, std::min<Index>(31, d / 2));
  const double delta = dice.power_of_ten(-13, -1), rest = dice.one_of({0.0, 0.3, 0.6, 0.9, 0.99});
  const bool slopes = dice.chance(0.5);
  std::vector<double> values;
  for (Index j = n; j-- > 0;) values.push_back(1 + delta * static_cast<double>(j));
  for (Index i = n; i < d; ++i) values.push_back(slopes ? rest * std::pow(0.97, static_cast<double>(i - n)) : rest);
  return {"cluster", values, dice.chance(0.7) ? dice.from(1, n - 1) : dice.chance(0.5) ? n : dice.from(n, n + 4)};
}

// Equal eigenvalues, in as many groups as fit, of up to 40.
Spectrum multiple(Dice& dice, Index d) {
  std::vector<double> values;
  std::vector<Index> ends;
  double level = 1;
  while (static_cast<Index>(values.size()) < d) {
    const Index n = dice.chance(0.5) ? dice.from(1, 40) : dice.from(1, 4);
    for (Index j = 0; j < n && static_cast<Index>(values.size()) < d; ++j) values.push_back(level);
    ends.push_back(static_cast<Index>(values.size()));
    level *= dice.between(0.2, 0.97);
  }
  Index k = ends[static_cast<std::size_t>(dice.from(0, std::min<Index>(2, static_cast<Index>(ends.size()) - 1)))];
  if (dice.chance(0.3)) k += dice.from(-2, 2);
  return {"multiple", values, std::clamp<Index>(k, 1, std::min<Index>(d - 1, 45))};
}

// Any decay, with one gap at k, from plain to below rounding.
Spectrum gap_at_k(Dice& dice, Index d) {
  const Index k = dice.from(1, 14);
  const double gap = dice.power_of_ten(-17, -0.5), pace = dice.between(0.7, 0.999);
  std::vector<double> values;
  double level = 1;
  for (Index i = 0; i < d; ++i) {
    values.push_back(level);
    level = i + 1 == k ? level * (1 - gap) : i + 1 > k || dice.chance(0.5) ? level * pace : level;
  }
  return {"gap at k", values, k};
}

Spectrum geometric(Dice& dice, Index d) {
  const double pace = dice.between(0.05, 0.99);
  std::vector<double> values;
  for (Index i = 0; i < d; ++i) values.push_back(std::pow(pace, static_cast<double>(i)));
  return {"geometric", values, dice.from(1, 20)};
}

Spectrum power_law(Dice& dice, Index d) {
  const double exponent = dice.between(0.2, 3);
  std::vector<double> values;
  for (Index i = 1; i <= d; ++i) values.push_back(std::pow(static_cast<double>(i), -exponent));
  return {"power law", values, dice.from(1, 30)};
}

Spectrum deficient(Dice& dice, Index d) {
  const Index rank = dice.from(0, 20);
  std::vector<double> values(static_cast<std::size_t>(d), 0.0);
  for (Index i = 0; i < rank; ++i) values[static_cast<std::size_t>(i)] = dice.between(0.1, 1);
  std::sort(values.rbegin(), values.rend());
  return {"rank deficient", values, dice.chance(0.4) && rank > 0 ? rank : dice.from(1, 24)};
}

// Random values; some pairs close, some far.
Spectrum scattered(Dice& dice, Index d) {
  std::vector<double> values;
  for (Index i = 0; i < d; ++i)
    values.push_back(dice.chance(0.3) && i > 0 ? values.back() * (1 - dice.power_of_ten(-12, -1)) : dice.between(0, 1));
  std::sort(values.rbegin(), values.rend());
  return {"scattered", values, dice.from(1, 25)};
}

// Positive but for a part below zero, large or at rounding.
Spectrum negative(Dice& dice, Index d) {
  Spectrum spectrum = dice.chance(0.5) ? geometric(dice, d) : cluster(dice, d);
  const double depth = dice.power_of_ten(-16, 0);
  for (Index i = d - dice.from(1, d / 4); i < d; ++i)
    spectrum.values[static_cast<std::size_t>(i)] = -depth * dice.between(0.5, 1);
  std::sort(spectrum.values.rbegin(), spectrum.values.rend());
  spectrum.name = "negative part";
  spectrum.k = std::min<Index>(spectrum.k, 20);
  return spectrum;
}

Spectrum draw_positive(Dice& dice, Index d) {
  switch (dice.from(0, 9)) {
    case 0:
    case 1:
      return cluster(dice, d);
    case 2:
    case 3:
      return multiple(dice, d);
    case 4:
    case 5:
      return gap_at_k(dice, d);
    case 6:
      return dice.chance(0.5) ? geometric(dice, d) : power_law(dice, d);
    case 7:
      return deficient(dice, d);
    case 8:
      return scattered(dice, d);
    default:
      return negative(dice, d);
  }
}

// Any of these moved down, with signs drawn at random, or with some of the leading ones met by their negatives, exactly
// or nearly.
Spectrum draw_spectrum(Dice& dice, Index d) {
  Spectrum spectrum = draw_positive(dice, d);
  if (!dice.chance(0.4)) return spectrum;
  std::vector<double>& values = spectrum.values;
  const double largest = *std::max_element(values.begin(), values.end());
  switch (dice.from(0, 2)) {
    case 0: {
      const double down = largest * dice.one_of({0.1, 0.5, 0.9, 1.0, 1.5});
      for (double& value : values) value -= down;
      spectrum.name = "moved down";
      break;
    }
    case 1: {
      const double share = dice.between(0.05, 0.95);
      for (double& value : values)
        if (dice.chance(share)) value = -value;
      spectrum.name = "random signs";
      break;
    }
    default: {
      const Index pairs = std::min(dice.from(1, 20), d / 2);
      for (Index i = 0; i < pairs; ++i)
        values[static_cast<std::size_t>(d - 1 - i)] =
            -values[static_cast<std::size_t>(i)] *
            (dice.chance(0.5) ? 1 : 1 + dice.one_of({-1.0, 1.0}) * dice.power_of_ten(-16, -1));
      spectrum.name = "met by negatives";
    }
  }
  std::sort(values.rbegin(), values.rend());
  return spectrum;
}

Block<double> random_orthogonal(Dice& dice, Index d) {
  Small<double> G(d, d);
  for (Index j = 0; j < d; ++j)
    for (Index i = 0; i < d; ++i) G(i, j) = dice.normal();
  return Eigen::HouseholderQR<Small<double>>(G).householderQ() * Small<double>::Identity(d, d);
}

Block<double> hadamard(Index d) {  // d a power of two
  Block<double> H(d, d);
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j < d; ++j)
      H(i, j) = (__builtin_popcountll(static_cast<unsigned long long>(i & j)) & 1) != 0 ? -1 : 1;
  return H / std::sqrt(static_cast<double>(d));
}

// Rotations in small blocks of coordinates: eigenvectors that live on a few entries.
Block<double> localized(Dice& dice, Index d) {
  Block<double> U = Block<double>::Zero(d, d);
  for (Index first = 0; first < d;) {
    const Index size = std::min(d - first, dice.from(1, 6));
    U.block(first, first, size, size) = random_orthogonal(dice, size);
    first += size;
  }
  Eigen::PermutationMatrix<Eigen::Dynamic> order(d);
  order.setIdentity();
  for (Index i = d - 1; i > 0; --i) std::swap(order.indices()(i), order.indices()(dice.from(0, i)));
  return U * order;
}

// The same, of any size, without a dense product: eigenvalues scattered over blocks of coordinates.
Block<double> scattered_in_blocks(Dice& dice, std::vector<double> values, Index largest_block) {
  const auto d = static_cast<Index>(values.size());
  std::vector<Index> place(values.size());
  for (Index i = 0; i < d; ++i) place[static_cast<std::size_t>(i)] = i;
  for (Index i = d - 1; i > 0; --i) {
    std::swap(values[static_cast<std::size_t>(i)], values[static_cast<std::size_t>(dice.from(0, i))]);
    std::swap(place[static_cast<std::size_t>(i)], place[static_cast<std::size_t>(dice.from(0, i))]);
  }
  Block<double> A = Block<double>::Zero(d, d);
  for (Index first = 0; first < d;) {
    const Index size = std::min(d - first, dice.from(1, largest_block));
    const Block<double> U = size == 1 ? Block<double>::Identity(1, 1) : random_orthogonal(dice, size);
    const Vector<double> part = Eigen::Map<const Vector<double>>(values.data() + first, size);
    const Block<double> block = U * part.asDiagonal() * U.transpose();
    for (Index i = 0; i < size; ++i)
      for (Index j = 0; j < size; ++j)
        A(place[static_cast<std::size_t>(first + i)], place[static_cast<std::size_t>(first + j)]) =
            (block(i, j) + block(j, i)) / 2;
    first += size;
  }
  return A;
}

// One in so many is large.
constexpr Index one_large_in = 50;

Instance large_instance(Dice& dice) {
  const Index d = dice.from(300, 1500);
  const Spectrum spectrum = draw_spectrum(dice, d);
  const bool coordinate = dice.chance(0.5);
  Instance instance;
  instance.spectrum = spectrum.name;
  instance.vectors = coordinate ? "coordinate, large" : "localized, large";
  instance.A = scattered_in_blocks(dice, spectrum.values, coordinate ? 1 : 6);
  instance.k = std::clamp<Index>(spectrum.k, 1, d);
  instance.sparse = dice.chance(0.7);
  return instance;
}

// The coordinates that belong together, by the entries that are not zero.
std::vector<std::vector<Index>> components(const Block<double>& A) {
  const Index d = A.rows();
  std::vector<char> seen(static_cast<std::size_t>(d), 0);
  std::vector<std::vector<Index>> found;
  for (Index root = 0; root < d; ++root) {
    if (seen[static_cast<std::size_t>(root)] != 0) continue;
    std::vector<Index> component{root};
    seen[static_cast<std::size_t>(root)] = 1;
    for (std::size_t i = 0; i < component.size(); ++i)
      for (Index j = 0; j < d; ++j)
        if (A(component[i], j) != 0 && seen[static_cast<std::size_t>(j)] == 0) {
          seen[static_cast<std::size_t>(j)] = 1;
          component.push_back(j);
        }
    found.push_back(component);
  }
  return found;
}

// Eigen's iteration does not end on about one matrix in 20,000; in another basis it does.
Truth solve_connected(const Exact& A) {
  const Index d = A.rows();
  Eigen::SelfAdjointEigenSolver<Exact> solver(A);
  if (solver.info() == Eigen::Success) return {solver.eigenvalues(), solver.eigenvectors()};
  Dice dice(static_cast<std::uint64_t>(d));
  for (int attempt = 0; attempt < 10; ++attempt) {
    ExactVector v(d);
    for (Index i = 0; i < d; ++i) v(i) = dice.normal();
    v.normalize();
    const Exact reflect = Exact::Identity(d, d) - 2 * v * v.transpose();
    const Exact turned = reflect * A * reflect;
    solver.compute((turned + turned.transpose()) / 2);
    if (solver.info() == Eigen::Success) return {solver.eigenvalues(), reflect * solver.eigenvectors()};
  }
  throw std::runtime_error("the judge does not know the eigenvalues");
}

}  // namespace

Instance draw_instance(Dice& dice) {
  if (dice.from(1, one_large_in) == 1) return large_instance(dice);
  Instance instance;
  const int family = static_cast<int>(dice.from(0, 5));
  const Index d = family == 0 ? dice.one_of<Index>({64, 128}) : dice.from(40, 130);
  const Spectrum spectrum = draw_spectrum(dice, d);
  Block<double> U;
  switch (family) {
    case 0:
      U = hadamard(d);
      instance.vectors = "Hadamard";
      break;
    case 1:
      U = Block<double>::Identity(d, d);
      instance.vectors = "coordinate";
      break;
    case 2:
      U = localized(dice, d);
      instance.vectors = "localized";
      break;
    default:
      U = random_orthogonal(dice, d);
      instance.vectors = "random";
  }
  const Vector<double> values = Eigen::Map<const Vector<double>>(spectrum.values.data(), d);
  const Block<double> A = U * values.asDiagonal() * U.transpose();
  instance.A = (A + A.transpose()) / 2;
  instance.k = std::clamp<Index>(spectrum.k, 1, d);
  instance.spectrum = spectrum.name;
  return instance;
}

Truth solve_exactly(const Block<double>& A) {
  const Index d = A.rows();
  std::vector<std::pair<long double, ExactVector>> found;
  found.reserve(static_cast<std::size_t>(d));
  for (const std::vector<Index>& component : components(A)) {
    const auto size = static_cast<Index>(component.size());
    Exact part(size, size);
    for (Index i = 0; i < size; ++i)
      for (Index j = 0; j < size; ++j)
        part(i, j) = A(component[static_cast<std::size_t>(i)], component[static_cast<std::size_t>(j)]);
    const Truth truth = solve_connected(part);
    for (Index j = 0; j < size; ++j) {
      ExactVector u = ExactVector::Zero(d);
      for (Index i = 0; i < size; ++i) u(component[static_cast<std::size_t>(i)]) = truth.vectors(i, j);
      found.emplace_back(truth.values(j), u);
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  Truth truth{ExactVector(d), Exact(d, d)};
  for (Index j = 0; j < d; ++j) {
    truth.values(j) = found[static_cast<std::size_t>(j)].first;
    truth.vectors.col(j) = found[static_cast<std::size_t>(j)].second;
  }
  return truth;
}

std::vector<Index> Truth::order(Which which, Index k) const {
  const Index d = values.size(), low = which == Which::both_ends ? k / 2 : 0, high = k - low;
  std::vector<Index> order(static_cast<std::size_t>(d));
  for (Index i = 0; i < d; ++i)
    order[static_cast<std::size_t>(i)] = which == Which::smallest ? d - 1 - i
                                         : i < high || i >= k     ? (i < high ? i : i - low)
                                                                  : d - low + (i - high);
  if (which == Which::magnitude)
    std::stable_sort(order.begin(), order.end(),
                     [this](Index a, Index b) { return std::abs(values(a)) > std::abs(values(b)); });
  return order;
}

double Truth::sine(const Block<double>& V, const std::vector<Index>& which) const {
  Exact U(vectors.rows(), static_cast<Index>(which.size()));
  for (std::size_t i = 0; i < which.size(); ++i) U.col(static_cast<Index>(i)) = vectors.col(which[i]);
  const Exact X = V.cast<long double>();
  // both orthonormal: ||(I - U U')X|| where X has as many columns
  const Exact outside = X - U * (U.transpose() * X);
  const Eigen::SelfAdjointEigenSolver<Exact> gram(outside.transpose() * outside, Eigen::EigenvaluesOnly);
  return static_cast<double>(std::sqrt(std::max<long double>(0, gram.eigenvalues().maxCoeff())));
}

}  // namespace hearsay::adversary
