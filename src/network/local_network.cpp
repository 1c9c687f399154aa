#include <fmt/format.h>

#include "hearsay/error.hpp"
#include "hearsay/gossip.hpp"
#include "network/mixing.hpp"

namespace hearsay {

struct LocalNetwork::Impl {
  GossipMatrix W;
  GossipSpectrum spectrum;
  MessagePrecision precision;
  detail::Telling telling = {};
  Traffic traffic = {};
};

LocalNetwork::LocalNetwork(GossipMatrix W, MessagePrecision precision)
    : impl_(std::make_unique<Impl>(Impl{.W = W, .spectrum = gossip_spectrum(W), .precision = precision})) {}

LocalNetwork::LocalNetwork(GossipMatrix W, const GossipSpectrum& known, MessagePrecision precision)
    : impl_(std::make_unique<Impl>(Impl{.W = std::move(W), .spectrum = known, .precision = precision})) {
  require(known.lo >= -1 && known.lo <= known.hi && known.hi <= 1,
          fmt::format("spectrum [{}, {}]: must lie in [-1, 1], its lower end first", known.lo, known.hi));
}

LocalNetwork::LocalNetwork(LocalNetwork&&) noexcept = default;
LocalNetwork& LocalNetwork::operator=(LocalNetwork&&) noexcept = default;
LocalNetwork::~LocalNetwork() = default;

Index LocalNetwork::agents() const { return impl_->W.agents(); }
Index LocalNetwork::local_agents() const { return agents(); }
Index LocalNetwork::diameter() const { return impl_->W.diameter(); }
const GossipSpectrum& LocalNetwork::spectrum() const { return impl_->spectrum; }
const Traffic& LocalNetwork::traffic() const { return impl_->traffic; }
ConstBlockView<double> LocalNetwork::unsent() const { return impl_->telling.unsent; }
const GossipMatrix& LocalNetwork::gossip_matrix() const { return impl_->W; }

void LocalNetwork::mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev,
                       BlockView<double> out, BlockView<double> votes) {
  Impl& now = *impl_;
  const Index n = agents(), numbers = Z.cols();
  require(Z.rows() == n && out.rows() == n && out.cols() == numbers && votes.rows() == n,
          fmt::format("blocks of {} agents: must be {}, as the network has", Z.rows(), n));
  detail::mix_messages(now.W.matrix(), step, Z, Z_prev, now.precision, now.telling, out);
  if (votes.cols() > 0) detail::maximise(now.W.matrix(), votes);
  now.traffic.add_round(2 * now.W.edges(), numbers * bytes_per_number(now.precision), votes.cols());
}

}  // namespace hearsay
