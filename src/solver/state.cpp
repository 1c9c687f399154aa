#include "solver/state.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace hearsay::detail {

namespace {

constexpr Index most = Index{1} << 53;  // of anything that is counted

template <class Matrix>
std::string shape(const Matrix& A) {
  return fmt::format("{} x {}", A.rows(), A.cols());
}

// Says the first thing that is wrong, and nothing after it.
class Examination {
 public:
  void require(bool rule_holds, std::string_view thing, const auto& value, std::string_view rule) {
    if (!rule_holds && fault_.empty()) fault_ = fmt::format("{} = {}: must {}", thing, value, rule);
  }
  void count(std::string_view thing, Index value, Index least = 0, Index largest = most) {
    if (value < least || value > largest) require(false, thing, value, fmt::format("lie in [{}, {}]", least, largest));
  }
  void size(std::string_view thing, double value) {
    require(std::isfinite(value) && value >= 0, thing, value, "be finite and not negative");
  }
  template <class Matrix>
  void finite(std::string_view thing, const Matrix& A) {
    if (fault_.empty() && !A.allFinite()) fault_ = fmt::format("{}: has a value that is not finite", thing);
  }
  bool sound() const { return fault_.empty(); }
  std::string& fault() { return fault_; }

 private:
  std::string fault_;
};

template <class S>
void examine_blocks(Examination& look, const PowerState<S>& s) {
  const Index d = s.X.rows(), p = s.X.cols();
  look.require(d >= 1 && p >= 1 && p <= d, "X", shape(s.X), "have at least one column, and no more than it has rows");
  look.require(s.X_prev.rows() == d && s.X_prev.cols() == p, "X_prev", shape(s.X_prev), "have the shape of X");
  look.require(s.R.rows() == p && s.R.cols() == p, "R", shape(s.R), "have a row and a column for each column of X");
  const bool no_basis = s.best_basis.size() == 0;
  look.require(no_basis || (s.best_basis.rows() == d && s.best_basis.cols() <= d), "best_basis", shape(s.best_basis),
               "have the rows of X, and no more columns than rows");
  look.finite("X", s.X);
  look.finite("best_basis", s.best_basis);
  if (!s.has_previous) return;
  look.finite("X_prev", s.X_prev);
  look.finite("R", s.R);
  if (look.sound() && (s.R.diagonal().array() == S(0)).any()) look.fault() = "R: is singular";
}

void examine_history(Examination& look, const std::vector<HistoryEntry>& history, Index t) {
  Index last = 0;
  for (const HistoryEntry& entry : history) {
    if (!look.sound()) return;
    look.count("history: t", entry.t, last, t);
    last = entry.t;
    for (const double value : {entry.momentum, entry.edge, entry.residual, entry.noise})
      look.size("history: a number", value);
    for (const double value : {entry.theta_1, entry.theta_k})
      look.require(std::isfinite(value), "history: a Ritz value", value, "be finite");
    look.require(!std::isinf(entry.theta_next), "history: a Ritz value", entry.theta_next, "be finite");
    for (const double value : {entry.sin_theta, entry.sin_theta_estimate})
      look.require(!(value < 0), "history: a sine", value, "not be negative");
  }
  look.require(history.empty() ? t == 0 : history.front().t == 0 && last < t, "t", t,
               "be what the history, which begins at 0, leads to");
}

// The steps are walked through one by one later: no more of them than were made.
void examine_filter(Examination& look, const std::vector<double>& filter, Index t) {
  look.require(filter.size() % 4 == 0, "filter", filter.size(), "have four numbers for each stretch");
  double steps = 0;
  for (std::size_t i = 0; look.sound() && i < filter.size(); i += 4) {
    look.require(std::isfinite(filter[i]), "filter: a shift", filter[i], "be finite");
    look.size("filter: a momentum", filter[i + 1]);
    const double count = filter[i + 2], afresh = filter[i + 3];
    look.require(count >= 1 && count <= static_cast<double>(t) && count == std::floor(count), "filter: steps", count,
                 "be a whole number of at least 1, and no more than were made");
    look.require(afresh == 0 || afresh == 1, "filter: begun afresh", afresh, "be 0 or 1");
    steps += count;
  }
  look.require(steps <= static_cast<double>(t), "filter: steps in all", steps, "be no more than were made");
}

template <class S>
void examine_epoch(Examination& look, const EpochSums<S>& epoch, Index d, Index p) {
  look.count("averages: steps", epoch.n);
  look.require(epoch.S_sum.rows() == d && epoch.S_sum.cols() == p, "averages: S", shape(epoch.S_sum),
               "have the shape of the reference");
  look.finite("averages: S", epoch.S_sum);
  for (const Small<double>* sum : {&epoch.G, &epoch.W, &epoch.scatter, &epoch.scatter_sq}) {
    look.require(sum->rows() == p && sum->cols() == p, "averages: a sum", shape(*sum),
                 "have a row and a column for each column of the reference");
    look.finite("averages: a sum", *sum);
  }
  look.size("averages: asymmetry", epoch.asymmetry_sq);
}

template <class S>
void examine_averages(Examination& look, const PowerState<S>& s) {
  const AveragingState<S>& a = s.averaging;
  const Index d = s.X.rows(), p = s.X.cols();
  look.size("averages: edge", a.edge);
  look.require(!(a.products_needed < 0), "averages: products_needed", a.products_needed, "not be negative");
  look.count("averages: began", a.began, 0, s.t);
  look.count("averages: next_look", a.next_look, 0, std::numeric_limits<Index>::max());
  look.count("averages: epochs", static_cast<Index>(a.epochs.size()), a.begun() ? 1 : 0, a.begun() ? 3 : 0);
  if (!a.begun()) return;
  look.count("averages: epoch_length", a.epoch_length, 1);
  look.require(a.reference.rows() == d && a.reference.cols() == p, "averages: reference", shape(a.reference),
               "have the shape of X");
  look.finite("averages: reference", a.reference);
  Index steps = 0;
  for (const EpochSums<S>& epoch : a.epochs) {
    if (!look.sound()) return;
    examine_epoch(look, epoch, d, p);
    steps += epoch.n;
  }
  look.count("averages: steps in all", steps, 0, s.t);
  if (look.sound()) look.count("averages: steps of the last epoch", a.epochs.back().n, 0, a.epoch_length - 1);
}

}  // namespace

