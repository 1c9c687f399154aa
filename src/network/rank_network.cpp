// A message between two ranks is a header, then for each agent of the sender that has a neighbour at the receiver, by
// ascending agent, its votes and its block. The last message of a run is a farewell: how the run ended there. Whoever
// hears a failure where a block should be says farewell itself, so that it reaches every rank along the edges of the
// graph; and since each rank reads every link up to the farewell, no send is left hanging.
#include "hearsay/rank_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "hearsay/error.hpp"
#include "hearsay/gossip.hpp"
#include "kernels/kernels.hpp"
#include "linalg/scratch.hpp"
#include "linalg/worth_threads.hpp"
#include "network/entries.hpp"
#include "network/failure.hpp"
#include "network/mixing.hpp"

namespace hearsay {

using detail::each_in_row;
using detail::panel_columns;

namespace {

enum class Kind : std::uint32_t { block, farewell };

struct Header {
  Kind kind;
  std::uint32_t votes;    // of each agent
  std::uint64_t numbers;  // of each agent; or the length of a farewell
};

// Of a farewell, so that it fits wherever a message is expected.
constexpr std::size_t longest_farewell = 1000;

// Rows are brought together in pieces that stay in a core's own cache.
constexpr Index stack_numbers = 128 * 1024;

// Pieces of panels: at least this wide, so that no kernel meets a tail where a whole panel would have had none.
constexpr Index piece_columns = 64;

std::size_t bytes_of(Index doubles) { return static_cast<std::size_t>(doubles) * sizeof(double); }

// x * 0 is NaN where x is not finite, and a sum keeps it.
bool finite(std::span<const double> numbers) {
  return (Eigen::Map<const Eigen::ArrayXd>(numbers.data(), static_cast<Index>(numbers.size())) * 0).sum() == 0;
}

// Whether a message is the last of its link.
bool ended_by(std::span<const std::byte> message, std::size_t bytes) {
  Header header{};
  if (bytes < sizeof header || bytes > message.size()) return false;
  std::memcpy(&header, message.data(), sizeof header);
  return header.kind == Kind::farewell;
}

}  // namespace

class RankNetwork::Impl {
 public:
  Impl(Transport& ranks, GossipMatrix W, const RankNetworkOptions& options);

  Index agents() const { return W_.agents(); }
  Index local_agents() const { return static_cast<Index>(own_.size()); }
  Index agent(Index local) const { return own_[static_cast<std::size_t>(local)]; }
  std::span<const Index> local() const { return own_; }
  Index diameter() const { return W_.diameter(); }
  const GossipSpectrum& spectrum() const { return spectrum_; }
  const Traffic& traffic() const { return traffic_; }
  ConstBlockView<double> unsent() const { return untold_; }
  const GossipMatrix& gossip_matrix() const { return W_; }
  const WireTraffic& wire() const { return wire_; }
  Transport& ranks() const { return *ranks_; }

  void mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev, BlockView<double> out,
           BlockView<double> votes);
  void run(const std::function<void()>& body);

 private:
  struct Link;
  struct Piece {
    Index column, columns;
  };

  bool rounds() const { return precision_ != MessagePrecision::real64; }
  void plan(std::span<const int> placement);
  void plan_edge();
  void cut();
  Link& link(int rank);
  std::size_t message_bytes(std::size_t agents) const;
  const std::byte* blocks(const Link& from) const;
  void post_receives();
  void post_sends(ConstBlockView<double> Z, ConstBlockView<double> votes);
  void progress();
  void accept(Link& from, std::size_t bytes);
  void mix_exact(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev, BlockView<double> out);
  void mix_rounded(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev, BlockView<double> out);
  void mix_edge(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev, BlockView<double> out);
  void await_blocks();
  void maximise(BlockView<double> votes);
  [[noreturn]] void refuse(Index heard) const;
  void close(const std::string& farewell);

