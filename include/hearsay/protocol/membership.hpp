// Who takes part from now on: how the agents that are left agree on it, when links or agents do not answer any more.
// No I/O and no clock, as the session, which drives it.
//
// Every agent floods what it knows: which edges are out of use (only ever more of them), how each agent stands, and who
// has acknowledged what. Whoever knows how all stand whom it can still reach acknowledges that view, once in a ballot;
// what it learns later goes into the next ballot. A view holds when all of its members have acknowledged it. So of two
// views that hold in one ballot no agent is in both; and as a view needs more than half of all agents, there is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"

namespace hearsay::protocol {

/// How far an agent is.
struct Standing {
  std::uint64_t iterations = 0;  ///< that it has done
  bool holds = false;            ///< a whole result of this epoch, with this digest, and the others may have heard so
  std::uint32_t epoch = 0;
  std::uint64_t digest = 0;

  friend bool operator==(const Standing&, const Standing&) = default;
};

/// What the members have agreed on.
struct View {
  std::uint32_t epoch = 0;
  std::vector<Index> members = {};                ///< ascending
  std::vector<std::pair<Index, Index>> cut = {};  ///< edges out of use, the lesser end first, ascending
  std::vector<Standing> standings = {};           ///< of each member
  std::uint64_t digest = 0;                       ///< of all that

  /// Every member holds the same result: perhaps somebody has made use of it already, and it stays the result.
  HEARSAY_API bool everyone_holds() const;
};

class HEARSAY_API Membership {
 public:
  using Edges = std::vector<std::pair<Index, Index>>;

  /// Throws InvalidArgument unless quorum is more than half of the agents.
  Membership(Index agents, Index self, const Edges& edges, Index quorum);

  bool changing() const { return ballot_ > installed_; }
  std::uint32_t ballot() const { return ballot_; }
  std::uint32_t installed() const { return installed_; }

  /// A change begins here.
  void begin(const Standing& own);

  /// The edge to this neighbour is out of use.
  void cut(Index neighbour);

  /// What a neighbour floods. True: something of it was new. Throws CommunicationError for what cannot be.
  bool take(std::span<const std::byte> message);

  /// All that this agent knows.
  std::vector<std::byte> message() const;
  static std::size_t largest_message(Index agents, std::size_t edges);

  /// As many are within reach as must be.
  bool enough() const { return static_cast<Index>(reach_.size()) >= quorum_; }
  const std::vector<Index>& reach() const { return reach_; }

  /// The view that holds, if one does; from then on it is the one in use.
  std::optional<View> settle();

 private:
  struct Agent {
    std::optional<Standing> standing = {};           // in this ballot
    std::optional<std::uint64_t> acknowledged = {};  // in this ballot: the view's digest
  };
  struct Told;

  Told read(std::span<const std::byte> message) const;
  void move_to(std::uint32_t ballot);
  bool add_cuts(const std::vector<std::pair<Index, Index>>& cuts);
  void acknowledge();
  View view() const;
  void find_reach();
  Agent& of(Index agent) { return agents_[static_cast<std::size_t>(agent)]; }
  const Agent& of(Index agent) const { return agents_[static_cast<std::size_t>(agent)]; }

  Index self_, quorum_;
  std::set<std::pair<Index, Index>> edges_, cut_;
  std::vector<Agent> agents_;
  Standing own_ = {};
  std::uint32_t ballot_ = 0, installed_ = 0;
  std::vector<Index> reach_;  // ascending
};

}  // namespace hearsay::protocol
