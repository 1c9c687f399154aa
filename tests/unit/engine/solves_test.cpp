// Whole solves on engines: the doors' words reach the ladder, and what comes back is what the processor finds.
#include <hearsay/error.hpp>
#include <hearsay/host_engine.hpp>
#include <hearsay/kmeans.hpp>
#include <hearsay/linalg.hpp>
#include <hearsay/solve.hpp>
#include <hearsay/solve_stream.hpp>
#include <hearsay/solve_svd.hpp>

#include <cmath>
#include <deque>
#include <random>

#include "engines.hpp"
#include "support/planted.hpp"

namespace hearsay {
namespace {

using test::planted_spectrum;
using test::reference_sin_theta;

// Engines of this program's memory, for what a device takes.
class HostMaker final : public EngineMaker {
 public:
  std::unique_ptr<Engine> dense(const BorrowedBlock<double>& A, bool psd) override { return kept(A, psd); }
  std::unique_ptr<Engine> dense(const BorrowedBlock<float>& A, bool psd) override {
    return kept(A.cast<double>(), psd);
  }
  std::unique_ptr<Engine> sparse(const CsrView<double>& A, bool psd) override { return full(A, psd); }
  std::unique_ptr<Engine> sparse(const CsrView<float>& A, bool psd) override { return full(A, psd); }
  CovarianceEngine covariance(const BorrowedBlock<double>& data, bool centre) override { return of(data, centre); }
  CovarianceEngine covariance(const BorrowedBlock<float>& data, bool centre) override {
    return of(data.cast<double>(), centre);
  }

 private:
  std::unique_ptr<Engine> kept(Block<double> A, bool psd) {
    return std::make_unique<HostEngine>(borrow(matrices_.emplace_back(std::move(A))), psd);
  }
  template <class S>
  std::unique_ptr<Engine> full(const CsrView<S>& A, bool psd) {
    Block<double> dense = Block<double>::Zero(A.rows, A.cols);
    for (Index i = 0; i < A.rows; ++i)
      for (auto e = A.row_start[static_cast<std::size_t>(i)]; e < A.row_start[static_cast<std::size_t>(i) + 1]; ++e)
        dense(i, A.columns[static_cast<std::size_t>(e)]) += static_cast<double>(A.values[static_cast<std::size_t>(e)]);
    return kept(std::move(dense), psd);
  }
  CovarianceEngine of(Block<double> data, bool centre) {
    CovarianceEngine made;
    made.mean = Vector<double>::Zero(data.cols());
    if (centre) made.mean = data.colwise().mean().transpose();
    data.rowwise() -= made.mean.transpose();
    const auto divisor = static_cast<double>(centre ? data.rows() - 1 : data.rows());
    Block<double> C = data.transpose() * data / divisor;
    made.total_variance = C.trace();
    made.engine = kept(std::move(C), true);
    return made;
  }