  Transport* ranks_;
  GossipMatrix W_;
  GossipSpectrum spectrum_;
  MessagePrecision precision_;
  std::vector<Index> own_;
  std::vector<Link> links_;             // one per neighbouring rank, by rank
  Index heard_ = 0;                     // agents heard from
  CsrMatrix<double> rows_;              // of W, for the agents here; columns: the agents here, then those heard from
  std::vector<Index> inner_, edge_;     // rows that need no message, and the others
  CsrMatrix<double> edge_rows_;         // of the latter; columns: the edge, other agents here, then those heard from
  std::vector<Index> stacked_;          // the agents here among those columns
  Index numbers_ = 0, votes_ = 0;       // of each agent, in the round in progress
  Block<double> said_;                  // votes of the agents here and of those heard from
  Block<double> told_, untold_;         // as LocalNetwork's; told_ also of those heard from
  std::vector<std::byte> changes_;      // what is told of each agent here, encoded
  std::vector<double> change_;          // one of them, decoded
  std::vector<const double*> sources_;  // of edge_rows_' columns
  std::vector<Piece> pieces_;
  Index cut_numbers_ = 0;
  Traffic traffic_;
  WireTraffic wire_;
};

struct RankNetwork::Impl::Link {
  int rank;
  std::vector<Index> ours;    // agents here with a neighbour there, as rows of Z
  std::vector<Index> theirs;  // agents there with a neighbour here
  std::vector<std::byte> out = {}, in = {}, farewell = {};
  int sending = 0;         // sends under way
  bool receiving = false;  // a receive is
  bool arrived = false;    // the block of this round
  bool ended = false;      // the farewell was heard
};

std::vector<int> contiguous_placement(Index agents, int ranks) {
  require(agents >= 1 && ranks >= 1,
          fmt::format("{} agents on {} ranks: there must be at least one of each", agents, ranks));
  std::vector<int> placement(static_cast<std::size_t>(agents));
  for (Index i = 0; i < agents; ++i) placement[static_cast<std::size_t>(i)] = static_cast<int>(i * ranks / agents);
  return placement;
}

RankNetwork::Impl::Impl(Transport& ranks, GossipMatrix W, const RankNetworkOptions& options)
    : ranks_(&ranks),
      W_(std::move(W)),
      spectrum_(options.spectrum ? *options.spectrum : gossip_spectrum(W_)),
      precision_(options.precision) {
  require(spectrum_.lo >= -1 && spectrum_.lo <= spectrum_.hi && spectrum_.hi <= 1,
          fmt::format("spectrum [{}, {}]: must lie in [-1, 1], its lower end first", spectrum_.lo, spectrum_.hi));
  plan(options.placement.empty() ? contiguous_placement(agents(), ranks.size()) : options.placement);
}

