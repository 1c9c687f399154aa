#include "network/mixing.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"
#include "linalg/worth_threads.hpp"
#include "network/entries.hpp"

namespace hearsay::detail {
namespace {

// Few rows at a time, so that `out` is still in cache when the rest is added.
constexpr Index chunk_rows = 4;

}  // namespace

void mix_rows(const CsrMatrix<double>& W, const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev,
              BlockView<double> out) {
  const Index n = W.rows, numbers = Z.cols();
  const auto& kernel = kernels::table<double>();
  const Vector<double> mixed = Vector<double>::Constant(n, step.mixed);
  const Index panels = (numbers + panel_columns - 1) / panel_columns, chunks = (n + chunk_rows - 1) / chunk_rows;
#pragma omp parallel for schedule(dynamic, 16) num_threads(worth_threads(2.0 * double(W.nonzeros()) * double(numbers)))
  for (Index task = 0; task < panels * chunks; ++task) {
    const Index column = task / chunks * panel_columns, columns = std::min(panel_columns, numbers - column);
    const Index first = task % chunks * chunk_rows, last = std::min(n, first + chunk_rows);
    kernel.csr_multiply(first, last, columns, W.row_start.data(), W.columns.data(), W.values.data(), mixed.data(),
                        nullptr, step.self, Z.data() + column, Z.outerStride(), 0, nullptr, 0, out.data() + column,
                        out.outerStride());
    if (step.previous != 0)
      out.block(first, column, last - first, columns) +=
          step.previous * Z_prev.block(first, column, last - first, columns);
  }
}

void mix_rows(const CsrMatrix<double>& W, std::span<const Index> rows, const MixStep& step, ConstBlockView<double> Z,
              ConstBlockView<double> Z_prev, BlockView<double> out) {
  const Index count = static_cast<Index>(rows.size()), numbers = Z.cols();
  const auto& kernel = kernels::table<double>();
  const Vector<double> mixed = Vector<double>::Constant(W.rows, step.mixed);
  const Index panels = (numbers + panel_columns - 1) / panel_columns;
#pragma omp parallel for schedule(dynamic, 16) num_threads(worth_threads(2.0 * double(W.nonzeros()) * double(numbers)))
  for (Index task = 0; task < panels * count; ++task) {
    const Index column = task / count * panel_columns, columns = std::min(panel_columns, numbers - column);
    const Index i = rows[static_cast<std::size_t>(task % count)];
    kernel.csr_multiply(i, i + 1, columns, W.row_start.data(), W.columns.data(), W.values.data(), mixed.data(), nullptr,
                        step.self, Z.data() + column, Z.outerStride(), 0, nullptr, 0, out.data() + column,
                        out.outerStride());
    if (step.previous != 0)
      out.row(i).segment(column, columns) += step.previous * Z_prev.row(i).segment(column, columns);
  }
}

void mix_messages(const CsrMatrix<double>& W, const MixStep& step, ConstBlockView<double> Z,
                  ConstBlockView<double> Z_prev, MessagePrecision precision, Telling& telling, BlockView<double> out) {
  if (Z.cols() == 0) return;
  if (precision == MessagePrecision::real64) return mix_rows(W, step, Z, Z_prev, out);
  if (telling.told.cols() != Z.cols() || telling.told.rows() != Z.rows())
    for (Block<double>* block : {&telling.told, &telling.untold}) block->setZero(Z.rows(), Z.cols());
  tell(precision, Z, telling.told, telling.untold);
  mix_rows(W, step, telling.told, Z_prev, out);
  out += (step.mixed + step.self) * telling.untold;  // which nobody else knows: the mean stays
}

void maximise(const CsrMatrix<double>& W, BlockView<double> votes) {
  const Block<double> said = votes;
  each_entry(W, [&](Index i, Index j, double weight) {
    if (weight != 0) votes.row(i) = votes.row(i).cwiseMax(said.row(j));
  });
}

}  // namespace hearsay::detail
