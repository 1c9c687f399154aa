// A round: every link is drawn, those that do not carry both ways lend their weight to the two diagonals, and what is
// left is mixed as in any other network.
//
// Drawn by    seed | agent: the fault's place in the list | iteration: the place of W(i, j), j the sender | row: the
//             round | column: the attempt, for acknowledgements that go again
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "hearsay/error.hpp"
#include "hearsay/faults.hpp"
#include "hearsay/graph_tools.hpp"
#include "hearsay/random.hpp"
#include "linalg/worth_threads.hpp"
#include "network/entries.hpp"
#include "network/mixing.hpp"

namespace hearsay {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

constexpr std::int64_t acknowledgement_bytes = sizeof(std::uint64_t);  // the round, and whether its block came

bool befalls(const LinkFault& fault, Index i, Index j) {
  return fault.from == LinkFault::any || (fault.from == i && fault.to == j) || (fault.from == j && fault.to == i);
}

// "agent 3 crashed", "agents 3, 5 crashed"
void add_reason(std::string& reason, const std::vector<Index>& agents, const char* what) {
  if (agents.empty()) return;
  reason += fmt::format("{}agent{} {} {}", reason.empty() ? "" : "; ", agents.size() == 1 ? "" : "s",
                        fmt::join(agents, ", "), what);
}

}  // namespace

class FaultyNetwork::Impl {
 public:
  Impl(GossipMatrix W, Faults faults, MessagePrecision precision);

  Index agents() const { return whole_.agents(); }
  Index diameter() const { return diameter_; }
  const GossipSpectrum& spectrum() const { return spectrum_; }
  const Traffic& traffic() const { return traffic_; }
  ConstBlockView<double> unsent() const { return telling_.unsent; }
  const Epoch& epoch() const { return epoch_; }
  const FaultCounts& fault_counts() const { return counts_; }
  const CsrMatrix<double>& round_matrix() const { return W_t_; }
  Reception reception(Index local) const;

  void mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev, BlockView<double> out,
           BlockView<double> votes);
  std::optional<Epoch> begin_iteration(Index t);
  void hand_over(BlockView<double> X);
  void begin_votes();
  void settle_votes(BlockView<double> votes);
  void wait_while(std::function<bool()> patient) { patient_ = std::move(patient); }

 private:
  struct Link {
    Index i, j;                         // i < j
    std::size_t upper, lower;           // the places of W(i, j) and W(j, i)
    std::vector<std::uint32_t> faults;  // that may befall it
    bool acknowledged = false;          // messages may be lost in one direction alone
  };

  bool is_member(Index agent) const { return member_[static_cast<std::size_t>(agent)] != 0; }
  bool happens(std::uint32_t fault, std::size_t place, std::uint32_t attempt) const;
  bool any_loss(const Link& link, Index sender, std::uint32_t attempt) const;
  bool draw(const Link& link, bool with_blocks);
  void acknowledge(const Link& link, bool i_heard, bool j_heard);
  void draw_round(Index numbers, Index votes);
  std::int64_t block_bytes(Index numbers, std::int64_t behind) const;
  void spread_hearing();
  void measure_distances(ConstBlockView<double> Z);
  std::vector<Index> find_members() const;
  void install(std::vector<Index> members);
  void plan_hand_over(const std::vector<char>& before);

  GossipMatrix whole_;  // as given
  GossipSpectrum whole_spectrum_;
  Faults faults_;
  MessagePrecision precision_;
  std::function<bool()> patient_ = {};
  std::vector<Link> links_;
  std::vector<std::size_t> diagonal_;  // the place of W(i, i)

  CsrMatrix<double> W_, W_t_;  // of the epoch and of the round: whole_'s places, zero where nothing passes
  GossipSpectrum spectrum_;
  Index diameter_ = 0;
  Epoch epoch_;
  std::vector<char> alive_, member_;
  std::vector<std::pair<Index, Index>> joining_;  // who takes its block from whom

  std::int64_t round_ = 0;
  Index wait_ = 0;  // of this round
  std::vector<char> up_;
  std::vector<std::int64_t> behind_;  // messages in a row that did not pass each link
  detail::Telling telling_;
  Vector<double> distance_, farthest_;  // between the ends of each link, and the largest of each agent's
  std::vector<std::int64_t> expected_, missed_;
  Vector<double> norm_, before_, after_;
  std::size_t words_;
  std::vector<std::uint64_t> heard_, told_;  // agents x words_: whose votes each has heard of, and had before the round

  Traffic traffic_;
  FaultCounts counts_;
};

