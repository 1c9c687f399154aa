// The network as its users see it: one caller at a time is inside.
#include <algorithm>

#include "protocol/link_network_impl.hpp"

namespace hearsay {

LinkNetwork::LinkNetwork(Links& links, GossipMatrix W, const LinkNetworkOptions& options)
    : impl_(std::make_unique<Impl>(links, std::move(W), options)) {}
LinkNetwork::~LinkNetwork() = default;

Index LinkNetwork::agents() const { return impl_->W_.agents(); }
Index LinkNetwork::self() const { return impl_->place_of(impl_->self_); }
Index LinkNetwork::diameter() const { return impl_->W_.diameter(); }
const GossipSpectrum& LinkNetwork::spectrum() const { return impl_->spectrum_; }
const Traffic& LinkNetwork::traffic() const { return impl_->traffic_; }
ConstBlockView<double> LinkNetwork::unsent() const { return impl_->unsent_; }
const GossipMatrix& LinkNetwork::gossip_matrix() const { return impl_->W_; }
std::uint64_t LinkNetwork::run_id() const {
  const std::scoped_lock lock(impl_->inside_);
  return impl_->session_.run();
}
std::string LinkNetwork::name_of(Index agent) const { return impl_->session_.name_of(agent); }

std::vector<protocol::PeerCounts> LinkNetwork::links() const {
  const std::scoped_lock lock(impl_->inside_);
  std::vector<protocol::PeerCounts> counts;
  for (const Index neighbour : impl_->everyone_near_) counts.push_back(impl_->session_.counts(neighbour));
  return counts;
}

const std::vector<Index>& LinkNetwork::members() const { return impl_->members_; }
std::uint32_t LinkNetwork::epoch() const { return impl_->epoch_; }
bool LinkNetwork::concluded() const {
  const std::scoped_lock lock(impl_->inside_);
  return impl_->session_.concluded();
}

bool LinkNetwork::neighbour_finished() const {
  const std::scoped_lock lock(impl_->inside_);
  return std::any_of(impl_->everyone_near_.begin(), impl_->everyone_near_.end(), [&](Index neighbour) {
    const auto& said = impl_->session_.farewell_of(neighbour);
    return said && !said->failed();
  });
}

std::uint64_t LinkNetwork::next_attempt() const {
  const std::scoped_lock lock(impl_->inside_);
  return impl_->session_.next_attempt();
}
bool LinkNetwork::connected() const {
  const std::scoped_lock lock(impl_->inside_);
  return impl_->session_.run_known();
}

void LinkNetwork::bear_witness(double off, double size) { impl_->bear_witness(off, size); }
std::string LinkNetwork::told() const { return impl_->told(); }
void LinkNetwork::set_told(std::string_view told) { impl_->set_told(told); }

void LinkNetwork::set_standing(const protocol::Standing& standing) {
  const std::scoped_lock lock(impl_->inside_);
  protocol::Session& session = impl_->session_;
  // The others may have agreed on who takes part while this agent computed: they go by what it said before.
  if (session.state() == protocol::Session::State::talking && session.epoch() == impl_->epoch_)
    session.set_standing(standing);
}

protocol::View LinkNetwork::agree_on_members() {
  const Impl::Inside inside(*impl_);
  return impl_->agree_on_members();
}

void LinkNetwork::connect() {
  const Impl::Inside inside(*impl_);
  impl_->connect();
}

std::vector<std::string> LinkNetwork::gather_everywhere(const std::string& own, const std::string& what) {
  const Impl::Inside inside(*impl_);
  return impl_->gather_everywhere(own, what);
}

void LinkNetwork::mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev,
                      BlockView<double> out, BlockView<double> votes) {
  const Impl::Inside inside(*impl_);
  impl_->mix(step, Z, Z_prev, out, votes);
}

void LinkNetwork::run(const std::function<void()>& body) { impl_->run(body); }

}  // namespace hearsay
