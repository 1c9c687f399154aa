#include <fmt/format.h>

#include "hearsay/error.hpp"
#include "hearsay/gossip.hpp"
#include "network/mixing.hpp"

namespace hearsay {

LocalNetwork::LocalNetwork(GossipMatrix W, MessagePrecision precision)
    : W_(std::move(W)), spectrum_(gossip_spectrum(W_)), precision_(precision) {}

LocalNetwork::LocalNetwork(GossipMatrix W, const GossipSpectrum& known, MessagePrecision precision)
    : W_(std::move(W)), spectrum_(known), precision_(precision) {
  require(known.lo >= -1 && known.lo <= known.hi && known.hi <= 1,
          fmt::format("spectrum [{}, {}]: must lie in [-1, 1], its lower end first", known.lo, known.hi));
}

void LocalNetwork::mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev,
                       BlockView<double> out, BlockView<double> votes) {
  const Index n = agents(), numbers = Z.cols();
  require(Z.rows() == n && out.rows() == n && out.cols() == numbers && votes.rows() == n,
          fmt::format("blocks of {} agents: must be {}, as the network has", Z.rows(), n));
  detail::mix_messages(W_.matrix(), step, Z, Z_prev, precision_, telling_, out);
  if (votes.cols() > 0) detail::maximise(W_.matrix(), votes);
  traffic_.add_round(2 * W_.edges(), numbers * bytes_per_number(precision_), votes.cols());
}

}  // namespace hearsay
