// Block Krylov space for exact products: when it is looked at, when it ends, and what may be said then. The space
// itself, and the relation that residuals are read from, are in krylov_space.hpp.
//
// Why         Blocks of 16 columns cost little more than one where a product is costly, and half the products are
// needed. Careful     Where as many wanted Ritz values agree as the block has columns, random columns join the block. A
// start that
//             was given proves nothing, so random columns go with it.
// Legend      d, k, p  dimension, rank, columns kept | n  columns of the space | theta  Ritz values | V  the answer
#include "solver/krylov.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "hearsay/angles.hpp"
#include "hearsay/error.hpp"
#include "hearsay/qr.hpp"
#include "solver/choices.hpp"
#include "solver/ends.hpp"
#include "solver/extract.hpp"
#include "solver/krylov_space.hpp"
#include "solver/outcome.hpp"
#include "solver/scale.hpp"
#include "solver/stopping.hpp"
#include "solver/tuning.hpp"

namespace hearsay::detail {

namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

// Below what is asked for, so that the relation holds to it.
template <class S>
S orthogonality_for(const PowerOptions& options) {
  const double epsilon = std::numeric_limits<S>::epsilon();
  return static_cast<S>(std::min(tuning::cosine_in_root_epsilon * std::sqrt(epsilon),
                                 tuning::cosine_in_tolerance * tolerance_of<S>(options)));
}

template <class S>
class Krylov {
 public:
  Krylov(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks, const Known& known)
      : A_(A),
        options_(options),
        hooks_(hooks),
        known_(known),
        goal_{.tolerance = tolerance_of<S>(options), .sine = options.accuracy.value_or(0)},
        d_(A.dim()),
        k_(options.rank),
        stopping_{.d = d_, .k = k_, .epsilon = std::numeric_limits<S>::epsilon()},
        ends_(options.which, k_, d_),
        orthogonality_(orthogonality_for<S>(options)),
        space_(A, options, known_, orthogonality_) {
    require_sound(options, d_);
    require(hooks.reference == nullptr || hooks.reference->rows() == d_,
            fmt::format("reference of {} rows: must have {}, as the matrix has",
                        hooks.reference == nullptr ? 0 : hooks.reference->rows(), d_));
    const bool given = hooks.start != nullptr && hooks.start->cols() > 0;
    must_prove_ = given && !known_.sound_start && (options.certify == Certify::full || options.accuracy);
    space_.start(hooks.start, must_prove_ ? tuning::proof_columns : 0);
  }

  PowerResult<S> run() {
    for (Index next_look = k_ + 1;;) {
      const OneThread alone = space_.threads_for_next_block();
      if (!space_.extend()) return finish(Status::breakdown);
      const bool full = space_.full(false);
      if (space_.exhausted() && shows_too_little()) space_.start_afresh();
      if (space_.columns() < next_look && !full && !space_.exhausted() && !at_limit()) continue;
      if (shows_too_little()) continue;
      look();
      if (hooks_.observe && !observe()) return finish(Status::stopped_by_observer);
      if (may_lack_copies() && space_.blocks() >= not_before_)
        widen();
      else if (const auto verdict = judge())
        return finish(*verdict);
      if (at_limit()) return finish(Status::iteration_limit);
      if (space_.exhausted() && !space_.complete()) space_.start_afresh();
      // Where the end is near a restart would cost more than the blocks that are left.
      if (space_.full(blocks_to_go() <= tuning::spare_blocks))
        space_.restart(options_.certify == Certify::full, ends_.both() ? ends_.all().back().kept : 0);
      next_look = space_.columns() + blocks_to_go() * space_.block();
    }
  }

 private:
  // A budget is not held against the first columns: without them there is no answer.
  bool at_limit() const {
    const auto& budget = options_.product_budget;
    return space_.blocks() >= iteration_limit(options_) ||
           (budget && space_.columns() > k_ && space_.products() + space_.block() + k_ > *budget);
  }