FaultyNetwork::Impl::Impl(GossipMatrix W, Faults faults, MessagePrecision precision)
    : whole_(std::move(W)),
      whole_spectrum_(gossip_spectrum(whole_)),
      faults_(std::move(faults)),
      precision_(precision),
      W_(whole_.matrix()),
      W_t_(W_),
      words_((at(whole_.agents()) + 63) / 64) {
  validate(faults_, whole_);
  const CsrMatrix<double>& matrix = whole_.matrix();
  const auto place = [&](Index i, Index j) {
    return static_cast<std::size_t>(detail::find_entry(matrix, i, j) - matrix.values.data());
  };
  detail::each_entry(matrix, [&](Index i, Index j, double) {
    if (i == j) diagonal_.push_back(place(i, i));
    if (i >= j) return;
    Link link{.i = i, .j = j, .upper = place(i, j), .lower = place(j, i), .faults = {}};
    for (std::size_t f = 0; f < faults_.links.size(); ++f) {
      if (!befalls(faults_.links[f], i, j)) continue;
      link.faults.push_back(static_cast<std::uint32_t>(f));
      link.acknowledged = link.acknowledged || faults_.links[f].kind != LinkFault::Kind::drop;
    }
    links_.push_back(std::move(link));
  });
  begin_iteration(0);
}

// ---- Rounds ---------------------------------------------------------------------------------------------------------

bool FaultyNetwork::Impl::happens(std::uint32_t fault, std::size_t place, std::uint32_t attempt) const {
  const LinkFault& what = faults_.links[fault];
  if (round_ < what.first_round || round_ > what.last_round) return false;
  const RandomKey key{
      .seed = faults_.seed, .stream = Stream::faults, .agent = fault, .iteration = static_cast<std::uint32_t>(place)};
  return random_uniform(key, static_cast<std::uint64_t>(round_), attempt) < what.probability;
}

bool FaultyNetwork::Impl::any_loss(const Link& link, Index sender, std::uint32_t attempt) const {
  const std::size_t place = sender == link.j ? link.upper : link.lower;
  return std::any_of(link.faults.begin(), link.faults.end(), [&](std::uint32_t f) {
    const LinkFault& fault = faults_.links[f];
    return fault.kind == LinkFault::Kind::loss && (fault.from == LinkFault::any || fault.from == sender) &&
           happens(f, place, attempt);
  });
}

bool FaultyNetwork::Impl::draw(const Link& link, bool with_blocks) {
  bool heard[2] = {true, true};  // by i, by j
  Index wait = 0;
  for (const std::uint32_t f : link.faults)
    if (faults_.links[f].kind == LinkFault::Kind::drop && happens(f, link.upper, 0)) {
      ++counts_.drops;
      return false;
    }
  for (const bool by_j : {false, true}) {
    const Index sender = by_j ? link.i : link.j;
    const std::size_t place = by_j ? link.lower : link.upper;
    if (any_loss(link, sender, 0)) {
      ++counts_.losses;
      heard[by_j] = false;
      continue;
    }
    for (const std::uint32_t f : link.faults) {
      const LinkFault& fault = faults_.links[f];
      if (fault.kind != LinkFault::Kind::delay || !happens(f, place, 0)) continue;
      if (fault.rounds_late > faults_.patience) {
        ++counts_.late;
        heard[by_j] = false;
        break;
      }
      wait = std::max(wait, fault.rounds_late);
    }
  }
  wait_ = std::max(wait_, wait);
  if (with_blocks && link.acknowledged) acknowledge(link, heard[0], heard[1]);
  return heard[0] && heard[1];
}

// In the second half of the round each end tells the other whether its block came, and the link counts if both did. An
// end that heard nothing knows that it does not; one that heard its neighbour's block asks again until it hears the
// answer too. So both ends come to the same conclusion, if not at the same moment. Votes need none of this: hearing one
// twice does no harm.
void FaultyNetwork::Impl::acknowledge(const Link& link, bool i_heard, bool j_heard) {
  std::int64_t sent = 2;
  for (const auto& [heard, sender] : {std::pair(i_heard, link.j), std::pair(j_heard, link.i)})
    for (std::uint32_t attempt = 1; heard && any_loss(link, sender, attempt); ++attempt) ++sent;
  counts_.control_messages += sent;
  counts_.control_bytes += sent * acknowledgement_bytes;
  traffic_.messages += sent;
  traffic_.bytes += sent * acknowledgement_bytes;
}

std::int64_t FaultyNetwork::Impl::block_bytes(Index numbers, std::int64_t behind) const {
  return numbers * std::min<std::int64_t>(sizeof(double), (1 + behind) * bytes_per_number(precision_));
}

