// DePM, ADePM, DeEPCA and ADeEPCA: one loop.
//   G_{i,0} = A_i X_0 / 2,    G_{i,t} = A_i X_{i,t} - beta_{i,t} X_{i,t-1} R_{i,t}^{-1}
//   S_i     = gossip(G_t)_i                        DePM (beta = 0), ADePM
//   S_i     = gossip(S + G_t - G_{t-1})_i          DeEPCA (beta = 0), ADeEPCA: the mean of S stays the mean of G
//   X_{i,t+1}, R_{i,t+1} = factor(S_i)             QR; ADeEPCA: polar on the first k columns
//   beta_{i,t+1} from H = X_{i,t}'(S_i + beta_{i,t} X_{i,t-1} R_{i,t}^{-1}), which approximates X'AX
//
// Reference   Aguie, Even, Massoulie (2026), Section 4 (ADePM); Ye and Zhang (2021) (DeEPCA, without their sign
//             adjustment, which a QR with a positive diagonal does not need).
// Departures  beta_{i,t} is the Rayleigh quotient the paper explains, not the one it prints. Centred damping runs on
//             A - (b/2) I. The paper fixes L and T; here L can follow from what is measured (pacing.hpp), and all
//             agents stop at the same iteration because the maxima they decide by come along with the blocks. Where
//             agents crash or come back an epoch begins: from X_t as X_0, with S = G, for the members' data alone.
// Legend      agents.hpp
#include "hearsay/decentralized.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "decentralized/agents.hpp"
#include "decentralized/choices.hpp"
#include "decentralized/definition.hpp"
#include "decentralized/gossip_bar.hpp"
#include "decentralized/kept_state.hpp"
#include "decentralized/pacing.hpp"
#include "decentralized/scaling.hpp"
#include "decentralized/verification.hpp"
#include "hearsay/angles.hpp"
#include "hearsay/error.hpp"
#include "hearsay/faults.hpp"
#include "hearsay/random.hpp"
#include "hearsay/transport.hpp"

namespace hearsay {

using detail::Agents;
using detail::agree_on_facts;
using detail::choose_method;
using detail::facts_shared;
using detail::Measured;
using detail::Method;
using detail::Pacing;
using detail::Verifier;

namespace {

enum Vote : Index { residual, spread, noise, minus_edge, minus_lambda_k, sine, trouble, votes_cast };
// On a network that may lose messages.
constexpr Index missed = votes_cast, distance_before = missed + 1, distance_after = missed + 2, all_votes_cast = 10;
constexpr double unheard = std::numeric_limits<double>::infinity();
constexpr double none = 0, asked_to_stop = 1, not_finite = 2;  // trouble

// A wide block finds the answer's neighbourhood in a fraction of the rounds; from there on a narrow one, whose answer
// does not depend on columns that never come to rest, gets by with fewer rounds for the same exactness.
constexpr double as_good_as_tied = 1e-8;  // a residual that leaves a sine above that: the gap is below 1e-5
constexpr double wide_enough = 1e-3;      // sin(theta), as the residual and the gap tell it

class Run {
 public:
  Run(NetworkRef net, const Epoch& first, std::span<const OperatorRef<double>> A, const DecentralizedOptions& options,
      const DecentralizedHooks& hooks)
      : net_(net),
        options_(options),
        hooks_(hooks),
        before_(net.traffic()),
        method_(choose_method(agree_on_facts(net, A), options, !net.unreliable())),
        agents_(method_, A, detail::first_block(method_, options.seed, hooks.start)),
        pacing_(options, method_, net.agents(), net.spectrum()),
        verifier_(net, A, method_, options.tolerance, options.seed),
        votes_(Block<double>::Zero(net.local_agents(), net.unreliable() ? all_votes_cast : Index{votes_cast})),
        seen_(votes_),
        epochs_{first},
        residuals_(static_cast<std::size_t>(net.local_agents())) {
    require(
        hooks.reference == nullptr || (hooks.reference->rows() == method_.d && hooks.reference->cols() == method_.k),
        fmt::format("reference basis: must be {} x {}", method_.d, method_.k));
    require((hooks.keep_every == 0 && hooks.resume.empty()) || !net.unreliable(),
            "states of a run: are kept only where no message gets lost");
  }

