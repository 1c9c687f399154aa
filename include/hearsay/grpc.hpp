// Links between organisations: one gRPC stream per edge, over mutually authenticated TLS 1.3 and nothing else.
//
// Either end of an edge may dial, so that a site whose firewall lets nobody in takes part as well. Whoever calls and
// whoever is called shows a certificate of the federation's authority, and is held to the name that the roster has for
// exactly this edge. There is no plaintext mode and no way to turn a check off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"
#include "hearsay/links.hpp"

namespace hearsay {

/// The other end of an edge.
struct GrpcPeer {
  Index agent = 0;
  std::string name = {};      ///< for messages
  std::string identity = {};  ///< what its certificate must say: "DNS:name" or "URI:text", among its alternative names
  std::string address = {};   ///< "host:port", to dial; empty: it dials
};

/// PEM files. They are read again when they change, for the connections that follow.
struct TlsFiles {
  std::filesystem::path certificate = {};  ///< this agent's, and what lies between it and the authority
  std::filesystem::path key = {};
  std::filesystem::path authority = {};  ///< the certificates that others' must lead to
};

struct GrpcOptions {
  Index self = 0;
  std::string listen = {};           ///< "host:port", port 0 for any; empty: nobody can dial this agent
  std::vector<GrpcPeer> peers = {};  ///< the neighbours
  std::string federation = {};       ///< digest of what all agents must have agreed on
  TlsFiles tls = {};
  std::size_t largest_frame = 1 << 20;  ///< in bytes; a longer one ends the link
  std::size_t buffered_frames = 8;      ///< of the largest size, for each link and direction
  double keepalive_seconds = 20;        ///< a silent link is asked after so long, and given up after as long again
  double first_retry_seconds = 0.1;     ///< the wait before a lost link is dialled anew, doubled every time
  double slowest_retry_seconds = 5;
  bool checking = false;         ///< look whether neighbours are there, and disturb none that is in a run
  unsigned reload_seconds = 10;  ///< how often the files are looked at
};

/// What a neighbour said of itself when its link opened.
struct PeerFacts {
  std::string version = {};  ///< of hearsay; empty: there was no link yet
  double clock_ahead = 0;    ///< of ours, in seconds, give or take the time that a message takes
};

/// What went over one link, frames alone.
struct LinkTraffic {
  std::int64_t frames_sent = 0, frames_received = 0, bytes_sent = 0, bytes_received = 0;
};

class HEARSAY_API GrpcLinks final : public Links {
 public:
  /// Listens and dials from here on; links come as events. Throws InvalidArgument for options that cannot be meant, and
  /// CommunicationError where the address cannot be listened at.
  explicit GrpcLinks(GrpcOptions options);
  /// Without a word to the neighbours beyond what close() has said.
  ~GrpcLinks() override;

  Index self() const override;
  std::span<const Index> neighbours() const override;
  bool send(Index peer, std::vector<std::byte> frame, double deadline) override;
  LinkEvent poll(double deadline) override;
  bool any_thread() const override { return true; }
  double now() const override;

  /// Ends every link, after what was sent is on its way. Waits for that until the deadline; then there are no links.
  void close(double deadline);

  /// Why there is no link to this neighbour, as far as it is known; empty where there is one.
  std::string trouble(Index peer) const;
  /// Callers that were turned away since this was asked last, each with the reason.
  std::vector<std::string> refusals();
  LinkTraffic traffic(Index peer) const;
  PeerFacts facts(Index peer) const;
  /// The port that is listened at; 0 where nobody can dial.
  int port() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hearsay
