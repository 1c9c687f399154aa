#include "solver/resume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "solver/state.hpp"
#include "solver/tuning.hpp"

namespace hearsay::detail {

namespace {

// A QR leaves a few roundings; what is no basis is off by about 1.
template <class S>
void require_orthonormal(ConstBlockView<S> X, const char* thing) {
  const Small<S> G = gram<S>(X) - Small<S>::Identity(X.cols(), X.cols());
  require(G.cwiseAbs().maxCoeff() <= (sizeof(S) == 4 ? S(1e-2) : S(1e-6)),
          fmt::format("checkpoint: {}: its columns must be orthonormal", thing));
}

void require_steps(const std::vector<HistoryEntry>& history, Index t, Index longest) {
  Index last = 0;
  const auto reach = [&](Index next) {
    require(next - last <= longest, fmt::format("checkpoint: {} iterations from t = {} to the next look: this solve "
                                                "takes at most {}",
                                                next - last, last, longest));
    last = next;
  };
  for (const HistoryEntry& entry : history) reach(entry.t);
  reach(t);
}

}  // namespace

template <class S>
void require_resumable(const PowerState<S>& state, const Plan& plan, const PowerOptions& options) {
  const std::string fault = fault_of<S>(state);
  require(fault.empty(), "checkpoint: " + fault);
  const Index p = state.X.cols();
  // Columns that were missed may have joined any block; others come and go only where their number is automatic.
  const bool fits = p == plan.p || p > plan.p || (!options.oversample && p > plan.k);
  require(state.X.rows() == plan.d && fits,
          fmt::format("checkpoint of a {} x {} block: this solve needs {} x {}", state.X.rows(), p, plan.d, plan.p));
  require(!state.averaging.begun() || (plan.averages && p == plan.k + 1),
          fmt::format("checkpoint: has averages of {} columns: this solve {}", state.averaging.reference.cols(),
                      plan.averages ? fmt::format("averages {}", plan.k + 1) : "averages nothing"));
  require(state.best_basis.size() == 0 || state.best_basis.cols() >= plan.k,
          fmt::format("checkpoint: best_basis of {} columns: must have at least {}, the rank", state.best_basis.cols(),
                      plan.k));
  require(state.cooldown_left <= options.cooldown,
          fmt::format("checkpoint: cooldown_left = {}: must be at most {}, the cool-down", state.cooldown_left,
                      options.cooldown));
  require_steps(state.history, state.t, std::max(tuning::longest_stride, options.qr_every.value_or(1)));
  require_orthonormal<S>(state.X, "X");
  if (state.best_basis.size() > 0) require_orthonormal<S>(state.best_basis.leftCols(plan.k), "best_basis");
  if (state.averaging.begun()) require_orthonormal<S>(state.averaging.reference, "averages: reference");
}

template <class S>
void require_its_scale(ConstBlockView<S> Y, int exponent) {
  const S largest = Y.cwiseAbs().maxCoeff();
  if (!std::isfinite(largest) || (largest == S(0) && exponent == 0)) return;  // judged as it always is
  // Where a scale is chosen, by the first product, at most the cube root of the range is left; later blocks see more of
  // the matrix than a random one.
  constexpr int later = sizeof(S) == 4 ? 40 : 100;
  const int limit = std::numeric_limits<S>::max_exponent / 3 + later;
  require(largest > S(0) && std::abs(std::ilogb(largest)) <= limit,
          fmt::format("checkpoint: exponent = {}: is not the scale of this matrix", exponent));
}

#define HEARSAY_INSTANTIATE(S)                                                                \
  template void require_resumable<S>(const PowerState<S>&, const Plan&, const PowerOptions&); \
  template void require_its_scale<S>(ConstBlockView<S>, int);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay::detail