  // No Ritz value beyond the k-th; of two ends, none beyond either.
  bool shows_too_little() const { return space_.columns() <= k_ + (ends_.both() ? 1 : 0) && !space_.complete(); }

  void look() {
    space_.find_ritz();
    largest_space_ = std::max(largest_space_, space_.columns());
    require_symmetric_products();
    const Vector<double> theta = space_.theta().template cast<double>();
    const Vector<double>& residuals = space_.residuals();
    ends_.look({.theta = theta,
                .residuals = residuals,
                .rounding = expected_rounding(),
                .norm = space_.largest(),
                .most_copies = space_.complete()    ? -1
                               : space_.restarted() ? std::min(space_.width(), space_.kept())
                                                    : space_.width(),
                .kept = space_.kept()});
    const auto [last, next] = ends_.cut();
    HistoryEntry entry{.t = space_.blocks(),
                       .noise = space_.noise(),
                       .theta_1 = theta(0),
                       .theta_k = last,
                       .theta_next = next,
                       .sin_theta_estimate = ends_.sine()};
    entry.residual = relative_residual(ends_.wanted(theta), scale(), ends_.wanted(residuals).norm());
    if (hooks_.observe || hooks_.reference != nullptr) wanted_vectors(V_);
    if (hooks_.reference != nullptr) entry.sin_theta = static_cast<double>(sin_theta<S>(*hooks_.reference, V_));
    history_.push_back(entry);
  }

  void wanted_vectors(Block<S>& V) { space_.ritz_vectors(k_ - ends_.wanted_low(), ends_.wanted_low(), V); }

  ResidualScale scale() const { return residual_scale(A_.facts(), space_.exponent(), norm_seen()); }

  // Of A less its shift: that makes no residual smaller.
  double norm_seen() const {
    const double shift = std::ldexp(A_.facts().shift, -space_.exponent());
    const auto first = static_cast<double>(space_.theta()(0)), last = static_cast<double>(space_.theta().tail(1)(0));
    return std::max(std::abs(first - shift), std::abs(last - shift));
  }

  // Of an operator that does not say that its products are exact.
  void require_symmetric_products() const {
    if (A_.facts().exact || options_.products == Products::exact) return;
    // A start that A takes to nothing leaves Ritz values that are rounding themselves.
    const double root = std::sqrt(static_cast<double>(d_)),
                 norm = std::max(space_.largest(), space_.frobenius(k_) / root);
    const double rounding = tuning::noise_above_rounding * stopping_.epsilon * root * norm;
    if (space_.noise() > rounding)
      throw DataError(fmt::format(
          "matrix: X'AX is asymmetric by about {:.2g} an entry, and `which` = {} needs a symmetric matrix and "
          "exact products; of products with errors `which` LA and SA are found",
          std::ldexp(space_.noise(), space_.total_exponent()), name(options_.which)));
  }

  bool observe() {
    const HistoryEntry entry = unscaled(history_.back(), space_.total_exponent());
    return hooks_.observe({.entry = entry, .X = V_, .basis = V_, .shift = 0, .cooling = false});
  }

  // Blocks until it is worth looking at the Ritz values again, at the pace of the last two looks.
  Index blocks_to_go() const {
    if (history_.size() < 2) return 1;
    const HistoryEntry &now = history_.back(), &before = history_[history_.size() - 2];
    const double pace = std::log(before.residual / now.residual) / static_cast<double>(now.t - before.t);
    const double distance = std::max(std::log(now.residual / goal_.tolerance),
                                     goal_.sine > 0 ? std::log(now.sin_theta_estimate / goal_.sine) : 0.0);
    const auto least = static_cast<Index>(std::clamp(look_in_blocks(), 1.0, tuning::most_blocks_for_a_look));
    if (!(pace > 0) || distance <= 0) return least;
    const double product = A_.facts().multiply_adds;
    const bool cheap = product > 0 && product <= tuning::sparse_row * static_cast<double>(d_);
    const double blocks = cheap ? distance / pace + 1 : tuning::look_after * distance / pace;
    const double most = !cheap                                   ? tuning::most_blocks_to_look
                        : space_.block() == tuning::sparse_block ? tuning::most_narrow_blocks_to_look
                                                                 : tuning::most_cheap_blocks_to_look;
    return std::max(least, static_cast<Index>(std::clamp(blocks, 1.0, most)));
  }

