#include "hearsay/link_network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "hearsay/error.hpp"
#include "network/bytes.hpp"
#include "network/entries.hpp"
#include "network/failure.hpp"
#include "network/mixing.hpp"
#include "protocol/flood.hpp"
#include "protocol/little_endian.hpp"

namespace hearsay {

using protocol::Ending;
using protocol::FrameKind;
using protocol::Session;

namespace {

// A block's message: how many numbers and votes, then the votes as doubles, then the block in the precision of
// messages.
enum BlockPlace : std::size_t { at_numbers = 0, at_votes = 8, at_reserved = 12, block_header = 16 };

// In seconds. How long one waits before whoever wants to end the run is asked; and before a link that took nothing is
// tried again, at first: twice as long each time.
constexpr double slice = 0.2, first_retry = 0.001;

// Another agent failed, and this one heard of it.
class AgentFailure : public CommunicationError {
 public:
  AgentFailure(Ending ending, const std::string& message) : CommunicationError(message), ending_(std::move(ending)) {}
  const Ending& ending() const { return ending_; }

 private:
  Ending ending_;
};

std::uint64_t drawn_nonce() {
  std::random_device source;
  std::uint64_t nonce = 0;
  while (nonce == 0) nonce = std::uint64_t{source()} << 32 | source();
  return nonce;
}

bool all_finite(std::span<const double> numbers) {
  return (Eigen::Map<const Eigen::ArrayXd>(numbers.data(), static_cast<Index>(numbers.size())) * 0).sum() == 0;
}

Ending ending_of(const std::exception& error, Index self) {
  using Kind = Ending::Kind;
  const Kind kind = dynamic_cast<const InvalidArgument*>(&error) != nullptr      ? Kind::invalid_argument
                    : dynamic_cast<const DataError*>(&error) != nullptr          ? Kind::data_error
                    : dynamic_cast<const CommunicationError*>(&error) != nullptr ? Kind::communication_error
                                                                                 : Kind::error;
  return {.kind = kind, .origin = self, .message = error.what()};
}

}  // namespace

class LinkNetwork::Impl {
 public:
  Impl(Links& links, GossipMatrix W, const LinkNetworkOptions& options);

  void connect();
  std::vector<std::string> gather_everywhere(const std::string& own, const std::string& what);
  void mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev, BlockView<double> out,
           BlockView<double> votes);
  void run(const std::function<void()>& body);
  const protocol::View& agree_on_members();
  std::string told() const;
  void set_told(std::string_view told);

  Links* links_;
  GossipMatrix whole_, W_;  // of everyone, and of those who take part
  GossipSpectrum spectrum_;
  LinkNetworkOptions options_;
  Index self_;                                     // of everyone, as all that follow
  std::vector<Index> members_;                     // who take part, ascending
  std::vector<Index> everyone_near_, neighbours_;  // who was there at the start, and who takes part
  std::uint32_t epoch_ = 0;
  Session session_;
  Traffic traffic_ = {};
  Block<double> unsent_ = {};

  Index place_of(Index agent) const {
    return std::lower_bound(members_.begin(), members_.end(), agent) - members_.begin();
  }

 private:
  protocol::SessionOptions session_options() const;
  std::optional<protocol::Exclusion> exclusion() const;
  void take_rows();
  void join_members();
  void throw_change() const;
  bool rounds() const { return options_.precision != MessagePrecision::real64; }
  std::size_t bytes_each() const { return static_cast<std::size_t>(bytes_per_number(options_.precision)); }
  std::span<const std::byte> write_message(ConstBlockView<double> Z, ConstBlockView<double> votes);
  std::span<const std::byte> read_header(Index neighbour, Index numbers, Index votes) const;
  void hear(Index neighbour, Index row, Index numbers, Index votes);
  void push();
  void step();
  void ask_to_go_on();
  void await_round();
  void throw_failure() const;
  void say_goodbye(const Ending& ending);

  CsrMatrix<double> row_;       // of W, for this agent; columns: itself, then its neighbours
  Block<double> heard_;         // blocks: its own, then its neighbours'; where messages are rounded, as told
  Block<double> said_;          // votes, likewise
  std::vector<double> change_;  // told in one message
  std::vector<std::byte> message_;
  double retry_ = first_retry;
  double asked_ = 0;  // when
};

// ---- Setting up -----------------------------------------------------------------------------------------------------

