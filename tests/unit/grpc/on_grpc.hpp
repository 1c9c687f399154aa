// All agents of a network in this process, each on a thread, with gRPC over mutual TLS on the loopback between them.
#pragma once

#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "federation.hpp"
#include "hearsay/network.hpp"
#include "network/entries.hpp"

namespace hearsay::test {

inline std::string agent_name(Index agent) { return "site" + std::to_string(agent); }

/// The lower number dials: so agents are made from the highest down, when the ports of those above are known.
inline std::vector<std::unique_ptr<GrpcLinks>> grpc_links_on_loopback(const GossipMatrix& W, const Authority& authority,
                                                                      const std::filesystem::path& folder,
                                                                      std::size_t largest_frame = 1 << 20) {
  std::vector<std::unique_ptr<GrpcLinks>> links(static_cast<std::size_t>(W.agents()));
  for (Index agent = W.agents() - 1; agent >= 0; --agent) {
    GrpcOptions options{.self = agent,
                        .listen = "127.0.0.1:0",
                        .federation = "f00d",
                        .tls = authority.issue(folder, agent_name(agent), "DNS:" + agent_name(agent)),
                        .largest_frame = largest_frame};
    for (const Index other : detail::neighbours_of(W.matrix(), agent)) {
      GrpcPeer peer{.agent = other, .name = agent_name(other), .identity = "DNS:" + agent_name(other)};
      if (other > agent) peer.address = "127.0.0.1:" + std::to_string(links[static_cast<std::size_t>(other)]->port());
      options.peers.push_back(std::move(peer));
    }
    links[static_cast<std::size_t>(agent)] = std::make_unique<GrpcLinks>(std::move(options));
  }
  return links;
}

inline std::vector<std::exception_ptr> run_on_grpc_links(const GossipMatrix& W,
                                                         const std::function<void(Links&)>& body) {
  const TempDir folder;
  const Authority authority;
  auto links = grpc_links_on_loopback(W, authority, folder.path());
  std::vector<std::exception_ptr> thrown(links.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t agent = 0; agent < links.size(); ++agent)
      threads.emplace_back([&, agent] {
        try {
          body(*links[agent]);
          links[agent]->close(links[agent]->now() + patience);
        } catch (...) {
          thrown[agent] = std::current_exception();
        }
      });
  }
  return thrown;
}

}  // namespace hearsay::test