  // What a look takes in the largest space so far, with all its eigenpairs and what is proved from them, in blocks:
  // their products, and orthogonality.
  double look_in_blocks() const {
    const double product = A_.facts().multiply_adds;
    if (!(product > 0)) return 0;  // nobody knows
    const auto d = static_cast<double>(d_), n = static_cast<double>(largest_space_);
    return tuning::look_multiply_adds * n * n * n / (static_cast<double>(space_.block()) * (product + 4 * d * n));
  }

  // ---- When to stop

  bool reached() const { return goal_.met(history_.back().residual, history_.back().sin_theta_estimate); }

  bool believed() const { return space_.complete() || proved() || ends_.believed(); }

  // Near enough, or as near as it will ever come.
  bool may_stop() const {
    const auto out_of_reach = [this](const End& end) {
      return end.k > 0 && goal_.out_of_reach(end.pairs, end.k, history_.back().residual, expected_rounding());
    };
    return reached() || space_.complete() || at_rounding_floor(stopping_, history_) ||
           std::any_of(ends_.all().begin(), ends_.all().end(), out_of_reach);
  }

  std::optional<Status> judge() {
    if (shows_too_little() || !may_stop()) return std::nullopt;
    try_to_prove();
    const bool met = reached(), all = space_.complete();
    const Index t = space_.blocks();
    if (!proved() && t < give_up_proof_ && !all) return std::nullopt;
    if (must_prove_ && !proved() && !all) return Status::iteration_limit;
    const bool doubted = met && ends_.resolved() && !believed();
    if (doubted && !at_rounding_floor(stopping_, history_)) return std::nullopt;
    if (!ends_.resolved()) return wait_for_the_next() ? std::nullopt : std::optional(Status::ambiguous);
    return met && !doubted ? Status::converged : Status::rounding_floor;
  }

  // From the first time it is asked, for so many blocks.
  bool wait_for_the_next() {
    if (give_up_next_ < 0) give_up_next_ = space_.blocks();
    const Index waits = !next_is_at_rest() ? tuning::most_blocks_for_the_next
                        : gap_is_clear()   ? tuning::most_blocks_for_a_clear_gap
                                           : 0;
    return space_.blocks() < give_up_next_ + waits;
  }

  // The Ritz values say that k cuts no cluster, and only copies that they may lack are feared: that, more blocks can
  // prove.
  bool gap_is_clear() const {
    if (space_.complete() || ends_.both() || options_.certify != Certify::full) return false;
    const auto& [theta, residuals, coupling, copies, norm] = ends_.high().pairs;
    return theta.size() > k_ &&
           theta(k_ - 1) - theta(k_) > tuning::clear_in_residuals * (residuals(k_ - 1) + residuals(k_));
  }

  // Else the first Ritz value beyond k may yet leave the k-th alone, and the two cannot be said to agree. A start that
  // was given has the wanted ones at rest before the others have begun to move.
  bool next_is_at_rest() const {
    const double enough = std::sqrt(goal_.tolerance) * space_.largest();
    return space_.complete() || std::all_of(ends_.all().begin(), ends_.all().end(), [&](const End& end) {
             return end.pairs.size() <= end.k || end.pairs.residuals(end.k) <= enough;
           });
  }

  // Whether w wanted Ritz values are one to the accuracy asked for, w the columns of the block, so that there may be
  // more of them; where they differ by more, the block comes to see them all.
  bool may_lack_copies() const {
    if (space_.complete() || space_.width() >= d_) return false;
    return std::any_of(ends_.all().begin(), ends_.all().end(), [this](const End& end) { return may_lack_copies(end); });
  }

