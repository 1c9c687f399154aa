// Each epoch is a run of its own on a network that does not fail: of the members' rows alone, with their mean, their
// columns and their weights, from the answer that the first of them had so far. So what is proved of a run holds for
// each, and its answer is that of exactly those who took part.
#include "solve/agent_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "hearsay/error.hpp"
#include "network/bytes.hpp"

namespace hearsay::detail {
namespace {

// How far V'V may be from the identity: far above rounding, far below what would change a subspace.
constexpr double not_orthonormal = 1e-8;

void require_start(const Block<double>& V, Index d, Index k) {
  if (V.rows() != d || V.cols() != k)
    throw CommunicationError(
        fmt::format("the basis to go on from is {} x {}: must be {} x {}", V.rows(), V.cols(), d, k));
  const double off = (V.transpose() * V - Block<double>::Identity(k, k)).norm();
  if (!(off <= not_orthonormal))
    throw DataError(fmt::format("the basis to go on from has V'V - I of norm {}: must be orthonormal", off));
}

std::vector<Index> without(const std::vector<Index>& all, const std::vector<Index>& some) {
  std::vector<Index> rest;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(rest));
  return rest;
}

// What is there for each member, for each agent of the roster; who is not a member has what is empty.
template <class T>
std::vector<T> over_roster(std::vector<T> of_members, const std::vector<Index>& members, Index agents, const T& none) {
  std::vector<T> all(static_cast<std::size_t>(agents), none);
  for (std::size_t i = 0; i < members.size(); ++i) all[static_cast<std::size_t>(members[i])] = std::move(of_members[i]);
  return all;
}

}  // namespace

AgentRun::AgentRun(LinkNetwork& net, AgentRows& rows, const FederationSettings& federation, const AgentHooks& hooks,
                   AgentPast& past, AgentOutcome& outcome)
    : net_(net), rows_(rows), federation_(federation), hooks_(hooks), outcome_(outcome), past_(past) {
  if (rows_.name.empty()) rows_.name = federation.names[static_cast<std::size_t>(outcome.self)];
}

void AgentRun::run() {
  net_.connect();
  for (bool done = false; !done;) {
    try {
      work();
      done = true;
    } catch (const MembersChanged&) {
      done = settle();
    }
  }
  finish();
  if (federation_.privacy) tell_release();
}

// ---- One epoch ------------------------------------------------------------------------------------------------------

// Rows are needed once more where an epoch may follow, or the run may be taken up again.
Shards AgentRun::own_shard() {
  Shards shards{.agents = net_.agents(), .local = {net_.self()}};
  shards.names.push_back(rows_.name);
  if (excludes() || waits()) {
    shards.rows.push_back(rows_.rows);
    shards.columns.push_back(rows_.columns);
  } else {
    shards.rows.push_back(std::move(rows_.rows));
    shards.columns.push_back(std::move(rows_.columns));
  }
  return shards;
}

void AgentRun::work() {
  if (federation_.privacy) return work_privately();
  Shards shards = own_shard();
  outcome_.columns_moved = !align_columns(net_, shards, federation_.columns).empty();
  outcome_.features = shards.columns.front();
  outcome_.totals = totals_of(net_, shards);
  const auto A = covariance_shards(std::move(shards), outcome_.totals, federation_.center);
  if (net_.epoch() == 0) agree_on_beginning();
  Block<double> start;
  DecentralizedHooks watched{.observe = [&](const DecentralizedEntry& entry) { return observe(entry); },
                             .resume = resume_};
  if (find_common_start(start)) watched.start = &start;
  if (excludes() || waits()) watched.latest = &past_.latest;
  if (keeps()) {
    watched.keep_every = federation_.keep_every;
    watched.keep = [&](Index t, const std::string& solver) { keep(done_ + t, solver); };
  }
  DecentralizedOptions options = outcome_.options;
  options.max_iterations = std::max<Index>(1, options.max_iterations - done_);
  outcome_.result = decentralized_pca(net_, operators_of(A), options, watched);
  contributors_ = net_.members();
  outcome_.run_id = net_.run_id();
  if (epochs_.empty()) epochs_ = outcome_.result.epochs;
  confirm();
}

bool AgentRun::observe(const DecentralizedEntry& entry) {
  DecentralizedEntry own = entry;
  own.t += done_;
  past_.reached = own.t + 1;
  net_.set_standing({.iterations = static_cast<std::uint64_t>(own.t + 1)});
  if (!hooks_.observe) return true;
  const auto counts = net_.links();
  return hooks_.observe({.entry = own, .links = counts});
}

// One member's answer so far goes round, the first's unless another was chosen, and all go on from it.
bool AgentRun::find_common_start(Block<double>& start) {
  if (net_.epoch() == 0 && !copies_) {
    past_.latest_order = outcome_.features;
    return false;
  }
  bring_latest_into_order();
  if (net_.epoch() > 0) speaker_ = 0;
  ByteWriter own;
  if (net_.self() == speaker_ && past_.latest.size() > 0) own.put(past_.latest);
  const auto all = net_.gather_everywhere(own.bytes(), "the basis to go on from");
  const std::string& said = all[static_cast<std::size_t>(speaker_)];
  if (said.empty()) return false;
  ByteReader reader(said, "the basis to go on from");
  start = reader.block();
  reader.require_end();
  require_start(start, outcome_.totals.dimension, outcome_.options.rank);
  return true;
}