protocol::SessionOptions LinkNetwork::Impl::session_options() const {
  const std::uint64_t block = block_header + sizeof(double) * options_.largest_block;
  return {.self = self_,
          .agents = W_.agents(),
          .neighbours = neighbours_,
          .names = options_.names,
          .nonce = options_.nonce != 0 ? options_.nonce : drawn_nonce(),
          .configuration = options_.configuration,
          .facts = options_.facts,
          .agreement_rounds = static_cast<std::uint64_t>(W_.diameter()),
          .largest_message =
              std::max<std::uint64_t>(block, protocol::largest_flood_message(W_.agents(), options_.longest_words)),
          .patience = options_.patience,
          .exclusion = exclusion(),
          .attempt = options_.attempt};
}

std::optional<protocol::Exclusion> LinkNetwork::Impl::exclusion() const {
  if (options_.quorum == 0) return std::nullopt;
  protocol::Exclusion exclusion{.quorum = options_.quorum};
  for (const auto& [a, b] : whole_.graph().edges) exclusion.edges.emplace_back(a, b);
  return exclusion;
}

LinkNetwork::Impl::Impl(Links& links, GossipMatrix W, const LinkNetworkOptions& options)
    : links_(&links),
      whole_(std::move(W)),
      W_(whole_),
      spectrum_(options.spectrum ? *options.spectrum : gossip_spectrum(W_)),
      options_(options),
      self_(links.self()),
      members_(static_cast<std::size_t>(W_.agents())),
      everyone_near_(self_ >= 0 && self_ < W_.agents() ? detail::neighbours_of(W_.matrix(), self_)
                                                       : std::vector<Index>{}),
      neighbours_(everyone_near_),
      session_(session_options(), links.now()) {
  require(std::ranges::equal(neighbours_, links.neighbours()),
          fmt::format("links of agent {} lead to [{}]: must lead to [{}], its neighbours in the gossip matrix", self_,
                      fmt::join(links.neighbours(), ", "), fmt::join(neighbours_, ", ")));
  std::iota(members_.begin(), members_.end(), Index{0});
  take_rows();
}

// This agent's row of W; columns: itself, then its neighbours.
void LinkNetwork::Impl::take_rows() {
  row_ = {.rows = 1, .cols = 1 + static_cast<Index>(neighbours_.size())};
  detail::each_in_row(W_.matrix(), place_of(self_), [&](Index j, double value) {  // in the order of LocalNetwork's sums
    const Index agent = members_[static_cast<std::size_t>(j)];
    const auto place = std::lower_bound(neighbours_.begin(), neighbours_.end(), agent) - neighbours_.begin();
    detail::append(row_, agent == self_ ? 0 : 1 + place, value);
  });
  detail::end_row(row_);
}

// Both ends have taken the same edges out, and everybody knows of all: so all make the same matrix of what is left.
void LinkNetwork::Impl::join_members() {
  const protocol::View& view = session_.view();
  epoch_ = view.epoch;
  members_ = view.members;
  Graph left{.nodes = static_cast<Index>(members_.size())};
  for (const auto& [a, b] : whole_.graph().edges) {
    const bool in = std::binary_search(members_.begin(), members_.end(), Index{a}) &&
                    std::binary_search(members_.begin(), members_.end(), Index{b});
    if (in && !std::binary_search(view.cut.begin(), view.cut.end(), std::pair<Index, Index>(std::minmax(a, b))))
      left.edges.emplace_back(static_cast<std::int32_t>(place_of(a)), static_cast<std::int32_t>(place_of(b)));
  }
  W_ = GossipMatrix::metropolis(left);
  spectrum_ = gossip_spectrum(W_);
  std::erase_if(neighbours_, [&](Index agent) { return session_.is_cut(agent); });
  take_rows();
  heard_.resize(0, 0);
  unsent_.resize(0, 0);
}

// ---- Driving the session --------------------------------------------------------------------------------------------

void LinkNetwork::Impl::throw_failure() const {
  const auto& failure = session_.failure();
  if (!failure) return;
  const bool here = failure->origin == self_;
  throw AgentFailure(
      *failure, here ? failure->message : fmt::format("{}: {}", session_.name_of(failure->origin), failure->message));
}

// What was under way is void.
void LinkNetwork::Impl::throw_change() const {
  throw_failure();
  if (session_.concluded()) throw MembersChanged("another agent has ended well");
  if (session_.state() == Session::State::changing || session_.epoch() != epoch_)
    throw MembersChanged("an agent is gone, or an edge: the others agree on who takes part");
}