  bool may_lack_copies(const End& end) const {
    const double alike = std::clamp(tuning::copies_in_goal * std::max(goal_.sine, goal_.tolerance),
                                    tuning::copies_at_least, tuning::copies_at_most);
    const Index w = space_.width(), n = end.pairs.size();
    const double edge = end.pairs.theta(n - 1);
    const auto residual = [&](Index i) { return space_.residuals()(end.sign > 0 ? i : n - 1 - i); };
    for (Index i = 0; i + w <= end.k; ++i) {
      const double upper = end.pairs.theta(i), lower = end.pairs.theta(i + w - 1), close = alike * (lower - edge);
      if (!(upper - lower <= close)) continue;
      double largest = 0;
      for (Index j = i; j < i + w; ++j) largest = std::max(largest, residual(j));
      if (reached() || largest <= close) return true;
    }
    return false;
  }

  void widen() {
    not_before_ = 2 * space_.blocks();
    give_up_proof_ = -1;
    space_.widen();
  }

  // ---- That nothing was missed

  // The first time that everything else is met says how many blocks may go into the proof: none for a start that was
  // given, because without it nothing is known; for columns that have just joined, as many as the first ones had.
  void try_to_prove() {
    const Index t = space_.blocks();
    if (options_.certify != Certify::full && !must_prove_ && not_before_ == 0) {
      give_up_proof_ = t;
      return;
    }
    if (t < next_proof_ && !space_.complete()) return;
    next_proof_ = t + 1 + (t - first_proof_) / tuning::proof_interval;
    if (give_up_proof_ < 0) {
      first_proof_ = t;
      give_up_proof_ = must_prove_          ? t + tuning::most_blocks_for_a_start
                       : not_before_ > 0    ? std::max(not_before_, t + tuning::most_blocks_for_a_start / 2)
                       : known_.sound_start ? t
                                            : t + std::max(tuning::least_proof_passes, t / tuning::proof_share);
    }
    prove_all();
  }

  // Of a start that was given also that the Ritz values are those they seem to be, which only the bound says.
  bool proved() const {
    if (!ends_.proved()) return false;
    return !must_prove_ || !ends_.resolved() || ends_.bound() <= goal_.sine_or_resolved();
  }

  void prove_all() {
    for (End& end : ends_.all()) end.proof = prove(end);
    if (ends_.take_proof()) history_.back().sin_theta_estimate = ends_.sine();
  }

  // That at most q eigenvalues lie above an x below the q-th Ritz value: for q = k, or the next few where the gap there
  // is too small. Where k cuts a cluster, for the Ritz values above that.
  std::optional<Statement> prove(const End& end) {
    if (space_.complete()) return exactly(end);
    Statement best = !ends_.both() && known_.statement.count >= k_ ? known_.statement : Statement{};
    best.above = known_.in_units_of(space_.total_exponent(), best.above);
    if (!ends_.both() && !ends_.resolved())  // the estimate fears copies that there is no room for
      if (const auto whole = prove_from(end, k_, best); sine_bound(end.pairs, k_, whole) < resolved_sine) return whole;
    const Index first = ends_.to_prove(end);
    if (first == 0) return space_.shadow().prove(space_.seen_by_shadow(end.sign), 0, above_all(end)).proved;
    return prove_from(end, first, best);
  }

  Statement prove_from(const End& end, Index first, Statement best) {
    const Shadow::Space seen = space_.seen_by_shadow(end.sign);
    const Shadow& shadow = space_.shadow();
    const Vector<double>& theta = end.pairs.theta;
    for (Index q = first; q < std::min({space_.columns(), end.kept, first + tuning::counts_to_try}); ++q) {
      const double highest = q == end.k ? std::min(theta(q - 1), end.limit) : theta(q - 1);
      for (const double part : tuning::parts_of_gap) {
        const Statement proved = shadow.prove(seen, q, theta(q) + part * (highest - theta(q))).proved;
        if (proved.count > best.count || !std::isfinite(best.above)) best = proved;
        if (proved.count == q) return best;
      }
    }
    return best;
  }

