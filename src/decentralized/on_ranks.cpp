// A run on ranks, and its results brought together: at rank 0 what one process would have returned.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "decentralized/outcome.hpp"
#include "decentralized/scaling.hpp"
#include "hearsay/decentralized_on_ranks.hpp"
#include "hearsay/error.hpp"
#include "network/bytes.hpp"

namespace hearsay {

using detail::ByteReader;
using detail::ByteWriter;

namespace {

// What an agent's rank knows of it.
struct Agent {
  Index agent;
  Block<double> basis;
  Block<double> eigenvalues;  // 1 x k
  double next_eigenvalue;
  std::uint64_t digest;
};

void put_agents(ByteWriter& writer, const RankNetwork& net, const DecentralizedResult& result) {
  writer.put(net.local_agents());
  for (Index i = 0; i < net.local_agents(); ++i) {
    writer.put(net.agent(i));
    writer.put(result.bases[static_cast<std::size_t>(i)]);
    writer.put(Block<double>(result.eigenvalues.row(i)));
    writer.put(result.next_eigenvalue(i));
    writer.put(result.digests[static_cast<std::size_t>(i)]);
  }
}

std::vector<Agent> get_agents(ByteReader& reader) {
  std::vector<Agent> agents(static_cast<std::size_t>(reader.get<Index>()));
  for (Agent& agent : agents) {
    agent.agent = reader.get<Index>();
    agent.basis = reader.block();
    agent.eigenvalues = reader.block();
    agent.next_eigenvalue = reader.get<double>();
    agent.digest = reader.get<std::uint64_t>();
  }
  return agents;
}

void put_numbers(ByteWriter& writer, const std::vector<Index>& numbers) {
  writer.put(numbers.size());
  for (const Index number : numbers) writer.put(number);
}

std::vector<Index> get_numbers(ByteReader& reader) {
  std::vector<Index> numbers(reader.get<std::size_t>());
  for (Index& number : numbers) number = reader.get<Index>();
  return numbers;
}

// Everything about the run that is not an agent's own.
void put_summary(ByteWriter& writer, const DecentralizedResult& result) {
  writer.put(result.status);
  writer.put(result.exponent);
  writer.put(result.iterations);
  writer.put(result.residual);
  writer.put(result.disagreement);
  writer.put(result.evidence);
  writer.put(result.agreement);
  writer.put(result.eigenvalue_agreement);
  writer.put(result.defined_rank);
  writer.put(result.defined_agreement);
  writer.put(result.cluster);
  writer.put(result.nonnegative);
  writer.put(result.rounds_per_iteration);
  writer.put(result.restarts);
  writer.put(result.traffic);
  writer.put(result.message_noise);
  writer.put(result.momentum);
  writer.put(result.damping);
  writer.put(result.columns);
  writer.put(result.columns_at_start);
  writer.put(result.products);
  writer.put(result.conservation_error);
  writer.put(result.digest);
  writer.put(result.faults);
  put_numbers(writer, result.contributors);
  writer.put(result.epochs.size());
  for (const Epoch& epoch : result.epochs) {
    writer.put(epoch.iteration);
    writer.put(std::string_view(epoch.reason));
    put_numbers(writer, epoch.members);
  }
  writer.put(result.history.size());
  for (const DecentralizedEntry& entry : result.history) writer.put(entry);
  writer.put(result.notes.size());
  for (const std::string& note : result.notes) writer.put(std::string_view(note));
}

void get_summary(ByteReader& reader, DecentralizedResult& result) {
  result.status = reader.get<Status>();
  result.exponent = reader.get<int>();
  result.iterations = reader.get<Index>();
  result.residual = reader.get<double>();
  result.disagreement = reader.get<double>();
  result.evidence = reader.get<Knowledge>();
  result.agreement = reader.get<double>();
  result.eigenvalue_agreement = reader.get<double>();
  result.defined_rank = reader.get<Index>();
  result.defined_agreement = reader.get<double>();
  result.cluster = reader.get<UndefinedPart>();
  result.nonnegative = reader.get<bool>();
  result.rounds_per_iteration = reader.get<Index>();
  result.restarts = reader.get<Index>();
  result.traffic = reader.get<Traffic>();
  result.message_noise = reader.get<MessageNoise>();
  result.momentum = reader.get<double>();
  result.damping = reader.get<Damping>();
  result.columns = reader.get<Index>();
  result.columns_at_start = reader.get<Index>();
  result.products = reader.get<std::int64_t>();
  result.conservation_error = reader.get<double>();
  result.digest = reader.get<std::uint64_t>();
  result.faults = reader.get<FaultCounts>();
  result.contributors = get_numbers(reader);
  result.epochs.resize(reader.get<std::size_t>());
  for (Epoch& epoch : result.epochs) {
    epoch.iteration = reader.get<Index>();
    epoch.reason = reader.text();
    epoch.members = get_numbers(reader);
  }
  result.history.resize(reader.get<std::size_t>());
  for (DecentralizedEntry& entry : result.history) entry = reader.get<DecentralizedEntry>();
  result.notes.resize(reader.get<std::size_t>());
  for (std::string& note : result.notes) note = reader.text();
}

// Each rank saw the worst of its own agents; the network's worst is the worst of these.
void merge(DecentralizedResult& into, const DecentralizedResult& other) {
  into.residual = std::max(into.residual, other.residual);
  into.disagreement = std::max(into.disagreement, other.disagreement);
  into.message_noise.last = std::max(into.message_noise.last, other.message_noise.last);
  into.message_noise.largest = std::max(into.message_noise.largest, other.message_noise.largest);
  into.momentum = std::max(into.momentum, other.momentum);
  for (std::size_t t = 0; t < into.history.size() && t < other.history.size(); ++t) {
    DecentralizedEntry& entry = into.history[t];
    const DecentralizedEntry& there = other.history[t];
    entry.residual = std::max(entry.residual, there.residual);
    entry.disagreement = std::max(entry.disagreement, there.disagreement);
    entry.momentum = std::max(entry.momentum, there.momentum);
    entry.sin_theta = std::max(entry.sin_theta, there.sin_theta);
  }
}

// At rank 0, from what every rank sent there. `result` is what rank 0 itself has, if an agent lives there.
void assemble(const std::vector<std::string>& said, const DecentralizedOptions& options, DecentralizedResult& result) {
  std::vector<Agent> agents;
  for (const std::string& bytes : said) {
    ByteReader reader(bytes);
    std::vector<Agent> there = get_agents(reader);
    if (there.empty()) continue;  // it did not run
    DecentralizedResult summary;
    get_summary(reader, agents.empty() ? result : summary);
    if (!agents.empty()) merge(result, summary);
    std::move(there.begin(), there.end(), std::back_inserter(agents));
  }
  std::sort(agents.begin(), agents.end(), [](const Agent& a, const Agent& b) { return a.agent < b.agent; });
  result.bases.clear();
  result.digests.clear();
  result.eigenvalues.resize(static_cast<Index>(agents.size()), agents.front().eigenvalues.cols());
  result.next_eigenvalue.resize(static_cast<Index>(agents.size()));
  for (std::size_t i = 0; i < agents.size(); ++i) {
    result.bases.push_back(std::move(agents[i].basis));
    result.digests.push_back(agents[i].digest);
    result.eigenvalues.row(static_cast<Index>(i)) = agents[i].eigenvalues;
    result.next_eigenvalue(static_cast<Index>(i)) = agents[i].next_eigenvalue;
  }
  result.digest = digest_of(result.digests);
  result.agreement = basis_agreement(result.bases);
  // The last notes so far told of one rank's agents.
  detail::forget_definition(result);
  if (result.status == Status::noise_floor && !result.notes.empty())
    result.notes.back() = detail::floor_note(result.agreement, options.rounds);
  detail::judge_definition(result, options.tolerance);
}

}  // namespace

DecentralizedResult decentralized_pca(RankNetwork& net, std::span<const OperatorRef<double>> A,
                                      const DecentralizedOptions& options, const DecentralizedHooks& hooks) {
  Transport& ranks = net.ranks();
  DecentralizedResult result;
  net.run([&] {
    if (net.local_agents() > 0)
      result = detail::scaled_decentralized_pca(NetworkRef(net), A, options, hooks);
    else
      require(A.empty(), fmt::format("{} operators: must be 0, for no agent lives on rank {}", A.size(), ranks.rank()));
  });

  ByteWriter here;
  put_agents(here, net, result);
  put_summary(here, result);
  ByteWriter agreed;
  const std::vector<std::string> said = ranks.gather(here.bytes());
  if (ranks.rank() == 0) {
    assemble(said, options, result);
    detail::unscale_or_tell(result);  // for everyone, by what all agents found
    put_summary(agreed, result);
  }
  const std::string summary = ranks.broadcast(agreed.bytes());
  ByteReader reader(summary);
  const int scaled = ranks.rank() == 0 ? 0 : result.exponent;
  get_summary(reader, result);
  if (result.exponent != scaled && ranks.rank() != 0) detail::multiply_by_power(result, scaled);
  return result;
}

}  // namespace hearsay