  DecentralizedResult run() {
    net_.begin_votes();
    const Index first = hooks_.resume.empty() ? 0 : take_up();
    for (Index t = first; t < options_.max_iterations; ++t) {
      if (t > 0 && !begin_iteration(t)) return finish(Status::stopped_by_observer, t);
      if (hooks_.keep_every > 0 && t > first && t % hooks_.keep_every == 0 && !stop_asked_) keep(t);
      const bool afresh = pacing_.begin(t);
      const Traffic spent = since(before_);
      entry_ = {.t = t, .rounds = spent.rounds, .bytes = spent.bytes, .rounds_next = pacing_.rounds()};
      entry_.sin_theta = worst_sine();
      products_ += method_.p;
      agents_.prepare(afresh);                                                                       // Z_i
      gossip(net_, pacing_.kind(), pacing_.rounds(), agents_.Z(), agents_.S(), votes_, workspace_);  // S_i
      rounds_since_vote_ += pacing_.rounds();
      if (hooks_.witness && !agents_.present().empty()) {
        const auto [off, size] = agents_.witness(options_.seed + static_cast<std::uint64_t>(t) * 0x10000);
        hooks_.witness(off, size);
      }
      if (method_.tracked && net_.local_agents() == net_.agents())
        conservation_error_ = std::max(conservation_error_, agents_.conservation_error());
      remember(agents_.advance(net_.unsent()));  // X_{i,t+1}, R_{i,t+1}
      if (hooks_.latest != nullptr && !agents_.present().empty())
        *hooks_.latest = agents_.eigenvectors(agents_.present().front());
      if (const auto verdict = decide()) return finish(*verdict, t + 1);
    }
    return finish(Status::iteration_limit, options_.max_iterations);
  }

 private:
  // All that iteration t and those after it need. Each agent's own, and of no use to another.
  template <class Archive>
  void fields(Archive& archive, Index& t, Traffic& spent) {
    archive(t), archive(spent.rounds), archive(spent.control_rounds), archive(spent.messages), archive(spent.bytes);
    agents_.fields(archive), pacing_.fields(archive);
    archive(fresh_), archive(beginnings_), archive(votes_), archive(seen_), archive(rounds_since_vote_);
    archive(voted_), archive(narrowing_), archive(products_), archive(conservation_error_), archive(residuals_);
    archive(message_noise_.last), archive(message_noise_.largest), archive(history_);
  }

  void keep(Index t) {
    detail::StateWriter writer;
    Traffic spent = since(before_);
    fields(writer, t, spent);
    hooks_.keep(t, writer.bytes());
  }

  Index take_up() {
    detail::StateReader reader(hooks_.resume);
    Index t = 0;
    Traffic spent;
    try {
      fields(reader, t, spent);
      reader.require_end();
    } catch (const CommunicationError& error) {
      throw DataError(error.what());
    }
    agents_.require_sound_state();
    pacing_.require_sound_state();
    method_.p = agents_.method().p;
    method_.ritz = agents_.method().ritz;
    const Index votes = seen_.cols(), turn = method_.p * (method_.k + 1);
    detail::require_sound(seen_.rows() == net_.local_agents() && votes == votes_cast && votes_.rows() == seen_.rows() &&
                              (votes_.cols() == votes || (method_.ritz && votes_.cols() == votes + turn)),
                          "the votes on their way");
    detail::require_sound(t > 0 && static_cast<Index>(history_.size()) == t && rounds_since_vote_ >= 0 &&
                              residuals_.size() == static_cast<std::size_t>(net_.local_agents()),
                          "the iteration");
    for (Block<double>* cast : {&seen_, &votes_})  // whoever asked then asks no more
      cast->col(trouble) = (cast->col(trouble).array() == asked_to_stop).select(none, cast->col(trouble));
    before_ = since(spent);
    entry_ = history_.back();
    return t;
  }