  // Where nothing is wanted at an end, half way to the least that is wanted at the other.
  double above_all(const End& end) const {
    const double theta = end.pairs.theta(0), residual = end.pairs.residuals(0);
    const double above = theta + tuning::above_all_residuals * residual + tuning::above_all * space_.largest();
    return end.k == 0 && ends_.resolved() ? std::max(theta + 0.5 * (end.limit - theta), std::min(above, end.limit))
                                          : above;
  }

  // The space is everything.
  Statement exactly(const End& end) const {
    const double rounding = space_.largest_rounding(k_);
    if (k_ == d_) return {.count = d_, .above = end.pairs.theta(d_ - 1) - rounding, .probability = 0};
    return {.count = end.k, .above = end.pairs.theta(end.k) + rounding, .probability = 0};
  }

  double expected_rounding() const {
    return detail::expected_rounding<S>(space_.largest_rounding(k_), space_.unavoidable_rounding(k_),
                                        measured_rounding_);
  }

  // ---- The result

  PowerResult<S> finish(Status status) {
    require_a_basis(history_);
    if (status == Status::breakdown) space_.forget_since_ritz();
    const Index kept = std::min(space_.kept(), space_.columns()), low = ends_.wanted_low();
    const Index kept_low = ends_.both() ? std::max(low, std::min(ends_.all().back().kept, kept - (k_ - low))) : 0;
    Block<S> block;
    space_.ritz_vectors(kept - kept_low, kept_low, block);
    Extracted<S> answer;
    answer.V.resize(d_, k_);
    answer.V << block.leftCols(k_ - low), block.rightCols(low);
    Small<S> R;
    thin_qr<S>(answer.V, R);  // K is orthonormal to orthogonality_
    answer.theta = ends_.wanted(space_.theta().template cast<double>()).template cast<S>();
    answer.residual = history_.back().residual;
    if (status != Status::breakdown) status = measure_near_rounding(status, answer);
    certify(status);
    PowerResult<S> result = result_of<S>({.status = status,
                                          .method = SolveMethod::krylov,
                                          .basis = std::move(answer.V),
                                          .theta = answer.theta,
                                          .residual = answer.residual,
                                          .theta_next = history_.back().theta_next,
                                          .iterations = space_.blocks(),
                                          .columns = space_.kept(),
                                          .products = space_.products(),
                                          .passes = space_.passes(),
                                          .workspace_numbers = space_.workspace_numbers(k_),
                                          .unproven_start = must_prove_ && !proved(),
                                          .exponent = space_.total_exponent()},
                                         A_.facts(), history_);
    const double sine = history_.back().sin_theta_estimate;
    if (std::isfinite(sine)) result.sin_theta_estimate = std::min(1.0, sine);
    result.certificate = unscaled(certificate_, space_.total_exponent() - result.exponent);
    result.norm_seen = std::ldexp(norm_seen(), space_.total_exponent() - result.exponent);
    if (ends_.both()) result.gap = std::ldexp(ends_.gap(), space_.total_exponent());
    result.block = std::move(block);
    if (status == Status::breakdown)
      result.notes.push_back(
          fmt::format("the product of block {} was not finite; this is the basis before it", space_.blocks()));
    return result;
  }

