#include <fmt/format.h>

#include <algorithm>

#include "hearsay/error.hpp"
#include "hearsay/gossip.hpp"
#include "hearsay/threads.hpp"
#include "kernels/kernels.hpp"
#include "network/entries.hpp"

namespace hearsay {
namespace {

// Columns are mixed in panels, so that a neighbour's numbers are still in the shared cache when the next agent asks for
// them: 32 KiB a row, 32 MiB for a thousand agents. Narrower panels measure slower, for a row is then read in pieces.
// Few rows at a time, so that `out` is still in cache when Z_prev is added. Both are fixed, and each number is one sum
// in one order whoever computes it.
constexpr Index panel_columns = 4096;
constexpr Index chunk_rows = 4;

// Below this many multiply-adds a parallel region costs more than it saves.
constexpr std::int64_t worth_threads = 100000;

}  // namespace

LocalNetwork::LocalNetwork(GossipMatrix W) : W_(std::move(W)), spectrum_(gossip_spectrum(W_)) {}

LocalNetwork::LocalNetwork(GossipMatrix W, const GossipSpectrum& known) : W_(std::move(W)), spectrum_(known) {
  require(known.lo >= -1 && known.lo <= known.hi && known.hi <= 1,
          fmt::format("spectrum [{}, {}]: must lie in [-1, 1], its lower end first", known.lo, known.hi));
}

void LocalNetwork::mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev,
                       BlockView<double> out, BlockView<double> votes) {
  const CsrMatrix<double>& W = W_.matrix();
  const Index n = W.rows, numbers = Z.cols();
  require(Z.rows() == n && out.rows() == n && out.cols() == numbers && votes.rows() == n,
          fmt::format("blocks of {} agents: must be {}, as the network has", Z.rows(), n));

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
  if (votes.cols() > 0) maximise(votes);

  ++(numbers > 0 ? traffic_.rounds : traffic_.control_rounds);
  traffic_.messages += 2 * W_.edges();
  traffic_.bytes += 2 * W_.edges() * (numbers + votes.cols()) * static_cast<std::int64_t>(sizeof(double));
}

void LocalNetwork::maximise(BlockView<double> votes) const {
  const CsrMatrix<double>& W = W_.matrix();
  const Block<double> said = votes;
  detail::each_entry(W, [&](Index i, Index j, double) { votes.row(i) = votes.row(i).cwiseMax(said.row(j)); });
}

}  // namespace hearsay