void RankNetwork::Impl::plan(std::span<const int> placement) {
  require(static_cast<Index>(placement.size()) == agents(),
          fmt::format("placement of {} agents: must be of {}, as the gossip matrix has", placement.size(), agents()));
  const auto rank_of = [&](Index agent) { return placement[static_cast<std::size_t>(agent)]; };
  for (Index i = 0; i < agents(); ++i) {
    require(rank_of(i) >= 0 && rank_of(i) < ranks_->size(),
            fmt::format("agent {} on rank {}: must lie in [0, {})", i, rank_of(i), ranks_->size()));
    if (rank_of(i) == ranks_->rank()) own_.push_back(i);
  }

  std::map<int, std::vector<Index>> ours, theirs;
  for (std::size_t a = 0; a < own_.size(); ++a)
    each_in_row(W_.matrix(), own_[a], [&](Index j, double) {
      if (rank_of(j) == ranks_->rank()) return;
      ours[rank_of(j)].push_back(static_cast<Index>(a));
      theirs[rank_of(j)].push_back(j);
    });
  std::map<Index, Index> column;  // of an agent, in rows_
  for (std::size_t a = 0; a < own_.size(); ++a) column[own_[a]] = static_cast<Index>(a);
  for (auto& [rank, agents] : theirs) {
    Link& link = links_.emplace_back(Link{.rank = rank, .ours = std::move(ours[rank]), .theirs = std::move(agents)});
    for (auto* list : {&link.ours, &link.theirs}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    for (const Index j : link.theirs) column[j] = local_agents() + heard_++;
  }

  rows_ = {.rows = local_agents(), .cols = local_agents() + heard_};
  for (std::size_t a = 0; a < own_.size(); ++a) {
    bool hears = false;
    each_in_row(W_.matrix(), own_[a], [&](Index j, double value) {
      detail::append(rows_, column[j], value);  // in the order of the agents, which is that of LocalNetwork's sums
      hears = hears || column[j] >= local_agents();
    });
    detail::end_row(rows_);
    (hears ? edge_ : inner_).push_back(static_cast<Index>(a));
  }
  plan_edge();
}

void RankNetwork::Impl::plan_edge() {
  stacked_ = edge_;
  std::vector<Index> place(static_cast<std::size_t>(local_agents()), -1);  // of an agent here, in the stack
  for (std::size_t b = 0; b < edge_.size(); ++b) place[static_cast<std::size_t>(edge_[b])] = static_cast<Index>(b);
  for (const Index a : edge_)
    each_in_row(rows_, a, [&](Index j, double) {
      if (j >= local_agents() || place[static_cast<std::size_t>(j)] >= 0) return;
      place[static_cast<std::size_t>(j)] = static_cast<Index>(stacked_.size());
      stacked_.push_back(j);
    });
  const auto own_stacked = static_cast<Index>(stacked_.size());
  edge_rows_ = {.rows = static_cast<Index>(edge_.size()), .cols = own_stacked + heard_};
  for (const Index a : edge_) {
    each_in_row(rows_, a, [&](Index j, double value) {
      const Index to = j < local_agents() ? place[static_cast<std::size_t>(j)] : own_stacked + j - local_agents();
      detail::append(edge_rows_, to, value);
    });
    detail::end_row(edge_rows_);
  }
}

// The columns of a round, cut so that the rows an edge needs stay in cache side by side.
void RankNetwork::Impl::cut() {
  if (cut_numbers_ == numbers_) return;
  const Index width = std::clamp(stack_numbers / std::max<Index>(1, edge_rows_.cols) / piece_columns * piece_columns,
                                 piece_columns, panel_columns);
  pieces_.clear();
  for (Index panel = 0; panel < numbers_; panel += panel_columns) {
    const Index end = std::min(panel + panel_columns, numbers_);
    for (Index column = panel, columns = 0; column < end; column += columns) {
      columns = end - column < 2 * width ? end - column : width;
      pieces_.push_back({.column = column, .columns = columns});
    }
  }
  cut_numbers_ = numbers_;
}

RankNetwork::Impl::Link& RankNetwork::Impl::link(int rank) {
  const auto found = std::lower_bound(links_.begin(), links_.end(), rank,
                                      [](const Link& link, int wanted) { return link.rank < wanted; });
  if (found == links_.end() || found->rank != rank)
    throw CommunicationError(fmt::format("a message from rank {}, which is no neighbour", rank));
  return *found;
}

void RankNetwork::Impl::mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev,
                            BlockView<double> out, BlockView<double> votes) {
  const Index m = local_agents();
  require(Z.rows() == m && out.rows() == m && out.cols() == Z.cols() && votes.rows() == m,
          fmt::format("blocks of {} agents: must be {}, as live on rank {}", Z.rows(), m, ranks_->rank()));
  numbers_ = Z.cols();
  votes_ = votes.cols();
  if (rounds() && numbers_ > 0 && told_.cols() != numbers_) {
    told_.setZero(m + heard_, numbers_);
    untold_.setZero(m, numbers_);
  }

  post_receives();
  post_sends(Z, votes);
  if (rounds() && numbers_ > 0)
    mix_rounded(step, Z, Z_prev, out);
  else
    mix_exact(step, Z, Z_prev, out);
  if (votes_ > 0) maximise(votes);
  traffic_.add_round(2 * W_.edges(), numbers_ * bytes_per_number(precision_), votes_);
}

std::size_t RankNetwork::Impl::message_bytes(std::size_t agents) const {
  return sizeof(Header) +
         agents * (bytes_of(votes_) + static_cast<std::size_t>(numbers_ * bytes_per_number(precision_)));
}

// Where the blocks begin in a message, behind the votes.
const std::byte* RankNetwork::Impl::blocks(const Link& from) const {
  return from.in.data() + sizeof(Header) + from.theirs.size() * bytes_of(votes_);
}

