#include "hearsay/operators/turned.hpp"

#include "hearsay/linalg.hpp"
#include "hearsay/random.hpp"
#include "linalg/large_pages.hpp"

namespace hearsay {

const char* name(Turning turning) {
  switch (turning) {
    case Turning::none:
      return "none";
    case Turning::signs:
      return "signs";
    case Turning::rotations:
      return "rotations";
  }
  return "unknown";
}

template <class S>
void TurnedOperator<S>::apply(ConstBlockView<S> X, BlockView<S> Y) const {
  const Index p = X.cols();
  const RandomKey key{.seed = seed_, .stream = Stream::turn, .iteration = static_cast<std::uint32_t>(products_++)};
  if (X_.rows() != X.rows() || X_.cols() != p) {
    detail::resize_large<S>(X_, X.rows(), p);
    detail::resize_large<S>(Y_, X.rows(), p);
  }
  if (turning_ == Turning::rotations && p > 1) {
    const Small<S> T = random_orthonormal<S>(p, p, key), T_back = T.transpose();
    multiply<S>(X, T, X_);
    A_.apply(X_, Y_);
    multiply<S>(Y_, T_back, Y);
    return;
  }
  Vector<S> signs(p);  // of one column they are the only rotations
  for (Index j = 0; j < p; ++j)
    signs(j) = turning_ != Turning::none && random_uniform(key, static_cast<std::uint64_t>(j)) < 0.5 ? S(-1) : S(1);
  X_ = X * signs.asDiagonal();
  A_.apply(X_, Y_);
  Y = Y_ * signs.asDiagonal();
}

template <class S>
OperatorFacts TurnedOperator<S>::facts() const {
  OperatorFacts facts = A_.facts();
  facts.noisy = facts.noisy || facts.approximate;
  return facts;
}

template <class S>
void TurnedOperator<S>::seek(std::uint64_t position) const {
  A_.seek(position);
  products_ = position;
}

template class TurnedOperator<float>;
template class TurnedOperator<double>;

}  // namespace hearsay