  Traffic since(const Traffic& before) const {
    const Traffic now = net_.traffic();
    return {.rounds = now.rounds - before.rounds,
            .control_rounds = now.control_rounds - before.control_rounds,
            .messages = now.messages - before.messages,
            .bytes = now.bytes - before.bytes};
  }

  // False where someone would not wait for those who take part to learn of each other.
  bool begin_iteration(Index t) {
    try {
      if (const auto epoch = net_.begin_iteration(t)) begin_epoch(*epoch);
    } catch (const Interrupted& error) {
      interrupted_ = true;
      silence_ = error.what();
    }
    return !interrupted_;
  }

  // The members go on from where they are. Votes that were on their way are void.
  void begin_epoch(const Epoch& epoch) {
    std::vector<Index> present;
    for (Index i = 0; i < net_.local_agents(); ++i)
      if (std::binary_search(epoch.members.begin(), epoch.members.end(), net_.agent(i))) present.push_back(i);
    net_.hand_over(agents_.X());
    begin_anew(present);
    pacing_.begin_epoch(static_cast<Index>(epoch.members.size()), net_.spectrum());
    seen_.setConstant(-std::numeric_limits<double>::infinity());
    voted_ = false;
    doubtful_ = deaf_ = false;
    rounds_since_vote_ = 0;
    epochs_.push_back(epoch);
  }

  void restart() {
    agents_.restart();
    fresh_ = true;
  }

  void begin_anew(const std::vector<Index>& present) {
    fresh_ = true;
    agents_.begin_anew(
        present,
        random_orthonormal<double>(method_.d, method_.p,
                                   {.seed = options_.seed, .stream = Stream::start_block, .iteration = ++beginnings_}));
  }

  double worst_sine() const {
    if (hooks_.reference == nullptr) return std::numeric_limits<double>::quiet_NaN();
    double worst = 0;
    for (const Index i : agents_.present())
      worst = std::max(worst, sin_theta<double>(*hooks_.reference, agents_.eigenvectors(i)));
    return worst;
  }

  void remember(const std::vector<Measured>& measured) {
    message_noise_.last = 0;
    for (const Index i : agents_.present()) {
      const Measured& agent = measured[static_cast<std::size_t>(i)];
      const double before = pacing_.spread(agent.spread), after = pacing_.contraction() * before + agent.unsent;
      seen_.row(i).head<votes_cast>() << agent.residual, before, after, -agent.edge, -agent.lambda_k, agent.sine,
          agent.finite ? none : not_finite;
      if (net_.unreliable()) {
        const Reception reception = net_.reception(i);
        seen_.row(i).tail<all_votes_cast - missed>() << reception.missed, reception.before, reception.after;
      }
      residuals_[static_cast<std::size_t>(i)].push_back(agent.residual);
      entry_.residual = std::max(entry_.residual, agent.residual);
      entry_.disagreement = std::max(entry_.disagreement, heard_nobody(i) ? unheard : after);
      entry_.momentum = std::max(entry_.momentum, std::ldexp(agent.beta, 2 * method_.exponent));
      message_noise_.last = std::max(message_noise_.last, agent.unsent);
    }
    message_noise_.largest = std::max(message_noise_.largest, message_noise_.last);
    history_.push_back(entry_);
    stop_asked_ = stop_asked_ || (hooks_.observe && !hooks_.observe(entry_));
    if (stop_asked_) seen_.col(trouble) = seen_.col(trouble).cwiseMax(asked_to_stop);
  }

  // Since it last voted: then what its block was before gossip and after says nothing.
  bool heard_nobody(Index i) const { return net_.unreliable() && seen_(i, missed) >= 1; }

