#include "decentralized/result_message.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hearsay/error.hpp"

namespace hearsay::detail {
namespace {

// The last of each enumeration: what is beyond does not exist.
constexpr auto last_status = Status::communication_failed;
constexpr auto last_knowledge = Knowledge::bound;
constexpr auto last_damping = Damping::centred;
constexpr auto last_bar_kind = BarKind::bound;

void put_numbers(ByteWriter& writer, const std::vector<Index>& numbers) {
  writer.put(static_cast<std::uint64_t>(numbers.size()));
  for (const Index number : numbers) writer.put(number);
}

std::vector<Index> get_numbers(ByteReader& reader) {
  std::vector<Index> numbers(reader.count(sizeof(Index)));
  for (Index& number : numbers) number = reader.get<Index>();
  return numbers;
}

void put_traffic(ByteWriter& writer, const Traffic& traffic) {
  for (const std::int64_t count : {traffic.rounds, traffic.control_rounds, traffic.messages, traffic.bytes})
    writer.put(count);
}

Traffic get_traffic(ByteReader& reader) {
  Traffic traffic;
  for (std::int64_t* count : {&traffic.rounds, &traffic.control_rounds, &traffic.messages, &traffic.bytes})
    *count = reader.get<std::int64_t>();
  return traffic;
}

void put_faults(ByteWriter& writer, const FaultCounts& faults) {
  for (const std::int64_t count :
       {faults.drops, faults.losses, faults.late, faults.waited_rounds, faults.crashes, faults.rejoins, faults.cut_off,
        faults.fallbacks, faults.control_messages, faults.control_bytes})
    writer.put(count);
}

FaultCounts get_faults(ByteReader& reader) {
  FaultCounts faults;
  for (std::int64_t* count :
       {&faults.drops, &faults.losses, &faults.late, &faults.waited_rounds, &faults.crashes, &faults.rejoins,
        &faults.cut_off, &faults.fallbacks, &faults.control_messages, &faults.control_bytes})
    *count = reader.get<std::int64_t>();
  return faults;
}

constexpr std::size_t entry_bytes = 8 * sizeof(std::int64_t);

void put_entry(ByteWriter& writer, const DecentralizedEntry& entry) {
  for (const std::int64_t count : {std::int64_t{entry.t}, entry.rounds, entry.bytes, std::int64_t{entry.rounds_next}})
    writer.put(count);
  for (const double number : {entry.residual, entry.disagreement, entry.momentum, entry.sin_theta}) writer.put(number);
}

DecentralizedEntry get_entry(ByteReader& reader) {
  DecentralizedEntry entry;
  entry.t = reader.get<std::int64_t>();
  entry.rounds = reader.get<std::int64_t>();
  entry.bytes = reader.get<std::int64_t>();
  entry.rounds_next = reader.get<std::int64_t>();
  for (double* number : {&entry.residual, &entry.disagreement, &entry.momentum, &entry.sin_theta})
    *number = reader.get<double>();
  return entry;
}

// What a bar of agents has; the rest is of one process's averages.
void put_bar(ByteWriter& writer, const ErrorBar& bar) {
  writer.put(bar.kind);
  writer.put(bar.sin_theta);
  writer.put(bar.spread);
  writer.put(bar.common);
}

[[noreturn]] void refuse_bar(double number, const char* rule) {
  throw CommunicationError(fmt::format("a message between ranks holds an error bar of {}: {}", number, rule));
}

ErrorBar get_bar(ByteReader& reader) {
  ErrorBar bar;
  bar.kind = reader.choice(last_bar_kind);
  bar.sin_theta = reader.get<double>();
  bar.spread = reader.get<double>();
  bar.common = reader.get<double>();
  if (!bar.exists()) return {};
  for (const double part : {bar.sin_theta, bar.spread, bar.common})
    if (!(part >= 0 && part <= 1)) refuse_bar(part, "must lie in [0, 1]");
  if (bar.sin_theta < std::max(bar.spread, bar.common)) refuse_bar(bar.sin_theta, "is less than one of its parts");
  return bar;
}

}  // namespace

void put_agents(ByteWriter& writer, NetworkRef net, const DecentralizedResult& result) {
  writer.put(static_cast<std::uint64_t>(net.local_agents()));
  for (Index i = 0; i < net.local_agents(); ++i) {
    writer.put(net.agent(i));
    writer.put(result.bases[static_cast<std::size_t>(i)]);
    writer.put(Block<double>(result.eigenvalues.row(i)));
    writer.put(result.next_eigenvalue(i));
    writer.put(result.digests[static_cast<std::size_t>(i)]);
  }
}

std::vector<AgentResult> get_agents(ByteReader& reader) {
  std::vector<AgentResult> agents(reader.count(sizeof(Index) + sizeof(std::uint64_t)));
  for (AgentResult& agent : agents) {
    agent.agent = reader.get<Index>();
    agent.basis = reader.block();
    agent.eigenvalues = reader.block();
    agent.next_eigenvalue = reader.get<double>();
    agent.digest = reader.get<std::uint64_t>();
  }
  return agents;
}

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
  writer.put(result.cluster.first);
  writer.put(result.cluster.last);
  writer.put(result.cluster.zero);
  writer.put(result.cluster.width);
  put_bar(writer, result.bar);
  writer.put(result.nonnegative);
  writer.put(result.rounds_per_iteration);
  writer.put(result.restarts);
  put_traffic(writer, result.traffic);
  writer.put(result.message_noise.last);
  writer.put(result.message_noise.largest);
  writer.put(result.momentum);
  writer.put(result.damping);
  writer.put(result.columns);
  writer.put(result.columns_at_start);
  writer.put(result.products);
  writer.put(result.conservation_error);
  writer.put(result.digest);
  put_faults(writer, result.faults);
  put_numbers(writer, result.contributors);
  writer.put(static_cast<std::uint64_t>(result.epochs.size()));
  for (const Epoch& epoch : result.epochs) {
    writer.put(epoch.iteration);
    writer.put(std::string_view(epoch.reason));
    put_numbers(writer, epoch.members);
  }
  writer.put(static_cast<std::uint64_t>(result.history.size()));
  for (const DecentralizedEntry& entry : result.history) put_entry(writer, entry);
  writer.put(static_cast<std::uint64_t>(result.notes.size()));
  for (const std::string& note : result.notes) writer.put(std::string_view(note));
}

