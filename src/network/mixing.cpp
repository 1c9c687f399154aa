#include "network/mixing.hpp"

#include <algorithm>

#include "hearsay/threads.hpp"
#include "kernels/kernels.hpp"
#include "network/entries.hpp"

namespace hearsay::detail {
namespace {

// Columns are mixed in panels, so that a neighbour's numbers are still in the shared cache when the next agent asks for
// them: 32 KiB a row, 32 MiB for a thousand agents. Narrower panels measure slower, for a row is then read in pieces.
// Few rows at a time, so that `out` is still in cache when the rest is added. Both are fixed.
constexpr Index panel_columns = 4096;
constexpr Index chunk_rows = 4;

// Below this many multiply-adds a parallel region costs more than it saves.
constexpr std::int64_t worth_threads = 100000;

}  // namespace

void mix_rows(const CsrMatrix<double>& W, const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev,
              BlockView<double> out) {
  const Index n = W.rows, numbers = Z.cols();
  const auto& kernel = kernels::table<double>();
  const Vector<double> mixed = Vector<double>::Constant(n, step.mixed);
  const Index panels = (numbers + panel_columns - 1) / panel_columns, chunks = (n + chunk_rows - 1) / chunk_rows;
#pragma omp parallel for schedule(dynamic, 16) num_threads(W.nonzeros() * numbers < worth_threads ? 1 : threads())
  for (Index task = 0; task < panels * chunks; ++task) {
    const Index column = task / chunks * panel_columns, columns = std::min(panel_columns, numbers - column);
    const Index first = task % chunks * chunk_rows, last = std::min(n, first + chunk_rows);
    kernel.csr_multiply(first, last, columns, W.row_start.data(), W.columns.data(), W.values.data(), mixed.data(),
                        nullptr, step.self, Z.data() + column, Z.outerStride(), out.data() + column, out.outerStride());
    if (step.previous != 0)
      out.block(first, column, last - first, columns) +=
          step.previous * Z_prev.block(first, column, last - first, columns);
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