// Another agent may be the first now, whose columns lie in another order.
void AgentRun::bring_latest_into_order() {
  const std::vector<std::string>& order = outcome_.features;
  if (past_.latest.size() > 0 && past_.latest_order != order) {
    Block<double> moved(past_.latest.rows(), past_.latest.cols());
    for (std::size_t j = 0; j < order.size(); ++j) {
      const auto& before = past_.latest_order;
      const auto from = std::find(before.begin(), before.end(), order[j]) - before.begin();
      moved.row(static_cast<Index>(j)) = past_.latest.row(from);
    }
    past_.latest = std::move(moved);
  }
  past_.latest_order = order;
}

// Everyone says which result it holds. Of messages there is always a last one, which may get lost: who does not hear of
// all the others has its result all the same, and says so. Where the others may go on without it, they may come to
// another result: then what is not confirmed is nobody's.
void AgentRun::confirm() {
  const std::string own = fmt::format("{:016x}", outcome_.result.digest);
  net_.set_standing({.iterations = static_cast<std::uint64_t>(done_ + outcome_.result.iterations),
                     .holds = true,
                     .epoch = net_.epoch(),
                     .digest = outcome_.result.digest});
  std::vector<std::string> said;
  try {
    said = net_.gather_everywhere(own, "confirmation");
  } catch (const CommunicationError& error) {
    if (excludes()) throw;
    outcome_.unconfirmed = error.what();
    outcome_.result.notes.push_back(unconfirmed_note + outcome_.unconfirmed);
    if (!waits()) return;
    finish();  // it may be confirmed yet
    past_.held = outcome_;
    throw;
  }
  for (std::size_t i = 0; i < said.size(); ++i)
    if (said[i] != own)
      throw DataError(fmt::format("{} holds the result {}: must be {}, as here", net_.name_of(net_.members()[i]),
                                  said[i].substr(0, own.size()), own));
}

// ---- From one epoch to the next -------------------------------------------------------------------------------------

// True: all who are left hold the same result, and perhaps somebody who is gone has made use of it already.
bool AgentRun::settle() {
  const std::vector<Index> before = net_.members();
  resume_.clear();
  const protocol::View view = net_.agree_on_members();
  if (net_.concluded()) return true;
  if (view.everyone_holds()) {
    for (const Index agent : without(before, view.members)) gone_.push_back(agent);
    return true;
  }
  gone_.clear();
  for (const protocol::Standing& standing : view.standings)
    done_ = std::max(done_, static_cast<Index>(std::min<std::uint64_t>(standing.iterations, 1u << 30)));
  if (epochs_.empty()) {
    epochs_.push_back({.reason = "start", .members = std::vector<Index>(federation_.names.size())});
    std::iota(epochs_.front().members.begin(), epochs_.front().members.end(), Index{0});
  }
  tell_of_change(view);
  return false;
}

void AgentRun::tell_of_change(const protocol::View& view) {
  const std::vector<Index> lost = without(epochs_.back().members, view.members);
  std::string reason;
  if (!lost.empty())
    reason = fmt::format("agent{} {} {} gone", lost.size() == 1 ? "" : "s", fmt::join(lost, ", "),
                         lost.size() == 1 ? "is" : "are");
  const auto is_member = [&](Index agent) {
    return std::binary_search(view.members.begin(), view.members.end(), agent);
  };
  for (const auto& edge : view.cut)
    if (is_member(edge.first) && is_member(edge.second) && !std::binary_search(cut_.begin(), cut_.end(), edge))
      reason += fmt::format("{}link {}-{} is out of use", reason.empty() ? "" : "; ", edge.first, edge.second);
  cut_ = view.cut;
  epochs_.push_back({.iteration = done_, .reason = reason, .members = view.members});
}

std::string AgentRun::agents_text(const std::vector<Index>& agents) const {
  std::vector<std::string> names;
  for (const Index agent : agents) names.push_back(net_.name_of(agent));
  return fmt::format("{}", fmt::join(names, ", "));
}

// The result in terms of the whole roster.
void AgentRun::finish() {
  outcome_.taken_up = past_.taken_up;
  if (!past_.trouble.empty()) outcome_.result.notes.push_back("states were not kept: " + past_.trouble);
  const auto n = static_cast<Index>(federation_.names.size());
  DecentralizedResult& result = outcome_.result;
  if (!gone_.empty())
    result.notes.push_back(
        fmt::format("{}: gone before the end, but in the answer; all others have confirmed it", agents_text(gone_)));
  if (epochs_.size() == 1) return;
  std::vector<Index> everyone(static_cast<std::size_t>(n));
  std::iota(everyone.begin(), everyone.end(), Index{0});
  const std::vector<Index> lost = without(everyone, contributors_);
  const Index k = result.eigenvalues.cols();
  const Block<double> values = result.eigenvalues;
  const Vector<double> next = result.next_eigenvalue;
  result.eigenvalues.setConstant(n, k, std::numeric_limits<double>::quiet_NaN());
  result.next_eigenvalue.setConstant(n, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < contributors_.size(); ++i) {
    result.eigenvalues.row(contributors_[i]) = values.row(static_cast<Index>(i));
    result.next_eigenvalue(contributors_[i]) = next(static_cast<Index>(i));
  }
  result.bases = over_roster(std::move(result.bases), contributors_, n, Block<double>());
  result.digests = over_roster(std::move(result.digests), contributors_, n, digest_of(Block<double>()));
  result.digest = digest_of(result.digests);
  outcome_.totals.sizes = over_roster(std::move(outcome_.totals.sizes), contributors_, n, Index{0});
  result.contributors = contributors_;
  result.iterations += done_;
  for (DecentralizedEntry& entry : result.history) entry.t += done_;
  result.epochs = std::move(epochs_);
  result.faults.crashes = static_cast<std::int64_t>(lost.size());
  if (!lost.empty())
    result.notes.push_back(
        fmt::format("the answer is that of {} of {} agents: without {}", contributors_.size(), n, agents_text(lost)));
}

}  // namespace hearsay::detail
