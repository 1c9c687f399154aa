// Runs N random decentralized solves, on networks that fail in every way they can, and looks for a wrong word.
//
//   hearsay_adversary_networks N [--seed S]
//
// A run is judged against a dense eigensolver of the contributors' pooled data. Wrong words are
//   converged    with a residual, a sine or an eigenvalue at any agent that the tolerance does not explain
//   ambiguous    with a gap at k that the residual resolves, or with a defined part that is not that of the data
//   a number     agreement, defined agreement, disagreement or bound on the residual that is not true
// Everything follows from the seed.
#include <fmt/format.h>
#include <hearsay/angles.hpp>
#include <hearsay/decentralized.hpp>
#include <hearsay/dense_eigen.hpp>
#include <hearsay/error.hpp>
#include <hearsay/faults.hpp>
#include <hearsay/operators/compose.hpp>
#include <hearsay/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>

namespace hearsay {
namespace {

// What a solve draws from, in order.
class Dice {
 public:
  Dice(std::uint64_t seed, std::uint32_t solve) : key_{.seed = seed, .stream = Stream::test, .agent = solve} {}
  double uniform(double low, double high) { return low + (high - low) * random_uniform(key_, next_++); }
  double logarithmic(double low, double high) { return std::exp(uniform(std::log(low), std::log(high))); }
  Index integer(Index low, Index high) {
    return std::min(high, low + static_cast<Index>(uniform(0, static_cast<double>(high - low + 1))));
  }
  bool chance(double probability) { return uniform(0, 1) < probability; }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[integer(0, static_cast<Index>(values.size()) - 1)];
  }
  Block<double> orthonormal(Index rows, Index cols) {
    RandomKey key = key_;
    key.iteration = static_cast<std::uint32_t>(++next_);
    return random_orthonormal<double>(rows, cols, key);
  }
  std::uint64_t seed() { return static_cast<std::uint64_t>(integer(0, 1'000'000'000)); }

 private:
  RandomKey key_;
  std::uint64_t next_ = 0;
};

// ---- Problems -------------------------------------------------------------------------------------------------------

struct Problem {
  std::string data, faults;  // families
  Index k = 1;
  std::vector<CovarianceShard> shards;
  std::optional<GossipMatrix> W;
  bool reliable = false;
  Faults script;
  MessagePrecision precision = MessagePrecision::real64;
  DecentralizedOptions options;
};

// Eigenvalues of the pooled data, descending.
Vector<double> spectrum(Dice& dice, const std::string& family, Index d, Index k) {
  Vector<double> values(d);
  double value = 1;
  for (Index j = 0; j < d; ++j) {
    values(j) = value;
    value *= dice.uniform(0.6, 0.98);
  }
  const auto from = [&](Index first, double factor) { values.tail(d - first) *= factor; };
  if (k < d) from(k, dice.logarithmic(0.1, 0.9));
  if (k < d && family == "tied") from(k, values(k - 1) / values(k));
  if (k < d && family == "close") from(k, (1 - dice.logarithmic(1e-9, 1e-2)) * values(k - 1) / values(k));
  if (family == "low rank") values.tail(d - dice.integer(1, k)).setZero();
  if (family == "scaled") values *= dice.logarithmic(1e-12, 1e12);
  return values;
}

// Rows with exactly these second moments, turned by a random rotation.
Block<double> rows_with(Dice& dice, const Vector<double>& values, Index rows) {
  const auto d = values.size();
  const Block<double> Q = dice.orthonormal(rows, d), U = dice.orthonormal(d, d);
  return Q * (values * static_cast<double>(rows)).cwiseSqrt().asDiagonal() * U.transpose();
}

// Each agent has features of its own: the leading eigenvectors of its data are eigenvectors of everyone's, and not the
// leading ones.
Block<double> foreign_rows(Dice& dice, Index rows, Index d, const Split& split) {
  Block<double> data = Block<double>::Zero(rows, d);
  const auto agents = static_cast<Index>(split.size());
  for (Index agent = 0; agent < agents; ++agent) {
    const double scale = dice.uniform(0.5, 2);
    const Block<double> noise = dice.orthonormal(std::max(rows, d), d);
    for (const Index row : split[static_cast<std::size_t>(agent)])
      for (Index j = 0; j < d; ++j)
        if (j % agents == agent) data(row, j) = scale * std::pow(0.8, static_cast<double>(j)) * noise(row, j);
  }
  return data * dice.orthonormal(d, d);
}

Split uneven_split(Dice& dice, Index rows, Index agents) {
  std::vector<std::int32_t> assignment(static_cast<std::size_t>(rows));
  const double most = dice.uniform(0.5, 0.98);
  for (auto& agent : assignment)
    agent = static_cast<std::int32_t>(dice.chance(most) ? 0 : dice.integer(0, std::max<Index>(0, agents - 2)));
  return given_split(assignment, agents);  // the last agent has nothing
}

GossipMatrix network(Dice& dice, Index agents) {
  switch (dice.integer(0, 4)) {
    case 0:
      return GossipMatrix::ring(agents);
    case 1:
      return GossipMatrix::metropolis(path_graph(agents));
    case 2:
      return GossipMatrix::metropolis(star_graph(agents));
    case 3:
      return GossipMatrix::metropolis(complete_graph(agents));
    default:
      return GossipMatrix::metropolis(with_random_edges(path_graph(agents), agents / 3, dice.seed()));
  }
}

void add_faults(Dice& dice, Problem& problem, Index agents) {
  Faults& script = problem.script;
  script.seed = dice.seed();
  script.give_up = 4000;
  const std::string& family = problem.faults;
  const auto link = [&](LinkFault::Kind kind, double probability, Index late = 0) {
    script.links.push_back({.kind = kind, .probability = probability, .rounds_late = late});
  };
  const auto crash = [&] {
    const Index agent = dice.integer(0, agents - 1), iteration = dice.integer(1, 30);
    script.agents.push_back({.kind = AgentFault::Kind::crash, .agent = agent, .iteration = iteration});
    if (dice.chance(0.5))
      script.agents.push_back(
          {.kind = AgentFault::Kind::rejoin, .agent = agent, .iteration = iteration + dice.integer(1, 20)});
  };
  if (family == "links down") link(LinkFault::Kind::drop, dice.uniform(0.05, 0.98));
  if (family == "some lost") link(LinkFault::Kind::loss, dice.uniform(0.02, 0.5));
  if (family == "most lost") link(LinkFault::Kind::loss, dice.uniform(0.5, 0.98));
  if (family == "late") link(LinkFault::Kind::delay, dice.uniform(0.05, 0.9), dice.integer(1, 4));
  if (family == "crashes" || family == "all at once") crash();
  if (family == "all at once") {
    link(LinkFault::Kind::drop, dice.uniform(0.05, 0.5));
    link(LinkFault::Kind::loss, dice.uniform(0.05, 0.7));
    link(LinkFault::Kind::delay, dice.uniform(0.05, 0.5), dice.integer(1, 4));
  }
  if (family == "blackout") {  // for a while, or for good, nothing passes
    const Index first = dice.integer(0, 200);
    script.links.push_back({.kind = LinkFault::Kind::drop,
                            .probability = dice.chance(0.5) ? 1 : dice.uniform(0.9, 1),
                            .first_round = first,
                            .last_round = dice.chance(0.3) ? LinkFault::forever : first + dice.integer(20, 3000)});
  }
  if (family == "one way" && agents > 1) {  // who ends a path, or leaves a star, is then heard by nobody
    const Graph graph = problem.W->graph();
    const auto& [i, j] =
        graph.edges[static_cast<std::size_t>(dice.integer(0, static_cast<Index>(graph.edges.size()) - 1))];
    script.links.push_back({.kind = LinkFault::Kind::loss,
                            .from = i,
                            .to = j,
                            .probability = dice.chance(0.3) ? 1 : dice.uniform(0.8, 1)});
  }
}

Problem draw(Dice& dice) {
  Problem problem;
  problem.data = dice.one_of<const char*>({"gap", "gap", "foreign", "low rank", "tied", "close", "uneven", "scaled"});
  problem.faults = dice.one_of<const char*>({"reliable", "nothing fails", "links down", "some lost", "most lost",
                                             "most lost", "late", "crashes", "all at once", "blackout", "one way"});
  problem.reliable = problem.faults == "reliable";
  const Index agents = dice.integer(2, 12), d = dice.integer(3, 12), rows = dice.integer(d, 40) * 4;
  problem.k = dice.integer(1, std::min<Index>(d, 5));
  Split split = dice.chance(0.5) ? contiguous_split(rows, agents) : even_split(rows, agents, dice.seed());
  if (problem.data == "uneven") split = uneven_split(dice, rows, agents);
  const Block<double> data = problem.data == "foreign"
                                 ? foreign_rows(dice, rows, d, split)
                                 : rows_with(dice, spectrum(dice, problem.data, d, problem.k), rows);
  problem.shards = covariance_shards(data, split);
  problem.W = network(dice, agents);
  add_faults(dice, problem, agents);
  problem.precision =
      dice.chance(0.7) ? MessagePrecision::real64 : dice.one_of({MessagePrecision::real32, MessagePrecision::bfloat16});
  problem.options = {
      .algorithm =
          dice.one_of({Algorithm::depm, Algorithm::adepm, Algorithm::deepca, Algorithm::adeepca, Algorithm::adeepca}),
      .rank = problem.k,
      .gossip = dice.one_of({GossipKind::plain, GossipKind::accelerated, GossipKind::chebyshev, GossipKind::chebyshev}),
      .rounds = dice.chance(0.7) ? std::nullopt : std::optional<Index>(dice.integer(1, 30)),
      .raise_rounds = dice.chance(0.8),
      .max_iterations = dice.integer(20, 200),
      .tolerance = std::pow(10.0, -static_cast<double>(dice.integer(3, 11))),
      .seed = dice.seed()};
  return problem;
}

DecentralizedResult solve(const Problem& problem) {
  if (problem.reliable) {
    LocalNetwork net(*problem.W, problem.precision);
    return decentralized_pca(net, operators_of(problem.shards), problem.options);
  }
  FaultyNetwork net(*problem.W, problem.script, problem.precision);
  return decentralized_pca(net, operators_of(problem.shards), problem.options);
}

// ---- The judge ------------------------------------------------------------------------------------------------------

constexpr double slack = 4;         // between a number and what the tolerance promises of it
constexpr double rounding = 1e-13;  // relative to the largest eigenvalue of any agent

class Judge {
 public:
  Judge(const Problem& problem, const DecentralizedResult& result) : problem_(problem), result_(result) {
    std::vector<OperatorRef<double>> some;
    for (const Index i : result.contributors) {
      some.emplace_back(problem.shards[static_cast<std::size_t>(i)]);
      bases_.push_back(result.bases[static_cast<std::size_t>(i)]);
      largest_ = std::max(largest_, dense_eigen<double>(some.back()).values(0));
    }
    const SumOperator<double> A(some, 1 / static_cast<double>(some.size()));
    truth_ = dense_eigen<double>(A);
    for (const Block<double>& V : bases_) {
      Block<double>& AV = products_.emplace_back(V.rows(), V.cols());
      A.apply(V, AV);
    }
    scale_ = truth_.values.head(problem.k).norm();
  }

  std::string complaint() {
    if (!(pairwise(problem_.k) <= result_.agreement + 1e-12)) add("agents are {:.2g} apart", pairwise(problem_.k));
    judge_numbers();
    if (result_.status == Status::converged) judge_converged();
    if (result_.status == Status::ambiguous) judge_ambiguous();
    return complaint_;
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> text, Args&&... args) {
    complaint_ += (complaint_.empty() ? "" : "; ") + fmt::format(text, std::forward<Args>(args)...);
  }

  double pairwise(Index columns) const {
    double worst = 0;
    for (const Block<double>& a : bases_)
      for (const Block<double>& b : bases_)
        if (columns > 0) worst = std::max(worst, sin_theta<double>(a.leftCols(columns), b.leftCols(columns)));
    return worst;
  }

  double residual(std::size_t i) const {
    const Block<double>&V = bases_[i], &AV = products_[i];
    const double norm = AV.norm();
    return norm > 0 ? (AV - V * (V.transpose() * AV)).norm() / norm : 0;
  }

  // What a residual of this size promises of the subspace of the leading `columns`.
  double promised_sine(double relative, Index columns) const {
    if (columns == truth_.values.size()) return 1e-10;
    const double gap = truth_.values(columns - 1) - truth_.values(columns);
    return (slack * relative * scale_ + slack * rounding * largest_) / std::max(gap, 1e-300);
  }

  void judge_numbers() {
    const double floor = slack * rounding * largest_ / std::max(scale_, 1e-300);
    if (result_.defined_rank < problem_.k && !(pairwise(result_.defined_rank) <= result_.defined_agreement + 1e-12))
      add("the defined part is {:.2g} apart", pairwise(result_.defined_rank));
    if (result_.verification.attempts == 0 || !std::isfinite(result_.disagreement)) return;
    for (std::size_t i = 0; i < bases_.size(); ++i) {
      const Vector<double> theta = result_.eigenvalues.row(result_.contributors[i]).transpose();
      const Block<double> weighted = bases_[i] * theta.asDiagonal();
      const double apart =
          (weighted - bases_[0] * (bases_[0].transpose() * weighted)).norm() / std::max(theta.norm(), 1e-300);
      if (!(apart <= 1.001 * result_.disagreement + 1e-12))
        add("agent {} disagrees by {:.2g}, {:.2g} is reported", result_.contributors[i], apart, result_.disagreement);
    }
    if (result_.verification.evidence == Knowledge::bound && !(residual(0) <= 1.001 * result_.residual + floor))
      add("residual {:.2g} of the first agent is above the bound {:.2g}", residual(0), result_.residual);
  }

  // Methods of k columns do not: a start that lies within tolerance over gap of the next eigenvector comes to rest
  // there, as the documentation says. The sine is asked for where that is a chance of less than one in a hundred.
  bool sees_the_gap() const {
    const Algorithm algorithm = problem_.options.algorithm;
    return algorithm == Algorithm::adepm || algorithm == Algorithm::adeepca;
  }

  void judge_converged() {
    const double tolerance = problem_.options.tolerance;
    const double floor = slack * rounding * largest_ / std::max(scale_, 1e-300);
    const Block<double> U = truth_.vectors.leftCols(problem_.k);
    const double promise = promised_sine(tolerance, problem_.k);
    const bool promised = promise < (sees_the_gap() ? 1 : 0.01);
    const Vector<double>& lambda = truth_.values;
    const Index k = problem_.k;
    if (k < lambda.size() && !(lambda(k - 1) > slack * rounding * largest_)) add("eigenvalue {} is zero", k);
    if (!(pairwise(k) <= 0.1)) add("agents are {:.2g} apart", pairwise(k));
    for (std::size_t i = 0; i < bases_.size(); ++i) {
      const Index agent = result_.contributors[i];
      const double sine = sin_theta<double>(U, bases_[i]);
      if (!(residual(i) <= slack * tolerance + floor)) add("residual {:.2g} at agent {}", residual(i), agent);
      if (promised && !(sine <= promise)) add("sine {:.2g} at agent {}, {:.2g} promised", sine, agent, promise);
      if (promised && result_.evidence == Knowledge::bound) {  // elsewhere nothing is promised of eigenvalues
        const double off = (result_.eigenvalues.row(agent).transpose() - truth_.values.head(problem_.k)).norm();
        if (!(off <= slack * tolerance * scale_ + slack * rounding * largest_))
          add("eigenvalues off by {:.2g} at agent {}", off / scale_, agent);
      }
    }
  }

  void judge_ambiguous() {
    const Index k = problem_.k, m = result_.defined_rank;
    const double resolved =
        10 * std::max(problem_.options.tolerance, result_.residual) * scale_ + 100 * rounding * largest_;
    if (truth_.values(k - 1) - truth_.values(k) > resolved)
      add("the gap {:.2g} can be resolved", (truth_.values(k - 1) - truth_.values(k)) / scale_);
    if (m >= k || result_.cluster.first != m + 1) add("no cluster is named");
    if (m == 0) return;
    // Where nothing was verified the note says that nearness to the data was not measured; it is not nonsense either.
    const double own = result_.evidence == Knowledge::bound ? 0 : std::max(0.1, slack * result_.defined_agreement);
    const double promise = promised_sine(problem_.options.tolerance, m) + own;
    for (std::size_t i = 0; i < bases_.size(); ++i) {
      const double sine = sin_theta<double>(truth_.vectors.leftCols(m), bases_[i].leftCols(m));
      if (promise < 1 && !(sine <= promise))
        add("defined part: sine {:.2g} at agent {}, {:.2g} promised", sine, result_.contributors[i], promise);
    }
  }

  const Problem& problem_;
  const DecentralizedResult& result_;
  DenseEigen<double> truth_;
  std::vector<Block<double>> bases_, products_;
  double scale_ = 0, largest_ = 0;
  std::string complaint_;
};

// ---- The table ------------------------------------------------------------------------------------------------------

struct Tally {
  Index runs = 0, converged = 0, ambiguous = 0, communication_failed = 0, iteration_limit = 0, other = 0, wrong = 0;

  void add(Status status, bool is_wrong) {
    ++runs;
    wrong += is_wrong;
    ++(status == Status::converged              ? converged
       : status == Status::ambiguous            ? ambiguous
       : status == Status::communication_failed ? communication_failed
       : status == Status::iteration_limit      ? iteration_limit
                                                : other);
  }
};

void print(const std::string& family, const Tally& tally) {
  fmt::print("{:<16}{:>8}{:>11}{:>11}{:>22}{:>17}{:>8}{:>13}\n", family, tally.runs, tally.converged, tally.ambiguous,
             tally.communication_failed, tally.iteration_limit, tally.other, tally.wrong);
}

int run(Index solves, std::uint64_t seed, Index only) {
  std::map<std::string, Tally> by_faults, by_data;
  Tally all;
  for (Index solve_number = only < 0 ? 0 : only; solve_number < (only < 0 ? solves : only + 1); ++solve_number) {
    Dice dice(seed, static_cast<std::uint32_t>(solve_number));
    const Problem problem = draw(dice);
    Status status = Status::communication_failed;
    std::string complaint, notes;
    try {
      const DecentralizedResult result = solve(problem);
      for (const std::string& note : result.notes) notes += "  note: " + note + "\n";
      status = result.status;
      complaint = Judge(problem, result).complaint();
    } catch (const CommunicationError&) {  // before the first iteration, or when an epoch began
    }
    if (!complaint.empty()) std::fflush(stdout);
    if (!complaint.empty() || only >= 0)
      fmt::print(
          "solve {} (seed {}): {}, {}, {} agents, d = {}, k = {}, {} of {}, rounds {}, tolerance {:.0e}: {}: {}\n",
          solve_number, seed, problem.data, problem.faults, problem.W->agents(), problem.shards[0].dim(), problem.k,
          name(problem.options.algorithm), name(problem.precision), problem.options.rounds.value_or(0),
          problem.options.tolerance, name(status), complaint);
    if (only >= 0) fmt::print("{}", notes);
    for (Tally* tally : {&all, &by_faults[problem.faults], &by_data[problem.data]})
      tally->add(status, !complaint.empty());
  }
  fmt::print("{:<16}{:>8}{:>11}{:>11}{:>22}{:>17}{:>8}{:>13}\n", "family", "runs", "converged", "ambiguous",
             "communication_failed", "iteration_limit", "other", "wrong words");
  for (const auto& table : {by_faults, by_data}) {
    for (const auto& [family, tally] : table) print(family, tally);
    fmt::print("\n");
  }
  print("all", all);
  return all.wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace hearsay

int main(int argc, char** argv) {
  long long solves = 0, seed = 1, only = -1;
  bool understood = argc >= 2;
  if (understood) solves = std::atoll(argv[1]);
  for (int i = 2; understood && i < argc; i += 2) {
    const std::string flag = argv[i];
    understood = i + 1 < argc && (flag == "--seed" || flag == "--only");
    if (understood) (flag == "--seed" ? seed : only) = std::atoll(argv[i + 1]);
  }
  if (!understood || solves < 1) {
    std::fprintf(stderr, "hearsay_adversary_networks N [--seed S] [--only SOLVE]\n");
    return 2;
  }
  return hearsay::run(solves, static_cast<std::uint64_t>(seed), only);
}