  // False where members cannot hear of each other, which ends the run.
  template <class Call>
  bool heard(const Call& call) {
    try {
      call();
      return true;
    } catch (const Interrupted& error) {
      interrupted_ = true;
      silence_ = error.what();
    } catch (const LinkError&) {
      throw;
    } catch (const CommunicationError& error) {
      if (!net_.unreliable()) throw;  // nothing gets lost there: a message was wrong, and all must hear of it
      silence_ = error.what();
    }
    return false;
  }

  // Of a run whose members could not hear of each other.
  Status cut_short() const { return interrupted_ ? Status::stopped_by_observer : Status::communication_failed; }

  void verify_kept(double resolution) {
    verifier_.verify(
        epochs_.back().members, agents_.present(),
        [&](Index i) -> detail::Answer {
          return {agents_.kept_eigenvectors(i), agents_.kept_eigenvalues(i), agents_.kept_next(i)};
        },
        resolution);
    products_ += method_.k;
  }

  // What the members vote on where messages got lost is no more than a reason to look: see verification.hpp.
  std::optional<Status> verdict_of_all(const Eigen::Ref<const Eigen::RowVectorXd>& agreed) {
    const auto verdict = act(agreed);
    if (verdict != Status::converged || !doubtful_) return verdict;
    if (deaf_) {  // alone an agent takes steps of its own A, and may lose for good what only the others have
      begin_anew(agents_.present());
      pacing_.forget();
      deaf_ = false;
      return std::nullopt;
    }
    if (!heard([&] { verify_kept(std::max(agreed(residual), agreed(noise))); })) return cut_short();
    if (verifier_.holds()) return verdict;
    learn(agreed);
    if (!verifier_.nearly_holds() && pacing_.doubt()) restart();
    return std::nullopt;
  }

  // Once the votes of an earlier iteration have been everywhere, every agent holds the same maxima, acts on them, and
  // casts its next votes. A lonely agent need not wait. Where messages get lost a later X may be the worse one, so the
  // one that was voted on is kept.
  std::optional<Status> decide() {
    if (agents_.present().empty()) return std::nullopt;
    const Index any = agents_.present().front();
    if (net_.diameter() == 0) return act(seen_.row(any));
    if (rounds_since_vote_ < net_.diameter()) return std::nullopt;
    if (voted_ && !heard([&] { net_.settle_votes(votes_); })) return cut_short();
    const std::uint32_t before = beginnings_;
    const auto verdict = voted_ ? verdict_of_all(votes_.row(any)) : std::nullopt;
    const bool anew = beginnings_ != before;
    const bool narrows = votes_.cols() > seen_.cols();
    if (narrows) narrow(votes_.row(any).tail(votes_.cols() - seen_.cols()));
    if (net_.unreliable() && (verdict == Status::converged || verdict == Status::noise_floor)) {
      agents_.return_to_kept();
      entry_.residual = votes_(any, residual);
      entry_.disagreement = votes_(any, noise);
    }
    cast_votes();
    net_.begin_votes();
    pacing_.cast();
    if (net_.unreliable()) agents_.keep();
    rounds_since_vote_ = 0;
    voted_ = !narrows && !anew;  // what was seen of a wide block, or of another beginning, says nothing of the next
    return verdict;
  }

  // When the wide block has done its work, the first agent's turn goes round with the votes: who says nothing loses
  // every maximum.
  void cast_votes() {
    votes_ = seen_;
    if (!narrowing_) return;
    const Index numbers = method_.p * (method_.k + 1);
    votes_.conservativeResize(Eigen::NoChange, votes_.cols() + numbers);
    votes_.rightCols(numbers).setConstant(-std::numeric_limits<double>::infinity());
    for (Index i = 0; i < net_.local_agents(); ++i)
      if (net_.agent(i) == 0) votes_.row(i).tail(numbers) = agents_.turn(i).reshaped<Eigen::RowMajor>().transpose();
    narrowing_ = false;
  }