void FaultyNetwork::Impl::draw_round(Index numbers, Index votes) {
  const std::int64_t vote_bytes = votes * static_cast<std::int64_t>(sizeof(double)), hearing = (agents() + 7) / 8;
  W_t_.values = W_.values;
  wait_ = 0;
  for (std::size_t l = 0; l < links_.size(); ++l) {
    const Link& link = links_[l];
    up_[l] = 0;
    const double weight = W_.values[link.upper];
    if (weight == 0) continue;  // it leads to an agent that is not there
    traffic_.messages += 2;
    traffic_.bytes += 2 * (block_bytes(numbers, behind_[l]) + vote_bytes + hearing);
    counts_.control_bytes += 2 * hearing;
    up_[l] = draw(link, numbers > 0);
    if (numbers > 0) behind_[l] = up_[l] != 0 ? 0 : behind_[l] + 1;
    for (const Index end : {link.i, link.j}) {
      ++expected_[at(end)];
      missed_[at(end)] += up_[l] == 0;
    }
    if (up_[l] != 0) continue;
    W_t_.values[link.upper] = W_t_.values[link.lower] = 0;
    W_t_.values[diagonal_[at(link.i)]] += weight;
    W_t_.values[diagonal_[at(link.j)]] += weight;
  }
  counts_.waited_rounds += wait_;
  ++(numbers > 0 ? traffic_.rounds : traffic_.control_rounds);
  ++round_;
}

void FaultyNetwork::Impl::mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev,
                              BlockView<double> out, BlockView<double> votes) {
  const Index n = agents(), numbers = Z.cols();
  require(Z.rows() == n && out.rows() == n && out.cols() == numbers && votes.rows() == n,
          fmt::format("blocks of {} agents: must be {}, as the network has", Z.rows(), n));
  draw_round(numbers, votes.cols());
  detail::mix_messages(W_t_, step, Z, Z_prev, precision_, telling_, out);
  if (votes.cols() > 0) detail::maximise(W_t_, votes);
  spread_hearing();
  if (numbers > 0)
    measure_distances(precision_ == MessagePrecision::real64 ? Z : ConstBlockView<double>(telling_.told));
}

void FaultyNetwork::Impl::measure_distances(ConstBlockView<double> Z) {
  const auto links = static_cast<Index>(links_.size());
#pragma omp parallel for schedule(static) num_threads(detail::worth_threads(4.0 * double(links) * double(Z.cols())))
  for (Index l = 0; l < links; ++l)
    distance_(l) = up_[at(l)] != 0 ? (Z.row(links_[at(l)].i) - Z.row(links_[at(l)].j)).norm() : -1;
  farthest_.setConstant(agents(), -1);
  for (Index l = 0; l < links; ++l)
    for (const Index end : {links_[at(l)].i, links_[at(l)].j}) farthest_(end) = std::max(farthest_(end), distance_(l));
  for (Index i = 0; i < agents(); ++i) {
    if (farthest_(i) < 0) continue;  // it heard nobody
    if (norm_(i) < 0) {
      norm_(i) = Z.row(i).norm();
      before_(i) = farthest_(i);
    }
    after_(i) = farthest_(i);
  }
}

Reception FaultyNetwork::Impl::reception(Index local) const {
  const auto expected = static_cast<double>(std::max<std::int64_t>(1, expected_[at(local)]));
  Reception reception{.missed = static_cast<double>(missed_[at(local)]) / expected};
  if (norm_(local) > 0) {
    reception.before = before_(local) / norm_(local);
    reception.after = after_(local) / norm_(local);
  }
  return reception;
}

// ---- Votes ----------------------------------------------------------------------------------------------------------

void FaultyNetwork::Impl::begin_votes() {
  std::fill(heard_.begin(), heard_.end(), 0);
  for (const Index i : epoch_.members) heard_[at(i) * words_ + at(i) / 64] |= std::uint64_t{1} << (i % 64);
  std::fill(expected_.begin(), expected_.end(), 0);
  std::fill(missed_.begin(), missed_.end(), 0);
}

void FaultyNetwork::Impl::spread_hearing() {
  told_ = heard_;
  for (std::size_t l = 0; l < links_.size(); ++l) {
    if (up_[l] == 0) continue;
    const std::size_t i = at(links_[l].i) * words_, j = at(links_[l].j) * words_;
    for (std::size_t word = 0; word < words_; ++word) {
      heard_[i + word] |= told_[j + word];
      heard_[j + word] |= told_[i + word];
    }
  }
}