  std::deque<Block<double>> matrices_;
};

struct MakesOnHost {
  static std::string missing() { return {}; }
  static std::unique_ptr<EngineMaker> make() { return std::make_unique<HostMaker>(); }
};
#ifdef HEARSAY_TEST_CUDA
struct MakesOnCuda {
  static std::string missing() { return test::OnCuda::missing(); }
  static std::unique_ptr<EngineMaker> make() { return cuda::engines(0); }
};
using Makers = ::testing::Types<MakesOnHost, MakesOnCuda>;
#else
using Makers = ::testing::Types<MakesOnHost>;
#endif

template <class Where>
class SolvesOnEngines : public test::OnEngines<Where> {
 protected:
  void SetUp() override {
    test::OnEngines<Where>::SetUp();
    if (!this->IsSkipped()) maker_ = Where::make();
  }
  Request request(Index k, double accuracy) const {
    Request made;
    made.settings.power.rank = k;
    made.settings.power.accuracy = accuracy;
    made.settings.precision = Precision::automatic;
    made.engines = maker_.get();
    return made;
  }
  std::unique_ptr<EngineMaker> maker_;
};
TYPED_TEST_SUITE(SolvesOnEngines, Makers);

std::vector<double> one_over(Index d) {
  std::vector<double> values;
  for (Index i = 0; i < d; ++i) values.push_back(1 / static_cast<double>(i + 1));
  return values;
}

// Rows about a mean far away, with variances 1/i^2.
Block<double> samples(Index rows, Index columns) {
  const auto turned = planted_spectrum(one_over(columns), 11);
  Block<double> data(rows, columns);
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  for (Index i = 0; i < data.size(); ++i) data.data()[i] = normal(random);
  data *= turned.A;
  for (Index j = 0; j < columns; ++j) data.col(j).array() += 3 - static_cast<double>(j) / 10;
  return data;
}

TYPED_TEST(SolvesOnEngines, FindsWhatTheProcessorFinds) {
  const auto problem = planted_spectrum(one_over(220), 3);
  for (const double accuracy : {1e-4, 1e-8}) {
    const Request request = this->request(6, accuracy);
    const Solution<double> found = solve_matrix<double>(borrow(problem.A), request, {.positive_semidefinite = true});
    EXPECT_EQ(found.power.status, Status::converged);
    EXPECT_LE(reference_sin_theta(problem.top(6), found.power.basis), accuracy);
    ASSERT_TRUE(found.climb);
    EXPECT_FALSE(found.climb->where.empty());
    EXPECT_EQ(found.climb->accuracy, accuracy);
    EXPECT_EQ(found.climb->rungs.front().rung, Rung::fp16);
  }
  const Solution<float> rounded =
      solve_matrix<float>(borrow(Block<float>(problem.A.cast<float>())), this->request(6, 1e-4));
  EXPECT_LE(reference_sin_theta(problem.top(6), rounded.power.basis.template cast<double>()), 1e-4);
}

TYPED_TEST(SolvesOnEngines, AimsAtASineOfItsOwnWhereNoneIsAskedFor) {
  const auto problem = planted_spectrum(one_over(150), 3);
  Request request = this->request(4, 1e-4);
  request.settings.power.accuracy.reset();

  const Solution<double> found = solve_matrix<double>(borrow(problem.A), request);

  EXPECT_EQ(found.climb->accuracy, 1e-4);
  EXPECT_LE(reference_sin_theta(problem.top(4), found.power.basis), 1e-4);
}

TYPED_TEST(SolvesOnEngines, AnalysesSamplesAsTheProcessorDoes) {
  const Block<double> data = samples(500, 40);
  for (const bool centre : {true, false}) {
    Request here;
    here.settings.power.rank = 5;
    const PcaSolution<double> known = solve_pca<double>(data, here, {.center = centre});
    const Request request = this->request(5, 1e-6);
    const PcaSolution<double> found = solve_pca<double>(data, request, {.center = centre});
    const PcaSolution<double> of_single =
        solve_pca_in_double(borrow(Block<float>(data.cast<float>())), request, {.center = centre});

    EXPECT_EQ(found.pca.power.status, Status::converged);
    EXPECT_LE(reference_sin_theta(known.pca.power.basis, found.pca.power.basis), 2e-6);
    EXPECT_LE(reference_sin_theta(known.pca.power.basis, of_single.pca.power.basis), 1e-4);
    EXPECT_LE((known.pca.mean - found.pca.mean).norm(), 1e-12 * data.norm());
    EXPECT_NEAR(found.pca.total_variance, known.pca.total_variance, 1e-9 * known.pca.total_variance);
    EXPECT_LE((known.pca.singular_values - found.pca.singular_values).norm(), 1e-6 * known.pca.singular_values(0));
    EXPECT_EQ(found.pca.samples, 500);
    EXPECT_EQ(found.pca.centred, centre);
    EXPECT_TRUE(found.climb && of_single.climb && !known.climb);
  }
}

TYPED_TEST(SolvesOnEngines, FindsAsManyComponentsAsAShareNeeds) {
  const Block<double> data = samples(300, 30);
  Request here, request = this->request(1, 1e-6);
  here.settings.rank_rule = request.settings.rank_rule = {.kind = RankRule::Kind::share, .share = 0.8};

  const PcaSolution<double> known = solve_pca<double>(data, here), found = solve_pca<double>(data, request);

  EXPECT_EQ(found.pca.power.basis.cols(), known.pca.power.basis.cols());
}

TYPED_TEST(SolvesOnEngines, FactorsBothShapes) {
  const Block<double> tall = samples(200, 50);
  for (const Block<double>& A : {tall, Block<double>(tall.transpose())}) {
    Request here;
    here.settings.power.rank = 4;
    const SvdSolution<double> known = solve_svd<double>(A, here), found = solve_svd<double>(A, this->request(4, 1e-7));

    EXPECT_EQ(found.svd.status, Status::converged);
    EXPECT_LE((known.svd.singular_values - found.svd.singular_values).norm(), 1e-8 * known.svd.singular_values(0));
    EXPECT_LE(reference_sin_theta(known.svd.left, found.svd.left), 1e-6);
    EXPECT_LE(reference_sin_theta(known.svd.right, found.svd.right), 1e-6);
    EXPECT_LE((found.svd.singular_values - known.svd.singular_values).maxCoeff(), found.svd.rounding);
    EXPECT_LE((known.svd.singular_values - found.svd.singular_values - found.svd.errors).maxCoeff(), 0);
    EXPECT_TRUE(found.climb);
  }
}

TYPED_TEST(SolvesOnEngines, EmbedsGraphs) {
  Graph graph{.nodes = 90};
  for (std::int32_t i = 0; i < 90; ++i)
    for (std::int32_t j = i + 1; j < 90; ++j)
      if (i / 30 == j / 30 ? (i * 7 + j * 11) % 3 != 0 : (i * 5 + j * 3) % 41 == 0) graph.edges.push_back({i, j});
  for (const bool weighted : {false, true}) {
    if (weighted)
      for (std::size_t e = 0; e < graph.edges.size(); ++e) graph.weights.push_back(1 + static_cast<double>(e % 5) / 10);
    Request here;
    here.settings.power.rank = 3;
    const Solution<double> known = solve_graph(graph, here), found = solve_graph(graph, this->request(3, 1e-7));

    EXPECT_EQ(found.power.status, Status::converged);
    EXPECT_LE(reference_sin_theta(known.power.basis, found.power.basis), 1e-6);
    EXPECT_NEAR(found.power.eigenvalues(0), 2, 1e-9);
  }
}

TYPED_TEST(SolvesOnEngines, StartsFromWhatIsKnown) {
  const auto problem = planted_spectrum(one_over(300), 9);
  Request request = this->request(5, 1e-6);
  const Solution<double> cold = solve_matrix<double>(borrow(problem.A), request, {.positive_semidefinite = true});
  request.start = problem.top(5);
  const Solution<double> warm = solve_matrix<double>(borrow(problem.A), request, {.positive_semidefinite = true});
  EXPECT_EQ(warm.power.status, Status::converged);
  EXPECT_LE(reference_sin_theta(problem.top(5), warm.power.basis), 1e-6);
  EXPECT_LT(warm.power.passes, cold.power.passes);

  // one that holds wrong eigenvectors, exactly, is not believed
  request.settings.power.certify = Certify::residual;
  request.start = Block<double>(problem.U.middleCols(1, 5));
  const Solution<double> misled = solve_matrix<double>(borrow(problem.A), request, {.positive_semidefinite = true});
  EXPECT_EQ(misled.power.status, Status::converged);
  EXPECT_LE(reference_sin_theta(problem.top(5), misled.power.basis), 1e-6);

  request.start = Block<double>(Block<double>::Zero(300, 5));
  const Solution<double> empty = solve_matrix<double>(borrow(problem.A), request, {.positive_semidefinite = true});
  EXPECT_LE(reference_sin_theta(problem.top(5), empty.power.basis), 1e-6);
}

TYPED_TEST(SolvesOnEngines, StopsWhenItIsTold) {
  const auto problem = planted_spectrum(one_over(200), 2);
  Request request = this->request(5, 1e-10);
  int calls = 0;
  request.observe = [&](const Iteration<double>&) { return ++calls < 4; };

  const Solution<double> stopped = solve_matrix<double>(borrow(problem.A), request);

  EXPECT_EQ(stopped.power.status, Status::stopped_by_observer);
  EXPECT_LE(reference_sin_theta(problem.top(5), stopped.power.basis), stopped.power.sin_theta_estimate);
}

TYPED_TEST(SolvesOnEngines, RefusesWhatHasNoMeaningThere) {
  const auto problem = planted_spectrum(one_over(50), 2);
  const auto refuses = [&](auto change, const std::string& saying) {
    Request request = this->request(3, 1e-4);
    change(request);
    try {
      (void)solve_matrix<double>(borrow(problem.A), request);
      ADD_FAILURE() << saying << " was taken";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(saying), std::string::npos) << error.what();
    }
  };
  refuses([](Request& r) { r.settings.precision = Precision::mixed; }, "precision = mixed");
  refuses([](Request& r) { r.settings.noise = {NoiseChoice::Kind::gaussian, 1e-3}; }, "noise");
  refuses([](Request& r) { r.audit = 0.1; }, "audit");
  refuses([](Request& r) { r.settings.power.method = SolveMethod::krylov; }, "method");
  refuses([](Request& r) { r.settings.power.which = Which::smallest; }, "which = SA");
  refuses([](Request& r) { r.start = Block<double>(Block<double>::Zero(7, 1)); }, "start");
  EXPECT_THROW((void)solve_matrix<double>(borrow(problem.A), this->request(3, 1e-4), {.shift = 1}), InvalidArgument);
  const Block<double> data = samples(60, 10);
  EXPECT_THROW((void)solve_pca<double>(data, this->request(3, 1e-4), {.standardize = true}), InvalidArgument);
  EXPECT_THROW((void)solve_pca<double>(data, this->request(3, 1e-4), {.missing = Missing::mean}), InvalidArgument);

  Request here;
  here.settings.power.rank = 3;
  for (const Precision precision : {Precision::automatic, Precision::fp16, Precision::tf32}) {
    here.settings.precision = precision;
    EXPECT_THROW((void)solve_matrix<double>(borrow(problem.A), here), InvalidArgument) << name(precision);
  }
}

}  // namespace
}  // namespace hearsay