  void narrow(const Eigen::Ref<const Eigen::RowVectorXd>& told) {
    agents_.narrow(told.reshaped<Eigen::RowMajor>(method_.p, method_.k + 1));
    method_.p = method_.k + 1;
    method_.ritz = false;
    pacing_.forget();
  }

  Reception worst_reception(const Eigen::Ref<const Eigen::RowVectorXd>& agreed) const {
    if (!net_.unreliable()) return {};
    return {.missed = agreed(missed), .before = agreed(distance_before), .after = agreed(distance_after)};
  }

  std::optional<Status> act(const Eigen::Ref<const Eigen::RowVectorXd>& agreed) {
    if (agreed(trouble) == not_finite) return Status::breakdown;
    if (agreed(trouble) == asked_to_stop) return Status::stopped_by_observer;
    const Reception worst = worst_reception(agreed);
    doubtful_ = doubtful_ || worst.missed > 0;
    // A tracker that has once heard of the others keeps what it heard.
    deaf_ = deaf_ || (worst.missed >= 1 && (fresh_ || !method_.tracked));
    fresh_ = false;
    // Gossip that drives the agents apart fills S with what a small residual is then the residual of.
    const bool apart = worst.missed > 0 && worst.after > std::max(worst.before, options_.tolerance);
    // A wide block is not judged: its agents may lie apart in columns that their answers' residuals do not show.
    const bool judged = !method_.ritz || net_.diameter() == 0;
    if (judged && agreed(residual) <= options_.tolerance && !apart && worst.missed < 1) {
      if (agreed(noise) <= options_.tolerance) return Status::converged;
      // Each agent has come to rest, but at a place of its own, and no further step will bring them together.
      if (!method_.tracked && options_.rounds) return Status::noise_floor;
    }
    learn(agreed);
    return std::nullopt;
  }

  void learn(const Eigen::Ref<const Eigen::RowVectorXd>& agreed) {
    agents_.agree_on_edge(-agreed(minus_edge), -agreed(minus_lambda_k));
    const bool tied = agreed(residual) <= std::min(options_.tolerance, as_good_as_tied);  // and no sine shows
    narrowing_ = method_.ritz && (agreed(sine) <= wide_enough || tied) && votes_.cols() == seen_.cols();
    if (pacing_.hear(agreed(residual), agreed(spread), worst_reception(agreed))) restart();
  }

  // Who runs all the iterations asks for no accuracy, and what is sent was planned.
  bool asks_for_bar() const { return options_.tolerance > 0 && !agents_.present().empty(); }

  // The least that any member knows of.
  double least_gap() {
    Block<double> votes = Block<double>::Constant(net_.local_agents(), 1, -std::numeric_limits<double>::infinity());
    for (const Index i : agents_.present()) {
      const double gap =
          detail::gap_of(agents_.eigenvalues(i), agents_.next_eigenvalue(i), residuals_[static_cast<std::size_t>(i)]);
      votes(i, 0) = gap > 0 ? -gap : 0;  // A is zero as far as it can see
    }
    agree_on_maximum(net_, votes);
    const double least = 0 - votes(agents_.present().front(), 0);
    if (least < 0) throw DataError(fmt::format("an agent says that its gap = {}: must not be negative", least));
    return least;
  }

  // At the end the members tell each other how far apart they are, if they still hear of each other, and a message was
  // ever lost since the epoch began or the tolerance was not met.
  bool look_at_the_end() {
    return heard([&] {
      if (net_.unreliable()) {
        Block<double> votes = Block<double>::Constant(net_.local_agents(), 1, doubtful_ ? 1 : 0);
        for (const Index i : agents_.present()) votes(i, 0) = std::max(votes(i, 0), net_.reception(i).missed);
        agree_on_maximum(net_, votes);
        doubtful_ = votes(agents_.present().front(), 0) > 0;
      }
      if (!doubtful_ && !asks_for_bar()) return;
      const double gap = asks_for_bar() ? least_gap() : 0;
      verifier_.verify(
          epochs_.back().members, agents_.present(),
          [&](Index i) -> detail::Answer {
            return {agents_.eigenvectors(i), agents_.eigenvalues(i), agents_.next_eigenvalue(i)};
          },
          0, gap);
      products_ += method_.k;
      told_ = true;
    });
  }

