// The loops of every instruction set this processor can run, against sums written out, on shapes that meet every edge
// of their tiles. What lies beside an output must stay as it was.
#include "kernels/kernels.hpp"

#include <gtest/gtest.h>
#include <hearsay/block.hpp>

#include <cmath>
#include <limits>

#include "kernels/tables.hpp"
#include "support/random_block.hpp"
#include "support/sparse.hpp"

namespace hearsay {
namespace {

using kernels::Table;
using test::random_block;

template <class S>
double tolerance(Index terms) {
  return 8.0 * static_cast<double>(terms + 1) * static_cast<double>(std::numeric_limits<S>::epsilon());
}

// p columns inside a wider block whose other numbers are 7.
template <class S>
Block<S> framed(Index rows, Index p) {
  return Block<S>::Constant(rows, p + 3, S(7));
}

template <class S>
void expect_framed(const Block<S>& got, const Small<double>& expected, double within, const std::string& what) {
  const Index p = expected.cols();
  EXPECT_LE((got.middleCols(1, p).template cast<double>() - expected).cwiseAbs().maxCoeff(), within) << what;
  EXPECT_EQ(got.leftCols(1), (Block<S>::Constant(got.rows(), 1, S(7)))) << what;
  EXPECT_EQ(got.rightCols(2), (Block<S>::Constant(got.rows(), 2, S(7)))) << what;
}

template <class S>
Small<double> exact_product(const Block<S>& A, const Block<S>& X) {
  return A.template cast<double>() * X.template cast<double>();
}

template <class S>
class Kernels : public testing::Test {
 protected:
  // Runs the check with every table, the name of each in the trace of a failure.
  template <class Check>
  void with_each_table(const Check& check) {
    const auto found = kernels::runnable<S>();
    ASSERT_GE(found.count, 1);
    for (int i = 0; i < found.count; ++i) {
      SCOPED_TRACE(found.tables[i]->name);
      check(*found.tables[i]);
    }
  }
};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Kernels, Scalars);

TYPED_TEST(Kernels, MultiplyRowsOrColumnsForEveryWidth) {
  using S = TypeParam;
  this->with_each_table([](const Table<S>& kernel) {
    for (const Index n : {1, 5, 40})
      for (Index p = 1; p <= 40; ++p) {
        const Index m = 1 + (p * 7) % 23;
        const Block<S> A = random_block<S>(m, n, 1), X = random_block<S>(n, p, 2);
        const Block<S> A_t = A.transpose();
        std::vector<S> packed(static_cast<std::size_t>(n * kernels::round_up(p, kernels::tile_columns<S>())));
        kernel.pack(n, p, X.data(), p, packed.data());
        Block<S> by_rows = framed<S>(m, p), by_columns = framed<S>(m, p);

        kernel.multiply(m, n, p, A.data(), n, 1, packed.data(), n, by_rows.data() + 1, p + 3, false);
        kernel.multiply(m, n, p, A_t.data(), 1, m, packed.data(), n, by_columns.data() + 1, p + 3, true);

        const auto what = "m = " + std::to_string(m) + ", n = " + std::to_string(n) + ", p = " + std::to_string(p);
        const Small<double> expected = exact_product<S>(A, X);
        expect_framed<S>(by_rows, expected, tolerance<S>(n), what);
        expect_framed<S>(by_columns, expected.array() + 7, 8 * tolerance<S>(n), what + ", accumulated");
      }
  });
}

TYPED_TEST(Kernels, MultiplyNarrowForEveryWidthItTakes) {
  using S = TypeParam;
  this->with_each_table([](const Table<S>& kernel) {
    ASSERT_GE(kernel.narrow_columns, 1);
    for (const Index n : {1, 3, 15, 16, 17, 100})
      for (Index p = 1; p <= kernel.narrow_columns; ++p)
        for (const Index m : {1, 2, 3, 4, 7, 9}) {
          const Block<S> A = random_block<S>(m, n, 3), X = random_block<S>(n, p, 4);
          const Block<S> X_t = X.transpose();
          Block<S> set = framed<S>(m, p), added = framed<S>(m, p);

          kernel.multiply_narrow(m, n, p, A.data(), n, X_t.data(), n, set.data() + 1, p + 3, false);
          kernel.multiply_narrow(m, n, p, A.data(), n, X_t.data(), n, added.data() + 1, p + 3, true);

          const auto what = "m = " + std::to_string(m) + ", n = " + std::to_string(n) + ", p = " + std::to_string(p);
          const Small<double> expected = exact_product<S>(A, X);
          expect_framed<S>(set, expected, tolerance<S>(n), what);
          expect_framed<S>(added, expected.array() + 7, 8 * tolerance<S>(n), what + ", accumulated");
        }
  });
}

TYPED_TEST(Kernels, SolveTriangularForEveryWidthAndNumberOfRows) {
  using S = TypeParam;
  this->with_each_table([](const Table<S>& kernel) {
    for (const Index p : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 20, 33, 63, 64, 65, 128, 129})
      for (const Index m : {1, 3, 31, 64, 70}) {
        Block<S> R = random_block<S>(p, p, 5).template triangularView<Eigen::Upper>();
        R.diagonal().array() = R.diagonal().array().abs() + S(4 * p);
        const Block<S> Z = random_block<S>(m, p, 6);
        Block<S> in_place = framed<S>(m, p), apart = framed<S>(m, p);
        in_place.middleCols(1, p) = Z;

        kernel.solve_right(m, p, R.data(), in_place.data() + 1, p + 3, in_place.data() + 1, p + 3);
        kernel.solve_right(m, p, R.data(), Z.data(), p, apart.data() + 1, p + 3);

        const Small<double> triangle = R.template cast<double>();
        const Small<double> expected = triangle.transpose().template triangularView<Eigen::Lower>().solve(
            Small<double>(Z.template cast<double>().transpose()));
        const auto what = "m = " + std::to_string(m) + ", p = " + std::to_string(p);
        expect_framed<S>(in_place, expected.transpose(), tolerance<S>(p), what);
        EXPECT_EQ(in_place, apart) << what;
      }
  });
}

