#include <fmt/format.h>

#include "hearsay/error.hpp"
#include "hearsay/gossip.hpp"
#include "network/mixing.hpp"

namespace hearsay {

LocalNetwork::LocalNetwork(GossipMatrix W) : W_(std::move(W)), spectrum_(gossip_spectrum(W_)) {}

LocalNetwork::LocalNetwork(GossipMatrix W, const GossipSpectrum& known) : W_(std::move(W)), spectrum_(known) {
  require(known.lo >= -1 && known.lo <= known.hi && known.hi <= 1,
          fmt::format("spectrum [{}, {}]: must lie in [-1, 1], its lower end first", known.lo, known.hi));
}

void LocalNetwork::mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev,
                       BlockView<double> out, BlockView<double> votes) {
  const CsrMatrix<double>& W = W_.matrix();
  const Index n = W.rows, numbers = Z.cols();
  require(Z.rows() == n && out.rows() == n && out.cols() == numbers && votes.rows() == n,
          fmt::format("blocks of {} agents: must be {}, as the network has", Z.rows(), n));

  detail::mix_rows(W, step, Z, Z_prev, out);
  if (votes.cols() > 0) detail::maximise(W, votes);

  ++(numbers > 0 ? traffic_.rounds : traffic_.control_rounds);
  traffic_.messages += 2 * W_.edges();
  traffic_.bytes += 2 * W_.edges() * (numbers + votes.cols()) * static_cast<std::int64_t>(sizeof(double));
}

}  // namespace hearsay
