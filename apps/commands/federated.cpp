#include "commands/federated.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>

#include "commands/network.hpp"
#include "files/inputs.hpp"
#include "files/run_files.hpp"
#include "hearsay/datasets.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/io/regular_file.hpp"
#include "hearsay/io/shards.hpp"
#include "pki/pki.hpp"

namespace hearsay::app {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view heart_prefix = "fed-heart-disease:";

GossipMatrix listed_edges(const FederationFile& file) {
  Graph graph{.nodes = static_cast<Index>(file.agents.size())};
  for (const auto& [a, b] : file.edges)
    graph.edges.emplace_back(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b));
  const std::string weights = file.setting("weights");
  require(weights != "ring", "weights = ring: needs topology = ring, and the edges are listed");
  GossipMatrix W = GossipMatrix::metropolis(graph);
  return weights == "lazy" ? GossipMatrix::lazy(W) : W;
}

void require_dialable(const FederationFile& file, const GossipMatrix& W) {
  for (Index a = 0; a < W.agents(); ++a)
    for (const Index b : neighbours_of(W, a)) {
      if (b < a || !file.agents[a].address.empty() || !file.agents[b].address.empty()) continue;
      throw DataError(fmt::format("{}:{}: {} and {} (line {}) are neighbours, and one of the two must have an address",
                                  file.source, file.agents[b].line, agent_text(file, b), agent_text(file, a),
                                  file.agents[a].line));
    }
}

// A file of PEM, or why it cannot be read.
std::optional<std::string> pem_of(const fs::path& path, std::string_view what, std::vector<std::string>& problems) {
  constexpr std::uint64_t longest_pem = 1 << 20;
  try {
    io::require_regular_file(path);
    return io::read_whole(path, longest_pem);
  } catch (const Error& error) {
    problems.push_back(fmt::format("{}: {}", what, error.what()));
    return std::nullopt;
  }
}

void look_at_key(const fs::path& path, const std::string& key, const std::string& certificate,
                 std::vector<std::string>& problems, std::vector<std::string>& good) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && (status.st_mode & 077) != 0)
    problems.push_back(
        fmt::format("key {}: others on this machine may read it; chmod 600 {}", path.string(), path.string()));
  if (!fits(key, certificate, path.string()))
    problems.push_back(fmt::format("key {}: is not the key of the certificate", path.string()));
  else
    good.push_back(fmt::format("key: {}, that of the certificate", path.string()));
}

void look_at_certificate(const TlsFiles& files, const std::string& certificate, const std::string& authority,
                         const FederationAgent& agent, std::time_t now, std::vector<std::string>& problems,
                         std::vector<std::string>& good) {
  const std::string path = files.certificate.string();
  const CertificateFacts facts = read_certificate(certificate, path);
  const auto& names = facts.identities;
  if (std::find(names.begin(), names.end(), agent.identity) == names.end())
    problems.push_back(fmt::format("certificate {}: is of {}, and agent {} must be {}", path,
                                   names.empty() ? "nobody" : fmt::format("{}", fmt::join(names, ", ")), agent.name,
                                   agent.identity));
  else
    good.push_back(fmt::format("certificate: {}, of {}", path, agent.identity));
  if (now < facts.validity.begin || now > facts.validity.end)
    problems.push_back(fmt::format("certificate {}: is valid from {} to {}, and it is {}", path,
                                   date_text(facts.validity.begin), date_text(facts.validity.end), date_text(now)));
  else
    good.push_back(fmt::format("dates: valid until {}", date_text(facts.validity.end)));
  const std::time_t inside = std::clamp(now, facts.validity.begin, facts.validity.end);
  if (const std::string problem = chain_problem(certificate, authority, inside); !problem.empty())
    problems.push_back(fmt::format("certificate {}: does not lead to {}: {}", path, files.authority.string(), problem));
  else
    good.push_back(fmt::format("chain: leads to {}", files.authority.string()));
}

void put_privacy(const FederationDp& dp, std::map<std::string, std::string, std::less<>>& given) {
  given["dp"] = fmt::format("{},{}", dp.epsilon, dp.delta);
  given["row-norm"] = fmt::format("{}", dp.row_norm);
  given["neighbours"] = dp.neighbours;
  given["trust"] = dp.trust;
  if (dp.trust == "secure") given["colluders"] = fmt::format("{}", dp.colluders);
  if (dp.public_rows > 0) given["public-rows"] = fmt::format("{}", dp.public_rows);
  if (!dp.mean.empty()) given["dp-center"] = "given";
}

bool is_loopback(std::string_view host) { return host == "localhost" || host.starts_with("127.") || host == "[::1]"; }

}  // namespace

std::vector<Index> neighbours_of(const GossipMatrix& W, Index agent) {
  const auto& rows = W.matrix();
  std::vector<Index> found;
  for (auto entry = rows.row_start[agent]; entry < rows.row_start[agent + 1]; ++entry)
    if (rows.columns[entry] != agent) found.push_back(rows.columns[entry]);
  std::sort(found.begin(), found.end());
  return found;
}

GossipMatrix federation_matrix(const FederationFile& file) {
  try {
    const auto agents = static_cast<Index>(file.agents.size());
    const GossipMatrix W = file.topology.empty() ? listed_edges(file) : gossip_matrix(federation_job(file, ""), agents);
    require_dialable(file, W);
    return W;
  } catch (const InvalidArgument& problem) {
    throw DataError(fmt::format("{}:{}: {}", file.source, file.topology_line, problem.what()));
  }
}