TYPED_TEST(Kernels, SolveARowAlikeWhereverItStands) {
  using S = TypeParam;
  this->with_each_table([](const Table<S>& kernel) {
    const Index p = 20;
    Block<S> R = random_block<S>(p, p, 7).template triangularView<Eigen::Upper>();
    R.diagonal().array() = R.diagonal().array().abs() + S(3);
    const Block<S> Z = random_block<S>(70, p, 8);
    Block<S> together(70, p), alone(70, p);

    kernel.solve_right(70, p, R.data(), Z.data(), p, together.data(), p);
    for (Index i = 0; i < 70; ++i) kernel.solve_right(1, p, R.data(), Z.data() + i * p, p, alone.data() + i * p, p);

    EXPECT_EQ(together, alone);
  });
}

TYPED_TEST(Kernels, FindTheOneNumberThatIsNotFinite) {
  using S = TypeParam;
  this->with_each_table([](const Table<S>& kernel) {
    for (const Index p : {1, 7, 64, 150}) {
      Block<S> X = random_block<S>(3, p, 12);
      X(1, 0) = std::numeric_limits<S>::max();
      EXPECT_TRUE(kernel.all_finite(3, p, X.data(), p)) << "p = " << p;
      for (const S bad : {std::numeric_limits<S>::quiet_NaN(), -std::numeric_limits<S>::infinity()})
        for (Index at = 0; at < 3 * p; ++at) {
          const S good = X.data()[at];
          X.data()[at] = bad;
          EXPECT_FALSE(kernel.all_finite(3, p, X.data(), p)) << "p = " << p << ", at " << at;
          EXPECT_EQ(kernel.all_finite(3, p - 1, X.data(), p), at % p == p - 1) << "p = " << p << ", at " << at;
          X.data()[at] = good;
        }
    }
  });
}