void RankNetwork::Impl::post_receives() {
  for (Link& from : links_) {
    from.in.resize(std::max({from.in.size(), message_bytes(from.theirs.size()), sizeof(Header) + longest_farewell}));
    from.arrived = false;
    from.receiving = true;
    ranks_->receive(from.rank, from.in);
  }
}

void RankNetwork::Impl::post_sends(ConstBlockView<double> Z, ConstBlockView<double> votes) {
  const auto block_bytes = static_cast<std::size_t>(numbers_ * bytes_per_number(precision_));
  if (rounds() && numbers_ > 0) {
    change_.resize(static_cast<std::size_t>(numbers_));
    changes_.resize(own_.size() * block_bytes);
    for (const Index a : edge_) {
      Eigen::Map<Eigen::RowVectorXd>(change_.data(), numbers_) = Z.row(a) - told_.row(a);
      encode(precision_, change_, changes_.data() + static_cast<std::size_t>(a) * block_bytes);
    }
  }
  for (Link& to : links_) {
    while (to.sending > 0) progress();  // the last round's, out of the same buffer
    to.out.resize(message_bytes(to.ours.size()));
    std::byte* place = to.out.data();
    const auto put = [&](const void* bytes, std::size_t count) {
      if (count > 0) std::memcpy(place, bytes, count);
      place += count;
    };
    const Header header{.kind = Kind::block,
                        .votes = static_cast<std::uint32_t>(votes_),
                        .numbers = static_cast<std::uint64_t>(numbers_)};
    put(&header, sizeof header);
    for (const Index a : to.ours) put(votes.row(a).data(), bytes_of(votes_));
    for (const Index a : to.ours)
      if (rounds())
        put(changes_.data() + static_cast<std::size_t>(a) * block_bytes, block_bytes);
      else
        put(Z.row(a).data(), block_bytes);
    ++to.sending;
    ++wire_.messages;
    wire_.bytes += static_cast<std::int64_t>(to.out.size());
    ranks_->send(to.rank, to.out);
  }
}

// Waits for one send or receive to end.
void RankNetwork::Impl::progress() {
  const Transport::Event event = ranks_->wait();
  Link& peer = link(event.peer);
  if (event.kind == Transport::Event::Kind::sent) {
    --peer.sending;
    return;
  }
  peer.receiving = false;
  accept(peer, event.bytes);
}

void RankNetwork::Impl::accept(Link& from, std::size_t bytes) {
  Header header{};
  const bool whole = bytes >= sizeof header && bytes <= from.in.size();
  if (whole) std::memcpy(&header, from.in.data(), sizeof header);
  if (!whole || (header.kind != Kind::block && header.kind != Kind::farewell))
    throw CommunicationError(fmt::format("rank {} sent {} bytes that are no message of ours", from.rank, bytes));
  if (header.kind == Kind::farewell) {
    from.ended = true;
    if (header.numbers != bytes - sizeof header)
      throw CommunicationError(fmt::format("rank {} sent a farewell of {} bytes: must be {}, as it says", from.rank,
                                           bytes - sizeof header, header.numbers));
    const detail::Failure failure = detail::failure_from(
        {reinterpret_cast<const char*>(from.in.data()) + sizeof header, static_cast<std::size_t>(header.numbers)});
    if (failure.any()) throw detail::PeerFailure(failure);
    throw CommunicationError(
        fmt::format("rank {} ended its run, and rank {} expected a block from it", from.rank, ranks_->rank()));
  }
  if (header.numbers != static_cast<std::uint64_t>(numbers_) || header.votes != static_cast<std::uint32_t>(votes_))
    throw CommunicationError(
        fmt::format("rank {} sent blocks of {} numbers and {} votes: must be {} and {}, as on rank {}", from.rank,
                    header.numbers, header.votes, numbers_, votes_, ranks_->rank()));
  if (const std::size_t expected = message_bytes(from.theirs.size()); bytes != expected)
    throw CommunicationError(fmt::format("rank {} sent {} bytes: must be {}, for its {} agents with neighbours here",
                                         from.rank, bytes, expected, from.theirs.size()));
  from.arrived = true;
}

