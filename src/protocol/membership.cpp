#include "hearsay/protocol/membership.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hearsay/error.hpp"
#include "hearsay/protocol/session.hpp"
#include "network/bytes.hpp"

namespace hearsay::protocol {
namespace {

using detail::ByteReader;
using detail::ByteWriter;

using Edge = std::pair<Index, Index>;

constexpr const char* about_members = "a message about the members";

// Bytes of an edge, a standing and an acknowledgement; and of the counts.
constexpr std::size_t edge_bytes = 8, standing_bytes = 25, acknowledgement_bytes = 12, counts_bytes = 4 + 3 * 8;

// Ballots never come near it: there is one for each thing that goes wrong.
constexpr std::uint32_t last_ballot = 1u << 30;

}  // namespace

// What a message says, once it has been held against the rules.
struct Membership::Told {
  std::uint32_t ballot = 0;
  std::vector<Edge> cuts = {};
  std::vector<std::pair<Index, Standing>> standings = {};
  std::vector<std::pair<Index, std::uint64_t>> acknowledged = {};
};

bool View::everyone_holds() const {
  return !standings.empty() && std::all_of(standings.begin(), standings.end(), [&](const Standing& standing) {
    const Standing& first = standings.front();
    return standing.holds && standing.epoch == first.epoch && standing.digest == first.digest;
  });
}

Membership::Membership(Index agents, Index self, const Edges& edges, Index quorum)
    : self_(self), quorum_(quorum), agents_(static_cast<std::size_t>(agents)) {
  require(2 * quorum > agents && quorum <= agents,
          fmt::format("quorum = {}: must be more than half of the {} agents, so that no two groups go on by themselves",
                      quorum, agents));
  for (const auto& [a, b] : edges) {
    require(a >= 0 && b >= 0 && a < agents && b < agents && a != b,
            fmt::format("edge {}-{}: must join two agents in [0, {})", a, b, agents));
    edges_.insert(std::minmax(a, b));
  }
  find_reach();
}

void Membership::begin(const Standing& own) {
  if (changing()) return;
  own_ = own;
  move_to(installed_ + 1);
  acknowledge();
}

void Membership::move_to(std::uint32_t ballot) {
  ballot_ = ballot;
  std::fill(agents_.begin(), agents_.end(), Agent{});
  of(self_).standing = own_;
}

void Membership::cut(Index neighbour) {
  if (add_cuts({std::minmax(self_, neighbour)})) acknowledge();
}

// What was acknowledged in this ballot is void, and others may already have acted on it: so the rest is for the next.
bool Membership::add_cuts(const std::vector<Edge>& cuts) {
  const std::size_t before = cut_.size();
  cut_.insert(cuts.begin(), cuts.end());
  if (cut_.size() == before) return false;
  find_reach();
  if (of(self_).acknowledged) move_to(ballot_ + 1);
  return true;
}

void Membership::find_reach() {
  std::vector<char> reached(agents_.size(), 0);
  reached[static_cast<std::size_t>(self_)] = 1;
  for (bool more = true; more;) {
    more = false;
    for (const Edge& edge : edges_) {
      char &a = reached[static_cast<std::size_t>(edge.first)], &b = reached[static_cast<std::size_t>(edge.second)];
      if (a == b || cut_.contains(edge)) continue;
      a = b = 1;
      more = true;
    }
  }
  reach_.clear();
  for (std::size_t i = 0; i < reached.size(); ++i)
    if (reached[i] != 0) reach_.push_back(static_cast<Index>(i));
}

View Membership::view() const {
  View view{.epoch = ballot_, .members = reach_, .cut = {cut_.begin(), cut_.end()}};
  std::vector<std::uint64_t> numbers{ballot_, cut_.size()};
  for (const auto& [a, b] : view.cut) numbers.insert(numbers.end(), {std::uint64_t(a), std::uint64_t(b)});
  for (const Index member : reach_) {
    const Standing& standing = *of(member).standing;
    view.standings.push_back(standing);
    numbers.insert(numbers.end(), {std::uint64_t(member), standing.iterations, standing.holds ? 1u : 0u, standing.epoch,
                                   standing.digest});
  }
  view.digest = mixed_digest(numbers);
  return view;
}

// Once it is known how all stand who can be reached.
void Membership::acknowledge() {
  if (!changing() || of(self_).acknowledged) return;
  if (!std::all_of(reach_.begin(), reach_.end(), [&](Index i) { return of(i).standing.has_value(); })) return;
  of(self_).acknowledged = view().digest;
}

std::optional<View> Membership::settle() {
  if (!changing() || !enough() || !of(self_).acknowledged) return std::nullopt;
  const bool all =
      std::all_of(reach_.begin(), reach_.end(), [&](Index i) { return of(i).acknowledged == of(self_).acknowledged; });
  if (!all) return std::nullopt;
  installed_ = ballot_;
  return view();
}

// ---- Messages -------------------------------------------------------------------------------------------------------

std::size_t Membership::largest_message(Index agents, std::size_t edges) {
  return counts_bytes + edges * edge_bytes +
         static_cast<std::size_t>(agents) * (standing_bytes + acknowledgement_bytes);
}

std::vector<std::byte> Membership::message() const {
  const auto many = [&](const auto& has) {
    return static_cast<std::uint64_t>(std::count_if(agents_.begin(), agents_.end(), has));
  };
  ByteWriter writer;
  writer.put(ballot_);
  writer.put(static_cast<std::uint64_t>(cut_.size()));
  for (const auto& [a, b] : cut_) {
    writer.put(static_cast<std::uint32_t>(a));
    writer.put(static_cast<std::uint32_t>(b));
  }
  writer.put(many([](const Agent& agent) { return agent.standing.has_value(); }));
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    if (!agents_[i].standing) continue;
    const Standing& standing = *agents_[i].standing;
    writer.put(static_cast<std::uint32_t>(i));
    writer.put(standing.iterations);
    writer.put(static_cast<unsigned char>(standing.holds ? 1 : 0));
    writer.put(standing.epoch);
    writer.put(standing.digest);
  }
  writer.put(many([](const Agent& agent) { return agent.acknowledged.has_value(); }));
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    if (!agents_[i].acknowledged) continue;
    writer.put(static_cast<std::uint32_t>(i));
    writer.put(*agents_[i].acknowledged);
  }
  const auto* first = reinterpret_cast<const std::byte*>(writer.bytes().data());
  return {first, first + writer.bytes().size()};
}