  // What everyone has heard takes the place of what each could see; members that have converged return the one basis
  // that was shown to be good.
  void adopt_verified(DecentralizedResult& result) const {
    result.verification = verifier_.last().told;
    if (result.status == Status::communication_failed || interrupted_) {
      result.evidence = Knowledge::unknown;
      result.disagreement = std::numeric_limits<double>::quiet_NaN();
      return;
    }
    if (!doubtful_ && !told_) return;
    result.evidence = result.verification.evidence;
    result.disagreement = verifier_.last().disagreement;
    if (result.status != Status::converged) {
      result.residual = std::fmax(result.residual, result.verification.residual);
      return;
    }
    result.residual = result.verification.residual;
    const auto& [V, theta, next] = verifier_.last().common;
    for (const Index i : agents_.present()) {
      result.bases[static_cast<std::size_t>(i)] = V;
      result.eigenvalues.row(i) = theta.transpose();
      result.next_eigenvalue(i) = next;
    }
  }

  // What the members tell each other when the run is over; where they cannot, that is how it ended.
  ErrorBar last_words(Status& status) {
    const bool may_lack = net_.unreliable() && net_.diameter() > 0;
    if (!(may_lack || asks_for_bar()) || interrupted_ || status == Status::breakdown || status == Status::converged ||
        status == Status::communication_failed)
      return {};
    if (look_at_the_end()) return asks_for_bar() ? detail::gossip_bar(verifier_.last()) : ErrorBar{};
    status = cut_short();
    return {};
  }

  DecentralizedResult finish(Status status, Index iterations) {
    const ErrorBar told = last_words(status);
    DecentralizedResult result;
    result.status = status;
    result.iterations = iterations;
    result.eigenvalues.setConstant(agents_.count(), method_.k, std::numeric_limits<double>::quiet_NaN());
    result.bases.resize(static_cast<std::size_t>(agents_.count()));
    result.next_eigenvalue.setConstant(agents_.count(), std::numeric_limits<double>::quiet_NaN());
    result.nonnegative = method_.nonnegative;
    result.residual = entry_.residual;
    result.disagreement = entry_.disagreement;
    result.exponent = method_.exponent;
    for (const Index i : agents_.present()) {
      // Without a single product that was finite there are none.
      if (agents_.eigenvalues(i).size() == method_.k) result.eigenvalues.row(i) = agents_.eigenvalues(i);
      result.next_eigenvalue(i) = agents_.next_eigenvalue(i);
      result.bases[static_cast<std::size_t>(i)] = agents_.eigenvectors(i);
    }
    adopt_verified(result);
    std::vector<Block<double>> present;
    for (const Index i : agents_.present()) present.push_back(result.bases[static_cast<std::size_t>(i)]);
    for (const auto& basis : result.bases) result.digests.push_back(digest_of(basis));
    result.digest = digest_of(result.digests);
    result.agreement = basis_agreement(present);
    result.rounds_per_iteration = entry_.rounds_next;
    result.restarts = pacing_.restarts();
    result.traffic = since(before_);
    result.momentum = entry_.momentum;
    result.damping = method_.damping;
    result.columns = method_.p;
    result.columns_at_start = columns_at_start_;
    result.products = products_;
    result.message_noise = message_noise_;
    if (method_.tracked && net_.local_agents() == net_.agents()) result.conservation_error = conservation_error_;
    result.contributors = epochs_.back().members;
    result.epochs = std::move(epochs_);
    result.faults = net_.fault_counts();
    result.faults.fallbacks = pacing_.fallbacks();
    result.history = std::move(history_);
    result.notes = pacing_.notes();
    if (const auto n = static_cast<Index>(result.contributors.size()); n < net_.agents())
      result.notes.push_back(fmt::format(
          "the answer is that of {} of {} agents, and the eigenvalues are those of their average", n, net_.agents()));
    if (!silence_.empty()) result.notes.push_back("the agents could not tell how far apart they are: " + silence_);
    if (status == Status::noise_floor)
      result.notes.push_back(
          detail::floor_note(result.agreement, options_.rounds.value_or(result.rounds_per_iteration)));
    detail::judge_definition(result, options_.tolerance);
    result.bar = detail::may_have_bar(result) ? told : ErrorBar{};
    return result;
  }