const protocol::View& LinkNetwork::Impl::agree_on_members() {
  throw_failure();
  while (session_.state() == Session::State::changing && !session_.concluded()) {
    step();
    throw_failure();
  }
  if (!session_.concluded() && session_.epoch() != epoch_) join_members();
  return session_.view();
}

// Hands over what the links will take.
void LinkNetwork::Impl::push() {
  for (const Index to : everyone_near_)
    while (const protocol::FrameBytes* frame = session_.next_frame(to)) {
      if (!links_->send(to, *frame, links_->now())) break;
      session_.sent(to, links_->now());
      retry_ = first_retry;
    }
}

// One event, or a little time.
void LinkNetwork::Impl::step() {
  push();
  const double now = links_->now();
  const double wait = session_.nothing_to_send() ? slice : retry_;
  retry_ = std::min(slice, 2 * retry_);
  LinkEvent event = links_->poll(std::min(session_.next_tick(), now + wait));
  switch (event.kind) {
    case LinkEvent::Kind::frame:
      session_.received(event.peer, event.frame, links_->now());
      break;
    case LinkEvent::Kind::closed:
      session_.closed(event.peer, event.reason, links_->now());
      break;
    case LinkEvent::Kind::opened:
      session_.opened(event.peer, links_->now());
      break;
    case LinkEvent::Kind::idle:
      break;
  }
  session_.tick(links_->now());
  ask_to_go_on();
}

void LinkNetwork::Impl::ask_to_go_on() {
  if (!options_.go_on || session_.state() == Session::State::ended || links_->now() < asked_ + slice) return;
  asked_ = links_->now();
  if (!options_.go_on()) throw CommunicationError("was asked to stop");
}

void LinkNetwork::Impl::await_round() {
  throw_change();
  while (!session_.round_complete()) {
    step();
    throw_change();
  }
}

void LinkNetwork::Impl::connect() {
  while (session_.state() == Session::State::greeting) {
    step();
    throw_failure();
  }
  std::string own(sizeof(std::uint64_t), '\0');
  protocol::store(std::as_writable_bytes(std::span(own)), 0, session_.options().nonce);
  std::vector<std::uint64_t> numbers{options_.configuration};
  for (const std::string& said : gather_everywhere(own, "nonce")) {
    if (said.size() != sizeof(std::uint64_t))
      throw CommunicationError(fmt::format("an agent's nonce has {} bytes: must have 8", said.size()));
    numbers.push_back(protocol::load<std::uint64_t>(std::as_bytes(std::span(said)), 0));
  }
  session_.set_run(protocol::mixed_digest(numbers));
}

std::vector<std::string> LinkNetwork::Impl::gather_everywhere(const std::string& own, const std::string& what) {
  try {
    throw_change();
    protocol::Flood flood(W_.agents(), place_of(self_), own, options_.longest_words, members_);
    for (Index round = 0; round < W_.diameter(); ++round) {
      std::vector<std::vector<std::byte>> messages;
      for (const Index to : neighbours_) messages.push_back(flood.message_for(place_of(to)));
      session_.begin_round(FrameKind::gather, messages, links_->now());
      await_round();
      for (const Index from : neighbours_) flood.take(place_of(from), session_.heard(from));
      flood.end_round();
    }
    return flood.all();
  } catch (const AgentFailure&) {
    throw;
  } catch (const CommunicationError& error) {
    throw CommunicationError(fmt::format("{}: {}", what, error.what()));
  }
}

// ---- A round --------------------------------------------------------------------------------------------------------

std::span<const std::byte> LinkNetwork::Impl::write_message(ConstBlockView<double> Z, ConstBlockView<double> votes) {
  const auto numbers = static_cast<std::size_t>(Z.cols()), cast = static_cast<std::size_t>(votes.cols());
  message_.resize(block_header + sizeof(double) * cast + bytes_each() * numbers);
  const std::span<std::byte> out(message_);
  protocol::store(out, at_numbers, static_cast<std::uint64_t>(numbers));
  protocol::store(out, at_votes, static_cast<std::uint32_t>(cast));
  protocol::store(out, at_reserved, std::uint32_t{0});
  if (cast > 0) std::memcpy(out.data() + block_header, votes.row(0).data(), sizeof(double) * cast);
  std::byte* const block = out.data() + block_header + sizeof(double) * cast;
  if (rounds() && numbers > 0) {
    change_.resize(numbers);
    Eigen::Map<Eigen::RowVectorXd>(change_.data(), Z.cols()) = Z.row(0) - heard_.row(0);
    encode(options_.precision, change_, block);
  } else {
    encode(options_.precision, {Z.row(0).data(), numbers}, block);
  }
  protocol::to_or_from_little_endian(out.subspan(block_header, sizeof(double) * cast), sizeof(double));
  protocol::to_or_from_little_endian(out.subspan(block_header + sizeof(double) * cast), bytes_each());
  return message_;
}