  // What the relation says of a residual near rounding is measured where it matters, and not believed elsewhere; and in
  // single precision what rounding does is measured. A claim that does not outlive this is taken back.
  Status measure_near_rounding(Status status, Extracted<S>& answer) {
    HistoryEntry& last = history_.back();
    const double least = 10 * stopping_.epsilon * std::sqrt(static_cast<double>(d_));
    const double near = tuning::near_rounding * stopping_.epsilon;
    answer.residual = std::max({last.residual, least, static_cast<double>(orthogonality_)});
    const bool single = sizeof(S) < sizeof(double) && options_.certify != Certify::none && !known_.goes_on;
    if (single || (last.residual <= near && goal_.tolerance <= near)) {
      answer = measure<S>(A_, answer.V, space_.exponent(), norm_seen());
      space_.count_products(k_, 1);
      ends_.raise_residuals((answer.residuals.array() + expected_rounding()).matrix());
    }
    if (single && status == Status::converged) {
      const double before = expected_rounding();
      measured_rounding_ =
          space_.unavoidable_rounding(k_) +
          tuning::rounding_beyond_measured * measured_rounding<S>(A_, answer.V, space_.exponent(), options_.seed);
      space_.count_products(2 * (k_ + 1), 2);
      ends_.add_rounding(expected_rounding() - before, expected_rounding());
    }
    last.sin_theta_estimate = ends_.sine();
    if (status != Status::converged) return status;
    if (goal_.met(answer.residual, last.sin_theta_estimate) && ends_.resolved()) return status;
    return ends_.resolved() ? Status::rounding_floor : Status::ambiguous;
  }

  void certify(Status status) {
    const Index n = space_.columns();
    const bool ambiguous = status == Status::ambiguous;
    const bool tried = std::any_of(ends_.all().begin(), ends_.all().end(), [](const End& end) { return !!end.proof; });
    if (!tried && options_.certify == Certify::full && status != Status::breakdown && n > k_ - (k_ == d_)) prove_all();
    const bool unsound = hooks_.start != nullptr && !known_.sound_start, unknown_start = unsound && !proved();
    Evidence evidence{.rounding = std::max(space_.largest_rounding(k_), expected_rounding()),
                      .rounding_expected = expected_rounding(),
                      .k = k_,
                      .d = d_,
                      .all = space_.complete(),
                      .estimate = unknown_start ? not_known : history_.back().sin_theta_estimate,
                      .frobenius = space_.frobenius(k_),
                      .random_columns = space_.shadow().columns()};
    const bool too_soon = may_lack_copies() || space_.blocks() < not_before_;
    if (!proved() && too_soon && !space_.complete())  // columns had no time to show what they hold
      evidence.estimate = history_.back().sin_theta_estimate = 1;
    if (!ambiguous && n <= k_) evidence.estimate = not_known;
    certificate_ = ends_.certificate(evidence, options_.certify, ambiguous);
  }

  OperatorRef<S> A_;
  const PowerOptions& options_;
  const Hooks<S>& hooks_;
  const Known known_;
  const Goal goal_;
  const Index d_, k_;
  const StoppingFacts stopping_;
  Ends ends_;  // Ritz pairs with what rounding may hide, what is proved of them, and how near they are
  const S orthogonality_;
  KrylovSpace<S> space_;
  Block<S> V_;
  std::vector<HistoryEntry> history_;
  Certificate certificate_;
  double measured_rounding_ = 0;
  bool must_prove_ = false;
  Index largest_space_ = 0;   // columns at a look
  Index not_before_ = 0;      // the step by which the columns that joined last have had their chance
  Index give_up_proof_ = -1;  // the step at which a proof is no longer waited for; -1: nobody has waited yet
  Index give_up_next_ = -1;   // since when all is met but what lies beyond k
  Index first_proof_ = 0, next_proof_ = 0;
};

}  // namespace

template <class S>
PowerResult<S> block_krylov(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks, const Known& known) {
  require(iteration_limit(options) >= least_blocks(A.dim(), A.facts(), options),
          fmt::format("max_iterations = {}: a Krylov space for rank = {} takes at least {}", iteration_limit(options),
                      options.rank, least_blocks(A.dim(), A.facts(), options)));
  return Krylov<S>(A, options, hooks, known).run();
}

template PowerResult<float> block_krylov<float>(OperatorRef<float>, const PowerOptions&, const Hooks<float>&,
                                                const Known&);
template PowerResult<double> block_krylov<double>(OperatorRef<double>, const PowerOptions&, const Hooks<double>&,
                                                  const Known&);

}  // namespace hearsay::detail