void RankNetwork::Impl::await_blocks() {
  for (const Link& from : links_)
    while (!from.arrived) progress();
}

void RankNetwork::Impl::mix_exact(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev,
                                  BlockView<double> out) {
  if (edge_.empty()) return detail::mix_rows(rows_, step, Z, Z_prev, out);
  detail::mix_rows(rows_, inner_, step, Z, Z_prev, out);  // while messages fly
  await_blocks();
  mix_edge(step, Z, Z_prev, out);
}

// The rows that the edge needs are brought side by side, some columns at a time; those of peers are looked at on the
// way.
void RankNetwork::Impl::mix_edge(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev,
                                 BlockView<double> out) {
  const auto& kernel = kernels::table<double>();
  const Index edge = edge_rows_.rows, own = static_cast<Index>(stacked_.size());
  const Vector<double> mixed = Vector<double>::Constant(edge, step.mixed);
  sources_.clear();
  for (const Index a : stacked_) sources_.push_back(Z.row(a).data());
  for (const Link& from : links_)
    for (std::size_t a = 0; a < from.theirs.size(); ++a)
      sources_.push_back(reinterpret_cast<const double*>(blocks(from)) + static_cast<Index>(a) * numbers_);

  cut();
  Index not_finite = heard_;
  [[maybe_unused]] const int team = detail::worth_threads(2.0 * double(edge_rows_.nonzeros()) * double(numbers_));
#pragma omp parallel for schedule(static) num_threads(team) reduction(min : not_finite)
  for (std::size_t task = 0; task < pieces_.size(); ++task) {
    const auto [column, columns] = pieces_[task];
    double* stack = detail::scratch<double, detail::ScratchUse::stacked>(edge_rows_.cols * columns);
    for (Index s = 0; s < edge_rows_.cols; ++s) {
      double* row = stack + s * columns;
      std::copy_n(sources_[static_cast<std::size_t>(s)] + column, columns, row);
      if (s >= own && !finite({row, static_cast<std::size_t>(columns)})) not_finite = std::min(not_finite, s - own);
    }
    for (Index b = 0; b < edge; ++b) {
      const Index a = edge_[static_cast<std::size_t>(b)];
      auto out_row = out.row(a).segment(column, columns);
      kernel.csr_multiply(b, b + 1, columns, edge_rows_.row_start.data(), edge_rows_.columns.data(),
                          edge_rows_.values.data(), mixed.data(), nullptr, step.self, stack, columns, 0, nullptr, 0,
                          out_row.data(), 0);
      if (step.previous != 0) out_row += step.previous * Z_prev.row(a).segment(column, columns);
    }
  }
  if (not_finite < heard_) refuse(not_finite);
}

// The sums of LocalNetwork, over what was told by the agents here and by those heard from.
void RankNetwork::Impl::mix_rounded(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev,
                                    BlockView<double> out) {
  const Index m = local_agents();
  tell(precision_, Z, told_.topRows(m), untold_);
  await_blocks();
  Index heard = 0;
  for (const Link& from : links_)
    for (std::size_t a = 0; a < from.theirs.size(); ++a, ++heard) {
      decode(precision_, blocks(from) + a * static_cast<std::size_t>(numbers_ * bytes_per_number(precision_)), change_);
      if (!finite(change_)) refuse(heard);
      told_.row(m + heard) += Eigen::Map<const Eigen::RowVectorXd>(change_.data(), numbers_);
    }
  detail::mix_rows(rows_, step, told_, Z_prev, out);
  out += (step.mixed + step.self) * untold_;
}

void RankNetwork::Impl::refuse(Index heard) const {
  for (const Link& from : links_) {
    const auto agents = static_cast<Index>(from.theirs.size());
    if (heard < agents)
      throw DataError(fmt::format("agent {}, on rank {}, sent a block with a number that is not finite",
                                  from.theirs[static_cast<std::size_t>(heard)], from.rank));
    heard -= agents;
  }
  throw DataError("a block with a number that is not finite arrived");
}