// The rest of the message, once it is what it must be.
std::span<const std::byte> LinkNetwork::Impl::read_header(Index neighbour, Index numbers, Index votes) const {
  const std::span<const std::byte> bytes = session_.heard(neighbour);
  const auto refuse = [&](const std::string& what) {
    throw CommunicationError(fmt::format("{} sent {}", session_.name_of(neighbour), what));
  };
  if (bytes.size() < block_header)
    refuse(fmt::format("a block of {} bytes: must have {} at least", bytes.size(), size_t{block_header}));
  const auto said = protocol::load<std::uint64_t>(bytes, at_numbers);
  const auto cast = protocol::load<std::uint32_t>(bytes, at_votes);
  if (said != static_cast<std::uint64_t>(numbers) || cast != static_cast<std::uint64_t>(votes))
    refuse(fmt::format("a block of {} numbers and {} votes: must be {} and {}", said, cast, numbers, votes));
  const std::size_t length = block_header + sizeof(double) * static_cast<std::size_t>(votes) +
                             bytes_each() * static_cast<std::size_t>(numbers);
  if (bytes.size() != length) refuse(fmt::format("a block of {} bytes: must have {}", bytes.size(), length));
  return bytes.subspan(block_header);
}

void LinkNetwork::Impl::hear(Index neighbour, Index row, Index numbers, Index votes) {
  std::span<const std::byte> bytes = read_header(neighbour, numbers, votes);
  const std::size_t vote_bytes = sizeof(double) * static_cast<std::size_t>(votes);
  if constexpr (protocol::swaps_bytes) {
    message_.assign(bytes.begin(), bytes.end());
    protocol::to_or_from_little_endian(std::span(message_).first(vote_bytes), sizeof(double));
    protocol::to_or_from_little_endian(std::span(message_).subspan(vote_bytes), bytes_each());
    bytes = message_;
  }
  if (votes > 0) std::memcpy(said_.row(row).data(), bytes.data(), vote_bytes);
  if (said_.row(row).hasNaN())  // of which no two agents would make the same maximum
    throw DataError(fmt::format("{} sent a vote that is not a number", session_.name_of(neighbour)));
  if (numbers == 0) return;
  const auto count = static_cast<std::size_t>(numbers);
  change_.resize(rounds() ? count : 0);
  const std::span<double> told = rounds() ? std::span<double>(change_) : std::span(heard_.row(row).data(), count);
  decode(options_.precision, bytes.data() + vote_bytes, told);
  if (!all_finite(told))
    throw DataError(fmt::format("{} sent a block with a number that is not finite", session_.name_of(neighbour)));
  if (rounds()) heard_.row(row) += Eigen::Map<const Eigen::RowVectorXd>(change_.data(), numbers);
}

// The sums of LocalNetwork: see mixing.hpp for its part.
void LinkNetwork::Impl::mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev,
                            BlockView<double> out, BlockView<double> votes) {
  const Index numbers = Z.cols();
  require(Z.rows() == 1 && out.rows() == 1 && out.cols() == numbers && votes.rows() == 1,
          fmt::format("blocks of {} agents: must be 1, the one that lives here", Z.rows()));
  if (numbers > 0 && (heard_.cols() != numbers || heard_.rows() != row_.cols)) {
    heard_.setZero(row_.cols, numbers);
    unsent_.setZero(rounds() ? 1 : 0, rounds() ? numbers : 0);
  }
  throw_change();
  session_.begin_round(FrameKind::block, write_message(Z, votes), links_->now());
  push();
  if (numbers > 0 && rounds())
    tell(options_.precision, Z, heard_.topRows(1), unsent_);
  else if (numbers > 0)
    heard_.row(0) = Z.row(0);
  await_round();
  said_.resize(row_.cols, votes.cols());
  if (votes.cols() > 0) said_.row(0) = votes.row(0);
  for (std::size_t i = 0; i < neighbours_.size(); ++i)
    hear(neighbours_[i], 1 + static_cast<Index>(i), numbers, votes.cols());
  if (numbers > 0) {
    detail::mix_rows(row_, step, heard_, Z_prev, out);
    if (rounds()) out += (step.mixed + step.self) * unsent_;
  }
  detail::each_in_row(row_, 0, [&](Index j, double) { votes.row(0) = votes.row(0).cwiseMax(said_.row(j)); });
  traffic_.add_round(2 * W_.edges(), numbers * bytes_per_number(options_.precision), votes.cols());
}

