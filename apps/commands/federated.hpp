// What the commands about federations share: from the file that was agreed on to networks, links, jobs and
// certificates.
#pragma once

#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/job.hpp"
#include "formats/federation_file.hpp"
#include "hearsay/grpc.hpp"
#include "hearsay/network.hpp"

namespace hearsay::app {

/// Who talks to whom, and with what weight. Throws DataError, with the line, for a network that is not connected, or
/// has an edge that neither end can dial.
GossipMatrix federation_matrix(const FederationFile& file);

std::vector<Index> neighbours_of(const GossipMatrix& W, Index agent);

/// Which of two agents dials the other: the one that nobody can dial; where both can be, the lower number.
Index dialler_of(const FederationFile& file, Index a, Index b);

/// "agent 2 (leeds)"
std::string agent_text(const FederationFile& file, Index agent);

/// The job that `hearsay decentralized` would do, with these settings, on these data.
Job federation_job(const FederationFile& file, const std::string& data);

/// The files of an agent's certificate: NAME.pem, NAME.key and authority.pem in a directory, unless named.
struct IdentityOptions {
  std::filesystem::path folder = ".", certificate = {}, key = {}, authority = {};
};
TlsFiles identity_files(const IdentityOptions& options, const std::string& agent);

/// What stands in the way of using them, one sentence each; what is in order goes to `good`.
std::vector<std::string> identity_problems(const TlsFiles& files, const FederationAgent& agent, std::time_t now,
                                           std::vector<std::string>& good);

/// What an agent has: a file of its own, or "fed-heart-disease:CENTER".
struct AgentTable {
  Block<double> rows = {};
  std::vector<std::string> columns = {};
  std::string source = {};
};
AgentTable read_agent_table(const Job& job, const std::string& data);

/// Puts the columns into the order of the file's features. Throws DataError, naming what is missing or too much.
void match_features(AgentTable& table, const FederationFile& file);

/// The whole of what the driver is told; `listen` overrides the roster's address.
GrpcOptions link_options(const FederationFile& file, const GossipMatrix& W, Index self, const TlsFiles& tls,
                         const std::string& listen);

/// Links over gRPC, where the program was built with it.
class FederationLinks {
 public:
  FederationLinks() = default;
  FederationLinks(const FederationLinks&) = delete;
  FederationLinks& operator=(const FederationLinks&) = delete;
  virtual ~FederationLinks() = default;

  virtual Links& links() = 0;
  virtual void close(double deadline) = 0;
  virtual std::string trouble(Index peer) const = 0;
  virtual std::vector<std::string> refusals() = 0;
  virtual PeerFacts facts(Index peer) const = 0;
  virtual int port() const = 0;
};

/// Throws InvalidArgument, which says what to install, where it was not.
std::unique_ptr<FederationLinks> open_links(OpenLinks open, GrpcOptions options);

}  // namespace hearsay::app