void FaultyNetwork::Impl::settle_votes(BlockView<double> votes) {
  std::vector<std::uint64_t> all(words_, 0);
  for (const Index i : epoch_.members) all[at(i) / 64] |= std::uint64_t{1} << (i % 64);
  const auto missing = [&]() -> std::optional<std::pair<Index, Index>> {
    for (const Index i : epoch_.members)
      for (std::size_t word = 0; word < words_; ++word)
        if (const std::uint64_t unheard = all[word] & ~heard_[at(i) * words_ + word])
          return std::pair(i, static_cast<Index>(64 * word) + std::countr_zero(unheard));
    return std::nullopt;
  };
  const Block<double> nothing(agents(), 0);
  Block<double> out(agents(), 0);
  for (Index round = 0;; ++round) {
    const auto pair = missing();
    if (!pair) return;
    if (patient_ && !patient_())
      throw Interrupted(fmt::format("interrupted while agent {} had not heard of agent {}", pair->first, pair->second));
    if (round >= faults_.give_up)
      throw CommunicationError(
          fmt::format("agent {} has not heard of agent {} in {} rounds: must be reached within give_up = {}",
                      pair->first, pair->second, round, faults_.give_up));
    mix({}, nothing, nothing, out, votes);
  }
}

// ---- Epochs ---------------------------------------------------------------------------------------------------------

std::vector<Index> FaultyNetwork::Impl::find_members() const {
  Graph alive{.nodes = agents()};
  for (const Link& link : links_)
    if (alive_[at(link.i)] != 0 && alive_[at(link.j)] != 0)
      alive.edges.emplace_back(static_cast<std::int32_t>(link.i), static_cast<std::int32_t>(link.j));
  const std::vector<std::int32_t> component = connected_components(alive);
  // Components come by size, then by their first agent; the dead are components of one.
  std::int32_t chosen = std::numeric_limits<std::int32_t>::max();
  for (Index i = 0; i < agents(); ++i)
    if (alive_[at(i)] != 0) chosen = std::min(chosen, component[at(i)]);
  std::vector<Index> members;
  for (Index i = 0; i < agents(); ++i)
    if (alive_[at(i)] != 0 && component[at(i)] == chosen) members.push_back(i);
  return members;
}

void FaultyNetwork::Impl::install(std::vector<Index> members) {
  std::fill(member_.begin(), member_.end(), 0);
  std::vector<std::int32_t> nodes;
  std::vector<Index> place(at(agents()), -1);
  for (const Index i : members) {
    member_[at(i)] = 1;
    place[at(i)] = static_cast<Index>(nodes.size());
    nodes.push_back(static_cast<std::int32_t>(i));
  }
  const bool complete = static_cast<Index>(members.size()) == agents();
  const GossipMatrix W = complete ? whole_ : GossipMatrix::metropolis(subgraph(whole_.graph(), nodes));
  diameter_ = W.diameter();
  spectrum_ = complete ? whole_spectrum_ : gossip_spectrum(W);
  const auto weight = [&](Index i, Index j) { return *detail::find_entry(W.matrix(), place[at(i)], place[at(j)]); };
  for (const Link& link : links_)
    W_.values[link.upper] = W_.values[link.lower] = is_member(link.i) && is_member(link.j) ? weight(link.i, link.j) : 0;
  for (Index i = 0; i < agents(); ++i) W_.values[diagonal_[at(i)]] = is_member(i) ? weight(i, i) : 1;
  epoch_.members = std::move(members);
  behind_.assign(links_.size(), 0);
  telling_ = {};  // newcomers know nothing of what was told before
}

// Who was a member before has a block; the others get one from a neighbour that has, nearest first.
void FaultyNetwork::Impl::plan_hand_over(const std::vector<char>& before) {
  joining_.clear();
  std::vector<Index> front;
  for (const Index i : epoch_.members)
    if (before[at(i)] != 0) front.push_back(i);
  if (front.empty()) front.push_back(epoch_.members.front());
  std::vector<char> has(at(agents()), 0);
  for (const Index i : front) has[at(i)] = 1;
  for (std::size_t next = 0; next < front.size(); ++next)
    detail::each_in_row(W_, front[next], [&](Index j, double weight) {
      if (weight == 0 || has[at(j)] != 0) return;
      has[at(j)] = 1;
      joining_.emplace_back(j, front[next]);
      front.push_back(j);
    });
}