TYPED_TEST(Kernels, RotateColumnsInChains) {
  using S = TypeParam;
  constexpr Index rows = kernels::rotated_rows<S>();
  const std::vector<kernels::Size> chains = {2, 4, 0, 6, 5, 1, 3, 0};  // the first column and the number of rotations
  std::vector<S> rotations;
  for (int i = 0; i < 11; ++i) {
    rotations.push_back(std::cos(S(i)));
    rotations.push_back(std::sin(S(i)));
  }
  const Small<S> columns = random_block<S>(rows, 8, 14);
  Small<double> expected = columns.template cast<double>();
  const S* rotation = rotations.data();
  for (std::size_t chain = 0; chain < chains.size(); chain += 2)
    for (Index i = 0; i < chains[chain + 1]; ++i, rotation += 2) {
      const Index a = chains[chain] + i, b = a + 1;
      const Vector<double> old = expected.col(a);
      expected.col(a) = double(rotation[0]) * old + double(rotation[1]) * expected.col(b);
      expected.col(b) = double(rotation[0]) * expected.col(b) - double(rotation[1]) * old;
    }
  this->with_each_table([&](const Table<S>& kernel) {
    Small<S> strip = columns;
    kernel.rotate(static_cast<kernels::Size>(chains.size() / 2), chains.data(), rotations.data(), strip.data());
    EXPECT_LE((strip.template cast<double>() - expected).cwiseAbs().maxCoeff(), tolerance<S>(100));
  });
}

TYPED_TEST(Kernels, MultiplySparseRowsForEveryWidth) {
  using S = TypeParam;
  Block<double> dense = random_block(37, 37, 9);
  for (Index i = 0; i < 37; ++i)
    for (Index j = 0; j < 37; ++j)
      if ((i * j + i + j) % 4 != 0 || i == 11) dense(i, j) = 0;
  const CsrMatrix<double> A = test::sparse(dense);
  const std::vector<S> values(A.values.begin(), A.values.end());
  const Vector<S> scale = random_block<S>(37, 1, 10).col(0);
  this->with_each_table([&](const Table<S>& kernel) {
    for (const Index p :
         {1, 2, 3, 4, 5, 7, 8, 9, 11, 15, 16, 17, 20, 33, 34, 60, 64, 65, 71, 127, 128, 129, 150, 260}) {
      const Block<S> X = random_block<S>(37, p, 11), Z = random_block<S>(37, p, 13);
      Block<S> plain = framed<S>(37, p), scaled = framed<S>(37, p);

      for (const auto& [first, last] : {std::pair<Index, Index>{0, 20}, {20, 37}}) {
        kernel.csr_multiply(first, last, p, A.row_start.data(), A.columns.data(), values.data(), nullptr, nullptr, S(0),
                            X.data(), p, S(0), nullptr, 0, plain.data() + 1, p + 3);
        kernel.csr_multiply(first, last, p, A.row_start.data(), A.columns.data(), nullptr, scale.data(), scale.data(),
                            S(2), X.data(), p, S(3), Z.data(), p, scaled.data() + 1, p + 3);
      }

      const Small<double> wide = X.template cast<double>(), weights = scale.template cast<double>().asDiagonal();
      const Small<double> pattern = (dense.array() != 0).template cast<double>();
      expect_framed<S>(plain, dense * wide, 4 * tolerance<S>(12), "p = " + std::to_string(p));
      expect_framed<S>(scaled, weights * pattern * weights * wide + 2 * wide - 3 * Z.template cast<double>(),
                       16 * tolerance<S>(12), "scaled, p = " + std::to_string(p));
    }
  });
}