void RankNetwork::Impl::maximise(BlockView<double> votes) {
  if (links_.empty()) return detail::maximise(rows_, votes);
  await_blocks();
  said_.resize(rows_.cols, votes_);
  said_.topRows(votes.rows()) = votes;
  Index row = votes.rows();
  for (const Link& from : links_) {
    const auto agents = static_cast<Index>(from.theirs.size());
    std::memcpy(said_.row(row).data(), from.in.data() + sizeof(Header), from.theirs.size() * bytes_of(votes_));
    if (said_.middleRows(row, agents).hasNaN())  // of which no two agents would make the same maximum
      throw DataError(fmt::format("rank {} sent a vote that is not a number", from.rank));
    row += agents;
  }
  detail::each_entry(rows_, [&](Index i, Index j, double) { votes.row(i) = votes.row(i).cwiseMax(said_.row(j)); });
}

void RankNetwork::Impl::run(const std::function<void()>& body) {
  detail::Failure failure = detail::caught(ranks_->rank(), body);
  if (!failure.any() && own_.empty()) failure.origin = detail::Failure::nobody;
  detail::Failure told = failure;
  told.message.resize(std::min(told.message.size(), longest_farewell / 2));
  close(detail::to_bytes(told));
  if (failure.any()) told_.resize(0, 0);  // others may not have heard all of it
  detail::throw_alike(*ranks_, failure);
}

// Says farewell to every neighbour and hears theirs, reading past whatever they sent before.
void RankNetwork::Impl::close(const std::string& farewell) {
  const Header header{.kind = Kind::farewell, .votes = 0, .numbers = farewell.size()};
  for (Link& to : links_) {
    to.farewell.resize(sizeof header + farewell.size());
    std::memcpy(to.farewell.data(), &header, sizeof header);
    std::memcpy(to.farewell.data() + sizeof header, farewell.data(), farewell.size());
    ++to.sending;
    ++wire_.messages;
    wire_.bytes += static_cast<std::int64_t>(to.farewell.size());
    ranks_->send(to.rank, to.farewell);
  }
  const auto finish_one = [&] {
    const Transport::Event event = ranks_->wait();
    Link& peer = link(event.peer);
    if (event.kind == Transport::Event::Kind::sent) {
      --peer.sending;
      return;
    }
    peer.receiving = false;
    peer.ended = ended_by(peer.in, event.bytes);
  };
  for (Link& from : links_) {
    while (from.receiving) finish_one();
    while (!from.ended) {
      const std::vector<std::byte> message = ranks_->take(from.rank);
      from.ended = ended_by(message, message.size());
    }
  }
  for (Link& to : links_)
    while (to.sending > 0) finish_one();
  for (Link& peer : links_) peer.ended = false;
}

// ---- The network, as users see it -----------------------------------------------------------------------------------

RankNetwork::RankNetwork(Transport& ranks, GossipMatrix W, const RankNetworkOptions& options)
    : impl_(std::make_unique<Impl>(ranks, std::move(W), options)) {}

RankNetwork::~RankNetwork() = default;

Index RankNetwork::agents() const { return impl_->agents(); }
Index RankNetwork::local_agents() const { return impl_->local_agents(); }
Index RankNetwork::agent(Index local) const { return impl_->agent(local); }
std::span<const Index> RankNetwork::local() const { return impl_->local(); }
Index RankNetwork::diameter() const { return impl_->diameter(); }
const GossipSpectrum& RankNetwork::spectrum() const { return impl_->spectrum(); }
const Traffic& RankNetwork::traffic() const { return impl_->traffic(); }
ConstBlockView<double> RankNetwork::unsent() const { return impl_->unsent(); }
const GossipMatrix& RankNetwork::gossip_matrix() const { return impl_->gossip_matrix(); }
const WireTraffic& RankNetwork::wire() const { return impl_->wire(); }
Transport& RankNetwork::ranks() const { return impl_->ranks(); }

void RankNetwork::mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev,
                      BlockView<double> out, BlockView<double> votes) {
  impl_->mix(step, Z, Z_prev, out, votes);
}

void RankNetwork::run(const std::function<void()>& body) { impl_->run(body); }

}  // namespace hearsay