std::optional<Epoch> FaultyNetwork::Impl::begin_iteration(Index t) {
  norm_.setConstant(agents(), -1);
  if (t == 0) {
    round_ = 0;
    counts_ = {};
    alive_.assign(at(agents()), 1);
    member_ = alive_;
    up_.assign(links_.size(), 0);
    distance_.setZero(static_cast<Index>(links_.size()));
    before_.setZero(agents());
    after_.setZero(agents());
    expected_.assign(at(agents()), 0);
    missed_ = expected_;
    heard_.assign(at(agents()) * words_, 0);
    epoch_ = {.reason = "start"};
    std::vector<Index> everyone(at(agents()));
    std::iota(everyone.begin(), everyone.end(), Index{0});
    install(std::move(everyone));
    joining_.clear();
    begin_votes();
    return epoch_;
  }

  std::vector<Index> crashed, back, cut_off;
  for (const AgentFault& fault : faults_.agents) {
    if (fault.iteration != t) continue;
    const bool crash = fault.kind == AgentFault::Kind::crash;
    alive_[at(fault.agent)] = crash ? 0 : 1;
    (crash ? crashed : back).push_back(fault.agent);
  }
  if (crashed.empty() && back.empty()) return std::nullopt;
  counts_.crashes += static_cast<std::int64_t>(crashed.size());
  counts_.rejoins += static_cast<std::int64_t>(back.size());

  std::vector<Index> members = find_members();
  if (static_cast<Index>(members.size()) < faults_.quorum)
    throw CommunicationError(
        fmt::format("iteration {}: {} of {} agents are left together: must be at least the quorum "
                    "of {}",
                    t, members.size(), agents(), faults_.quorum));
  if (members == epoch_.members) return std::nullopt;
  const std::vector<char> before = member_;
  install(std::move(members));
  for (Index i = 0; i < agents(); ++i)
    if (alive_[at(i)] != 0 && !is_member(i)) cut_off.push_back(i);
  counts_.cut_off += static_cast<std::int64_t>(cut_off.size());
  epoch_.iteration = t;
  epoch_.reason.clear();
  add_reason(epoch_.reason, crashed, "crashed");
  add_reason(epoch_.reason, back, "rejoined");
  add_reason(epoch_.reason, cut_off, "cut off");
  plan_hand_over(before);

  Block<double> no_votes(agents(), 0);
  begin_votes();
  settle_votes(no_votes);  // the members learn of each other
  return epoch_;
}

void FaultyNetwork::Impl::hand_over(BlockView<double> X) {
  for (const auto& [agent, from] : joining_) {
    X.row(agent) = X.row(from);
    ++traffic_.messages;
    traffic_.bytes += X.cols() * static_cast<std::int64_t>(sizeof(double));
  }
}

// ---- The network, as users see it -----------------------------------------------------------------------------------

FaultyNetwork::FaultyNetwork(GossipMatrix W, Faults faults, MessagePrecision precision)
    : impl_(std::make_unique<Impl>(std::move(W), std::move(faults), precision)) {}

FaultyNetwork::FaultyNetwork(FaultyNetwork&&) noexcept = default;
FaultyNetwork& FaultyNetwork::operator=(FaultyNetwork&&) noexcept = default;
FaultyNetwork::~FaultyNetwork() = default;

Index FaultyNetwork::agents() const { return impl_->agents(); }
Index FaultyNetwork::local_agents() const { return impl_->agents(); }
Index FaultyNetwork::diameter() const { return impl_->diameter(); }
const GossipSpectrum& FaultyNetwork::spectrum() const { return impl_->spectrum(); }
const Traffic& FaultyNetwork::traffic() const { return impl_->traffic(); }
ConstBlockView<double> FaultyNetwork::unsent() const { return impl_->unsent(); }
const Epoch& FaultyNetwork::epoch() const { return impl_->epoch(); }
Reception FaultyNetwork::reception(Index local) const { return impl_->reception(local); }
const FaultCounts& FaultyNetwork::fault_counts() const { return impl_->fault_counts(); }
const CsrMatrix<double>& FaultyNetwork::round_matrix() const { return impl_->round_matrix(); }

void FaultyNetwork::mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev,
                        BlockView<double> out, BlockView<double> votes) {
  impl_->mix(step, Z, Z_prev, out, votes);
}

std::optional<Epoch> FaultyNetwork::begin_iteration(Index t) { return impl_->begin_iteration(t); }
void FaultyNetwork::hand_over(BlockView<double> X) { impl_->hand_over(X); }
void FaultyNetwork::begin_votes() { impl_->begin_votes(); }
void FaultyNetwork::settle_votes(BlockView<double> votes) { impl_->settle_votes(votes); }
void FaultyNetwork::wait_while(std::function<bool()> patient) { impl_->wait_while(std::move(patient)); }

}  // namespace hearsay
