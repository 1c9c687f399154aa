// Every verb of an engine against the same in double precision on the host, in blocks of both precisions.
#include <hearsay/linalg.hpp>
#include <hearsay/random.hpp>

#include <cmath>

#include "engines.hpp"

namespace hearsay {
namespace {

Block<double> normal(Index rows, Index columns, std::uint32_t which) {
  Block<double> X(rows, columns);
  fill_normal<double>({.seed = 7, .stream = Stream::test, .iteration = which}, X);
  return X;
}

Block<double> symmetric(Index d) {
  const Block<double> B = normal(d, d, 99);
  return (B + B.transpose()) / std::sqrt(4.0 * static_cast<double>(d));
}

double apart(const Block<double>& a, const Block<double>& b) { return (a - b).norm() / std::max(b.norm(), 1e-300); }

template <class Where>
class Verbs : public test::OnEngines<Where> {
 protected:
  static constexpr Index d = 203, p = 24;

  void begin(bool in_double, Index dimension = d, Index columns = p) {
    given = symmetric(dimension);
    engine = Where::dense(given);
    A = given * std::ldexp(1.0, -engine->facts().exponent);  // what is multiplied
    engine->prepare(columns, in_double, 4, 3);
    for (int b = 0; b < 4; ++b) {
      B[b] = normal(dimension, columns, static_cast<std::uint32_t>(b));
      engine->store(B[b], b);
    }
    tolerance = in_double ? 1e-13 : 2e-6;
  }
  Block<double> read(int place) {
    Block<double> X(B[0].rows(), B[0].cols());
    engine->load(place, X);
    return X;
  }
  Small<double> read_gram(int X, int Y, int H) {
    Small<double> found;
    engine->gram(X, Y, H);
    engine->load_small(H, found);
    return found;
  }