Index dialler_of(const FederationFile& file, Index a, Index b) {
  const bool a_listens = !file.agents[a].address.empty(), b_listens = !file.agents[b].address.empty();
  if (a_listens != b_listens) return a_listens ? b : a;
  return std::min(a, b);
}

std::string agent_text(const FederationFile& file, Index agent) {
  return fmt::format("agent {} ({})", agent, file.agents[static_cast<std::size_t>(agent)].name);
}

Job federation_job(const FederationFile& file, const std::string& data) {
  std::map<std::string, std::string, std::less<>> given;
  for (const std::string_view name : federation_settings()) {
    const std::string text = file.setting(name);
    if (!text.empty()) given[std::string(name)] = text;
  }
  if (!file.topology.empty()) given["topology"] = file.topology;
  if (file.dp)
    put_privacy(*file.dp, given);
  else
    given["center"] = file.center ? "true" : "false";
  const std::string input = data.starts_with(heart_prefix) ? "fed-heart-disease" : data;
  return remade("decentralized", {input}, given);
}

TlsFiles identity_files(const IdentityOptions& options, const std::string& agent) {
  const auto chosen = [&](const fs::path& named, const std::string& usual) {
    return named.empty() ? (options.folder / usual).lexically_normal() : named;
  };
  return {chosen(options.certificate, agent + ".pem"), chosen(options.key, agent + ".key"),
          chosen(options.authority, "authority.pem")};
}

std::vector<std::string> identity_problems(const TlsFiles& files, const FederationAgent& agent, std::time_t now,
                                           std::vector<std::string>& good) {
  std::vector<std::string> problems;
  const auto certificate = pem_of(files.certificate, "certificate", problems);
  const auto key = pem_of(files.key, "key", problems);
  const auto authority = pem_of(files.authority, "authority", problems);
  const auto look = [&problems](const auto& at) {
    try {
      at();
    } catch (const Error& error) {
      problems.emplace_back(error.what());
    }
  };
  if (certificate && authority)
    look([&] { look_at_certificate(files, *certificate, *authority, agent, now, problems, good); });
  if (certificate && key) look([&] { look_at_key(files.key, *key, *certificate, problems, good); });
  return problems;
}

AgentTable read_agent_table(const Job& job, const std::string& data) {
  if (data.starts_with(heart_prefix) && !is_there(data)) {
    const std::string center = data.substr(heart_prefix.size());
    io::FederatedTable heart = io::load_fed_heart_disease(directory_of(io::find_dataset("fed-heart-disease")));
    const auto found = std::find(heart.centers.begin(), heart.centers.end(), center);
    require(found != heart.centers.end(),
            fmt::format("data = {}: the center must be one of {}", data, fmt::join(heart.centers, ", ")));
    return {std::move(heart.tables[static_cast<std::size_t>(found - heart.centers.begin())]), heart.features, center};
  }
  const fs::path files[] = {locate_input(data)};
  const Index first[] = {0};
  Shards shards = io::read_shards(files, first, {.label_column = job.label_column});
  return {std::move(shards.rows.front()), shards.columns.empty() ? std::vector<std::string>{} : shards.columns.front(),
          data};
}

void match_features(AgentTable& table, const FederationFile& file) {
  if (file.features == 0) return;
  if (table.rows.cols() != file.features)
    throw DataError(
        fmt::format("{}: has {} features, and {} has {}", table.source, table.rows.cols(), file.source, file.features));
  if (file.feature_names.empty() || table.columns == file.feature_names) return;
  std::vector<Index> place;
  std::vector<std::string> missing;
  for (const std::string& name : file.feature_names) {
    const auto found = std::find(table.columns.begin(), table.columns.end(), name);
    if (found == table.columns.end()) missing.push_back(name);
    place.push_back(found - table.columns.begin());
  }
  if (!missing.empty())
    throw DataError(fmt::format(
        "{}: has no column {}, which {} names; its own are {}", table.source, fmt::join(missing, ", "), file.source,
        table.columns.empty() ? "without names" : fmt::format("{}", fmt::join(table.columns, ", "))));
  Block<double> ordered(table.rows.rows(), table.rows.cols());
  for (Index column = 0; column < ordered.cols(); ++column)
    ordered.col(column) = table.rows.col(place[static_cast<std::size_t>(column)]);
  table.rows = std::move(ordered);
  table.columns = file.feature_names;
}

GrpcOptions link_options(const FederationFile& file, const GossipMatrix& W, Index self, const TlsFiles& tls,
                         const std::string& listen) {
  GrpcOptions options{.self = self, .listen = listen, .federation = federation_digest(file), .tls = tls};
  const std::string& own = file.agents[static_cast<std::size_t>(self)].address;
  if (options.listen.empty() && !own.empty()) {
    const std::size_t colon = own.rfind(':');
    options.listen = is_loopback(own.substr(0, colon)) ? own : "[::]" + own.substr(colon);
  }
  require(listen.empty() || !own.empty(), fmt::format("listen = {}: {} has no address in {}, so that nobody will dial",
                                                      listen, agent_text(file, self), file.source));
  for (const Index peer : neighbours_of(W, self)) {
    const FederationAgent& other = file.agents[static_cast<std::size_t>(peer)];
    options.peers.push_back({peer, other.name, other.identity, other.address});
  }
  return options;
}

std::unique_ptr<FederationLinks> open_links(OpenLinks open, GrpcOptions options) {
  require(
      open != nullptr,
      "agent: this build has no gRPC, over which agents talk; on Debian install libgrpc++-dev and build anew, so that "
      "hearsay-agent lies beside hearsay");
  return open(std::move(options));
}

}  // namespace hearsay::app
