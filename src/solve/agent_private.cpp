// An agent's run where its rows are private. Nothing leaves it but what it has released: with trust none its own matrix
// in full noise, which it then gossips with as with any other; else its words, of which all agents make the sum. What
// is made of a release costs nothing more, so that iterations, epochs and results are those of agent_run.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "hearsay/error.hpp"
#include "hearsay/memory.hpp"
#include "hearsay/operators/stored.hpp"
#include "network/bytes.hpp"
#include "operators/rows_in_memory.hpp"
#include "solve/agent_run.hpp"
#include "solve/private_parts.hpp"

namespace hearsay::detail {
namespace {

constexpr const char* whose_words = "what an agent releases";

// Where sums are exact only the rank and the seed count, as in one process.
PrivateAgentsRequest request_of(const FederationSettings& federation) {
  const FederationPrivacy& agreed = *federation.privacy;
  PrivateAgentsRequest request{.trust = agreed.trust, .colluders = agreed.colluders, .privacy = agreed.privacy};
  request.solve.network = federation.network;
  request.solve.settings = federation.settings;
  if (agreed.trust != Trust::none) {
    request.solve.settings = {};
    request.solve.settings.power.rank = federation.settings.power.rank;
    request.solve.settings.power.seed = federation.settings.power.seed;
  }
  settle(request.solve.settings);
  request.solve.settings.power.certify = Certify::none;
  return request;
}

std::string bytes_of_words(std::span<const std::uint64_t> words) {
  ByteWriter writer;
  for (const std::uint64_t word : words) writer.put(word);
  return writer.bytes();
}

void add(const std::string& said, const std::string& who, PrivateWords& sum) {
  const std::size_t bytes = sum.size() * sizeof(std::uint64_t);
  if (said.size() != bytes)
    throw CommunicationError(fmt::format("{} sent {} bytes of noisy sums: must be {}", who, said.size(), bytes));
  ByteReader reader(said, whose_words);
  for (std::uint64_t& word : sum.span()) word += reader.get<std::uint64_t>();
}

bool complete(const GossipMatrix& W) { return W.edges() == W.agents() * (W.agents() - 1) / 2; }

}  // namespace

DecentralizedOptions agent_options(const FederationSettings& federation) {
  return federation.privacy ? private_options(federation.network, federation.settings)
                            : settle(federation.network, federation.settings);
}

Fact privacy_fact(const FederationPrivacy& agreed) {
  const PrivacySettings& privacy = agreed.privacy;
  std::vector<std::uint64_t> numbers;
  for (const double x : privacy.mean) numbers.push_back(std::bit_cast<std::uint64_t>(x));
  return {"privacy",
          fmt::format("epsilon {:.17g}, delta {:.17g}, row norm {:.17g}, rows {}, trust {}{}, mean {} ({:016x}), "
                      "{} rows in public{}",
                      privacy.budget.epsilon, privacy.budget.delta, privacy.row_norm, name(privacy.neighbours),
                      name(agreed.trust),
                      agreed.trust == Trust::secure ? fmt::format(" but for {} colluders", agreed.colluders) : "",
                      name(privacy.center), protocol::mixed_digest(numbers), privacy.public_rows,
                      agreed.repeatable ? "; NON-PRIVATE: the noise is of a seed" : "")};
}

void require_private(const FederationSettings& federation, const AgentRows& rows, const AgentHooks& hooks) {
  require(federation.privacy.has_value() == rows.hidden.has_value(),
          "private rows: must be there where the federation says privacy, and nowhere else");
  if (!federation.privacy) return;
  const PrivateAgentsRequest request = request_of(federation);
  const PrivateRows& hidden = *rows.hidden;
  check_private(request, federation.W.agents());
  require_dimension(request, rows.rows.cols());
  require(rows.rows.rows() == 0 && hidden.read && hidden.words,
          "private rows: must be read when they are paid for, and have words for their noise");
  require(!federation.center, "center: would tell the mean of all rows; with privacy give a mean that is public");
  require(federation.wait == 0,
          fmt::format("wait = {}: an agent that comes back would release its rows again; with privacy an agent that is "
                      "gone ends the run, or is left out",
                      federation.wait));
  require(federation.quorum == 0 || request.trust == Trust::none,
          fmt::format("quorum = {}: with trust = {} the sum over fewer agents would show the rows of who is gone under "
                      "one agent's share of the noise; it is for trust = none",
                      federation.quorum, name(request.trust)));
  require(!hooks.keep && hooks.states.empty(),
          "states: are not kept of private rows; a run that begins anew is a release of its own");
  require(request.trust != Trust::secure || (hidden.mask && complete(federation.W)),
          "trust = secure: needs masks, and a complete graph: the key of every pair goes over the link that proves "
          "whose it is");
  const auto d = static_cast<std::uint64_t>(rows.rows.cols()), m = static_cast<std::uint64_t>(federation.W.agents());
  require_memory(d * d * (request.trust == Trust::none ? 4 : 4 + m), sizeof(double), "a private covariance");
}

void AgentRun::work_privately() {
  const PrivateAgentsRequest request = request_of(federation_);
  const Index d = rows_.rows.cols(), m = federation_.W.agents();
  const ReleasePlan part = plan_part(request.privacy, d, noise_parts(request.trust, m, request.colluders));
  outcome_.features = rows_.columns;
  outcome_.totals.dimension = d;
  outcome_.totals.sizes.assign(static_cast<std::size_t>(net_.agents()), 0);  // which nobody tells
  outcome_.run_id = net_.run_id();
  if (request.trust == Trust::none)
    gossip_release(request, part);
  else
    add_words(request, part);
  contributors_ = net_.members();
  if (epochs_.empty()) epochs_ = outcome_.result.epochs;
  confirm();
}

PrivateWords AgentRun::own_words(const PrivateAgentsRequest& request, const ReleasePlan& part) {
  const Block<double> rows = rows_.hidden->read();
  if (rows.cols() != rows_.rows.cols())
    throw DataError(fmt::format("{}: has {} features, and must have {}", rows_.name, rows.cols(), rows_.rows.cols()));
  DenseRows source(borrow(rows));
  PrivateWords words = words_of_agent(source, request.privacy, part, rows_.hidden->words);
  if (rows_.hidden->leaving) rows_.hidden->leaving(words.span());
  return words;
}

void AgentRun::gossip_release(const PrivateAgentsRequest& request, const ReleasePlan& part) {
  const Index d = rows_.rows.cols();
  const Scale scale = scale_of(part, d, federation_.W.agents());
  if (past_.release.size() == 0) past_.release = scaled_release(own_words(request, part), part, d, scale);
  Block<double> start;
  DecentralizedHooks watched{.observe = [&](const DecentralizedEntry& entry) { return observe(entry); }};
  if (find_common_start(start)) watched.start = &start;
  if (excludes()) watched.latest = &past_.latest;
  DecentralizedOptions options = outcome_.options;
  options.max_iterations = std::max<Index>(1, options.max_iterations - done_);
  const std::vector<DenseSymmetric<double>> stored{DenseSymmetric<double>(past_.release)};
  outcome_.result = decentralized_pca(net_, operators_of(stored), options, watched);
  ByteWriter own;
  own.put(trace_of(past_.release, scale));
  trace_ = 0;
  for (const std::string& said : net_.gather_everywhere(own.bytes(), "traces of what was released")) {
    ByteReader reader(said, whose_words);
    trace_ += reader.get<double>();
    reader.require_end();
  }
}

void AgentRun::add_words(const PrivateAgentsRequest& request, const ReleasePlan& part) {
  const Index d = rows_.rows.cols(), m = federation_.W.agents();
  const SayAndHear talk = [&](const std::string& own, const std::string& what) {
    return net_.gather_everywhere(own, what);
  };
  std::string said;
  {
    PrivateWords own = own_words(request, part);
    if (request.trust == Trust::secure) rows_.hidden->mask(own.span(), outcome_.self, m, net_.run_id(), talk);
    said = bytes_of_words(own.span());
  }
  PrivateWords sum(static_cast<std::size_t>(d * (d + 1) / 2));
  const auto all = talk(said, "noisy sums");
  for (std::size_t i = 0; i < all.size(); ++i) add(all[i], net_.name_of(net_.members()[i]), sum);
  outcome_.released = answer_of_sum(sum, m, d, request, part);

  const PrivateAgentsSolution& found = *outcome_.released;
  DecentralizedResult& result = outcome_.result;
  result = {};
  result.bases = found.bases;
  result.eigenvalues = found.pca.accuracy.values.transpose().replicate(m, 1);
  result.next_eigenvalue = Vector<double>::Constant(m, std::numeric_limits<double>::quiet_NaN());
  result.digests.assign(static_cast<std::size_t>(m), digest_of(found.bases.front()));
  result.digest = digest_of(result.digests);
  result.status = found.pca.solution.power.status;
  result.contributors = net_.members();
  result.traffic = net_.traffic();
  result.epochs = {{.reason = "start", .members = net_.members()}};
}

// In terms of the whole roster, as finish() has put the result.
void AgentRun::tell_release() {
  const PrivateAgentsRequest request = request_of(federation_);
  const Index d = rows_.rows.cols(), m = federation_.W.agents();
  if (request.trust == Trust::none) {
    const ReleasePlan plan = plan_part(request.privacy, d, 1);
    outcome_.released = answer_of_gossip(outcome_.result, trace_, scale_of(plan, d, m), d, request, plan);
  } else {
    outcome_.released->traffic = outcome_.result.traffic;
  }
}

}  // namespace hearsay::detail