void get_summary(ByteReader& reader, DecentralizedResult& result) {
  result.status = reader.choice(last_status);
  result.exponent = reader.get<int>();
  result.iterations = reader.get<Index>();
  result.residual = reader.get<double>();
  result.disagreement = reader.get<double>();
  result.evidence = reader.choice(last_knowledge);
  result.agreement = reader.get<double>();
  result.eigenvalue_agreement = reader.get<double>();
  result.defined_rank = reader.get<Index>();
  result.defined_agreement = reader.get<double>();
  result.cluster.first = reader.get<Index>();
  result.cluster.last = reader.get<Index>();
  result.cluster.zero = reader.flag();
  result.cluster.width = reader.get<double>();
  result.bar = get_bar(reader);
  result.nonnegative = reader.flag();
  result.rounds_per_iteration = reader.get<Index>();
  result.restarts = reader.get<Index>();
  result.traffic = get_traffic(reader);
  result.message_noise.last = reader.get<double>();
  result.message_noise.largest = reader.get<double>();
  result.momentum = reader.get<double>();
  result.damping = reader.choice(last_damping);
  result.columns = reader.get<Index>();
  result.columns_at_start = reader.get<Index>();
  result.products = reader.get<std::int64_t>();
  result.conservation_error = reader.get<double>();
  result.digest = reader.get<std::uint64_t>();
  result.faults = get_faults(reader);
  result.contributors = get_numbers(reader);
  result.epochs.resize(reader.count(sizeof(Index)));
  for (Epoch& epoch : result.epochs) {
    epoch.iteration = reader.get<Index>();
    epoch.reason = reader.text();
    epoch.members = get_numbers(reader);
  }
  result.history.resize(reader.count(entry_bytes));
  for (DecentralizedEntry& entry : result.history) entry = get_entry(reader);
  result.notes.resize(reader.count(sizeof(std::uint64_t)));
  for (std::string& note : result.notes) note = reader.text();
  reader.require_end();
}

void require_whole(const std::vector<AgentResult>& agents, Index count, Index rank) {
  const auto refuse = [](const std::string& what) { throw CommunicationError("results of all ranks: " + what); };
  if (static_cast<Index>(agents.size()) != count)
    refuse(fmt::format("hold {} agents: must be {}", agents.size(), count));
  for (Index i = 0; i < count; ++i) {
    const AgentResult& told = agents[static_cast<std::size_t>(i)];
    if (told.agent != i) refuse(fmt::format("name agent {}: must name each of {} once", told.agent, count));
    if (told.eigenvalues.rows() != 1 || told.eigenvalues.cols() != rank)
      refuse(fmt::format("agent {} has {} x {} eigenvalues: must be 1 x {}", i, told.eigenvalues.rows(),
                         told.eigenvalues.cols(), rank));
    if (told.basis.size() > 0 && (told.basis.cols() != rank || told.basis.rows() != agents.front().basis.rows()))
      refuse(fmt::format("agent {} has a basis of {} x {}: must be {} x {}, as the first agent's", i, told.basis.rows(),
                         told.basis.cols(), agents.front().basis.rows(), rank));
    if (!told.basis.allFinite()) refuse(fmt::format("agent {} has a basis with a number that is not finite", i));
  }
}

void require_contributors(const std::vector<Index>& contributors, Index count) {
  for (const Index agent : contributors)
    if (agent < 0 || agent >= count)
      throw CommunicationError(
          fmt::format("results of all ranks: agent {} contributes: must lie in [0, {})", agent, count));
}

}  // namespace hearsay::detail
