#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cstdint>
#include <hearsay/block.hpp>
#include <new>
#include <type_traits>
#include <utility>

namespace hearsay {
namespace {

constexpr Index too_many = Index{1} << 61;  // numbers: their bytes cannot be counted

template <class Matrix>
bool begins_on_a_line(const Matrix& matrix) {
  return reinterpret_cast<std::uintptr_t>(matrix.data()) % 64 == 0;
}

Block<double> counted(Index rows, Index cols) {
  Block<double> block(rows, cols);
  for (Index i = 0; i < block.size(); ++i) block.data()[i] = double(i);
  return block;
}

TEST(OwnedMatrix, BeginsOnACacheLineAtEverySize) {
  for (const Index rows : {1, 2, 3, 7, 100, 5000, 300000}) {
    EXPECT_TRUE(begins_on_a_line(Block<double>(rows, 3)));
    EXPECT_TRUE(begins_on_a_line(Block<float>(rows, 1)));
    EXPECT_TRUE(begins_on_a_line(Small<double>(3, rows)));
    EXPECT_TRUE(begins_on_a_line(Vector<double>(rows)));
  }
}

TEST(OwnedMatrix, StaysOnACacheLineWithItsNumbersWhereItGrows) {
  Block<double> block(0, 3);
  for (Index rows = 1; rows < 500000; rows *= 2) {
    const Index before = block.rows();
    block.conservativeResize(rows, Eigen::NoChange);
    for (Index i = before; i < rows; ++i) block.row(i).setConstant(double(i));

    ASSERT_TRUE(begins_on_a_line(block));
    ASSERT_EQ(block.col(2), Vector<double>::LinSpaced(rows, 0.0, double(rows - 1)));
  }
  block.conservativeResize(3, Eigen::NoChange);
  EXPECT_EQ(block.rows(), 3);
  EXPECT_EQ(block(2, 1), 2.0);
}

TEST(OwnedMatrix, GrowsByColumnsWithItsNumbers) {
  Block<double> block = counted(4, 3);

  block.conservativeResize(Eigen::NoChange, 5);

  EXPECT_EQ(block.leftCols(3), counted(4, 3));
}

TEST(OwnedMatrix, IsWhatItWasWhereMemoryRunsOut) {
  Block<double> block = counted(4, 3);
  Vector<double> vector = Vector<double>::Constant(5, 2.5);

  EXPECT_THROW(block.resize(too_many, 1), std::bad_alloc);
  EXPECT_THROW(block.conservativeResize(too_many / 2, Eigen::NoChange), std::bad_alloc);
  EXPECT_THROW(block.setZero(too_many, 2), std::bad_alloc);
  EXPECT_THROW(block = Block<double>::Zero(too_many, 1), std::bad_alloc);
  EXPECT_THROW(vector.resize(too_many), std::bad_alloc);
  EXPECT_THROW(vector.conservativeResize(too_many), std::bad_alloc);
  EXPECT_THROW(Block<double>(too_many, 1), std::bad_alloc);

  EXPECT_EQ(block, counted(4, 3));
  EXPECT_EQ(vector, Vector<double>::Constant(5, 2.5));
}

TEST(OwnedMatrix, KeepsItsMemoryWhereTheSizeIsTheSame) {
  Block<double> block = counted(4, 3);
  const double* const before = block.data();

  block.resize(6, 2);
  block = Block<double>::Ones(6, 2);

  EXPECT_EQ(block.data(), before);
  EXPECT_EQ(block.sum(), 12.0);
}

TEST(OwnedMatrix, MovesAndSwapsWithoutCopying) {
  static_assert(std::is_nothrow_move_constructible_v<Block<double>> &&
                std::is_nothrow_move_assignable_v<Block<double>>);
  Block<double> first = counted(4, 3), second = counted(2, 2);
  const double *const of_first = first.data(), *const of_second = second.data();

  first.swap(second);
  EXPECT_EQ(first.data(), of_second);
  EXPECT_EQ(second.rows(), 4);

  Block<double> third = std::move(second);
  EXPECT_EQ(third.data(), of_first);
  EXPECT_EQ(second.size(), 0);

  third = std::move(first);
  EXPECT_EQ(third.data(), of_second);
  third = counted(5, 5);
  first = third;
  EXPECT_EQ(first, counted(5, 5));
}

TEST(OwnedMatrix, CopiesNothingAndIsCopiedWhenEmpty) {
  Block<double> empty;
  Block<double> copy = empty;
  copy = counted(2, 2);
  copy = empty;
  copy.resize(0, 3);

  EXPECT_EQ(empty.data(), nullptr);
  EXPECT_EQ(copy.size(), 0);
  EXPECT_EQ(copy.cols(), 3);
}

TEST(OwnedMatrix, IsWrittenDownRowByRow) {
  const Block<double> by_rows{{1, 2, 3}, {4, 5, 6}};
  const Small<double> by_columns{{1, 2, 3}, {4, 5, 6}};
  const Vector<double> lying{{7, 8, 9}}, standing{{7}, {8}, {9}};

  EXPECT_EQ(by_rows, by_columns);
  EXPECT_EQ(by_rows(1, 0), 4.0);
  EXPECT_EQ(lying, standing);
  EXPECT_EQ(lying(2), 9.0);
}

TEST(OwnedMatrix, IsAMatrixToEigen) {
  const Eigen::MatrixXd M = Eigen::MatrixXd::Random(6, 6);
  const Block<double> block = M;
  const Small<double> small = M;
  const Vector<double> diagonal = M.diagonal();

  EXPECT_EQ(Eigen::MatrixXd(block), M);
  EXPECT_EQ(block.transpose(), small.transpose());
  EXPECT_EQ(Small<double>(diagonal.asDiagonal()).diagonal(), diagonal);
  EXPECT_EQ(Eigen::LLT<Small<double>>(small * small.transpose()).info(), Eigen::Success);
  EXPECT_LE((Block<double>(block * small) - M * M).norm(), 1e-13);
  EXPECT_EQ(Vector<double>(block.row(2)), M.row(2).transpose());
  EXPECT_EQ(Eigen::HouseholderQR<Small<double>>(small).matrixQR(), Eigen::HouseholderQR<Eigen::MatrixXd>(M).matrixQR());
}

}  // namespace
}  // namespace hearsay