// What rotate() does to rows from the right, rotate_back() does to columns from the left: together nothing.
TYPED_TEST(Kernels, RotateBackUndoesRotate) {
  using S = TypeParam;
  constexpr Index columns = 9, rows = kernels::rotated_rows<S>();
  const std::vector<std::ptrdiff_t> chains = {0, 8, 3, 2, 0, 1, 5, 3};
  std::vector<S> rotations;
  for (int i = 0; i < 14; ++i) {
    rotations.push_back(std::cos(S(i) + S(0.3)));
    rotations.push_back(std::sin(S(i) + S(0.3)));
  }
  this->with_each_table([&](const Table<S>& kernel) {
    const Block<S> before = random_block<S>(columns, rows, 21);
    // Q of the rotations, row by row: the identity, turned
    Block<S> Q = Block<S>::Zero(columns, rows);
    for (Index i = 0; i < columns; ++i) Q(i, i) = 1;  // columns of the strip side by side, a row of Q in each lane
    kernel.rotate(4, chains.data(), rotations.data(), Q.data());
    const Small<double> turn = Q.leftCols(columns).transpose().template cast<double>();
    Block<S> back = before;
    kernel.rotate_back(4, chains.data(), rotations.data() + rotations.size(), back.data());
    EXPECT_LE((back.template cast<double>() - turn * before.template cast<double>()).cwiseAbs().maxCoeff(),
              tolerance<S>(columns));
  });
}

TYPED_TEST(Kernels, UpdateAndMultiplyInOnePass) {
  using S = TypeParam;
  this->with_each_table([](const Table<S>& kernel) {
    for (const Index m : {1, 2, 3, 4, 5, 8, 15, 16, 17, 33, 70}) {
      const Block<S> start = random_block<S>(m, m + 3, 5);
      const Vector<S> v = random_block<S>(m, 1, 6).col(0), w = random_block<S>(m, 1, 7).col(0),
                      x = random_block<S>(m, 1, 8).col(0);
      Block<S> A = start;
      Vector<S> y = Vector<S>::Constant(m + 1, S(7));
      kernel.update_and_multiply(m, A.data(), m + 3, v.data(), w.data(), x.data(), y.data());
      const Small<double> dv = v.template cast<double>(), dw = w.template cast<double>();
      const Small<double> expected =
          start.leftCols(m).template cast<double>() - dv * dw.transpose() - dw * dv.transpose();
      EXPECT_LE((A.leftCols(m).template cast<double>() - expected).cwiseAbs().maxCoeff(), 4 * tolerance<S>(2)) << m;
      EXPECT_EQ(A.rightCols(3), start.rightCols(3));
      EXPECT_LE((y.head(m).template cast<double>() - expected * x.template cast<double>()).cwiseAbs().maxCoeff(),
                16 * tolerance<S>(m))
          << m;
      EXPECT_EQ(y(m), S(7));
    }
  });
}

TYPED_TEST(Kernels, PackShiftedIsPackOfTheDifferenceInDouble) {
  using S = TypeParam;
  constexpr Index tile = kernels::tile_columns<double>();
  this->with_each_table([](const Table<S>& kernel) {
    for (const Index p : {1, 3, 7, 8, 9, 15, 16, 17, 31, 40}) {
      const Index n = 11;
      const Block<S> X = random_block<S>(n, p + 2, 12);
      const Vector<double> shift = random_block<double>(p, 1, 13).col(0);
      std::vector<double> packed(static_cast<std::size_t>(n * kernels::round_up(p, tile)), 7.0);
      Vector<double> sums = Vector<double>::Constant(p + 1, 7);
      kernel.pack_shifted(n, p, X.data(), p + 2, shift.data(), packed.data(), sums.data());
      for (Index j = 0; j < p; ++j) {
        double sum = 7;
        for (Index i = 0; i < n; ++i) {
          const double expected = static_cast<double>(X(i, j)) - shift(j);
          EXPECT_EQ(packed[static_cast<std::size_t>(j / tile * tile * n + i * tile + j % tile)], expected);
          sum += expected;
        }
        EXPECT_EQ(sums(j), sum) << p << ' ' << j;
      }
      EXPECT_EQ(sums(p), 7);
    }
  });
}

}  // namespace
}  // namespace hearsay