  Block<double> given, A, B[4];
  std::unique_ptr<Engine> engine;
  double tolerance = 0;
};
TYPED_TEST_SUITE(Verbs, test::Engines);

TYPED_TEST(Verbs, KeepWhatIsStored) {
  for (const bool in_double : {false, true}) {
    this->begin(in_double);
    EXPECT_LE(apart(this->read(2), this->B[2]), in_double ? 0 : 1e-7);
    const Block<double> some = normal(this->d, 5, 50);
    this->engine->store(some, 2);
    EXPECT_LE(apart(this->read(2).leftCols(5), some), in_double ? 0 : 1e-7);
    EXPECT_LE(apart(this->read(2).rightCols(this->p - 5), this->B[2].rightCols(this->p - 5)), in_double ? 0 : 1e-7);
    this->engine->copy(2, 3);
    EXPECT_EQ(apart(this->read(3), this->read(2)), 0);
  }
}

TYPED_TEST(Verbs, KeepTheFirstBlockFromOnePrecisionToTheOther) {
  this->begin(false);
  const Block<double> before = this->read(0);
  this->engine->prepare(this->p, true, 4, 3);
  EXPECT_EQ(apart(this->read(0), before), 0);
  this->engine->prepare(this->p, false, 4, 3);
  EXPECT_EQ(apart(this->read(0), before), 0);
}

TYPED_TEST(Verbs, DrawNormalNumbers) {
  this->begin(true, 5000, 8);
  this->engine->fill_normal(3, 0);
  this->engine->fill_normal(3, 1);
  this->engine->fill_normal(4, 2);
  const Block<double> X = this->read(0), Z = this->read(2);
  EXPECT_EQ(apart(this->read(1), X), 0) << "the same seed";
  const double n = static_cast<double>(X.size());
  EXPECT_LE(std::abs(X.mean()), 5 / std::sqrt(n));
  EXPECT_LE(std::abs(X.squaredNorm() / n - 1), 5 * std::sqrt(2 / n));
  EXPECT_LE(std::abs(X.array().pow(4).sum() / n - 3), 5 * std::sqrt(96 / n));
  EXPECT_LE(std::abs((X.array() * Z.array()).sum()) / n, 5 / std::sqrt(n)) << "another seed, independent";
  EXPECT_LE((X.transpose() * X / 5000.0 - Small<double>::Identity(8, 8)).cwiseAbs().maxCoeff(), 6 / std::sqrt(5000.0))
      << "columns, independent";
}

TYPED_TEST(Verbs, MultiplyAsWellAsTheirRungsSay) {
  struct Case {
    Rung rung;
    double error;
  };
  for (const bool in_double : {false, true})
    for (const auto& [rung, error] :
         {Case{Rung::fp16, 1.5e-3}, Case{Rung::tf32, 1.5e-3}, Case{Rung::single, 4e-6}, Case{Rung::full, 1e-13}}) {
      this->begin(in_double);
      Block<double> X = this->read(0);
      this->engine->multiply(rung, 0, 1);
      EXPECT_LE(apart(this->read(1), this->A * X), std::max(error, in_double ? 0 : 1e-6)) << name(rung) << in_double;
      EXPECT_EQ(apart(this->read(0), X), 0) << "X is read only";
      X.rightCols(6) *= 1e-9;  // as residuals are: columns of any size, none lost
      X.col(3).setZero();
      this->engine->store(X, 0);
      this->engine->multiply(rung, 0, 1);
      X = this->read(0);
      EXPECT_LE(apart(this->read(1).rightCols(6), this->A * X.rightCols(6)), std::max(error, in_double ? 0 : 1e-6))
          << name(rung);
      EXPECT_EQ(this->read(1).col(3).norm(), 0);
    }
}

// Of which a device reads one half, in tiles, and the last of them are not whole.
TYPED_TEST(Verbs, MultiplyLargeMatrices) {
  for (const Index columns : {32, 64}) {
    this->begin(false, 4300, columns);
    for (const auto& [rung, error] : {std::pair{Rung::fp16, 1.5e-3}, std::pair{Rung::single, 4e-6}}) {
      const Block<double> X = this->read(0);
      this->engine->multiply(rung, 0, 1);
      EXPECT_LE(apart(this->read(1), this->A * X), error) << name(rung) << columns;
      this->engine->orthonormalise(0, {}, 2);  // whose columns have length one
      this->engine->multiply(rung, 0, 1);
      EXPECT_LE(apart(this->read(1), this->A * this->read(0)), error) << name(rung) << columns;
    }
    const ProductError found = this->engine->product_error(0, 1);
    const Block<double> E = this->read(1) - this->A * this->read(0);
    EXPECT_LE((found.norms - E.colwise().norm().transpose()).norm(), 0.3 * E.norm());
  }
}

TYPED_TEST(Verbs, AddUpGramsInDouble) {
  for (const Index columns : {8, 24, 72})
    for (const bool in_double : {false, true}) {
      this->begin(in_double, 1000, columns);
      const Small<double> H = this->read_gram(0, 1, 2);
      const Small<double> expected = this->read(0).transpose() * this->read(1);
      EXPECT_LE((H - expected).norm(), (in_double ? 1e-13 : 1e-6) * expected.norm()) << columns;
    }
}

TYPED_TEST(Verbs, CombineBlocks) {
  for (const Index columns : {24, 32, 64})
    for (const bool in_double : {false, true}) {
      this->begin(in_double, this->d, columns);
      const Block<double>* from = this->B;
      Small<double> H = Small<double>::Random(columns, columns);
      this->engine->store_small(H, 0);
      this->engine->subtract(0, 0, 1);
      EXPECT_LE(apart(this->read(1), from[1] - from[0] * H), this->tolerance);
      this->engine->add(0, 0, 1);
      EXPECT_LE(apart(this->read(1), from[1]), 10 * this->tolerance);
      this->engine->turn(2, 0);
      EXPECT_LE(apart(this->read(2), from[2] * H), this->tolerance);
      this->engine->combine(3, 0.5, 0.25, 0, 0, 2);
      EXPECT_LE(apart(this->read(3), 0.5 * (from[3] - 0.25 * from[0])), this->tolerance);
      this->engine->store(from[2], 2);
      this->engine->combine(3, 1, 0.25, 0, 0.125, 2);
      EXPECT_LE(apart(this->read(3), 0.5 * (from[3] - 0.25 * from[0]) - 0.25 * from[0] - 0.125 * from[2]),
                this->tolerance);
    }
}

TYPED_TEST(Verbs, OrthonormaliseABlockAndTakeTheOthersAlong) {
  for (const Index columns : {24, 32, 64})
    for (const bool in_double : {false, true})
      for (const double decay : {1.0, columns == 24 ? 0.7 : 0.8}) {  // columns by so much nearer to the first
        this->begin(in_double, this->d, columns);
        Block<double> Y = this->B[0];
        for (Index j = 1; j < columns; ++j)
          Y.col(j) =
              std::pow(decay, 24.0 * static_cast<double>(j) / static_cast<double>(columns)) * Y.col(j) + Y.col(0);
        this->engine->store(Y, 0);
        for (int other = 1; other < 4; ++other) this->engine->store(Y, other);
        Y = this->read(0);
        this->engine->orthonormalise(0, {1, 2, 3}, 2);
        const Block<double> Q = this->read(0);
        const Small<double> R = Q.transpose() * Y;
        EXPECT_LE((Q.transpose() * Q - Small<double>::Identity(columns, columns)).norm(), in_double ? 1e-12 : 1e-5)
            << decay;
        EXPECT_LE(apart(Q * R, Y), in_double ? 1e-13 : 1e-6) << decay;
        EXPECT_LE(R.template triangularView<Eigen::StrictlyLower>().toDenseMatrix().norm(),
                  (in_double ? 1e-12 : 1e-5) * R.norm())
            << "R is triangular";
        for (int other = 1; other < 4; ++other)
          EXPECT_LE(apart(this->read(other), Q), in_double ? 1e-9 : 1e-2) << "Y R^-1";
      }
}

TYPED_TEST(Verbs, DropColumnsThatAreNotThere) {
  for (const Index columns : {24, 32, 64})
    for (const bool in_double : {false, true}) {
      this->begin(in_double, this->d, columns);
      Block<double> Y = this->B[0];
      Y.col(5) = 2 * Y.col(1) - Y.col(2);
      Y.col(9).setZero();
      this->engine->store(Y, 0);
      this->engine->store(this->B[1], 1);
      this->engine->orthonormalise(0, {1}, 2);
      const Small<double> G = this->read(0).transpose() * this->read(0);
      for (Index j = 0; j < columns; ++j) EXPECT_NEAR(G(j, j), j == 5 || j == 9 ? 0 : 1, 1e-5) << j;
      EXPECT_EQ(this->read(1).col(9).norm(), 0);
      EXPECT_TRUE(this->read(1).allFinite());
    }
}

TYPED_TEST(Verbs, MeasureResiduals) {
  for (const bool in_double : {false, true}) {
    this->begin(in_double);
    const Vector<double> theta = Vector<double>::LinSpaced(this->p, 3, -1);
    const Vector<double> expected = (this->B[1] - this->B[0] * theta.asDiagonal()).colwise().norm().transpose();
    EXPECT_LE((this->engine->residuals(0, 1, theta) - expected).norm(), this->tolerance * expected.norm());
  }
}

// A matrix of a few hundred rows is compared whole.
TYPED_TEST(Verbs, MeasureHowFarAProductIsOff) {
  for (const bool in_double : {false, true}) {
    this->begin(in_double);
    const Block<double> X = this->read(0);
    this->engine->store(Block<double>(this->A * X + 1e-3 * this->B[2]), 1);
    const Block<double> E = this->read(1) - this->A * X;
    const ProductError found = this->engine->product_error(0, 1);
    EXPECT_LE((found.norms - E.colwise().norm().transpose()).norm(), 1e-6 * E.norm());
    EXPECT_LE((found.along - X.transpose() * E).norm(), 1e-6 * (X.transpose() * E).norm());
  }
}

// Of a large one some rows: heavy ones surely, others by chance.
TYPED_TEST(Verbs, FindErrorsThatLieInFewRows) {
  this->begin(true, 3000, 8);
  const Block<double> X = this->read(0);
  Block<double> Y = this->A * X;
  Y.row(1234) *= 100;  // of an instance whose products are off where they are large
  this->engine->store(Y, 1);
  const Block<double> E = Y - this->A * X;
  const ProductError found = this->engine->product_error(0, 1);
  EXPECT_LE((found.norms - E.colwise().norm().transpose()).norm(), 0.1 * E.norm());
  this->engine->store(Block<double>(this->A * X + 1e-4 * normal(3000, 8, 77)), 1);
  const double expected = 1e-4 * std::sqrt(3000.0);
  EXPECT_LE((this->engine->product_error(0, 1).norms.array() / expected - 1).abs().maxCoeff(), 0.25);
}

}  // namespace
}  // namespace hearsay