Membership::Told Membership::read(std::span<const std::byte> message) const {
  ByteReader reader({reinterpret_cast<const char*>(message.data()), message.size()}, about_members);
  const auto agent = [&] {
    const auto i = reader.get<std::uint32_t>();
    if (i >= agents_.size())
      throw CommunicationError(fmt::format("{} names agent {}: must lie in [0, {})", about_members, i, agents_.size()));
    return static_cast<Index>(i);
  };
  Told told{.ballot = reader.get<std::uint32_t>()};
  if (told.ballot == 0 || told.ballot > last_ballot)
    throw CommunicationError(
        fmt::format("{} is of epoch {}: must lie in [1, {}]", about_members, told.ballot, last_ballot));
  for (std::size_t left = reader.count(edge_bytes); left > 0; --left) {
    const Index a = agent(), b = agent();
    if (a >= b || !edges_.contains({a, b}))
      throw CommunicationError(
          fmt::format("{} takes out edge {}-{}: must be one of the network's", about_members, a, b));
    told.cuts.emplace_back(a, b);
  }
  for (std::size_t left = reader.count(standing_bytes); left > 0; --left) {
    auto& [who, standing] = told.standings.emplace_back();
    who = agent();
    standing.iterations = reader.get<std::uint64_t>();
    standing.holds = reader.flag();
    standing.epoch = reader.get<std::uint32_t>();
    standing.digest = reader.get<std::uint64_t>();
  }
  for (std::size_t left = reader.count(acknowledgement_bytes); left > 0; --left) {
    const Index who = agent();
    told.acknowledged.emplace_back(who, reader.get<std::uint64_t>());
  }
  reader.require_end();
  return told;
}

bool Membership::take(std::span<const std::byte> message) {
  const Told told = read(message);
  if (!changing() || told.ballot <= installed_) return false;  // of a change that is over
  bool news = told.ballot > ballot_;
  if (news) move_to(told.ballot);
  if (add_cuts(told.cuts)) news = true;
  // Adding edges may have taken this agent to the next ballot, for which nothing of this counts.
  if (told.ballot == ballot_) {
    const auto learn = [&](auto& known, const auto& value, Index who) {
      if (known && *known != value)
        throw CommunicationError(fmt::format("{} has other words of agent {} in epoch {} than were heard before",
                                             about_members, who, ballot_));
      news = news || !known;
      known = value;
    };
    for (const auto& [who, standing] : told.standings) learn(of(who).standing, standing, who);
    for (const auto& [who, digest] : told.acknowledged) learn(of(who).acknowledged, digest, who);
  }
  acknowledge();
  return news;
}

}  // namespace hearsay::protocol
