#include "protocol/link_network_impl.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
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

// What gossip's rounding may make of a sum, relative: it stays below 1e-12 in thousands of rounds.
constexpr double conserved = 1e-9;

// In seconds. How long one waits before whoever wants to end the run is asked, and at most before a link that took
// nothing is tried again: twice as long each time.
constexpr double slice = 0.2;

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
          .beats = links_->any_thread(),
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
  if (links_->any_thread() && !neighbours_.empty())
    beats_ = std::jthread([this](const std::stop_token& stop) { beat(stop); });
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
  witness_rounds_ = 0;
}

// ---- Driving the session --------------------------------------------------------------------------------------------

void LinkNetwork::Impl::throw_failure() const {
  if (trouble_) std::rethrow_exception(trouble_);
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

protocol::View LinkNetwork::Impl::agree_on_members() {
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
  take(links_->poll(std::min(session_.next_tick(), now + wait)));
  session_.tick(links_->now());
  ask_to_go_on();
}

void LinkNetwork::Impl::take(LinkEvent event) {
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
}

// So that an agent in a long product does not look like one that is gone, and takes part when members change.
void LinkNetwork::Impl::beat(const std::stop_token& stop) {
  const std::chrono::duration<double> pause(options_.patience.heartbeat / 2);
  std::unique_lock lock(inside_);
  while (!stop.stop_requested() && !trouble_) {
    quiet_.wait_for(lock, stop, pause, [] { return false; });
    if (stop.stop_requested()) return;
    try {
      for (LinkEvent event = links_->poll(links_->now()); event.kind != LinkEvent::Kind::idle;
           event = links_->poll(links_->now()))
        take(std::move(event));
      session_.tick(links_->now());
      push();
    } catch (...) {
      trouble_ = std::current_exception();
    }
  }
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

// With what the witnesses have said so far behind them.
Index LinkNetwork::Impl::cast_votes(ConstBlockView<double> votes) {
  const Index witnesses = witness_rounds_ > 0 ? witnesses_.cols() : 0;
  cast_.resize(1, votes.cols() + witnesses);
  cast_.leftCols(votes.cols()) = votes;
  if (witnesses > 0) cast_.rightCols(witnesses) = witnesses_;
  return cast_.cols();
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
  const Index cast = cast_votes(votes);
  session_.begin_round(FrameKind::block, write_message(Z, cast_), links_->now());
  push();
  if (numbers > 0 && rounds())
    tell(options_.precision, Z, heard_.topRows(1), unsent_);
  else if (numbers > 0)
    heard_.row(0) = Z.row(0);
  await_round();
  said_.resize(row_.cols, cast);
  if (cast > 0) said_.row(0) = cast_.row(0);
  for (std::size_t i = 0; i < neighbours_.size(); ++i) hear(neighbours_[i], 1 + static_cast<Index>(i), numbers, cast);
  if (numbers > 0) {
    detail::mix_rows(row_, step, heard_, Z_prev, out);
    if (rounds()) out += (step.mixed + step.self) * unsent_;
  }
  detail::each_in_row(row_, 0, [&](Index j, double) { cast_.row(0) = cast_.row(0).cwiseMax(said_.row(j)); });
  votes = cast_.leftCols(votes.cols());
  if (witness_rounds_ > 0) hear_witnesses();
  traffic_.add_round(2 * W_.edges(), numbers * bytes_per_number(options_.precision), votes.cols());
}

// Who has said nothing yet loses every maximum.
void LinkNetwork::Impl::bear_witness(double off, double size) {
  if (witness_rounds_ > 0 || W_.agents() < 2 || W_.agents() > most_witnesses) return;
  witnesses_.setConstant(1, 2 * W_.agents(), -std::numeric_limits<double>::infinity());
  witnesses_(0, 2 * place_of(self_)) = off;
  witnesses_(0, 2 * place_of(self_) + 1) = size;
  witness_rounds_ = W_.diameter();
}

// Everyone adds up the same numbers in the same order.
void LinkNetwork::Impl::hear_witnesses() {
  witnesses_ = cast_.rightCols(witnesses_.cols());
  if (--witness_rounds_ > 0) return;
  double off = 0, size = 0;
  for (Index i = 0; i < W_.agents(); ++i) off += witnesses_(0, 2 * i), size += witnesses_(0, 2 * i + 1);
  if (!(std::abs(off) <= conserved * size))
    throw DataError(
        fmt::format("the blocks of all agents do not add up to what they were made of: they are off by {:.3g} of "
                    "{:.3g}, and rounding is below {:.0e} of it; an agent's memory or a message was changed",
                    off, size, conserved));
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
    if ((!rounds() || neighbours_.empty()) && heard.size() == 0) return;
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
  const Inside inside(*this);
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

}  // namespace hearsay