  NetworkRef net_;
  const DecentralizedOptions& options_;
  const DecentralizedHooks& hooks_;
  Traffic before_;
  Method method_;
  Agents agents_;
  Pacing pacing_;
  Verifier verifier_;
  bool doubtful_ = false;  // a message was lost in this epoch
  bool told_ = false;      // at the end the members have told each other how far apart they are
  bool deaf_ = false;      // someone heard nobody since the last beginning, when that mattered
  bool fresh_ = true;      // S is made of G alone
  std::uint32_t beginnings_ = 0;
  std::string silence_;         // who did not hear of whom
  Block<double> votes_, seen_;  // on their way, and of this iteration
  GossipWorkspace workspace_;
  Index rounds_since_vote_ = 0;
  bool voted_ = false, stop_asked_ = false, interrupted_ = false;
  bool narrowing_ = false;
  const Index columns_at_start_ = method_.p;
  std::int64_t products_ = 0;
  double conservation_error_ = 0;
  std::vector<Epoch> epochs_;
  std::vector<std::vector<double>> residuals_;  // of each agent here
  MessageNoise message_noise_;
  DecentralizedEntry entry_;
  std::vector<DecentralizedEntry> history_;
};

}  // namespace

DecentralizedResult detail::scaled_decentralized_pca(NetworkRef net, std::span<const OperatorRef<double>> A,
                                                     const DecentralizedOptions& options,
                                                     const DecentralizedHooks& hooks) {
  Epoch everyone{.reason = "start", .members = std::vector<Index>(static_cast<std::size_t>(net.agents()))};
  std::iota(everyone.members.begin(), everyone.members.end(), Index{0});
  return Run(net, net.begin_iteration(0).value_or(everyone), A, options, hooks).run();
}

DecentralizedResult decentralized_pca(NetworkRef net, std::span<const OperatorRef<double>> A,
                                      const DecentralizedOptions& options, const DecentralizedHooks& hooks) {
  DecentralizedResult result = detail::scaled_decentralized_pca(net, A, options, hooks);
  detail::unscale_or_tell(result);
  return result;
}

Traffic planned_traffic(const GossipMatrix& W, Index dimension, const DecentralizedOptions& options,
                        MessagePrecision precision) {
  const Method method = choose_method({.d = dimension, .positive_semidefinite = true}, options, true);
  require(options.rounds.has_value(), "rounds = auto: are measured during the run; give a number to plan its traffic");
  Traffic traffic;
  for (Index round = 0; round < W.diameter(); ++round) traffic.add_round(2 * W.edges(), 0, facts_shared);
  const std::int64_t block_bytes = method.d * method.p * bytes_per_number(precision);
  const std::int64_t rounds = options.max_iterations * *options.rounds;
  traffic.rounds += rounds;
  traffic.messages += rounds * 2 * W.edges();
  traffic.bytes += rounds * 2 * W.edges() * (block_bytes + votes_cast * static_cast<std::int64_t>(sizeof(double)));
  return traffic;
}

}  // namespace hearsay