template <class S>
std::string fault_of(const PowerState<S>& s) {
  Examination look;
  const Index d = s.X.rows();
  constexpr Index widest = std::numeric_limits<S>::max_exponent - 2;
  look.count("t", s.t);
  look.count("cooldown_left", s.cooldown_left, -1);
  look.count("exponent", s.exponent, -widest, widest);
  look.count("products", s.products);
  look.count("passes", s.passes);
  look.count("householder_steps", s.householder_steps);
  look.count("last_recheck", s.last_recheck, -1000, s.t);
  look.require(s.best_residual >= 0, "best_residual", s.best_residual, "not be negative");
  look.require(!(s.best_sine < 0), "best_sine", s.best_sine, "not be negative");
  examine_blocks(look, s);
  look.size("start_norm", s.start_norm);
  look.count("start_columns", s.start_columns, 0, d);
  look.require(!(s.start_norm > 0) || s.start_columns == s.X.cols(), "start_columns", s.start_columns,
               "be the columns of X, as long as they are those of the start");
  look.size("frobenius", s.frobenius);
  look.count("proven_count", s.proven_count, 0, d);
  look.require(!std::isnan(s.proven_above), "proven_above", s.proven_above, "be a number");
  look.count("probe_passes", s.probe_passes);
  look.count("probe_products", s.probe_products);
  examine_history(look, s.history, s.t);
  examine_filter(look, s.filter, s.t);
  examine_averages(look, s);
  return std::move(look.fault());
}

template std::string fault_of<float>(const PowerState<float>&);
template std::string fault_of<double>(const PowerState<double>&);

}  // namespace hearsay::detail
