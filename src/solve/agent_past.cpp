#include "solve/agent_past.hpp"

#include <fmt/format.h>

#include "hearsay/error.hpp"
#include "network/bytes.hpp"

namespace hearsay::detail {
namespace {

constexpr const char* whose_states = "the states of an agent";

// Of an epoch, and of a state, without what is empty.
constexpr std::size_t least_epoch = 3 * 8, least_state = 5 * 8;

// As Index can count, with room to add.
constexpr Index most_iterations = Index{1} << 40;

void put(ByteWriter& writer, const Epoch& epoch) {
  writer.put(epoch.iteration);
  writer.put(std::string_view(epoch.reason));
  writer.put(static_cast<std::uint64_t>(epoch.members.size()));
  for (const Index member : epoch.members) writer.put(member);
}

Index iterations_from(ByteReader& reader) {
  const auto count = reader.get<Index>();
  if (count < 0 || count > most_iterations)
    throw CommunicationError(fmt::format("{} hold {} iterations: must lie in [0, 2^40]", whose_states, count));
  return count;
}

Epoch epoch_from(ByteReader& reader) {
  Epoch epoch{.iteration = iterations_from(reader), .reason = reader.text()};
  epoch.members.resize(reader.count(sizeof(Index)));
  for (Index& member : epoch.members) member = reader.get<Index>();
  return epoch;
}

void read_states(ByteReader& reader, AgentPast& past) {
  for (std::size_t left = reader.count(least_state); left > 0; --left) {
    KeptState& state = past.kept.emplace_back();
    state.lineage = reader.get<std::uint64_t>();
    state.iteration = iterations_from(reader);
    state.done = iterations_from(reader);
    for (std::size_t epochs = reader.count(least_epoch); epochs > 0; --epochs)
      state.epochs.push_back(epoch_from(reader));
    state.solver = reader.text();
    if (state.done >= state.iteration)
      throw CommunicationError(fmt::format("{} hold one of iteration {} of a run that began at {}", whose_states,
                                           state.iteration, state.done));
  }
  reader.require_end();
}

}  // namespace

std::string bytes_of(const AgentPast& past) {
  ByteWriter writer;
  writer.put(past.configuration);
  writer.put(past.data);
  writer.put(static_cast<std::uint64_t>(past.kept.size()));
  for (const KeptState& state : past.kept) {
    writer.put(state.lineage);
    writer.put(state.iteration);
    writer.put(state.done);
    writer.put(static_cast<std::uint64_t>(state.epochs.size()));
    for (const Epoch& epoch : state.epochs) put(writer, epoch);
    writer.put(std::string_view(state.solver));
  }
  return writer.bytes();
}

void read_past(std::string_view bytes, AgentPast& past) {
  try {
    ByteReader reader(bytes, whose_states);
    const auto configuration = reader.get<std::uint64_t>(), data = reader.get<std::uint64_t>();
    require(configuration == past.configuration,
            fmt::format("{} are of another federation or other settings: digest {:016x} there, {:016x} here",
                        whose_states, configuration, past.configuration));
    require(data == past.data,
            fmt::format("{} are of other data: digest {:016x} there, {:016x} here", whose_states, data, past.data));
    read_states(reader, past);
  } catch (const CommunicationError& error) {  // of a file, not of another agent
    throw DataError(error.what());
  }
}

}  // namespace hearsay::detail
