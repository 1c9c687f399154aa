// Where an agent's run begins: at the beginning, or at the newest step of it that all agents have kept; and what it
// keeps on the way. Where someone came back without a state that the others have too, all go on from the answer of one
// that never left.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "hearsay/error.hpp"
#include "network/bytes.hpp"
#include "solve/agent_run.hpp"

namespace hearsay::detail {
namespace {

constexpr const char* whose_steps = "what an agent says of the steps that it kept";

// Of what a step is told apart by.
constexpr std::size_t step_bytes = 16;

// What one agent could go on from.
struct Steps {
  std::vector<std::pair<Index, std::uint64_t>> kept = {};  // iteration and lineage, ascending
  Index reached = 0;                                       // with an answer in memory; 0: none
};

Steps steps_from(const std::string& said) {
  ByteReader reader(said, whose_steps);
  Steps steps{.reached = reader.get<Index>()};
  if (steps.reached < 0) throw CommunicationError(fmt::format("{} holds {} iterations", whose_steps, steps.reached));
  for (std::size_t left = reader.count(step_bytes); left > 0; --left) {
    const auto iteration = reader.get<Index>();
    steps.kept.emplace_back(iteration, reader.get<std::uint64_t>());
  }
  reader.require_end();
  std::sort(steps.kept.begin(), steps.kept.end());
  return steps;
}

}  // namespace

// The same where everyone has the same data, settings and columns: from there on every bit is.
std::uint64_t AgentRun::fresh_lineage() const {
  std::vector<std::uint64_t> numbers{past_.configuration};
  for (const Index size : outcome_.totals.sizes) numbers.push_back(static_cast<std::uint64_t>(size));
  for (const double mean : outcome_.totals.mean) numbers.push_back(std::bit_cast<std::uint64_t>(mean));
  for (const std::string& name : outcome_.features) numbers.push_back(protocol::text_digest(name));
  return protocol::mixed_digest(numbers);
}

std::string AgentRun::own_steps() const {
  ByteWriter own;
  own.put(past_.latest.size() > 0 ? past_.reached : Index{0});
  own.put(static_cast<std::uint64_t>(past_.kept.size()));
  for (const KeptState& state : past_.kept) {
    own.put(state.iteration);
    own.put(state.lineage);
  }
  return own.bytes();
}

void AgentRun::agree_on_beginning() {
  lineage_ = fresh_lineage();
  std::vector<Steps> steps;
  for (const std::string& said : net_.gather_everywhere(own_steps(), "steps to go on from"))
    steps.push_back(steps_from(said));
  const auto everyone_has = [&](const auto& step) {
    return std::all_of(steps.begin(), steps.end(), [&](const Steps& agent) {
      return std::binary_search(agent.kept.begin(), agent.kept.end(), step);
    });
  };
  const auto newest = std::find_if(steps.front().kept.rbegin(), steps.front().kept.rend(), everyone_has);
  if (newest != steps.front().kept.rend()) {
    const auto own = std::find_if(past_.kept.begin(), past_.kept.end(), [&](const KeptState& state) {
      return std::pair(state.iteration, state.lineage) == *newest;
    });
    return go_on_from(*own);
  }
  past_.kept.clear();
  const auto farthest = std::max_element(steps.begin(), steps.end(),
                                         [](const Steps& a, const Steps& b) { return a.reached < b.reached; });
  if (farthest->reached > 2 * federation_.keep_every)  // else little is lost, and bits are worth more
    copy_answer(farthest - steps.begin(), farthest->reached);
}

void AgentRun::go_on_from(const KeptState& state) {
  lineage_ = state.lineage;
  done_ = state.done;
  epochs_ = state.epochs;
  resume_ = state.solver;
  past_.taken_up.push_back(state.iteration);
  const Index iteration = state.iteration;
  std::erase_if(past_.kept, [&](const KeptState& other) { return other.iteration > iteration; });
}

// What is kept from now on is of this run and no other: its bits are.
void AgentRun::copy_answer(Index agent, Index iteration) {
  const std::uint64_t numbers[] = {lineage_, net_.run_id(), static_cast<std::uint64_t>(iteration)};
  lineage_ = protocol::mixed_digest(numbers);
  speaker_ = agent;
  copies_ = true;
  done_ = iteration;
  epochs_ = past_.epochs;
  std::vector<Index> everyone(federation_.names.size());
  std::iota(everyone.begin(), everyone.end(), Index{0});
  if (epochs_.empty()) epochs_.push_back({.reason = "start", .members = everyone});
  epochs_.push_back({.iteration = iteration,
                     .reason = fmt::format("no step that all had kept: all went on from the answer of agent {}", agent),
                     .members = everyone});
  past_.epochs = epochs_;
  past_.taken_up.push_back(iteration);
}

// Agents are a diameter of rounds apart at most, and an iteration takes one at least: so among these is a step that all
// have kept.
void AgentRun::keep(Index iteration, const std::string& solver) {
  const auto enough = static_cast<std::size_t>(2 + net_.diameter() / federation_.keep_every);
  past_.kept.push_back(
      {.lineage = lineage_, .iteration = iteration, .done = done_, .epochs = epochs_, .solver = solver});
  if (past_.kept.size() > enough) past_.kept.erase(past_.kept.begin());
  if (!hooks_.keep) return;
  try {
    hooks_.keep(bytes_of(past_));
    past_.trouble.clear();
  } catch (const Error& error) {
    past_.trouble = error.what();
  }
}

}  // namespace hearsay::detail