std::string LinkNetwork::Impl::told() const {
  detail::ByteWriter writer;
  writer.put(rounds() ? heard_ : Block<double>());
  writer.put(rounds() ? unsent_ : Block<double>());
  return writer.bytes();
}

void LinkNetwork::Impl::set_told(std::string_view told) {
  try {
    detail::ByteReader reader(told, "what neighbours were told");
    Block<double> heard = reader.block(), unsent = reader.block();
    reader.require_end();
    if (!rounds() && heard.size() == 0) return;
    if (!rounds() || heard.rows() != row_.cols || unsent.rows() != 1 || unsent.cols() != heard.cols() ||
        !heard.allFinite() || !unsent.allFinite())
      throw CommunicationError(fmt::format("what neighbours were told has {} blocks of {} numbers: must have {}",
                                           heard.rows(), heard.cols(), row_.cols));
    heard_ = std::move(heard);
    unsent_ = std::move(unsent);
  } catch (const CommunicationError& error) {  // of a file, not of another agent
    throw DataError(error.what());
  }
}

// ---- The end --------------------------------------------------------------------------------------------------------

// Every neighbour that can be reached hears of it; of a run that ended well, each waits for the others' word.
void LinkNetwork::Impl::say_goodbye(const Ending& ending) {
  session_.leave(ending);
  const double until = links_->now() + std::max(options_.patience.link, slice);
  const bool well = !ending.failed();
  while (links_->now() < until && !(session_.nothing_to_send() && (!well || session_.everyone_left()))) step();
  push();
}

void LinkNetwork::Impl::run(const std::function<void()>& body) {
  try {
    body();
  } catch (const AgentFailure& error) {
    say_goodbye(error.ending());
    if (error.ending().kind == Ending::Kind::left_out) throw LeftOut(error.what());
    if (error.ending().kind == Ending::Kind::gone) throw AgentGone(error.what());
    if (error.ending().origin == self_) throw CommunicationError(error.what());
    detail::raise(static_cast<detail::Failure::Kind>(error.ending().kind), error.what());
  } catch (const std::exception& error) {
    say_goodbye(ending_of(error, self_));
    throw;
  }
  say_goodbye({.origin = self_});
}

// ---- The network, as users see it -----------------------------------------------------------------------------------

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
std::uint64_t LinkNetwork::run_id() const { return impl_->session_.run(); }
std::string LinkNetwork::name_of(Index agent) const { return impl_->session_.name_of(agent); }

std::vector<protocol::PeerCounts> LinkNetwork::links() const {
  std::vector<protocol::PeerCounts> counts;
  for (const Index neighbour : impl_->everyone_near_) counts.push_back(impl_->session_.counts(neighbour));
  return counts;
}

const std::vector<Index>& LinkNetwork::members() const { return impl_->members_; }
std::uint32_t LinkNetwork::epoch() const { return impl_->epoch_; }
bool LinkNetwork::concluded() const { return impl_->session_.concluded(); }

bool LinkNetwork::neighbour_finished() const {
  return std::any_of(impl_->everyone_near_.begin(), impl_->everyone_near_.end(), [&](Index neighbour) {
    const auto& said = impl_->session_.farewell_of(neighbour);
    return said && !said->failed();
  });
}

std::uint64_t LinkNetwork::next_attempt() const { return impl_->session_.next_attempt(); }
bool LinkNetwork::connected() const { return impl_->session_.run_known(); }

std::string LinkNetwork::told() const { return impl_->told(); }
void LinkNetwork::set_told(std::string_view told) { impl_->set_told(told); }

void LinkNetwork::set_standing(const protocol::Standing& standing) { impl_->session_.set_standing(standing); }

const protocol::View& LinkNetwork::agree_on_members() { return impl_->agree_on_members(); }

void LinkNetwork::connect() { impl_->connect(); }

std::vector<std::string> LinkNetwork::gather_everywhere(const std::string& own, const std::string& what) {
  return impl_->gather_everywhere(own, what);
}

void LinkNetwork::mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev,
                      BlockView<double> out, BlockView<double> votes) {
  impl_->mix(step, Z, Z_prev, out, votes);
}

void LinkNetwork::run(const std::function<void()>& body) { impl_->run(body); }

}  // namespace hearsay
